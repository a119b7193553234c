//! Entries of a source. Titles and links are the publisher's: escaped, and linked only to web
//! addresses.

use almanack_core::{source::entry::Entry, store::EntryFilter};

use super::{called, search::Query};
use crate::paging::cursor;
use crate::sources::Numbered;
use crate::ui::prelude::*;

/// A source's newest entries.
pub(super) async fn newest(state: &AppState, id: SourceId, limit: usize) -> Result<Vec<Entry>> {
    let filter = EntryFilter {
        source: Some(id),
        limit,
        ..EntryFilter::default()
    };
    Ok(state.store.list_entries(&filter).await?.rows)
}

/// All entries of a source, page by page, or those that a search finds.
pub(crate) async fn show(Numbered(id): Numbered, sought: Sought<Query>) -> Page {
    let Sought(state, viewer, query) = sought;
    let source = state.sources.load(id).await?;
    let found = state.store.list_entries(&query.filter(Some(id))?).await?;
    let (here, name) = (here(id), called(&source));
    let first = query
        .cursor
        .is_some()
        .then(|| address(&here, query.from(None)));
    let next = found.next.map(cursor);
    let next = next.map(|next| address(&here, query.from(Some(next))));
    let body = html! {
        p { a href=(links::source(id)) { (name) } }
        (query.form(viewer.lang, &here, Some(id)))
        (live("entries", &html! { (list(&viewer, &found.rows)) (pager(viewer.lang, first.as_deref(), next.as_deref())) }))
        (query.equivalent(Some(id)).show(&viewer))
    };
    let title = say!(viewer.lang, "Entries of {name}", "{name} 的条目");
    Ok(page(&viewer, Place::Sources, &title, &body))
}

/// The page of a source's entries.
pub(super) fn here(id: SourceId) -> String {
    format!("{}/entries", links::source(id))
}

/// Entries as a table.
pub(super) fn list(viewer: &Viewer, entries: &[Entry]) -> Markup {
    table! { viewer.lang; "Entries, newest first", "条目，最新在前"; or "No entries yet.", "还没有条目。";
        for (entry in entries) tr(data-row id={ "entry-" (entry.id) })
        // Its language may differ from the page's.
        "Entry", "条目" { th scope="row" class="name" lang="" { (title(viewer, entry)) } }
        "Published", "发布时间" { td { (viewer.at_or_dash(entry.found.published_at)) } }
        "First seen", "首次发现" { td { (viewer.at(entry.seen_at)) } }
        "Author", "作者" { td lang="" { (or_dash(entry.found.author.as_deref())) } }
    }
}

pub(super) fn title(viewer: &Viewer, entry: &Entry) -> Markup {
    let link = entry.found.link.as_deref().unwrap_or_default();
    let words = match entry.found.title.trim() {
        "" if link.is_empty() => viewer.lang.pick("untitled", "无标题"),
        title => title,
    };
    outside(link, words)
}
