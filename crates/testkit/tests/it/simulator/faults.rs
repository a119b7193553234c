//! The way between a node and its store, where things go wrong.
//!
//! Every call takes a seeded while there and back, so that nodes interleave at every call. It may
//! be refused before anything happens, its reply may be lost after everything happened, and it may
//! take longer than a lease; a node may be cut off for a while, and everything it sends hangs. A
//! call that is on its way may even arrive after the node that sent it died.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use almanack_core::{
    store::{ClaimRequest, Claimed, Error, Nudges, Result, Store},
    work::SESSION,
};
use almanack_testkit::layer::{Answer, Layer, Layered, StoreCall};
use async_trait::async_trait;
use jiff::Timestamp;

use super::{
    dice::Dice,
    record::Record,
    time::{Barrier, TrueClock, pass},
};

/// A call that takes longer is worth a line in the log.
const NOTEWORTHY: Duration = Duration::from_secs(5);

/// How likely each trouble is, per thousand. Every seed draws its own: many bugs need one trouble
/// often and another not at all.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Weather {
    refused: u64,
    reply_lost: u64,
    slow: u64,
    stuck: u64,
    /// How long a stuck call takes at most.
    stuck_ms: u64,
    outlives: u64,
    hint_lost: u64,
}

impl Weather {
    pub(super) fn draw(dice: &Dice) -> Self {
        let rate = |most: u64| if dice.hits(300) { 0 } else { dice.below(most) };
        Self {
            refused: rate(60),
            reply_lost: rate(60),
            slow: rate(100),
            stuck: rate(30),
            stuck_ms: 70_000,
            outlives: rate(500),
            hint_lost: rate(500),
        }
    }

    /// For months instead of minutes: whatever takes long is logged as a freeze, so that
    /// it can be held against what came of it, and there is no poll that would make up for a lost
    /// hint.
    pub(super) fn draw_steady(dice: &Dice) -> Self {
        Self {
            slow: dice.below(20),
            stuck: 0,
            hint_lost: 0,
            ..Self::draw(dice)
        }
    }

    /// For people's days: rarely, and then an answer may come when the lease it is about has
    /// passed.
    pub(super) fn draw_quiet(dice: &Dice) -> Self {
        let rate = |most: u64| if dice.hits(300) { 0 } else { dice.below(most) };
        Self {
            refused: rate(12),
            reply_lost: rate(12),
            slow: rate(20),
            stuck: rate(4),
            stuck_ms: 400_000,
            outlives: rate(300),
            hint_lost: 0,
        }
    }
}

/// One node's way to the store.
pub(super) struct FaultyStore {
    pub(super) below: Arc<dyn Store>,
    pub(super) who: String,
    pub(super) truth: TrueClock,
    pub(super) barrier: Arc<Barrier>,
    /// Shut while the node is cut off: calls and replies hang until it is back.
    pub(super) link: Arc<Barrier>,
    pub(super) record: Arc<Record>,
    pub(super) dice: Dice,
    pub(super) weather: Weather,
    /// Which run of the node this is, once it has asked for work.
    pub(super) session: Arc<OnceLock<String>>,
    pub(super) traffic: Traffic,
    /// Set when the faults stop.
    pub(super) healed: Arc<AtomicBool>,
}

/// Counts what is still on its way: a world is not at rest while something may yet arrive.
#[derive(Clone, Default)]
pub(super) struct Traffic(Arc<AtomicUsize>);

/// On its way until dropped.
pub(super) struct OnTheWay(Arc<AtomicUsize>);

impl Traffic {
    pub(super) fn enter(&self) -> OnTheWay {
        self.0.fetch_add(1, Ordering::Relaxed);
        OnTheWay(Arc::clone(&self.0))
    }

    pub(super) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for OnTheWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What will befall one call.
struct InjectedFault {
    there: Duration,
    back: Duration,
    end: End,
    /// Whether it arrives although its sender is gone.
    outlives: bool,
    /// Whether the connection is dead once the node is no longer cut off.
    breaks: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Answered,
    Refused,
    ReplyLost,
}

impl FaultyStore {
    /// The store at the end of this way.
    pub(super) fn store(self) -> Arc<dyn Store> {
        Layered::over(Arc::clone(&self.below), self)
    }

