//! The stage: sets up one world, lets trouble happen to it, heals it, and sees it come to rest.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use almanack_core::store::Store;
use almanack_testkit::layer::Layered;
use jiff::{SignedDuration, Timestamp};
use tokio::task::JoinSet;

use super::{
    Broken, Options, Summary,
    authors::{self, Notes, Requester},
    checks::{self, Story},
    dice::Dice,
    ear::Ear,
    faults::{Traffic, Weather},
    node::{Connections, Process, World},
    record::Record,
    service::Service,
    time::{TrueClock, pass},
    witness::Witness,
    workers,
};

/// Within this time after the faults stop everything must be done: the furthest plan, then as many
/// attempts as a task has, each as slow as the service gets.
const HEALED_WITHIN: SignedDuration = SignedDuration::from_mins(20);
/// Between two looks at whether everything is done, at most; drawn, or looks could fall into step
/// with heartbeats and always see one on its way.
const LOOK_MS_MAX: u64 = 5_000;
/// The fastest clock, in millionths; half of the seeds have exact ones.
const DRIFT_PPM_MAX: i64 = 100;

/// Everything one simulation needs.
pub(super) struct Stage {
    seed: u64,
    options: Options,
    dice: Dice,
    witness: Witness,
    world: World,
    notes: Arc<Mutex<Notes>>,
    processes: Vec<Option<Process>>,
    healed_at: Timestamp,
    revived: usize,
}

impl Stage {
    pub(super) fn set(seed: u64, options: &Options, store: Arc<dyn Store>) -> Self {
        let dice = Dice::new(seed);
        let truth = TrueClock::start();
        let record = Arc::new(Record::new(truth));
        let drift_ppm = if dice.hits(500) { DRIFT_PPM_MAX } else { 0 };
        let witness = Witness::new(truth, Arc::clone(&record), drift_ppm);
        let limits = options.limits_in_all.clone();
        let service = Service::new(truth, Arc::clone(&record), witness.clone(), dice.fork());
        let service = service
            .limiting(limits.clone())
            .pacing(options.paces.clone());
        let slots = usize::try_from(2 + dice.below(options.nodes_max - 1)).unwrap_or(2);
        let world = World {
            truth,
            store: Layered::over(store, witness.clone()),
            ear: Ear::of(seed, &record, &dice),
            service: Arc::new(service),
            record,
            weather: Weather::draw(&dice),
            drift_ppm,
            healed: Arc::new(AtomicBool::new(false)),
            connections: Connections::with_slots(slots),
            traffic: Traffic::default(),
            slots: options.slots,
            limits_in_all: limits,
            pulled: options.pulled.clone(),
            paces: options.paces.clone(),
        };
        Self {
            seed,
            options: options.clone(),
            dice,
            witness,
            world,
            notes: Arc::default(),
            processes: (0..slots).map(|_| None).collect(),
            healed_at: Timestamp::MAX,
            revived: 0,
        }
    }

    pub(super) async fn play(mut self) -> Result<Summary, Broken> {
        let until = self.world.truth.now() + self.options.trouble;
        let mut requesters = self.send_requesters(until);
        // Dropped at the end: they work as long as there may be work.
        let _operators = self.send_operators(until);
        let _workers = self.send_workers();
        self.trouble(until).await;
        self.heal();
        if self.dice.hits(500) {
            self.restart_all();
            self.roll().await;
        }
        self.rest(&mut requesters).await;
        self.stop_all().await;
        self.check_story().await;
        self.report()
    }

    fn send_requesters(&self, until: Timestamp) -> JoinSet<()> {
        let mut requesters = JoinSet::new();
        for number in 0..self.options.authors {
            let (author, contested) = (format!("author-{number}"), self.options.contested);
            requesters.spawn(self.requester(author).write(contested, until));
        }
        let streams = authors::streamed(self.options.streamed);
        for (number, identity) in streams.into_iter().enumerate() {
            let queue = self.requester(format!("queue-{number}"));
            requesters.spawn(queue.deliver(identity, until));
        }
        requesters
    }

    fn send_operators(&self, until: Timestamp) -> JoinSet<()> {
        let mut sent = JoinSet::new();
        for number in 0..self.options.operators {
            let operator = self.requester(format!("operator-{number}"));
            sent.spawn(operator.operate(until));
        }
        sent
    }

    fn requester(&self, name: String) -> Requester {
        Requester {
            name,
            world: self.world.clone(),
            dice: self.dice.fork(),
            notes: Arc::clone(&self.notes),
        }
    }

    fn send_workers(&self) -> JoinSet<()> {
        let mut sent = JoinSet::new();
        for number in 0..self.options.workers {
            let kinds = self.options.pulled.iter().cloned().collect();
            let (name, dice) = (format!("worker-{number}"), self.dice.fork());
            sent.spawn(workers::work(name, kinds, self.world.clone(), dice));
        }
        sent
    }

    /// Starts, crashes, freezes and stops processes until `until`.
    async fn trouble(&mut self, until: Timestamp) {
        for slot in 0..self.processes.len() {
            self.start(slot);
        }
        while self.world.truth.now() < until && !self.world.record.is_broken() {
            pass(self.dice.millis(100, 8_000)).await;
            let slot = self.dice.below(self.processes.len() as u64);
            self.happen_to(usize::try_from(slot).unwrap_or(0));
            self.witness.look(&*self.world.store).await;
            self.witness.look_at_nodes(&*self.world.store).await;
        }
    }

    fn start(&mut self, slot: usize) {
        let dice = self.dice.fork();
        self.processes[slot] = Some(Process::start(&self.world, slot, &dice));
    }

