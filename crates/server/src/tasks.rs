//! Tasks: create, reschedule, show, cancel, retry and list them.

use almanack_core::history::{self, HistoryCursor};
use almanack_core::reschedule::{Cancel, NothingThere, Put, Request};
use almanack_core::store::{HistoryPage, Store};
use almanack_core::task::{Identity, Task, parse_revision};
use almanack_engine::{kinds, reschedule};

use self::body::PutBody;
use self::find::ListQuery;
use self::view::{HistoryView, PageView, TaskView, WhyView};
use crate::call::{At, OnceHeader};
use crate::idempotency::ask;
use crate::language;
use crate::prelude::*;
use crate::receipts::{ReceiptView, answer};

pub(crate) mod body;
pub(crate) mod find;
pub(crate) mod view;

/// Default page size of a history.
const HISTORY_DEFAULT: usize = 200;

/// Create a task, or reschedule it.
///
/// A waiting task is changed in place; a running one is cancelled and replaced; a done task is
/// unchanged. The receipt says which rule applied.
#[utoipa::path(
    put, path = "/api/v1/tasks/{kind}/{subject}", tag = "tasks",
    params(OnceHeader),
    request_body = PutBody,
    responses(
        (status = 201, description = "A row was inserted", body = ReceiptView),
        (status = 200, description = "The row was changed, or no change was needed", body = ReceiptView),
    ),
)]
pub(crate) async fn put_task(State(state): App, At(identity): At, call: Call) -> Answer {
    let request = call
        .json::<PutBody>()?
        .into_request(identity.clone(), &state.limits)?;
    let receipt = ask(&state, &call, request, &call.requester.origin()).await?;
    Ok(answer(identity, receipt))
}

/// Show the live task of an identity, or its latest.
#[utoipa::path(
    get, path = "/api/v1/tasks/{kind}/{subject}", tag = "tasks",
    responses((status = 200, description = "The task", body = TaskView)),
)]
pub(crate) async fn get_task(State(state): App, At(identity): At) -> Result<Json<TaskView>> {
    let task = find_current(&*state.store, &identity).await?;
    Ok(Json(task.into()))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct CancelQuery {
    /// The requester's revision of the change.
    revision: Option<i64>,
}

/// Cancel a task.
#[utoipa::path(
    delete, path = "/api/v1/tasks/{kind}/{subject}", tag = "tasks",
    params(CancelQuery, OnceHeader),
    responses((status = 200, description = "The decision", body = ReceiptView)),
)]
pub(crate) async fn cancel_task(
    State(state): App,
    At(identity): At,
    Asked(query): Asked<CancelQuery>,
    call: Call,
) -> Answer {
    let revision = query.revision.map(parse_revision).transpose()?;
    let request = Request::Cancel(Cancel {
        identity: identity.clone(),
        revision,
    });
    let receipt = ask(&state, &call, request, &call.requester.origin()).await?;
    Ok(answer(identity, receipt))
}

/// Retry a task now with its current payload.
#[utoipa::path(
    post, path = "/api/v1/tasks/{kind}/{subject}/retry", tag = "tasks",
    params(OnceHeader),
    responses(
        (status = 201, description = "A row was inserted", body = ReceiptView),
        (status = 200, description = "The row was changed, or no change was needed", body = ReceiptView),
    ),
)]
pub(crate) async fn retry_task(State(state): App, At(identity): At, call: Call) -> Answer {
    find_current(&*state.changes, &identity).await?;
    let again = Put::at(identity.clone(), state.clock.now());
    let receipt = ask(&state, &call, Request::Put(again), &call.requester.origin()).await?;
    Ok(answer(identity, receipt))
}

/// Explain why a task waits, runs or ended, from stored facts.
#[utoipa::path(
    get, path = "/api/v1/tasks/{kind}/{subject}/why", tag = "tasks",
    params(("Accept-Language" = Option<String>, Header, description = "`zh` for Chinese texts")),
    responses((status = 200, description = "The reason", body = WhyView)),
)]
pub(crate) async fn why_task(State(state): App, At(identity): At, Reader(lang): Reader) -> Answer {
    let task = find_current(&*state.store, &identity).await?;
    let (known, now) = (state.rescheduler.kinds(), state.clock.now());
    let why = kinds::why_of(&*state.store, &known, &task, now).await?;
    Ok(language::answer(lang, WhyView::of(identity, why, lang)))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct HistoryQuery {
    /// Page size, 1 to 500. Default: 200.
    limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// List the decisions and attempts of a task, in order.
///
/// The first page has the newest; `next_cursor` leads to earlier ones.
#[utoipa::path(
    get, path = "/api/v1/tasks/{kind}/{subject}/history", tag = "tasks",
    params(HistoryQuery),
    responses((status = 200, description = "The history", body = HistoryView)),
)]
pub(crate) async fn get_history(
    State(state): App,
    At(identity): At,
    Asked(query): Asked<HistoryQuery>,
) -> Result<Json<HistoryView>> {
    let limit = paging::size(query.limit, HISTORY_DEFAULT, PAGE_MAX)?;
    let before = query.cursor.as_deref().map(parse_history_cursor);
    let before = before.transpose()?;
    let page = HistoryPage { before, limit };
    let records = state.store.load_history(&identity, page).await?;
    if records.tasks.is_empty() {
        return Err(nothing_there(&identity));
    }
    let page = history::page(records, before, limit);
    Ok(Json(HistoryView::of(identity, page)))
}

/// List tasks, newest first.
///
/// A page examines at most 10,000 rows. It may be short or empty and still have a `next_cursor`;
/// the next page continues from there.
#[utoipa::path(
    get, path = "/api/v1/tasks", tag = "tasks",
    params(ListQuery),
    responses((status = 200, description = "The page", body = PageView)),
)]
pub(crate) async fn list_tasks(
    State(state): App,
    Asked(query): Asked<ListQuery>,
) -> Result<Json<PageView>> {
    let page = state.store.list_tasks(&query.into_filter()?).await?;
    Ok(Json(PageView {
        tasks: page.rows.into_iter().map(TaskView::from).collect(),
        next_cursor: page.next.map(paging::cursor),
    }))
}

pub(crate) fn parse_history_cursor(text: &str) -> Result<HistoryCursor> {
    paging::read(text, HistoryCursor::parse)
}

/// The current row, read with the caller's readers.
pub(crate) async fn find_current(store: &dyn Store, identity: &Identity) -> Result<Task> {
    let rows = store.load_current(std::slice::from_ref(identity)).await?;
    rows.into_iter()
        .flatten()
        .next()
        .ok_or_else(|| nothing_there(identity))
}

pub(crate) fn nothing_there(identity: &Identity) -> Problem {
    reschedule::Error::from(NothingThere {
        identity: identity.clone(),
    })
    .into()
}
