//! Repairing a source in place: one form for everything that was set about it.
//!
//! The form has two buttons: save it, or preview what would be read with it. A preview stores
//! nothing and shows the form again below its result. Both work without scripts. A source of the
//! configuration file has no form: the file would win again.

mod fields;

use almanack_core::source::options::{Fetch, Options, patch};
use almanack_core::source::reading::{HtmlRules, JsonRules, Reading, SitemapRules};
use almanack_engine::sources::Changes;

use super::called;
use crate::sources::preview::{PreviewView, preview_of};
use crate::sources::{Numbered, body::ChangesBody};
use crate::ui::prelude::*;

/// Entries shown of a preview.
const SHOWN: usize = 50;

/// Everything that was set about a source, as it is typed. Empty fields are reset.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Edit {
    address: Option<String>,
    name: Option<String>,
    category: Option<String>,
    policy: Option<String>,
    cadence: Option<String>,
    /// How it is read. Every form has it; without it, rules and options stay.
    how: Option<String>,
    item: Option<String>,
    title: Option<String>,
    link: Option<String>,
    date: Option<String>,
    summary: Option<String>,
    id: Option<String>,
    containing: Option<String>,
    /// One `Name: value` a line.
    headers: Option<String>,
    bearer: Option<String>,
    user: Option<String>,
    password: Option<String>,
    proxy: Option<String>,
    user_agent: Option<String>,
    robots: Option<String>,
    /// One rule a line.
    filters: Option<String>,
    /// One text a line.
    error_texts: Option<String>,
    full_text: Option<String>,
    site: Option<String>,
}

impl Edit {
    fn of(source: &Source) -> Self {
        let said = &source.definition;
        let Options {
            fetch,
            filters,
            error_texts,
            full_text,
            site,
            from_file: _,
        } = said.options.clone();
        let headers = fetch.headers.iter();
        let headers = headers.map(|(name, value)| format!("{name}: {value}"));
        Self {
            address: Some(said.address.clone()),
            name: Some(said.name.clone()),
            category: Some(said.category.clone()),
            policy: said.policy.clone(),
            cadence: said.cadence.map(|cadence| cadence.as_str().to_owned()),
            headers: Some(headers.collect::<Vec<_>>().join("\n")),
            bearer: fetch.bearer,
            user: fetch.user,
            password: fetch.password,
            proxy: fetch.proxy,
            user_agent: fetch.user_agent,
            robots: fetch
                .robots
                .map(|on| if on { "on" } else { "off" }.to_owned()),
            filters: Some(filters.join("\n")),
            error_texts: Some(error_texts.join("\n")),
            full_text: full_text.then(|| "on".to_owned()),
            site,
            ..Self::rules(&said.reading)
        }
    }

    fn rules(reading: &Reading) -> Self {
        let how = |how: &str| Some(how.to_owned());
        match reading.clone() {
            Reading::Feed => Self {
                how: how("feed"),
                ..Self::default()
            },
            Reading::Html(rules) => Self {
                how: how("html"),
                item: Some(rules.item),
                title: Some(rules.title),
                link: rules.link,
                date: rules.date,
                summary: rules.summary,
                ..Self::default()
            },
            Reading::Json(rules) => Self {
                how: how("json"),
                item: Some(rules.items),
                title: Some(rules.title),
                link: rules.link,
                date: rules.date,
                summary: rules.summary,
                id: rules.id,
                ..Self::default()
            },
            Reading::Sitemap(rules) => Self {
                how: how("sitemap"),
                containing: rules.containing,
                ..Self::default()
            },
        }
    }

    fn changes(self) -> Result<Changes> {
        let reading = self.reading()?;
        let options = reading.is_some().then(|| self.options()).transpose()?;
        let body = ChangesBody {
            address: self.address,
            name: Some(self.name),
            category: Some(self.category),
            policy: Some(self.policy),
            cadence: Some(self.cadence),
            reading: reading.map(Some),
            options: None,
        };
        Ok(Changes {
            options: options.map(patch::Change::Whole),
            ..body.into_changes()?
        })
    }

    fn reading(&self) -> Result<Option<Reading>> {
        let Some(how) = self.how.as_deref() else {
            return Ok(None);
        };
        let needed = |value: &Option<String>, name| {
            let detail = format!("reading {how} needs a rule for the {name} of an entry");
            value.clone().ok_or_else(|| Problem::invalid(name, detail))
        };
        Ok(Some(match how {
            "html" => Reading::Html(HtmlRules {
                item: needed(&self.item, "item")?,
                title: needed(&self.title, "title")?,
                link: self.link.clone(),
                date: self.date.clone(),
                summary: self.summary.clone(),
            }),
            "json" => Reading::Json(JsonRules {
                items: needed(&self.item, "item")?,
                title: needed(&self.title, "title")?,
                link: self.link.clone(),
                id: self.id.clone(),
                date: self.date.clone(),
                summary: self.summary.clone(),
            }),
            "sitemap" => Reading::Sitemap(SitemapRules {
                containing: self.containing.clone(),
            }),
            _ => Reading::Feed,
        }))
    }

    fn options(&self) -> Result<Options> {
        let header = |line: &str| {
            let detail = "write one header a line, as Name: value";
            let (name, value) = line
                .split_once(':')
                .ok_or_else(|| Problem::invalid("options.fetch.headers", detail))?;
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        };
        let headers = lines(self.headers.as_deref());
        Ok(Options {
            fetch: Fetch {
                headers: headers.iter().map(|it| header(it)).collect::<Result<_>>()?,
                bearer: self.bearer.clone(),
                user: self.user.clone(),
                password: self.password.clone(),
                proxy: self.proxy.clone(),
                user_agent: self.user_agent.clone(),
                robots: self.robots.as_deref().map(|robots| robots == "on"),
            },
            filters: lines(self.filters.as_deref()),
            error_texts: lines(self.error_texts.as_deref()),
            full_text: self.full_text.is_some(),
            site: self.site.clone(),
            from_file: false,
        })
    }
}

