//! The adapters behind an edition's ports.
//!
//! Services that the operator configured are called by the client that trusts them. Pages of
//! stories may be anywhere, so the client that trusts no origin fetches them, as for sources.

use std::{collections::BTreeMap, io::Write, sync::Arc};

use almanack_adapters::{
    bearer::Bearer,
    hacker_news::{HackerNews, Settings as HackerNewsSettings},
    model::{self, ChatModel, Extractive, FallbackModels},
    reader::{CrawlerApi, PageReader, ReaderPrefix, Sent},
    renderer::Template,
};
use almanack_core::{
    edition::{
        EditionName,
        port::{Meter, Reader, StorySource, Writer},
        selection::Selection,
    },
    secret::Secret,
    time::Clock,
};
use almanack_engine::editions::{
    Outside,
    entries::{DAY, EntryStories},
    judged::JudgedStories,
    merged::{MergedStories, Part},
    meter::StoreMeter,
    selected::SelectedStories,
    shared::SharedTexts,
};
use almanack_server::ReaderPages;

use super::{super::outbound, Purpose, Workshop, delivery};
use crate::{
    config::{
        Settings,
        settings::{
            Edition,
            edition::{Entries, Pages, read_page_template, read_template},
        },
    },
    failure::{Failure, Result},
};

/// Everything an edition is made from and goes to.
pub(super) fn outside(
    workshop: &Workshop<'_>,
    (name, edition): (EditionName, &Edition),
    (purpose, paper): (Purpose, Box<dyn Write + Send>),
) -> Result<Outside> {
    Ok(Outside {
        source: source(workshop, edition),
        reader: reader(workshop, &edition.pages)?,
        writer: writer(workshop, name, edition)?,
        fallback: Arc::new(Extractive {
            summary_chars: edition.keys.summary_length,
        }),
        renderer: Arc::new(renderer(edition, purpose)?),
        publishers: delivery::publishers(workshop, edition, paper)?,
    })
}

/// The same outside, with what editions share.
pub(super) fn sharing(outside: Outside, texts: &Arc<SharedTexts>, edition: &Edition) -> Outside {
    let keys = &edition.keys;
    let models: Vec<_> = edition
        .models()
        .map(|model| (&model.base_url, &model.model))
        .collect();
    let reader = format!("{:?}", edition.pages);
    let writer = format!("{}\n{models:?}\n{}", keys.language, keys.summary_length);
    outside.sharing(texts, reader, writer)
}

/// Every address that the operator named for editions, or that Almanack itself names.
pub(crate) fn addresses(settings: &Settings) -> Vec<String> {
    let all = settings.editions.all();
    all.flat_map(|(_, edition)| addresses_of(edition)).collect()
}

fn addresses_of(edition: &Edition) -> Vec<String> {
    let mut named = Vec::new();
    if let Some(of) = edition.stories.hacker_news() {
        named.extend([of.firebase_url.clone(), of.algolia_url.clone()]);
    }
    match &edition.pages {
        Pages::BuiltIn => {}
        Pages::Crawler { url, .. } => named.push(url.clone()),
        Pages::Prefix { prefix, .. } => named.push(prefix.clone()),
    }
    let to = &edition.destinations;
    named.extend(edition.models().map(|model| model.base_url.clone()));
    named.extend(to.telegram.iter().map(|to| to.bot.api_url.clone()));
    named.extend(
        edition
            .posts
            .iter()
            .map(|(service, _)| service.address().to_owned()),
    );
    named.extend(to.webhook.iter().map(|webhook| webhook.url.clone()));
    named
}

fn source(workshop: &Workshop<'_>, edition: &Edition) -> Arc<dyn StorySource> {
    let (stories, mut parts) = (&edition.stories, Vec::new());
    let selection = &stories.selection;
    parts.extend(stories.hacker_news().map(|settings| Part {
        prefix: "hn:",
        source: Arc::new(SelectedStories {
            source: hacker_news(workshop, settings),
            selection: Arc::clone(selection),
        }),
    }));
    parts.extend(stories.entries().map(|entries| Part {
        prefix: "entry:",
        source: collected(workshop, entries, selection),
    }));
    let listed: Arc<dyn StorySource> = match <[Part; 1]>::try_from(parts) {
        Ok([only]) => only.source,
        Err(parts) => {
            let window = stories.entries().map_or(DAY, |entries| entries.window);
            Arc::new(MergedStories::new(parts, window, Arc::clone(selection)))
        }
    };
    let guard = outbound::sources_guard(workshop.settings);
    Arc::new(JudgedStories::new(listed, guard))
}

fn hacker_news(workshop: &Workshop<'_>, settings: &HackerNewsSettings) -> Arc<dyn StorySource> {
    let (clock, sleeper) = (workshop.clock.clone(), workshop.sleeper.clone());
    let client = workshop.outbound.client();
    Arc::new(HackerNews::new(client, settings.clone(), clock, sleeper))
}

