//! Measures the task engine alone.
//!
//! Each phase starts from a store and returns one [`Measured`]. `almanack bench tasks` runs them
//! all on scratch stores; `almanack bench phase` runs one on the given store, to compare Almanack
//! with other systems measured the same way.

mod inbox;
mod lateness;
mod long_poll;
mod moves;
mod pull;
mod readers;
mod schedules;
mod sources;
mod throughput;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use almanack_core::{
    event::outgoing::{
        self, Batch, BatchOutcome, CloudEvent, EventPublisher, Mode, Name, Subscription,
        Subscriptions, Wants,
    },
    finish::Outcome,
    handler::Handler,
    lease::LeasePolicy,
    reschedule::{Put, Request},
    store::{self, Store},
    task::{ClaimedTask, Identity, Invalid, Kind, Subject},
    time::{Clock, CorrectedClock, to_micros},
};
use almanack_engine::{
    event_delivery::EventDeliveryHandler,
    handlers::Handlers,
    node::{self, AdmittedNode, NodeSettings, Ports},
    reschedule::{self, Kinds, Rescheduler},
    retention::Retention,
    runner::RunnerSettings,
};
use almanack_lab::figures::memory_kb;
use async_trait::async_trait;
use jiff::Timestamp;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::{args::LoadArguments, wiring};

pub(crate) use inbox::inbox;
pub(crate) use lateness::lateness;
pub(crate) use long_poll::long_poll;
pub(crate) use moves::moves;
pub(crate) use pull::pull;
pub(crate) use readers::{KIND as READERS_KIND, ReaderFigures, readers};
pub(crate) use schedules::{ScheduleFigures, schedules};
pub(crate) use sources::{PhaseFigures, Places, SourceFigures, StoreFigures, sources};
pub(crate) use throughput::{drain, enqueue, prune};

/// The kind of every measured task.
pub(crate) const KIND: &str = "BENCH";

/// The result of a phase.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Measured {
    pub(crate) n: usize,
    /// Duration; absent where the instants themselves are the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seconds: Option<f64>,
    #[serde(flatten)]
    pub(crate) memory: Memory,
    /// Start minus due, per task; or answer minus commit, per request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) late_ms: Option<Vec<f64>>,
    /// The settings, in words.
    pub(crate) how: String,
}

/// Memory of this process, where the system reports it.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Memory {
    /// What is resident.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rss_kb: Option<u64>,
    /// What of it is not pages of files. Those of the program itself are most of the rest, and how
    /// many of them are resident is up to the system: it reads ahead, and can drop them.
    #[serde(skip_serializing_if = "Option::is_none")]
    own_kb: Option<u64>,
}

impl Memory {
    fn now() -> Self {
        let [rss_kb, own_kb] = ["VmRSS:", "RssAnon:"].map(|line| memory_kb("self", line));
        Self { rss_kb, own_kb }
    }
}

/// Why a measurement stopped.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A change was refused.
    #[error(transparent)]
    Refused(#[from] reschedule::Error),
    /// The node did not start.
    #[error(transparent)]
    Node(#[from] node::Error),
    /// A generated value is invalid.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// An expectation failed.
    #[error("{0}")]
    Wrong(String),
}

type Result<T, E = Error> = std::result::Result<T, E>;

/// A store under measurement.
pub(crate) struct Bench {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) load: LoadArguments,
    clock: Arc<CorrectedClock>,
    /// The same database over separate connections, for further nodes.
    others: Vec<Arc<dyn Store>>,
}

impl Bench {
    pub(crate) async fn new(store: Arc<dyn Store>, load: LoadArguments) -> Result<Self> {
        let clock = wiring::node_clock(store.as_ref()).await?;
        Ok(Self {
            store,
            load,
            clock,
            others: Vec::new(),
        })
    }

    /// Drains with one more node per store.
    #[must_use]
    pub(crate) fn beside(mut self, others: Vec<Arc<dyn Store>>) -> Self {
        self.others = others;
        self
    }

    /// Subscriptions to every finished task; delivery costs everything but the call.
    fn subscribed(&self) -> Subscriptions {
        let names = (0..self.load.subscriptions).map(|n| Name::parse(&format!("bench-{n}")));
        let all = names.flatten().map(|name| Subscription {
            name,
            wants: Wants::default(),
            batch: self.load.events_per_delivery,
        });
        Subscriptions {
            source: "/bench".to_owned(),
            all: all.collect(),
        }
    }

    fn rescheduler(&self) -> Arc<Rescheduler> {
        Arc::new(rescheduler(&self.store, self.clock.clone()))
    }

