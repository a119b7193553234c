//! Events: who is notified of what the engine writes, and how tasks that deliver events end.

use std::sync::{Arc, Mutex};

use almanack_core::{
    event::outgoing::{
        Batch, BatchOutcome, CloudEvent, EventPublisher, KIND, Name, Subscription, Subscriptions,
        Wants,
    },
    finish::Outcome,
    handler::Handler,
    store::{Store, TaskFilter},
    task::{ClaimedTask, Expiry, Revision, TaskId, Term},
};
use almanack_engine::{event_delivery::EventDeliveryHandler, reloadable::Reloadable};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::fixture::{START, identity, kind, payload};
use async_trait::async_trait;
use jiff::SignedDuration;

/// One subscription, which wants everything.
pub(crate) fn everything() -> Reloadable<Subscriptions> {
    Reloadable::new(Subscriptions {
        source: "/test".to_owned(),
        all: vec![Subscription {
            name: Name::parse("audit").unwrap(),
            wants: Wants::default(),
            batch: None,
        }],
    })
}

/// Delivered events, by subject, oldest first.
pub(crate) async fn published(store: &dyn Store) -> Vec<String> {
    let filter = TaskFilter {
        kind: Some(kind(KIND)),
        limit: 1_000,
        ..TaskFilter::default()
    };
    let rows = store.list_tasks(&filter).await.unwrap().rows;
    let subjects = rows.iter().map(|row| row.identity.subject.to_string());
    subjects.rev().collect()
}

fn store() -> Arc<dyn Store> {
    Arc::new(SqliteStore::in_memory().unwrap())
}

/// Remembers what it delivered.
#[derive(Default)]
struct Crier(Mutex<Vec<String>>);

#[async_trait]
impl EventPublisher for Crier {
    async fn publish(&self, event: &CloudEvent) -> Outcome {
        self.0.lock().unwrap().push(event.id.clone());
        Outcome::Done { detail: None }
    }
}

const EVENT: &str = r#"{"specversion": "1.0", "id": "task-1-1", "source": "/a", "type": "almanack.task.finished.v1",
    "subject": "article:1", "time": "2026-01-05T08:00:00Z", "datacontenttype": "application/json", "data": {}}"#;

fn publishing(subject: &str, event: &str) -> ClaimedTask {
    ClaimedTask {
        id: TaskId(2),
        identity: identity(subject, KIND),
        term: Term(1),
        attempt: 1,
        max_retry: 3,
        expiries: 0,
        execute_at: START,
        started_at: START,
        payload: payload(event),
        callback_url: None,
        call_options: None,
        expiry: Expiry::NEVER,
        revision: Revision::NONE,
    }
}

#[tokio::test]
async fn a_event_goes_to_its_own_subscriber() {
    let (audit, other) = (Arc::new(Crier::default()), Arc::new(Crier::default()));
    let handler = EventDeliveryHandler::new(store())
        .with("audit", audit.clone())
        .with("other", other.clone());
    let task = publishing("event:task-1-1@audit", EVENT);
    assert_eq!(handler.attempt(&task).await.name(), "done");
    assert_eq!(*audit.0.lock().unwrap(), ["task-1-1"]);
    assert!(other.0.lock().unwrap().is_empty());
}

/// What cannot be delivered, and whether it may be later.
#[tokio::test]
async fn what_cannot_be_reported_waits_or_ends() {
    let handler = EventDeliveryHandler::new(store()).with("audit", Arc::new(Crier::default()));
    for (subject, event, outcome) in [
        // Another node may know it, or this one tomorrow.
        ("event:task-1-1@gone", EVENT, "again"),
        ("event:task-1-1", EVENT, "give_up"),
        ("article:1", EVENT, "give_up"),
        ("event:task-1-1@audit", "{}", "give_up"),
    ] {
        let ended = handler.attempt(&publishing(subject, event)).await;
        assert_eq!(ended.name(), outcome, "{subject}: {ended:?}");
    }
}

/// However long it is unknown: no retry is spent on it, and the history does not grow.
#[tokio::test]
async fn an_unknown_subscription_costs_no_retries() {
    let handler = EventDeliveryHandler::new(store());
    let task = ClaimedTask {
        attempt: 4,
        ..publishing("event:task-1-1@gone", EVENT)
    };
    let Outcome::Again { at, on_record } = handler.attempt(&task).await else {
        panic!("it comes again");
    };
    assert!(!on_record);
    assert_eq!(at, START + SignedDuration::from_mins(1));
}

/// Takes batches, but none with the second event in it.
struct Picky;

#[async_trait]
impl EventPublisher for Picky {
    async fn publish(&self, _: &CloudEvent) -> Outcome {
        Outcome::retry("HTTP 400")
    }

    async fn publish_batch(&self, batch: &Batch<'_>) -> BatchOutcome {
        if batch.ids().any(|id| id == "task-2-1") {
            let why = "HTTP 400".to_owned();
            return BatchOutcome::TakeApart { why };
        }
        BatchOutcome::Whole(Outcome::Done { detail: None })
    }
}

/// The delivery of the ends of these tasks.
fn batch(of: std::ops::RangeInclusive<i64>) -> (String, String) {
    let ends: Vec<String> = of
        .clone()
        .map(|n| {
            format!(
                r#"[{n}, 1, "article:{n}", "ARTICLE_PUBLISH", "SUCCESS", 1, 0, [1, 2, 3], null]"#
            )
        })
        .collect();
    let subject = format!("event:task-{}-1+{}@audit", of.start(), ends.len() - 1);
    (
        subject,
        format!(r#"{{"source": "/a", "ended": [{}]}}"#, ends.join(",")),
    )
}

/// What is refused ends up alone; everything else is delivered in few calls. Asked again, because
/// the end of the first attempt was lost, nothing is written twice.
#[tokio::test]
async fn a_refused_event_does_not_hold_up_its_batch() {
    let store = store();
    let handler = EventDeliveryHandler::new(Arc::clone(&store)).with("audit", Arc::new(Picky));
    let (subject, events) = batch(1..=4);
    for attempt in 1..=2 {
        let ended = handler.attempt(&publishing(&subject, &events)).await;
        assert_eq!(ended.name(), "done", "attempt {attempt}: {ended:?}");
        let parts = ["event:task-1-1+1@audit", "event:task-3-1+1@audit"];
        assert_eq!(published(&*store).await, parts, "attempt {attempt}");
    }
    let (subject, events) = batch(1..=2);
    handler.attempt(&publishing(&subject, &events)).await;
    let alone = ["event:task-1-1@audit", "event:task-2-1@audit"];
    assert_eq!(published(&*store).await[2..], alone);
    let (subject, events) = batch(3..=4);
    let ended = handler.attempt(&publishing(&subject, &events)).await;
    assert_eq!(ended, Outcome::Done { detail: None });
    assert_eq!(published(&*store).await.len(), 4, "nothing more");
}

/// Batches that wait for a subscription that no longer takes any are taken apart.
#[tokio::test]
async fn a_batch_for_one_at_a_time_is_taken_apart() {
    let store = store();
    let crier = Arc::new(Crier::default());
    let handler = EventDeliveryHandler::new(Arc::clone(&store)).with("audit", crier.clone());
    let (subject, events) = batch(1..=2);
    let ended = handler.attempt(&publishing(&subject, &events)).await;
    assert_eq!(ended.name(), "done");
    assert!(crier.0.lock().unwrap().is_empty());
    let alone = ["event:task-1-1@audit", "event:task-2-1@audit"];
    assert_eq!(published(&*store).await, alone);
}
