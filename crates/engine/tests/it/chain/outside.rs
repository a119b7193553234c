//! Everything a chain touches, in memory and shared by all chains of a test.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{Arc, Mutex},
};

use almanack_core::{
    chain::{ChainEvent, ChainName, Leave, NotSeen, Note, OwnRuns, ROUND_DEFAULT},
    dispatch,
    finish::Outcome,
    lock::{Acquired, Content, Error, LockKey, SlotLock},
    plan::Firing,
    target::{
        Launcher, Target,
        runs::{StartedRun, TargetRuns, with_run},
    },
    task::ClaimedTask,
    time::{Clock, Entropy as _},
};
use almanack_engine::chain::{Chain, Ports, Settings};
use almanack_testkit::entropy::SeededEntropy;
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use tokio::{
    sync::{
        Notify,
        mpsc::{self, UnboundedReceiver, UnboundedSender},
    },
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use crate::virtual_time::VirtualTime;

/// A time of the first day.
pub(super) fn at(time: &str) -> Timestamp {
    format!("2026-01-05T{time}Z").parse().unwrap()
}

/// How a target answers.
#[derive(Debug, Clone, Copy)]
pub(super) enum Answer {
    /// Not at all, and nothing happened.
    Fails,
    /// Not at all, but it was taken.
    TakesSilently,
}

/// A firing that was taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct SlotDispatch {
    pub(super) slot: Timestamp,
    pub(super) at: Timestamp,
}

#[derive(Default)]
struct Inside {
    locks: BTreeSet<LockKey>,
    lock_errors: u32,
    answers: VecDeque<Answer>,
    fired: Vec<SlotDispatch>,
    /// When each run was started, and at what if not by an unknown process; numbered from 1.
    runs: Vec<(Timestamp, Option<Target>)>,
    newest_run_id: u64,
    asked: Vec<(&'static str, Timestamp)>,
    notes: Vec<ChainEvent>,
    healed: bool,
    blind: bool,
}

struct World {
    time: VirtualTime,
    inside: Mutex<Inside>,
    healed: Notify,
}

/// What the chains of one test share.
pub(super) struct Outside {
    world: Arc<World>,
    stop: CancellationToken,
    notes: UnboundedSender<Note>,
    events: Mutex<UnboundedReceiver<Note>>,
}

impl Outside {
    pub(super) fn new() -> Self {
        let world = World {
            time: VirtualTime::start(),
            inside: Mutex::default(),
            healed: Notify::new(),
        };
        let (notes, events) = mpsc::unbounded_channel();
        Self {
            world: Arc::new(world),
            stop: CancellationToken::new(),
            notes,
            events: Mutex::new(events),
        }
    }

    pub(super) fn chain(&self, name: &str, run_id: u64, text: &str) -> JoinHandle<Leave> {
        self.chain_in(ROUND_DEFAULT, name, run_id, text)
    }

    pub(super) fn chain_in(
        &self,
        round: SignedDuration,
        name: &str,
        run_id: u64,
        text: &str,
    ) -> JoinHandle<Leave> {
        let world = &self.world;
        let launcher: Arc<dyn Launcher> = Arc::clone(world) as _;
        let name = ChainName::parse(name).unwrap();
        let entropy = SeededEntropy::new(run_id);
        entropy.next_u64();
        let ports = Ports {
            clock: Arc::new(world.time),
            sleeper: Arc::new(world.time),
            entropy: Arc::new(entropy),
            lock: Arc::clone(world) as _,
            launchers: BTreeMap::from([("workflow", launcher)]),
            own_runs: Arc::clone(world) as _,
            target_runs: Arc::clone(world) as _,
            notes: self.notes.clone(),
        };
        let settings = Settings {
            length: name.length(),
            name,
            run_id,
            round,
        };
        let chain = Chain::new(ports, settings, dispatch::parse(text));
        let stop = self.stop.clone();
        tokio::spawn(async move { chain.run(&stop).await })
    }

    /// Lays down a lock of the first line.
    pub(super) fn lay(&self, text: &str, slot: Timestamp) {
        let definition = dispatch::parse(text).lines.remove(0).definition;
        let content = Content::of(&definition.expression, &definition.tz, &definition.target);
        self.inside(|inside| inside.locks.insert(LockKey::new(content, slot)));
    }

    fn inside<T>(&self, with: impl FnOnce(&mut Inside) -> T) -> T {
        with(&mut self.world.inside.lock().unwrap())
    }

    pub(super) fn pretend_run(&self, at: Timestamp) {
        self.inside(|inside| inside.runs.push((at, None)));
    }

    pub(super) fn break_locks(&self, times: u32) {
        self.inside(|inside| inside.lock_errors = times);
    }

    pub(super) fn answer(&self, answers: impl IntoIterator<Item = Answer>) {
        self.inside(|inside| inside.answers = answers.into_iter().collect());
    }

    pub(super) fn newest_run(&self, id: u64) {
        self.inside(|inside| inside.newest_run_id = id);
    }

