//! Entries of all sources, and those that a search finds: in all, in a category, or of one source.

use std::collections::BTreeMap;

use almanack_core::{source::entry::Entry, source::search, store::EntryFilter};

use super::{called, entries::title};
use crate::paging::cursor;
use crate::sources::{list::in_category, parse_cursor};
use crate::ui::prelude::*;

/// Entries on a page.
const PAGE: usize = 50;
/// The page of all entries.
pub(crate) const PATH: &str = "/ui/entries";

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Query {
    pub(super) q: Option<String>,
    pub(super) category: Option<String>,
    pub(super) cursor: Option<String>,
}

impl Query {
    pub(super) fn filter(&self, source: Option<SourceId>) -> Result<EntryFilter> {
        Ok(EntryFilter {
            source,
            category: in_category(self.category.as_deref())?,
            search: self.q.as_deref().and_then(search::Query::parse),
            before: self.cursor.as_deref().map(parse_cursor).transpose()?,
            limit: PAGE,
            ..EntryFilter::default()
        })
    }

    /// The same list from its first row or from a cursor.
    pub(super) fn from(&self, cursor: Option<String>) -> Self {
        Self {
            cursor,
            ..self.clone()
        }
    }

    /// The search form, leading to `action`.
    pub(super) fn form(&self, lang: Lang, action: &str, source: Option<SourceId>) -> Markup {
        let words = lang.pick("Words in entries", "条目中的词");
        let category = lang.pick("Category", "分类");
        html! {
            form method="get" action=(action) role="search" aria-label=(lang.pick("Find entries", "查找条目")) {
                div class="fields" {
                    (Field::search("q", words, self.q.as_deref()).most(search::QUERY_BYTES_MAX).example("ferry \"night train\" -strike"))
                    @if source.is_none() { (Field::text("category", category, self.category.as_deref()).most(200)) }
                    button type="submit" { (lang.pick("Find", "查找")) }
                }
            }
        }
    }

    /// The equivalent command.
    pub(super) fn equivalent(&self, source: Option<SourceId>) -> Equivalent {
        let own = self.from(None);
        let path = source.map_or_else(
            || "/api/v1/entries".to_owned(),
            |id| format!("/api/v1/sources/{id}/entries"),
        );
        let mut words = vec!["source".to_owned(), "entries".to_owned()];
        words.extend(source.map(|id| id.to_string()));
        let given = [("--search", &own.q), ("--category", &own.category)];
        for (flag, value) in given {
            let value = value.as_deref().filter(|value| !value.is_empty());
            words.extend(value.map(|value| format!("{flag}={value}")));
        }
        Equivalent::call("GET", address(&path, &own)).cli(words)
    }
}

/// Entries of all sources, page by page.
pub(crate) async fn show(sought: Sought<Query>) -> Page {
    let Sought(state, viewer, query) = sought;
    let lang = viewer.lang;
    let found = state.store.list_entries(&query.filter(None)?).await?;
    let sources = sources(&state, &found.rows).await?;
    let first = query
        .cursor
        .is_some()
        .then(|| address(PATH, query.from(None)));
    let next = found
        .next
        .map(|next| address(PATH, query.from(Some(cursor(next)))));
    let rows = html! {
        (list(&viewer, &found.rows, &sources))
        (pager(lang, first.as_deref(), next.as_deref()))
    };
    let body = html! {
        @if found.rows.is_empty() && query == Query::default() {
            (parts::first(&viewer, pick!(lang;
                "An entry is one item that a source published: its title, link, time and text. Entries of all sources come together here.",
                "条目是信源发布的一项内容：标题、链接、时间和正文。所有信源的条目都汇集在这里。"),
                &html! { p { a class="button" href="/ui/sources/add" { (lang.pick("Add a source", "添加信源")) } } }))
        }
        (query.form(lang, PATH, None))
        (live("entries", &rows))
        (query.equivalent(None).show(&viewer))
    };
    let title = lang.pick("Entries", "条目");
    Ok(page(&viewer, Place::Sources, title, &body))
}

/// The sources of a page's entries.
pub(crate) async fn sources(
    state: &AppState,
    entries: &[Entry],
) -> Result<BTreeMap<SourceId, Source>> {
    let mut ids: Vec<SourceId> = entries.iter().map(|entry| entry.source).collect();
    ids.sort_unstable();
    ids.dedup();
    let found = state.store.load_sources(&ids).await?;
    let found = found.into_iter().flatten();
    Ok(found.map(|source| (source.id, source)).collect())
}

fn list(viewer: &Viewer, entries: &[Entry], sources: &BTreeMap<SourceId, Source>) -> Markup {
    table! { viewer.lang; "Entries, newest first", "条目，最新在前"; or "No entries found.", "没有找到条目。";
        for (entry in entries) tr(data-row id={ "entry-" (entry.id) })
        // Its language may differ from the page's.
        "Entry", "条目" { th scope="row" class="name" lang="" { (title(viewer, entry)) } }
        "Source", "信源" {
            td lang="" { a href=(links::source(entry.source)) { (or_dash(sources.get(&entry.source).map(called))) } }
        }
        "Published", "发布时间" { td { (viewer.at_or_dash(entry.found.published_at)) } }
        "First seen", "首次发现" { td { (viewer.at(entry.seen_at)) } }
    }
}
