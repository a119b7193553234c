//! What is known of earlier tries at a firing: whether one of them may have started the workflow.
//!
//! Only this process knows how its own tries ended. A try by another node, or before a restart, may have had
//! any outcome, so after one there is always doubt.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use almanack_core::{
    plan::Firing,
    task::{ClaimedTask, TaskId},
};
use jiff::{SignedDuration, Timestamp};

/// How long before its end a firing's window is assumed to have begun. Nothing says when an unknown try
/// was made; it was not before the slot, and windows are seldom longer than this.
const WINDOW: SignedDuration = SignedDuration::from_hours(1);

/// Firings that are to be tried again, by their task.
#[derive(Debug, Default)]
pub(super) struct Tries(Mutex<BTreeMap<TaskId, Tried>>);

#[derive(Debug)]
struct Tried {
    /// Since when a run at the target may be this firing's; `None` if no try can have had an effect.
    doubt_since: Option<Timestamp>,
    /// After that nobody tries, so nobody asks.
    retry_until: Timestamp,
}

impl Tries {
    /// Since when a run at the target may be an earlier try's.
    pub(super) fn in_doubt_since(&self, firing: &Firing, task: &ClaimedTask) -> Option<Timestamp> {
        if task.attempt <= 1 {
            return None;
        }
        if let Some(tried) = self.all().get(&task.id) {
            return tried.doubt_since;
        }
        let begun = firing.retry_until.saturating_sub(WINDOW);
        Some(firing.nominal_at.max(begun.unwrap_or(firing.nominal_at)))
    }

    /// A try has ended and is to be repeated.
    pub(super) fn keep(&self, firing: &Firing, task: &ClaimedTask, doubt_since: Option<Timestamp>) {
        let mut all = self.all();
        all.retain(|_, tried| tried.retry_until >= task.started_at);
        let retry_until = firing.retry_until;
        all.insert(
            task.id,
            Tried {
                doubt_since,
                retry_until,
            },
        );
    }

    /// The firing is not tried again.
    pub(super) fn forget(&self, task: &ClaimedTask) {
        self.all().remove(&task.id);
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<TaskId, Tried>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
