//! Endings: what an outcome makes of a row, and who may say so.

use std::sync::Arc;

use almanack_core::{
    finish::Outcome,
    history::Attempt,
    reschedule::{Put, Request},
    store::{
        Finished::{Applied, Late},
        HistoryPage, Store,
    },
    task::{ClaimedTask, Identity, Status, Term},
};
use almanack_testkit::fixture::{PUBLISH, START, at, cancel, claim_request, identity, put};

use super::{ask, claim_one, done, end, ending, failed, plant, plant_many, refused, task};

fn publish() -> Identity {
    identity("article:1", PUBLISH)
}

/// One task with `max_retry`, claimed at [`START`].
async fn running(store: &dyn Store, max_retry: u32) -> ClaimedTask {
    let request = Put {
        max_retry: Some(max_retry),
        ..put("article:1", PUBLISH, START)
    };
    plant(store, request, START).await;
    claim_one(store, 1, START).await
}

async fn attempts(store: &dyn Store) -> Vec<Attempt> {
    store
        .load_history(&publish(), HistoryPage::WHOLE)
        .await
        .unwrap()
        .attempts
}

/// The row itself keeps the last attempt.
pub(crate) async fn done_ends_the_task_and_keeps_its_answer(store: Arc<dyn Store>) {
    let attempt = running(&*store, 3).await;
    let before = task(&*store, attempt.id).await;
    assert_eq!(end(&*store, &attempt, &done(), at(2)).await, Applied);
    let mut expected = before;
    expected.status = Status::Success;
    expected.detail = Some("200 OK".to_owned());
    expected.finished_at = Some(at(2));
    expected.lease_until = None;
    assert_eq!(task(&*store, attempt.id).await, expected);
}

/// FAIL, due again at the time `core` chose, claimable then and not before.
pub(crate) async fn rs_09_a_failure_waits_for_its_next_try(store: Arc<dyn Store>) {
    let attempt = running(&*store, 3).await;
    let finish = ending(
        &attempt,
        &Outcome::Retry {
            error: "503".to_owned(),
            retry_after: Some(jiff::SignedDuration::from_secs(60)),
        },
        at(2),
    );
    assert_eq!(finish.execute_at, at(62));
    assert_eq!(store.finish(vec![finish]).await.unwrap(), [Applied]);
    let row = task(&*store, attempt.id).await;
    assert_eq!((row.status, row.due_at), (Status::Fail, Some(at(62))));
    assert_eq!((row.attempt, row.detail.as_deref()), (1, Some("503")));
    assert!(row.is_live() && row.current);
    let nothing = store.claim(claim_request(2, at(61), 10)).await.unwrap();
    assert_eq!((nothing.tasks, nothing.next_due_at), (vec![], Some(at(62))));
    let second = claim_one(&*store, 3, at(62)).await;
    assert_eq!(
        (second.id, second.term, second.attempt),
        (attempt.id, Term(2), 2)
    );
    assert_eq!(second.execute_at, at(62));
}

/// One retry: two attempts in all.
pub(crate) async fn rs_09_the_last_failure_is_the_end(store: Arc<dyn Store>) {
    let first = running(&*store, 1).await;
    end(&*store, &first, &failed(), START).await;
    let second = claim_one(&*store, 2, at(60)).await;
    assert_eq!(end(&*store, &second, &failed(), at(61)).await, Applied);
    let row = task(&*store, first.id).await;
    assert_eq!(
        (row.status, row.due_at, row.attempt),
        (Status::Fail, None, 2)
    );
    assert!(!row.is_live() && row.current);
}

/// Retries left do not matter.
pub(crate) async fn rs_09_a_refusal_is_the_end_at_once(store: Arc<dyn Store>) {
    let attempt = running(&*store, 3).await;
    assert_eq!(end(&*store, &attempt, &refused(), at(1)).await, Applied);
    let row = task(&*store, attempt.id).await;
    assert_eq!(
        (row.status, row.due_at, row.attempt),
        (Status::Fail, None, 1)
    );
    assert_eq!(row.detail.as_deref(), Some("404"));
}

