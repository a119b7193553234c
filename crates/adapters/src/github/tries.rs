//! What is known of earlier tries at a firing: whether one of them may have started the workflow.
//!
//! Only this process knows how its own tries ended. A try by another node, before a restart, or one
//! that was handed back may have had any outcome, so after one there is always doubt. Every claim
//! raises the task's term by one and attempts are not always counted, so the term alone says
//! whether there was an earlier try, and whether the last one was ours.

use std::{collections::BTreeMap, sync::Mutex};

use almanack_core::{
    plan::Firing,
    task::{ClaimedTask, TaskId, Term},
};
use jiff::Timestamp;

use crate::locked;

/// Firings that are to be tried again, by their task.
#[derive(Debug, Default)]
pub(super) struct Tries(Mutex<BTreeMap<TaskId, LastTry>>);

#[derive(Debug)]
struct LastTry {
    /// Which try this was.
    term: Term,
    doubt: Doubt,
    /// No try comes after this, so the entry can go.
    retry_until: Timestamp,
}

/// Whether an earlier try may have started the workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    No,
    /// One that began then may have.
    Since(Timestamp),
    /// Another node's try may have, at any time.
    Unknown,
}

impl Doubt {
    /// After one more doubtful try, which began at `at`. The first one keeps its time: what it
    /// started may show late.
    pub(super) fn or_since(self, at: Timestamp) -> Self {
        match self {
            Self::No => Self::Since(at),
            earlier => earlier,
        }
    }
}

impl Tries {
    /// Whether there is doubt before this attempt.
    pub(super) fn doubt(&self, task: &ClaimedTask) -> Doubt {
        if task.term.0 <= 1 {
            return Doubt::No;
        }
        let all = locked(&self.0);
        let tried = all.get(&task.id);
        let ours = tried.filter(|tried| tried.term.0 + 1 == task.term.0);
        ours.map_or(Doubt::Unknown, |tried| tried.doubt)
    }

    /// A try has ended and is to be repeated.
    pub(super) fn keep(&self, firing: &Firing, task: &ClaimedTask, doubt: Doubt) {
        let mut all = locked(&self.0);
        all.retain(|_, tried| tried.retry_until >= task.started_at);
        let tried = LastTry {
            term: task.term,
            doubt,
            retry_until: firing.retry_until,
        };
        all.insert(task.id, tried);
    }

    /// The firing is not tried again.
    pub(super) fn forget(&self, task: &ClaimedTask) {
        locked(&self.0).remove(&task.id);
    }
}