    /// All nodes, which share `slots` evenly.
    async fn start_nodes(&self, handler: &Arc<Counting>, slots: usize) -> Result<Vec<RunningNode>> {
        let each = (slots / (1 + self.others.len())).max(2);
        let mut nodes = Vec::new();
        for store in std::iter::once(&self.store).chain(&self.others) {
            let name = format!("bench-{}", nodes.len());
            let handlers = self.handlers(store, handler)?;
            nodes.push(self.start_on(store, &name, handlers, each).await?);
        }
        Ok(nodes)
    }

    fn handlers(&self, store: &Arc<dyn Store>, handler: &Arc<Counting>) -> Result<Handlers> {
        let mut deliveries = EventDeliveryHandler::new(Arc::clone(store));
        for subscription in self.subscribed().all {
            deliveries = deliveries.with(subscription.name.as_str(), handler.clone());
        }
        let kind = Kind::parse(outgoing::KIND)?;
        Ok(Handlers::new(handler.clone()).with(kind, Arc::new(deliveries)))
    }

    /// A node that claims as much as it can.
    async fn start_on(
        &self,
        store: &Arc<dyn Store>,
        name: &str,
        handlers: Handlers,
        slots: usize,
    ) -> Result<RunningNode> {
        let clock = wiring::node_clock(store.as_ref()).await?;
        let runner = RunnerSettings {
            slots,
            claim_max: slots / 2,
            ..RunnerSettings::default()
        };
        let settings = NodeSettings {
            name: name.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            lease: LeasePolicy::default(),
            runner: runner.into(),
            retention: Retention::Keep,
        };
        let ports = Ports {
            store: Arc::clone(store),
            clock: Arc::clone(&clock),
            sleeper: wiring::sleeper(Arc::clone(&clock) as Arc<dyn Clock>),
            entropy: wiring::entropy(),
            handlers: handlers.into(),
            subscriptions: self.subscribed().into(),
        };
        Ok(RunningNode::start(node::admit(ports, settings).await?))
    }
}

/// A node that runs until it is stopped.
struct RunningNode {
    stop: CancellationToken,
    task: tokio::task::JoinHandle<()>,
}

impl RunningNode {
    fn start(node: AdmittedNode) -> Self {
        let stop = CancellationToken::new();
        let task = tokio::spawn(node.run(stop.clone()));
        Self { stop, task }
    }

    async fn stop(self) -> Result<()> {
        self.stop.cancel();
        self.task.await.map_err(wrong)
    }
}

/// Does nothing, and counts the tasks and events.
#[derive(Default)]
struct Counting(AtomicUsize);

impl Counting {
    fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl Handler for Counting {
    async fn attempt(&self, _: &ClaimedTask) -> Outcome {
        self.0.fetch_add(1, Ordering::Relaxed);
        Outcome::Done { detail: None }
    }
}

/// A subscriber on the spot: events are read and written as for any other, and counted.
#[async_trait]
impl EventPublisher for Counting {
    async fn publish(&self, event: &CloudEvent) -> Outcome {
        let sent = event.written(Mode::Structured);
        self.0
            .fetch_add(usize::from(sent.is_ok()), Ordering::Relaxed);
        Outcome::Done { detail: None }
    }

    async fn publish_batch(&self, batch: &Batch<'_>) -> BatchOutcome {
        let sent = !batch.written().body.is_empty();
        let events = batch.count() * usize::from(sent);
        self.0.fetch_add(events, Ordering::Relaxed);
        BatchOutcome::Whole(Outcome::Done { detail: None })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` passes on")]
fn wrong(what: impl ToString) -> Error {
    Error::Wrong(what.to_string())
}

/// Accepts every kind.
fn rescheduler(store: &Arc<dyn Store>, clock: Arc<dyn Clock>) -> Rescheduler {
    let kinds = Kinds {
        accept_any: true,
        ..Kinds::default()
    };
    Rescheduler::new(Arc::clone(store), clock, kinds)
}

fn request(subject: &str, execute_at: Timestamp) -> Result<Request, Invalid> {
    Ok(Request::Put(Put::at(identity(subject, KIND)?, execute_at)))
}

fn identity(subject: &str, kind: &str) -> Result<Identity, Invalid> {
    Ok(Identity {
        subject: Subject::parse(subject)?,
        kind: Kind::parse(kind)?,
    })
}

/// Distinct instants of `count` tasks, from `first` on.
fn instants(first: Timestamp, spread: Duration, count: usize) -> impl Iterator<Item = Timestamp> {
    let count = u32::try_from(count).unwrap_or(u32::MAX).max(1);
    let at = move |n| first.saturating_add(spread / count * n).unwrap_or(first);
    (0..count).map(move |n| to_micros(at(n)))
}

fn later(clock: &dyn Clock, by: Duration) -> Timestamp {
    clock.now().saturating_add(by).unwrap_or(Timestamp::MAX)
}
