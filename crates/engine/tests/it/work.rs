//! Workers that wait for work, in virtual time (WK-01).

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use almanack_core::{
    event::incoming::mapping::Path,
    reschedule::{Put, Request},
    share::ShareBy,
    store::{ClaimRequest, Claimed, Result, Store},
    task::{Payload, Status, Task},
    time::Clock,
    work::{Wanted, WorkTask},
};
use almanack_engine::{
    reschedule::{Kinds, Rescheduler},
    runner::RunnerSettings,
    work::{Error, Work},
};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::{
    fixture::{PUBLISH, identity, kind, put},
    layer::{Layer, Layered},
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{
    node::ports,
    virtual_time::{VirtualTime, pause},
};

/// Counts claims; each takes a while to be answered. The next `lost` find that another worker is
/// taking what is due.
#[derive(Clone, Default)]
struct Slow {
    claims: Arc<AtomicUsize>,
    lost: Arc<AtomicUsize>,
    takes: Duration,
}

#[async_trait]
impl Layer for Slow {
    async fn claim(&self, below: &dyn Store, request: ClaimRequest) -> Result<Claimed> {
        self.claims.fetch_add(1, Ordering::Relaxed);
        let lost = self.lost.load(Ordering::Relaxed);
        if lost > 0 {
            self.lost.store(lost - 1, Ordering::Relaxed);
            return Ok(Claimed {
                next_due_at: Some(request.now),
                ..Claimed::default()
            });
        }
        let claimed = below.claim(request).await;
        if !self.takes.is_zero() {
            pause(self.takes).await;
        }
        claimed
    }
}

struct House {
    store: Arc<dyn Store>,
    time: VirtualTime,
    claims: Arc<AtomicUsize>,
    lost: Arc<AtomicUsize>,
    work: Arc<Work>,
    leaving: CancellationToken,
}

impl House {
    fn new(takes: Duration) -> Self {
        let time = VirtualTime::start();
        let layer = Slow {
            takes,
            ..Slow::default()
        };
        let (claims, lost) = (Arc::clone(&layer.claims), Arc::clone(&layer.lost));
        let store: Arc<dyn Store> =
            Layered::over(Arc::new(SqliteStore::in_memory().unwrap()), layer);
        let settings = RunnerSettings {
            pulled: [kind(PUBLISH)].into(),
            share_by: share_by(),
            ..RunnerSettings::default()
        };
        let ports = ports(store.clone(), time, 1, Duration::ZERO);
        Self {
            store,
            time,
            claims,
            lost,
            work: Work::new(ports, settings.into()),
            leaving: CancellationToken::new(),
        }
    }

    async fn put(&self, subject: &str, due_at: Timestamp) {
        self.put_all([put(subject, PUBLISH, due_at)]).await;
    }

    async fn put_all(&self, puts: impl IntoIterator<Item = Put>) {
        let kinds = Kinds {
            accept_any: true,
            share_by: share_by(),
            ..Kinds::default()
        };
        let rescheduler = Rescheduler::new(self.store.clone(), Arc::new(self.time), kinds);
        for put in puts {
            rescheduler.ask(Request::Put(put), "test").await.unwrap();
        }
    }

    async fn task(&self, subject: &str) -> Task {
        let rows = self.store.load_current(&[identity(subject, PUBLISH)]).await;
        rows.unwrap().remove(0).unwrap()
    }

    /// What a worker gets that waits so long.
    fn wait(
        &self,
        seconds: i64,
    ) -> impl Future<Output = std::result::Result<Vec<WorkTask>, Error>> + Send + use<> {
        self.take(10, seconds)
    }

    /// What a worker gets that takes so many and waits so long.
    fn take(
        &self,
        max: usize,
        seconds: i64,
    ) -> impl Future<Output = std::result::Result<Vec<WorkTask>, Error>> + Send + use<> {
        let wanted = Wanted {
            kinds: vec![kind(PUBLISH)],
            max,
            wait: SignedDuration::from_secs(seconds),
            lease: SignedDuration::from_secs(30),
            worker: None,
        };
        let (work, leaving) = (Arc::clone(&self.work), self.leaving.clone());
        async move { work.claim(&wanted, "worker", &leaving).await }
    }

    fn claims(&self) -> usize {
        self.claims.swap(0, Ordering::Relaxed)
    }
}

fn share_by() -> ShareBy {
    let by = Path::parse("$.tenant").unwrap();
    ShareBy(BTreeMap::from([(kind(PUBLISH), by)]))
}

/// Whoever takes one task at a time goes round the tenants, however many tasks one of them has.
#[tokio::test(start_paused = true)]
async fn tenants_take_turns_when_workers_take_one_at_a_time() {
    let house = House::new(Duration::ZERO);
    let due_at = house.time.now();
    let of = |tenant: &str, number: usize| {
        let payload = format!("{{\"tenant\":\"{tenant}\"}}");
        Put {
            payload: Some(Payload::parse(&payload, 100).unwrap()),
            ..put(&format!("{tenant}:{number}"), PUBLISH, due_at)
        }
    };
    house
        .put_all((0..40).map(|number| of("large", number)))
        .await;
    let small = ["few", "two"].into_iter();
    house
        .put_all(small.flat_map(|it| [of(it, 0), of(it, 1)]))
        .await;
    let mut taken = Vec::new();
    for _ in 0..9 {
        let tasks = house.take(1, 0).await.unwrap();
        taken.extend(tasks.into_iter().map(|task| task.identity.subject));
    }
    let of_small = taken.iter().filter(|it| !it.as_str().starts_with("large"));
    assert_eq!((taken.len(), of_small.count()), (9, 4), "{taken:?}");
}

#[tokio::test(start_paused = true)]
async fn wk_01_many_that_wait_cost_one_look_and_the_first_is_answered_on_time() {
    let house = House::new(Duration::ZERO);
    let mut workers = JoinSet::new();
    for _ in 0..50 {
        workers.spawn(house.wait(30));
    }
    pause(Duration::from_secs(1)).await;
    assert!(house.claims() <= 53, "each looks once");
    pause(Duration::from_secs(10)).await;
    let looked = house.claims();
    assert!(looked <= 11, "one of them looks, for safety: {looked}");
    let due_at = house.time.now() + SignedDuration::from_millis(4_321);
    house.put("article:1", due_at).await;
    let first = workers.join_next().await.unwrap().unwrap().unwrap();
    assert_eq!(first.len(), 1);
    let late = house.time.now().duration_since(due_at);
    assert!(late <= SignedDuration::from_millis(5), "{late}");
    let looked = house.claims();
    assert!(looked <= 10, "one task wakes one worker: {looked}");
    // Put and due in the same moment: a hint wakes the next.
    let now = house.time.now();
    house.put("article:2", now).await;
    let second = workers.join_next().await.unwrap().unwrap().unwrap();
    assert_eq!(second.len(), 1);
    let late = house.time.now().duration_since(now);
    assert!(late <= SignedDuration::from_millis(5), "{late}");
    let mut empty = 0;
    while let Some(answer) = workers.join_next().await {
        empty += usize::from(answer.unwrap().unwrap().is_empty());
    }
    assert_eq!(empty, 48, "the others wait to the end");
}

#[tokio::test(start_paused = true)]
async fn wk_01_who_comes_while_another_sleeps_costs_no_look() {
    let house = House::new(Duration::ZERO);
    let mut workers = JoinSet::new();
    workers.spawn(house.wait(30));
    pause(Duration::from_millis(100)).await;
    assert_eq!(house.claims(), 1);
    for _ in 0..20 {
        workers.spawn(house.wait(30));
    }
    pause(Duration::from_millis(100)).await;
    assert_eq!(house.claims(), 0, "they would find nothing");
    assert_eq!(house.wait(0).await.unwrap(), []);
    assert_eq!(house.claims(), 1, "who does not wait looks");
    let due_at = house.time.now() + SignedDuration::from_secs(1);
    house.put("article:1", due_at).await;
    house.put("article:2", due_at).await;
    let first = workers.join_next().await.unwrap().unwrap().unwrap();
    assert_eq!(first.len(), 2, "it sleeps for all of them");
}

/// What comes due right behind a task that another worker was faster to take is not late for it.
#[tokio::test(start_paused = true)]
async fn wk_01_who_loses_a_race_looks_again_at_once() {
    let house = House::new(Duration::ZERO);
    let worker = tokio::spawn(house.wait(30));
    pause(Duration::from_millis(100)).await;
    let due_at = house.time.now() + SignedDuration::from_secs(1);
    house.put("article:1", due_at).await;
    pause(Duration::from_millis(100)).await;
    house.lost.store(1, Ordering::Relaxed);
    assert_eq!(worker.await.unwrap().unwrap().len(), 1);
    let late = house.time.now().duration_since(due_at);
    assert!(late <= SignedDuration::from_millis(5), "{late}");
}

#[tokio::test(start_paused = true)]
async fn wk_01_a_node_that_leaves_answers_all_that_wait() {
    let house = House::new(Duration::ZERO);
    let mut workers = JoinSet::new();
    for _ in 0..3 {
        workers.spawn(house.wait(30));
    }
    pause(Duration::from_secs(1)).await;
    let asked_at = house.time.now();
    house.leaving.cancel();
    while let Some(answer) = workers.join_next().await {
        assert_eq!(answer.unwrap().unwrap(), []);
    }
    assert_eq!(house.time.now(), asked_at, "at once");
}

#[tokio::test(start_paused = true)]
async fn wk_01_a_worker_that_goes_away_has_taken_nothing() {
    let house = House::new(Duration::from_secs(2));
    house.put("article:1", house.time.now()).await;
    let gone = tokio::spawn(house.wait(30));
    pause(Duration::from_secs(1)).await;
    assert_eq!(house.task("article:1").await.status, Status::Running);
    gone.abort();
    pause(Duration::from_secs(2)).await;
    let back = house.task("article:1").await;
    assert_eq!((back.status, back.attempt), (Status::Init, 0));
    assert_eq!(
        house.store.load_expired(Timestamp::MAX, 10).await.unwrap(),
        [],
        "no claim is left behind"
    );
}

#[tokio::test(start_paused = true)]
async fn wk_01_a_node_lets_only_so_many_wait() {
    let house = House::new(Duration::ZERO);
    let mut workers = JoinSet::new();
    for _ in 0..256 {
        workers.spawn(house.wait(30));
    }
    pause(Duration::from_secs(1)).await;
    let refused = house.wait(30).await;
    assert!(matches!(refused, Err(Error::TooManyWaiting)), "{refused:?}");
    assert_eq!(
        house.wait(0).await.unwrap(),
        [],
        "who does not wait is answered"
    );
}
