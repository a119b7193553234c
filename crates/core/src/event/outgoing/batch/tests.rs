use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::{
    backoff::Backoff,
    event::outgoing::{KIND, Subscription, Subscriptions, Wants},
    finish::finish,
    fixture::{NOW, at},
    task::{Expiry, Revision, TaskId, Term},
};

/// The event of task `number`, whose subject is as long as asked for.
fn loose_of(subscription: &str, batch: usize, number: usize, subject: &str) -> LooseEvent {
    let task = ClaimedTask {
        id: TaskId(i64::try_from(number).unwrap()),
        ..claimed(&identity(subject, "ARTICLE_PUBLISH"), Payload::default(), 1)
    };
    let done = Outcome::Done {
        detail: Some("HTTP \"200\"".to_owned()),
    };
    let mut finish = finish(&task, &done, &Backoff::default(), NOW, 0);
    let subscriptions = Subscriptions {
        source: "/almanack".to_owned(),
        all: vec![Subscription {
            name: Name::parse(subscription).unwrap(),
            wants: Wants::default(),
            batch: Some(batch),
        }],
    };
    subscriptions.add_to(&task, &mut finish);
    assert_eq!(finish.event_tasks, []);
    finish.loose_events.remove(0)
}

fn loose(subscription: &str, batch: usize, number: usize) -> LooseEvent {
    loose_of(subscription, batch, number, &format!("article:{number}"))
}

fn identity(subject: &str, kind: &str) -> Identity {
    Identity::parse(subject, kind).unwrap()
}

fn subjects(tasks: &[NewTask]) -> Vec<&str> {
    let subjects = tasks.iter().map(|new| new.identity.subject.as_str());
    subjects.collect()
}

fn claimed(identity: &Identity, payload: Payload, attempt: u32) -> ClaimedTask {
    ClaimedTask {
        id: TaskId(1),
        identity: identity.clone(),
        term: Term(1),
        attempt,
        max_retry: 3,
        expiries: 0,
        execute_at: NOW,
        started_at: NOW,
        payload,
        callback_url: None,
        call_options: None,
        expiry: Expiry::NEVER,
        revision: Revision::NONE,
    }
}

/// The numbers of the tasks whose events are in a delivery.
fn numbers(new: &NewTask) -> Vec<u64> {
    let task = claimed(&new.identity, new.payload.clone(), 1);
    let events = match Carried::read(&task).unwrap() {
        Carried::One(event) => vec![serde_json::to_value(event).unwrap()],
        Carried::Many(batch) => serde_json::from_str(&batch.body()).unwrap(),
    };
    let number = |event: &Value| event["data"]["task_id"].as_u64().unwrap();
    events.iter().map(number).collect()
}

