//! A receipt as it reads later: what was decided then, and what has become of it (RS-14).

use almanack_core::history::{Decision, Kept};
use almanack_core::reschedule::{DecisionId, Requested, Rule};
use almanack_core::task::{Identity, Task, TaskId};

use crate::prelude::*;

/// A receipt, asked about later: the fields it was given with, and what came of it. Not the decision itself: the rows
/// are named as on the receipt, by what they were to the one who asked.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeptView {
    /// Whether it was kept.
    kept: Kept,
    /// Names the decision.
    #[schema(value_type = String)]
    receipt: DecisionId,
    /// When it was made.
    decided_at: Timestamp,
    /// Who asked.
    origin: String,
    /// Which rule applied.
    rule: Rule,
    #[serde(flatten)]
    identity: Identity,
    /// The identity's newest row after the decision.
    task_id: TaskId,
    /// The row that was cancelled to make room, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    cancelled_task_id: Option<TaskId>,
    /// The time before, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    old_execute_at: Option<Timestamp>,
    /// The time afterwards.
    execute_at: Timestamp,
    /// The revision afterwards; absent where only a later one is still known.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<i64>,
    /// What was asked for, where that changed nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    requested: Option<Requested>,
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
