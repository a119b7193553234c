//! Hints to sleeping nodes of the same process.

use almanack_core::{
    finish::Finish, plan::ScheduleWrite, reschedule::Change, store::Nudges, task::NewTask,
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::broadcast;

/// Hints kept for a slow listener. It only needs to know that it missed some.
const KEPT: usize = 64;

#[derive(Clone)]
pub(crate) struct Nudger(broadcast::Sender<Timestamp>);

impl Nudger {
    pub(crate) fn new() -> Self {
        Self(broadcast::channel(KEPT).0)
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Timestamp> {
        self.0.subscribe()
    }

    /// Something became due at `due_at`. Having no listener is fine.
    pub(crate) fn nudge(&self, due_at: Timestamp) {
        let _ = self.0.send(due_at);
    }
}

/// Whether a node must hear of something due at `due_at`, or will find it by itself in time. Twice
/// the poll, because a change may be committed a while after it was decided.
fn is_worth_a_hint(due_at: Timestamp, now: Timestamp, poll: SignedDuration) -> bool {
    due_at <= now.saturating_add(poll * 2).unwrap_or(Timestamp::MAX)
}

/// The earliest instant to notify a node of, if any.
pub(crate) fn earliest_hint(changes: &[Change], poll: SignedDuration) -> Option<Timestamp> {
    let worth = |change: &Change| {
        let due_at = change.wakes_at()?;
        is_worth_a_hint(due_at, change.decided_at, poll).then_some(due_at)
    };
    changes.iter().filter_map(worth).min()
}

/// The same for ended attempts: a task handed back or to be retried soon is due soon, and one that
/// delivers an outcome's event is due now.
pub(crate) fn earliest_wait(finishes: &[Finish], poll: SignedDuration) -> Option<Timestamp> {
    let worth = |finish: &&Finish| {
        finish.waits && is_worth_a_hint(finish.execute_at, finish.ended.finished_at, poll)
    };
    let waits = finishes
        .iter()
        .filter(worth)
        .map(|finish| finish.execute_at);
    let events = finishes
        .iter()
        .filter_map(|f| earliest_reported(&f.event_tasks));
    let loose = finishes.iter().filter(|f| !f.loose_events.is_empty());
    let loose = loose.map(|f| f.ended.finished_at);
    waits.chain(events).chain(loose).min()
}

/// The same for tasks that deliver events: they are due as they are written.
pub(crate) fn earliest_reported(event_tasks: &[NewTask]) -> Option<Timestamp> {
    event_tasks.iter().filter_map(NewTask::due_at).min()
}

/// The same for a schedule's write: the planner must look at it, or the runner at its firings.
pub(crate) fn hint_of_write(write: &ScheduleWrite, poll: SignedDuration) -> Option<Timestamp> {
    let now = write.decided_at;
    let fires = write.fires.iter().filter_map(NewTask::due_at);
    fires
        .chain(write.schedule.look_at)
        .filter(|due_at| is_worth_a_hint(*due_at, now, poll))
        .chain(earliest_reported(&write.event_tasks))
        .min()
}

pub(crate) struct NudgeReceiver(broadcast::Receiver<Timestamp>);

impl NudgeReceiver {
    pub(crate) fn new(receiver: broadcast::Receiver<Timestamp>) -> Self {
        Self(receiver)
    }
}

#[async_trait]
impl Nudges for NudgeReceiver {
    async fn next(&mut self) -> Timestamp {
        match self.0.recv().await {
            Ok(due_at) => due_at,
            // Missed some: anything may be due.
            Err(broadcast::error::RecvError::Lagged(_)) => Timestamp::MIN,
            // The store is going away, and so is the process: no more hints.
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}
