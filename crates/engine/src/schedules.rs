//! The way in for people: schedules written, changed, paused, fired by hand.
//!
//! Every change first settles what was due by then under the old definition, in the same write that
//! makes the change: what happened before a change is decided by what the schedule was before it,
//! and the ledger has no seam (DP-16). Like the planner it works by compare-and-set, and decides
//! again when another writer was faster.

mod backfill;
mod careful;
mod error;
mod firing;
mod monitor;
mod present;
mod reach;
mod replan;
mod settling;
mod sync;
mod why;

use std::{pin::Pin, sync::Arc};

use almanack_core::{
    address::{Names, Reach},
    event::outgoing::Subscriptions,
    plan::{
        Definition, Edited, Look, Monitor, MonitorWrite, Origin, Pause, Ready, Schedule,
        ScheduleId, ScheduleName, ScheduleWrite, State, StoredDefinition, Unfit, look_at, resume,
    },
    store::{Applied, Store},
    task::Task,
    time::Clock,
};
use jiff::Timestamp;

use self::error::{REMOVED, REWOUND, Words};
use crate::{
    planner::{edit, in_the_way, load_monitors, load_running},
    reloadable::Reloadable,
    zones::Zones,
};

pub use backfill::{Backfill, Backfilled, SlotOfBackfill};
pub use careful::{Expected, Writer};
pub use error::Error;
pub(crate) use error::owner;
pub use firing::{Fired, Overlapping};
pub use monitor::{Watched, new_key};
use settling::gathered;

pub use sync::{Synced, Wanted};
pub use why::Answer;

/// How often a lost race is decided again.
const ROUNDS_MAX: usize = 50;
/// Longest note about a pause, in bytes.
pub const NOTE_BYTES_MAX: usize = 500;

/// What became of a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// What was done; `None` if it already was as requested.
    pub edited: Option<Edited>,
    pub schedule: Schedule,
}

/// A decision being made: what to write, or `None` if it already is so. Boxed, because the compiler
/// cannot see that what an `AsyncFn` returns may move to another thread, and every caller needs
/// that.
type Deciding<'a> =
    Pin<Box<dyn Future<Output = Result<Option<(ScheduleWrite, Edited)>, Error>> + Send + 'a>>;

/// Carries out what people want of schedules.
pub struct Schedules {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    zones: Arc<Zones>,
    /// Who may be called; `None` leaves that to the caller.
    reach: Option<Reloadable<Reach>>,
    /// What is behind the names of those who may be called.
    names: Option<Arc<dyn Names>>,
    subscriptions: Reloadable<Subscriptions>,
}

