//! The receiving side of every test: a real store behind the real intake, and ways to make it
//! misbehave.

use std::{
    collections::BTreeSet,
    future::pending,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use almanack_bus::Ports;
use almanack_core::{
    address::{Guard, Reach},
    event::incoming::{
        envelope::{Format, Others, Reading},
        intake::{Answer, ChangeRequest, Intake},
    },
    event::outgoing::CloudEvent,
    reschedule::Rule,
    reserved,
    store::{Store, TaskFilter},
    task::Task,
    time::{Clock, Sleeper},
};
use almanack_engine::{
    health::{Health, Readiness},
    intake::Events,
    reloadable::Reloadable,
    reschedule::{Kinds, Rescheduler},
};
use almanack_store::sqlite::{Durability, SqliteStore};
use almanack_testkit::{
    clock::ManualClock,
    entropy::SeededEntropy,
    fixture::{PUBLISH, START, identity},
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Notify;

/// How long a test waits for what must come before it gives up.
const WAIT_MAX: Duration = Duration::from_mins(1);

/// A store and the calls to its intake.
pub(crate) struct Fixture {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) connector: Arc<Connector>,
    waits: Arc<Waits>,
    pub(crate) links: Arc<Health>,
    _folder: TempDir,
}

/// Whether the intake works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behaviour {
    Open,
    /// As if the store were away.
    Closed,
    /// The store has the effect, and then the node dies before it can answer.
    Dies,
}

/// The real intake, which tests can make misbehave.
pub(crate) struct Connector {
    events: Events,
    behaviour: Mutex<Behaviour>,
    rules: Mutex<Vec<Rule>>,
    calls: AtomicUsize,
    moved: Notify,
}

impl Connector {
    /// By the rules of every node: what is configured is one kind, and nothing within one's own
    /// network.
    fn to(store: Arc<dyn Store>) -> Arc<Self> {
        let kinds = Kinds {
            configured: [almanack_testkit::fixture::kind(PUBLISH)].into(),
            ..Kinds::default()
        };
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::at(START));
        let public = Guard::new(Vec::new(), "outbound.allow");
        let reach = Reloadable::new(Reach::new(public, BTreeSet::new()));
        let rescheduler = Rescheduler::new(store, clock, kinds).reaching(reach);
        Arc::new(Self {
            events: Events(Arc::new(rescheduler)),
            behaviour: Mutex::new(Behaviour::Open),
            rules: Mutex::default(),
            calls: AtomicUsize::new(0),
            moved: Notify::new(),
        })
    }

    pub(crate) fn set(&self, behaviour: Behaviour) {
        *self.behaviour.lock().unwrap() = behaviour;
    }

    /// How often it was called.
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// The rules that requests fell under, in order.
    pub(crate) fn rules(&self) -> Vec<Rule> {
        self.rules.lock().unwrap().clone()
    }
}

#[async_trait]
impl Intake for Connector {
    async fn take(&self, requests: Vec<ChangeRequest>) -> Vec<Answer> {
        let behaviour = *self.behaviour.lock().unwrap();
        let reason = "the store is away".to_owned();
        let answers = match behaviour {
            Behaviour::Closed => vec![Answer::NotNow { reason }; requests.len()],
            Behaviour::Open | Behaviour::Dies => self.events.take(requests).await,
        };
        let rules = answers.iter().filter_map(|answer| match answer {
            Answer::Taken(receipt) => Some(receipt.rule),
            Answer::Refused { .. } | Answer::NotNow { .. } => None,
        });
        self.rules.lock().unwrap().extend(rules);
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.moved.notify_waiters();
        if behaviour == Behaviour::Dies {
            pending::<()>().await;
        }
        answers
    }
}

/// Records until when a consumer wanted to wait. Each wait is over in a moment.
#[derive(Default)]
struct Waits {
    asked: Mutex<Vec<Timestamp>>,
}

#[async_trait]
impl Sleeper for Waits {
    async fn until(&self, at: Timestamp) {
        self.asked.lock().unwrap().push(at);
        moment().await;
    }
}

/// Long enough for a broker to get on with it.
async fn moment() {
    let _ = tokio::time::timeout(Duration::from_millis(20), pending::<()>()).await;
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("almanack.db");
        let store = Arc::new(SqliteStore::open(&file, Durability::Normal).unwrap());
        let connector = Connector::to(store.clone());
        Self {
            store,
            connector,
            waits: Arc::default(),
            links: Arc::default(),
            _folder: folder,
        }
    }

    /// Another intake of the same store.
    pub(crate) fn beside(&self) -> Arc<Connector> {
        Connector::to(self.store.clone())
    }

    pub(crate) fn ports(&self) -> Ports {
        self.ports_at(&self.connector)
    }

    pub(crate) fn ports_at(&self, connector: &Arc<Connector>) -> Ports {
        Ports {
            intake: connector.clone(),
            links: self.links.clone(),
            clock: Arc::new(ManualClock::at(START)),
            sleeper: self.waits.clone(),
            entropy: Arc::new(SeededEntropy::new(7)),
        }
    }

    /// Whether no consumer says that its bus is away.
    pub(crate) fn is_connected(&self) -> bool {
        let degraded = Vec::new();
        self.links.readiness(START) == Readiness::Ready { degraded }
    }

    /// How often a consumer waited.
    pub(crate) fn waited(&self) -> usize {
        self.waits().len()
    }

    /// How long each time: the clock stays at [`START`].
    pub(crate) fn waits(&self) -> Vec<SignedDuration> {
        let asked = self.waits.asked.lock().unwrap();
        asked.iter().map(|at| at.duration_since(START)).collect()
    }

    pub(crate) async fn task(&self, subject: &str) -> Option<Task> {
        let found = self.store.load_current(&[identity(subject, PUBLISH)]).await;
        found.unwrap().pop().unwrap()
    }

    /// The subjects of all tasks.
    pub(crate) async fn subjects(&self) -> Vec<String> {
        let all = TaskFilter {
            limit: 100,
            ..TaskFilter::default()
        };
        let found = self.store.list_tasks(&all).await.unwrap().rows;
        let subjects = found.iter().map(|task| task.identity.subject.to_string());
        subjects.collect()
    }

    /// The present revision, 0 for none.
    pub(crate) async fn revision(&self, subject: &str) -> i64 {
        self.task(subject).await.map_or(0, |task| task.revision.0)
    }

    /// Waits until a task has this revision.
    pub(crate) async fn has(&self, subject: &str, revision: i64) {
        until(&format!("{subject} has revision {revision}"), async || {
            self.revision(subject).await == revision
        })
        .await;
    }
}

