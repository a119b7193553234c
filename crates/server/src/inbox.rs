//! Requests that were made in others' transactions, with SQL functions (WK-03).

use almanack_core::inbox::{InboxEntry, InboxNumber};
use almanack_core::{both, lang::Sentence};
use axum::{extract::Path, extract::rejection::PathRejection};

use crate::prelude::*;

/// Show a request that a SQL function wrote, and its answer once it has one.
///
/// `receipt` is what was decided, `refused` why nothing was. Without either, it waits for a node.
#[utoipa::path(
    get, path = "/api/v1/inbox/{number}", tag = "receipts",
    params(("number" = i64, Path, description = "What the function returned")),
    responses(
        (status = 200, description = "The request and its answer", body = InboxEntry),
    ),
)]
pub(crate) async fn get_inbox(
    State(state): App,
    number: Result<Path<i64>, PathRejection>,
) -> Result<Json<InboxEntry>> {
    let none = |why: Sentence| Problem::new(Code::NoSuchRequest, why);
    if state.store.inbox_hints().is_none() {
        return Err(none(both!(
            "only PostgreSQL has an inbox; on SQLite, tasks are changed through the API",
            "只有 PostgreSQL 有收件箱；使用 SQLite 时，请通过 API 更改任务"
        )));
    }
    let unknown = || {
        none(both!(
            "the inbox has no request with this number, or it was answered long ago",
            "收件箱中没有此编号的请求，或早已得到应答"
        ))
    };
    let Path(number) = number.map_err(|_| unknown())?;
    let found = state.store.load_inbox(InboxNumber(number)).await?;
    found.map(Json).ok_or_else(unknown)
}