impl Schedules {
    /// Works on `store` by `clock`.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, zones: Arc<Zones>) -> Self {
        Self {
            store,
            clock,
            zones,
            reach: None,
            names: None,
            subscriptions: Reloadable::default(),
        }
    }

    /// Has events delivered to these subscriptions.
    #[must_use]
    pub fn reporting_to(self, subscriptions: Reloadable<Subscriptions>) -> Self {
        Self {
            subscriptions,
            ..self
        }
    }

    /// Makes the calendars those that are stored; to be asked before [`Self::ready`] and
    /// [`Self::next_firing`].
    pub async fn refresh(&self) -> Result<(), Error> {
        Ok(self.zones.refresh(&*self.store).await?)
    }

    /// Checks a definition without writing it.
    pub fn check(&self, name: &ScheduleName, definition: Definition) -> Result<Ready, Unfit> {
        self.zones.ready(name, definition)
    }

    /// A stored schedule, ready to be asked for its slots.
    pub fn ready(&self, schedule: &Schedule) -> Result<Ready, Unfit> {
        let Schedule {
            name, definition, ..
        } = schedule;
        self.zones.ready_stored(name, definition)
    }

    /// The first slot that fires if nothing changes.
    pub fn next_firing(&self, schedule: &Schedule) -> Option<Timestamp> {
        self.zones.next_firing(schedule)
    }

    /// A schedule that has not been removed.
    pub async fn load(&self, name: &ScheduleName) -> Result<Schedule, Error> {
        let found = self.load_any(name).await?;
        found
            .filter(|schedule| !matches!(schedule.state, State::Removed { .. }))
            .ok_or_else(|| Error::Unknown { name: name.clone() })
    }

    async fn load_any(&self, name: &ScheduleName) -> Result<Option<Schedule>, Error> {
        let mut found = self
            .store
            .load_schedules(std::slice::from_ref(name))
            .await?;
        let found = found.pop().flatten();
        let definition = found.iter().map(|it| &it.definition);
        self.zones.refresh_for(&*self.store, definition).await?;
        Ok(found)
    }

    /// Writes a schedule, new or changed. One that was removed comes back with its history.
    pub async fn put(
        &self,
        name: &ScheduleName,
        definition: Definition,
        origin: Origin,
        by: &str,
    ) -> Result<Changed, Error> {
        let writer = Writer { origin, by };
        self.put_expecting(name, definition, writer, Expected::Anything)
            .await
    }

    /// Stops a schedule from firing, until it is resumed or until a time.
    pub async fn pause(
        &self,
        name: &ScheduleName,
        until: Option<Timestamp>,
        note: Option<String>,
        by: &str,
    ) -> Result<Changed, Error> {
        check_note(note.as_deref())?;
        let pause = (until, &note);
        self.change(name, ("paused", "暂停"), |found, now| {
            Box::pin(self.paused(found, pause, by, now))
        })
        .await
    }

    async fn paused(
        &self,
        found: Schedule,
        (until, note): (Option<Timestamp>, &Option<String>),
        by: &str,
        now: Timestamp,
    ) -> Result<Option<(ScheduleWrite, Edited)>, Error> {
        let since = match &found.state {
            State::Paused(pause) if (pause.until, &pause.note) == (until, note) => return Ok(None),
            // One that has ended by itself has ended, whether it was looked at or not.
            State::Paused(pause) if pause.until.is_none_or(|until| until > now) => pause.since,
            _ => now,
        };
        let mut write = self.settled(&found, now).await?;
        write.schedule.state = State::Paused(Pause {
            since,
            until,
            note: note.clone(),
            by: by.to_owned(),
        });
        write.schedule.look_at = until;
        let mut write = edited(write, Edited::Paused, by, now);
        if let Some(edit) = &mut write.edit {
            edit.note.clone_from(note);
        }
        Ok(Some((write, Edited::Paused)))
    }

    /// Lets a paused schedule fire again; what fell into the pause is recorded.
    pub async fn resume(&self, name: &ScheduleName, by: &str) -> Result<Changed, Error> {
        self.change(name, ("resumed", "恢复"), |found, now| {
            Box::pin(self.resumed(found, by, now))
        })
        .await
    }

    async fn resumed(
        &self,
        found: Schedule,
        by: &str,
        now: Timestamp,
    ) -> Result<Option<(ScheduleWrite, Edited)>, Error> {
        let State::Paused(pause) = &found.state else {
            return Ok(None);
        };
        let ready = self.ready(&found)?;
        let (found, takes_back) = self.in_the_present(&found, &ready, now).await?;
        let heard = self.heard(&found).await?;
        let mut write = gathered(&found, &ready, &heard, now, |look| {
            let plan = resume(look, pause);
            let more = !plan.resumes;
            (plan, more)
        })?;
        write.takes_back = takes_back;
        let what = Edited::Resumed;
        Ok(Some((edited(write, what, by, now), what)))
    }

    /// Takes a schedule away; its history stays.
    pub async fn remove(&self, name: &ScheduleName, by: &str) -> Result<Changed, Error> {
        self.change(name, REMOVED, |found, now| {
            Box::pin(self.removed(found, by, now))
        })
        .await
    }

    async fn removed(
        &self,
        found: Schedule,
        by: &str,
        now: Timestamp,
    ) -> Result<Option<(ScheduleWrite, Edited)>, Error> {
        let mut write = self.settled(&found, now).await?;
        write.schedule.state = State::Removed { since: now };
        write.schedule.look_at = None;
        let what = Edited::Removed;
        Ok(Some((edited(write, what, by, now), what)))
    }

    async fn rewritten(
        &self,
        found: Schedule,
        ready: &Ready,
        origin: Origin,
        by: &str,
        now: Timestamp,
    ) -> Result<Option<(ScheduleWrite, Edited)>, Error> {
        let removed = matches!(found.state, State::Removed { .. });
        if found.origin != origin && !removed {
            let (name, origin) = (found.name, found.origin);
            return Err(Error::Managed { name, origin });
        }
        let definition = StoredDefinition::from(ready.definition.clone());
        let parked = matches!(found.state, State::Parked { .. });
        // One that is parked goes on by itself where it stopped, once it can be computed.
        if found.definition == definition && !removed {
            return Ok(None);
        }
        let mut write = if removed {
            self.removed_in_the_present(&found, now).await?
        } else if parked {
            let active = Schedule {
                state: State::Active,
                ..found.clone()
            };
            self.settled(&active, now).await?
        } else {
            self.settled(&found, now).await?
        };
        let seam = self
            .decided_to(&write.schedule)
            .max(Some(now))
            .unwrap_or(now);
        let after = &mut write.schedule;
        after.definition = definition;
        after.origin = origin;
        if removed {
            after.runs = 0;
        }
        after.next_at = ready.next_run_after(seam, after.runs);
        after.waits_since = None;
        if ready.is_monitor() && write.monitor.is_none() {
            write.monitor = Some(self.heard_before(&found).await?);
        }
        let after = &mut write.schedule;
        // As it is after settling, which may have ended a pause.
        if !matches!(after.state, State::Paused(_)) {
            activate(after, ready, now);
        }
        let what = if removed {
            Edited::Created
        } else {
            Edited::Changed
        };
        Ok(Some((edited(write, what, by, now), what)))
    }

    /// Its firings that have not ended, newest first.
    async fn running(&self, schedule: &Schedule) -> Result<Vec<Task>, Error> {
        let running = load_running(&*self.store, std::slice::from_ref(schedule)).await?;
        Ok(running.into_iter().flatten().collect())
    }

    /// What was heard of a monitor before it changes. One that was removed, or something else, is
    /// new; only its pings are numbered on.
    async fn heard_before(&self, found: &Schedule) -> Result<MonitorWrite, Error> {
        let known = self.store.load_monitors(&[found.id]).await?;
        let known = known.into_iter().flatten().next().unwrap_or_default();
        let was_monitor = found.definition.read().is_ok_and(Definition::is_monitor);
        let goes_on = was_monitor && !matches!(found.state, State::Removed { .. });
        let new = Monitor {
            pings: known.pings,
            ..Monitor::default()
        };
        let monitor = if goes_on { known } else { new };
        Ok(MonitorWrite {
            down_before: monitor.down.clone(),
            monitor,
            ping: None,
        })
    }

    /// What a look needs to know beside the row.
    async fn heard(&self, schedule: &Schedule) -> Result<HeardOf, Error> {
        let schedules = std::slice::from_ref(schedule);
        let monitors = load_monitors(&*self.store, schedules).await?;
        Ok(HeardOf {
            running: self.running(schedule).await?,
            monitor: monitors.into_iter().flatten().next(),
        })
    }

    /// Decides and writes until no other writer was faster. `Ok(None)` means that it already is so.
    async fn decide<'a>(
        &self,
        name: &ScheduleName,
        request: impl Fn(Option<Schedule>, Timestamp) -> Deciding<'a> + Send + Sync,
    ) -> Result<Changed, Error> {
        for _ in 0..ROUNDS_MAX {
            let found = self.load_any(name).await?;
            let now = self.clock.now();
            let Some((write, edited)) = request(found.clone(), now).await? else {
                let schedule = found.ok_or_else(|| Error::Unknown { name: name.clone() })?;
                return Ok(Changed {
                    edited: None,
                    schedule,
                });
            };
            if let Some(schedule) = self.write(write).await? {
                let edited = Some(edited);
                return Ok(Changed { edited, schedule });
            }
        }
        Err(Error::Contended { name: name.clone() })
    }

    /// [`Self::decide`] for a schedule that must exist.
    async fn change<'a>(
        &self,
        name: &'a ScheduleName,
        requested: Words,
        request: impl Fn(Schedule, Timestamp) -> Deciding<'a> + Send + Sync,
    ) -> Result<Changed, Error> {
        self.decide(name, |found, now| {
            match changeable(name, requested, found) {
                Ok(found) => request(found, now),
                Err(error) => Box::pin(std::future::ready(Err(error))),
            }
        })
        .await
    }

    /// `None` if another writer was faster.
    async fn write(&self, mut write: ScheduleWrite) -> Result<Option<Schedule>, Error> {
        self.subscriptions.get().add_to_schedule(&mut write);
        let after = write.schedule.clone();
        let applied = self.store.write_schedules(vec![write]).await?;
        match applied.first() {
            Some(Applied::Done { .. }) if after.id == ScheduleId(0) => {
                Ok(Some(self.load(&after.name).await?))
            }
            Some(Applied::Done { .. } | Applied::Repeated { .. }) => Ok(Some(after)),
            Some(Applied::Lost) | None => Ok(None),
        }
    }
}

