//! What sources published, newest row first: of one source, or of all.

use std::sync::Arc;

use almanack_core::{
    source::{SourceId, entry::Entry},
    store::EntryFilter,
};
use axum::{Json, extract::State};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Numbered, PAGE_DEFAULT, PAGE_MAX, cursor, page_of, parse_cursor};
use crate::{AppState, call::Asked, problem::Problem, tasks::body::parse_instant};

/// Most entries on a page that brings all of their text: each may have 50,000 bytes of it.
const PAGE_MAX_WITH_CONTENT: usize = 50;

/// Which entries.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EntriesQuery {
    /// Only first seen at or after this: an RFC 3339 instant; a `+` in it is written `%2B`.
    #[param(format = DateTime)]
    since: Option<String>,
    /// With all of their text too; then at most 50 at a time.
    #[serde(default)]
    content: bool,
    /// How many at most: 1 to 500, 50 when nobody says otherwise.
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// A page of entries, newest row first.
#[derive(Serialize, ToSchema)]
pub(crate) struct EntriesView {
    entries: Vec<EntryView>,
    /// Give it as `cursor` to get the next page; null on the last one.
    next_cursor: Option<String>,
}

/// One entry. Texts are sanitised HTML.
#[derive(Serialize, ToSchema)]
pub(crate) struct EntryView {
    /// Number of the row.
    entry_id: i64,
    /// Whose it is.
    source_id: i64,
    /// What it is known by: `id:`, `link:` or `title:`, and that.
    #[schema(example = "link:https://example.com/posts/1")]
    key: String,
    /// Where it can be read.
    link: Option<String>,
    /// What it is called; empty when it has no title.
    title: String,
    /// Who wrote it.
    author: Option<String>,
    /// When its publisher says it was published; null when that is not said or cannot be believed.
    #[schema(value_type = Option<String>, format = DateTime)]
    published_at: Option<Timestamp>,
    /// When it was first seen.
    #[schema(value_type = String, format = DateTime)]
    seen_at: Timestamp,
    /// What it is about.
    summary: Option<String>,
    /// All of it; only where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
}

/// Entries of all sources, newest row first.
#[utoipa::path(
    get,
    path = "/api/v1/entries",
    tag = "sources",
    params(EntriesQuery),
    responses(
        (status = 200, description = "The page", body = EntriesView),
        (status = 422, description = "A parameter is unknown or invalid", body = Problem, content_type = "application/problem+json"),
    ),
    security(("token" = ["read"])),
)]
pub(crate) async fn list_entries(
    State(state): State<Arc<AppState>>,
    Asked(query): Asked<EntriesQuery>,
) -> Result<Json<EntriesView>, Problem> {
    Ok(Json(query.answer(&state, None).await?))
}

/// Entries of one source, newest row first.
#[utoipa::path(
    get,
    path = "/api/v1/sources/{id}/entries",
    tag = "sources",
    params(("id" = i64, Path, description = "The source's number"), EntriesQuery),
    responses(
        (status = 200, description = "The page", body = EntriesView),
        (status = "4XX", description = "No such source, or a parameter is invalid", body = Problem, content_type = "application/problem+json"),
    ),
    security(("token" = ["read"])),
)]
pub(crate) async fn list_source_entries(
    State(state): State<Arc<AppState>>,
    Numbered(id): Numbered,
    Asked(query): Asked<EntriesQuery>,
) -> Result<Json<EntriesView>, Problem> {
    state.sources.load(id).await?;
    Ok(Json(query.answer(&state, Some(id)).await?))
}

impl EntriesQuery {
    async fn answer(
        self,
        state: &AppState,
        source: Option<SourceId>,
    ) -> Result<EntriesView, Problem> {
        let max = if self.content {
            PAGE_MAX_WITH_CONTENT
        } else {
            PAGE_MAX
        };
        let page = page_of(self.limit, PAGE_DEFAULT, max)?;
        let since = self.since.as_deref();
        let filter = EntryFilter {
            source,
            seen_from: since.map(|at| parse_instant(at, "since")).transpose()?,
            before: self.cursor.as_deref().map(parse_cursor).transpose()?,
            limit: page,
            ..EntryFilter::default()
        };
        let page = state.store.list_entries(&filter).await?;
        let shown = |entry| EntryView::of(entry, self.content);
        Ok(EntriesView {
            entries: page.rows.into_iter().map(shown).collect(),
            next_cursor: page.next.map(cursor),
        })
    }
}

impl EntryView {
    fn of(entry: Entry, with_content: bool) -> Self {
        let found = entry.found;
        Self {
            entry_id: entry.id,
            source_id: entry.source.0,
            key: entry.key,
            link: found.link,
            title: found.title,
            author: found.author,
            published_at: found.published_at,
            seen_at: entry.seen_at,
            summary: found.summary,
            content: found.content.filter(|_| with_content),
        }
    }
}
