//! Several processes on one store: each has its own paces, backed by the same rows.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use almanack_core::{
    host_pace::shared::{SharedLimit, settle},
    store,
};
use async_trait::async_trait;
use tokio::sync::Semaphore;

use super::{
    super::{Enter, HostPaces},
    *,
};

/// A store in memory that decides as stores must, and can be away or slow.
struct Rows {
    limits: Mutex<BTreeMap<String, SharedLimit>>,
    away: AtomicBool,
    /// Calls that may be answered.
    open: Semaphore,
}

#[async_trait]
impl PermitStore for Rows {
    async fn request_permits(
        &self,
        visitor: &Visitor,
        asks: &[PermitRequest],
    ) -> store::Result<Vec<PermitGrant>> {
        if self.away.load(Ordering::Relaxed) {
            return Err(store::Error::Unavailable {
                statement: "request permits",
                source: "test".into(),
            });
        }
        let answers = {
            let mut limits = self.limits.lock().unwrap();
            let answers = asks.iter().map(|ask| {
                let limit = limits.entry(ask.limit.clone()).or_default();
                settle(limit, visitor, ask)
            });
            answers.collect()
        };
        self.open.acquire().await.unwrap().forget();
        Ok(answers)
    }

    async fn prune_permits(&self, _: Timestamp, _: Timestamp) -> store::Result<usize> {
        Ok(0)
    }
}

/// Advances only when the test moves it.
struct Hand(Mutex<Timestamp>);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

#[async_trait]
impl Sleeper for Hand {
    async fn until(&self, _: Timestamp) {
        std::future::pending::<()>().await;
    }
}

struct House {
    rows: Arc<Rows>,
    hand: Arc<Hand>,
}

impl House {
    fn new() -> Self {
        let start = Timestamp::from_second(1_767_600_000).unwrap();
        let rows = Rows {
            limits: Mutex::default(),
            away: AtomicBool::new(false),
            open: Semaphore::new(1_000),
        };
        Self {
            rows: Arc::new(rows),
            hand: Arc::new(Hand(Mutex::new(start))),
        }
    }

    fn process(&self, visitor: &str) -> HostPaces {
        let sharing = Sharing {
            store: Arc::clone(&self.rows) as Arc<dyn PermitStore>,
            clock: Arc::clone(&self.hand) as Arc<dyn Clock>,
            sleeper: Arc::clone(&self.hand) as Arc<dyn Sleeper>,
            lease: LeasePolicy::default(),
            visitor: visitor.to_owned(),
        };
        HostPaces::sharing(Pace::default(), sharing)
    }

    fn now(&self) -> Timestamp {
        self.hand.now()
    }

    fn pass(&self, seconds: i64) {
        *self.hand.0.lock().unwrap() += SignedDuration::from_secs(seconds);
    }

    /// Waits until the store believes that so many are inside.
    async fn until_inside(&self, permits: usize) {
        loop {
            let inside: usize = {
                let limits = self.rows.limits.lock().unwrap();
                let stays = limits.values().flat_map(|limit| limit.visitors.values());
                stays.map(|stay| stay.permits).sum()
            };
            if inside == permits {
                return;
            }
            tokio::task::yield_now().await;
        }
    }
}

fn turn(entered: &Enter) -> Timestamp {
    match entered {
        Enter::At(turn) => *turn,
        Enter::Now(_) => panic!("the visit was allowed"),
    }
}

#[tokio::test]
async fn ss_14_one_host_is_asked_by_one_process_at_a_time_and_in_one_pace() {
    let house = House::new();
    let (a, b) = (house.process("a"), house.process("b"));
    let inside = a.enter("x.test", house.now()).await;
    assert!(matches!(inside, Enter::Now(_)));
    assert!(turn(&b.enter("x.test", house.now()).await) >= house.now() + Pace::default().gap());
    assert!(
        matches!(b.enter("y.test", house.now()).await, Enter::Now(_)),
        "another host"
    );

    house.pass(10);
    assert!(
        turn(&b.enter("x.test", house.now()).await) > house.now(),
        "a is inside"
    );
    drop(inside);
    house.until_inside(0).await;
    house.pass(10);
    let inside = b.enter("x.test", house.now()).await;
    assert!(matches!(inside, Enter::Now(_)), "a has left");
    drop(inside);
    house.until_inside(0).await;
    let next = turn(&a.enter("x.test", house.now()).await);
    assert_eq!(
        next,
        house.now() + Pace::default().gap(),
        "b has just asked"
    );
}

#[tokio::test]
async fn ss_14_a_request_to_be_left_alone_reaches_every_process() {
    let house = House::new();
    let (a, b) = (house.process("a"), house.process("b"));
    let until = house.now() + SignedDuration::from_mins(5);
    a.hold("x.test", until, house.now());
    // The keeper takes messages in order: once this one is answered, the hold has been stored.
    drop(a.enter("y.test", house.now()).await);
    assert_eq!(turn(&b.enter("x.test", house.now()).await), until);
}

#[tokio::test]
async fn no_visit_starts_while_the_database_is_away() {
    let house = House::new();
    let a = house.process("a");
    house.rows.away.store(true, Ordering::Relaxed);
    let again = turn(&a.enter("x.test", house.now()).await);
    assert_eq!(again, house.now() + super::super::AWAY_WAIT);
    house.rows.away.store(false, Ordering::Relaxed);
    house.pass(5);
    assert!(matches!(
        a.enter("x.test", house.now()).await,
        Enter::Now(_)
    ));
}

#[tokio::test]
async fn a_visit_cancelled_before_the_answer_leaves_its_permit_to_others() {
    let house = House::new();
    let (a, b) = (house.process("a"), house.process("b"));
    house.rows.open.forget_permits(1_000);
    let (requester, now) = (a.clone(), house.now());
    let asking = tokio::spawn(async move { drop(requester.enter("x.test", now).await) });
    house.until_inside(1).await;
    asking.abort();
    assert!(asking.await.unwrap_err().is_cancelled());
    house.rows.open.add_permits(1_000);
    house.until_inside(0).await;
    house.pass(10);
    assert!(matches!(
        b.enter("x.test", house.now()).await,
        Enter::Now(_)
    ));
}