/// What is known of a schedule beside its row.
#[derive(Default)]
struct HeardOf {
    /// Its firings that have not ended, newest first.
    running: Vec<Task>,
    /// What was heard of its job, if it is a monitor.
    monitor: Option<Monitor>,
}

fn look<'a>(
    schedule: &'a Schedule,
    ready: &'a Ready,
    heard: &'a HeardOf,
    now: Timestamp,
) -> Look<'a> {
    Look {
        schedule,
        ready,
        running: in_the_way(ready, &heard.running).map(|task| task.identity.subject.as_str()),
        monitor: heard.monitor.as_ref(),
        now,
    }
}

fn new(
    name: &ScheduleName,
    ready: &Ready,
    origin: Origin,
    by: &str,
    now: Timestamp,
) -> ScheduleWrite {
    let next_at = ready.next_after(now);
    let definition = ready.definition.clone().into();
    let mut schedule = Schedule::new(name.clone(), origin, definition, next_at, now);
    activate(&mut schedule, ready, now);
    let mut write = ScheduleWrite::of(None, schedule, now);
    write.monitor = ready.is_monitor().then(|| MonitorWrite {
        monitor: Monitor::default(),
        down_before: None,
        ping: None,
    });
    edited(write, Edited::Created, by, now)
}

/// A schedule that is planned from its next slot on, or that is done if it has none.
fn activate(schedule: &mut Schedule, ready: &Ready, now: Timestamp) {
    schedule.look_at = schedule.next_at.map(|slot| look_at(ready, slot));
    schedule.state = match schedule.next_at {
        Some(_) => State::Active,
        None => State::Done { since: now },
    };
}

