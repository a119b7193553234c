//! A receipt as it reads later: what was decided then, and what has become of it (RS-14).

use almanack_core::{
    history::{Decision, Kept},
    reschedule::Rule,
    task::Task,
};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::{RequestedView, RuleName, receipt_id};

/// A receipt, asked about later: the fields it was given with, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct KeptView {
    /// Whether it was kept.
    kept: KeptName,
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
    /// What the task is about.
    #[schema(example = "article:42")]
    subject: String,
    /// What is tried.
    #[schema(example = "ARTICLE_PUBLISH")]
    kind: String,
    /// The identity's newest row after the decision.
    task_id: i64,
    /// The row that was cancelled to make room, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    cancelled_task_id: Option<i64>,
    /// The time before, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    old_execute_at: Option<Timestamp>,
    /// The time afterwards.
    #[schema(value_type = String, format = DateTime)]
    execute_at: Timestamp,
    /// The revision afterwards; absent where only a later one is still known.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<i64>,
    /// What was asked for, where that changed nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    requested: Option<RequestedView>,
}

impl KeptView {
    /// `row` is the one the decision was made on.
    pub(super) fn of(row: &Task, decision: Decision, kept: Kept) -> Self {
        let made_on = decision.id.task_id;
        let cancelled = decision.rule == Rule::CancelledAndInserted;
        // A row keeps only its newest revision, so that of its creation may be overwritten. A row
        // that has none never had one.
        let overwritten = decision.id.number == 0 && row.decisions > 0 && row.revision.0 > 0;
        Self {
            kept: kept.into(),
            receipt: receipt_id(decision.id),
            decided_at: decision.decided_at,
            origin: decision.origin,
            rule: decision.rule.into(),
            subject: row.identity.subject.to_string(),
            kind: row.identity.kind.to_string(),
            task_id: decision.new_task_id.unwrap_or(made_on).0,
            cancelled_task_id: cancelled.then_some(made_on.0),
            old_execute_at: decision.old_execute_at,
            execute_at: decision.execute_at,
            revision: (!overwritten).then_some(decision.revision),
            requested: decision.requested.map(RequestedView::from),
        }
    }
}

/// Whether a decision was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KeptName {
    /// The intent stands and its time has not come, or it is being tried.
    Stands,
    /// A later decision took its place.
    Superseded,
    /// It was carried out.
    Done,
    /// It was tried as often as allowed and failed.
    Failed,
    /// It was a withdrawal, and it holds.
    Withdrawn,
    /// It changed nothing, and said so.
    ChangedNothing,
}

impl From<Kept> for KeptName {
    fn from(kept: Kept) -> Self {
        match kept {
            Kept::Stands => Self::Stands,
            Kept::Superseded => Self::Superseded,
            Kept::Done => Self::Done,
            Kept::Failed => Self::Failed,
            Kept::Withdrawn => Self::Withdrawn,
            Kept::ChangedNothing => Self::ChangedNothing,
        }
    }
}
