//! Simulated processes: each runs the real engine and serves the real way in for changes.
//!
//! A process dies by having its task aborted, at whatever await it had reached; nothing of it
//! survives but what it had already sent to the store.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, OnceLock, PoisonError, atomic::AtomicBool},
    time::Duration,
};

use almanack_core::{
    backoff::Backoff,
    bulk::BULK_CHANGE,
    event::outgoing,
    lease::LeasePolicy,
    reschedule::{Receipt, Request},
    share::ShareBy,
    store::{OnceKey, Store},
    task::{Identity, Kind},
    time::CorrectedClock,
};
use almanack_engine::{
    bulk::{BulkHandler, Bulks},
    event_delivery::EventDeliveryHandler,
    handlers::Handlers,
    node::{NodeSettings, Ports, admit},
    pace::Paces,
    reschedule::{Error, Kinds, Rescheduler},
    retention::Retention,
    runner::{RunnerSettings, Shares},
    work::Work,
};
use almanack_testkit::fixture::kind;
use jiff::SignedDuration;
use tokio::{
    sync::{mpsc, oneshot},
    task::{JoinHandle, JoinSet},
};
use tokio_util::sync::CancellationToken;

use super::{
    dice::Dice,
    ear::{self, Ear, Shout},
    faults::{FaultyStore, OnTheWay, Traffic, Weather},
    operators::{Operation, operate},
    record::Record,
    service::{Caller, Service},
    time::{Barrier, NodeClock, NodeSleeper, TrueClock},
};

/// A node's clock is wrong by at most this.
const SKEW_US_MAX: i64 = 3_600_000_000;
/// So few that a bulk change takes many steps.
const STEP_ROWS: usize = 2;
/// The kind of which a node runs only one at a time.
pub(super) const NARROW: &str = "NARROW";

/// What every process shares.
#[derive(Clone)]
pub(super) struct World {
    pub(super) truth: TrueClock,
    pub(super) record: Arc<Record>,
    /// The store, behind the witness.
    pub(super) store: Arc<dyn Store>,
    pub(super) service: Arc<Service>,
    /// Subscribers to what ends, if any.
    pub(super) ear: Option<Arc<Ear>>,
    pub(super) weather: Weather,
    pub(super) drift_ppm: i64,
    pub(super) healed: Arc<AtomicBool>,
    pub(super) connections: Connections,
    pub(super) traffic: Traffic,
    /// Attempts at once on a node.
    pub(super) slots: usize,
    /// Attempts at once of single kinds, in all nodes together.
    pub(super) limits_in_all: BTreeMap<Kind, usize>,
    /// Kinds that workers take.
    pub(super) pulled: BTreeSet<Kind>,
    /// How fast single kinds may start, in all nodes together.
    pub(super) paces: Paces,
}

/// A request on its way into a process.
pub(super) struct Call {
    pub(super) request: ChangeRequest,
    pub(super) origin: String,
    pub(super) key: Option<OnceKey>,
    /// Held for as long as something may still come of it.
    pub(super) on_the_way: OnTheWay,
    /// Dropped unanswered if the process dies.
    pub(super) reply: oneshot::Sender<Reply>,
}

/// What is asked for.
#[derive(Debug, Clone)]
pub(super) enum ChangeRequest {
    Ask(Vec<Request>),
    Retry(Identity),
    Operate(Operation),
}

/// One receipt per request, `None` where there was nothing to withdraw or retry, or where it would
/// have expired; or no idea.
pub(super) type Reply = Result<Vec<Option<Receipt>>, Error>;

/// Where processes can be reached, by slot.
#[derive(Clone, Default)]
pub(super) struct Connections(Arc<Mutex<Vec<Option<Connection>>>>);

/// Where one process can be reached: by those who request changes, and by workers.
#[derive(Clone)]
struct Connection {
    calls: mpsc::UnboundedSender<Call>,
    work: WorkDoor,
    barrier: Arc<Barrier>,
}

/// Open once the node is admitted: before that its clock is not corrected.
type WorkDoor = Arc<OnceLock<Arc<Work>>>;

impl Connections {
    pub(super) fn with_slots(slots: usize) -> Self {
        Self(Arc::new(Mutex::new(vec![None; slots])))
    }

