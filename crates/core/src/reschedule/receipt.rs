//! Receipts: the answer to a change of intent, and the name to ask about it later.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Change, Rule};
use crate::task::{Revision, TaskId};

/// Names one decision: the row it was made on and its number there; 0 is the row's creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DecisionId {
    /// The row.
    pub task_id: TaskId,
    /// The decision's number on that row.
    pub number: u32,
}

/// What a request asked for, kept where it changed nothing: the row shows nothing of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requested {
    /// When to try; `None` for a withdrawal.
    pub execute_at: Option<Timestamp>,
    /// The requester's own number, if it came with one.
    pub revision: Option<Revision>,
}

impl Requested {
    /// What it was, as the store and the API name it.
    pub fn name(&self) -> &'static str {
        match self.execute_at {
            Some(_) => "put",
            None => "cancel",
        }
    }
}

/// The answer to a change of intent: what was decided, and about which rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Names the decision, to ask later whether it was kept.
    pub decision: DecisionId,
    /// Which rule applied.
    pub rule: Rule,
    /// The identity's current row afterwards.
    pub task_id: TaskId,
    /// The row that was cancelled to make room, if any.
    pub cancelled_task_id: Option<TaskId>,
    /// The time before, if there was one.
    pub old_execute_at: Option<Timestamp>,
    /// The time that stands now.
    pub execute_at: Timestamp,
    /// The revision that stands now.
    pub revision: Revision,
}

impl Receipt {
    /// The receipt of a request that had been decided before, as this number on the same row.
    #[must_use]
    pub fn repeating(self, number: u32) -> Self {
        let task_id = self.decision.task_id;
        Self {
            decision: DecisionId { task_id, number },
            ..self
        }
    }

    /// The receipt for a change that the store carried out; `inserted` is the row it wrote.
    pub fn of(change: &Change, inserted: Option<TaskId>) -> Option<Self> {
        let amended = change.amend.as_ref();
        let decision = match (amended, inserted) {
            (Some(amend), _) => DecisionId {
                task_id: amend.guard.task_id,
                number: amend.guard.decisions + 1,
            },
            (None, Some(task_id)) => DecisionId { task_id, number: 0 },
            (None, None) => return None,
        };
        let new = change.insert.as_ref();
        let replaced_running = change.rule == Rule::CancelledAndInserted;
        Some(Self {
            decision,
            rule: change.rule,
            task_id: inserted.unwrap_or(decision.task_id),
            cancelled_task_id: replaced_running.then_some(decision.task_id),
            old_execute_at: amended.map(|amend| amend.old_execute_at),
            execute_at: new
                .map(|new| new.execute_at)
                .or(amended.map(|amend| amend.execute_at))?,
            revision: new
                .map(|new| new.revision)
                .or(amended.map(|amend| amend.revision))?,
        })
    }
}
