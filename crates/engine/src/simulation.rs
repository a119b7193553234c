//! A simulation: what a configuration would do, computed by the planner itself under a clock that
//! jumps (DP-14).
//!
//! The same planner works on a separate store; only time is made up, and targets are not called:
//! every firing takes the same while and succeeds. Time jumps from event to event, so a day costs
//! what happens in it. While an outage lasts nothing plans and nothing runs, as if every node were
//! gone.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use almanack_core::{
    finish::{Outcome, finish},
    plan::{Origin, ScheduleName, Slot},
    store::{self, ClaimId, ClaimRequest, LedgerPage, Store},
    task::ClaimedTask,
    time::{Clock, LATEST, to_micros},
};
use jiff::{SignedDuration, Timestamp};

use crate::{
    dispatch::BACKOFF,
    planner::Planner,
    schedules::{Error, Schedules, Wanted},
    zones::Zones,
};

/// Attempts that may start at one instant.
const CLAIM_MAX: usize = 1_000;
/// Ledger rows read at once.
const PAGE: usize = 10_000;

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

/// Simulates on `store`, which must be empty and is not to be used for anything else.
pub async fn simulate(
    store: Arc<dyn Store>,
    wanted: Vec<Wanted>,
    simulation: &Simulation,
) -> Result<SimulationReport, Error> {
    let mut stage = Stage::new(store, simulation);
    let mut simulated = SimulationReport::default();
    let mut names = Vec::new();
    for Wanted { name, definition } in wanted {
        let put = stage
            .schedules
            .put(&name, definition, Origin::File, "simulation");
        match put.await {
            Ok(_) => names.push(name),
            Err(Error::Store(error)) => return Err(error.into()),
            Err(error) => simulated.refused.push((name, error)),
        }
    }
    stage.play(simulation).await?;
    names.sort();
    for name in names {
        let rows = stage.rows(&name).await?;
        simulated.parts.push(Part { name, rows });
    }
    Ok(simulated)
}

/// Shows whatever instant the simulation has come to.
struct StageClock(AtomicI64);

impl StageClock {
    fn set(&self, now: Timestamp) {
        self.0.store(now.as_microsecond(), Ordering::Relaxed);
    }
}

impl Clock for StageClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_microsecond(self.0.load(Ordering::Relaxed)).unwrap_or(LATEST)
    }
}

struct Stage {
    store: Arc<dyn Store>,
    clock: Arc<StageClock>,
    planner: Planner,
    schedules: Schedules,
    takes: SignedDuration,
    claims: i64,
    /// What runs, by when it ends.
    running: BTreeMap<Timestamp, Vec<ClaimedTask>>,
}

impl Stage {
    fn new(store: Arc<dyn Store>, simulation: &Simulation) -> Self {
        // A moment earlier, so that a slot at the first instant belongs to it.
        let eve = simulation
            .from
            .saturating_sub(SignedDuration::from_micros(1));
        let eve = to_micros(eve.unwrap_or(simulation.from));
        let clock = Arc::new(StageClock(AtomicI64::new(eve.as_microsecond())));
        let zones = Arc::new(Zones::default());
        Self {
            planner: Planner::new(store.clone(), clock.clone(), zones.clone()),
            schedules: Schedules::new(store.clone(), clock.clone(), zones),
            store,
            clock,
            takes: simulation.takes,
            claims: 0,
            running: BTreeMap::new(),
        }
    }

    async fn play(&mut self, simulation: &Simulation) -> store::Result<()> {
        let mut now = to_micros(simulation.from);
        let mut look_at = Some(now);
        while now < simulation.until {
            if let Some(back_at) = away_until(&simulation.outages, now) {
                now = back_at;
                continue;
            }
            self.clock.set(now);
            self.end_attempts(now).await?;
            if look_at.is_some_and(|at| at <= now) {
                look_at = self.planner.pass().await?.next_look_at;
            }
            let due_at = self.start_attempts(now).await?;
            let ends_at = self.running.keys().next().copied();
            let Some(next) = [look_at, due_at, ends_at].into_iter().flatten().min() else {
                break;
            };
            now = next.max(
                now.saturating_add(SignedDuration::from_micros(1))
                    .unwrap_or(LATEST),
            );
        }
        Ok(())
    }

    /// Claims what is due; when the next is.
    async fn start_attempts(&mut self, now: Timestamp) -> store::Result<Option<Timestamp>> {
        self.claims += 1;
        let request = ClaimRequest {
            claim_id: ClaimId(self.claims),
            session: "simulation".to_owned(),
            node: "simulation".to_owned(),
            now,
            lease_until: LATEST,
            slots: CLAIM_MAX,
            limits: Vec::new(),
        };
        let claimed = self.store.claim(request).await?;
        if !claimed.tasks.is_empty() {
            let ends_at = now.saturating_add(self.takes).unwrap_or(LATEST);
            self.running
                .entry(ends_at)
                .or_default()
                .extend(claimed.tasks);
        }
        Ok(claimed.next_due_at)
    }

    async fn end_attempts(&mut self, now: Timestamp) -> store::Result<()> {
        while let Some(first) = self
            .running
            .first_entry()
            .filter(|first| *first.key() <= now)
        {
            let done = Outcome::Done { detail: None };
            let tasks = first.remove();
            let ending = |task: &ClaimedTask| finish(task, &done, &BACKOFF, now, 0);
            self.store
                .finish(tasks.iter().map(ending).collect())
                .await?;
        }
        Ok(())
    }

    async fn rows(&self, name: &ScheduleName) -> Result<Vec<Slot>, Error> {
        let id = self.schedules.load(name).await?.id;
        let mut rows = Vec::new();
        let mut before = Timestamp::MAX;
        loop {
            let limit = PAGE;
            let page = self
                .store
                .load_slots(id, LedgerPage { before, limit })
                .await?;
            let full = page.len() == PAGE;
            before = page.last().map_or(before, |row| row.slot_at);
            rows.extend(page);
            if !full {
                rows.reverse();
                return Ok(rows);
            }
        }
    }
}

/// When the outage that covers `now` is over.
fn away_until(outages: &[(Timestamp, Timestamp)], now: Timestamp) -> Option<Timestamp> {
    let covers = |(from, until): &&(Timestamp, Timestamp)| *from <= now && now < *until;
    outages.iter().find(covers).map(|(_, until)| *until)
}
