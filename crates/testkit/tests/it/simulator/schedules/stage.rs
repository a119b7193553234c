//! The stage: one world, months of trouble, a rest, and the reckoning.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use almanack_core::{
    calendar::{CalendarRecord, Definition, Reading, Weekday},
    plan::{Origin, State},
    store::{ScheduleFilter, Store},
};
use almanack_engine::zones::Zones;
use almanack_testkit::layer::Layered;
use jiff::{SignedDuration, Timestamp};

use super::{
    super::{
        Broken,
        dice::Dice,
        faults::Weather,
        record::Record,
        time::{TrueClock, is_set_back, pass},
    },
    ScheduleOptions, ScheduleSummary, checks,
    chronicle::Chronicle,
    people::Person,
    planners::{Process, World},
    retention,
    rule::WEEKEND,
    runner, works,
};

const HOUR_MS: u64 = 3_600_000;
/// Once healed, what is due is decided within this.
const DECIDED_WITHIN: SignedDuration = SignedDuration::from_secs(10);
/// Within this everything that waits for its predecessor has had its turn.
const RESTED_WITHIN: SignedDuration = SignedDuration::from_hours(12);
/// How wrong clocks may be, by seed.
const SKEWS_MS: [i64; 3] = [0, 50, 2_000];

/// Everything one simulation needs.
pub(super) struct Stage {
    seed: u64,
    dice: Dice,
    days: u32,
    world: World,
    person: Person,
    processes: Vec<Option<Process>>,
}

impl Stage {
    pub(super) fn set(seed: u64, options: &ScheduleOptions, store: Arc<dyn Store>) -> Self {
        let dice = Dice::new(seed);
        let truth = TrueClock::start();
        let record = Arc::new(Record::new(truth));
        let skew = SignedDuration::from_millis(*dice.pick(&SKEWS_MS));
        let chronicle = Chronicle::new(truth, Arc::clone(&record), skew);
        let world = World {
            truth,
            record,
            store: Layered::over(store, chronicle.clone()),
            chronicle,
            weather: Weather::draw_steady(&dice),
            skew,
            healed: Arc::new(AtomicBool::new(false)),
            zones: Arc::new(Zones::default()),
        };
        let at_least_two = |most: u64| 2 + dice.below(most - 1);
        let nodes = usize::try_from(at_least_two(options.nodes_max)).unwrap_or(2);
        let schedules = at_least_two(options.schedules_max);
        let person = Person::new(world.clone(), dice.fork(), schedules);
        Self {
            seed,
            days: options.days,
            world,
            person,
            processes: (0..nodes).map(|_| None).collect(),
            dice,
        }
    }

    pub(super) async fn play(mut self) -> Result<ScheduleSummary, Broken> {
        let until = self.world.truth.now() + SignedDuration::from_hours(24 * i64::from(self.days));
        let runner = tokio::spawn(runner::run(self.world.clone(), self.dice.fork()));
        let retention = tokio::spawn(retention::run(self.world.clone(), self.dice.fork()));
        self.hang_calendar().await;
        let clearing = tokio::spawn(works::clear_up(self.world.clone(), self.dice.fork()));
        self.person.begin().await;
        self.trouble(until).await;
        self.keep_time().await;
        self.heal().await;
        self.rest().await;
        self.keep_time().await;
        runner.abort();
        retention.abort();
        clearing.abort();
        for process in self.processes.iter_mut().filter_map(Option::take) {
            process.crash();
        }
        let mut summary = ScheduleSummary::default();
        if !self.world.record.is_broken() {
            let checked = checks::check(&self.world).await;
            self.world
                .record
                .check(checked.map(|counted| summary = counted));
        }
        self.report(summary)
    }

    /// Weekends, for schedules that leave them out.
    async fn hang_calendar(&self) {
        let definition = Definition {
            weekdays: vec![Weekday::Saturday, Weekday::Sunday],
            ..Definition::default()
        };
        let now = self.world.truth.now();
        let calendar = CalendarRecord {
            name: WEEKEND.to_owned(),
            origin: Origin::Api,
            definition,
            copy: None,
            reading: Reading::default(),
            version: 1,
            applied: 1,
            created_at: now,
            changed_at: now,
        };
        let written = self.world.store.write_calendar(&calendar, None).await;
        self.world
            .record
            .check(written.map(drop).map_err(|error| error.to_string()));
    }

    async fn trouble(&mut self, until: Timestamp) {
        for slot in 0..self.processes.len() {
            self.start(slot);
        }
        let mut person = std::mem::replace(
            &mut self.person,
            Person::new(self.world.clone(), self.dice.fork(), 2),
        );
        let living = async {
            person.live(until).await;
            person
        };
        let (person, ()) = tokio::join!(living, self.happen(until));
        self.person = person;
    }