/// Waits until something holds; it must, sooner or later.
pub(crate) async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    let holding = async {
        while !holds().await {
            moment().await;
        }
    };
    let held = tokio::time::timeout(WAIT_MAX, holding).await;
    assert!(held.is_ok(), "this never happened: {what}");
}

/// How most tests read.
pub(crate) fn reading() -> Reading {
    Reading {
        format: Format::CloudEvents,
        others: Others::Refuse,
        payload_bytes: 1000,
    }
}

/// A structured event that sets a time.
pub(crate) fn put(subject: &str, revision: i64) -> String {
    json!({
        "specversion": "1.0", "id": format!("{subject}-{revision}"), "source": "/articles",
        "type": "almanack.task.put.v1", "subject": subject, "data": data(revision),
    })
    .to_string()
}

/// What such an event says. Its time follows from its revision.
pub(crate) fn data(revision: i64) -> Value {
    let at = almanack_testkit::fixture::at(revision * 60).to_string();
    json!({ "kind": PUBLISH, "execute_at": at, "revision": revision })
}

/// A message that every bus refuses, and what its dead letter says.
pub(crate) struct Refused {
    /// Of a message in binary mode.
    pub(crate) attributes: Vec<(&'static str, &'static str)>,
    pub(crate) body: String,
    pub(crate) reason: &'static str,
}

impl Refused {
    /// The headers of a message in binary mode, whose names begin so.
    pub(crate) fn headers(&self, prefix: &str) -> Vec<(String, &'static str)> {
        let attributes = self.attributes.iter();
        let headers = attributes.map(|(name, value)| (format!("{prefix}{name}"), *value));
        headers.collect()
    }
}

/// Every sort that the API refuses, too: the engine's own kinds by either verb (SF-04), callbacks
/// that would never be called, and events without a name (RS-11).
pub(crate) fn refused() -> Vec<Refused> {
    let structured = |event: &Value, reason| Refused {
        attributes: Vec::new(),
        body: event.to_string(),
        reason,
    };
    let mut all = Vec::new();
    for kind in reserved::KINDS {
        let reason = "only Almanack creates and changes tasks of kind";
        let put = asking("put", kind, "https://articles.example/");
        all.push(structured(&put, reason));
        let mut cancel = asking("cancel", kind, "");
        cancel["data"] = json!({ "kind": kind, "revision": 1 });
        all.push(structured(&cancel, reason));
    }
    for url in ["http://10.0.0.1/", "http://localhost/"] {
        let never = asking("put", PUBLISH, url);
        all.push(structured(&never, "callback.url would never be called"));
    }
    for (name, reason) in [("id", "`id` is empty"), ("source", "`source` is empty")] {
        let mut event = asking("put", PUBLISH, "https://articles.example/");
        event[name] = json!(" ");
        all.push(structured(&event, reason));
        let named = |attribute, value| (attribute, if attribute == name { "" } else { value });
        all.push(Refused {
            attributes: vec![
                ("specversion", "1.0"),
                named("id", "e-1"),
                named("source", "/articles"),
                ("type", "almanack.task.put.v1"),
                ("subject", "article:1"),
            ],
            body: json!({ "kind": PUBLISH, "execute_at": START, "revision": all.len() })
                .to_string(),
            reason,
        });
    }
    all
}

/// An event that is otherwise as it should be.
fn asking(verb: &str, kind: &str, callback_url: &str) -> Value {
    json!({
        "specversion": "1.0", "id": "e-1", "source": "/articles",
        "type": format!("almanack.task.{verb}.v1"), "subject": "article:1",
        "data": { "kind": kind, "execute_at": START, "revision": 1, "callback_url": callback_url },
    })
}

pub(crate) fn event() -> CloudEvent {
    serde_json::from_value(serde_json::json!({
        "specversion": "1.0", "id": "task-7-done", "source": "/almanack", "type": "almanack.task.finished.v1",
        "subject": "article:42", "time": START.to_string(), "datacontenttype": "application/json",
        "data": {"status": "SUCCESS"},
    }))
    .unwrap()
}
