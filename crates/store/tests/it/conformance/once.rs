//! Keyed changes: all of them and the key, or nothing.

use std::sync::Arc;

use almanack_core::{
    reschedule::{Request, Rule},
    store::{AppliedOnce, OnceKey, Store},
};
use almanack_testkit::fixture::{PUBLISH, START, at, put};

use super::{ask, claim_one, current, decided, plant};

fn key(name: &str) -> OnceKey {
    OnceKey {
        key: name.to_owned(),
        digest: format!("digest of {name}"),
    }
}

fn request(n: i64) -> Request {
    Request::Put(put(&format!("article:{n}"), PUBLISH, at(60)))
}

/// Done means that both are there.
pub(crate) async fn rs_14_changes_and_key_are_written_together(store: Arc<dyn Store>) {
    let changes = vec![
        decided(&*store, &request(1), START).await,
        decided(&*store, &request(2), START).await,
    ];
    let AppliedOnce::Done(receipts) = store.apply_once(key("k"), changes).await.unwrap() else {
        panic!("no other writer came in between");
    };
    assert_eq!(receipts.len(), 2);
    for (receipt, n) in receipts.iter().zip(1..) {
        let row = current(&*store, request(n).identity())
            .await
            .expect("written");
        assert_eq!((receipt.rule, receipt.task_id), (Rule::Created, row.id));
        assert_eq!(row.due_at, Some(at(60)));
    }
    let record = store
        .load_once("k")
        .await
        .unwrap()
        .expect("the key is known");
    assert_eq!(
        (record.digest.as_str(), record.receipts),
        ("digest of k", receipts)
    );
}

/// Receipts of every shape come back equal: with and without old times and cancelled rows.
pub(crate) async fn rs_14_receipts_are_given_back_as_they_were(store: Arc<dyn Store>) {
    plant(&*store, put("article:1", PUBLISH, START), START).await;
    claim_one(&*store, 1, START).await;
    plant(&*store, put("article:2", PUBLISH, at(5)), START).await;
    let mut changes = Vec::new();
    for n in 1..=3 {
        changes.push(decided(&*store, &request(n), at(1)).await);
    }
    let AppliedOnce::Done(receipts) = store.apply_once(key("k"), changes).await.unwrap() else {
        panic!("no other writer came in between");
    };
    let rules: Vec<Rule> = receipts.iter().map(|receipt| receipt.rule).collect();
    assert_eq!(
        rules,
        [Rule::CancelledAndInserted, Rule::Updated, Rule::Created]
    );
    assert!(receipts[0].cancelled_task_id.is_some() && receipts[2].old_execute_at.is_none());
    assert_eq!(
        store.load_once("k").await.unwrap().unwrap().receipts,
        receipts
    );
}

/// The second of three is lost: the first is undone, the key is free, and a plain call next to it
/// is not touched.
pub(crate) async fn rs_14_one_lost_change_undoes_all(store: Arc<dyn Store>) {
    plant(&*store, put("article:2", PUBLISH, at(5)), START).await;
    let mut changes = Vec::new();
    for n in 1..=3 {
        changes.push(decided(&*store, &request(n), START).await);
    }
    ask(
        &*store,
        &Request::Put(put("article:2", PUBLISH, at(7))),
        START,
    )
    .await;
    let neighbour = Request::Put(put("article:4", PUBLISH, at(60)));
    let (once, plain) = tokio::join!(
        store.apply_once(key("k"), changes),
        ask(&*store, &neighbour, START)
    );
    assert_eq!(once.unwrap(), AppliedOnce::Lost);
    assert_eq!(current(&*store, request(1).identity()).await, None);
    assert_eq!(current(&*store, request(3).identity()).await, None);
    let untouched = current(&*store, request(2).identity()).await.unwrap();
    assert_eq!((untouched.execute_at, untouched.decisions), (at(7), 1));
    assert_eq!(
        store.load_once("k").await.unwrap(),
        None,
        "the key can be used again"
    );
    let written = current(&*store, neighbour.identity()).await.unwrap();
    assert_eq!(
        written.id, plain.task_id,
        "others share the commit, not the loss"
    );
}

/// The first answer stays, whatever comes with the key later.
pub(crate) async fn rs_14_a_used_key_changes_nothing(store: Arc<dyn Store>) {
    let first = vec![decided(&*store, &request(1), START).await];
    assert!(matches!(
        store.apply_once(key("k"), first).await.unwrap(),
        AppliedOnce::Done(_)
    ));
    let record = store.load_once("k").await.unwrap();
    let other = OnceKey {
        digest: "another request".to_owned(),
        ..key("k")
    };
    let second = vec![decided(&*store, &request(2), START).await];
    assert_eq!(
        store.apply_once(other, second).await.unwrap(),
        AppliedOnce::Used
    );
    assert_eq!(current(&*store, request(2).identity()).await, None);
    assert_eq!(store.load_once("k").await.unwrap(), record);
}

/// A client that sends the same request over two connections gets one effect.
pub(crate) async fn rs_14_of_concurrent_calls_with_one_key_one_is_done(store: Arc<dyn Store>) {
    let mut racers = Vec::new();
    for n in 0..8 {
        // Different identities: only the key separates them.
        let changes = vec![decided(&*store, &request(n), START).await];
        let store = Arc::clone(&store);
        racers.push(tokio::spawn(async move {
            store.apply_once(key("k"), changes).await
        }));
    }
    let mut answers = Vec::new();
    for racer in racers {
        answers.push(racer.await.expect("a racer").expect("apply_once"));
    }
    let won = answers
        .iter()
        .filter(|answer| matches!(answer, AppliedOnce::Done(_)))
        .count();
    let used = answers
        .iter()
        .filter(|answer| **answer == AppliedOnce::Used)
        .count();
    assert_eq!((won, used), (1, 7), "{answers:?}");
    let mut written = 0;
    for n in 0..8 {
        written += usize::from(current(&*store, request(n).identity()).await.is_some());
    }
    assert_eq!(written, 1, "only the winner's change took effect");
}

/// Two sets that touch the same rows from opposite ends: a database that must end one of them says
/// that it was lost, so that it is decided again, and not that something is broken.
pub(crate) async fn rs_14_sets_in_opposite_order_are_done_or_lost(store: Arc<dyn Store>) {
    for n in 0..30 {
        ask(&*store, &request(n), START).await;
    }
    // The first round may find only one connection open, and then they queue.
    for round in 1..4 {
        let mut forth = Vec::new();
        for n in 0..30 {
            let moved = put(&format!("article:{n}"), PUBLISH, at(60 + round));
            forth.push(decided(&*store, &Request::Put(moved), START).await);
        }
        let back: Vec<_> = forth.iter().rev().cloned().collect();
        let (forth, back) = tokio::join!(
            store.apply_once(key(&format!("forth {round}")), forth),
            store.apply_once(key(&format!("back {round}")), back)
        );
        let answers = [forth.expect("apply_once"), back.expect("apply_once")];
        let won = answers
            .iter()
            .filter(|answer| matches!(answer, AppliedOnce::Done(_)))
            .count();
        assert_eq!(won, 1, "{answers:?}");
        assert!(answers.contains(&AppliedOnce::Lost), "{answers:?}");
    }
}

/// No key, no record.
pub(crate) async fn rs_14_an_unknown_key_was_not_used(store: Arc<dyn Store>) {
    assert_eq!(store.load_once("never seen").await.unwrap(), None);
}
