//! Sources: show, change and remove them.
//!
//! A source's row describes it, its task says when it is checked next: `next_due_at` is the time of
//! the live task, because a person may have rescheduled the task itself. `/due` finds sources by
//! their rows, in whose order it lists (SS-08), and shows the same time.

use almanack_core::both;
use almanack_core::source::{Source, SourceId, SourceType};
use almanack_core::{source::why::next_look_at, task::Task};

use self::body::ChangesBody;
use self::view::{DetailView, SourceView};
use crate::call::in_path;
use crate::prelude::*;

pub(crate) mod acts;
pub(crate) mod adding;
pub(crate) mod body;
pub(crate) mod courtesy;
pub(crate) mod entries;
pub(crate) mod list;
pub(crate) mod numbers;
pub(crate) mod opml;
pub(crate) mod ping;
pub(crate) mod preview;
pub(crate) mod push;
mod view;
pub(crate) mod why;

pub(crate) const STATES: [&str; 3] = ["active", "paused", "ended"];

in_path! {
    /// The source a path names.
    Numbered(SourceId), |text: String| text.parse().map(SourceId).map_err(|_| {
        let detail = both!(
            "the path is /api/v1/sources/{{source_id}}, with a whole number",
            "路径为 /api/v1/sources/{{source_id}}，其中为整数"
        );
        Problem::new(Code::NoSuchSource, detail)
    })
}

fn parse_type(text: &str) -> Result<SourceType> {
    SourceType::parse(text).ok_or_else(|| {
        Problem::in_query(both!(
            "type must be rss or custom",
            "type 必须是 rss 或 custom"
        ))
    })
}

pub(crate) fn parse_cursor(text: &str) -> Result<i64> {
    paging::read(text, |row| row.parse().ok())
}

/// Show a source with its last checks.
#[utoipa::path(
    get, path = "/api/v1/sources/{id}", tag = "sources",
    responses((status = 200, description = "The source", body = DetailView)),
)]
pub(crate) async fn get_source(
    State(state): App,
    Numbered(id): Numbered,
) -> Result<Json<DetailView>> {
    let (source, task) = with_task(&state, id).await?;
    let next_due_at = next_look_at(&source, task.as_ref());
    let now = state.clock.now();
    Ok(Json(DetailView::of(source, next_due_at, now)))
}

/// Change a source.
///
/// Omitted fields are unchanged; null resets: the name to the source's own title, the category to
/// the top level, policy and cadence to the node's choice, the reading to a feed. A changed policy
/// or cadence plans the next check again. A changed address, reading or request clears failures and
/// checks at once; entries, statistics and rhythm stay. A paused source stays paused.
#[utoipa::path(
    patch, path = "/api/v1/sources/{id}", tag = "sources",
    request_body = ChangesBody,
    responses((status = 200, description = "The source after the change", body = SourceView)),
)]
pub(crate) async fn patch_source(State(state): App, Numbered(id): Numbered, call: Call) -> Answer {
    refuse_key(&call)?;
    let request = call.json::<ChangesBody>()?.into_changes()?;
    let by = call.requester.origin();
    let changed = state.sources.change(id, &request, &by).await?;
    written(&state, StatusCode::OK, changed).await
}

/// Remove a source with its entries.
#[utoipa::path(
    delete, path = "/api/v1/sources/{id}", tag = "sources",
    responses((status = 204, description = "Removed")),
)]
pub(crate) async fn delete_source(
    State(state): App,
    Numbered(id): Numbered,
    call: Call,
) -> Result<StatusCode> {
    refuse_key(&call)?;
    state.sources.remove(id, &call.requester.origin()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Repeating these calls is harmless, so no idempotency key is stored.
fn refuse_key(call: &Call) -> Result<()> {
    call.refuse_key_because(both!(
        "changes of sources do not accept an Idempotency-Key; repeating the call is harmless",
        "信源的更改不接受 Idempotency-Key；重复调用没有害处"
    ))
}

/// A source and its current task.
pub(crate) async fn with_task(state: &AppState, id: SourceId) -> Result<(Source, Option<Task>)> {
    let source = state.sources.load(id).await?;
    let task = state.sources.tasks(&[id]).await?.pop().flatten();
    Ok((source, task))
}

/// Sources with the times of their tasks.
async fn shown(state: &AppState, sources: Vec<Source>) -> Result<Vec<SourceView>> {
    let ids: Vec<SourceId> = sources.iter().map(|source| source.id).collect();
    let tasks = state.sources.tasks(&ids).await?;
    let views = sources.into_iter().zip(tasks).map(|(source, task)| {
        let next_due_at = next_look_at(&source, task.as_ref());
        SourceView::of(source, next_due_at)
    });
    Ok(views.collect())
}

/// Answers a change with the source after it.
async fn written(state: &AppState, status: StatusCode, source: Source) -> Answer {
    let location = [(header::LOCATION, format!("/api/v1/sources/{}", source.id))];
    let view = shown(state, vec![source]).await?.pop();
    Ok((status, location, Json(view)).into_response())
}
