//! Retention: what is over goes, what lives stays.

use std::sync::Arc;

use almanack_core::{
    reschedule::{Request, Rule},
    store::{AppliedOnce, HistoryPage, OnceKey, Records, Store},
    task::TaskId,
};
use almanack_testkit::fixture::{
    PUBLISH, START, at, cancel, cancel_rev, claim_request, identity, put,
};

use jiff::Timestamp;

use super::{
    ask, claim_one, claimed, current, decided, done, end, failed, plant, plant_many, refused, task,
};

/// Plants, claims and ends one task; everything at `seconds`.
async fn ended(store: &dyn Store, subject: &str, seconds: i64) -> TaskId {
    plant(store, put(subject, PUBLISH, at(seconds)), at(seconds)).await;
    let attempt = claim_one(store, seconds + 1, at(seconds)).await;
    end(store, &attempt, &done(), at(seconds)).await;
    attempt.id
}

/// Walks to the end; answers how many rows went.
async fn pruned(store: &dyn Store, before: Timestamp) -> usize {
    let (mut rows, mut after) = (0, Some(TaskId(0)));
    while let Some(from) = after {
        let step = store.prune(before, from, 100).await.unwrap();
        rows += step.rows;
        after = step.next;
    }
    rows
}

/// Waiting, running and waiting to be retried are live however old; recent ends stay.
pub(crate) async fn only_rows_that_ended_before_the_bound_go(store: Arc<dyn Store>) {
    let success = ended(&*store, "success:1", 0).await;
    plant(&*store, put("spent:1", PUBLISH, START), START).await;
    let spent = claim_one(&*store, 101, START).await;
    end(&*store, &spent, &refused(), START).await;
    let withdrawn = plant(&*store, put("withdrawn:1", PUBLISH, START), START).await;
    ask(
        &*store,
        &Request::Cancel(cancel("withdrawn:1", PUBLISH)),
        START,
    )
    .await;
    let tombstone = ask(&*store, &cancel_rev("tombstone:1", PUBLISH, 2), START)
        .await
        .task_id;
    plant(&*store, put("retried:1", PUBLISH, START), START).await;
    let retried = claim_one(&*store, 102, START).await;
    end(&*store, &retried, &failed(), START).await;
    ask(
        &*store,
        &Request::Put(put("retried:1", PUBLISH, at(5000))),
        START,
    )
    .await;
    plant(&*store, put("running:1", PUBLISH, START), START).await;
    let running = claim_one(&*store, 103, START).await;
    let waiting = plant(&*store, put("waiting:1", PUBLISH, at(9000)), START).await;
    let recent = ended(&*store, "recent:1", 1000).await;

    assert_eq!(pruned(&*store, at(1000)).await, 4);
    for gone in [success, spent.id, withdrawn, tombstone] {
        assert_eq!(store.load_task(gone).await.unwrap(), None);
    }
    for kept in [retried.id, running.id, waiting, recent] {
        assert!(task(&*store, kept).await.current);
    }
    assert_eq!(pruned(&*store, at(1000)).await, 0, "and is done");
}

/// No orphans: a new life of the identity starts with an empty story.
pub(crate) async fn a_pruned_row_takes_its_history_with_it(store: Arc<dyn Store>) {
    plant(&*store, put("article:1", PUBLISH, at(60)), START).await;
    ask(
        &*store,
        &Request::Put(put("article:1", PUBLISH, START)),
        START,
    )
    .await;
    let first = claim_one(&*store, 1, START).await;
    end(&*store, &first, &failed(), START).await;
    let last = claim_one(&*store, 2, at(60)).await;
    end(&*store, &last, &done(), at(61)).await;
    assert_eq!(pruned(&*store, at(100)).await, 1);
    let records = store
        .load_history(&identity("article:1", PUBLISH), HistoryPage::WHOLE)
        .await
        .unwrap();
    assert_eq!(records, Records::default());
}

