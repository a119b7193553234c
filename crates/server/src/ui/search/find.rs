//! What a search over everything finds, and in what order.
//!
//! Every part is bounded, so that a search may follow somebody's typing on a store of any size:
//! subjects and names by an index, other texts among the first or newest rows.

use std::collections::BTreeSet;

use almanack_core::plan::Definition;
use almanack_core::reserved::{is_internal, is_reserved};
use almanack_core::source::search::Query as Words;
use almanack_core::store::{
    EditionFilter, EntryFilter, Page as Rows, ScheduleFilter, SourceFilter,
};

use super::ways::{self, holds};
use crate::access::Requester;
use crate::editions::{any_editions, parse_date};
use crate::ui::prelude::*;
use crate::ui::{schedules, settings, sources, tasks};

/// Schedules that are searched for a text inside their definition.
const SCHEDULES_SEARCHED: usize = 2_000;
/// The newest editions that are searched.
const EDITIONS_SEARCHED: usize = 100;
/// Kinds of waiting tasks that are searched, besides those that are configured.
const KINDS_SEARCHED: usize = 200;

/// What a hit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HitType {
    Page,
    Action,
    Task,
    Schedule,
    Monitor,
    Source,
    Entry,
    Edition,
    Kind,
    Setting,
}

impl HitType {
    /// The name of a group.
    pub(super) fn plural(self, lang: Lang) -> &'static str {
        words! { lang, self;
            Self::Page => "Pages", "页面";
            Self::Action => "Actions", "操作";
            Self::Task => "Tasks", "任务";
            Self::Schedule => "Schedules", "日程";
            Self::Monitor => "Monitors", "监控";
            Self::Source => "Sources", "信源";
            Self::Entry => "Entries", "条目";
            Self::Edition => "Editions", "日报";
            Self::Kind => "Kinds", "类型";
            Self::Setting => "Settings", "设置";
        }
    }
}

impl Render for HitType {
    fn render(&self) -> Markup {
        html! { (format!("{self:?}").to_lowercase()) }
    }
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Hit {
    pub(super) r#type: HitType,
    /// Its name.
    #[schema(example = "article:42")]
    pub(super) title: String,
    /// What distinguishes it from others of this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "ARTICLE_PUBLISH · Waiting")]
    pub(super) detail: Option<String>,
    /// Path of the page that shows it.
    #[schema(example = "/ui/tasks/ARTICLE_PUBLISH/article%3A42")]
    pub(super) page: String,
}

impl Hit {
    pub(super) fn new(of: HitType, title: impl Into<String>, page: impl Into<String>) -> Self {
        Self {
            r#type: of,
            title: title.into(),
            detail: None,
            page: page.into(),
        }
    }

    fn detail(self, detail: impl Into<String>) -> Self {
        let detail = Some(detail.into()).filter(|detail| !detail.is_empty());
        Self { detail, ..self }
    }

