//! The handler of DISPATCH tasks: fires a schedule's slot at its target.
//!
//! Targets differ, the rules do not: a failed try is repeated inside the slot's window and not
//! after it (DP-12), and a firing that gives way to a newer one stops when it has been cancelled.

mod at_once;
mod others;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use almanack_core::{
    backoff::{Backoff, next_wait},
    finish::Outcome,
    handler::Handler,
    locked,
    plan::Firing,
    reschedule::{Put, Request, Rule},
    reserved::may_fire,
    schedule::hash_of,
    store::Store,
    target::{ELSEWHERE_AFTER, Launcher, Target, Unusable, task_identity},
    task::{ClaimedTask, PAYLOAD_BYTES_MAX, Payload, Status},
    time::{Clock, LATEST, Sleeper},
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use crate::reschedule::{Error, Rescheduler};
use at_once::Seat;

pub use others::StoredFirings;

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
        }
    }

    /// At most so many firings of one schedule run here at once, whatever its `overlap` allows.
    #[must_use]
    pub fn with_firings_max(mut self, firings_max: usize) -> Self {
        self.firings_max = firings_max.max(1);
        self
    }

    /// Targets of this type (see [`Target::type_name`]) go to `launcher`.
    #[must_use]
    pub fn with(mut self, type_name: &'static str, launcher: Arc<dyn Launcher>) -> Self {
        self.launchers.insert(type_name, launcher);
        self
    }

    /// Launches if the schedule's cap has room.
    async fn launch_seated(&self, firing: &Firing, task: &ClaimedTask, seat: &Seat<'_>) -> Outcome {
        match seat.enter().await {
            Ok(true) => {}
            Ok(false) => return self.crowded(firing),
            Err(error) => return Outcome::retry(error.chain()),
        }
        let outcome = tokio::select! {
            biased;
            outcome = self.launch_in_time(firing, task) => outcome,
            never = seat.keep() => match never {},
        };
        seat.leave().await;
        outcome
    }

    /// Launches, and waits no longer than the schedule lets one attempt take. What was called may
    /// have taken effect: the next attempt shows the same key.
    async fn launch_in_time(&self, firing: &Firing, task: &ClaimedTask) -> Outcome {
        let Some(timeout) = firing.timeout else {
            return self.launch(firing, task).await;
        };
        let late_at = self.clock.now().saturating_add(timeout).unwrap_or(LATEST);
        tokio::select! {
            biased;
            outcome = self.launch(firing, task) => outcome,
            () = self.sleeper.until(late_at) => {
                Outcome::retry(format!("no answer within {timeout:#}"))
            }
        }
    }

    async fn launch(&self, firing: &Firing, task: &ClaimedTask) -> Outcome {
        let type_name = firing.target.type_name();
        let Some(launcher) = self.launchers.get(type_name) else {
            // Another node may be allowed what this one is not; the window ends the waiting.
            let error = format!("this node does not support {type_name} targets");
            return Outcome::retry_after(ELSEWHERE_AFTER, error);
        };
        if !firing.gives_way {
            return launcher.fire(firing, task).await;
        }
        tokio::select! {
            biased;
            outcome = launcher.fire(firing, task) => outcome,
            () = self.cancelled(task) => Outcome::give_up("cancelled: a newer firing took over"),
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
        // The first try is always made: it was promised when the slot was decided.
        if task.attempt > 1 && self.clock.now() > firing.retry_until {
            let until = firing.retry_until;
            return Outcome::give_up(format!("the retry window ended at {until}"));
        }
        let Some(_room) = self.room(&firing.schedule) else {
            return self.crowded(&firing);
        };
        let outcome = match Seat::of(self, &firing, task) {
            Some(seat) => self.launch_seated(&firing, task, &seat).await,
            None => self.launch_in_time(&firing, task).await,
        };
        self.inside_window(&firing, task, outcome)
    }
}

/// Fires at Almanack's own work: does it in the firing itself, which then ends when the work does,
/// or puts a task, due at once.
pub struct TaskLauncher {
    pub rescheduler: Arc<Rescheduler>,
    pub clock: Arc<dyn Clock>,
    /// Handlers of work that only its slot distinguishes from the next, by kind.
    pub done_here: BTreeMap<&'static str, Arc<dyn Handler>>,
}

impl TaskLauncher {
    fn request(&self, firing: &Firing) -> Result<Request, String> {
        let Target::Task {
            kind,
            subject,
            payload,
        } = &firing.target
        else {
            return Err("the target is not a task".to_owned());
        };
        let identity = task_identity(kind, subject, firing.nominal_at);
        let identity = identity.map_err(|invalid| invalid.to_string())?;
        if !may_fire(&identity) {
            return Err(Unusable::Reserved.to_string());
        }
        let payload = payload.as_ref().map(ToString::to_string);
        let payload = payload.map(|text| Payload::parse(&text, PAYLOAD_BYTES_MAX));
        let payload = payload.transpose().map_err(|invalid| invalid.to_string())?;
        Ok(Request::Put(Put {
            payload,
            ..Put::at(identity, self.clock.now())
        }))
    }
}

#[async_trait]
impl Launcher for TaskLauncher {
    async fn fire(&self, firing: &Firing, task: &ClaimedTask) -> Outcome {
        if let Target::Task { kind, .. } = &firing.target
            && let Some(handler) = self.done_here.get(kind.as_str())
        {
            return handler.attempt(task).await;
        }
        let request = match self.request(firing) {
            Ok(request) => request,
            Err(error) => return Outcome::give_up(error),
        };
        let origin = format!("schedule {}", firing.schedule);
        match self.rescheduler.ask_own(request, &origin).await {
            // After an earlier claim it may be our own put that is done. A claim that was handed
            // back or whose node died is not always counted as an attempt; its term is.
            Ok(receipt) if receipt.rule == Rule::IgnoredDone && task.term.0 == 1 => {
                Outcome::give_up(
                    "this task is already done and is not repeated; add {slot} to the target's subject",
                )
            }
            Ok(receipt) => Outcome::done(receipt.rule.as_str()),
            Err(Error::Store(error)) => Outcome::retry(error.chain()),
            Err(error) => Outcome::give_up(error.to_string()),
        }
    }
}
