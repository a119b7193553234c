//! Changes of intent: insert, amend, replace, annotate.

use std::sync::Arc;

use almanack_core::{
    reschedule::{Put, Request, Rule},
    store::{Applied, Finished, HistoryPage, Store},
    task::{Priority, Revision, Status, Term},
};
use almanack_testkit::fixture::{
    PUBLISH, START, at, cancel, cancel_rev, claim_request, identity, payload, put, put_rev,
};

use super::{
    ORIGIN, applied, ask, claim_one, claimed, current, decided, done, end, ending, plant,
    plant_many, refused, task,
};

fn put_at(seconds: i64) -> Request {
    Request::Put(put("article:1", PUBLISH, at(seconds)))
}

/// A put that says everything.
fn full_put() -> Put {
    Put {
        payload: Some(payload(r#"{"a": [1, null]}"#)),
        callback_url: Some("http://127.0.0.1:9/publish?x=1&y=%20".to_owned()),
        max_retry: Some(7),
        priority: Some(Priority::new(9).unwrap()),
        revision: Some(Revision(41)),
        ..put("article:1", PUBLISH, at(60))
    }
}

/// Every field of a new row is what the change said or what the contract says.
pub(crate) async fn rs_05_an_insert_writes_the_whole_row(store: Arc<dyn Store>) {
    let request = full_put();
    let id = plant(&*store, request.clone(), START).await;
    let row = current(&*store, &request.identity)
        .await
        .expect("just planted");
    assert_eq!(
        (row.id, &row.identity, row.status),
        (id, &request.identity, Status::Init)
    );
    assert!(row.current);
    assert_eq!((row.execute_at, row.due_at), (at(60), Some(at(60))));
    assert_eq!(
        (Some(&row.payload), &row.callback_url),
        (request.payload.as_ref(), &request.callback_url)
    );
    assert_eq!((row.priority.level(), row.max_retry), (9, 7));
    assert_eq!((row.attempt, row.term, row.decisions), (0, Term(0), 0));
    assert_eq!((row.revision, row.origin.as_str()), (Revision(41), ORIGIN));
    assert_eq!((row.created_at, row.created_execute_at), (START, at(60)));
    assert_eq!(
        (row.detail, row.node, row.lease_until, row.replaces),
        (None, None, None, None)
    );
    assert_eq!((row.started_at, row.finished_at), (None, None));
}

/// Two decisions made from "nothing there": the second must decide again.
pub(crate) async fn rs_01_a_second_insert_for_an_identity_is_lost(store: Arc<dyn Store>) {
    let first = decided(&*store, &put_at(60), START).await;
    let second = decided(&*store, &put_at(90), START).await;
    assert!(matches!(
        applied(&*store, first).await,
        Applied::Done { inserted: Some(_) }
    ));
    assert_eq!(applied(&*store, second).await, Applied::Lost);
    let row = current(&*store, &identity("article:1", PUBLISH))
        .await
        .unwrap();
    assert_eq!(
        (row.execute_at, row.decisions),
        (at(60), 0),
        "nothing of the lost one is left"
    );
}

/// The same within one call, and a neighbour in the batch is not dragged along.
pub(crate) async fn rs_01_of_two_inserts_in_one_batch_one_is_lost(store: Arc<dyn Store>) {
    let first = decided(&*store, &put_at(60), START).await;
    let second = decided(&*store, &put_at(90), START).await;
    let other = decided(
        &*store,
        &Request::Put(put("article:2", PUBLISH, at(60))),
        START,
    )
    .await;
    let answers = store.apply(vec![first, second, other]).await.unwrap();
    assert!(
        matches!(answers[0], Applied::Done { inserted: Some(_) }),
        "{answers:?}"
    );
    assert_eq!(answers[1], Applied::Lost);
    assert!(
        matches!(answers[2], Applied::Done { inserted: Some(_) }),
        "{answers:?}"
    );
    let row = current(&*store, &identity("article:1", PUBLISH))
        .await
        .unwrap();
    assert_eq!(row.execute_at, at(60));
}

/// The database itself refuses a second current row, however the callers race.
pub(crate) async fn rs_01_of_many_concurrent_inserts_exactly_one_is_done(store: Arc<dyn Store>) {
    for round in 0..10 {
        let subject = format!("article:{round}");
        let request = Request::Put(put(&subject, PUBLISH, at(60)));
        let change = decided(&*store, &request, START).await;
        let racers: Vec<_> = (0..8)
            .map(|_| {
                let (store, change) = (Arc::clone(&store), change.clone());
                tokio::spawn(async move { applied(&*store, change).await })
            })
            .collect();
        let mut winners = 0;
        for racer in racers {
            winners += usize::from(racer.await.expect("a racer") != Applied::Lost);
        }
        assert_eq!(winners, 1, "round {round}");
        let records = store
            .load_history(&identity(&subject, PUBLISH), HistoryPage::WHOLE)
            .await
            .unwrap();
        assert_eq!(records.tasks.len(), 1, "round {round}");
    }
}

/// The same row with a new time, a new revision and one decision more.
pub(crate) async fn rs_02_an_amendment_moves_the_row_in_place(store: Arc<dyn Store>) {
    let created = ask(&*store, &put_rev("article:1", PUBLISH, at(60), 1), START).await;
    let before = task(&*store, created.task_id).await;
    let moved = ask(&*store, &put_rev("article:1", PUBLISH, at(600), 2), at(1)).await;
    assert_eq!(
        (moved.rule, moved.task_id),
        (Rule::Updated, created.task_id)
    );
    let mut expected = before;
    expected.execute_at = at(600);
    expected.due_at = Some(at(600));
    expected.revision = Revision(2);
    expected.decisions = 1;
    assert_eq!(
        task(&*store, created.task_id).await,
        expected,
        "and nothing else changed"
    );
}

/// What a put does not mention stays; what it mentions is replaced.
pub(crate) async fn an_amendment_changes_what_it_says_and_leaves_the_rest(store: Arc<dyn Store>) {
    let id = plant(&*store, full_put(), START).await;
    let before = task(&*store, id).await;
    ask(&*store, &put_rev("article:1", PUBLISH, at(90), 42), START).await;
    let silent = task(&*store, id).await;
    assert_eq!(
        (&silent.payload, &silent.callback_url),
        (&before.payload, &before.callback_url)
    );
    assert_eq!(
        (silent.priority, silent.max_retry),
        (before.priority, before.max_retry)
    );

    let request = Put {
        payload: Some(payload("[]")),
        callback_url: Some("http://127.0.0.1:9/other".to_owned()),
        max_retry: Some(0),
        priority: Some(Priority::new(0).unwrap()),
        revision: Some(Revision(43)),
        ..put("article:1", PUBLISH, at(90))
    };
    ask(&*store, &Request::Put(request), START).await;
    let row = task(&*store, id).await;
    assert_eq!(row.payload.as_str(), "[]");
    assert_eq!(
        row.callback_url.as_deref(),
        Some("http://127.0.0.1:9/other")
    );
    assert_eq!((row.priority.level(), row.max_retry), (0, 0));
}

/// Both in one step: at no time are there two live rows, or none.
pub(crate) async fn rs_03_a_replacement_cancels_the_running_row_and_writes_its_successor(
    store: Arc<dyn Store>,
) {
    plant(&*store, put("article:1", PUBLISH, START), START).await;
    let running = claim_one(&*store, 1, START).await;
    let replaced = ask(&*store, &put_at(600), at(1)).await;
    assert_eq!(replaced.rule, Rule::CancelledAndInserted);
    assert_eq!(replaced.cancelled_task_id, Some(running.id));
    let old = task(&*store, running.id).await;
    assert_eq!(
        (old.status, old.current, old.due_at),
        (Status::Cancelled, false, None)
    );
    assert_eq!(
        (old.term, old.attempt),
        (running.term, 1),
        "what it was is still shown"
    );
    let new = current(&*store, &running.identity).await.unwrap();
    assert_eq!((new.id, new.status), (replaced.task_id, Status::Init));
    assert!(
        new.id > old.id,
        "rows are numbered in the order they were written"
    );
    assert_eq!((new.due_at, new.replaces), (Some(at(600)), Some(old.id)));
    assert_eq!(
        (new.attempt, new.term),
        (0, Term(0)),
        "a new row starts afresh"
    );
}

/// A FAIL that is spent stays a FAIL; only its being current passes on.
pub(crate) async fn rs_05_a_successor_leaves_the_ended_row_as_it_ended(store: Arc<dyn Store>) {
    plant(&*store, put("article:1", PUBLISH, START), START).await;
    let attempt = claim_one(&*store, 1, START).await;
    end(&*store, &attempt, &refused(), at(1)).await;
    let before = task(&*store, attempt.id).await;
    let receipt = ask(&*store, &put_at(600), at(2)).await;
    assert_eq!(receipt.rule, Rule::Reinserted);
    let mut expected = before;
    expected.current = false;
    expected.decisions = 1;
    assert_eq!(task(&*store, attempt.id).await, expected);
    let new = current(&*store, &attempt.identity).await.unwrap();
    assert_eq!((new.id, new.due_at), (receipt.task_id, Some(at(600))));
}

/// Only the count of decisions moves, so that the next guard differs.
pub(crate) async fn rs_04_an_annotation_leaves_the_row_as_it_is(store: Arc<dyn Store>) {
    plant(&*store, put("article:1", PUBLISH, START), START).await;
    let attempt = claim_one(&*store, 1, START).await;
    end(&*store, &attempt, &done(), at(1)).await;
    let mut expected = task(&*store, attempt.id).await;
    let receipt = ask(&*store, &put_at(600), at(2)).await;
    assert_eq!(
        (receipt.rule, receipt.task_id),
        (Rule::IgnoredDone, attempt.id)
    );
    expected.decisions = 1;
    assert_eq!(task(&*store, attempt.id).await, expected);
}

/// A redelivered event while the task runs must not cost the node its claim.
pub(crate) async fn an_annotation_does_not_disturb_a_running_attempt(store: Arc<dyn Store>) {
    ask(&*store, &put_rev("article:1", PUBLISH, START, 3), START).await;
    let attempt = claim_one(&*store, 1, START).await;
    let mut expected = task(&*store, attempt.id).await;
    let again = ask(&*store, &put_rev("article:1", PUBLISH, START, 3), at(1)).await;
    assert_eq!(again.rule, Rule::Unchanged);
    expected.decisions = 1;
    assert_eq!(task(&*store, attempt.id).await, expected);
    assert_eq!(
        end(&*store, &attempt, &done(), at(2)).await,
        Finished::Applied
    );
}

/// A withdrawal that overtook its creation is remembered, and the creation comes too late.
pub(crate) async fn rs_10_a_withdrawals_mark_is_kept_and_never_claimed(store: Arc<dyn Store>) {
    let tombstone = ask(&*store, &cancel_rev("article:1", PUBLISH, 2), START).await;
    let row = task(&*store, tombstone.task_id).await;
    assert_eq!(
        (row.status, row.current, row.due_at),
        (Status::Cancelled, true, None)
    );
    assert_eq!(row.revision, Revision(2));
    assert_eq!(claimed(&*store, claim_request(1, at(86_400), 10)).await, []);
    let late = ask(&*store, &put_rev("article:1", PUBLISH, at(60), 1), at(1)).await;
    assert_eq!(
        (late.rule, late.task_id),
        (Rule::IgnoredStale, tombstone.task_id)
    );
    let newer = ask(&*store, &put_rev("article:1", PUBLISH, at(60), 3), at(2)).await;
    assert_eq!(newer.rule, Rule::Reinserted);
}

/// Withdrawing a waiting row ends it in place.
pub(crate) async fn a_withdrawn_row_waits_for_nothing(store: Arc<dyn Store>) {
    let id = plant(&*store, put("article:1", PUBLISH, at(60)), START).await;
    let receipt = ask(
        &*store,
        &Request::Cancel(cancel("article:1", PUBLISH)),
        at(1),
    )
    .await;
    assert_eq!((receipt.rule, receipt.task_id), (Rule::Cancelled, id));
    let row = task(&*store, id).await;
    assert_eq!(
        (row.status, row.current, row.due_at),
        (Status::Cancelled, true, None)
    );
    assert_eq!(row.execute_at, at(60), "its scheduled time is still shown");
    assert!(!row.is_live());
}

/// Each change is independent: a lost one in the middle moves no answer and undoes no other.
pub(crate) async fn answers_come_in_the_order_asked(store: Arc<dyn Store>) {
    plant(&*store, put("article:2", PUBLISH, at(60)), START).await;
    let insert = decided(&*store, &put_at(60), START).await;
    let update = Request::Put(put("article:2", PUBLISH, at(90)));
    let update = decided(&*store, &update, START).await;
    let repeated = update.clone();
    let last = decided(
        &*store,
        &Request::Put(put("article:3", PUBLISH, at(60))),
        START,
    )
    .await;
    let answers = store
        .apply(vec![insert, update, repeated, last])
        .await
        .unwrap();
    let shape: Vec<&str> = answers
        .iter()
        .map(|answer| match answer {
            Applied::Done { inserted: Some(_) } => "inserted",
            Applied::Done { inserted: None } => "amended",
            Applied::Repeated { .. } => "repeated",
            Applied::Lost => "lost",
        })
        .collect();
    assert_eq!(shape, ["inserted", "amended", "lost", "inserted"]);
    for (answer, subject) in [(answers[0], "article:1"), (answers[3], "article:3")] {
        let row = current(&*store, &identity(subject, PUBLISH)).await.unwrap();
        assert_eq!(
            answer,
            Applied::Done {
                inserted: Some(row.id)
            },
            "{subject}"
        );
    }
}

/// Nothing asked, nothing answered.
pub(crate) async fn an_empty_batch_is_answered_with_nothing(store: Arc<dyn Store>) {
    assert_eq!(store.apply(Vec::new()).await.unwrap(), []);
    assert_eq!(store.finish(Vec::new()).await.unwrap(), []);
    assert_eq!(store.load_current(&[]).await.unwrap(), []);
    store.release_claims(&[]).await.unwrap();
    store.extend_claims(&[], START, at(1)).await.unwrap();
}

/// Missing identities answer `None` in their place; asking twice answers twice.
pub(crate) async fn current_rows_come_in_the_order_asked(store: Arc<dyn Store>) {
    let ids = plant_many(&*store, "article", PUBLISH, 3, START).await;
    plant(&*store, put("article:0", "ARTICLE_AUDIT", at(60)), START).await;
    let asked = [
        identity("article:2", PUBLISH),
        identity("article:9", PUBLISH),
        identity("article:0", PUBLISH),
        identity("article:0", "UNKNOWN"),
        identity("article:2", PUBLISH),
    ];
    let rows = store.load_current(&asked).await.unwrap();
    let found: Vec<_> = rows.into_iter().map(|row| row.map(|row| row.id)).collect();
    assert_eq!(
        found,
        [Some(ids[2]), None, Some(ids[0]), None, Some(ids[2])]
    );
}

/// Thousands in one call, as an import sends them: all in one go, each answered in its place.
pub(crate) async fn a_large_batch_is_answered_in_full(store: Arc<dyn Store>) {
    let ids = plant_many(&*store, "article", PUBLISH, 5000, START).await;
    for n in [0, 1, 2500, 4999] {
        let row = current(&*store, &identity(&format!("article:{n}"), PUBLISH))
            .await
            .unwrap();
        assert_eq!(row.id, ids[n], "article:{n}");
    }
    let taken = claimed(&*store, claim_request(1, START, 5000)).await;
    assert_eq!(taken.len(), 5000);
    let finishes = taken
        .iter()
        .map(|task| ending(task, &done(), at(1)))
        .collect();
    let answers = store.finish(finishes).await.unwrap();
    assert_eq!(answers, vec![Finished::Applied; 5000]);
}
