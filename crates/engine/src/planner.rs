//! The planner: turns due slots into DISPATCH tasks and ledger rows.
//!
//! Every node plans. A look at a schedule is decided by `core::plan` and written by
//! compare-and-set, so of all nodes that looked at the same slot one succeeds and the others have
//! done nothing (DP-05). Between looks it sleeps until the earliest `look_at` it knows, or a hint,
//! or the safety poll; a pass costs what is due, not what exists.
//!
//! One bad schedule stops no other: what cannot be computed is parked with its reason, what cannot
//! be read is passed over, and what the store refuses is written one by one, so that only the
//! culprit is set aside (DP-18).

mod running;
mod write;

use std::{collections::BTreeMap, sync::Arc};

use almanack_core::{
    event::outgoing::Subscriptions,
    lang::{Say as _, Sentence},
    plan::{Look, Monitor, Ready, Schedule, ScheduleId, ScheduleWrite, State, Verdict, plan},
    store::{self, Applied, DueSchedules, Store},
    task::Task,
    time::{Clock, Sleeper},
};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::{
    counters::Counters,
    reloadable::Reloadable,
    wake::{earlier_hint, later},
    zones::Zones,
};

pub(crate) use running::{in_the_way, load_monitors, load_running};
pub(crate) use write::{edit, end, note_fires, write_of, write_plan};

/// Schedules looked at together.
const BATCH: usize = 256;
/// Batches in one pass; what is still due then is for the next pass, which comes at once.
const BATCHES_MAX: usize = 100;
/// A hint wakes the planner at most so often: most hints are about tasks, which are not its
/// business.
const HINT_EVERY: SignedDuration = SignedDuration::from_millis(100);
/// After the store failed.
const TROUBLE_WAIT: SignedDuration = SignedDuration::from_millis(500);
/// How soon it is looked whether the clock can be trusted again.
const DOUBT_WAIT: SignedDuration = SignedDuration::from_secs(1);
/// How long a schedule that the store refuses is left alone.
const SET_ASIDE_FOR: SignedDuration = SignedDuration::from_mins(1);
/// How soon a parked schedule is looked at again: zone data may have been repaired meanwhile.
const PARKED_EVERY: SignedDuration = SignedDuration::from_mins(5);

/// What one pass did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Planned {
    pub fired: u64,
    /// Slots that were skipped, each with its reason in the ledger.
    pub skipped: u64,
    /// Looks that another node was faster with.
    pub lost: u64,
    /// When to look again.
    pub next_look_at: Option<Timestamp>,
    /// When to look again at a slot that waits for its predecessor, if one does.
    pub waits_until: Option<Timestamp>,
}

/// Plans.
pub struct Planner {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    zones: Arc<Zones>,
    counters: Arc<Counters>,
    subscriptions: Reloadable<Subscriptions>,
    /// Held through a pass: two passes of one planner would only race each other.
    set_aside: Mutex<SetAside>,
}

/// Schedules that the store refused or could not read, and until when they are left alone.
type SetAside = BTreeMap<ScheduleId, Timestamp>;

