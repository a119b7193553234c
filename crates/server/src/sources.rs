//! Sources: look at them, change what people say about them, take them away.
//!
//! A source's row says what it is, its task says when it is looked at next: `next_due_at` is the task's time
//! wherever one lives, because a person may have moved the task itself. Only `/due` goes by the rows, in
//! whose order it lists (SS-08).

use std::sync::Arc;

use almanack_core::{
    source::{
        Attention, Source, SourceId, SourceType, policy::cadence::Cadence, why::next_look_at,
    },
    store::SourceFilter,
    task::Task,
};
use axum::{
    Json,
    extract::{FromRequestParts, Path, State},
    http::{HeaderValue, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::Deserialize;
use utoipa::IntoParams;

use self::{
    body::ChangesBody,
    view::{DetailView, SourceView, SourcesView},
};
use crate::{
    AppState,
    call::{Asked, Call},
    problem::{Code, Problem},
};

pub(crate) mod acts;
pub(crate) mod adding;
mod body;
pub(crate) mod entries;
pub(crate) mod numbers;
pub(crate) mod opml;
mod view;
pub(crate) mod why;

/// Rows on a page when nobody says otherwise.
const PAGE_DEFAULT: usize = 50;
/// Most rows on a page.
const PAGE_MAX: usize = 500;
/// Longest text to look for, in bytes.
const TEXT_BYTES_MAX: usize = 200;
/// The states a source can be in.
pub(crate) const STATES: [&str; 3] = ["active", "paused", "ended"];

/// The source a path names.
pub(crate) struct Numbered(pub(crate) SourceId);

impl<S: Send + Sync> FromRequestParts<S> for Numbered {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        let Path(text) =
            path.map_err(|rejection| Problem::new(Code::BadRequest, rejection.body_text()))?;
        let number = text.parse().ok().map(SourceId);
        number.map(Self).ok_or_else(|| {
            let detail = "a source is at /api/v1/sources/{source_id}, and that is a whole number";
            Problem::new(Code::NoSuchSource, detail)
        })
    }
}

/// Which sources to list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Only of this type: rss or custom.
    #[serde(rename = "type")]
    source_type: Option<String>,
    /// Only in this state: active, paused or ended.
    state: Option<String>,
    /// Only with this cadence: P0 to P7.
    cadence: Option<String>,
    /// Only those a person should look at: silent, failing, duplicate, credentials, or any.
    attention: Option<String>,
    /// Only those whose name or address contains this.
    q: Option<String>,
    /// How many at most: 1 to 500, 50 when nobody says otherwise.
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// A page of sources, by number.
#[utoipa::path(
    get,
    path = "/api/v1/sources",
    tag = "sources",
    params(ListQuery),
    responses(
        (status = 200, description = "The page", body = SourcesView),
        (status = 422, description = "A parameter is unknown or invalid", body = Problem, content_type = "application/problem+json"),
    ),
    security(("token" = ["read"])),
)]
pub(crate) async fn list_sources(
    State(state): State<Arc<AppState>>,
    Asked(query): Asked<ListQuery>,
) -> Result<Json<SourcesView>, Problem> {
    let (filter, page) = query.into_filter()?;
    let mut sources = state.store.list_sources(&filter).await?;
    let more = sources.len() > page;
    sources.truncate(page);
    let next_cursor = sources
        .last()
        .filter(|_| more)
        .map(|last| cursor(last.id.0));
    Ok(Json(SourcesView {
        sources: shown(&state, sources).await?,
        next_cursor,
    }))
}

impl ListQuery {
    /// The filter, which asks for one more than the page holds: that one says whether another page
    /// follows.
    fn into_filter(self) -> Result<(SourceFilter, usize), Problem> {
        let page = page_of(self.limit, PAGE_DEFAULT, PAGE_MAX)?;
        if self.state.iter().any(|s| !STATES.contains(&s.as_str())) {
            return Err(misasked("state must be active, paused or ended"));
        }
        let cadence = self.cadence.as_deref().map(str::parse::<Cadence>);
        let cadence = cadence
            .transpose()
            .map_err(|unknown| misasked(&unknown.to_string()))?;
        let (attention, needs_attention) = match self.attention.as_deref() {
            None => (None, false),
            Some("any") => (None, true),
            Some(name) => (Some(parse_attention(name)?), false),
        };
        let filter = SourceFilter {
            source_type: self.source_type.as_deref().map(parse_type).transpose()?,
            state: self.state,
            cadence,
            attention,
            needs_attention,
            containing: self.q.map(check_text).transpose()?,
            after: self
                .cursor
                .as_deref()
                .map(parse_cursor)
                .transpose()?
                .map(SourceId),
            limit: page + 1,
        };
        Ok((filter, page))
    }
}

fn misasked(detail: &str) -> Problem {
    Problem::new(Code::InvalidQuery, detail)
}

fn parse_type(text: &str) -> Result<SourceType, Problem> {
    SourceType::parse(text).ok_or_else(|| misasked("type must be rss or custom"))
}

fn parse_attention(text: &str) -> Result<Attention, Problem> {
    let detail = "attention must be silent, failing, duplicate, credentials or any";
    Attention::parse(text).ok_or_else(|| misasked(detail))
}

