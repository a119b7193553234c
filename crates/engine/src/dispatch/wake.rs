//! Waking a firing when its work has ended, sooner than its next look.
//!
//! A hint, never the truth: a node remembers which tasks its firings wait for, and when it ends one
//! of them itself it has the firing looked at now. Whoever ends the work on another node, or after
//! a restart, is noticed at the next look.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use almanack_core::{
    follow::{Followed, Work},
    locked,
    reschedule::{Put, Request, decide},
    store::{self, Applied, Store},
    task::{Status, TaskId},
    time::{Clock, Sleeper},
};
use jiff::{SignedDuration, Timestamp};

use crate::wake::later;

/// Who the history names for it.
const WORK: &str = "the work it waits for";
/// How often, and how soon, it is tried again while an attempt at the firing is under way.
const TRIES: usize = 5;
const BUSY_AGAIN: SignedDuration = SignedDuration::from_millis(50);
/// Tasks remembered: more are left to the next look.
const REMEMBERED_MAX: usize = 10_000;

/// Tasks that firings wait for, with the firing's task.
#[derive(Debug, Default)]
pub(crate) struct FollowedTasks {
    firings: Mutex<BTreeMap<TaskId, TaskId>>,
    /// How many there are: most endings of a node have no firing behind them, and ask only this.
    count: AtomicUsize,
}

impl FollowedTasks {
    pub(super) fn note(&self, followed: &Followed) {
        if let Work::Task { task_id } = followed.work {
            let mut firings = locked(&self.firings);
            if firings.len() < REMEMBERED_MAX {
                firings.insert(task_id, followed.task_id);
            }
            self.count.store(firings.len(), Ordering::Relaxed);
        }
    }

    pub(super) fn forget(&self, followed: &Followed) {
        if let Work::Task { task_id } = followed.work {
            let mut firings = locked(&self.firings);
            firings.remove(&task_id);
            self.count.store(firings.len(), Ordering::Relaxed);
        }
    }

    /// Whether a firing waits for any.
    pub(crate) fn is_any(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }

    /// Takes the firings that wait for these tasks.
    pub(crate) fn take(&self, ended: impl Iterator<Item = TaskId>) -> Vec<TaskId> {
        let mut firings = locked(&self.firings);
        let taken = ended.filter_map(|id| firings.remove(&id)).collect();
        self.count.store(firings.len(), Ordering::Relaxed);
        taken
    }
}

/// Has a firing looked at now. A hint: if the store does not answer, the next look comes anyway.
pub(crate) async fn wake_firing(
    store: &dyn Store,
    clock: &dyn Clock,
    sleeper: &dyn Sleeper,
    firing: TaskId,
) {
    for _ in 0..TRIES {
        match try_wake(store, firing, clock.now()).await {
            // Quick work ends before the end of the attempt that handed it over is written.
            Ok(Woken::Busy) => sleeper.until(later(clock.now(), BUSY_AGAIN)).await,
            Ok(Woken::Yes) | Err(_) => return,
        }
    }
}

enum Woken {
    /// It is due, or has ended.
    Yes,
    /// An attempt at it is under way, or has just been.
    Busy,
}

async fn try_wake(store: &dyn Store, firing: TaskId, now: Timestamp) -> store::Result<Woken> {
    let Some(row) = store.load_task(firing).await? else {
        return Ok(Woken::Yes);
    };
    match row.status {
        Status::Running => return Ok(Woken::Busy),
        Status::Init if row.due_at.is_some_and(|due_at| due_at > now) => {}
        _ => return Ok(Woken::Yes),
    }
    let request = Request::Put(Put::at(row.identity.clone(), now));
    let Ok(change) = decide(Some(&row), &request, WORK, now) else {
        return Ok(Woken::Yes);
    };
    let applied = store.apply(vec![change]).await?;
    Ok(if applied.contains(&Applied::Lost) {
        Woken::Busy
    } else {
        Woken::Yes
    })
}
