//! Claims of workers: of some kinds only, named by their tasks, forgotten when nothing runs.

use std::sync::Arc;

use almanack_core::{
    finish::Outcome,
    reschedule::Request,
    store::{ClaimId, ClaimRequest, Store},
    task::{Priority, Status, TaskId, Term},
    work::SESSION,
};
use almanack_testkit::fixture::{PUBLISH, START, at, cancel, claim_request, kind, put};

use super::{ask, claimed, done, end, ending, plant, plant_many, task};

const MAIL: &str = "MAIL_SEND";

fn of_kinds(claim: i64, slots: usize, kinds: &[&str]) -> ClaimRequest {
    ClaimRequest {
        session: SESSION.to_owned(),
        node: "mail-1".to_owned(),
        kinds: kinds.iter().map(|name| kind(name)).collect(),
        ..claim_request(claim, START, slots)
    }
}

/// Of all its lanes, the highest first; and what is next due is next due of these kinds.
pub(crate) async fn wk_01_a_claim_of_kinds_takes_these_alone(store: Arc<dyn Store>) {
    plant_many(&*store, "article", PUBLISH, 3, START).await;
    plant_many(&*store, "user", MAIL, 2, START).await;
    let urgent = almanack_core::reschedule::Put {
        priority: Some(Priority::new(9).unwrap()),
        ..put("user:9", MAIL, START)
    };
    let urgent = plant(&*store, urgent, START).await;
    plant(&*store, put("user:later", MAIL, at(60)), START).await;
    let claim = store.claim(of_kinds(1, 10, &[MAIL])).await.unwrap();
    let kinds: Vec<&str> = claim
        .tasks
        .iter()
        .map(|it| it.identity.kind.as_str())
        .collect();
    assert_eq!(kinds, [MAIL; 3]);
    assert_eq!(claim.tasks[0].id, urgent, "the highest priority first");
    assert_eq!(claim.next_due_at, Some(at(60)), "not that of other kinds");
    assert_eq!(task(&*store, urgent).await.node.as_deref(), Some("mail-1"));
    let none = store.claim(of_kinds(2, 10, &["NOTHING"])).await.unwrap();
    assert_eq!((none.tasks, none.next_due_at), (vec![], None));
    let both = claimed(&*store, of_kinds(3, 2, &[MAIL, PUBLISH])).await;
    assert_eq!(both.len(), 2, "as many as there are slots");
}

/// A limit holds for a claim of kinds as for any other.
pub(crate) async fn wk_01_a_claim_of_kinds_keeps_to_limits(store: Arc<dyn Store>) {
    plant_many(&*store, "article", PUBLISH, 3, START).await;
    plant_many(&*store, "user", MAIL, 3, START).await;
    let request = ClaimRequest {
        limits: vec![(kind(MAIL), 0), (kind(PUBLISH), 2)],
        ..of_kinds(1, 10, &[MAIL, PUBLISH])
    };
    let claim = store.claim(request).await.unwrap();
    let kinds: Vec<&str> = claim
        .tasks
        .iter()
        .map(|it| it.identity.kind.as_str())
        .collect();
    assert_eq!(kinds, [PUBLISH; 2]);
    assert_eq!(claim.next_due_at, None, "there is no room for more");
}