fn halves(new: &NewTask) -> Vec<NewTask> {
    let task = claimed(&new.identity, new.payload.clone(), 1);
    match Carried::read(&task) {
        Some(Carried::Many(batch)) => batch.halves(&task.identity, at(9)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn events_travel_together_in_order_each_to_its_own_subscriber() {
    let mut events: Vec<LooseEvent> = (1..=5).map(|n| loose("audit", 2, n)).collect();
    events.insert(1, loose("search-index", 9, 7));
    let tasks = gather(&events);
    let expected = [
        ("event:task-1-1+1@audit", vec![1, 2]),
        ("event:task-3-1+1@audit", vec![3, 4]),
        ("event:task-5-1@audit", vec![5]),
        ("event:task-7-1@search-index", vec![7]),
    ];
    let found: Vec<_> = subjects(&tasks)
        .into_iter()
        .zip(tasks.iter().map(numbers))
        .collect();
    assert_eq!(found, expected);
    assert!(tasks.iter().all(|new| new.due_at() == Some(NOW)));
    assert_eq!(gather(&[]), []);
}

/// However many are allowed, a batch stays short enough to be received.
#[test]
fn a_batch_has_a_longest_length() {
    let subject = "x".repeat(crate::task::SUBJECT_BYTES_MAX);
    let events: Vec<LooseEvent> = (0..5_000)
        .map(|n| loose_of("audit", 5_000, n, &subject))
        .collect();
    let tasks = gather(&events);
    let counted: u64 = tasks.iter().map(|new| count_of(&new.identity)).sum();
    assert_eq!(counted, 5_000);
    for new in tasks {
        let task = claimed(&new.identity, new.payload.clone(), 1);
        let Some(Carried::Many(batch)) = Carried::read(&task) else {
            panic!("a batch");
        };
        assert!(batch.body().len() <= BATCH_BYTES_MAX, "{}", batch.id);
    }
}

#[test]
fn a_batch_is_taken_apart_until_each_event_is_alone() {
    let events: Vec<LooseEvent> = (1..=5).map(|n| loose("audit", 9, n)).collect();
    let [whole] = &gather(&events)[..] else {
        panic!("one batch");
    };
    let parts = halves(whole);
    assert_eq!(
        subjects(&parts),
        ["event:task-1-1+1@audit", "event:task-3-1+2@audit"]
    );
    assert_eq!(
        [numbers(&parts[0]), numbers(&parts[1])],
        [vec![1, 2], vec![3, 4, 5]]
    );
    assert_eq!(parts[0].due_at(), Some(at(9)));
    let alone = halves(&parts[0]);
    assert_eq!(
        subjects(&alone),
        ["event:task-1-1@audit", "event:task-2-1@audit"]
    );
    assert_eq!(
        alone[0].payload,
        gather(&events[..1])[0].payload,
        "as if it had always been alone"
    );
}

/// A batch has the very events that would have been delivered one by one.
#[test]
fn what_a_delivery_carries() {
    let events: Vec<LooseEvent> = (1..=3).map(|n| loose("audit", 9, n)).collect();
    let new = gather(&events).remove(0);
    let task = claimed(&new.identity, new.payload, 4);
    let Some(Carried::Many(batch)) = Carried::read(&task) else {
        panic!("a batch");
    };
    assert_eq!((batch.id, batch.attempt), ("task-1-1+2", 4));
    assert_eq!(batch.count(), 3);
    let ids: Vec<String> = batch.ids().collect();
    assert_eq!(ids, ["task-1-1", "task-2-1", "task-3-1"]);
    let written = batch.written();
    assert_eq!(written.content_type, "application/cloudevents-batch+json");
    let alone = events.iter().map(|event| gather([event]).remove(0));
    let alone: Vec<String> = alone.map(|new| new.payload.as_str().to_owned()).collect();
    assert_eq!(written.body, format!("[{}]", alone.join(",")));
    let broken = ClaimedTask {
        payload: Payload::from_store("[1]".to_owned()),
        ..task
    };
    assert!(Carried::read(&broken).is_none());
}

#[test]
fn a_subject_says_how_many_events_there_are() {
    for (subject, count) in [
        ("event:task-1-1@audit", 1),
        ("event:task-1-1+99@audit", 100),
        ("event:edition-2026-01-05-1-a+b@audit", 1),
        ("event:task-1-1", 1),
    ] {
        assert_eq!(count_of(&identity(subject, KIND)), count, "{subject}");
    }
}

proptest! {
    /// Whatever is gathered and however it is taken apart, each event is delivered once.
    #[test]
    fn nothing_is_lost_or_doubled(
        all in prop::collection::vec((0..3_usize, 1..7_usize), 0..60), apart in 0..6,
    ) {
        let names = ["a", "b", "c"];
        let event = |(n, (name, batch)): (usize, &(usize, usize))| loose(names[*name], *batch, n);
        let events: Vec<LooseEvent> = all.iter().enumerate().map(event).collect();
        let mut tasks = gather(&events);
        for _ in 0..apart {
            let split = |new: NewTask| match count_of(&new.identity) {
                1 => vec![new],
                _ => halves(&new),
            };
            tasks = tasks.into_iter().flat_map(split).collect();
        }
        let identities: std::collections::BTreeSet<_> =
            tasks.iter().map(|new| new.identity.clone()).collect();
        prop_assert_eq!(identities.len(), tasks.len());
        let mut delivered: Vec<u64> = tasks.iter().flat_map(numbers).collect();
        delivered.sort_unstable();
        let all: Vec<u64> = (0..events.len() as u64).collect();
        prop_assert_eq!(delivered, all);
        let counted: u64 = tasks.iter().map(|new| count_of(&new.identity)).sum();
        prop_assert_eq!(counted, events.len() as u64);
    }
}
