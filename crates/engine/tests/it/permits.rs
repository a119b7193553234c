//! How many attempts of a kind run at once in all nodes together.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use almanack_core::{
    finish::Outcome,
    handler::Handler,
    lease::LeasePolicy,
    reschedule::Request,
    store::{Error, PermitGrant, PermitRequest, Result, Store, TaskFilter, TaskStore, Visitor},
    task::{ClaimedTask, Status},
    time::{Clock, CorrectedClock},
};
use almanack_engine::{
    handlers::Handlers,
    node::{self, NodeSettings, Ports},
    reloadable::Reloadable,
    reschedule::{Kinds, Rescheduler},
    retention::Retention,
    runner::RunnerSettings,
};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::{
    entropy::SeededEntropy,
    fixture::{PUBLISH, kind, put},
    layer::{Layer, Layered},
};
use async_trait::async_trait;
use jiff::SignedDuration;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::virtual_time::{VirtualTime, pause};

/// Takes its time, and counts how many are at it.
struct Counting {
    takes: Duration,
    now: AtomicUsize,
    most: AtomicUsize,
}

struct AtIt<'a>(&'a Counting);

impl Drop for AtIt<'_> {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::Relaxed);
    }
}

#[async_trait]
impl Handler for Counting {
    async fn attempt(&self, _: &ClaimedTask) -> Outcome {
        let at_it = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        let _at_it = AtIt(self);
        self.most.fetch_max(at_it, Ordering::Relaxed);
        pause(self.takes).await;
        Outcome::Done { detail: None }
    }
}

/// Nodes on one store, which together run two attempts at most.
struct House {
    store: Arc<SqliteStore>,
    time: VirtualTime,
    handler: Arc<Counting>,
}

impl House {
    async fn with_tasks(takes: Duration, tasks: usize) -> Self {
        let house = Self {
            store: Arc::new(SqliteStore::in_memory().unwrap()),
            time: VirtualTime::start(),
            handler: Arc::new(Counting {
                takes,
                now: AtomicUsize::new(0),
                most: AtomicUsize::new(0),
            }),
        };
        let kinds = Kinds {
            accept_any: true,
            ..Kinds::default()
        };
        let store: Arc<dyn Store> = house.store.clone();
        let rescheduler = Rescheduler::new(store, Arc::new(house.time), kinds);
        for number in 0..tasks {
            let request = put(&format!("article:{number}"), PUBLISH, house.time.now());
            rescheduler
                .ask(Request::Put(request), "test")
                .await
                .unwrap();
        }
        house
    }

    async fn start(&self, number: u64, slots: usize) -> (JoinHandle<()>, CancellationToken) {
        self.start_on(self.store.clone(), number, slots).await
    }

    async fn start_on(
        &self,
        store: Arc<dyn Store>,
        number: u64,
        slots: usize,
    ) -> (JoinHandle<()>, CancellationToken) {
        let ports = Ports {
            store,
            clock: Arc::new(CorrectedClock::new(Arc::new(self.time))),
            sleeper: Arc::new(self.time),
            entropy: Arc::new(SeededEntropy::new(number)),
            handlers: Handlers::new(self.handler.clone()).into(),
            subscriptions: Reloadable::default(),
        };
        let settings = NodeSettings {
            name: format!("node-{number}"),
            version: "test".to_owned(),
            lease: LeasePolicy::default(),
            runner: RunnerSettings {
                slots,
                limits_in_all: [(kind(PUBLISH), 2)].into(),
                drain: SignedDuration::ZERO,
                ..RunnerSettings::default()
            }
            .into(),
            retention: Retention::Keep,
        };
        let node = node::admit(ports, settings).await.unwrap();
        let stop = CancellationToken::new();
        (tokio::spawn(node.run(stop.clone())), stop)
    }

    async fn done(&self) -> usize {
        let filter = TaskFilter {
            status: Some(Status::Success),
            limit: 1_000,
            ..TaskFilter::default()
        };
        self.store.list_tasks(&filter).await.unwrap().rows.len()
    }

    fn most(&self) -> usize {
        self.handler.most.load(Ordering::Relaxed)
    }
}

#[tokio::test(start_paused = true)]
async fn three_nodes_together_keep_to_the_limit_and_use_it() {
    let house = House::with_tasks(Duration::from_secs(10), 12).await;
    for number in 0..3 {
        house.start(number, 8).await;
    }
    // Twelve tasks, two at a time, ten seconds each; a second more for a node that learns late of a
    // free permit.
    pause(Duration::from_secs(66)).await;
    assert_eq!((house.done().await, house.most()), (12, 2));
}

/// The heartbeat keeps permits: a node that is too full to claim says nothing else.
#[tokio::test(start_paused = true)]
async fn attempts_longer_than_the_lease_keep_their_places() {
    let house = House::with_tasks(Duration::from_secs(100), 3).await;
    house.start(0, 2).await;
    pause(Duration::from_secs(1)).await;
    house.start(1, 2).await;
    pause(Duration::from_secs(90)).await;
    assert_eq!(house.most(), 2);
    pause(Duration::from_secs(115)).await;
    assert_eq!((house.done().await, house.most()), (3, 2));
}

#[tokio::test(start_paused = true)]
async fn places_of_a_dead_node_pass_on_with_its_lease_and_those_of_a_stopped_one_at_once() {
    let house = House::with_tasks(Duration::from_secs(5), 4).await;
    let (dying, _) = house.start(0, 2).await;
    pause(Duration::from_secs(1)).await;
    dying.abort();
    let (stopping, stop) = house.start(1, 2).await;
    pause(Duration::from_secs(29)).await;
    assert_eq!(house.done().await, 0, "its lease has not passed");
    pause(Duration::from_secs(4)).await;
    stop.cancel();
    stopping.await.unwrap();
    house.start(2, 2).await;
    pause(Duration::from_secs(12)).await;
    assert_eq!((house.done().await, house.most()), (4, 2));
}

/// Everything is answered, but requests for permits get no answer once they are away.
#[derive(Clone, Default)]
struct PermitsAway(Arc<AtomicBool>);

#[async_trait]
impl Layer for PermitsAway {
    async fn request_permits(
        &self,
        below: &dyn Store,
        visitor: &Visitor,
        asks: &[PermitRequest],
    ) -> Result<Vec<PermitGrant>> {
        if self.0.load(Ordering::Relaxed) {
            let (statement, source) = ("request permits", "test".into());
            return Err(Error::Unavailable { statement, source });
        }
        below.request_permits(visitor, asks).await
    }
}

/// Its claims could be kept, but an attempt whose permit cannot be must have ended before the
/// permit passes on.
#[tokio::test(start_paused = true)]
async fn a_node_that_cannot_keep_its_places_stops_before_they_pass_on() {
    let house = House::with_tasks(Duration::from_secs(100), 3).await;
    let away = PermitsAway::default();
    let store = Layered::over(house.store.clone(), away.clone());
    house.start_on(store, 0, 2).await;
    pause(Duration::from_secs(1)).await;
    house.start(1, 2).await;
    pause(Duration::from_secs(9)).await;
    away.0.store(true, Ordering::Relaxed);
    pause(Duration::from_secs(50)).await;
    let at_it = house.handler.now.load(Ordering::Relaxed);
    assert_eq!((at_it, house.most()), (2, 2), "the other node has both");
}
