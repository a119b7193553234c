//! Events: who is notified of what the engine writes, and how tasks that deliver events end.

use std::sync::{Arc, Mutex};

use almanack_core::{
    event::outgoing::{CloudEvent, EventPublisher, KIND, Name, Subscription, Subscriptions, Wants},
    finish::Outcome,
    handler::Handler,
    store::{Store, TaskFilter},
    task::{ClaimedTask, Revision, TaskId, Term},
};
use almanack_engine::{event_delivery::EventDeliveryHandler, reloadable::Reloadable};
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
        revision: Revision::NONE,
    }
}

#[tokio::test]
async fn a_event_goes_to_its_own_subscriber() {
    let (audit, other) = (Arc::new(Crier::default()), Arc::new(Crier::default()));
    let handler = EventDeliveryHandler::default()
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
    let handler = EventDeliveryHandler::default().with("audit", Arc::new(Crier::default()));
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
    let handler = EventDeliveryHandler::default();
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
