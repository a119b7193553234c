//! Turns: tasks of one kind are claimed key by key, and none waits for ever.

use std::{collections::BTreeMap, sync::Arc};

use almanack_core::{
    event::incoming::mapping::Path,
    pace::Rate,
    reschedule::{Put, Request, decide},
    share::{Rounds, ShareBy, Turn},
    store::{ClaimRequest, Store},
    task::{ClaimedTask, Payload, Priority},
};
use almanack_testkit::fixture::{START, at, claim_request, kind, put};
use jiff::Timestamp;

use super::{claimed, current, plant_many};

const MAIL: &str = "MAIL_SEND";
const ORIGIN: &str = "test";

fn share_by() -> ShareBy {
    let by = Path::parse("$.tenant").expect("a path");
    ShareBy(BTreeMap::from([(kind(MAIL), by)]))
}

fn mail(tenant: &str, number: usize, due_at: Timestamp) -> Put {
    let payload = format!("{{\"tenant\":\"{tenant}\"}}");
    Put {
        payload: Some(Payload::parse(&payload, 100).expect("JSON")),
        ..put(&format!("{tenant}:{number}"), MAIL, due_at)
    }
}

async fn plant_shared(store: &dyn Store, requests: Vec<Put>) {
    let change = |request: Put| {
        let at = request.execute_at;
        let decided = decide(None, &Request::Put(request), ORIGIN, at);
        let mut change = decided.expect("a put of nothing creates");
        share_by().mark(&mut change, None);
        change
    };
    let changes = requests.into_iter().map(change).collect();
    store.apply(changes).await.expect("apply");
}

/// `many` tasks of one tenant, all due at once.
async fn plant_mail(store: &dyn Store, tenant: &str, many: usize, due_at: Timestamp) {
    let requests = (0..many).map(|number| mail(tenant, number, due_at));
    plant_shared(store, requests.collect()).await;
}

fn turn(after: &str, earliest_first: bool) -> Turn {
    Turn {
        kind: kind(MAIL),
        after: after.to_owned(),
        earliest_first,
    }
}

fn by_turns(claim: i64, slots: usize, turn: Turn) -> ClaimRequest {
    ClaimRequest {
        turns: vec![turn],
        ..claim_request(claim, at(60), slots)
    }
}

/// How many tasks of each tenant, or prefix.
fn tenants(tasks: &[ClaimedTask]) -> BTreeMap<&str, usize> {
    let mut tenants = BTreeMap::new();
    for task in tasks {
        let tenant = task.identity.subject.as_str().split(':').next();
        *tenants.entry(tenant.unwrap_or_default()).or_default() += 1;
    }
    tenants
}

pub(crate) async fn keys_share_a_claim_and_the_rest_goes_by_time(store: Arc<dyn Store>) {
    plant_mail(&*store, "a", 20, START).await;
    plant_mail(&*store, "b", 3, at(1)).await;
    plant_mail(&*store, "later", 9, at(3_600)).await;
    let first = store.claim(by_turns(1, 8, turn("", true))).await.unwrap();
    assert_eq!(tenants(&first.tasks), BTreeMap::from([("a", 5), ("b", 3)]));
    assert_eq!(first.turns, [(kind(MAIL), Some("\"b\"".to_owned()))]);
    assert_eq!(first.next_due_at, Some(START), "the rest");
    let second = claimed(&*store, by_turns(2, 30, turn("\"b\"", true))).await;
    assert_eq!(tenants(&second), BTreeMap::from([("a", 15)]));
    let none = store.claim(by_turns(3, 30, turn("", true))).await.unwrap();
    assert_eq!((none.tasks.len(), none.next_due_at), (0, Some(at(3_600))));
    assert_eq!(none.turns, [], "nothing was taken");
}

/// The task that goes first by time is its key's turn, not one more: keys get the same, and where
/// there is one slot, the next claim begins behind that key.
pub(crate) async fn the_earliest_task_is_a_turn_of_its_key(store: Arc<dyn Store>) {
    plant_mail(&*store, "a", 20, at(1)).await;
    plant_mail(&*store, "b", 20, START).await;
    let four = claimed(&*store, by_turns(1, 4, turn("", true))).await;
    assert_eq!(tenants(&four), BTreeMap::from([("a", 2), ("b", 2)]));
    let three = store.claim(by_turns(2, 3, turn("", true))).await.unwrap();
    assert_eq!(tenants(&three.tasks), BTreeMap::from([("a", 1), ("b", 2)]));
    assert_eq!(three.turns, [(kind(MAIL), Some("\"b\"".to_owned()))]);
    let one = store.claim(by_turns(3, 1, turn("\"a\"", true))).await;
    let one = one.unwrap();
    assert_eq!(tenants(&one.tasks), BTreeMap::from([("b", 1)]));
    assert_eq!(one.turns, [(kind(MAIL), Some("\"b\"".to_owned()))]);
}