    fn set(&self, slot: usize, connection: Option<Connection>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)[slot] = connection;
    }

    /// What one of the processes has for workers, if it is there, and what freezes it.
    pub(super) fn work(&self, dice: &Dice) -> Option<(Arc<Work>, Arc<Barrier>)> {
        let connections = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = dice.pick(&connections).as_ref()?;
        let work = connection.work.get().cloned()?;
        Some((work, Arc::clone(&connection.barrier)))
    }

    /// Hands a call to one of the processes; whether one was there.
    pub(super) fn knock(&self, dice: &Dice, call: Call) -> bool {
        let connections = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = dice.pick(&connections).as_ref();
        connection.is_some_and(|connection| connection.calls.send(call).is_ok())
    }
}

/// One process, from start to end.
pub(super) struct Process {
    slot: usize,
    name: String,
    world: World,
    handle: JoinHandle<()>,
    stop: CancellationToken,
    barrier: Arc<Barrier>,
    link: Arc<Barrier>,
    clock: Arc<NodeClock>,
    session: Arc<OnceLock<String>>,
}

impl Process {
    pub(super) fn start(world: &World, slot: usize, dice: &Dice) -> Self {
        let name = format!("node-{slot}");
        let barrier = Arc::new(Barrier::new(world.truth));
        let link = Arc::new(Barrier::new(world.truth));
        let skew_us = dice.between(-SKEW_US_MAX, SKEW_US_MAX);
        let drift_ppm = dice.between(-world.drift_ppm, world.drift_ppm);
        let clock = Arc::new(NodeClock::new(world.truth, skew_us, drift_ppm));
        let stop = CancellationToken::new();
        let (sender, calls) = mpsc::unbounded_channel();
        world
            .record
            .note(&name, format_args!("starts, {skew_us} µs ahead"));
        let session = Arc::default();
        let way = FaultyStore {
            below: Arc::clone(&world.store),
            who: name.clone(),
            truth: world.truth,
            barrier: Arc::clone(&barrier),
            link: Arc::clone(&link),
            record: Arc::clone(&world.record),
            dice: dice.fork(),
            weather: world.weather,
            session: Arc::clone(&session),
            traffic: world.traffic.clone(),
            healed: Arc::clone(&world.healed),
        };
        let ports = ports(world, way, &clock, dice);
        let work = WorkDoor::default();
        let connection = Connection {
            calls: sender,
            work: Arc::clone(&work),
            barrier: Arc::clone(&barrier),
        };
        world.connections.set(slot, Some(connection));
        let life = live(
            settings(name.clone(), world),
            ports,
            stop.clone(),
            (calls, work),
            Arc::clone(&world.record),
        );
        Self {
            slot,
            name,
            world: world.clone(),
            handle: tokio::spawn(life),
            stop,
            barrier,
            link,
            clock,
            session,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.handle.is_finished()
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Whether it is frozen or cut off.
    pub(super) fn is_held_up(&self) -> bool {
        self.barrier.is_shut() || self.link.is_shut()
    }

    /// kill -9.
    pub(super) fn crash(self) {
        self.world.record.note(&self.name, "crashes");
        self.world.connections.set(self.slot, None);
        self.handle.abort();
    }

    pub(super) fn stop(&self) {
        self.world.record.note(&self.name, "is asked to stop");
        self.world.connections.set(self.slot, None);
        self.stop.cancel();
    }

    /// SIGSTOP for a while; `suspended` stops the machine and its clock with it.
    pub(super) fn freeze(&self, time: Duration, suspended: bool) {
        let what = format_args!("is frozen for {time:?}, suspended: {suspended}");
        self.world.record.note(&self.name, what);
        self.barrier.shut_for(time);
        if suspended {
            self.clock.suspend(time);
        }
    }

    /// Its way to the store is cut for a while.
    pub(super) fn cut_off(&self, time: Duration) {
        self.world
            .record
            .note(&self.name, format_args!("is cut off for {time:?}"));
        self.link.shut_for(time);
    }

    /// SIGTERM, and waits until it is gone; answers which run it was, if it ever asked for work.
    pub(super) async fn leave(self) -> Option<String> {
        self.stop();
        let _ = self.handle.await;
        self.session.get().cloned()
    }
}

fn ports(world: &World, way: FaultyStore, clock: &Arc<NodeClock>, dice: &Dice) -> Ports {
    let barrier = Arc::clone(&way.barrier);
    let store = way.store();
    let clock = Arc::new(CorrectedClock::new(clock.clone()));
    let handler = Caller {
        service: Arc::clone(&world.service),
        barrier: Arc::clone(&barrier),
        claimed_by: Arc::clone(&barrier),
    };
    let bulks = BulkHandler {
        store: Arc::clone(&store),
        clock: clock.clone(),
        step_rows: STEP_ROWS,
    };
    let mut handlers = Handlers::new(Arc::new(handler)).with(kind(BULK_CHANGE), Arc::new(bulks));
    if let Some(ear) = world.ear.clone() {
        let shout = Shout {
            ear,
            barrier: Arc::clone(&barrier),
        };
        let reporting = EventDeliveryHandler::new(Arc::clone(&store));
        let reporting = reporting.with(ear::NAME, Arc::new(shout));
        handlers = handlers.with(kind(outgoing::KIND), Arc::new(reporting));
    }
    let sleeper = NodeSleeper {
        clock: Arc::clone(&clock),
        barrier,
    };
    Ports {
        store,
        clock,
        sleeper: Arc::new(sleeper),
        entropy: Arc::new(dice.entropy()),
        handlers: handlers.into(),
        subscriptions: ear::subscriptions(world.ear.as_ref()),
    }
}

fn settings(name: String, world: &World) -> NodeSettings {
    let short = SignedDuration::from_secs;
    NodeSettings {
        name,
        version: "simulated".to_owned(),
        lease: LeasePolicy::default(),
        runner: RunnerSettings {
            slots: world.slots,
            claim_max: 4,
            limits: [(kind(NARROW), 1)].into(),
            limits_in_all: world.limits_in_all.clone(),
            pulled: world.pulled.clone(),
            share_by: ShareBy::default(),
            paces: world.paces.clone(),
            shares: Shares {
                leaves_room: true,
                ..Shares::default()
            },
            backoff: Backoff {
                base: short(1),
                cap: short(10),
                retry_after_cap: short(3),
            },
            drain: short(3),
        }
        .into(),
        retention: Retention::Keep,
    }
}

async fn live(
    settings: NodeSettings,
    ports: Ports,
    stop: CancellationToken,
    (calls, door): (mpsc::UnboundedReceiver<Call>, WorkDoor),
    record: Arc<Record>,
) {
    let kinds = Kinds {
        accept_any: true,
        ..Kinds::default()
    };
    let rescheduler = Rescheduler::new(ports.store.clone(), ports.clock.clone(), kinds);
    let bulks = Bulks {
        store: ports.store.clone(),
        clock: ports.clock.clone(),
    };
    let name = settings.name.clone();
    let work = Work::new(ports.clone(), settings.runner.clone());
    match admit(ports, settings).await {
        Err(error) => record.note(&name, format_args!("was not admitted: {error}")),
        Ok(node) => {
            record.note(&name, "is admitted");
            let _ = door.set(work);
            tokio::select! {
                biased;
                () = node.run(stop) => {}
                () = serve(Arc::new((rescheduler, bulks)), calls) => {}
            }
            record.note(&name, "is gone");
        }
    }
}

/// Answers calls, many at a time, for as long as the process lives.
async fn serve(entry: Arc<(Rescheduler, Bulks)>, mut calls: mpsc::UnboundedReceiver<Call>) {
    let mut answering = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            Some(call) = calls.recv() => {
                answering.spawn(answer(Arc::clone(&entry), call));
            }
            Some(_) = answering.join_next() => {}
            else => std::future::pending().await,
        }
    }
}