/// A recurring task is one row for ever: same number, fresh round.
pub(crate) async fn again_keeps_the_row_and_waits(store: Arc<dyn Store>) {
    let mut attempt = running(&*store, 3).await;
    for round in 1..=3_i64 {
        let next = at(round * 100);
        assert_eq!(
            end(
                &*store,
                &attempt,
                &Outcome::Again {
                    at: next,
                    on_record: true
                },
                next
            )
            .await,
            Applied
        );
        let row = task(&*store, attempt.id).await;
        assert_eq!(
            (row.status, row.due_at, row.attempt),
            (Status::Init, Some(next), 0)
        );
        let id = attempt.id;
        attempt = claim_one(&*store, round + 1, next).await;
        assert_eq!(
            (attempt.id, attempt.term, attempt.attempt),
            (id, Term(round + 1), 1)
        );
    }
    let recorded: Vec<String> = attempts(&*store)
        .await
        .into_iter()
        .map(|a| a.outcome)
        .collect();
    assert_eq!(recorded, ["again", "again", "again"]);
}

/// Work that keeps its own record comes again for ever without growing the history.
pub(crate) async fn again_off_the_record_leaves_no_row_behind(store: Arc<dyn Store>) {
    let attempt = running(&*store, 3).await;
    let again = Outcome::Again {
        at: at(100),
        on_record: false,
    };
    assert_eq!(end(&*store, &attempt, &again, at(50)).await, Applied);
    assert_eq!(task(&*store, attempt.id).await.due_at, Some(at(100)));
    assert!(attempts(&*store).await.is_empty());
}

/// Due at once, one attempt used up.
pub(crate) async fn rs_08_an_expired_lease_counts_as_an_attempt(store: Arc<dyn Store>) {
    let attempt = running(&*store, 3).await;
    assert_eq!(
        end(&*store, &attempt, &Outcome::LeaseExpired, at(40)).await,
        Applied
    );
    let row = task(&*store, attempt.id).await;
    assert_eq!(
        (row.status, row.due_at, row.attempt),
        (Status::Fail, Some(at(40)), 1)
    );
    assert_eq!(claim_one(&*store, 2, at(40)).await.attempt, 2);
}

/// However many nodes it loses, a task keeps its retries; a new round begins with none of it.
pub(crate) async fn sf_06_lost_nodes_use_up_no_retry(store: Arc<dyn Store>) {
    let mut attempt = running(&*store, 1).await;
    for claim in 2..6 {
        let expired = end(&*store, &attempt, &Outcome::LeaseExpired, START).await;
        assert_eq!(expired, Applied);
        attempt = claim_one(&*store, claim, START).await;
    }
    assert_eq!((attempt.attempt, attempt.expiries), (5, 4));
    let again = Outcome::Again {
        at: START,
        on_record: true,
    };
    assert_eq!(end(&*store, &attempt, &again, START).await, Applied);
    let anew = claim_one(&*store, 6, START).await;
    assert_eq!((anew.attempt, anew.expiries), (1, 0));
    end(&*store, &anew, &Outcome::LeaseExpired, START).await;
    let second = claim_one(&*store, 7, START).await;
    assert_eq!(end(&*store, &second, &failed(), START).await, Applied);
    let row = task(&*store, second.id).await;
    assert!(row.is_live(), "one retry is left: {row:?}");
    let third = claim_one(&*store, 8, row.execute_at).await;
    assert_eq!((third.attempt, third.expiries), (3, 1));
    end(&*store, &third, &failed(), row.execute_at).await;
    assert!(!task(&*store, third.id).await.is_live(), "and now none");
}

