//! How a node comes up, works and leaves.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use almanack_core::{
    alert::Rule,
    edition::{
        Edition, State,
        account::Change,
        day::day_of,
        story::{Listed, Story, StoryKey},
    },
    finish::{Finish, Outcome},
    handler::Handler,
    lease::LeasePolicy,
    reschedule::Request,
    store::{
        ClaimRequest, Claimed, EditionStore, EditionWritten, Finished, Node, NodeStore, OnceKey,
        Store, TaskStore,
    },
    task::{ClaimedTask, Status, Task},
    time::{Clock, CorrectedClock, Entropy as _, Sleeper},
};
use almanack_engine::{
    handlers::Handlers,
    node::{self, Error, NodeSettings, Ports},
    reloadable::Reloadable,
    reschedule::{Kinds, Rescheduler},
    retention::Retention,
    runner::RunnerSettings,
};
use almanack_store::{postgres::PostgresStore, sqlite::SqliteStore};
use almanack_testkit::{
    entropy::SeededEntropy,
    fixture::{PUBLISH, identity, put},
    layer::{Layer, Layered},
    postgres::Schema,
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp, civil::Date, tz::TimeZone};
use tokio_util::sync::CancellationToken;

use crate::virtual_time::{VirtualTime, pause};

/// Takes its time, and then succeeds.
struct Slow(Duration);

#[async_trait]
impl Handler for Slow {
    async fn attempt(&self, _: &ClaimedTask) -> Outcome {
        pause(self.0).await;
        Outcome::Done { detail: None }
    }
}

struct House {
    store: Arc<SqliteStore>,
    time: VirtualTime,
}

impl House {
    fn new() -> Self {
        Self {
            store: Arc::new(SqliteStore::in_memory().unwrap()),
            time: VirtualTime::start(),
        }
    }

    async fn put_due_now(&self, subject: &str) {
        self.put(subject, self.time.now()).await;
    }

    async fn put(&self, subject: &str, due_at: Timestamp) {
        let kinds = Kinds {
            accept_any: true,
            ..Kinds::default()
        };
        let store: Arc<dyn Store> = self.store.clone();
        let rescheduler = Rescheduler::new(store, Arc::new(self.time), kinds);
        let request = Request::Put(put(subject, PUBLISH, due_at));
        let key = OnceKey {
            key: subject.to_owned(),
            digest: String::new(),
        };
        let asked = rescheduler.ask_once(key, vec![request], "test");
        asked.await.unwrap();
    }

    async fn task(&self, subject: &str) -> Task {
        let mut rows = self
            .store
            .load_current(&[identity(subject, PUBLISH)])
            .await
            .unwrap();
        rows.remove(0).unwrap()
    }

    async fn admit(
        &self,
        seed: u64,
        attempt_takes: Duration,
        drain: SignedDuration,
    ) -> Result<node::AdmittedNode, Error> {
        let ports = ports(self.store.clone(), self.time, seed, attempt_takes);
        node::admit(ports, settings(drain)).await
    }
}

pub(crate) fn ports(
    store: Arc<dyn Store>,
    time: VirtualTime,
    seed: u64,
    attempt_takes: Duration,
) -> Ports {
    Ports {
        store,
        clock: Arc::new(CorrectedClock::new(Arc::new(time))),
        sleeper: Arc::new(time),
        entropy: Arc::new(SeededEntropy::new(seed)),
        handlers: Handlers::new(Arc::new(Slow(attempt_takes))).into(),
        subscriptions: Reloadable::default(),
    }
}

pub(crate) fn settings(drain: SignedDuration) -> NodeSettings {
    NodeSettings {
        name: "node-a".to_owned(),
        version: "test".to_owned(),
        lease: LeasePolicy::default(),
        runner: RunnerSettings {
            drain,
            ..RunnerSettings::default()
        }
        .into(),
        retention: Retention::After(SignedDuration::from_hours(1)),
    }
}

/// Starts a node on one due task, stops it a second later, and answers what became of the task.
async fn stopped_in_the_middle(attempt_takes: Duration, drain: SignedDuration) -> Task {
    let house = House::new();
    house.put_due_now("article:1").await;
    let node = house.admit(1, attempt_takes, drain).await.unwrap();
    let stop = CancellationToken::new();
    let running = tokio::spawn(node.run(stop.clone()));
    pause(Duration::from_secs(1)).await;
    assert_eq!(house.task("article:1").await.status, Status::Running);
    stop.cancel();
    running.await.unwrap();
    assert_eq!(
        house.store.load_nodes().await.unwrap(),
        [],
        "it has signed off"
    );
    let task = house.task("article:1").await;
    let left = house
        .store
        .load_expired(jiff::Timestamp::MAX, 10)
        .await
        .unwrap();
    assert_eq!(left, [], "no claim is left behind");
    task
}

