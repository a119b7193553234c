//! Tasks that expire: what a row keeps of it, and how they come to an end (WK-06).

use std::sync::Arc;

use almanack_core::{
    finish::Outcome,
    reschedule::{Put, Request},
    store::{HistoryPage, Store},
    task::{Expires, Expiry, Status, TaskId, Term},
};
use almanack_testkit::fixture::{PUBLISH, START, at, claim_request, put};
use jiff::SignedDuration;

use super::{ask, call_options, claim_one, claimed, current, end, plant, task};

const TINY: SignedDuration = SignedDuration::from_micros(1);

fn expiring(subject: &str, kind: &str, seconds: i64, expires: Expires) -> Put {
    Put {
        expires: Some(expires),
        ..put(subject, kind, at(seconds))
    }
}

async fn taken(store: &dyn Store, claim: i64, seconds: i64, slots: usize) -> Vec<TaskId> {
    let request = claim_request(claim, at(seconds), slots);
    let tasks = store.claim_expired(request).await.expect("claim_expired");
    tasks.into_iter().map(|task| task.id).collect()
}

/// Both forms, through insert, change and replacement.
pub(crate) async fn wk_06_a_row_keeps_its_expiry_and_how_it_is_called(store: Arc<dyn Store>) {
    let first = Put {
        call_options: Some(Box::new(call_options())),
        ..expiring("article:1", PUBLISH, 60, Expires::After(10))
    };
    let id = plant(&*store, first.clone(), START).await;
    let row = task(&*store, id).await;
    assert_eq!(row.expiry, Expiry::of(Expires::After(10), at(60)));
    assert_eq!(row.call_options, first.call_options);
    let moved = Request::Put(put("article:1", PUBLISH, at(100)));
    ask(&*store, &moved, START).await;
    let row = task(&*store, id).await;
    assert_eq!(row.expiry.at, Some(at(110)), "it moves with the time");
    assert_eq!(row.call_options, first.call_options);
    let fixed = expiring("article:1", PUBLISH, 100, Expires::At(at(200)));
    ask(&*store, &Request::Put(fixed), START).await;
    claim_one(&*store, 1, at(100)).await;
    let again = Request::Put(put("article:1", PUBLISH, at(150)));
    ask(&*store, &again, at(101)).await;
    let row = current(&*store, &first.identity).await.expect("a row");
    assert_eq!(row.replaces, Some(id));
    assert_eq!(row.expiry, Expiry::of(Expires::At(at(200)), START));
    assert_eq!(row.call_options, first.call_options);
    let never = expiring("article:1", PUBLISH, 150, Expires::Never);
    ask(&*store, &Request::Put(never), at(102)).await;
    let row = current(&*store, &first.identity).await.expect("a row");
    assert_eq!(row.expiry, Expiry::NEVER);
}

/// So that there is one way to end it, whoever claims.
pub(crate) async fn wk_06_an_expired_task_is_claimed_to_be_ended(store: Arc<dyn Store>) {
    let put = expiring("article:1", PUBLISH, 0, Expires::After(10));
    plant(&*store, put, START).await;
    let claim = claimed(&*store, claim_request(1, at(20), 10)).await;
    assert_eq!(claim.len(), 1);
    assert!(claim[0].expiry.is_over(claim[0].started_at));
}

/// By expiry, within the slots, to the microsecond; due or not, tried before or not.
pub(crate) async fn wk_06_expired_tasks_of_any_kind_are_taken_and_no_others(store: Arc<dyn Store>) {
    let plant = |subject: &'static str, kind: &'static str, expires| {
        let (store, put) = (Arc::clone(&store), expiring(subject, kind, 0, expires));
        async move { plant(&*store, put, START).await }
    };
    let later = plant("a:1", PUBLISH, Expires::At(at(20))).await;
    let sooner = plant("a:2", "AUDIT", Expires::After(10)).await;
    plant("a:3", PUBLISH, Expires::At(at(30) + TINY)).await;
    plant("a:4", PUBLISH, Expires::Never).await;
    assert_eq!(taken(&*store, 1, 9, 10).await, []);
    assert_eq!(taken(&*store, 2, 30, 1).await, [sooner]);
    assert_eq!(taken(&*store, 3, 30, 10).await, [later]);
    assert_eq!(
        taken(&*store, 4, 30, 10).await,
        [],
        "what runs is left alone"
    );
    let row = task(&*store, later).await;
    assert_eq!(
        (row.status, row.term, row.attempt, row.due_at),
        (Status::Running, Term(1), 1, None)
    );
    let left = store.load_expired(at(86_400), 10).await.expect("claims");
    let left: Vec<TaskId> = left
        .iter()
        .flat_map(|claim| claim.tasks.iter().map(|task| task.id))
        .collect();
    assert_eq!(left.len(), 2, "under a lease, like any claim: {left:?}");
}

/// The row has no attempt to show; the history says what became of it.
pub(crate) async fn wk_06_an_expired_task_ends_untried(store: Arc<dyn Store>) {
    let put = expiring("article:1", PUBLISH, 0, Expires::After(100));
    let identity = put.identity.clone();
    let id = plant(&*store, put, START).await;
    let first = claim_one(&*store, 1, START).await;
    end(&*store, &first, &Outcome::retry("503"), at(1)).await;
    let second = claim_one(&*store, 2, at(100)).await;
    assert_eq!(second.attempt, 2);
    end(&*store, &second, &Outcome::Expired, at(100)).await;
    let row = task(&*store, id).await;
    assert_eq!(
        (row.status, row.attempt, row.due_at),
        (Status::Fail, 1, None)
    );
    assert_eq!((row.started_at, row.finished_at), (None, Some(at(100))));
    assert!(
        row.detail
            .is_some_and(|detail| detail.starts_with("expired: "))
    );
    let records = store.load_history(&identity, HistoryPage::WHOLE).await;
    let attempts = records.expect("history").attempts;
    let outcomes: Vec<&str> = attempts.iter().map(|it| it.outcome.as_str()).collect();
    assert_eq!(outcomes, ["retry", "expired"]);
}

/// What is tried again at a time of its own choice is a new round; what only waits is not.
pub(crate) async fn wk_06_a_new_round_moves_the_expiry(store: Arc<dyn Store>) {
    let put = expiring("article:1", PUBLISH, 0, Expires::After(10));
    let id = plant(&*store, put, START).await;
    let first = claim_one(&*store, 1, START).await;
    end(&*store, &first, &Outcome::again(at(60)), at(1)).await;
    assert_eq!(task(&*store, id).await.expiry.at, Some(at(70)));
    let second = claim_one(&*store, 2, at(60)).await;
    end(&*store, &second, &Outcome::HandedBack, at(61)).await;
    let row = task(&*store, id).await;
    assert_eq!((row.execute_at, row.expiry.at), (at(60), Some(at(70))));
}