/// In bites, until nothing is left.
pub(crate) async fn pruning_stops_at_its_limit(store: Arc<dyn Store>) {
    plant_many(&*store, "article", PUBLISH, 7, START).await;
    for attempt in claimed(&*store, claim_request(1, START, 7)).await {
        end(&*store, &attempt, &done(), START).await;
    }
    let (mut bites, mut after) = (Vec::new(), TaskId(0));
    for _ in 0..3 {
        let step = store.prune(at(1), after, 3).await.unwrap();
        bites.push(step.rows);
        after = step.next.unwrap_or(after);
    }
    assert_eq!(bites, [3, 3, 1]);
    let end = store.prune(at(1), after, 3).await.unwrap();
    assert_eq!((end.rows, end.next), (0, None), "the end of the walk");
}

/// A row that must not be touched does not hold up the walk, and costs one look.
pub(crate) async fn pruning_walks_past_what_stays(store: Arc<dyn Store>) {
    plant_many(&*store, "waiting", PUBLISH, 4, at(9000)).await;
    let old = ended(&*store, "article:1", 0).await;
    plant(&*store, put("waiting:9", PUBLISH, at(9000)), at(7)).await;
    let first = store.prune(at(1000), TaskId(0), 4).await.unwrap();
    assert_eq!((first.rows, first.oldest), (0, Some(at(9000))));
    let second = store.prune(at(1000), first.next.unwrap(), 4).await.unwrap();
    assert_eq!((second.rows, second.next), (1, None));
    assert_eq!(second.oldest, Some(START), "also of what went");
    let third = store.prune(at(1000), first.next.unwrap(), 4).await.unwrap();
    assert_eq!((third.rows, third.oldest), (0, Some(at(7))));
    let last = store.prune(at(1000), TaskId(i64::MAX), 4).await.unwrap();
    assert_eq!((last.next, last.oldest), (None, None));
    assert_eq!(store.load_task(old).await.unwrap(), None);
}

/// Withdrawn long ago, but a later change, one that changed nothing, left its number: until that is
/// old too, an older change must still be recognised (RS-10).
pub(crate) async fn rs_10_a_late_number_is_remembered_as_long_as_itself(store: Arc<dyn Store>) {
    ask(&*store, &cancel_rev("article:1", PUBLISH, 3), START).await;
    ask(&*store, &cancel_rev("article:1", PUBLISH, 5), at(900)).await;
    assert_eq!(
        pruned(&*store, at(800)).await,
        0,
        "revision 5 came after the bound"
    );
    assert_eq!(pruned(&*store, at(1000)).await, 1);
}

/// The replaced row goes, the live one stays the identity's own.
pub(crate) async fn an_identity_goes_on_after_its_past_is_pruned(store: Arc<dyn Store>) {
    plant(&*store, put("article:1", PUBLISH, START), START).await;
    let old = claim_one(&*store, 1, START).await;
    let receipt = ask(
        &*store,
        &Request::Put(put("article:1", PUBLISH, at(5000))),
        at(1),
    )
    .await;
    end(&*store, &old, &done(), at(2)).await;
    assert_eq!(pruned(&*store, at(1000)).await, 1);
    let records = store
        .load_history(&old.identity, HistoryPage::WHOLE)
        .await
        .unwrap();
    assert_eq!(records.tasks, [task(&*store, receipt.task_id).await]);
    assert_eq!((records.decisions, records.attempts), (vec![], vec![]));
    let moved = ask(
        &*store,
        &Request::Put(put("article:1", PUBLISH, at(6000))),
        at(2),
    )
    .await;
    assert_eq!(
        (moved.rule, moved.task_id),
        (Rule::Updated, receipt.task_id)
    );
}

/// Once even its end is forgotten, an identity is as new; its numbers are not used again.
pub(crate) async fn a_pruned_identity_can_be_created_anew(store: Arc<dyn Store>) {
    let old = ended(&*store, "article:1", 0).await;
    pruned(&*store, at(1000)).await;
    assert_eq!(
        current(&*store, &identity("article:1", PUBLISH)).await,
        None
    );
    let receipt = ask(
        &*store,
        &Request::Put(put("article:1", PUBLISH, at(5000))),
        at(1000),
    )
    .await;
    assert_eq!(receipt.rule, Rule::Created);
    assert!(
        receipt.task_id > old,
        "a receipt from before must not name another row"
    );
}

