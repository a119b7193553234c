//! A receipt read later: the decision, and what came of it (RS-14).

use almanack_core::history::{Decision, Kept};
use almanack_core::reschedule::{DecisionId, Requested, Rule};
use almanack_core::task::{Identity, Task, TaskId};

use crate::prelude::*;

/// A receipt read later: its original fields, and what came of it. Rows are named as on the
/// receipt, by their role for the requester.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeptView {
    /// What came of it.
    kept: Kept,
    /// Id of the decision.
    #[schema(value_type = String)]
    receipt: DecisionId,
    /// When it was decided.
    decided_at: Timestamp,
    /// The requester.
    origin: String,
    /// The rule that applied.
    rule: Rule,
    #[serde(flatten)]
    identity: Identity,
    /// The identity's newest row after the decision.
    task_id: TaskId,
    /// The row that was cancelled, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    cancelled_task_id: Option<TaskId>,
    /// The previous time, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    old_execute_at: Option<Timestamp>,
    /// The time afterwards.
    execute_at: Timestamp,
    /// The revision afterwards; absent if only a later one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<i64>,
    /// The request, if it changed nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    requested: Option<Requested>,
}

impl KeptView {
    /// `row` is the row of the decision.
    pub(super) fn of(row: &Task, decision: Decision, kept: Kept) -> Self {
        let made_on = decision.id.task_id;
        let cancelled = decision.rule == Rule::CancelledAndInserted;
        // A row stores only its newest revision, so the revision at its creation may be
        // overwritten. A row without one never had one.
        let overwritten = decision.id.number == 0 && row.decisions > 0 && row.revision.0 > 0;
        Self {
            kept,
            receipt: decision.id,
            decided_at: decision.decided_at,
            origin: decision.origin,
            rule: decision.rule,
            identity: row.identity.clone(),
            task_id: decision.new_task_id.unwrap_or(made_on),
            cancelled_task_id: cancelled.then_some(made_on),
            old_execute_at: decision.old_execute_at,
            execute_at: decision.execute_at,
            revision: (!overwritten).then_some(decision.revision),
            requested: decision.requested,
        }
    }
}
