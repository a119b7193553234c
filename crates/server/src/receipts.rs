//! Receipts: the answer to a change of intent, and whether it was kept (RS-14).

use std::sync::Arc;

use almanack_core::{
    history::Decision,
    reschedule::{DecisionId, Receipt, Requested, Rule},
    task::{Identity, TaskId},
};
use axum::{
    Json,
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use self::kept::KeptView;
use crate::{
    AppState, percent,
    problem::{Code, Problem},
};

mod kept;

/// What was decided, and about which rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct ReceiptView {
    /// Names the decision; ask `/api/v1/receipts/{receipt}` whether it was kept.
    #[schema(example = "17.2")]
    receipt: String,
    /// Which rule applied.
    rule: RuleName,
    /// What the task is about.
    #[schema(example = "article:42")]
    subject: String,
    /// What is tried.
    #[schema(example = "ARTICLE_PUBLISH")]
    kind: String,
    /// The identity's newest row afterwards.
    task_id: i64,
    /// The row that was cancelled to make room, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    cancelled_task_id: Option<i64>,
    /// The time before, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    old_execute_at: Option<Timestamp>,
    /// The time that stands now.
    #[schema(value_type = String, format = DateTime)]
    execute_at: Timestamp,
    /// The revision that stands now; 0 while nobody has numbered a change.
    revision: i64,
}

/// Which rule a wish fell under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RuleName {
    /// Nothing was there: inserted.
    Created,
    /// Waiting: its time was changed in place.
    Updated,
    /// Running: cancelled, and a new task inserted.
    CancelledAndInserted,
    /// Cancelled or out of retries: a new task inserted.
    Reinserted,
    /// Withdrawn.
    Cancelled,
    /// Already done: nothing changed.
    IgnoredDone,
    /// A newer revision is already known: nothing changed.
    IgnoredStale,
    /// The same intent is already recorded: nothing changed.
    Unchanged,
}

impl From<Rule> for RuleName {
    fn from(rule: Rule) -> Self {
        match rule {
            Rule::Created => Self::Created,
            Rule::Updated => Self::Updated,
            Rule::CancelledAndInserted => Self::CancelledAndInserted,
            Rule::Reinserted => Self::Reinserted,
            Rule::Cancelled => Self::Cancelled,
            Rule::IgnoredDone => Self::IgnoredDone,
            Rule::IgnoredStale => Self::IgnoredStale,
            Rule::Unchanged => Self::Unchanged,
        }
    }
}

impl ReceiptView {
    pub(crate) fn of(identity: &Identity, receipt: &Receipt) -> Self {
        Self {
            receipt: receipt_id(receipt.decision),
            rule: receipt.rule.into(),
            subject: identity.subject.to_string(),
            kind: identity.kind.to_string(),
            task_id: receipt.task_id.0,
            cancelled_task_id: receipt.cancelled_task_id.map(|id| id.0),
            old_execute_at: receipt.old_execute_at,
            execute_at: receipt.execute_at,
            revision: receipt.revision.0,
        }
    }
}

/// How a decision is named outside: the row, a dot, its number there.
pub(crate) fn receipt_id(id: DecisionId) -> String {
    format!("{}.{}", id.task_id, id.number)
}

pub(crate) fn parse_receipt_id(text: &str) -> Option<DecisionId> {
    let (task_id, number) = text.split_once('.')?;
    let id = DecisionId {
        task_id: TaskId(task_id.parse().ok()?),
        number: number.parse().ok()?,
    };
    // `+1.2` and `01.2` parse as well, but nobody was ever given such a receipt.
    (receipt_id(id) == text).then_some(id)
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

/// A decision as it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct DecisionView {
    /// Names the decision.
    #[schema(example = "17.2")]
    receipt: String,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    decided_at: Timestamp,
    /// Who asked.
    #[schema(example = "api:editor")]
    origin: String,
    /// Which rule applied.
    rule: RuleName,
    /// The row it was made on.
    task_id: i64,
    /// The row that took over, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    new_task_id: Option<i64>,
    /// The time before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    old_execute_at: Option<Timestamp>,
    /// The time afterwards.
    #[schema(value_type = String, format = DateTime)]
    execute_at: Timestamp,
    /// The revision afterwards, where one was given and is still known.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<i64>,
    /// What was asked for, where that changed nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    requested: Option<RequestedView>,
    /// How often the same was asked, if more than once; it is told once.
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<u32>,
    /// When it was asked for the last time, if more than once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    last_at: Option<Timestamp>,
}