/// A shutdown costs nothing, but the term still moves on, so the old holder cannot come back.
pub(crate) async fn a_handed_back_task_is_as_before_but_for_its_term(store: Arc<dyn Store>) {
    let attempt = running(&*store, 3).await;
    assert_eq!(
        end(&*store, &attempt, &Outcome::HandedBack, at(1)).await,
        Applied
    );
    let row = task(&*store, attempt.id).await;
    assert_eq!(
        (row.status, row.due_at, row.attempt),
        (Status::Init, Some(START), 0)
    );
    assert_eq!(row.term, Term(1));
    let next = claim_one(&*store, 2, at(1)).await;
    assert_eq!((next.attempt, next.term), (1, Term(2)));
}

/// A node that was paused past its lease finishes what another node runs by now.
pub(crate) async fn rs_07_an_older_term_cannot_finish(store: Arc<dyn Store>) {
    let paused = running(&*store, 3).await;
    end(&*store, &paused, &Outcome::LeaseExpired, at(40)).await;
    let newer = claim_one(&*store, 2, at(40)).await;
    let before = task(&*store, newer.id).await;
    assert_eq!(end(&*store, &paused, &done(), at(41)).await, Late);
    assert_eq!(task(&*store, newer.id).await, before);
    let recorded = attempts(&*store).await;
    assert_eq!(recorded.len(), 1);
    assert_eq!(
        (recorded[0].term, recorded[0].outcome.as_str()),
        (Term(1), "lease_expired")
    );
    assert_eq!(
        recorded[0].late_outcome.as_deref(),
        Some("done"),
        "its outcome is shown"
    );
    assert_eq!(end(&*store, &newer, &done(), at(42)).await, Applied);
}

async fn check_taken_away(store: &dyn Store, request: Request) {
    let attempt = running(store, 3).await;
    ask(store, &request, at(1)).await;
    let before = store
        .load_history(&publish(), HistoryPage::WHOLE)
        .await
        .unwrap();
    assert_eq!(end(store, &attempt, &done(), at(2)).await, Late);
    let after = store
        .load_history(&publish(), HistoryPage::WHOLE)
        .await
        .unwrap();
    assert_eq!(after.tasks, before.tasks, "no task changes");
    assert_eq!(after.decisions, before.decisions);
    let late = after
        .attempts
        .iter()
        .find(|a| a.task_id == attempt.id && a.term == attempt.term);
    let late = late.expect("the attempt is recorded");
    assert_eq!(late.late_outcome.as_deref(), Some("done"));
    assert_eq!((late.attempt, late.started_at), (1, START));
    assert_eq!(late.node.as_deref(), Some("node-a"));
}

/// Withdrawn under the worker: its call may have taken effect, but the task stays withdrawn.
pub(crate) async fn rs_07_a_cancelled_task_is_not_finished(store: Arc<dyn Store>) {
    check_taken_away(&*store, Request::Cancel(cancel("article:1", PUBLISH))).await;
}

/// A failure that would have been tried again is not: it is not wanted any more.
pub(crate) async fn rs_07_a_late_failure_does_not_revive_a_cancelled_task(store: Arc<dyn Store>) {
    let attempt = running(&*store, 3).await;
    ask(
        &*store,
        &Request::Cancel(cancel("article:1", PUBLISH)),
        at(1),
    )
    .await;
    assert_eq!(end(&*store, &attempt, &failed(), at(2)).await, Late);
    let row = task(&*store, attempt.id).await;
    assert_eq!((row.status, row.due_at), (Status::Cancelled, None));
}

/// Replaced under the worker: neither the old row nor its successor hears of it.
pub(crate) async fn rs_07_a_replaced_task_is_not_finished(store: Arc<dyn Store>) {
    check_taken_away(&*store, Request::Put(put("article:1", PUBLISH, at(600)))).await;
}

