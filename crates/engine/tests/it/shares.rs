//! One slow kind, one dead host, many hanging sources: what they cost the others (SF-06).

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use almanack_core::{
    finish::Outcome,
    handler::Handler,
    host_limit::{Called, HostLimits},
    host_pace::Turn,
    reschedule::Request,
    store::{HistoryPage, Store},
    task::ClaimedTask,
    time::Clock,
};
use almanack_engine::{
    handlers::Handlers,
    node,
    reloadable::Reloadable,
    reschedule::{Kinds, Rescheduler},
    runner::{RunnerSettings, Shares},
};
use almanack_store::{postgres::PostgresStore, sqlite::SqliteStore};
use almanack_testkit::{fixture::put, postgres::Schema};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{
    node::{ports, settings},
    virtual_time::{VirtualTime, pause},
};

const SLOTS: usize = 64;
/// How long a host that is dead is waited for.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Calls hosts: what is about `dead` hangs until its timeout, everything else is done at once.
/// Keeps to host limits as callbacks and webhooks do.
struct Calls {
    time: VirtualTime,
    hosts: Option<Mutex<HostLimits>>,
    /// How late each call began that was answered.
    late: Mutex<Vec<SignedDuration>>,
    dead: Mutex<usize>,
}

impl Calls {
    fn begin(&self) -> Result<Timestamp, Outcome> {
        let now = self.time.now();
        let turn = self
            .hosts
            .as_ref()
            .map(|hosts| hosts.lock().unwrap().enter("dead", now));
        match turn {
            Some(Turn::At(at)) => Err(Outcome::NotNow { at, why: "busy" }),
            _ => Ok(now),
        }
    }

    async fn hang(&self) -> Outcome {
        let began_at = match self.begin() {
            Ok(began_at) => began_at,
            Err(outcome) => return outcome,
        };
        *self.dead.lock().unwrap() += 1;
        pause(TIMEOUT).await;
        if let Some(hosts) = &self.hosts {
            let now = self.time.now();
            let mut hosts = hosts.lock().unwrap();
            hosts.leave("dead", began_at, now, Called::Unanswered);
        }
        Outcome::Retry {
            error: "no answer".to_owned(),
            retry_after: None,
        }
    }
}

#[async_trait]
impl Handler for Calls {
    async fn attempt(&self, task: &ClaimedTask) -> Outcome {
        if task.identity.subject.as_str().starts_with("dead") {
            return self.hang().await;
        }
        let late = self.time.now().duration_since(task.execute_at);
        self.late.lock().unwrap().push(late);
        Outcome::Done { detail: None }
    }
}

struct House {
    time: VirtualTime,
    calls: Arc<Calls>,
    rescheduler: Rescheduler,
    stop: CancellationToken,
    node: JoinHandle<()>,
}

impl House {
    async fn open(store: Arc<dyn Store>, hosts: Option<HostLimits>) -> Self {
        let time = VirtualTime::start();
        let calls = Arc::new(Calls {
            time,
            hosts: hosts.map(Mutex::new),
            late: Mutex::default(),
            dead: Mutex::default(),
        });
        let kinds = Kinds {
            accept_any: true,
            ..Kinds::default()
        };
        let mut ports = ports(store.clone(), time, 1, Duration::ZERO);
        ports.handlers = Handlers::new(Arc::clone(&calls) as Arc<dyn Handler>).into();
        let mut settings = settings(SignedDuration::ZERO);
        settings.runner = Reloadable::new(RunnerSettings {
            slots: SLOTS,
            shares: Shares {
                leaves_room: true,
                long_max: 4 * SLOTS,
                ..Shares::default()
            },
            drain: SignedDuration::ZERO,
            ..RunnerSettings::default()
        });
        let node = node::admit(ports, settings).await.unwrap();
        let stop = CancellationToken::new();
        Self {
            time,
            calls,
            rescheduler: Rescheduler::new(store, Arc::new(time), kinds),
            node: tokio::spawn(node.run(stop.clone())),
            stop,
        }
    }

    async fn put(&self, kind: &str, subjects: impl Iterator<Item = String>) {
        for subject in subjects {
            let request = Request::Put(put(&subject, kind, self.time.now()));
            self.rescheduler.ask(request, "test").await.unwrap();
        }
    }

    /// The latest that an answered call began, of so many.
    fn latest(&self, count: usize) -> SignedDuration {
        let late = self.calls.late.lock().unwrap();
        assert_eq!(late.len(), count, "all of them have been made");
        late.iter().copied().max().unwrap_or_default()
    }

