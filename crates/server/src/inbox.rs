//! Requests that were made in others' transactions, with SQL functions (WK-03).

use almanack_core::inbox::{InboxEntry, InboxNumber};
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
    let none = |why: &str| Problem::new(Code::NoSuchRequest, why);
    if state.store.inbox_hints().is_none() {
        return Err(none(
            "only PostgreSQL has an inbox; on SQLite, tasks are changed through the API",
        ));
    }
    let unknown = "the inbox has no request with this number, or it was answered long ago";
    let Path(number) = number.map_err(|_| none(unknown))?;
    let found = state.store.load_inbox(InboxNumber(number)).await?;
    found.map(Json).ok_or_else(|| none(unknown))
}
