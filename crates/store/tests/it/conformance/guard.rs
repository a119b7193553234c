//! Compare and set: a change applies to the row exactly as its decision saw it, or not at all.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicI64, Ordering},
};

use almanack_core::{
    finish::Outcome,
    reschedule::{Change, Request, Rule},
    store::{Applied, HistoryPage, Store},
    task::{Identity, Task, TaskId},
};
use almanack_testkit::fixture::{
    PUBLISH, START, at, cancel, claim_request, identity, put, put_rev,
};

use super::{applied, ask, claim_one, claimed, current, decided, done, end, plant, task};

fn publish() -> Identity {
    identity("article:1", PUBLISH)
}

fn move_to(seconds: i64) -> Request {
    Request::Put(put("article:1", PUBLISH, at(seconds)))
}

/// The change must be lost and leave row and history as they are.
async fn check_lost(store: &dyn Store, change: Change) {
    let before = store
        .load_history(&publish(), HistoryPage::WHOLE)
        .await
        .unwrap();
    assert_eq!(applied(store, change).await, Applied::Lost);
    let after = store
        .load_history(&publish(), HistoryPage::WHOLE)
        .await
        .unwrap();
    assert_eq!(after, before, "a lost change leaves nothing behind");
}

pub(crate) async fn rs_06_a_change_decided_before_a_claim_is_lost(store: Arc<dyn Store>) {
    plant(&*store, put("article:1", PUBLISH, START), START).await;
    let change = decided(&*store, &move_to(600), START).await;
    claim_one(&*store, 1, START).await;
    check_lost(&*store, change).await;
}

/// The guard's term: the row looks the same again, but it has been tried in between.
pub(crate) async fn rs_06_a_change_decided_before_a_term_is_lost(store: Arc<dyn Store>) {
    plant(&*store, put("article:1", PUBLISH, START), START).await;
    let seen = current(&*store, &publish()).await.unwrap();
    let change = decided(&*store, &move_to(600), START).await;
    let attempt = claim_one(&*store, 1, START).await;
    end(&*store, &attempt, &Outcome::HandedBack, at(1)).await;
    let now = current(&*store, &publish()).await.unwrap();
    assert_eq!(
        (seen.status, seen.attempt),
        (now.status, now.attempt),
        "all but the term"
    );
    check_lost(&*store, change).await;
}

/// The guard's decision count: the row was moved away and back.
pub(crate) async fn rs_06_a_change_decided_before_another_decision_is_lost(store: Arc<dyn Store>) {
    plant(&*store, put("article:1", PUBLISH, at(60)), START).await;
    let change = decided(&*store, &move_to(600), START).await;
    ask(&*store, &move_to(90), START).await;
    ask(&*store, &move_to(60), START).await;
    check_lost(&*store, change).await;
}

/// A row that gave way to its successor is history.
pub(crate) async fn rs_06_a_change_of_a_retired_row_is_lost(store: Arc<dyn Store>) {
    plant(&*store, put("article:1", PUBLISH, at(60)), START).await;
    let withdraw = Request::Cancel(cancel("article:1", PUBLISH));
    ask(&*store, &withdraw, START).await;
    let change = decided(&*store, &move_to(600), START).await;
    ask(&*store, &move_to(90), START).await;
    check_lost(&*store, change).await;
}

/// Half a replacement would be two live tasks, or none.
pub(crate) async fn rs_06_a_lost_replacement_writes_no_successor(store: Arc<dyn Store>) {
    plant(&*store, put("article:1", PUBLISH, START), START).await;
    let attempt = claim_one(&*store, 1, START).await;
    let change = decided(&*store, &move_to(600), at(1)).await;
    assert!(
        change.insert.is_some() && change.amend.is_some(),
        "a replacement"
    );
    end(&*store, &attempt, &done(), at(2)).await;
    check_lost(&*store, change).await;
}

/// The second sees the first one's work, although neither knew of the other.
pub(crate) async fn rs_06_of_two_changes_from_one_row_in_one_batch_one_is_done(
    store: Arc<dyn Store>,
) {
    let id = plant(&*store, put("article:1", PUBLISH, at(60)), START).await;
    let first = decided(&*store, &move_to(90), START).await;
    let second = decided(&*store, &move_to(120), START).await;
    let answers = store.apply(vec![first, second]).await.unwrap();
    assert_eq!(answers, [Applied::Done { inserted: None }, Applied::Lost]);
    let row = task(&*store, id).await;
    assert_eq!((row.execute_at, row.decisions), (at(90), 1));
}

async fn race(store: &Arc<dyn Store>, changes: Vec<Change>) -> Vec<usize> {
    let racers: Vec<_> = changes
        .into_iter()
        .map(|change| {
            let store = Arc::clone(store);
            tokio::spawn(async move { applied(&*store, change).await })
        })
        .collect();
    let mut winners = Vec::new();
    for (place, racer) in racers.into_iter().enumerate() {
        // What merely repeats an earlier decision changes nothing, and wins nothing.
        if matches!(racer.await.expect("a racer"), Applied::Done { .. }) {
            winners.push(place);
        }
    }
    winners
}

/// However they race, one wins, and the row is as the winner said.
pub(crate) async fn rs_06_of_many_concurrent_changes_from_one_row_one_is_done(
    store: Arc<dyn Store>,
) {
    let id: TaskId = plant(&*store, put("article:1", PUBLISH, at(60)), START).await;
    for round in 1..=10_u32 {
        let mut changes = Vec::new();
        for seconds in 0..8 {
            changes.push(decided(&*store, &move_to(1000 + seconds), START).await);
        }
        let winners = race(&store, changes).await;
        assert_eq!(winners.len(), 1, "round {round}");
        let row: Task = task(&*store, id).await;
        let winner = i64::try_from(winners[0]).unwrap();
        assert_eq!((row.execute_at, row.decisions), (at(1000 + winner), round));
    }
}