    /// Whether every look fails at once.
    pub(super) fn blind(&self, blind: bool) {
        self.inside(|inside| inside.blind = blind);
    }

    /// What hung hangs no longer.
    pub(super) fn heal(&self) {
        self.inside(|inside| inside.healed = true);
        self.world.healed.notify_waiters();
    }

    pub(super) fn stop(&self) {
        self.stop.cancel();
    }

    pub(super) fn now(&self) -> Timestamp {
        self.world.time.now()
    }

    pub(super) fn fired(&self) -> Vec<SlotDispatch> {
        self.inside(|inside| inside.fired.clone())
    }

    /// The slots fired, in order.
    pub(super) fn slots(&self) -> Vec<Timestamp> {
        let mut slots: Vec<Timestamp> = self
            .fired()
            .iter()
            .map(|slot_dispatch| slot_dispatch.slot)
            .collect();
        slots.sort_unstable();
        slots
    }

    /// How many locks and marks there are.
    pub(super) fn locks(&self) -> usize {
        self.inside(|inside| inside.locks.len())
    }

    pub(super) fn asked(&self) -> Vec<(&'static str, Timestamp)> {
        self.inside(|inside| inside.asked.clone())
    }

    /// Everything events so far.
    pub(super) fn notes(&self) -> Vec<ChainEvent> {
        let mut events = self.events.lock().unwrap();
        self.inside(|inside| {
            while let Ok(note) = events.try_recv() {
                inside.notes.push(note.said);
            }
            inside.notes.clone()
        })
    }

    pub(super) fn count(&self, is: impl Fn(&ChainEvent) -> bool) -> usize {
        self.notes().iter().filter(|said| is(said)).count()
    }

    pub(super) fn notes_named(&self, name: &str) -> usize {
        self.count(|said| said.name() == name)
    }
}

impl World {
    fn with<T>(&self, with: impl FnOnce(&mut Inside) -> T) -> T {
        with(&mut self.inside.lock().unwrap())
    }

    /// Starts a run; answers its number.
    fn take(&self, firing: &Firing) -> u64 {
        let (at, slot) = (self.time.now(), firing.nominal_at);
        self.with(|inside| {
            inside.fired.push(SlotDispatch { slot, at });
            inside.runs.push((at, Some(firing.target.clone())));
            inside.runs.len() as u64
        })
    }
}

#[async_trait]
impl SlotLock for World {
    async fn acquire(&self, key: &LockKey) -> Result<Acquired, Error> {
        self.with(|inside| {
            if inside.lock_errors > 0 {
                inside.lock_errors -= 1;
                return Err(Error::unavailable("out of order"));
            }
            let new = inside.locks.insert(*key);
            Ok(if new { Acquired::Won } else { Acquired::Lost })
        })
    }

    async fn list(&self) -> Result<Vec<LockKey>, Error> {
        let now = self.time.now();
        self.with(|inside| {
            inside.asked.push(("locks", now));
            if inside.blind {
                return Err(Error::unavailable("HTTP 502"));
            }
            Ok(inside.locks.iter().copied().collect())
        })
    }

    async fn clean(&self, expired: &[LockKey]) -> Result<(), Error> {
        self.with(|inside| inside.locks.retain(|key| !expired.contains(key)));
        Ok(())
    }
}

#[async_trait]
impl Launcher for World {
    async fn fire(&self, firing: &Firing, _: &ClaimedTask) -> Outcome {
        let hangs = serde_json::to_string(&firing.target)
            .unwrap()
            .contains("hangs");
        while hangs && !self.with(|inside| inside.healed) {
            self.healed.notified().await;
        }
        let answer = self.with(|inside| inside.answers.pop_front());
        let failed = Outcome::Retry {
            error: "no answer".to_owned(),
            retry_after: None,
        };
        match answer {
            Some(Answer::Fails) => failed,
            Some(Answer::TakesSilently) => {
                self.take(firing);
                failed
            }
            None => {
                let run = self.take(firing);
                let detail = Some(with_run("taken", Some(run)));
                Outcome::Done { detail }
            }
        }
    }
}

#[async_trait]
impl OwnRuns for World {
    async fn load_newest(&self) -> Result<Option<u64>, NotSeen> {
        let now = self.time.now();
        Ok(self.with(|inside| {
            inside.asked.push(("runs", now));
            Some(inside.newest_run_id)
        }))
    }
}

#[async_trait]
impl TargetRuns for World {
    async fn list_started(
        &self,
        target: &Target,
        from: Timestamp,
    ) -> Result<Vec<StartedRun>, NotSeen> {
        let runs = self.with(|inside| inside.runs.clone());
        let numbered = (1..).zip(runs).filter(|(_, (at, theirs))| {
            let shared = theirs.as_ref().is_none_or(|it| target.shares_runs_with(it));
            *at >= from && shared
        });
        Ok(numbered
            .map(|(id, (created_at, _))| StartedRun { id, created_at })
            .collect())
    }
}