#[tokio::test(start_paused = true)]
async fn a_drain_may_outlast_the_lease() {
    // The lease is 30 s; the heartbeat goes on while the node drains.
    let task = stopped_in_the_middle(Duration::from_secs(100), SignedDuration::from_mins(5)).await;
    assert_eq!((task.status, task.attempt), (Status::Success, 1));
}

#[tokio::test(start_paused = true)]
async fn what_outlasts_the_drain_is_handed_back_and_costs_no_attempt() {
    let task = stopped_in_the_middle(Duration::from_secs(100), SignedDuration::from_secs(40)).await;
    assert_eq!((task.status, task.attempt), (Status::Init, 0));
    assert!(task.due_at.is_some(), "another node may take it at once");
}

#[tokio::test(start_paused = true)]
async fn an_attempt_longer_than_the_lease_keeps_it_by_heartbeat() {
    let house = House::new();
    house.put_due_now("article:1").await;
    let node = house
        .admit(1, Duration::from_secs(200), SignedDuration::ZERO)
        .await
        .unwrap();
    let stop = CancellationToken::new();
    let running = tokio::spawn(node.run(stop.clone()));
    pause(Duration::from_secs(201)).await;
    let task = house.task("article:1").await;
    assert_eq!(
        (task.status, task.attempt, task.term.0),
        (Status::Success, 1, 1)
    );
    stop.cancel();
    running.await.unwrap();
}

/// What is exchanged under a node holds for what it begins from then on, and not for what runs.
#[tokio::test(start_paused = true)]
async fn exchanged_settings_hold_for_what_begins() {
    let house = House::new();
    house.put_due_now("article:1").await;
    let slots = |slots| RunnerSettings {
        slots,
        ..RunnerSettings::default()
    };
    let reported = settings(SignedDuration::ZERO);
    reported.runner.put(slots(1));
    let ports = ports(house.store.clone(), house.time, 1, Duration::from_secs(100));
    let (handlers, runner) = (ports.handlers.clone(), reported.runner.clone());
    let node = node::admit(ports, reported).await.unwrap();
    let stop = CancellationToken::new();
    let running = tokio::spawn(node.run(stop.clone()));
    pause(Duration::from_secs(1)).await;
    house.put_due_now("article:2").await;
    pause(Duration::from_secs(5)).await;
    assert_eq!(
        house.task("article:2").await.status,
        Status::Init,
        "no room"
    );
    handlers.put(Handlers::new(Arc::new(Slow(Duration::ZERO))));
    runner.put(slots(2));
    pause(Duration::from_secs(5)).await;
    assert_eq!(house.task("article:2").await.status, Status::Success);
    assert_eq!(house.task("article:1").await.status, Status::Running);
    pause(Duration::from_secs(100)).await;
    let task = house.task("article:1").await;
    assert_eq!((task.status, task.attempt), (Status::Success, 1));
    stop.cancel();
    running.await.unwrap();
}

/// One way to a store that is not on this machine.
const WAY: Duration = Duration::from_millis(1);

/// A store at a distance: every call of a runner takes its time there and back.
struct Distant;

#[async_trait]
impl Layer for Distant {
    async fn claim(
        &self,
        below: &dyn Store,
        request: ClaimRequest,
    ) -> almanack_core::store::Result<Claimed> {
        pause(WAY).await;
        let claimed = below.claim(request).await;
        pause(WAY).await;
        claimed
    }
    async fn finish(
        &self,
        below: &dyn Store,
        finishes: Vec<Finish>,
    ) -> almanack_core::store::Result<Vec<Finished>> {
        pause(WAY).await;
        let answers = below.finish(finishes).await;
        pause(WAY).await;
        answers
    }
}

/// Notes how long after its time each attempt really began: not when its claim was asked for, which
/// is what the row says.
struct Began {
    time: VirtualTime,
    late: Arc<Mutex<Vec<SignedDuration>>>,
}

#[async_trait]
impl Handler for Began {
    async fn attempt(&self, task: &ClaimedTask) -> Outcome {
        let late = self.time.now().duration_since(task.execute_at);
        self.late.lock().unwrap().push(late);
        Outcome::Done { detail: None }
    }
}

