//! Tasks that expire: what a node does with them (WK-06).

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use almanack_core::{
    finish::Outcome,
    handler::Handler,
    reschedule::{Put, Request},
    store::{ClaimRequest, Claimed, Result, Store},
    task::{ClaimedTask, Expires, Status, Task},
    time::{Clock as _, CorrectedClock, Sleeper},
};
use almanack_engine::{
    handlers::Handlers,
    node,
    reschedule::{Error, Kinds, Rescheduler},
    runner::RunnerSettings,
};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::{
    clock::ManualClock,
    fixture::{PUBLISH, START, at, identity, kind, put},
    layer::{Layer, Layered},
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::{
    node::{ports, settings},
    virtual_time::{VirtualTime, pause},
};

/// Counts what is tried.
#[derive(Default)]
struct Counts(AtomicUsize);

#[async_trait]
impl Handler for Counts {
    async fn attempt(&self, _: &ClaimedTask) -> Outcome {
        self.0.fetch_add(1, Ordering::Relaxed);
        Outcome::Done { detail: None }
    }
}

/// Claims take effect at once and are answered so much later.
struct SlowAnswers(Duration);

#[async_trait]
impl Layer for SlowAnswers {
    async fn claim(&self, below: &dyn Store, request: ClaimRequest) -> Result<Claimed> {
        let claimed = below.claim(request).await;
        pause(self.0).await;
        claimed
    }
}

/// The database's clock is right; its answer takes two seconds each way.
struct FarClock(VirtualTime);

#[async_trait]
impl Layer for FarClock {
    async fn database_time(&self, _: &dyn Store) -> Result<Option<Timestamp>> {
        pause(Duration::from_secs(2)).await;
        let now = self.0.now();
        pause(Duration::from_secs(2)).await;
        Ok(Some(now))
    }
}

/// Waits by the node's own clock.
struct NodeSleeper(Arc<CorrectedClock>);

#[async_trait]
impl Sleeper for NodeSleeper {
    async fn until(&self, at: Timestamp) {
        while let Ok(left) = Duration::try_from(at.duration_since(self.0.now())) {
            if left.is_zero() {
                return;
            }
            pause(left).await;
        }
    }
}

struct House {
    store: Arc<dyn Store>,
    time: VirtualTime,
    tried: Arc<Counts>,
}

impl House {
    fn new(answers_after: Duration) -> Self {
        let below = Arc::new(SqliteStore::in_memory().unwrap());
        Self {
            store: Layered::over(below, SlowAnswers(answers_after)),
            time: VirtualTime::start(),
            tried: Arc::default(),
        }
    }

    async fn put(&self, expires: Expires) {
        let kinds = Kinds {
            accept_any: true,
            ..Kinds::default()
        };
        let rescheduler = Rescheduler::new(self.store.clone(), Arc::new(self.time), kinds);
        let request = Put {
            expires: Some(expires),
            ..put("article:1", PUBLISH, self.time.now())
        };
        let asked = rescheduler.ask(Request::Put(request), "test");
        asked.await.unwrap();
    }

    /// Lets a node with so many slots for the kind work for a while.
    async fn work(&self, slots: usize, time: Duration) -> Task {
        let store = Arc::clone(&self.store);
        let mut ports = ports(store, self.time, 1, Duration::ZERO);
        ports.sleeper = Arc::new(NodeSleeper(Arc::clone(&ports.clock)));
        ports.handlers = Handlers::new(Arc::clone(&self.tried) as Arc<dyn Handler>).into();
        let mut settings = settings(SignedDuration::ZERO);
        settings.runner = RunnerSettings {
            limits: [(kind(PUBLISH), slots)].into(),
            ..RunnerSettings::default()
        }
        .into();
        let admitted = node::admit(ports, settings).await.unwrap();
        let stop = CancellationToken::new();
        let stopping = async {
            pause(time).await;
            stop.cancel();
        };
        tokio::join!(admitted.run(stop.clone()), stopping);
        let identity = [identity("article:1", PUBLISH)];
        let rows = self.store.load_current(&identity).await;
        rows.unwrap().remove(0).unwrap()
    }

    fn assert_expired(&self, task: &Task) {
        assert_eq!(self.tried.0.load(Ordering::Relaxed), 0, "never tried");
        assert_eq!((task.status, task.attempt), (Status::Fail, 0));
        assert!(!task.is_live() && task.started_at.is_none());
        let detail = task.detail.as_deref().unwrap_or_default();
        assert!(
            detail.starts_with("expired: was to start before"),
            "{detail}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn wk_06_what_is_in_time_is_tried_and_what_was_overdue_is_not() {
    let house = House::new(Duration::ZERO);
    house.put(Expires::After(10)).await;
    let task = Box::pin(house.work(1, Duration::from_secs(1))).await;
    assert_eq!(task.status, Status::Success);
    let house = House::new(Duration::ZERO);
    house.put(Expires::After(10)).await;
    pause(Duration::from_secs(10)).await;
    let task = Box::pin(house.work(1, Duration::from_secs(1))).await;
    house.assert_expired(&task);
}

/// It had not expired when it was claimed, and has when the answer is here.
#[tokio::test(start_paused = true)]
async fn wk_06_a_slow_claim_starts_nothing_late() {
    let house = House::new(Duration::from_secs(3));
    house.put(Expires::After(3)).await;
    let task = Box::pin(house.work(1, Duration::from_secs(10))).await;
    house.assert_expired(&task);
}

/// A node that knows the time to two seconds: by its own clock the task has not expired yet.
#[tokio::test(start_paused = true)]
async fn wk_06_what_may_have_expired_is_not_started() {
    let mut house = House::new(Duration::ZERO);
    house.store = Layered::over(Arc::clone(&house.store), FarClock(house.time));
    // The node is admitted after three looks, at 12 seconds, and takes it for 10.
    house.put(Expires::After(11)).await;
    let task = Box::pin(house.work(1, Duration::from_secs(10))).await;
    house.assert_expired(&task);
}

#[tokio::test(start_paused = true)]
async fn wk_06_a_kind_that_nobody_claims_expires_too() {
    let house = House::new(Duration::ZERO);
    house.put(Expires::After(30)).await;
    let task = Box::pin(house.work(0, Duration::from_secs(29))).await;
    assert_eq!(task.status, Status::Init, "not before");
    let task = Box::pin(house.work(0, Duration::from_secs(30))).await;
    house.assert_expired(&task);
    let ended = task
        .finished_at
        .unwrap()
        .duration_since(task.expiry.at.unwrap());
    assert!(
        ended < SignedDuration::from_secs(15),
        "within a beat: {ended}"
    );
    let left = house
        .store
        .load_expired(at(86_400 * 365), 10)
        .await
        .unwrap();
    assert!(left.is_empty(), "and leaves no claim behind: {left:?}");
}

#[tokio::test]
async fn wk_06_a_new_task_gets_the_expiry_of_its_kind() {
    let store: Arc<dyn Store> = Arc::new(SqliteStore::in_memory().unwrap());
    let kinds = Kinds {
        accept_any: true,
        expires_after_s: [(kind(PUBLISH), 60)].into(),
        ..Kinds::default()
    };
    let clock = Arc::new(ManualClock::at(START));
    let rescheduler = Rescheduler::new(store.clone(), clock, kinds);
    let expiry = async |request: Put| {
        let identity = request.identity.clone();
        rescheduler.ask(Request::Put(request), "test").await?;
        let rows = store.load_current(&[identity]).await?;
        Ok::<_, Error>(rows[0].as_ref().unwrap().expiry.at)
    };
    let first = put("article:1", PUBLISH, at(10));
    assert_eq!(expiry(first).await.unwrap(), Some(at(70)));
    let never = Put {
        expires: Some(Expires::Never),
        ..put("article:1", PUBLISH, at(10))
    };
    assert_eq!(expiry(never).await.unwrap(), None);
    let moved = put("article:1", PUBLISH, at(20));
    assert_eq!(expiry(moved).await.unwrap(), None, "what exists keeps it");
    let late = Put {
        expires: Some(Expires::At(at(20))),
        ..put("article:1", PUBLISH, at(20))
    };
    let refused = expiry(late).await.unwrap_err();
    assert!(matches!(refused, Error::Expired(_)), "{refused}");
}