/// The reply got lost and the node asks again, for endings of both shapes.
pub(crate) async fn finishing_twice_is_late_and_adds_nothing(store: Arc<dyn Store>) {
    let attempt = running(&*store, 3).await;
    for (outcome, now) in [(failed(), at(1)), (done(), at(61))] {
        let attempt = if now == at(1) {
            attempt.clone()
        } else {
            claim_one(&*store, 2, at(60)).await
        };
        assert_eq!(end(&*store, &attempt, &outcome, now).await, Applied);
        let before = store
            .load_history(&publish(), HistoryPage::WHOLE)
            .await
            .unwrap();
        assert_eq!(end(&*store, &attempt, &outcome, now).await, Late);
        assert_eq!(
            store
                .load_history(&publish(), HistoryPage::WHOLE)
                .await
                .unwrap(),
            before
        );
    }
}

/// Good and late ones mixed, each answered in its place.
pub(crate) async fn endings_are_answered_in_the_order_given(store: Arc<dyn Store>) {
    plant_many(&*store, "article", PUBLISH, 4, START).await;
    let tasks = store.claim(claim_request(1, START, 4)).await.unwrap().tasks;
    end(&*store, &tasks[1], &done(), at(1)).await;
    let outcomes = [done(), done(), failed(), refused()];
    let finishes = tasks
        .iter()
        .zip(&outcomes)
        .map(|(task, outcome)| ending(task, outcome, at(2)))
        .collect();
    let answers = store.finish(finishes).await.unwrap();
    assert_eq!(answers, [Applied, Late, Applied, Applied]);
    let mut statuses = Vec::new();
    for claimed in &tasks {
        statuses.push(task(&*store, claimed.id).await.status);
    }
    assert_eq!(
        statuses,
        [Status::Success, Status::Success, Status::Fail, Status::Fail]
    );
}

/// One row of history per attempt that the task's own row no longer describes.
pub(crate) async fn rs_13_attempts_get_rows_exactly_when_core_says(store: Arc<dyn Store>) {
    let first = running(&*store, 1).await;
    end(&*store, &first, &failed(), at(1)).await;
    let recorded = attempts(&*store).await;
    let expected = Attempt {
        task_id: first.id,
        term: Term(1),
        attempt: 1,
        due_at: START,
        started_at: START,
        finished_at: Some(at(1)),
        outcome: "retry".to_owned(),
        late_outcome: None,
        detail: Some("503".to_owned()),
        node: Some("node-a".to_owned()),
    };
    assert_eq!(recorded, std::slice::from_ref(&expected));
    let last = claim_one(&*store, 2, at(60)).await;
    end(&*store, &last, &done(), at(61)).await;
    assert_eq!(
        attempts(&*store).await,
        [expected],
        "the last one is in its task's row"
    );
}

/// A node whose queue holds an ending twice, or two endings of one attempt: the first counts.
pub(crate) async fn the_first_of_two_endings_in_one_batch_counts(store: Arc<dyn Store>) {
    plant_many(&*store, "article", PUBLISH, 2, START).await;
    let tasks = store.claim(claim_request(1, START, 2)).await.unwrap().tasks;
    let twice = ending(&tasks[0], &failed(), at(1));
    let finishes = vec![
        twice.clone(),
        ending(&tasks[1], &done(), at(1)),
        twice,
        ending(&tasks[1], &refused(), at(1)),
    ];
    let answers = store.finish(finishes).await.unwrap();
    assert_eq!(answers, [Applied, Applied, Late, Late]);
    let failed_once = task(&*store, tasks[0].id).await;
    assert_eq!((failed_once.status, failed_once.attempt), (Status::Fail, 1));
    let recorded = store
        .load_history(&tasks[0].identity, HistoryPage::WHOLE)
        .await
        .unwrap()
        .attempts;
    assert_eq!(recorded.len(), 1);
    assert_eq!(recorded[0].late_outcome, None, "a repetition is not news");
    assert_eq!(task(&*store, tasks[1].id).await.status, Status::Success);
}
