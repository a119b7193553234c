//! Claims: who gets what, and never twice.

use std::{collections::BTreeMap, sync::Arc};

use almanack_core::{
    reschedule::{Put, Request},
    store::{ClaimRequest, Store},
    task::{ClaimedTask, Expires, Expiry, Priority, Revision, Status, TaskId, Term},
};
use almanack_testkit::fixture::{
    LEASE, PUBLISH, START, at, cancel, claim_request, kind, payload, put,
};
use jiff::SignedDuration;

use super::{ask, call_options, claim_one, claimed, done, end, plant, plant_many, refused, task};

const TINY: SignedDuration = SignedDuration::from_micros(1);

fn with_priority(subject: &str, kind_name: &str, level: i64) -> Put {
    Put {
        priority: Some(Priority::new(level).unwrap()),
        ..put(subject, kind_name, START)
    }
}

fn limited(claim: i64, slots: usize, limits: &[(&str, usize)]) -> ClaimRequest {
    let limits = limits
        .iter()
        .map(|(name, room)| (kind(name), *room))
        .collect();
    ClaimRequest {
        limits,
        ..claim_request(claim, START, slots)
    }
}

fn per_kind(tasks: &[ClaimedTask]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for task in tasks {
        *counts.entry(task.identity.kind.as_str()).or_default() += 1;
    }
    counts
}

/// A microsecond before its time no node gets it.
pub(crate) async fn rs_15_only_due_tasks_are_claimed_and_never_early(store: Arc<dyn Store>) {
    let due = plant(&*store, put("article:1", PUBLISH, at(60)), START).await;
    plant(&*store, put("article:2", PUBLISH, at(60) + TINY), START).await;
    assert_eq!(
        claimed(&*store, claim_request(1, at(60) - TINY, 10)).await,
        []
    );
    let taken = claim_one(&*store, 2, at(60)).await;
    assert_eq!(taken.id, due);
}

/// However a store shares the work of a large claim: no task is taken twice, no limit is passed,
/// nothing due is left, and the claim knows all its tasks when its node has died.
pub(crate) async fn a_large_claim_is_one_claim(store: Arc<dyn Store>) {
    plant_many(&*store, "article", PUBLISH, 900, START).await;
    plant_many(&*store, "mail", "MAIL", 30, START).await;
    let taken = claimed(&*store, limited(1, 800, &[("MAIL", 7)])).await;
    let counts = per_kind(&taken);
    assert!(counts["MAIL"] <= 7 && taken.len() <= 800, "{counts:?}");
    let expired = store.load_expired(START + LEASE, 10).await.unwrap();
    let mut known: Vec<TaskId> = expired[0].tasks.iter().map(|task| task.id).collect();
    let mut ids: Vec<TaskId> = taken.iter().map(|task| task.id).collect();
    ids.sort();
    known.sort();
    assert_eq!((expired.len(), &known), (1, &ids));
    ids.dedup();
    assert_eq!(ids.len(), taken.len(), "each once");
    let mut left = 930 - taken.len();
    for claim in 2..6 {
        left -= claimed(&*store, claim_request(claim, START, 600))
            .await
            .len();
    }
    assert_eq!(left, 0);
    let nothing = store.claim(claim_request(9, START, 600)).await.unwrap();
    assert_eq!((nothing.tasks.len(), nothing.next_due_at), (0, None));
}