/// The earliest of a key goes first, and a task is never taken twice by one claim.
pub(crate) async fn within_a_key_the_earliest_goes_first(store: Arc<dyn Store>) {
    let requests = (0..6).map(|number| {
        let second = i64::try_from(number).expect("small");
        mail(["a", "b"][number % 2], number, at(10 - second))
    });
    plant_shared(&*store, requests.collect()).await;
    let tasks = claimed(&*store, by_turns(1, 3, turn("", false))).await;
    let mut subjects: Vec<&str> = tasks
        .iter()
        .map(|it| it.identity.subject.as_str())
        .collect();
    subjects.sort_unstable();
    assert_eq!(subjects, ["a:4", "b:3", "b:5"], "the last by time");
    assert!(tasks.iter().all(|task| task.term.0 == 1));
}

/// One slot at a time, with more keys than slots: every key has its turn in each round, also the one
/// that claims do not see.
pub(crate) async fn more_keys_than_slots_go_round(store: Arc<dyn Store>) {
    plant_many(&*store, "old", MAIL, 40, START).await;
    for tenant in ["a", "b", "c", "d"] {
        plant_mail(&*store, tenant, 10, at(1)).await;
    }
    let (mut rounds, mut taken) = (Rounds::default(), Vec::new());
    for claim in 1..=12 {
        let turn = rounds.next(&share_by(), 1).remove(0);
        let claim = store.claim(by_turns(claim, 1, turn)).await.unwrap();
        for (kind, last) in claim.turns {
            rounds.note(&kind, last);
        }
        taken.extend(claim.tasks);
    }
    let expected = [("a", 3), ("b", 2), ("c", 2), ("d", 2), ("old", 3)];
    assert_eq!(tenants(&taken), BTreeMap::from(expected));
}

pub(crate) async fn turns_begin_behind_the_last_key_and_wrap(store: Arc<dyn Store>) {
    for tenant in ["a", "b", "c", "d"] {
        plant_mail(&*store, tenant, 2, START).await;
    }
    let first = store
        .claim(by_turns(1, 2, turn("\"c\"", false)))
        .await
        .unwrap();
    assert_eq!(tenants(&first.tasks), BTreeMap::from([("a", 1), ("d", 1)]));
    assert_eq!(first.turns, [(kind(MAIL), Some("\"a\"".to_owned()))]);
}

/// Turns are taken within a priority: a higher one still goes first, and other kinds have their
/// share.
pub(crate) async fn turns_keep_to_priorities_limits_and_other_kinds(store: Arc<dyn Store>) {
    plant_mail(&*store, "a", 9, START).await;
    let urgent = Put {
        priority: Some(Priority::new(9).expect("a level")),
        ..mail("urgent", 0, at(2))
    };
    plant_shared(&*store, vec![mail("b", 0, at(1)), urgent]).await;
    plant_many(&*store, "other", "OTHER", 4, at(3)).await;
    let limited = |claim, room| ClaimRequest {
        limits: vec![(kind(MAIL), room)],
        ..by_turns(claim, 8, turn("", false))
    };
    let first = claimed(&*store, limited(1, 2)).await;
    assert_eq!(
        tenants(&first),
        BTreeMap::from([("other", 4), ("urgent", 1)])
    );
    let second = claimed(&*store, limited(2, 2)).await;
    assert_eq!(tenants(&second), BTreeMap::from([("a", 1), ("b", 1)]));
}

/// What workers take goes by turns, too, and keeps to a rate and to the kinds they ask for.
pub(crate) async fn pulled_kinds_take_turns(store: Arc<dyn Store>) {
    plant_mail(&*store, "a", 20, START).await;
    plant_mail(&*store, "b", 3, at(1)).await;
    plant_many(&*store, "other", "OTHER", 4, START).await;
    let pulled = |claim, turn| ClaimRequest {
        kinds: vec![kind(MAIL)],
        rates: vec![(kind(MAIL), Rate::parse("1/min").unwrap().with_burst(4))],
        ..by_turns(claim, 8, turn)
    };
    let first = store.claim(pulled(1, turn("", true))).await.unwrap();
    assert_eq!(tenants(&first.tasks), BTreeMap::from([("a", 2), ("b", 2)]));
    assert_eq!(first.turns, [(kind(MAIL), Some("\"b\"".to_owned()))]);
    let second = claimed(&*store, pulled(2, turn("\"b\"", true))).await;
    assert_eq!(second, [], "the rate is used up");
}

/// What a put says anew about the payload moves the task to another key; what it leaves out, not.
pub(crate) async fn a_changed_payload_changes_the_key(store: Arc<dyn Store>) {
    plant_mail(&*store, "a", 2, START).await;
    let identity = mail("a", 1, START).identity;
    let row = current(&*store, &identity).await.expect("planted");
    let request = Put {
        payload: mail("b", 0, START).payload,
        ..mail("a", 1, at(1))
    };
    let decided = decide(Some(&row), &Request::Put(request), ORIGIN, at(1));
    let mut change = decided.expect("it waits");
    share_by().mark(&mut change, Some(&row));
    store.apply(vec![change]).await.expect("apply");
    let claim = store.claim(by_turns(1, 2, turn("", false))).await.unwrap();
    assert_eq!(claim.tasks.len(), 2);
    assert_eq!(claim.turns, [(kind(MAIL), Some("\"b\"".to_owned()))]);
}
