//! Entries, newest row first: of one source, or of all.

use almanack_core::{source::SourceId, source::entry::Entry, store::EntryFilter};

use super::{Numbered, parse_cursor};
use crate::prelude::*;
use crate::tasks::body::parse_instant;

/// Largest page with full texts: each may have 50,000 bytes.
const PAGE_MAX_WITH_CONTENT: usize = 50;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EntriesQuery {
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