    async fn close(self) {
        self.stop.cancel();
        self.node.await.unwrap();
    }
}

fn named(name: &str, count: usize) -> impl Iterator<Item = String> {
    (0..count).map(move |number| format!("{name}:{number}"))
}

fn sqlite() -> Arc<dyn Store> {
    Arc::new(SqliteStore::in_memory().unwrap())
}

/// Virtual time stops while a task works, so no task is later than the store's own grain.
const NOTHING: SignedDuration = SignedDuration::from_millis(20);

#[tokio::test(start_paused = true)]
async fn sf_06_a_kind_that_hangs_costs_the_others_nothing() {
    let house = House::open(sqlite(), None).await;
    for kind in ["SLOW", "SLOWER"] {
        house.put(kind, named("dead", 300)).await;
    }
    for minute in 0..5 {
        pause(Duration::from_secs(7)).await;
        house
            .put("QUICK", named(&format!("quick-{minute}"), 3))
            .await;
    }
    pause(Duration::from_secs(1)).await;
    let latest = house.latest(15);
    assert!(latest <= NOTHING, "{latest:?}");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn sf_06_many_that_hang_hardly_delay_the_healthy_of_their_own_kind() {
    let house = House::open(sqlite(), None).await;
    house.put("SOURCE", named("dead", 120)).await;
    house.put("SOURCE", named("quick", 20)).await;
    pause(Duration::from_secs(5)).await;
    let latest = house.latest(20);
    assert!(latest <= SignedDuration::from_secs(3), "{latest:?}");
    house.put("SOURCE", named("later", 20)).await;
    pause(Duration::from_secs(1)).await;
    let late = house.calls.late.lock().unwrap().split_off(20);
    assert!(late.iter().all(|late| *late <= NOTHING), "{late:?}");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn sf_06_a_dead_host_costs_other_hosts_of_its_kind_nothing() {
    let limits = HostLimits::new(SLOTS * 3 / 4);
    let house = House::open(sqlite(), Some(limits)).await;
    house.put("CALL", named("dead", 400)).await;
    for second in 0..10 {
        pause(Duration::from_secs(6)).await;
        house
            .put("CALL", named(&format!("quick-{second}"), 2))
            .await;
    }
    pause(Duration::from_secs(1)).await;
    let latest = house.latest(20);
    assert!(latest <= NOTHING, "{latest:?}");
    let dead = *house.calls.dead.lock().unwrap();
    assert!(
        (12..=40).contains(&dead),
        "{dead} calls in a minute: a quarter, then fewer"
    );
    house.close().await;
}

#[tokio::test]
async fn sf_06_being_sent_away_is_no_attempt_on_postgres() {
    let schema = Schema::create().await;
    let store = Arc::new(PostgresStore::connect(schema.url()).await.unwrap());
    sent_away_is_no_attempt(store).await;
}

#[tokio::test]
async fn sf_06_being_sent_away_is_no_attempt_on_sqlite() {
    sent_away_is_no_attempt(sqlite()).await;
}

async fn sent_away_is_no_attempt(store: Arc<dyn Store>) {
    use almanack_core::{backoff::Backoff, finish::finish, task::Status};
    use almanack_testkit::fixture::{START, claim_request, identity};
    let kinds = Kinds {
        accept_any: true,
        ..Kinds::default()
    };
    let clock = Arc::new(almanack_testkit::clock::ManualClock::at(START));
    let rescheduler = Rescheduler::new(store.clone(), clock, kinds);
    let request = Request::Put(put("dead:1", "CALL", START));
    rescheduler.ask(request, "test").await.unwrap();
    let claimed = store.claim(claim_request(1, START, 1)).await.unwrap();
    let at = START + SignedDuration::from_secs(9);
    let outcome = Outcome::NotNow { at, why: "busy" };
    let ended = finish(&claimed.tasks[0], &outcome, &Backoff::default(), START, 0);
    store.finish(vec![ended]).await.unwrap();
    let row = store
        .load_current(&[identity("dead:1", "CALL")])
        .await
        .unwrap();
    let row = row[0].clone().unwrap();
    assert_eq!((row.status, row.attempt), (Status::Init, 0));
    assert_eq!(
        (row.due_at, row.detail.as_deref()),
        (Some(at), Some("busy"))
    );
    let records = store
        .load_history(&identity("dead:1", "CALL"), HistoryPage::WHOLE)
        .await
        .unwrap();
    assert_eq!(records.attempts, [], "the history does not show it");
}