/// After a lost reply the caller asks again: the second time finds its own effect.
pub(crate) async fn rs_06_a_repeated_change_is_lost_and_not_doubled(store: Arc<dyn Store>) {
    let insert = decided(&*store, &move_to(60), START).await;
    assert_ne!(applied(&*store, insert.clone()).await, Applied::Lost);
    check_lost(&*store, insert).await;
    let amend = decided(&*store, &move_to(90), START).await;
    assert_ne!(applied(&*store, amend.clone()).await, Applied::Lost);
    check_lost(&*store, amend).await;
}

/// Compat document 002, section 4: zero rows means decide again, never "done".
pub(crate) async fn rs_06_deciding_again_after_a_claim_in_between_replaces(store: Arc<dyn Store>) {
    let id = plant(&*store, put("article:1", PUBLISH, START), START).await;
    let change = decided(&*store, &move_to(600), START).await;
    assert_eq!(change.rule, Rule::Updated);
    claim_one(&*store, 1, START).await;
    check_lost(&*store, change).await;
    let again = ask(&*store, &move_to(600), at(1)).await;
    assert_eq!(
        (again.rule, again.cancelled_task_id),
        (Rule::CancelledAndInserted, Some(id))
    );
    let row = current(&*store, &publish()).await.unwrap();
    assert_eq!(
        row.due_at,
        Some(at(600)),
        "the change of time was not swallowed"
    );
}

/// The same race lost to a success: nothing left to move, and the answer says so.
pub(crate) async fn rs_06_deciding_again_after_an_ending_in_between_is_ignored(
    store: Arc<dyn Store>,
) {
    plant(&*store, put("article:1", PUBLISH, START), START).await;
    let attempt = claim_one(&*store, 1, START).await;
    let change = decided(&*store, &move_to(600), START).await;
    end(&*store, &attempt, &done(), at(1)).await;
    check_lost(&*store, change).await;
    assert_eq!(
        ask(&*store, &move_to(600), at(2)).await.rule,
        Rule::IgnoredDone
    );
}

/// Two requesters replace the same running task in one call: one successor, not two, not none.
pub(crate) async fn rs_03_of_two_replacements_in_one_batch_one_writes_a_successor(
    store: Arc<dyn Store>,
) {
    plant(&*store, put("article:1", PUBLISH, START), START).await;
    claim_one(&*store, 1, START).await;
    let first = decided(&*store, &move_to(600), at(1)).await;
    let second = decided(&*store, &move_to(700), at(1)).await;
    let answers = store.apply(vec![first, second]).await.unwrap();
    let records = store
        .load_history(&publish(), HistoryPage::WHOLE)
        .await
        .unwrap();
    assert_eq!(records.tasks.len(), 2);
    let inserted = Some(records.tasks[1].id);
    assert_eq!(answers, [Applied::Done { inserted }, Applied::Lost]);
    assert_eq!(records.tasks[1].due_at, Some(at(600)));
    assert_eq!(records.decisions.len(), 1);
}

/// Reads, decides and applies until it is not lost; what was lost is decided again.
async fn insist(store: &dyn Store, request: &Request) {
    loop {
        let change = decided(store, request, START).await;
        if applied(store, change).await != Applied::Lost {
            return;
        }
    }
}

/// Claims and hands back, over and over, until asked to stop.
async fn meddle(store: Arc<dyn Store>, stop: Arc<AtomicBool>) {
    for claim in 1.. {
        for task in claimed(&*store, claim_request(claim, at(100_000), 1)).await {
            end(&*store, &task, &Outcome::HandedBack, at(100_000)).await;
        }
        if stop.load(Ordering::SeqCst) {
            break;
        }
        tokio::task::yield_now().await;
    }
}

/// Four requesters and a node that claims in between: the newest change wins in the end.
pub(crate) async fn rs_06_no_change_is_swallowed_under_contention(store: Arc<dyn Store>) {
    let newest = Arc::new(AtomicI64::new(0));
    let stop = Arc::new(AtomicBool::new(false));
    let meddler = tokio::spawn(meddle(Arc::clone(&store), Arc::clone(&stop)));
    let requesters: Vec<_> = (0..4)
        .map(|_| {
            let (store, newest) = (Arc::clone(&store), Arc::clone(&newest));
            tokio::spawn(async move {
                for _ in 0..25 {
                    let number = newest.fetch_add(1, Ordering::SeqCst) + 1;
                    let request = put_rev("article:1", PUBLISH, at(number), number);
                    insist(&*store, &request).await;
                }
            })
        })
        .collect();
    for requester in requesters {
        requester.await.expect("a requester");
    }
    stop.store(true, Ordering::SeqCst);
    meddler.await.expect("the meddler");

    let records = store
        .load_history(&publish(), HistoryPage::WHOLE)
        .await
        .unwrap();
    let live: Vec<&Task> = records.tasks.iter().filter(|task| task.is_live()).collect();
    assert_eq!(live.len(), 1, "one live row (RS-01)");
    assert_eq!((live[0].revision.0, live[0].due_at), (100, Some(at(100))));
    assert!(live[0].current && records.tasks.iter().filter(|task| task.current).count() == 1);
    let written = records.decisions.len() + 1;
    assert_eq!(
        written, 100,
        "every change was answered by exactly one decision"
    );
}