    async fn call<T: Send + 'static>(
        &self,
        name: &'static str,
        work: impl FnOnce(Arc<dyn Store>) -> Answer<'static, T> + Send + 'static,
    ) -> Result<T> {
        let _awaited = self.traffic.enter();
        let injected_fault = self.draw();
        if injected_fault.there + injected_fault.back > NOTEWORTHY {
            let (there, back) = (injected_fault.there, injected_fault.back);
            self.record.note(
                &self.who,
                format_args!("{name}: {there:?} there, {back:?} back"),
            );
        }
        self.barrier.passed().await;
        let cut_off = self.link.is_shut();
        self.link.passed().await;
        if injected_fault.end == End::Refused || (cut_off && injected_fault.breaks) {
            pass(injected_fault.there).await;
            self.record.note(&self.who, format_args!("{name}: refused"));
            return Err(unavailable(name));
        }
        let below = Arc::clone(&self.below);
        let on_the_way = self.traffic.enter();
        let sent = async move {
            let _on_the_way = on_the_way;
            pass(injected_fault.there).await;
            work(below).await
        };
        let answer = if injected_fault.outlives {
            // Dropping the handle does not stop the task: the call arrives without its sender.
            let arrived = tokio::spawn(sent).await;
            arrived.unwrap_or_else(|_| Err(unavailable(name)))
        } else {
            sent.await
        };
        pass(injected_fault.back).await;
        self.link.passed().await;
        self.barrier.passed().await;
        if injected_fault.end == End::ReplyLost {
            let lost = format_args!("{name}: reply lost");
            self.record.note(&self.who, lost);
            return Err(unavailable(name));
        }
        answer
    }

    fn draw(&self) -> InjectedFault {
        let (dice, weather) = (&self.dice, self.weather());
        let mut injected_fault = InjectedFault {
            there: dice.millis(0, 3),
            back: dice.millis(0, 3),
            end: match (dice.hits(weather.refused), dice.hits(weather.reply_lost)) {
                (true, _) => End::Refused,
                (false, true) => End::ReplyLost,
                (false, false) => End::Answered,
            },
            outlives: dice.hits(weather.outlives),
            breaks: dice.hits(500),
        };
        let long = if dice.hits(weather.stuck) {
            dice.millis(20_000, weather.stuck_ms)
        } else if dice.hits(weather.slow) {
            dice.millis(20, 3_000)
        } else {
            return injected_fault;
        };
        if dice.hits(500) {
            injected_fault.there = long;
        } else {
            injected_fault.back = long;
        }
        injected_fault
    }

    fn weather(&self) -> Weather {
        if self.healed.load(Ordering::Relaxed) {
            Weather::default()
        } else {
            self.weather
        }
    }
}

fn unavailable(statement: &'static str) -> Error {
    Error::Unavailable {
        statement,
        source: "simulated".into(),
    }
}

/// What only people and checkers ask for arrives untouched: no one in the simulation signs in or
/// looks at a page.
const UNTOUCHED_PORTS: [&str; 4] = ["TokenStore", "SignInStore", "OverviewStore", "AlertStore"];
const UNTOUCHED: [&str; 15] = [
    "load_task",
    "list_tasks",
    "load_history",
    "load_decisions",
    "load_waiting_kinds",
    "load_depths",
    "prune_keys",
    "load_slots",
    "load_edits",
    "load_decided_ahead",
    "list_sources",
    "list_entries",
    "count_sources",
    "prune_permits",
    "prune_buckets",
];

#[async_trait]
impl Layer for FaultyStore {
    async fn around<T: Send + 'static>(&self, below: &dyn Store, call: StoreCall<T>) -> Result<T> {
        let (port, method) = (call.port, call.method);
        if UNTOUCHED_PORTS.contains(&port) || UNTOUCHED.contains(&method) {
            return call.on(below).await;
        }
        self.call(method, |store| {
            Box::pin(async move { call.on(&*store).await })
        })
        .await
    }
    async fn claim(&self, _: &dyn Store, request: ClaimRequest) -> Result<Claimed> {
        // What workers take is theirs, whichever node they ask.
        if request.session != SESSION {
            let _ = self.session.set(request.session.clone());
        }
        self.call("claim", |store| {
            Box::pin(async move { store.claim(request).await })
        })
        .await
    }
    fn nudges(&self, below: &dyn Store) -> Box<dyn Nudges> {
        Box::new(FaultyNudges {
            below: below.nudges(),
            barrier: Arc::clone(&self.barrier),
            dice: self.dice.fork(),
            lost: self.weather().hint_lost,
        })
    }
    /// The database's clock is the true one; the answer is as old as its way back.
    async fn database_time(&self, _: &dyn Store) -> Result<Option<Timestamp>> {
        let truth = self.truth;
        self.call("database_time", move |_| {
            Box::pin(async move { Ok(Some(truth.now())) })
        })
        .await
    }
}

/// Hints that may get lost: a node must not depend on one.
struct FaultyNudges {
    below: Box<dyn Nudges>,
    barrier: Arc<Barrier>,
    dice: Dice,
    lost: u64,
}

#[async_trait]
impl Nudges for FaultyNudges {
    async fn next(&mut self) -> Timestamp {
        loop {
            let hint = self.below.next().await;
            self.barrier.passed().await;
            if !self.dice.hits(self.lost) {
                return hint;
            }
        }
    }
}
