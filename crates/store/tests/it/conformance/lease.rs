//! Leases: what is left of nodes that stopped answering.

use std::sync::Arc;

use almanack_core::{
    finish::Outcome,
    reschedule::Request,
    store::{ClaimId, ClaimRequest, ExpiredClaim, Finished, Store},
    task::{Status, TaskId, Term},
};
use almanack_testkit::fixture::{LEASE, PUBLISH, START, at, cancel, claim_request, put};
use jiff::{SignedDuration, Timestamp};

use super::{ask, claim_one, claimed, done, end, plant, plant_many, task};

const TINY: SignedDuration = SignedDuration::from_micros(1);

async fn expired(store: &dyn Store, now: Timestamp) -> Vec<ExpiredClaim> {
    store.load_expired(now, 100).await.expect("load_expired")
}

fn ids(claim: &ExpiredClaim) -> Vec<TaskId> {
    let mut ids: Vec<TaskId> = claim.tasks.iter().map(|task| task.id).collect();
    ids.sort_unstable();
    ids
}

/// Not before, and then with everything its successor needs to know.
pub(crate) async fn a_claim_expires_with_its_lease(store: Arc<dyn Store>) {
    plant(&*store, put("article:1", PUBLISH, START), START).await;
    let taken = claim_one(&*store, 7, START).await;
    assert_eq!(expired(&*store, START + LEASE - TINY).await, []);
    let expected = ExpiredClaim {
        claim_id: ClaimId(7),
        node: "node-a".to_owned(),
        tasks: vec![taken],
    };
    assert_eq!(expired(&*store, START + LEASE + TINY).await, [expected]);
}

/// Finished, withdrawn, and taken over by a newer claim: none of them is left behind.
pub(crate) async fn an_expired_claim_names_only_what_still_runs_under_it(store: Arc<dyn Store>) {
    plant_many(&*store, "article", PUBLISH, 4, START).await;
    let tasks = claimed(&*store, claim_request(1, START, 4)).await;
    end(&*store, &tasks[0], &done(), at(1)).await;
    let withdrawn = cancel(tasks[1].identity.subject.as_str(), PUBLISH);
    ask(&*store, &Request::Cancel(withdrawn), at(1)).await;
    end(&*store, &tasks[2], &Outcome::HandedBack, at(1)).await;
    let taken_over = claim_one(&*store, 2, at(20)).await;
    assert_eq!(taken_over.id, tasks[2].id);
    let left = expired(&*store, at(40)).await;
    assert_eq!(left.len(), 1, "the newer claim still holds");
    assert_eq!(
        (left[0].claim_id, ids(&left[0])),
        (ClaimId(1), vec![tasks[3].id])
    );
    assert_eq!(left[0].tasks[0], tasks[3]);
}

/// One heartbeat for all claims a node holds; one that is gone already is no error.
pub(crate) async fn extending_keeps_claims_alive(store: Arc<dyn Store>) {
    plant_many(&*store, "article", PUBLISH, 2, START).await;
    claimed(&*store, claim_request(1, START, 1)).await;
    claimed(&*store, claim_request(2, at(5), 1)).await;
    let held = [ClaimId(1), ClaimId(99), ClaimId(2)];
    let extended = store.extend_claims(&held, at(10), at(100)).await.unwrap();
    assert_eq!(
        extended.len(),
        2,
        "the one that is gone is missing: {extended:?}"
    );
    assert!(!extended.contains(&ClaimId(99)));
    assert_eq!(expired(&*store, at(99)).await, []);
    assert_eq!(expired(&*store, at(101)).await.len(), 2);
}

/// A lease that has passed is not revived: another node may be returning its tasks right now.
pub(crate) async fn a_passed_lease_is_not_extended(store: Arc<dyn Store>) {
    plant_many(&*store, "article", PUBLISH, 1, START).await;
    claimed(&*store, claim_request(1, START, 1)).await;
    let left = expired(&*store, at(30)).await;
    assert_eq!(left.len(), 1, "the lease ends at 30");
    let extended = store
        .extend_claims(&[ClaimId(1)], at(30), at(100))
        .await
        .unwrap();
    assert_eq!(extended, []);
    assert_eq!(expired(&*store, at(31)).await.len(), 1);
}

