//! A simulation: what a configuration would do, by the function that decides for the planner, under
//! a clock that jumps (DP-14).
//!
//! Schedules do not depend on each other, so each is looked at for itself, from one look to the
//! next; only time is made up, and targets are not called: every firing takes the same while and
//! succeeds. There is no store in between, which is what makes a day of a schedule of every second
//! cost a moment; a test runs the planner on a store and compares. While an outage lasts nothing
//! plans and nothing runs, as if every node were gone.

use almanack_core::{
    plan::{
        Look, Origin, Overlap, Plan, Ready, Schedule, ScheduleName, Slot, State, look_at, plan,
        slot_identity,
    },
    time::{LATEST, to_micros},
};
use jiff::{SignedDuration, Timestamp};

use crate::{
    schedules::{Error, Wanted},
    zones::Zones,
};

/// What to simulate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simulation {
    pub from: Timestamp,
    /// The instant after the last.
    pub until: Timestamp,
    /// How long each firing takes.
    pub takes: SignedDuration,
    /// When no node is there: from, until.
    pub outages: Vec<(Timestamp, Timestamp)>,
}

/// A schedule's part in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub name: ScheduleName,
    /// What became of its slots, in order.
    pub rows: Vec<Slot>,
}

/// What happened.
#[derive(Debug, Default)]
pub struct SimulationReport {
    pub parts: Vec<Part>,
    /// Those that cannot be kept, and why.
    pub refused: Vec<(ScheduleName, Error)>,
}

impl SimulationReport {
    /// How many slots fired, and how many were skipped.
    pub fn counts(&self) -> (u64, u64) {
        let rows = self.parts.iter().flat_map(|part| &part.rows);
        rows.fold((0, 0), |(fired, skipped), row| {
            if row.verdict.is_fired() {
                (fired + row.slots, skipped)
            } else {
                (fired, skipped + row.slots)
            }
        })
    }
}

/// Simulates what is wanted by these zones and calendars.
pub fn simulate(zones: &Zones, wanted: Vec<Wanted>, simulation: &Simulation) -> SimulationReport {
    let mut simulated = SimulationReport::default();
    for Wanted { name, definition } in wanted {
        match zones.ready(&name, definition) {
            Ok(ready) => {
                let rows = Actor::new(&name, &ready, simulation).play();
                simulated.parts.push(Part { name, rows });
            }
            Err(unfit) => simulated.refused.push((name, unfit.into())),
        }
    }
    simulated.parts.sort_by(|a, b| a.name.cmp(&b.name));
    simulated
}

/// One schedule on the stage.
struct Actor<'a> {
    ready: &'a Ready,
    simulation: &'a Simulation,
    schedule: Schedule,
    /// Firings that may not have ended, oldest first: until when each runs, and its subject.
    running: Vec<(Timestamp, String)>,
    rows: Vec<Slot>,
}

impl<'a> Actor<'a> {
    fn new(name: &ScheduleName, ready: &'a Ready, simulation: &'a Simulation) -> Self {
        // A moment earlier, so that a slot at the first instant belongs to it.
        let eve = simulation
            .from
            .saturating_sub(SignedDuration::from_micros(1));
        let eve = to_micros(eve.unwrap_or(simulation.from));
        let next_at = ready.next_after(eve);
        let definition = ready.definition.clone().into();
        let schedule = Schedule {
            revision: 1,
            look_at: next_at.map(|slot| look_at(ready, slot)),
            ..Schedule::new(name.clone(), Origin::File, definition, next_at, eve)
        };
        Self {
            ready,
            simulation,
            schedule,
            running: Vec::new(),
            rows: Vec::new(),
        }
    }

    fn play(mut self) -> Vec<Slot> {
        let mut now = to_micros(self.simulation.from);
        while let Some(at) = self.schedule.look_at {
            now = self.present(at.max(now));
            if now >= self.simulation.until {
                break;
            }
            self.running.retain(|(ends_at, _)| *ends_at > now);
            let apart = self.ready.definition.overlap != Overlap::Allow;
            let newest = self.running.last().filter(|_| apart);
            let planned = plan(Look {
                schedule: &self.schedule,
                ready: self.ready,
                running: newest.map(|(_, subject)| subject.as_str()),
                // Who will ping when is not known, so monitors are not played.
                monitor: None,
                now,
            });
            self.apply(planned);
        }
        self.rows
    }

    fn apply(&mut self, planned: Plan) {
        if planned.cancels {
            self.running.clear();
        }
        for fire in &planned.fires {
            let starts_at = self.present(fire.execute_at);
            let ends_at = starts_at.saturating_add(self.simulation.takes);
            let ends_at = self.present(ends_at.unwrap_or(LATEST));
            let subject = slot_identity(&self.schedule.name, fire.slot);
            let subject = subject.map(|it| it.subject.to_string());
            self.running.push((ends_at, subject.unwrap_or_default()));
        }
        if self.ready.definition.runs.is_some() {
            self.schedule.runs += planned.fires.len() as u64;
        }
        self.rows.extend(planned.slots);
        self.schedule.next_at = planned.next_at;
        self.schedule.waits_since = planned.waits_since;
        self.schedule.look_at = planned.look_at;
        if let (None, Some(since)) = (planned.next_at, self.rows.last()) {
            let since = since.decided_at;
            self.schedule.state = State::Done { since };
        }
    }

    /// The first instant from `at` on at which nodes are there.
    fn present(&self, at: Timestamp) -> Timestamp {
        let mut at = at;
        while let Some(back_at) = away_until(&self.simulation.outages, at) {
            at = back_at;
        }
        at
    }
}

/// When the outage that covers `now` is over.
fn away_until(outages: &[(Timestamp, Timestamp)], now: Timestamp) -> Option<Timestamp> {
    let covers = |(from, until): &&(Timestamp, Timestamp)| *from <= now && now < *until;
    outages.iter().find(covers).map(|(_, until)| *until)
}
