//! The handler of DISPATCH tasks: fires a schedule's slot at its target.
//!
//! Targets differ, the rules do not: a failed try is repeated inside the slot's window and not
//! after it (DP-12), and a firing that gives way to a newer one stops when it has been cancelled.
//! What a target took over is followed to its end (DP-19, `follow`); failed work is the end of the
//! firing, not a reason to hand it over again.

mod at_once;
mod follow;
mod others;
mod own;
mod wake;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use almanack_core::{
    backoff::{Backoff, next_wait},
    finish::Outcome,
    follow::HandedOver,
    handler::Handler,
    locked,
    plan::Firing,
    schedule::hash_of,
    store::Store,
    target::{ELSEWHERE_AFTER, Launcher},
    task::{ClaimedTask, Status},
    time::{Clock, LATEST, Sleeper},
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use self::at_once::Seat;
use crate::ping_delivery;

pub use others::StoredFirings;
pub use own::TaskLauncher;
pub(crate) use wake::{FollowedTasks, wake_firing};

/// How soon a firing that gives way notices that it was cancelled.
const WATCH_EVERY: SignedDuration = SignedDuration::from_secs(1);

/// When a firing comes again whose schedule has as many as may run.
const CROWDED_AGAIN: SignedDuration = SignedDuration::from_secs(1);

/// The backoff a node uses for firings: nothing is added to those chosen here, or a try could
/// be put behind the end of its window and hold up the next slot until then.
pub const BACKOFF: Backoff = Backoff {
    base: SignedDuration::ZERO,
    cap: SignedDuration::ZERO,
    retry_after_cap: SignedDuration::from_hours(6),
};

/// Fires.
pub struct DispatchHandler {
    launchers: BTreeMap<&'static str, Arc<dyn Launcher>>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    sleeper: Arc<dyn Sleeper>,
    /// How many firings of one schedule run at once.
    firings_max: usize,
    running: Mutex<BTreeMap<String, usize>>,
    followed: Arc<FollowedTasks>,
}

impl DispatchHandler {
    /// Knows no target yet.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, sleeper: Arc<dyn Sleeper>) -> Self {
        Self {
            launchers: BTreeMap::new(),
            store,
            clock,
            sleeper,
            firings_max: usize::MAX,
            running: Mutex::default(),
            followed: Arc::default(),
        }
    }

    /// The tasks that firings of this node wait for; whoever ends one wakes its firing.
    pub(crate) fn followed(&self) -> Arc<FollowedTasks> {
        Arc::clone(&self.followed)
    }

    /// At most so many firings of one schedule run here at once, whatever its `overlap` allows.
    #[must_use]
    pub fn with_firings_max(mut self, firings_max: usize) -> Self {
        self.firings_max = firings_max.max(1);
        self
    }

    /// Targets of this type (see [`type_name`](almanack_core::target::Target::type_name)) go to `launcher`.
    #[must_use]
    pub fn with(mut self, type_name: &'static str, launcher: Arc<dyn Launcher>) -> Self {
        self.launchers.insert(type_name, launcher);
        self
    }

    /// Launches if the schedule's cap has room.
    async fn launch_seated(
        &self,
        firing: &Firing,
        task: &ClaimedTask,
        seat: &Seat<'_>,
    ) -> HandedOver {
        match seat.enter().await {
            Ok(true) => {}
            Ok(false) => return HandedOver::Ended(self.crowded(firing)),
            Err(error) => return HandedOver::Ended(Outcome::retry(error.chain())),
        }
        let handed_over = tokio::select! {
            biased;
            handed_over = self.launch_in_time(firing, task) => handed_over,
            never = seat.keep() => match never {},
        };
        if !matches!(handed_over, HandedOver::Works(_)) {
            seat.leave().await;
        }
        handed_over
    }

    /// Launches, and waits no longer than the schedule lets one attempt take. What was called may
    /// have taken effect: the next attempt shows the same key.
    async fn launch_in_time(&self, firing: &Firing, task: &ClaimedTask) -> HandedOver {
        let Some(timeout) = firing.timeout else {
            return self.launch(firing, task).await;
        };
        let late_at = self.clock.now().saturating_add(timeout).unwrap_or(LATEST);
        tokio::select! {
            biased;
            handed_over = self.launch(firing, task) => handed_over,
            () = self.sleeper.until(late_at) => {
                let error = format!("no answer within {timeout:#}");
                HandedOver::Ended(Outcome::retry(error))
            }
        }
    }

    async fn launch(&self, firing: &Firing, task: &ClaimedTask) -> HandedOver {
        let type_name = firing.target.type_name();
        let Some(launcher) = self.launchers.get(type_name) else {
            // Another node may be allowed what this one is not; the window ends the waiting.
            let error = format!("this node does not support {type_name} targets");
            return HandedOver::Ended(Outcome::retry_after(ELSEWHERE_AFTER, error));
        };
        if !firing.gives_way {
            return launcher.hand_over(firing, task).await;
        }
        tokio::select! {
            biased;
            handed_over = launcher.hand_over(firing, task) => handed_over,
            () = self.cancelled(task) => {
                HandedOver::Ended(Outcome::give_up("cancelled: a newer firing took over"))
            }
        }
    }