/// Raises the revision and writes the line of history.
fn edited(mut write: ScheduleWrite, what: Edited, by: &str, now: Timestamp) -> ScheduleWrite {
    write.schedule.revision += 1;
    write.schedule.changed_at = now;
    write.edit = Some(edit(&write.schedule, what, by, now));
    write
}

/// What was found, if it is there and in a state for this.
fn changeable(
    name: &ScheduleName,
    requested: Words,
    found: Option<Schedule>,
) -> Result<Schedule, Error> {
    let found = found
        .filter(|found| !matches!(found.state, State::Removed { .. }))
        .ok_or_else(|| Error::Unknown { name: name.clone() })?;
    let state = match found.state {
        State::Parked { .. } => Some(("parked", "已搁置")),
        State::Done { .. } if requested != REWOUND => Some(("done", "已完成")),
        _ => None,
    };
    if let Some(state) = state.filter(|_| requested != REMOVED) {
        return Err(Error::NotNow {
            name: name.clone(),
            state,
            request: requested,
        });
    }
    Ok(found)
}

fn check_note(note: Option<&str>) -> Result<(), Error> {
    match note {
        Some(note) if note.len() > NOTE_BYTES_MAX || note.chars().any(char::is_control) => {
            Err(Error::Note { bytes: note.len() })
        }
        _ => Ok(()),
    }
}