    fn happen_to(&mut self, slot: usize) {
        let Some(process) = self.processes[slot].take() else {
            return self.start(slot);
        };
        if process.is_over() {
            return self.start(slot);
        }
        match self.dice.below(10) {
            0..3 => return process.crash(),
            3 | 4 => process.freeze(self.dice.millis(31_000, 70_000), self.dice.hits(300)),
            5 => process.freeze(self.dice.millis(500, 25_000), self.dice.hits(300)),
            6 | 7 => process.cut_off(self.dice.millis(5_000, 60_000)),
            8 if !process.is_stopping() => process.stop(),
            _ => {}
        }
        self.processes[slot] = Some(process);
    }

    /// The faults stop. What is frozen or cut off comes back in its time; what ended is revived.
    fn heal(&mut self) {
        self.world.record.note("world", "heals");
        self.healed_at = self.world.truth.now();
        self.world.healed.store(true, Ordering::Relaxed);
        for slot in 0..self.processes.len() {
            let ends = |process: &Process| process.is_over() || process.is_stopping();
            if self.processes[slot].as_ref().is_none_or(ends) {
                self.start_over(slot);
            }
        }
    }

    /// Whatever ran is gone, and every process starts afresh. Only in half of the seeds: a process
    /// that lived through the trouble must not keep any of it up.
    fn restart_all(&mut self) {
        for slot in 0..self.processes.len() {
            self.start_over(slot);
        }
    }

    fn start_over(&mut self, slot: usize) {
        if let Some(process) = self.processes[slot].take() {
            process.crash();
        }
        self.start(slot);
    }

    /// One after the other the nodes are stopped in order and started again, in the middle of their
    /// work: what they run is finished or handed back, and they leave nothing behind.
    async fn roll(&mut self) {
        for slot in 0..self.processes.len() {
            pass(self.dice.millis(1_000, 8_000)).await;
            let Some(process) = self.processes[slot].take() else {
                continue;
            };
            if let Some(session) = process.leave().await {
                let store = &*self.world.store;
                self.witness.look_at_departed(store, &session).await;
            }
            self.start(slot);
        }
    }

    /// Waits until nothing is left to do, which must happen in bounded time.
    async fn rest(&mut self, requesters: &mut JoinSet<()>) {
        let deadline = self.world.truth.now() + HEALED_WITHIN;
        while !self.world.record.is_broken() {
            pass(self.dice.millis(1, LOOK_MS_MAX)).await;
            while requesters.try_join_next().is_some() {}
            let live = self.witness.model().live();
            let claims = self.world.store.load_expired(Timestamp::MAX, 1_000).await;
            let claims = claims.map_or(usize::MAX, |claims| claims.len());
            let held_up = self.processes.iter().flatten().filter(|p| p.is_held_up());
            let traffic = self.world.traffic.count() + held_up.count();
            if live + claims + traffic + requesters.len() == 0 {
                return;
            }
            if self.world.truth.now() > deadline {
                let left = format!(
                    "{live} live tasks, {claims} claims, {traffic} calls, {} requesters",
                    requesters.len()
                );
                self.world.record.broke(format_args!(
                    "the world healed and never came to rest: {left}"
                ));
            }
            self.revive();
        }
    }

    /// A supervisor starts again what ended: a dead namesake's last heartbeat may have been under
    /// way long enough to pass for a living one's. In a healed world that happens once at most.
    fn revive(&mut self) {
        for slot in 0..self.processes.len() {
            if self.processes[slot].as_ref().is_none_or(Process::is_over) {
                self.revived += 1;
                self.start(slot);
            }
        }
        if self.revived > self.processes.len() {
            self.world
                .record
                .broke("nodes keep ending in a healed world");
        }
    }

    /// I17: a drained node signs off and leaves nothing behind.
    async fn stop_all(&mut self) {
        if self.world.record.is_broken() {
            return;
        }
        let stopped_at = self.world.truth.now();
        for process in self.processes.iter_mut().filter_map(Option::take) {
            process.leave().await;
        }
        let took = self.world.truth.now().duration_since(stopped_at);
        if took > SignedDuration::from_secs(30) {
            self.world
                .record
                .broke(format_args!("idle nodes took {took} to stop"));
        }
        let nodes = self.world.store.load_nodes().await.unwrap_or_default();
        if nodes.iter().any(|node| node.seen_at > self.healed_at) {
            self.world
                .record
                .broke(format_args!("a stopped node did not sign off: {nodes:?}"));
        }
    }

    async fn check_story(&self) {
        if self.world.record.is_broken() {
            return;
        }
        self.witness.look(&*self.world.store).await;
        let identities = self.witness.model().current.keys().cloned().collect();
        let checked = match checks::load_records(&*self.world.store, identities).await {
            Err(error) => Err(error),
            Ok(records) => {
                let story = Story {
                    model: &self.witness.model(),
                    notes: &self.notes.lock().unwrap_or_else(PoisonError::into_inner),
                    seen: &self.world.service.seen(),
                    heard: self.world.ear.as_ref().map(|ear| ear.heard()),
                    records,
                };
                story.check()
            }
        };
        self.world.record.check(checked);
    }

    fn report(&self) -> Result<Summary, Broken> {
        let log = self.world.record.take_lines();
        if let Some(what) = self.world.record.broken() {
            let seed = self.seed;
            return Err(Broken { seed, what, log });
        }
        let model = self.witness.model();
        Ok(Summary {
            log,
            tasks: model.rows.len(),
            changes: model.accepted.iter().filter(|a| a.changes()).count(),
            claims: model.taken.len(),
            calls: self.world.service.seen().len(),
            lasted: self.world.truth.elapsed(),
        })
    }
}