    /// Waits until the task is no longer this attempt's. A store that does not answer is no reason
    /// to stop: what was lost is fenced anyway.
    async fn cancelled(&self, task: &ClaimedTask) {
        loop {
            let now = self.clock.now();
            let next = now.saturating_add(WATCH_EVERY).unwrap_or(now);
            self.sleeper.until(next).await;
            if let Ok(Some(row)) = self.store.load_task(task.id).await
                && (row.status != Status::Running || row.term != task.term)
            {
                return;
            }
        }
    }

    /// Room among the firings of a schedule; `None` if it has as many as it may.
    fn room(&self, schedule: &str) -> Option<Room<'_>> {
        let mut running = locked(&self.running);
        let count = running.entry(schedule.to_owned()).or_default();
        (*count < self.firings_max).then(|| {
            *count += 1;
            Room {
                handler: self,
                schedule: schedule.to_owned(),
            }
        })
    }

    /// A schedule has as many firings as it may: this one comes again soon, or is over with its
    /// window.
    fn crowded(&self, firing: &Firing) -> Outcome {
        let now = self.clock.now();
        let at = now.saturating_add(CROWDED_AGAIN).unwrap_or(LATEST);
        let why = "waiting: its schedule already has the most firings that may run at once";
        not_now(firing, at, why)
    }

    /// No attempt is left, but the last one may have handed something over before its node died.
    async fn end_window(&self, firing: &Firing, task: &ClaimedTask) -> Outcome {
        let launcher = self.launchers.get(firing.target.type_name());
        let recalled = match launcher {
            Some(launcher) => Some(launcher.recall(firing, task).await),
            None => None,
        };
        match recalled {
            Some(HandedOver::Works(work)) => self.begin_following(firing, task, work).await,
            Some(HandedOver::Unanswered) => self.trouble(),
            _ => {
                let until = firing.retry_until;
                Outcome::give_up(format!("the retry window ended at {until}"))
            }
        }
    }

    /// Puts the next try inside the window, or ends the firing with what went wrong.
    fn inside_window(&self, firing: &Firing, task: &ClaimedTask, outcome: Outcome) -> Outcome {
        if let Outcome::NotNow { at, why } = outcome {
            return not_now(firing, at, why);
        }
        let Outcome::Retry { error, retry_after } = outcome else {
            return outcome;
        };
        let wait = next_wait(
            &firing.retry.waits(),
            task.attempt,
            retry_after,
            chance(task),
        );
        let now = self.clock.now();
        let next = now.saturating_add(wait).unwrap_or(LATEST);
        if next < firing.retry_until {
            return Outcome::retry_after(wait, error);
        }
        let until = firing.retry_until;
        Outcome::give_up(format!(
            "{error}; no time for another attempt before {until}"
        ))
    }
}

/// Comes again if that is inside the window; otherwise the firing is over.
fn not_now(firing: &Firing, at: Timestamp, why: &'static str) -> Outcome {
    let until = firing.retry_until;
    if at < until {
        return Outcome::NotNow { at, why };
    }
    Outcome::give_up(format!("{why}; no time for an attempt before {until}"))
}

/// One of a schedule's firings under way; its end makes room for another.
struct Room<'a> {
    handler: &'a DispatchHandler,
    schedule: String,
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        let mut running = locked(&self.handler.running);
        if let Some(count) = running.get_mut(&self.schedule) {
            *count -= 1;
            if *count == 0 {
                running.remove(&self.schedule);
            }
        }
    }
}

/// 64 bits that differ from task to task and from try to try: all a spread needs.
fn chance(task: &ClaimedTask) -> u64 {
    hash_of(task.identity.subject.as_str(), &task.term.0.to_string())
}

#[async_trait]
impl Handler for DispatchHandler {
    async fn attempt(&self, task: &ClaimedTask) -> Outcome {
        let firing = match Firing::read(&task.payload) {
            Ok(firing) => firing,
            Err(invalid) => return Outcome::give_up(format!("not a firing: {invalid}")),
        };
        if let Some(followed) = self.follow_handed_over(&firing, task).await {
            if let Some(seat) = Seat::of(self, &firing, task.id) {
                seat.follow(&followed).await;
            }
            return followed;
        }
        // The first try is always made: it was promised when the slot was decided.
        if task.attempt > 1 && self.clock.now() > firing.retry_until {
            let outcome = self.end_window(&firing, task).await;
            if let Some(seat) = Seat::of(self, &firing, task.id) {
                seat.follow(&outcome).await;
            }
            return outcome;
        }
        let Some(_room) = self.room(&firing.schedule) else {
            return self.crowded(&firing);
        };
        let seat = Seat::of(self, &firing, task.id);
        let launch = async {
            match &seat {
                Some(seat) => self.launch_seated(&firing, task, seat).await,
                None => self.launch_in_time(&firing, task).await,
            }
        };
        let start = ping_delivery::put_start(&*self.store, task, &firing, self.clock.now());
        let (handed_over, ()) = tokio::join!(launch, start);
        match self.or_reported(&firing, task, handed_over).await {
            HandedOver::Ended(outcome) => self.inside_window(&firing, task, outcome),
            HandedOver::Works(work) => {
                let outcome = self.begin_following(&firing, task, work).await;
                if let Some(seat) = &seat {
                    seat.follow(&outcome).await;
                }
                outcome
            }
            HandedOver::Unanswered => self.trouble(),
        }
    }

    async fn clear_up(&self) {
        self.withdraw_abandoned().await;
    }
}