/// In the order asked; only the claims of one session count.
pub(crate) async fn wk_01_taken_tasks_name_the_claim_they_run_under(store: Arc<dyn Store>) {
    plant_many(&*store, "user", MAIL, 2, START).await;
    plant_many(&*store, "article", PUBLISH, 1, START).await;
    let taken = claimed(&*store, of_kinds(1, 2, &[MAIL])).await;
    let by_node = claimed(&*store, claim_request(2, START, 1)).await;
    let ids = [TaskId(404), by_node[0].id, taken[1].id, taken[0].id];
    let load = async || store.load_taken(&ids, SESSION).await.unwrap();
    let found = load().await;
    assert_eq!(found[0], None, "there is no such task");
    let claims = |found: &[Option<almanack_core::store::TakenTask>]| -> Vec<_> {
        let rows = found.iter().flatten();
        rows.map(|it| (it.task.id, it.claim_id, it.status))
            .collect()
    };
    let running = Status::Running;
    assert_eq!(
        claims(&found),
        [
            (by_node[0].id, None, running),
            (taken[1].id, Some(ClaimId(1)), running),
            (taken[0].id, Some(ClaimId(1)), running),
        ]
    );
    let row = found[3].clone().unwrap().task;
    let whole = taken[0].clone();
    assert_eq!(row, whole, "all that an ending needs to know");
    end(&*store, &taken[0], &done(), at(1)).await;
    let withdrawn = cancel(taken[1].identity.subject.as_str(), MAIL);
    ask(&*store, &Request::Cancel(withdrawn), at(1)).await;
    assert_eq!(
        claims(&load().await)[1..],
        [
            (taken[1].id, None, Status::Cancelled),
            (taken[0].id, None, Status::Success),
        ]
    );
}

/// A late report on an attempt that came back is in the history, and changes nothing else.
pub(crate) async fn wk_01_an_ending_of_an_older_term_is_late(store: Arc<dyn Store>) {
    plant_many(&*store, "user", MAIL, 1, START).await;
    let first = claimed(&*store, of_kinds(1, 1, &[MAIL])).await.remove(0);
    end(&*store, &first, &Outcome::LeaseExpired, at(31)).await;
    let second = ClaimRequest {
        now: at(31),
        ..of_kinds(2, 1, &[MAIL])
    };
    let second = claimed(&*store, second).await.remove(0);
    assert_eq!((second.id, second.term), (first.id, Term(2)));
    let late = ending(&first, &done(), at(32));
    let answers = store.finish(vec![late]).await.unwrap();
    assert_eq!(answers, [almanack_core::store::Finished::Late]);
    assert_eq!(task(&*store, first.id).await.status, Status::Running);
}

/// A shorter lease than the one it has would take away what the holder relies on.
pub(crate) async fn wk_01_extending_never_shortens_a_lease(store: Arc<dyn Store>) {
    let id = plant(&*store, put("user:1", MAIL, START), START).await;
    claimed(&*store, of_kinds(1, 1, &[MAIL])).await;
    let extended = store.extend_claims(&[ClaimId(1)], at(1), at(5)).await;
    assert_eq!(extended.unwrap(), [ClaimId(1)]);
    assert_eq!(task(&*store, id).await.lease_until, Some(at(30)));
}

/// Whoever asks need not know; one that is forgotten already is no error.
pub(crate) async fn wk_01_only_claims_without_running_tasks_are_forgotten(store: Arc<dyn Store>) {
    plant_many(&*store, "user", MAIL, 3, START).await;
    let first = claimed(&*store, of_kinds(1, 2, &[MAIL])).await;
    claimed(&*store, of_kinds(2, 1, &[MAIL])).await;
    let all = [ClaimId(1), ClaimId(2), ClaimId(99)];
    let left = async || -> Vec<i64> {
        store.release_ended_claims(&all).await.unwrap();
        let claims = store.load_claims(10).await.unwrap();
        let mut ids: Vec<i64> = claims.iter().map(|claim| claim.claim_id.0).collect();
        ids.sort_unstable();
        ids
    };
    assert_eq!(left().await, [1, 2]);
    end(&*store, &first[0], &done(), at(1)).await;
    assert_eq!(left().await, [1, 2], "one of two still runs");
    end(&*store, &first[1], &Outcome::HandedBack, at(1)).await;
    assert_eq!(left().await, [2]);
    let ended = store.load_finished(START, at(60), 10).await.unwrap();
    assert_eq!(ended.len(), 2, "what ended under it is still found");
}