/// By when they were used.
pub(crate) async fn keys_used_before_the_bound_go(store: Arc<dyn Store>) {
    for (name, seconds) in [("old", 0), ("new", 1000)] {
        let request = Request::Put(put(&format!("{name}:1"), PUBLISH, at(9000)));
        let changes = vec![decided(&*store, &request, at(seconds)).await];
        let key = OnceKey {
            key: name.to_owned(),
            digest: String::new(),
        };
        let answer = store.apply_once(key, changes).await.unwrap();
        assert!(matches!(answer, AppliedOnce::Done(_)));
    }
    assert_eq!(pruned(&*store, at(1000)).await, 0, "both tasks still wait");
    assert_eq!(store.prune_keys(at(1000), 10).await.unwrap(), 1);
    assert_eq!(store.load_once("old").await.unwrap(), None);
    assert!(store.load_once("new").await.unwrap().is_some());
}

/// Whatever the number of tasks they are about, and in bites.
pub(crate) async fn sf_02_keys_are_pruned_as_fast_as_they_are_used(store: Arc<dyn Store>) {
    let request = Request::Put(put("article:1", PUBLISH, at(9000)));
    for number in 0..7 {
        let changes = vec![decided(&*store, &request, START).await];
        let key = OnceKey {
            key: format!("key-{number}"),
            digest: String::new(),
        };
        store.apply_once(key, changes).await.unwrap();
    }
    let mut bites = Vec::new();
    for _ in 0..3 {
        bites.push(store.prune_keys(at(1), 3).await.unwrap());
    }
    assert_eq!(bites, [3, 3, 1]);
    assert_eq!(store.prune_keys(at(1), 3).await.unwrap(), 0);
}

/// A task that lives for ever, is moved and comes again, does not keep all of that for ever.
pub(crate) async fn sf_02_the_old_history_of_a_live_task_goes(store: Arc<dyn Store>) {
    let request = |seconds| Request::Put(put("article:1", PUBLISH, at(seconds)));
    let row = ask(&*store, &request(100), START).await.task_id;
    ask(&*store, &request(50), at(1)).await;
    ask(&*store, &request(50), at(2)).await;
    let attempt = claim_one(&*store, 1, at(50)).await;
    end(&*store, &attempt, &failed(), at(51)).await;
    ask(&*store, &request(2_000), at(1_500)).await;
    let attempt = claim_one(&*store, 2, at(2_000)).await;
    end(&*store, &attempt, &failed(), at(2_001)).await;
    assert_eq!(pruned(&*store, at(1_000)).await, 0, "it lives");
    let who = identity("article:1", PUBLISH);
    let records = store.load_history(&who, HistoryPage::WHOLE).await.unwrap();
    let numbers: Vec<_> = records.decisions.iter().map(|d| d.id.number).collect();
    let terms: Vec<_> = records.attempts.iter().map(|a| a.term.0).collect();
    assert_eq!((numbers, terms), (vec![3], vec![2]));
    let live = task(&*store, row).await;
    assert!(live.is_live() && live.decisions == 3);
}

/// What took a row away is recorded as long as the row is there.
pub(crate) async fn rs_13_the_end_of_a_row_is_kept_with_it(store: Arc<dyn Store>) {
    let request = Request::Put(put("article:1", PUBLISH, at(9000)));
    ask(&*store, &request, START).await;
    let withdrawal = Request::Cancel(cancel("article:1", PUBLISH));
    ask(&*store, &withdrawal, at(1)).await;
    // A late request keeps the row, and with it its end.
    ask(&*store, &withdrawal, at(2_000)).await;
    assert_eq!(pruned(&*store, at(1_000)).await, 0);
    let who = identity("article:1", PUBLISH);
    let records = store.load_history(&who, HistoryPage::WHOLE).await.unwrap();
    let rules: Vec<_> = records.decisions.iter().map(|d| d.rule).collect();
    assert_eq!(rules, [Rule::Cancelled, Rule::Unchanged]);
}