/// What lies between a task's time and its attempt is one question to the store, and nothing else:
/// no poll, no second question, no wait for an ending. Real milliseconds are the network's;
/// `almanack bench lateness` measures those.
#[tokio::test(start_paused = true)]
async fn rs_15_a_sleeping_node_starts_a_task_at_its_time() {
    let house = House::new();
    let late = Arc::new(Mutex::new(Vec::new()));
    let store = Layered::over(house.store.clone(), Distant);
    let mut ports = ports(store, house.time, 1, Duration::ZERO);
    let handler = Began {
        time: house.time,
        late: late.clone(),
    };
    ports.handlers = Handlers::new(Arc::new(handler)).into();
    let node = node::admit(ports, settings(SignedDuration::ZERO)).await;
    let stop = CancellationToken::new();
    let running = tokio::spawn(node.unwrap().run(stop.clone()));
    let millis = SignedDuration::from_millis;
    // Between two looks, which come every second, so that only what is tested can be in time.
    pause(Duration::from_millis(7_300)).await;
    for (wait, tasks, why) in [
        (millis(0), 1, "due when it is put: only the hint says so"),
        (millis(730), 1, "due later: only the clock says so"),
        (millis(40), 64, "many at one instant: one question for all"),
        (
            millis(6_150),
            1,
            "beyond what is hinted at: a look says so, and then the clock",
        ),
    ] {
        let due_at = house.time.now() + wait;
        for number in 0..tasks {
            let subject = format!("article:{}-{number}", due_at.as_microsecond());
            house.put(&subject, due_at).await;
        }
        pause(Duration::try_from(wait).unwrap() + 10 * WAY).await;
        let began = std::mem::take(&mut *late.lock().unwrap());
        assert_eq!(began.len(), tasks, "{why}");
        for late in began {
            assert!(late >= SignedDuration::ZERO, "{why}: {late:#} early");
            // There and back; the runtime's clock counts in milliseconds.
            assert!(late <= millis(3), "{why}: {late:#} late");
        }
    }
    stop.cancel();
    running.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn retention_forgets_what_ended_long_ago_and_nothing_else() {
    let house = House::new();
    house.put_due_now("article:1").await;
    let node = house
        .admit(1, Duration::ZERO, SignedDuration::ZERO)
        .await
        .unwrap();
    let stop = CancellationToken::new();
    let running = tokio::spawn(node.run(stop.clone()));
    pause(Duration::from_mins(50)).await;
    house.put_due_now("article:2").await;
    pause(Duration::from_mins(25)).await;
    let rows = [
        identity("article:1", PUBLISH),
        identity("article:2", PUBLISH),
    ];
    let rows = house.store.load_current(&rows).await.unwrap();
    assert_eq!(rows[0], None, "ended 75 minutes ago, kept for 60");
    assert!(rows[1].is_some(), "ended 25 minutes ago");
    let store: &dyn Store = house.store.as_ref();
    assert_eq!(store.load_once("article:1").await.unwrap(), None);
    assert!(store.load_once("article:2").await.unwrap().is_some());
    stop.cancel();
    running.await.unwrap();
}

/// An archived edition of that day, with a story. What a node knows is wrong with itself is
/// beside its heartbeat, where every node's watch finds it, until it is over.
#[tokio::test(start_paused = true)]
async fn a_node_publishes_what_is_wrong_with_it_until_it_is_over() {
    let house = House::new();
    let node = house.admit(1, Duration::ZERO, SignedDuration::ZERO).await;
    let node = node.unwrap();
    let (health, stop) = (node.health(), CancellationToken::new());
    let running = tokio::spawn(node.run(stop.clone()));
    let away = Err("refused".to_owned());
    for (state, published) in [(away, Some("nats: refused")), (Ok(()), None)] {
        health.note((Rule::Disconnected, "nats"), house.time.now(), state);
        pause(Duration::from_mins(1)).await;
        let found = house.store.load_troubles().await.unwrap();
        let found: Vec<_> = found.iter().flat_map(|of_node| &of_node.troubles).collect();
        let details = found.iter().map(|trouble| trouble.detail.as_str());
        assert_eq!(details.collect::<Vec<_>>(), Vec::from_iter(published));
    }
    stop.cancel();
    running.await.unwrap();
}

async fn archive_edition(store: &dyn Store, date: Date, now: Timestamp) {
    let (edition, _) = store.open_edition(date.into(), now).await.unwrap();
    let listed = Listed {
        key: StoryKey("hn:1".to_owned()),
        url: "https://example.org".to_owned(),
        discussion_url: None,
        title: "A story".to_owned(),
        score: None,
        comment_count: None,
        source_name: None,
        topic: None,
        published_at: None,
        text: None,
    };
    let change = Change {
        edition: Edition {
            state: State::Archived,
            ..edition.clone()
        },
        stories: vec![Story::new(listed, 1, now)],
        ..Change::of(edition)
    };
    let written = store.write_edition(change).await.unwrap();
    assert_eq!(written, EditionWritten::Done);
}

#[tokio::test(start_paused = true)]
async fn ed_31_stories_of_archived_editions_are_forgotten_and_the_editions_stay() {
    let house = House::new();
    let now = house.time.now();
    let today = day_of(now, &TimeZone::UTC);
    let days_ago = |days: i64| today.checked_sub(jiff::Span::new().days(days)).unwrap();
    let (old, young) = (days_ago(31), days_ago(29));
    for date in [old, young] {
        archive_edition(house.store.as_ref(), date, now).await;
    }
    let node = house.admit(1, Duration::ZERO, SignedDuration::ZERO).await;
    let mut node = node.unwrap();
    node.keep.stories = Retention::After(SignedDuration::from_hours(30 * 24));
    let stop = CancellationToken::new();
    let running = tokio::spawn(node.run(stop.clone()));
    pause(Duration::from_mins(1)).await;
    for (date, stories) in [(old, 0), (young, 1)] {
        let account = house
            .store
            .load_account(date.into())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(account.stories.len(), stories, "{date}");
    }
    stop.cancel();
    running.await.unwrap();
}

/// Waits by the database's time. Before its node is admitted, until the other one has been heard
/// of, too: that a live node beats in time is what a node counts on, and a busy machine does not
/// keep it.
struct ByDatabase {
    clock: Arc<CorrectedClock>,
    store: Arc<dyn Store>,
    session: String,
    admitted: AtomicBool,
}

impl ByDatabase {
    async fn others(&self) -> Vec<Node> {
        let mut nodes = self.store.load_nodes().await.unwrap();
        nodes.retain(|node| node.session != self.session);
        nodes
    }
}

#[async_trait]
impl Sleeper for ByDatabase {
    async fn until(&self, at: Timestamp) {
        let before = self.others().await;
        while let Ok(left) = Duration::try_from(at.duration_since(self.clock.now())) {
            if left.is_zero() {
                break;
            }
            pause(left).await;
        }
        let mut others = self.others().await;
        while !self.admitted.load(Ordering::Relaxed) && !others.is_empty() && others == before {
            pause(Duration::from_millis(20)).await;
            others = self.others().await;
        }
    }
}

/// Both find the name free, and both register; then one of them leaves. On a database in which
/// calls take time, in real time.
#[tokio::test]
async fn of_two_that_start_at_the_same_moment_one_gets_the_name() {
    let schema = Schema::create().await;
    let store: Arc<dyn Store> = Arc::new(PostgresStore::connect(schema.url()).await.unwrap());
    let (time, stop) = (VirtualTime::start(), CancellationToken::new());
    let start = async |seed| {
        let lease = LeasePolicy {
            ttl: SignedDuration::from_mins(1),
            margin: SignedDuration::from_secs(10),
            beat: SignedDuration::from_millis(500),
        };
        let settings = NodeSettings {
            lease,
            ..settings(SignedDuration::ZERO)
        };
        let ports = ports(store.clone(), time, seed, Duration::ZERO);
        let sleeper = Arc::new(ByDatabase {
            clock: Arc::clone(&ports.clock),
            store: store.clone(),
            session: format!("{:016x}", SeededEntropy::new(seed).next_u64()),
            admitted: AtomicBool::new(false),
        });
        let with = Ports {
            sleeper: sleeper.clone(),
            ..ports
        };
        let node = node::admit(with, settings).await;
        sleeper.admitted.store(true, Ordering::Relaxed);
        // Who is admitted lives, and is heard of.
        node.map(|node| tokio::spawn(node.run(stop.clone())))
    };
    let (first, second) = tokio::join!(start(1), start(2));
    assert_ne!(first.is_ok(), second.is_ok(), "one of them");
    assert_eq!(store.load_nodes().await.unwrap().len(), 1);
    stop.cancel();
    for node in [first, second].into_iter().flatten() {
        node.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_name_belongs_to_one_living_node() {
    let house = House::new();
    let first = house
        .admit(1, Duration::ZERO, SignedDuration::ZERO)
        .await
        .unwrap();
    let stop = CancellationToken::new();
    let running = tokio::spawn(first.run(stop.clone()));
    let second = house.admit(2, Duration::ZERO, SignedDuration::ZERO).await;
    assert!(
        matches!(second, Err(Error::NameTaken { .. })),
        "the first one beats on"
    );
    running.abort();
    let third = house.admit(3, Duration::ZERO, SignedDuration::ZERO).await;
    assert!(
        third.is_ok(),
        "a dead one's name is free after a heartbeat that did not come"
    );
}
