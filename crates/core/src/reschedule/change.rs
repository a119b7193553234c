//! What a decision does: which row it was made from, and how that one and a new one look afterwards.

use jiff::Timestamp;

use super::{Requested, Rule};
use crate::{
    callback::Callback,
    task::{Expiry, NewTask, Payload, Priority, Revision, Status, Tags, Task, TaskId, Term},
};

/// The row a decision was made from, exactly as seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    /// Which row.
    pub task_id: TaskId,
    /// Its status then.
    pub status: Status,
    /// Its term then.
    pub term: Term,
    /// Its decision count then.
    pub decisions: u32,
}

impl Guard {
    /// Pins a row as it is now.
    pub fn of(task: &Task) -> Self {
        Self {
            task_id: task.id,
            status: task.status,
            term: task.term,
            decisions: task.decisions,
        }
    }
}

/// Tags that take the place of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retagged {
    /// As the guarded row has them.
    pub before: Tags,
    pub after: Tags,
}

/// What happens to the current row. Every amendment also writes one decision into the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amend {
    /// The row must still be exactly this.
    pub guard: Guard,
    /// Its status afterwards.
    pub status: Status,
    /// Whether it stays the newest of its identity.
    pub current: bool,
    /// Its time before.
    pub old_execute_at: Timestamp,
    /// Its time afterwards.
    pub execute_at: Timestamp,
    /// Whether it waits for that time afterwards.
    pub waits: bool,
    /// `None` leaves it.
    pub payload: Option<Payload>,
    /// Afterwards.
    pub callback_url: Option<String>,
    /// Afterwards.
    pub call_options: Option<Box<Callback>>,
    /// Afterwards.
    pub priority: Priority,
    /// Afterwards.
    pub max_retry: u32,
    /// Afterwards.
    pub expiry: Expiry,
    /// Afterwards.
    pub revision: Revision,
    /// `None` leaves it.
    pub share_key: Option<String>,
    /// `None` leaves them.
    pub tags: Option<Retagged>,
}

impl Amend {
    /// Leaves the row as it is; only the decision is recorded.
    pub fn of(task: &Task) -> Self {
        Self {
            guard: Guard::of(task),
            status: task.status,
            current: true,
            old_execute_at: task.execute_at,
            execute_at: task.execute_at,
            waits: task.due_at.is_some(),
            payload: None,
            callback_url: task.callback_url.clone(),
            call_options: task.call_options.clone(),
            priority: task.priority,
            max_retry: task.max_retry,
            expiry: task.expiry,
            revision: task.revision,
            share_key: None,
            tags: None,
        }
    }
}

/// A decision, ready to be carried out in one conditional step.
///
/// `amend` alone changes or annotates the current row, `insert` alone writes the first row of an
/// identity, both together replace the current row by a new one in one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Which rule applied.
    pub rule: Rule,
    /// Who requested it.
    pub origin: String,
    /// When it was decided.
    pub decided_at: Timestamp,
    /// What was requested, where that changed nothing. The same again, by the same requester, is
    /// counted and not written again.
    pub requested: Option<Requested>,
    /// What happens to the current row.
    pub amend: Option<Amend>,
    /// The row to write.
    pub insert: Option<NewTask>,
}

impl Change {
    /// The earliest instant at which a node would have to notice this change.
    pub fn wakes_at(&self) -> Option<Timestamp> {
        let amended = self
            .amend
            .as_ref()
            .filter(|amend| amend.waits)
            .map(|amend| amend.execute_at);
        self.insert.as_ref().and_then(NewTask::due_at).or(amended)
    }
}