fn collected(
    workshop: &Workshop<'_>,
    entries: &Entries,
    selection: &Arc<Selection>,
) -> Arc<dyn StorySource> {
    Arc::new(EntryStories {
        store: Arc::clone(workshop.store),
        category: entries.category.clone(),
        sources: entries.sources.clone(),
        tags: entries.tags.clone(),
        window: entries.window,
        selection: Arc::clone(selection),
    })
}

fn reader(workshop: &Workshop<'_>, pages: &Pages) -> Result<Arc<dyn Reader>> {
    let (client, clock) = (workshop.outbound.client(), Arc::clone(&workshop.clock));
    Ok(match pages {
        Pages::BuiltIn => {
            let client = outbound::fetching(workshop.settings)?;
            Arc::new(PageReader::new(client, clock))
        }
        Pages::Crawler { url, token } => {
            let token = bearer("edition.reader.crawler_token", token.as_ref())?;
            let crawler = CrawlerApi::new(client, clock, url.clone(), token);
            Arc::new(Sent::new(crawler, outbound::fetching(workshop.settings)?))
        }
        Pages::Prefix {
            prefix,
            key,
            rotate,
        } => {
            let key = bearer("edition.reader.prefix_key", key.as_ref())?;
            let asked = ReaderPrefix::new(client, clock, prefix.clone(), key);
            let asked = if *rotate { asked.rotating() } else { asked };
            Arc::new(Sent::new(asked, outbound::fetching(workshop.settings)?))
        }
    })
}

fn bearer(key: &str, secret: Option<&Secret>) -> Result<Option<Bearer>> {
    let Some(secret) = secret else {
        return Ok(None);
    };
    let bearer = Bearer::new(secret.expose());
    bearer.map(Some).ok_or_else(|| {
        let what = format!("{key}: the token contains characters that an HTTP header cannot");
        Failure::usage(what)
    })
}

fn writer(
    workshop: &Workshop<'_>,
    name: EditionName,
    edition: &Edition,
) -> Result<Arc<dyn Writer>> {
    let summary_chars = edition.keys.summary_length;
    let clock: Arc<dyn Clock> = workshop.clock.clone();
    let means = (Arc::clone(workshop.store), Arc::clone(&clock));
    let meter = StoreMeter::new(means, name, edition.ticks.days.clone(), edition.caps);
    let meter: Arc<dyn Meter> = Arc::new(meter);
    let models: Vec<&model::Settings> = edition.models().collect();
    let mut writers: Vec<Box<dyn Writer>> = Vec::new();
    for (index, model) in models.iter().enumerate() {
        let settings = model::Settings {
            language: edition.keys.language.clone(),
            summary_chars,
            prompts: Arc::clone(&edition.prompts),
            // Whoever has a stand-in is not waited for.
            tries_more: if index + 1 == models.len() {
                model.tries_more
            } else {
                0
            },
            ..(*model).clone()
        };
        let (client, sleeper) = (workshop.outbound.client(), workshop.sleeper.clone());
        let with = (settings, Arc::clone(&meter));
        let made = ChatModel::new(client, Arc::clone(&clock), sleeper, with);
        let made = made.map_err(|error| Failure::usage(error).during("prepare edition.model"))?;
        writers.push(Box::new(made));
    }
    if writers.is_empty() {
        return Ok(Arc::new(Extractive { summary_chars }));
    }
    Ok(Arc::new(FallbackModels::new(clock, writers)))
}

/// How readers' pages look.
pub(crate) fn reader_pages(settings: &Settings) -> Result<ReaderPages> {
    let mut pages = ReaderPages::default();
    for (name, edition) in settings.editions.all() {
        let own = pages_of(edition)?;
        if name.is_default() {
            pages = own;
        } else {
            pages.named.insert(name, own);
        }
    }
    Ok(pages)
}

fn pages_of(edition: &Edition) -> Result<ReaderPages> {
    let file = edition.keys.page_template.as_deref();
    let template = file.map(read_page_template).transpose();
    let template = template.map_err(|problem| {
        Failure::usage(format!("edition.page_template: {}", problem.what))
            .hint(problem.hint.unwrap_or_default())
    })?;
    Ok(ReaderPages {
        template: template.unwrap_or_default(),
        images: edition.keys.images,
        named: BTreeMap::new(),
    })
}

/// Without rendering no template is needed; a missing file must not hide stored editions.
fn renderer(edition: &Edition, purpose: Purpose) -> Result<Template> {
    let file = edition.keys.template.as_ref();
    let Some(file) = file.filter(|_| purpose == Purpose::Make) else {
        return Ok(Template::built_in());
    };
    read_template(file).map_err(|problem| {
        Failure::usage(format!("edition.template: {}", problem.what))
            .hint(problem.hint.unwrap_or_default())
    })
}