    /// Whether its title is in a language of its own.
    pub(super) fn is_foreign(&self) -> bool {
        matches!(self.r#type, HitType::Source | HitType::Entry)
    }
}

/// What was found, grouped by type.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct SearchView {
    pub(super) hits: Vec<Hit>,
    /// Types of which more was found than `limit`.
    pub(super) more: Vec<HitType>,
}

impl SearchView {
    /// Adds hits of one type, of which one more than the limit says that there are more.
    fn add(&mut self, limit: usize, hits: impl IntoIterator<Item = Hit>) {
        let mut hits: Vec<Hit> = hits.into_iter().take(limit + 1).collect();
        if paging::cut(&mut hits, limit) {
            self.more.extend(hits.first().map(|hit| hit.r#type));
        }
        self.hits.append(&mut hits);
    }
}

/// What to look for, and who asks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) words: &'a str,
    /// Hits of each type, at most.
    pub(crate) limit: usize,
    pub(crate) scope: Scope,
    pub(crate) lang: Lang,
}

impl<'a> Question<'a> {
    pub(super) fn of(viewer: &Viewer, words: &'a str) -> Self {
        let scope = viewer.requester.as_ref().map(Requester::scope);
        Self {
            words,
            limit: super::HITS,
            scope: scope.unwrap_or(Scope::Read),
            lang: viewer.lang,
        }
    }
}

/// Looks everywhere; for no words, finds every page and action.
pub(crate) async fn find(state: &AppState, question: &Question<'_>) -> Result<SearchView> {
    let Question { words, limit, .. } = *question;
    let mut found = SearchView::default();
    let ways = ways::find(question.lang, question.scope, words);
    if words.is_empty() {
        found.hits = ways;
        return Ok(found);
    }
    let (kinds, pauses) = kinds(state, question).await?;
    let (pages, actions): (Vec<Hit>, Vec<Hit>) =
        ways.into_iter().partition(|it| it.r#type == HitType::Page);
    found.add(limit, pages);
    found.add(limit, actions.into_iter().chain(pauses));
    found.add(limit, tasks(state, question).await?);
    let (monitors, schedules) = schedules(state, question).await?;
    found.add(limit, schedules);
    found.add(limit, monitors);
    found.add(limit, sources(state, question).await?);
    found.add(limit, entries(state, question).await?);
    found.add(limit, editions(state, question).await?);
    found.add(limit, kinds);
    found.add(limit, settings_of(state, question));
    Ok(found)
}

async fn tasks(state: &AppState, question: &Question<'_>) -> Result<Vec<Hit>> {
    let lines = state
        .store
        .find_subjects(question.words, question.limit + 1);
    let hit = |line: TaskLine| {
        let status = tasks::words::status(question.lang, line.status);
        let hit = Hit::new(
            HitType::Task,
            line.identity.subject.as_str(),
            task_path(&line.identity),
        );
        hit.detail(format!("{} · {status}", line.identity.kind))
    };
    Ok(lines.await?.into_iter().map(hit).collect())
}

/// Monitors, and all other schedules.
async fn schedules(state: &AppState, question: &Question<'_>) -> Result<(Vec<Hit>, Vec<Hit>)> {
    let mut rows = named(state, question).await?;
    if rows.len() <= question.limit {
        let filter = ScheduleFilter {
            among: Some(SCHEDULES_SEARCHED),
            ..ScheduleFilter::default()
        };
        let (inside, _) = schedules::list::search(state, filter, Some(question.words)).await?;
        let known: Vec<ScheduleName> = rows.iter().map(|it| it.name.clone()).collect();
        rows.extend(inside.into_iter().filter(|it| !known.contains(&it.name)));
    }
    state.schedules.refresh().await?;
    let hit = |schedule: Schedule| {
        let definition = schedule.definition.read().ok();
        let of = if definition.is_some_and(Definition::is_monitor) {
            HitType::Monitor
        } else {
            HitType::Schedule
        };
        let ready = state.schedules.ready(&schedule).ok();
        let meaning = ready.map(|it| it.describe(question.lang));
        let hit = Hit::new(of, schedule.name.as_str(), links::schedule(&schedule.name));
        hit.detail(meaning.unwrap_or_default())
    };
    let hits = rows.into_iter().map(hit);
    Ok(hits.partition(|hit| hit.r#type == HitType::Monitor))
}

/// Schedules whose name begins with the words: names are listed in order, so these are together.
async fn named(state: &AppState, question: &Question<'_>) -> Result<Vec<Schedule>> {
    let Ok(name) = ScheduleName::parse(question.words) else {
        return Ok(Vec::new());
    };
    let exact = state.store.load_schedules(std::slice::from_ref(&name));
    let exact = exact.await?.into_iter().flatten();
    let mut rows: Vec<Schedule> = exact.filter(schedules::one::is_there).collect();
    let following = ScheduleFilter {
        after: Some(name),
        limit: question.limit + 1,
        ..ScheduleFilter::default()
    };
    let Rows {
        rows: following, ..
    } = state.store.list_schedules(&following).await?;
    let begins = |it: &Schedule| it.name.as_str().starts_with(question.words);
    rows.extend(following.into_iter().take_while(begins));
    Ok(rows)
}

async fn sources(state: &AppState, question: &Question<'_>) -> Result<Vec<Hit>> {
    let filter = SourceFilter {
        containing: Some(question.words.to_owned()),
        limit: question.limit + 1,
        ..SourceFilter::default()
    };
    let hit = |source: Source| {
        let name = sources::called(&source);
        let address = Some(&*source.definition.address).filter(|address| *address != name);
        let hit = Hit::new(HitType::Source, name, links::source(source.id));
        hit.detail(address.unwrap_or_default())
    };
    let found = state.store.list_sources(&filter).await?;
    Ok(found.rows.into_iter().map(hit).collect())
}

async fn entries(state: &AppState, question: &Question<'_>) -> Result<Vec<Hit>> {
    let Some(search) = Words::parse(question.words) else {
        return Ok(Vec::new());
    };
    let filter = EntryFilter {
        search: Some(search),
        limit: question.limit + 1,
        ..EntryFilter::default()
    };
    let rows = state.store.list_entries(&filter).await?.rows;
    let of = sources::search::sources(state, &rows).await?;
    let list = address(sources::search::PATH, [("q", question.words)]);
    let hits = rows.into_iter().map(|entry| {
        let title = match entry.found.title.trim() {
            "" => question.lang.pick("untitled", "无标题"),
            title => title,
        };
        let hit = Hit::new(HitType::Entry, title, format!("{list}#entry-{}", entry.id));
        hit.detail(
            of.get(&entry.source)
                .map_or("", |source| sources::called(source)),
        )
    });
    Ok(hits.collect())
}

/// Editions by a part of their day or name: one whole day, whenever it was, or of the newest.
async fn editions(state: &AppState, question: &Question<'_>) -> Result<Vec<Hit>> {
    if state.editions.is_empty() {
        return Ok(Vec::new());
    }
    let day = question.words.rsplit('@').next().unwrap_or_default();
    let day = parse_date(day).ok();
    let filter = EditionFilter {
        before: day.and_then(|day| day.tomorrow().ok()),
        limit: EDITIONS_SEARCHED,
        ..EditionFilter::default()
    };
    let lines = any_editions(state)?.list(&filter).await?;
    let hits = lines.into_iter().filter_map(|line| {
        let id = line.edition.id;
        let (named, title) = (id.to_string(), state.editions.get(id.name));
        let title = title.map_or("", |one| &one.settings.title);
        let fits = holds(&[&named, title], question.words);
        fits.then(|| Hit::new(HitType::Edition, named, links::edition(id)).detail(title))
    });
    Ok(hits.collect())
}

/// Kinds, and pauses of those that are named beside the word.
async fn kinds(state: &AppState, question: &Question<'_>) -> Result<(Vec<Hit>, Vec<Hit>)> {
    let Question { words, lang, .. } = *question;
    let waiting = state.store.load_waiting_kinds(KINDS_SEARCHED).await?;
    let known = state.rescheduler.kinds();
    let kinds: BTreeSet<&Kind> = known.configured.iter().chain(&waiting).collect();
    let kinds: Vec<&Kind> = kinds
        .into_iter()
        .filter(|kind| !is_internal(kind))
        .collect();
    let own = kinds.iter().filter(|kind| holds(&[kind.as_str()], words));
    let hits = own.map(|kind| {
        let tasks = address(Place::Tasks.path(), [("kind", kind.as_str())]);
        Hit::new(HitType::Kind, kind.as_str(), tasks)
    });
    let pausing = |kind: &&&Kind| {
        let pause = ["pause", "暂停", kind.as_str()];
        question.scope >= Scope::Operate
            && !is_reserved(kind)
            && holds(&pause, words)
            && !holds(&pause[2..], words)
    };
    let pauses = kinds.iter().filter(pausing).map(|kind| {
        let page = format!("/ui/kinds/{kind}/pause");
        Hit::new(
            HitType::Action,
            say!(lang, "Pause {kind}", "暂停 {kind}"),
            page,
        )
    });
    Ok((hits.collect(), pauses.collect()))
}

fn settings_of(state: &AppState, question: &Question<'_>) -> Vec<Hit> {
    let all = state.configuration.get();
    let hit = |it: &crate::Configured| {
        let page = address(Place::Settings.path(), [("q", &*it.key)]);
        let [english, chinese] = it.words;
        Hit::new(HitType::Setting, &*it.key, page).detail(question.lang.pick(english, chinese))
    };
    let found = settings::matching(&all, Some(question.words)).into_iter();
    found.map(hit).collect()
}