fn lines(text: Option<&str>) -> Vec<String> {
    let lines = text.unwrap_or_default().lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

/// The form of a source, folded away.
pub(super) fn show(viewer: &Viewer, source: &Source) -> Markup {
    let lang = viewer.lang;
    if source.definition.options.from_file {
        return html! { p class="hint" { (pick!(lang;
        "The configuration file defines this source ([[source]]). Change or remove it there; you can check, pause and resume it here.",
        "该信源由配置文件（[[source]]）定义，请在文件中修改或移除；可在此检查、暂停和恢复。")) } };
    }
    html! {
        details {
            summary { (lang.pick("Edit this source", "编辑该信源")) }
            (form_of(viewer, source.id, &Edit::of(source)))
        }
    }
}

fn form_of(viewer: &Viewer, id: SourceId, edit: &Edit) -> Markup {
    let (lang, here, number) = (viewer.lang, links::source(id), id.to_string());
    let inside = html! {
        (fields::show(lang, edit))
        p class="acts" {
            button type="submit" class="primary" { (lang.pick("Save", "保存")) }
            button type="submit" formaction={ (here) "/preview" } { (lang.pick("Preview", "预览")) }
        }
    };
    let set = Equivalent::call("PATCH", format!("/api/v1/sources/{id}"))
        .body(&json!({ "address": "https://example.org/feed.xml", "category": "news" }));
    let address = ["--address", "https://example.org/feed.xml"];
    let words = ["source", "set", &number].into_iter().chain(address);
    let try_it =
        Equivalent::call("POST", "/api/v1/sources/preview").body(&json!({ "source_id": id.0 }));
    html! {
        (form::form(viewer, &format!("{here}/change"), &inside))
        (set.cli(words.chain(["--category", "news"])).show(viewer))
        (try_it.cli(["source", "try", &number]).show(viewer))
    }
}

/// Changes a source; errors are shown beside the input.
pub(crate) async fn change(Numbered(id): Numbered, filled: Filled<Edit>) -> Answer {
    let Filled(state, viewer, form) = filled;
    let source = state.sources.load(id).await?;
    let changed = async {
        let changes = form.clone().changes()?;
        state.sources.change(id, &changes, &viewer.origin()).await?;
        Ok(())
    };
    match changed.await {
        Ok(()) => Ok(see(&format!("{}?did=changed", links::source(id)))),
        Err(problem) if can_be_mended(&problem) => Ok(mend(&viewer, &source, &form, &problem)),
        Err(problem) => Err(problem),
    }
}

/// Shows what would be read with the form as it is, and the form again.
pub(crate) async fn preview(Numbered(id): Numbered, filled: Filled<Edit>) -> Answer {
    let Filled(state, viewer, form) = filled;
    let source = state.sources.load(id).await?;
    let shown = async {
        let changes = form.clone().changes()?;
        preview_of(&state, &changes.apply(&source.definition)?).await
    };
    let shown = match shown.await {
        Ok(shown) => shown,
        Err(problem) if can_be_mended(&problem) => {
            return Ok(mend(&viewer, &source, &form, &problem));
        }
        Err(problem) => return Err(problem),
    };
    let lang = viewer.lang;
    let body = html! {
        (section("preview", lang.pick("What would be read", "将读取的内容"), &result(&viewer, &shown)))
        (section("edit", lang.pick("Edit this source", "编辑该信源"), &form_of(&viewer, id, &form)))
    };
    let page = page(&viewer, Place::Sources, called(&source), &body);
    Ok(with_status(StatusCode::OK, page))
}

/// Whether typing something else would do.
fn can_be_mended(problem: &Problem) -> bool {
    let codes = [Code::Unreachable, Code::AddressTaken];
    codes.contains(&problem.code) || problem.code.status() == StatusCode::UNPROCESSABLE_ENTITY
}

fn mend(viewer: &Viewer, source: &Source, form: &Edit, problem: &Problem) -> Response {
    let body = html! {
        (refused(viewer.lang, problem))
        (form_of(viewer, source.id, form))
    };
    again(page(viewer, Place::Sources, called(source), &body))
}

fn result(viewer: &Viewer, shown: &PreviewView) -> Markup {
    let (lang, count) = (viewer.lang, shown.entries.len());
    let first = shown.entries.get(..SHOWN).unwrap_or(&shown.entries);
    let more = count - first.len() + shown.left_out;
    let entries = table! { lang; "Entries, as in the document", "条目，按文档顺序"; or "No entries.", "没有条目。";
        for (entry in first) tr()
        "Entry", "条目" { th scope="row" class="name" lang="" { (outside(entry.link.as_deref().unwrap_or_default(), &entry.title)) } }
        "Published", "发布时间" { td { (viewer.at_or_dash(entry.published_at)) } }
        "Link", "链接" { td { (or_dash(entry.link.as_deref())) } }
    };
    html! {
        p role="status" { (say!(lang; "Entries found: {count}. Nothing has been stored.", "找到 {count} 个条目，尚未存储任何内容。")) }
        @if let Some(title) = &shown.title { p { (lang.pick("Its own title: ", "自身标题：")) q lang="" { (title) } } }
        @if !shown.warnings.is_empty() {
            ul class="warning" { @for warning in &shown.warnings { li { (lang.english(warning)) } } }
        }
        (entries)
        @if more > 0 { p class="hint" { (say!(lang, "Not shown: {more} more.", "另有 {more} 个条目未显示。")) } }
    }
}
