//! Receipts: the answer to a change, and what came of it (RS-14).

use almanack_core::both;
use almanack_core::reschedule::{DecisionId, Receipt, Rule};
use almanack_core::task::Identity;
use axum::{extract::Path, extract::rejection::PathRejection};

use self::kept::KeptView;
use crate::percent;
use crate::prelude::*;

mod kept;

/// The decision and its rows. `/api/v1/receipts/{receipt}` shows what came of it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReceiptView {
    #[serde(flatten)]
    pub(crate) identity: Identity,
    #[serde(flatten)]
    pub(crate) receipt: Receipt,
}

/// The public name of a decision.
pub(crate) fn receipt_id(id: DecisionId) -> String {
    id.to_string()
}

pub(crate) fn parse_receipt_id(text: &str) -> Option<DecisionId> {
    DecisionId::parse(text)
}

/// Answers a change of one task: 201 if a row was inserted, 200 otherwise.
pub(crate) fn answer(identity: Identity, receipt: Receipt) -> Response {
    let status = match receipt.rule {
        Rule::Created | Rule::Reinserted | Rule::CancelledAndInserted => StatusCode::CREATED,
        Rule::Updated
        | Rule::Cancelled
        | Rule::IgnoredDone
        | Rule::IgnoredStale
        | Rule::Unchanged => StatusCode::OK,
    };
    let location = location(&identity);
    let view = ReceiptView { identity, receipt };
    (status, location, Json(view)).into_response()
}

/// Where a task is. Kinds and encoded subjects are ASCII, so this is always a header value.
pub(crate) fn location(identity: &Identity) -> [(header::HeaderName, String); 1] {
    let (kind, subject) = (&identity.kind, percent::encode(identity.subject.as_str()));
    [(header::LOCATION, format!("/api/v1/tasks/{kind}/{subject}"))]
}

/// Show the decision of a receipt, and what came of it.
#[utoipa::path(
    get, path = "/api/v1/receipts/{id}", tag = "receipts",
    params(("id" = String, Path, description = "The `receipt` of an earlier answer")),
    responses(
        (status = 200, description = "The decision, and what came of it", body = KeptView),
    ),
)]
pub(crate) async fn get_receipt(
    State(state): App,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<KeptView>> {
    let none = || Problem::new(Code::NoSuchReceipt, both!("no such receipt", "没有此回执"));
    let Path(id) = id.map_err(|_| none())?;
    let id = parse_receipt_id(&id).ok_or_else(none)?;
    let (row, decision, kept) = state.rescheduler.verify(id).await?.ok_or_else(none)?;
    Ok(Json(KeptView::of(&row, decision, kept)))
}