    async fn happen(&mut self, until: Timestamp) {
        while self.world.truth.now() < until && !self.world.record.is_broken() {
            pass(self.dice.millis(HOUR_MS / 2, 50 * HOUR_MS)).await;
            match self.dice.below(10) {
                0 => self.outage(HOUR_MS / 30, HOUR_MS).await,
                1 => self.outage(HOUR_MS, 20 * HOUR_MS).await,
                2 if self.dice.hits(300) => self.outage(20 * HOUR_MS, 80 * HOUR_MS).await,
                _ => {
                    let slot = self.dice.below(self.processes.len() as u64);
                    self.happen_to(usize::try_from(slot).unwrap_or(0));
                }
            }
        }
    }

    fn start(&mut self, slot: usize) {
        let dice = self.dice.fork();
        self.processes[slot] = Some(Process::start(&self.world, slot, &dice));
    }

    /// All nodes are gone for a while, and come back one after the other.
    async fn outage(&mut self, low_ms: u64, high_ms: u64) {
        self.world.record.note("world", "all nodes go away");
        for process in self.processes.iter_mut().filter_map(Option::take) {
            process.crash();
        }
        pass(self.dice.millis(low_ms, high_ms)).await;
        for slot in 0..self.processes.len() {
            self.start(slot);
            pass(self.dice.millis(0, 3_000)).await;
        }
    }

    fn happen_to(&mut self, slot: usize) {
        match self.processes[slot].take() {
            None => self.start(slot),
            Some(process) if self.dice.hits(400) => process.crash(),
            Some(process) => {
                process.freeze(self.dice.millis(500, 5 * HOUR_MS));
                self.processes[slot] = Some(process);
            }
        }
    }

    /// Waits until the machine's clock is right, has been for long enough, and will be.
    async fn keep_time(&self) {
        let around = |now: Timestamp| is_set_back(now - DECIDED_WITHIN, now + DECIDED_WITHIN);
        while around(self.world.truth.now()) {
            pass(Duration::from_secs(1)).await;
        }
    }

    /// The faults stop: every node is there, nothing is paused, and what is due is decided soon.
    async fn heal(&mut self) {
        self.world.record.note("world", "heals");
        self.world.healed.store(true, Ordering::Relaxed);
        for slot in 0..self.processes.len() {
            if let Some(process) = self.processes[slot].take() {
                process.crash();
            }
            self.start(slot);
        }
        self.person.resume_all().await;
        let healed_at = self.world.truth.now();
        let wait = Duration::try_from(DECIDED_WITHIN).unwrap_or_default();
        pass(wait).await;
        // Splay and jitter keep a slot back for at most seven minutes; what a calendar leaves out
        // is not looked at for a while.
        let due_by = healed_at - SignedDuration::from_mins(8);
        for schedule in self.listed().await {
            let late = |at: Option<Timestamp>| at.is_some_and(|at| at < due_by);
            let behind = late(schedule.next_at) && late(schedule.look_at);
            if behind && schedule.state == State::Active && schedule.waits_since.is_none() {
                self.world.record.broke(format_args!(
                    "{} is still undecided at {:?}, though the world has healed",
                    schedule.name, schedule.next_at
                ));
            }
        }
    }

    async fn listed(&self) -> Vec<almanack_core::plan::Schedule> {
        let filter = ScheduleFilter {
            limit: 1_000,
            ..ScheduleFilter::default()
        };
        let page = self.world.store.list_schedules(&filter).await;
        page.map(|page| page.rows).unwrap_or_default()
    }

    /// Waits until nothing waits.
    async fn rest(&mut self) {
        let deadline = self.world.truth.now() + RESTED_WITHIN;
        while !self.world.record.is_broken() {
            pass(self.dice.millis(10_000, 100_000)).await;
            let waits = self
                .listed()
                .await
                .iter()
                .filter(|s| s.waits_since.is_some())
                .count();
            if waits == 0 {
                return;
            }
            // What began before the world healed may take until now.
            if self.world.truth.now() > deadline + SignedDuration::from_hours(28) {
                self.world
                    .record
                    .broke(format_args!("{waits} slots wait for ever"));
            }
        }
    }

    fn report(&self, summary: ScheduleSummary) -> Result<ScheduleSummary, Broken> {
        let log = self.world.record.take_lines();
        if let Some(what) = self.world.record.broken() {
            let seed = self.seed;
            return Err(Broken { seed, what, log });
        }
        Ok(ScheduleSummary { log, ..summary })
    }
}
