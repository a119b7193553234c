//! A node whose endings the store does not take: one for good, or all of them for a while (SF-06).

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use almanack_core::{
    finish::{Finish, Outcome},
    handler::Handler,
    reschedule::Request,
    store::{Error, Finished, Result, Store},
    task::{ClaimedTask, Status, Task},
    time::Clock as _,
};
use almanack_engine::{
    handlers::Handlers,
    node,
    reschedule::{Kinds, Rescheduler},
};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::{
    fixture::{PUBLISH, identity, put},
    layer::{Layer, Layered},
};
use async_trait::async_trait;
use jiff::SignedDuration;
use tokio_util::sync::CancellationToken;

use crate::{
    node::{ports, settings},
    virtual_time::{VirtualTime, pause},
};

const POISON: &str = "poison";

/// Says what the subject is about.
struct Says;

#[async_trait]
impl Handler for Says {
    async fn attempt(&self, task: &ClaimedTask) -> Outcome {
        let detail = task.identity.subject.as_str().strip_prefix("article:");
        Outcome::Done {
            detail: detail.map(str::to_owned),
        }
    }
}

/// What the store does not take.
#[derive(Clone, Copy, PartialEq)]
enum Refuses {
    Nothing,
    /// Nothing can be written for now.
    Everything,
    /// What the poisoned attempt says.
    Saying,
    /// Whatever the poisoned attempt ends with.
    Ending,
}

#[derive(Clone)]
struct Endings(Arc<Mutex<Refuses>>);

#[async_trait]
impl Layer for Endings {
    async fn finish(&self, below: &dyn Store, finishes: Vec<Finish>) -> Result<Vec<Finished>> {
        let (statement, source) = ("finish attempts", "by the test".into());
        let refuses = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let poisoned = |finish: &Finish| match refuses {
            Refuses::Saying => finish.detail.as_deref() == Some(POISON),
            // The first task is the poisoned one.
            Refuses::Ending => finish.task_id.0 == 1 && finish.ended.outcome == "done",
            Refuses::Nothing | Refuses::Everything => false,
        };
        if refuses == Refuses::Everything {
            return Err(Error::Unavailable { statement, source });
        }
        if finishes.iter().any(poisoned) {
            return Err(Error::Refused { statement, source });
        }
        below.finish(finishes).await
    }
}

struct House {
    store: Arc<dyn Store>,
    endings: Endings,
    time: VirtualTime,
}

impl House {
    fn new(refuses: Refuses) -> Self {
        let endings = Endings(Arc::new(Mutex::new(refuses)));
        let below = Arc::new(SqliteStore::in_memory().unwrap());
        Self {
            store: Layered::over(below, endings.clone()),
            endings,
            time: VirtualTime::start(),
        }
    }

    fn refuse(&self, refuses: Refuses) {
        *self.endings.0.lock().unwrap() = refuses;
    }

    async fn put(&self, subjects: &[&str]) {
        let kinds = Kinds {
            accept_any: true,
            ..Kinds::default()
        };
        let rescheduler = Rescheduler::new(self.store.clone(), Arc::new(self.time), kinds);
        for subject in subjects {
            let request = Request::Put(put(subject, PUBLISH, self.time.now()));
            rescheduler.ask(request, "test").await.unwrap();
        }
    }

    async fn task(&self, subject: &str) -> Task {
        let identity = [identity(subject, PUBLISH)];
        let mut rows = self.store.load_current(&identity).await.unwrap();
        rows.remove(0).unwrap()
    }

    /// Runs a node until the returned token is cancelled.
    async fn node(&self) -> CancellationToken {
        let mut ports = ports(self.store.clone(), self.time, 1, Duration::ZERO);
        ports.handlers = Handlers::new(Arc::new(Says)).into();
        let node = node::admit(ports, settings(SignedDuration::ZERO)).await;
        let stop = CancellationToken::new();
        tokio::spawn(node.unwrap().run(stop.clone()));
        stop
    }
}

const ALL: [&str; 6] = [
    "article:poison",
    "article:2",
    "article:3",
    "article:4",
    "article:5",
    "article:6",
];

#[tokio::test(start_paused = true)]
async fn sf_06_a_refused_ending_is_written_with_less_and_the_others_as_they_are() {
    let house = House::new(Refuses::Saying);
    house.put(&ALL).await;
    let stop = house.node().await;
    pause(Duration::from_secs(1)).await;
    for subject in ALL {
        let task = house.task(subject).await;
        assert_eq!(task.status, Status::Success, "{subject}");
        let said = match subject {
            "article:poison" => "the database refused what the attempt said",
            other => other.strip_prefix("article:").unwrap(),
        };
        assert_eq!(task.detail.as_deref(), Some(said));
    }
    stop.cancel();
}

#[tokio::test(start_paused = true)]
async fn sf_06_an_ending_that_is_refused_for_good_is_left_to_its_lease() {
    let house = House::new(Refuses::Ending);
    house.put(&ALL).await;
    let stop = house.node().await;
    pause(Duration::from_secs(1)).await;
    for subject in &ALL[1..] {
        assert_eq!(house.task(subject).await.status, Status::Success);
    }
    house.put(&["article:7"]).await;
    pause(Duration::from_secs(10)).await;
    assert_eq!(
        house.task("article:7").await.status,
        Status::Success,
        "the node goes on"
    );
    assert_eq!(house.task(ALL[0]).await.status, Status::Running);
    house.refuse(Refuses::Nothing);
    pause(Duration::from_secs(40)).await;
    let task = house.task(ALL[0]).await;
    assert_eq!((task.status, task.attempt), (Status::Success, 2));
    stop.cancel();
}

#[tokio::test(start_paused = true)]
async fn sf_06_nothing_is_claimed_while_endings_cannot_be_written() {
    let house = House::new(Refuses::Everything);
    house.put(&["article:1"]).await;
    let stop = house.node().await;
    pause(Duration::from_secs(1)).await;
    assert_eq!(house.task("article:1").await.status, Status::Running);
    house.put(&["article:2"]).await;
    pause(Duration::from_secs(20)).await;
    let waiting = house.task("article:2").await;
    assert_eq!((waiting.status, waiting.term.0), (Status::Init, 0));
    house.refuse(Refuses::Nothing);
    pause(Duration::from_secs(2)).await;
    for subject in ["article:1", "article:2"] {
        let task = house.task(subject).await;
        assert_eq!((task.status, task.attempt), (Status::Success, 1));
    }
    stop.cancel();
}
