//! Receipts: the answer to a change of intent, and whether it was kept (RS-14).

use almanack_core::reschedule::{DecisionId, Receipt, Rule};
use almanack_core::task::Identity;
use axum::{extract::Path, extract::rejection::PathRejection};

use self::kept::KeptView;
use crate::percent;
use crate::prelude::*;

mod kept;

/// What was decided, and about which rows. `/api/v1/receipts/{receipt}` says whether it was kept.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReceiptView {
    #[serde(flatten)]
    identity: Identity,
    #[serde(flatten)]
    receipt: Receipt,
}

impl ReceiptView {
    pub(crate) fn of(identity: &Identity, receipt: &Receipt) -> Self {
        Self {
            identity: identity.clone(),
            receipt: receipt.clone(),
        }
    }
}

/// How a decision is named outside.
pub(crate) fn receipt_id(id: DecisionId) -> String {
    id.to_string()
}

pub(crate) fn parse_receipt_id(text: &str) -> Option<DecisionId> {
    DecisionId::parse(text)
}

/// Answers a change of one task: 201 if a row was written for it, 200 otherwise.
pub(crate) fn answer(identity: &Identity, receipt: &Receipt) -> Response {
    let status = match receipt.rule {
        Rule::Created | Rule::Reinserted | Rule::CancelledAndInserted => StatusCode::CREATED,
        Rule::Updated
        | Rule::Cancelled
        | Rule::IgnoredDone
        | Rule::IgnoredStale
        | Rule::Unchanged => StatusCode::OK,
    };
    let mut response = (status, Json(ReceiptView::of(identity, receipt))).into_response();
    let (kind, subject) = (&identity.kind, percent::encode(identity.subject.as_str()));
    // Kinds and encoded subjects are ASCII, so this is always a header value.
    if let Ok(location) = HeaderValue::try_from(format!("/api/v1/tasks/{kind}/{subject}")) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

/// What a receipt's decision was, and whether it was kept.
#[utoipa::path(
    get, path = "/api/v1/receipts/{id}", tag = "receipts",
    params(("id" = String, Path, description = "The `receipt` of an earlier answer")),
    responses(
        (status = 200, description = "The decision, and whether it was kept", body = KeptView),
    ),
)]
pub(crate) async fn get_receipt(
    State(state): App,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<KeptView>> {
    let none = || Problem::new(Code::NoSuchReceipt, "no decision has this receipt");
    let Path(id) = id.map_err(|_| none())?;
    let id = parse_receipt_id(&id).ok_or_else(none)?;
    let (row, decision, kept) = state.rescheduler.verify(id).await?.ok_or_else(none)?;
    Ok(Json(KeptView::of(&row, decision, kept)))
}