impl Planner {
    /// Works on `store` by `clock`.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, zones: Arc<Zones>) -> Self {
        Self {
            store,
            clock,
            zones,
            counters: Arc::default(),
            subscriptions: Reloadable::default(),
            set_aside: Mutex::default(),
        }
    }

    /// Counts what it does in `counters` too.
    #[must_use]
    pub fn counting(self, counters: Arc<Counters>) -> Self {
        Self { counters, ..self }
    }

    /// Has events delivered to these subscriptions.
    #[must_use]
    pub fn reporting_to(self, subscriptions: Reloadable<Subscriptions>) -> Self {
        Self {
            subscriptions,
            ..self
        }
    }

    /// Plans until `stop`.
    pub async fn run(&self, sleeper: &dyn Sleeper, stop: &CancellationToken) {
        let mut nudges = self.store.nudges();
        while !stop.is_cancelled() {
            let look_at = self.pass_or_wait().await;
            let earliest = later(self.clock.now(), HINT_EVERY);
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                () = sleeper.until(look_at) => {}
                () = earlier_hint(&mut *nudges, look_at) => {
                    let waiting = sleeper.until(earliest.min(look_at));
                    stop.run_until_cancelled(waiting).await;
                }
            }
        }
    }

    async fn pass_or_wait(&self) -> Timestamp {
        match self.pass().await {
            Ok(planned) => {
                let poll_at = later(self.clock.now(), self.store.safety_poll());
                planned.next_look_at.map_or(poll_at, |at| at.min(poll_at))
            }
            Err(error) => {
                tracing::warn!(error = error.chain(), "planning failed; will retry");
                later(self.clock.now(), TROUBLE_WAIT)
            }
        }
    }

    /// Plans everything that is due now.
    ///
    /// While the clock is in doubt and what is due by it may not be, nothing is planned (DP-24).
    pub async fn pass(&self) -> store::Result<Planned> {
        if !self.clock.standing().may_act() {
            return Ok(Planned {
                next_look_at: Some(later(self.clock.now(), DOUBT_WAIT)),
                ..Planned::default()
            });
        }
        self.pass_around(&mut *self.set_aside.lock().await).await
    }

    async fn pass_around(&self, set_aside: &mut SetAside) -> store::Result<Planned> {
        let mut planned = Planned::default();
        let now = self.clock.now();
        set_aside.retain(|_, until| *until > now);
        for _ in 0..BATCHES_MAX {
            let now = self.clock.now();
            let due = self
                .store
                .load_due_schedules(now, BATCH + set_aside.len())
                .await?;
            let DueSchedules {
                mut schedules,
                unreadable,
                next_look_at,
            } = due;
            planned.next_look_at = next_look_at;
            // Left as they are: a newer node may be able to plan what this one cannot even read
            // (SF-06).
            let until = later(now, SET_ASIDE_FOR);
            let aside = unreadable.iter().map(|row| set_aside.insert(row.id, until));
            let new = aside.filter(Option::is_none).count();
            schedules.retain(|schedule| !set_aside.contains_key(&schedule.id));
            match (schedules.is_empty(), new) {
                (true, 0) => return Ok(planned),
                // They took the room of others in this batch.
                (true, _) => continue,
                (false, _) => {}
            }
            let writes = self.look(schedules, now).await?;
            if let Some(next) = self.write(writes, set_aside, &mut planned).await? {
                planned.next_look_at = Some(planned.next_look_at.map_or(next, |at| at.min(next)));
            }
        }
        Ok(planned)
    }

    /// Decides about each schedule; nothing is written yet.
    async fn look(
        &self,
        schedules: Vec<Schedule>,
        now: Timestamp,
    ) -> store::Result<Vec<ScheduleWrite>> {
        let definitions = schedules.iter().map(|it| &it.definition);
        self.zones.refresh_for(&*self.store, definitions).await?;
        let running = load_running(&*self.store, &schedules).await?;
        let monitors = load_monitors(&*self.store, &schedules).await?;
        let subscriptions = self.subscriptions.get();
        let looked = schedules.iter().zip(running).zip(monitors);
        Ok(looked
            .map(|((schedule, running), monitor)| {
                let mut write = self.look_at(schedule, &running, monitor.as_ref(), now);
                subscriptions.add_to_schedule(&mut write);
                write
            })
            .collect())
    }

    fn look_at(
        &self,
        schedule: &Schedule,
        running: &[Task],
        monitor: Option<&Monitor>,
        now: Timestamp,
    ) -> ScheduleWrite {
        let ready = self
            .zones
            .ready_stored(&schedule.name, &schedule.definition);
        let planned = ready
            .map_err(|unfit| unfit.both())
            .and_then(|ready| plan_one(schedule, &ready, (running, monitor), now));
        planned.unwrap_or_else(|reason| {
            if !matches!(schedule.state, State::Parked { .. }) {
                tracing::error!(schedule.name = %schedule.name, %reason, "cannot plan this schedule");
            }
            write::park(schedule, reason, now, later(now, PARKED_EVERY))
        })
    }

    /// Writes, and answers the earliest instant at which one of them is to be looked at again.
    async fn write(
        &self,
        writes: Vec<ScheduleWrite>,
        set_aside: &mut SetAside,
        planned: &mut Planned,
    ) -> store::Result<Option<Timestamp>> {
        let applied = match self.store.write_schedules(writes.clone()).await {
            Ok(applied) => applied,
            Err(store::Error::Refused { .. }) => self.write_one_by_one(&writes, set_aside).await?,
            Err(error) => return Err(error),
        };
        let mut next = None;
        let before = *planned;
        for (write, applied) in writes.iter().zip(applied) {
            match applied {
                Applied::Done { .. } | Applied::Repeated { .. } => {
                    count(write, planned);
                    if write.schedule.waits_since.is_some() {
                        planned.waits_until = earlier(planned.waits_until, write.schedule.look_at);
                    }
                    next = earlier(next, write.schedule.look_at);
                }
                // Another node has decided; the next load shows what is left.
                Applied::Lost => planned.lost += 1,
            }
        }
        let (fired, skipped) = (
            planned.fired - before.fired,
            planned.skipped - before.skipped,
        );
        self.counters.planned(fired, skipped);
        Ok(next)
    }

    async fn write_one_by_one(
        &self,
        writes: &[ScheduleWrite],
        set_aside: &mut SetAside,
    ) -> store::Result<Vec<Applied>> {
        let mut applied = Vec::with_capacity(writes.len());
        for write in writes {
            match self.store.write_schedules(vec![write.clone()]).await {
                Ok(one) => applied.extend(one),
                Err(error @ store::Error::Refused { .. }) => {
                    let name = &write.schedule.name;
                    tracing::error!(schedule.name = %name, error = error.chain(), "schedule set aside: the store refuses its write");
                    let until = later(self.clock.now(), SET_ASIDE_FOR);
                    set_aside.insert(write.schedule.id, until);
                    applied.push(Applied::Lost);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(applied)
    }
}

fn plan_one(
    schedule: &Schedule,
    ready: &Ready,
    (running, monitor): (&[Task], Option<&Monitor>),
    now: Timestamp,
) -> Result<ScheduleWrite, Sentence> {
    let unparked = unpark(schedule, now);
    let look = Look {
        schedule: unparked.as_ref().unwrap_or(schedule),
        ready,
        running: in_the_way(ready, running).map(|task| task.identity.subject.as_str()),
        monitor,
        now,
    };
    let planned = plan(look);
    let write = write_plan(look.schedule, ready, &planned, running, now);
    let write = write.map_err(|invalid| invalid.both())?;
    Ok(match unparked {
        Some(_) => {
            tracing::info!(schedule.name = %schedule.name, "schedule can be computed again; planning it");
            write::unparked(write, now)
        }
        None => write,
    })
}

/// A parked schedule that can be computed again goes on where it stopped.
fn unpark(schedule: &Schedule, now: Timestamp) -> Option<Schedule> {
    match schedule.state {
        State::Parked { .. } => Some(Schedule {
            state: State::Active,
            next_at: schedule.next_at.or(Some(now)),
            ..schedule.clone()
        }),
        _ => None,
    }
}

fn count(write: &ScheduleWrite, planned: &mut Planned) {
    for slot in &write.slots {
        let verdict = slot.verdict.as_str();
        metrics::counter!("almanack_fires_total", "outcome" => verdict).increment(slot.slots);
        if let Verdict::Skipped(reason) = slot.verdict {
            planned.skipped += slot.slots;
            tracing::info!(
                schedule.name = %write.schedule.name, from = %slot.slot_at, until = %slot.last_at,
                slots = slot.slots, reason = reason.as_str(), "skipped"
            );
        } else if slot.verdict.is_fired() {
            planned.fired += slot.slots;
            let late = slot.decided_at.duration_since(slot.slot_at);
            metrics::histogram!("almanack_fire_lateness_seconds").record(late.as_secs_f64());
        }
    }
}

fn earlier(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}