/// What the handler gets, and what the row says meanwhile.
pub(crate) async fn a_claim_raises_term_and_attempt_and_describes_the_task(store: Arc<dyn Store>) {
    let request = Put {
        payload: Some(payload(r#"{"article": 1}"#)),
        callback_url: Some("http://127.0.0.1:9/".to_owned()),
        call_options: Some(Box::new(call_options())),
        max_retry: Some(2),
        expires: Some(Expires::After(60)),
        revision: Some(Revision(4)),
        ..put("article:1", PUBLISH, START)
    };
    let id = plant(&*store, request.clone(), START).await;
    let taken = claim_one(&*store, 1, at(5)).await;
    let expected = ClaimedTask {
        id,
        identity: request.identity,
        term: Term(1),
        attempt: 1,
        max_retry: 2,
        expiries: 0,
        execute_at: START,
        started_at: at(5),
        payload: request.payload.unwrap(),
        callback_url: request.callback_url,
        call_options: request.call_options,
        expiry: Expiry::of(Expires::After(60), START),
        revision: Revision(4),
    };
    assert_eq!(taken, expected);
    let row = task(&*store, id).await;
    assert_eq!((row.status, row.due_at), (Status::Running, None));
    assert_eq!((row.term, row.attempt, row.decisions), (Term(1), 1, 0));
    assert_eq!(
        (row.node.as_deref(), row.started_at),
        (Some("node-a"), Some(at(5)))
    );
    assert_eq!(
        (row.finished_at, row.lease_until),
        (None, Some(at(5) + LEASE))
    );
    assert_eq!(row.execute_at, START, "its due time is still shown");
}

/// Neither soon nor much later: only its lease returns it, and not by itself.
pub(crate) async fn a_claimed_task_is_not_claimed_again(store: Arc<dyn Store>) {
    plant(&*store, put("article:1", PUBLISH, START), START).await;
    claim_one(&*store, 1, START).await;
    for (claim, now) in [(2, START), (3, at(1)), (4, at(86_400))] {
        assert_eq!(claimed(&*store, claim_request(claim, now, 10)).await, []);
    }
}

/// What is over is over.
pub(crate) async fn ended_and_withdrawn_tasks_are_not_claimed(store: Arc<dyn Store>) {
    plant(&*store, put("article:1", PUBLISH, START), START).await;
    let attempt = claim_one(&*store, 1, START).await;
    end(&*store, &attempt, &done(), START).await;
    plant(&*store, put("article:2", PUBLISH, START), START).await;
    let attempt = claim_one(&*store, 2, START).await;
    end(&*store, &attempt, &refused(), START).await;
    plant(&*store, put("article:3", PUBLISH, START), START).await;
    ask(
        &*store,
        &Request::Cancel(cancel("article:3", PUBLISH)),
        START,
    )
    .await;
    let nothing = store.claim(claim_request(3, at(86_400), 10)).await.unwrap();
    assert_eq!((nothing.tasks, nothing.next_due_at), (vec![], None));
}

/// And several claims together take everything.
pub(crate) async fn a_claim_takes_no_more_than_its_slots(store: Arc<dyn Store>) {
    plant_many(&*store, "article", PUBLISH, 25, START).await;
    let mut sizes = Vec::new();
    for claim in 1..=4 {
        sizes.push(
            claimed(&*store, claim_request(claim, START, 10))
                .await
                .len(),
        );
    }
    assert_eq!(sizes, [10, 10, 5, 0]);
}

/// A node whose slots are all taken still learns when to come back.
pub(crate) async fn a_claim_without_slots_takes_nothing(store: Arc<dyn Store>) {
    plant_many(&*store, "article", PUBLISH, 2, START).await;
    let none = store.claim(claim_request(1, at(1), 0)).await.unwrap();
    assert_eq!((none.tasks, none.next_due_at), (vec![], Some(START)));
}

/// Across kinds, and in the order of the answer.
pub(crate) async fn higher_priorities_go_first(store: Arc<dyn Store>) {
    for (n, (kind_name, level)) in [
        ("LOW", 0),
        ("HIGH", 9),
        ("MIDDLE", 5),
        ("HIGH", 9),
        ("LOW", 0),
    ]
    .into_iter()
    .enumerate()
    {
        plant(
            &*store,
            with_priority(&format!("s:{n}"), kind_name, level),
            START,
        )
        .await;
    }
    let kinds = |tasks: Vec<ClaimedTask>| -> Vec<String> {
        tasks
            .into_iter()
            .map(|task| task.identity.kind.to_string())
            .collect()
    };
    let first = claimed(&*store, claim_request(1, START, 3)).await;
    assert_eq!(kinds(first), ["HIGH", "HIGH", "MIDDLE"]);
    let second = claimed(&*store, claim_request(2, START, 3)).await;
    assert_eq!(kinds(second), ["LOW", "LOW"]);
}

/// Equal backlogs, equal shares.
pub(crate) async fn kinds_of_one_priority_share_evenly(store: Arc<dyn Store>) {
    plant_many(&*store, "a", "KIND_A", 20, START).await;
    plant_many(&*store, "b", "KIND_B", 20, START).await;
    let taken = claimed(&*store, claim_request(1, START, 10)).await;
    assert_eq!(
        per_kind(&taken),
        BTreeMap::from([("KIND_A", 5), ("KIND_B", 5)])
    );
}

/// Older work of one kind does not keep another kind's single task waiting.
pub(crate) async fn a_backlog_does_not_starve_another_kind(store: Arc<dyn Store>) {
    plant_many(&*store, "a", "KIND_A", 100, START).await;
    plant_many(&*store, "b", "KIND_B", 1, at(1)).await;
    let taken = claimed(&*store, claim_request(1, at(2), 10)).await;
    let counts = per_kind(&taken);
    assert_eq!(counts.get("KIND_B"), Some(&1));
    assert!(
        counts["KIND_A"] >= 5,
        "and keeps at least its own share: {counts:?}"
    );
}

/// By time, not by the order of writing.
pub(crate) async fn within_a_kind_the_earliest_goes_first(store: Arc<dyn Store>) {
    let mut ids = Vec::new();
    for seconds in [40, 30, 10, 20] {
        let request = put(&format!("article:{seconds}"), PUBLISH, at(seconds));
        ids.push(plant(&*store, request, START).await);
    }
    let taken = claimed(&*store, claim_request(1, at(60), 2)).await;
    let order: Vec<TaskId> = taken.into_iter().map(|task| task.id).collect();
    assert_eq!(order, [ids[2], ids[3]]);
}

/// And what it leaves goes to the others.
pub(crate) async fn a_limit_bounds_its_kind(store: Arc<dyn Store>) {
    plant_many(&*store, "a", "KIND_A", 10, START).await;
    let taken = claimed(&*store, limited(1, 10, &[("KIND_A", 3), ("UNKNOWN", 1)])).await;
    assert_eq!(taken.len(), 3);
    plant_many(&*store, "b", "KIND_B", 10, START).await;
    let taken = claimed(&*store, limited(2, 10, &[("KIND_A", 2)])).await;
    let counts = per_kind(&taken);
    assert_eq!(counts.get("KIND_A"), Some(&2));
    assert!(
        counts["KIND_B"] >= 5,
        "a kind that is not named is limited by the slots alone"
    );
}

/// A kind's tasks of different priorities draw on one and the same room.
pub(crate) async fn a_limit_bounds_its_kind_over_all_priorities(store: Arc<dyn Store>) {
    for n in 0..9 {
        plant(
            &*store,
            with_priority(&format!("s:{n}"), "KIND_A", n % 3 + 4),
            START,
        )
        .await;
    }
    let taken = claimed(&*store, limited(1, 10, &[("KIND_A", 4)])).await;
    assert!(taken.len() <= 4, "the lanes together took {}", taken.len());
    let mut urgent = 0;
    for taken in &taken {
        urgent += usize::from(task(&*store, taken.id).await.priority.level() == 6);
    }
    assert_eq!(
        urgent, 3,
        "the highest priority goes first within a kind too"
    );
}

/// What one claim leaves of a limited kind, the node is asked to come back for.
pub(crate) async fn a_limited_kind_is_drained_over_its_priorities(store: Arc<dyn Store>) {
    for n in 0..9 {
        plant(
            &*store,
            with_priority(&format!("s:{n}"), "KIND_A", n % 3 + 4),
            START,
        )
        .await;
    }
    let mut drained = 0;
    for claim in 1..=9 {
        let taken = store
            .claim(limited(claim, 10, &[("KIND_A", 4)]))
            .await
            .unwrap();
        assert!(
            !taken.tasks.is_empty() && taken.tasks.len() <= 4,
            "{} taken",
            taken.tasks.len()
        );
        drained += taken.tasks.len();
        if drained == 9 {
            assert_eq!(taken.next_due_at, None);
            return;
        }
        let full = taken.tasks.len() == 4;
        assert_eq!(taken.next_due_at, (!full).then_some(START), "claim {claim}");
    }
    panic!("{drained} of 9 after 9 claims");
}

/// No room at all for the kind whose tasks come first.
pub(crate) async fn a_full_kind_is_stepped_over(store: Arc<dyn Store>) {
    for n in 0..5 {
        plant(
            &*store,
            with_priority(&format!("s:{n}"), "KIND_A", 9),
            START,
        )
        .await;
    }
    plant_many(&*store, "b", "KIND_B", 5, START).await;
    let taken = claimed(&*store, limited(1, 10, &[("KIND_A", 0)])).await;
    assert_eq!(per_kind(&taken), BTreeMap::from([("KIND_B", 5)]));
}

/// After the claim: what it took no longer counts.
pub(crate) async fn next_due_is_the_earliest_waiting_task(store: Arc<dyn Store>) {
    let empty = store.claim(claim_request(1, START, 10)).await.unwrap();
    assert_eq!(empty.next_due_at, None);
    plant(&*store, put("article:1", PUBLISH, START), START).await;
    plant(&*store, put("article:2", PUBLISH, at(600)), START).await;
    plant(&*store, put("article:3", "ARTICLE_AUDIT", at(60)), START).await;
    let taken = store.claim(claim_request(2, START, 10)).await.unwrap();
    assert_eq!((taken.tasks.len(), taken.next_due_at), (1, Some(at(60))));
}

/// Waking for a kind without room would be waking for nothing; one filled by this very claim too.
pub(crate) async fn next_due_leaves_out_full_kinds(store: Arc<dyn Store>) {
    plant_many(&*store, "a", "KIND_A", 3, START).await;
    plant(&*store, put("b:1", "KIND_B", at(60)), START).await;
    let full = store.claim(limited(1, 10, &[("KIND_A", 0)])).await.unwrap();
    assert_eq!((full.tasks.len(), full.next_due_at), (0, Some(at(60))));
    let filled = store.claim(limited(2, 10, &[("KIND_A", 2)])).await.unwrap();
    assert_eq!((filled.tasks.len(), filled.next_due_at), (2, Some(at(60))));
    let room = store.claim(limited(3, 0, &[("KIND_A", 1)])).await.unwrap();
    assert_eq!(room.next_due_at, Some(START));
}

/// More is due than fits: the node knows that it should come back at once.
pub(crate) async fn next_due_may_have_passed_when_slots_run_out(store: Arc<dyn Store>) {
    plant_many(&*store, "article", PUBLISH, 3, START).await;
    let taken = store.claim(claim_request(1, at(60), 2)).await.unwrap();
    assert_eq!((taken.tasks.len(), taken.next_due_at), (2, Some(START)));
}

/// Two nodes at the same moment.
pub(crate) async fn concurrent_claims_are_disjoint(store: Arc<dyn Store>) {
    plant_many(&*store, "article", PUBLISH, 20, START).await;
    let (a, b) = tokio::join!(
        store.claim(claim_request(1, START, 10)),
        store.claim(claim_request(2, START, 10)),
    );
    let (a, b) = (a.unwrap().tasks, b.unwrap().tasks);
    assert!(a.iter().all(|one| b.iter().all(|other| one.id != other.id)));
    let rest = claimed(&*store, claim_request(3, START, 20)).await;
    assert_eq!(a.len() + b.len() + rest.len(), 20);
}

async fn claim_until_empty(store: Arc<dyn Store>, claimer: i64) -> Vec<TaskId> {
    let mut ids = Vec::new();
    for round in 0.. {
        let tasks = claimed(&*store, claim_request(claimer * 1000 + round, START, 7)).await;
        if tasks.is_empty() {
            break;
        }
        ids.extend(tasks.iter().map(|task| task.id));
    }
    ids
}

/// Eight nodes, five hundred tasks of three kinds.
pub(crate) async fn eight_claimers_take_every_task_exactly_once(store: Arc<dyn Store>) {
    let mut planted = plant_many(&*store, "a", "KIND_A", 300, START).await;
    planted.extend(plant_many(&*store, "b", "KIND_B", 150, START).await);
    planted.extend(plant_many(&*store, "c", "KIND_C", 50, START).await);
    let claimers: Vec<_> = (1..=8)
        .map(|claimer| tokio::spawn(claim_until_empty(Arc::clone(&store), claimer)))
        .collect();
    let mut taken = Vec::new();
    for claimer in claimers {
        taken.extend(claimer.await.expect("a claimer"));
    }
    taken.sort_unstable();
    planted.sort_unstable();
    assert_eq!(taken.len(), planted.len());
    assert_eq!(taken, planted);
    assert_eq!(task(&*store, planted[0]).await.term, Term(1));
}