/// A claim whose answer was lost belongs to the same session, and must expire all the same.
pub(crate) async fn extending_leaves_other_claims_alone(store: Arc<dyn Store>) {
    plant_many(&*store, "article", PUBLISH, 2, START).await;
    claimed(&*store, claim_request(1, START, 1)).await;
    claimed(&*store, claim_request(2, START, 1)).await;
    store
        .extend_claims(&[ClaimId(1)], at(10), at(100))
        .await
        .unwrap();
    let left = expired(&*store, at(31)).await;
    assert_eq!(
        left.iter().map(|claim| claim.claim_id).collect::<Vec<_>>(),
        [ClaimId(2)]
    );
    assert_eq!(left[0].tasks.len(), 1);
}

/// Nothing is left to come back to.
pub(crate) async fn a_released_claim_is_forgotten(store: Arc<dyn Store>) {
    plant_many(&*store, "article", PUBLISH, 2, START).await;
    let first = claimed(&*store, claim_request(1, START, 1)).await;
    claimed(&*store, claim_request(2, START, 1)).await;
    end(&*store, &first[0], &done(), at(1)).await;
    store
        .release_claims(&[ClaimId(1), ClaimId(99)])
        .await
        .unwrap();
    let left = expired(&*store, at(40)).await;
    assert_eq!(
        left.iter().map(|claim| claim.claim_id).collect::<Vec<_>>(),
        [ClaimId(2)]
    );
}

/// The longest waiting is served first, a bounded number at a time.
pub(crate) async fn expired_claims_come_longest_first_and_bounded(store: Arc<dyn Store>) {
    plant_many(&*store, "article", PUBLISH, 3, START).await;
    for (claim, lease_until) in [(1, at(30)), (2, at(10)), (3, at(20))] {
        let request = ClaimRequest {
            lease_until,
            ..claim_request(claim, START, 1)
        };
        assert_eq!(claimed(&*store, request).await.len(), 1);
    }
    let order = |claims: Vec<ExpiredClaim>| -> Vec<i64> {
        claims.into_iter().map(|claim| claim.claim_id.0).collect()
    };
    assert_eq!(order(expired(&*store, at(60)).await), [2, 3, 1]);
    assert_eq!(order(store.load_expired(at(60), 2).await.unwrap()), [2, 3]);
    assert_eq!(order(expired(&*store, at(25)).await), [2, 3]);
}

/// The keeper's whole round.
pub(crate) async fn rs_08_an_expired_task_runs_again_under_a_newer_claim(store: Arc<dyn Store>) {
    plant(&*store, put("article:1", PUBLISH, START), START).await;
    let dead = claim_one(&*store, 1, START).await;
    let left = expired(&*store, at(31)).await;
    let lost = &left[0].tasks[0];
    assert_eq!(
        end(&*store, lost, &Outcome::LeaseExpired, at(31)).await,
        Finished::Applied
    );
    store.release_claims(&[left[0].claim_id]).await.unwrap();
    assert_eq!(expired(&*store, at(3600)).await, []);
    let next = claim_one(&*store, 2, at(31)).await;
    assert_eq!((next.id, next.term, next.attempt), (dead.id, Term(2), 2));
    assert_eq!(end(&*store, &dead, &done(), at(32)).await, Finished::Late);
    assert_eq!(
        end(&*store, &next, &done(), at(33)).await,
        Finished::Applied
    );
    assert_eq!(task(&*store, next.id).await.status, Status::Success);
}

/// While it runs, and only then.
pub(crate) async fn a_running_row_shows_its_lease(store: Arc<dyn Store>) {
    let id = plant(&*store, put("article:1", PUBLISH, START), START).await;
    assert_eq!(task(&*store, id).await.lease_until, None);
    let attempt = claim_one(&*store, 1, START).await;
    assert_eq!(task(&*store, id).await.lease_until, Some(START + LEASE));
    store
        .extend_claims(&[ClaimId(1)], at(10), at(100))
        .await
        .unwrap();
    assert_eq!(task(&*store, id).await.lease_until, Some(at(100)));
    end(&*store, &attempt, &done(), at(1)).await;
    assert_eq!(task(&*store, id).await.lease_until, None);
}