/// PostgreSQL refuses even to look for a NUL.
fn check_text(text: String) -> Result<String, Problem> {
    if text.len() > TEXT_BYTES_MAX || text.contains(char::is_control) {
        let detail = format!("q must have at most {TEXT_BYTES_MAX} bytes, no control characters");
        return Err(misasked(&detail));
    }
    Ok(text)
}

/// How many rows a page holds.
fn page_of(limit: Option<usize>, default: usize, max: usize) -> Result<usize, Problem> {
    let page = limit.unwrap_or(default);
    if (1..=max).contains(&page) {
        return Ok(page);
    }
    Err(misasked(&format!("limit must be 1 to {max}, not {page}")))
}

fn cursor(row: i64) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(row.to_string())
}

fn parse_cursor(text: &str) -> Result<i64, Problem> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).ok();
    let row = bytes.and_then(|bytes| std::str::from_utf8(&bytes).ok()?.parse().ok());
    row.ok_or_else(|| misasked("cursor must be the next_cursor of an earlier page"))
}

/// One source: all that is known of it, and its last checks.
#[utoipa::path(
    get,
    path = "/api/v1/sources/{id}",
    tag = "sources",
    params(("id" = i64, Path, description = "The source's number")),
    responses(
        (status = 200, description = "The source", body = DetailView),
        (status = 404, description = "No such source", body = Problem, content_type = "application/problem+json"),
    ),
    security(("token" = ["read"])),
)]
pub(crate) async fn get_source(
    State(state): State<Arc<AppState>>,
    Numbered(id): Numbered,
) -> Result<Json<DetailView>, Problem> {
    let (source, task) = with_task(&state, id).await?;
    let next_due_at = next_look_at(&source, task.as_ref());
    Ok(Json(DetailView::of(source, next_due_at)))
}

/// Change what people say about a source.
///
/// What is left out stays; null takes back: the name is then what the source calls itself, the category
/// is the top, policy and cadence are the node's to choose. A changed policy or cadence chooses the next check
/// anew.
#[utoipa::path(
    patch,
    path = "/api/v1/sources/{id}",
    tag = "sources",
    params(("id" = i64, Path, description = "The source's number")),
    request_body = ChangesBody,
    responses(
        (status = 200, description = "The source afterwards", body = SourceView),
        (status = "4XX", description = "Nothing was stored", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", description = "Ask again", body = Problem, content_type = "application/problem+json"),
    ),
    security(("token" = ["operate"])),
)]
pub(crate) async fn patch_source(
    State(state): State<Arc<AppState>>,
    Numbered(id): Numbered,
    call: Call,
) -> Result<Response, Problem> {
    refuse_key(&call)?;
    let wish = call.json::<ChangesBody>()?.into_changes()?;
    let by = call.asker.origin();
    let changed = state.sources.change(id, &wish, &by).await?;
    written(&state, StatusCode::OK, changed).await
}

/// Forget a source with its entries.
#[utoipa::path(
    delete,
    path = "/api/v1/sources/{id}",
    tag = "sources",
    params(("id" = i64, Path, description = "The source's number")),
    responses(
        (status = 204, description = "It is gone"),
        (status = "4XX", description = "Nothing was stored", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", description = "Ask again", body = Problem, content_type = "application/problem+json"),
    ),
    security(("token" = ["operate"])),
)]
pub(crate) async fn delete_source(
    State(state): State<Arc<AppState>>,
    Numbered(id): Numbered,
    call: Call,
) -> Result<StatusCode, Problem> {
    refuse_key(&call)?;
    state.sources.remove(id, &call.asker.origin()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Nothing here is worse for being asked twice, so nothing is remembered by a key.
fn refuse_key(call: &Call) -> Result<(), Problem> {
    call.refuse_key_because("changes of sources take no Idempotency-Key; asking twice is harmless")
}

/// A source and its current task.
async fn with_task(state: &AppState, id: SourceId) -> Result<(Source, Option<Task>), Problem> {
    let source = state.sources.load(id).await?;
    let task = state.sources.tasks(&[id]).await?.pop().flatten();
    Ok((source, task))
}

/// Sources with the times of their tasks.
async fn shown(state: &AppState, sources: Vec<Source>) -> Result<Vec<SourceView>, Problem> {
    let ids: Vec<SourceId> = sources.iter().map(|source| source.id).collect();
    let tasks = state.sources.tasks(&ids).await?;
    let views = sources.into_iter().zip(tasks).map(|(source, task)| {
        let next_due_at = next_look_at(&source, task.as_ref());
        SourceView::of(source, next_due_at)
    });
    Ok(views.collect())
}

/// Answers a change with the source as it is now.
async fn written(
    state: &AppState,
    status: StatusCode,
    source: Source,
) -> Result<Response, Problem> {
    // A number is always a header value.
    let location = HeaderValue::try_from(format!("/api/v1/sources/{}", source.id)).ok();
    let view = shown(state, vec![source]).await?.pop();
    let mut response = (status, Json(view)).into_response();
    let headers = response.headers_mut();
    headers.extend(location.map(|location| (header::LOCATION, location)));
    Ok(response)
}
