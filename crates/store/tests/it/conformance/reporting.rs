//! Tasks that deliver an event: written with its cause, in one transaction, or not at all.

use std::sync::Arc;

use almanack_core::{
    edition::account::Change,
    event::outgoing::{Carried, KIND, Name, Subscription, Subscriptions, Wants},
    store::{EditionWritten, Finished, Store, TaskFilter, Written},
    task::{Expiry, NewTask, Payload, Priority, Revision, Status, Tags},
};
use almanack_testkit::fixture::{
    PUBLISH, START, at, claim_request, found, identity, kind, next_look, payload, put, source,
};
use jiff::Timestamp;

use super::{
    changed, claim_one, claimed, done, end, ending, failed, followed, looked, opened, plant,
    plant_many, refused, task,
};

/// A task that delivers `what`, due at `due_at`.
pub(super) fn report(what: &str, due_at: Timestamp) -> NewTask {
    NewTask {
        identity: identity(&format!("event:{what}@audit"), KIND),
        status: Status::Init,
        execute_at: due_at,
        payload: payload(r#"{"id": "x"}"#),
        callback_url: None,
        call_options: None,
        share_key: None,
        expiry: Expiry::NEVER,
        priority: Priority::LOW,
        max_retry: 7,
        revision: Revision::NONE,
        tags: Tags::NONE,
        origin: "subscription".to_owned(),
        replaces: None,
    }
}

/// Events to deliver, by subject, oldest first.
async fn deliveries(store: &dyn Store) -> Vec<String> {
    let filter = TaskFilter {
        kind: Some(kind(KIND)),
        limit: 10_000,
        ..TaskFilter::default()
    };
    let rows = store.list_tasks(&filter).await.expect("list_tasks").rows;
    let subjects = rows.iter().map(|row| row.identity.subject.to_string());
    subjects.rev().collect()
}

/// One attempt that ended for good, with two subscribers, is two tasks that are due at once.
pub(crate) async fn an_ending_is_reported_with_the_ending(store: Arc<dyn Store>) {
    plant(&*store, put("article:1", PUBLISH, START), START).await;
    let attempt = claim_one(&*store, 1, START).await;
    let mut finish = ending(&attempt, &done(), at(2));
    finish.event_tasks = vec![report("a", at(2)), report("b", at(2))];
    let answers = store.finish(vec![finish]).await.unwrap();
    assert_eq!(answers, [Finished::Applied]);
    assert_eq!(task(&*store, attempt.id).await.status, Status::Success);
    let reporting = claimed(&*store, claim_request(2, at(2), 10)).await;
    assert_eq!(reporting.len(), 2);
    for delivery in &reporting {
        assert_eq!((delivery.max_retry, delivery.execute_at), (7, at(2)));
        assert_eq!(
            delivery.payload,
            Payload::from_store(r#"{"id": "x"}"#.into())
        );
        let row = task(&*store, delivery.id).await;
        assert_eq!((row.created_at, row.priority), (at(2), Priority::LOW));
        assert_eq!(row.origin, "subscription");
    }
}

/// Events of endings that are written together travel together, in the order of the endings; those
/// of endings that came too late are not among them.
pub(crate) async fn endings_share_their_deliveries(store: Arc<dyn Store>) {
    let subscriptions = Subscriptions {
        source: "/test".to_owned(),
        all: vec![Subscription {
            name: Name::parse("audit").unwrap(),
            wants: Wants::default(),
            batch: Some(3),
        }],
    };
    plant_many(&*store, "article", PUBLISH, 6, START).await;
    let tasks = claimed(&*store, claim_request(1, START, 6)).await;
    end(&*store, &tasks[1], &done(), at(1)).await;
    let finish = |task| {
        let mut finish = ending(task, &done(), at(2));
        subscriptions.add_to(task, &mut finish);
        finish
    };
    // Not in the order in which the rows are.
    let finishes: Vec<_> = tasks.iter().rev().map(finish).collect();
    for (round, first) in [Finished::Applied, Finished::Late].into_iter().enumerate() {
        let answers = store.finish(finishes.clone()).await.unwrap();
        assert_eq!((answers[0], answers[4]), (first, Finished::Late));
        let id = |n: usize| format!("task-{}-1", tasks[n].id);
        let expected = [
            format!("event:{}+2@audit", id(5)),
            format!("event:{}+1@audit", id(2)),
        ];
        let mut found = deliveries(&*store).await;
        found.sort_by_key(|subject| !subject.contains("+2"));
        assert_eq!(found, expected, "round {round}");
    }
    let reporting = claimed(&*store, claim_request(2, at(2), 10)).await;
    assert_eq!(reporting.len(), 2);
    let carried = reporting.iter().map(|task| match Carried::read(task) {
        Some(Carried::Many(batch)) => batch.count(),
        other => panic!("{other:?}"),
    });
    assert_eq!(carried.sum::<usize>(), 5);
    assert_eq!(reporting[0].execute_at, at(2));
}

/// A node that was too late sends no event; nor does a node that repeats an outcome.
pub(crate) async fn a_late_ending_is_not_reported(store: Arc<dyn Store>) {
    plant(&*store, put("article:1", PUBLISH, START), START).await;
    let attempt = claim_one(&*store, 1, START).await;
    let mut mine = ending(&attempt, &refused(), at(3));
    mine.event_tasks = vec![report("late", at(3))];
    end(&*store, &attempt, &done(), at(2)).await;
    for _ in 0..2 {
        let answers = store.finish(vec![mine.clone()]).await.unwrap();
        assert_eq!(answers, [Finished::Late]);
    }
    assert_eq!(deliveries(&*store).await, [""; 0]);
}

/// Of a batch, only those that took effect have events, with and without a row of history.
pub(crate) async fn of_many_endings_those_are_reported_that_took_effect(store: Arc<dyn Store>) {
    plant_many(&*store, "article", PUBLISH, 4, START).await;
    let tasks = claimed(&*store, claim_request(1, START, 4)).await;
    end(&*store, &tasks[1], &done(), at(1)).await;
    let outcomes = [done(), done(), failed(), refused()];
    let finishes = tasks.iter().zip(&outcomes).enumerate();
    let finishes = finishes.map(|(n, (task, outcome))| {
        let mut finish = ending(task, outcome, at(2));
        finish.event_tasks = vec![report(&n.to_string(), at(2))];
        finish
    });
    let mut finishes: Vec<_> = finishes.collect();
    // The same attempt once more: the first counts.
    let mut again = finishes[3].clone();
    again.event_tasks = vec![report("again", at(2))];
    finishes.push(again);
    store.finish(finishes).await.unwrap();
    let mut delivery = deliveries(&*store).await;
    delivery.sort();
    assert_eq!(
        delivery,
        ["event:0@audit", "event:2@audit", "event:3@audit"],
        "and neither 1 nor again"
    );
}

/// An earlier event is left as it is, whatever became of it.
pub(crate) async fn what_is_being_reported_is_left_alone(store: Arc<dyn Store>) {
    plant_many(&*store, "article", PUBLISH, 2, START).await;
    let tasks = claimed(&*store, claim_request(1, START, 2)).await;
    for (n, attempt) in tasks.iter().enumerate() {
        let mut finish = ending(attempt, &done(), at(1));
        finish.event_tasks = vec![report("same", at(1))];
        assert_eq!(store.finish(vec![finish]).await.unwrap().len(), 1);
        if n == 0 {
            let reporting = claim_one(&*store, 2, at(1)).await;
            end(&*store, &reporting, &done(), at(2)).await;
        }
    }
    assert_eq!(deliveries(&*store).await, ["event:same@audit"]);
    assert!(
        claimed(&*store, claim_request(3, at(3), 9))
            .await
            .is_empty()
    );
}

/// New entries' events are written with the source's row; a look that was lost has none.
pub(crate) async fn entries_are_reported_with_their_source(store: Arc<dyn Store>) {
    let seen = followed(&*store, source("a")).await;
    let mut write = next_look(&seen, at(1), |after| after.stats.check_count = 1);
    write.entries = vec![found("1", None)];
    write.event_tasks = vec![report("first", at(1))];
    let mut stale = write.clone();
    stale.event_tasks = vec![report("stale", at(1))];
    assert_eq!(looked(&*store, write).await, Written::Done);
    assert_eq!(looked(&*store, stale).await, Written::Lost);
    assert_eq!(deliveries(&*store).await, ["event:first@audit"]);
}

/// A source that moves has an event too, unless its new address is taken.
pub(crate) async fn a_source_that_moves_is_reported_of(store: Arc<dyn Store>) {
    let (seen, other) = (
        followed(&*store, source("a")).await,
        followed(&*store, source("b")).await,
    );
    let moved = |to: &str, what: &str| {
        let mut write = next_look(&seen, at(1), |after| {
            to.clone_into(&mut after.definition.address);
        });
        write.event_tasks = vec![report(what, at(1))];
        write
    };
    let onto = moved(&other.definition.address, "taken");
    assert_eq!(looked(&*store, onto).await, Written::Taken(other.id));
    let free = moved("https://free.example/feed", "moved");
    assert_eq!(looked(&*store, free).await, Written::Done);
    assert_eq!(deliveries(&*store).await, ["event:moved@audit"]);
}

/// A delivery's event is written with its edition; a change that was lost has none.
pub(crate) async fn an_edition_is_reported_with_its_change(store: Arc<dyn Store>) {
    let seen = opened(&*store, 0).await.edition;
    let mut change = Change::of(seen);
    change.edition.updated_at = at(5);
    change.event_tasks = vec![report("out", at(5))];
    let mut stale = change.clone();
    stale.event_tasks = vec![report("stale", at(5))];
    changed(&*store, change).await;
    let lost = store.write_edition(stale).await.unwrap();
    assert_eq!(lost, EditionWritten::Lost);
    assert_eq!(deliveries(&*store).await, ["event:out@audit"]);
    let reporting = claim_one(&*store, 1, at(5)).await;
    assert_eq!(task(&*store, reporting.id).await.created_at, at(5));
}
