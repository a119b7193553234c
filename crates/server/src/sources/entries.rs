//! Entries, newest row first: of one source or of all, or those that a search finds.

use almanack_core::both;
use almanack_core::{
    source::SourceId, source::entry::Entry, source::search::Query, store::EntryFilter,
};

use super::{Numbered, list::in_category, parse_cursor, refuse_key};
use crate::call::in_path;
use crate::prelude::*;
use crate::tasks::body::parse_instant;

/// Largest page with full texts: each may have 50,000 bytes.
const PAGE_MAX_WITH_CONTENT: usize = 50;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EntriesQuery {
    /// Only entries with all these words in their title, author, categories or text; `"…"` finds a
    /// phrase, `-word` leaves out. Nothing that is written here is an error.
    q: Option<String>,
    /// Only entries of sources in this category and below it, by whole folder names.
    category: Option<String>,
    /// Only entries first seen at or after this RFC 3339 instant; write `+` as `%2B`.
    #[param(format = DateTime)]
    since: Option<String>,
    /// Include full texts; then at most 50 per page.
    #[serde(default)]
    content: bool,
    /// Page size, 1 to 500. Default: 50.
    limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// A page of entries, newest row first. Texts are sanitised HTML.
#[derive(Serialize, ToSchema)]
pub(crate) struct EntriesView {
    entries: Vec<Entry>,
    /// Pass it as `cursor` to get the next page; null on the last page.
    next_cursor: Option<String>,
}

/// List entries of all sources, newest row first.
///
/// With `q`, `category` or `since` a page may be short or empty and still have a `next_cursor`.
#[utoipa::path(
    get, path = "/api/v1/entries", tag = "sources",
    params(EntriesQuery),
    responses((status = 200, description = "The page", body = EntriesView)),
)]
pub(crate) async fn list_entries(
    State(state): App,
    Asked(query): Asked<EntriesQuery>,
) -> Result<Json<EntriesView>> {
    Ok(Json(query.answer(&state, None).await?))
}

/// List entries of one source, newest row first.
#[utoipa::path(
    get, path = "/api/v1/sources/{id}/entries", tag = "sources",
    params(EntriesQuery),
    responses((status = 200, description = "The page", body = EntriesView)),
)]
pub(crate) async fn list_source_entries(
    State(state): App,
    Numbered(id): Numbered,
    Asked(query): Asked<EntriesQuery>,
) -> Result<Json<EntriesView>> {
    state.sources.load(id).await?;
    Ok(Json(query.answer(&state, Some(id)).await?))
}

in_path! {
    /// The number of an entry in a path.
    EntryNumber(i64), |text: String| text.parse().map_err(|_| {
        let detail = both!(
            "the path is /api/v1/entries/{{entry_id}}, with a whole number",
            "路径为 /api/v1/entries/{{entry_id}}，其中为整数"
        );
        Problem::new(Code::NoSuchEntry, detail)
    })
}

/// Fetch the full text of an entry from its link, and store it as its content.
///
/// The node fetches the page at once, within the pace of its host. If the page cannot be read, the
/// entry is unchanged.
#[utoipa::path(
    post, path = "/api/v1/entries/{id}/full-text", tag = "sources",
    responses((status = 200, description = "The entry with its full text", body = Entry)),
)]
pub(crate) async fn read_full_text(
    State(state): App,
    EntryNumber(id): EntryNumber,
    call: Call,
) -> Result<Json<Entry>> {
    refuse_key(&call)?;
    Ok(Json(state.sources.read_full_text(id).await?))
}

impl EntriesQuery {
    async fn answer(self, state: &AppState, source: Option<SourceId>) -> Result<EntriesView> {
        let max = if self.content {
            PAGE_MAX_WITH_CONTENT
        } else {
            PAGE_MAX
        };
        let page = paging::size(self.limit, PAGE_DEFAULT, max)?;
        let since = self.since.as_deref();
        let filter = EntryFilter {
            source,
            category: in_category(self.category.as_deref())?,
            search: self.q.as_deref().and_then(Query::parse),
            seen_from: since.map(|at| parse_instant(at, "since")).transpose()?,
            before: self.cursor.as_deref().map(parse_cursor).transpose()?,
            limit: page,
            ..EntryFilter::default()
        };
        let mut page = state.store.list_entries(&filter).await?;
        if !self.content {
            page.rows.iter_mut().for_each(|it| it.found.content = None);
        }
        Ok(EntriesView {
            entries: page.rows,
            next_cursor: page.next.map(paging::cursor),
        })
    }
}