/// What somebody asked for who was told that nothing changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct RequestedView {
    /// `put` or `cancel`.
    what: &'static str,
    /// When to try, of a put.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    execute_at: Option<Timestamp>,
    /// The revision it came with, if it had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<i64>,
}

impl From<Requested> for RequestedView {
    fn from(requested: Requested) -> Self {
        Self {
            what: requested.name(),
            execute_at: requested.execute_at,
            revision: requested.revision.map(|revision| revision.0),
        }
    }
}

impl From<Decision> for DecisionView {
    fn from(decision: Decision) -> Self {
        Self {
            receipt: receipt_id(decision.id),
            decided_at: decision.decided_at,
            origin: decision.origin,
            rule: decision.rule.into(),
            task_id: decision.id.task_id.0,
            new_task_id: decision.new_task_id.map(|id| id.0),
            old_execute_at: decision.old_execute_at,
            execute_at: decision.execute_at,
            // The row that was written first keeps only its newest revision; 0 stands for unknown.
            revision: Some(decision.revision).filter(|revision| *revision > 0),
            requested: decision.requested.map(RequestedView::from),
            times: Some(decision.times).filter(|times| *times > 1),
            last_at: decision.last_at,
        }
    }
}

/// What a receipt's decision was, and whether it was kept.
#[utoipa::path(
    get,
    path = "/api/v1/receipts/{id}",
    tag = "receipts",
    params(("id" = String, Path, description = "The `receipt` of an earlier answer")),
    responses(
        (status = 200, description = "The decision, and whether it was kept", body = KeptView),
        (status = 404, description = "No such receipt", body = Problem, content_type = "application/problem+json"),
    ),
    security(("token" = ["read"])),
)]
pub(crate) async fn get_receipt(
    State(state): State<Arc<AppState>>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<KeptView>, Problem> {
    let none = || Problem::new(Code::NoSuchReceipt, "no decision has this receipt");
    let Path(id) = id.map_err(|_| none())?;
    let id = parse_receipt_id(&id).ok_or_else(none)?;
    let (row, decision, kept) = state.rescheduler.verify(id).await?.ok_or_else(none)?;
    Ok(Json(KeptView::of(&row, decision, kept)))
}

#[cfg(test)]
mod tests {
    use almanack_core::history::Kept;

    use super::{kept::KeptName, *};

    fn name(view: impl Serialize) -> String {
        serde_json::to_value(view)
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned()
    }

    #[test]
    fn the_api_uses_the_names_of_the_store_and_the_metrics() {
        for rule in [
            Rule::Created,
            Rule::Updated,
            Rule::CancelledAndInserted,
            Rule::Reinserted,
            Rule::Cancelled,
            Rule::IgnoredDone,
            Rule::IgnoredStale,
            Rule::Unchanged,
        ] {
            assert_eq!(name(RuleName::from(rule)), rule.as_str());
        }
        for kept in [
            Kept::Stands,
            Kept::Superseded,
            Kept::Done,
            Kept::Failed,
            Kept::Withdrawn,
            Kept::ChangedNothing,
        ] {
            assert_eq!(name(KeptName::from(kept)), kept.as_str());
        }
    }

    #[test]
    fn rs_14_a_receipt_is_read_back_only_as_it_was_written() {
        let id = DecisionId {
            task_id: TaskId(17),
            number: 2,
        };
        assert_eq!(parse_receipt_id(&receipt_id(id)), Some(id));
        for text in [
            "", "17", "17.", ".2", "17.2.3", "+17.2", "017.2", "17.-1", "a.b",
        ] {
            assert_eq!(parse_receipt_id(text), None, "{text}");
        }
    }
}