async fn answer(entry: Arc<(Rescheduler, Bulks)>, call: Call) {
    let (rescheduler, bulks) = &*entry;
    let (origin, _on_the_way) = (&call.origin, call.on_the_way);
    let reply = match (call.request, call.key) {
        (ChangeRequest::Retry(identity), _) => one(rescheduler.retry(&identity, origin).await),
        (ChangeRequest::Operate(operation), _) => {
            operate((rescheduler, bulks), operation, origin).await
        }
        (ChangeRequest::Ask(requests), Some(key)) => {
            match rescheduler.ask_once(key, requests, origin).await {
                Ok(receipts) => Ok(receipts.into_iter().map(Some).collect()),
                Err(Error::NothingThere(_) | Error::Expired(_)) => Ok(vec![None]),
                Err(error) => Err(error),
            }
        }
        (ChangeRequest::Ask(requests), None) => match rescheduler.ask_all(requests, origin).await {
            Ok(answers) => answers.into_iter().map(some).collect(),
            Err(error) => Err(error),
        },
    };
    // A caller that gave up waiting hears nothing.
    let _ = call.reply.send(reply);
}

fn one(answer: Result<Receipt, Error>) -> Reply {
    some(answer).map(|receipt| vec![receipt])
}

fn some(answer: Result<Receipt, Error>) -> Result<Option<Receipt>, Error> {
    match answer {
        Ok(receipt) => Ok(Some(receipt)),
        Err(Error::NothingThere(_) | Error::Expired(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
