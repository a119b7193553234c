//! Records: the whole story of an identity, and how much waits.

use std::sync::Arc;

use almanack_core::{
    finish::Outcome,
    history::{Decision, Happening, Kept, tell, verify},
    reschedule::{Put, Request, Rule},
    store::{Depth, Records, Store},
    task::{Identity, Priority, TaskId},
};

use super::{ORIGIN, ask, claim_one, done, end, failed, plant, plant_many, task};
use crate::fixture::{PUBLISH, START, at, cancel, identity, kind, put, put_rev};

fn publish() -> Identity {
    identity("article:1", PUBLISH)
}

fn move_to(seconds: i64) -> Request {
    Request::Put(put("article:1", PUBLISH, at(seconds)))
}

/// `row rule` for decisions, `row outcome` for attempts; rows by their place in the chain.
fn lines(records: Records) -> Vec<String> {
    let rows: Vec<TaskId> = records.tasks.iter().map(|task| task.id).collect();
    let place = |id: TaskId| rows.iter().position(|row| *row == id).expect("a known row") + 1;
    let story = tell(&records.tasks, records.decisions, records.attempts);
    let line = |happening: &Happening| match happening {
        Happening::Decision(d) => format!("{} {}", place(d.id.task_id), d.rule.as_str()),
        Happening::Attempt(a) => format!("{} {}", place(a.task_id), a.outcome),
    };
    story.iter().map(line).collect()
}

/// Created, moved, tried, replaced, tried again, done, and asked about once more.
pub async fn rs_13_a_whole_life_is_told_in_order(store: Arc<dyn Store>) {
    ask(&*store, &move_to(100), START).await;
    ask(&*store, &move_to(10), at(1)).await;
    let first = claim_one(&*store, 1, at(10)).await;
    end(&*store, &first, &failed(), at(11)).await;
    claim_one(&*store, 2, at(60)).await;
    ask(&*store, &move_to(100), at(61)).await;
    let handed_back = claim_one(&*store, 3, at(100)).await;
    end(&*store, &handed_back, &Outcome::HandedBack, at(101)).await;
    let last = claim_one(&*store, 4, at(102)).await;
    end(&*store, &last, &done(), at(103)).await;
    ask(&*store, &move_to(200), at(104)).await;
    let records = store.load_records(&publish()).await.unwrap();
    let expected = [
        "1 created",
        "1 updated",
        "1 retry",
        "1 cancelled",
        "1 cancelled_and_inserted",
        "2 reinserted",
        "2 handed_back",
        "2 done",
        "2 ignored_done",
    ];
    assert_eq!(lines(records), expected);
}

/// Who asked, when, which rule, old and new time, and the row that took over.
pub async fn rs_13_a_decision_tells_who_when_what_and_both_times(store: Arc<dyn Store>) {
    ask(&*store, &put_rev("article:1", PUBLISH, START, 1), START).await;
    claim_one(&*store, 1, START).await;
    let receipt = ask(&*store, &put_rev("article:1", PUBLISH, at(60), 2), at(5)).await;
    let moved = ask(&*store, &put_rev("article:1", PUBLISH, at(90), 3), at(6)).await;
    let records = store.load_records(&publish()).await.unwrap();
    let replaced = Decision {
        id: receipt.decision,
        decided_at: at(5),
        origin: ORIGIN.to_owned(),
        rule: Rule::CancelledAndInserted,
        old_execute_at: Some(START),
        execute_at: at(60),
        revision: 2,
        new_task_id: Some(receipt.task_id),
    };
    let updated = Decision {
        id: moved.decision,
        decided_at: at(6),
        rule: Rule::Updated,
        old_execute_at: Some(at(60)),
        execute_at: at(90),
        revision: 3,
        new_task_id: None,
        ..replaced.clone()
    };
    assert_eq!(records.decisions, [replaced, updated]);
}

/// Told once, beside what was taken away.
pub async fn rs_13_a_late_answer_is_in_the_story(store: Arc<dyn Store>) {
    plant(&*store, put("article:1", PUBLISH, START), START).await;
    let attempt = claim_one(&*store, 1, START).await;
    ask(
        &*store,
        &Request::Cancel(cancel("article:1", PUBLISH)),
        at(1),
    )
    .await;
    end(&*store, &attempt, &done(), at(2)).await;
    let records = store.load_records(&publish()).await.unwrap();
    let told = tell(&records.tasks, records.decisions, records.attempts);
    let attempts: Vec<_> = told
        .iter()
        .filter_map(|happening| match happening {
            Happening::Attempt(attempt) => Some(attempt),
            Happening::Decision(_) => None,
        })
        .collect();
    assert_eq!(attempts.len(), 1);
    assert_eq!(attempts[0].late_outcome.as_deref(), Some("done"));
}

/// Every receipt of a life, asked about at its end.
pub async fn rs_14_a_receipt_can_be_verified_from_the_records(store: Arc<dyn Store>) {
    let created = ask(&*store, &put_rev("article:1", PUBLISH, START, 1), START).await;
    claim_one(&*store, 1, START).await;
    let replaced = ask(&*store, &put_rev("article:1", PUBLISH, at(60), 2), at(1)).await;
    let stale = ask(&*store, &put_rev("article:1", PUBLISH, at(30), 1), at(2)).await;
    let moved = ask(&*store, &put_rev("article:1", PUBLISH, at(90), 3), at(3)).await;
    let attempt = claim_one(&*store, 2, at(90)).await;
    end(&*store, &attempt, &done(), at(91)).await;
    let records = store.load_records(&publish()).await.unwrap();
    for (receipt, kept) in [
        (created, Kept::Superseded),
        (replaced, Kept::Superseded),
        (stale, Kept::ChangedNothing),
        (moved, Kept::Done),
    ] {
        let verified = verify(receipt.decision, &records.tasks, &records.decisions);
        let (decision, verdict) = verified.expect("every receipt is known");
        assert_eq!(verdict, kept, "{receipt:?}");
        assert_eq!(decision.execute_at, receipt.execute_at, "{receipt:?}");
    }
}

/// Nothing, not an error.
pub async fn records_of_an_unknown_identity_are_empty(store: Arc<dyn Store>) {
    assert_eq!(
        store.load_records(&publish()).await.unwrap(),
        Records::default()
    );
}

/// The same subject under another kind is somebody else.
pub async fn records_are_the_identitys_own(store: Arc<dyn Store>) {
    plant(&*store, put("article:1", "ARTICLE_AUDIT", START), START).await;
    let audit = claim_one(&*store, 1, START).await;
    end(&*store, &audit, &failed(), at(1)).await;
    ask(&*store, &move_to(600), START).await;
    let receipt = ask(&*store, &move_to(700), START).await;
    let records = store.load_records(&publish()).await.unwrap();
    assert_eq!(records.tasks, [task(&*store, receipt.task_id).await]);
    assert_eq!((records.decisions.len(), records.attempts.len()), (1, 0));
}

/// Per kind, over its priorities; what runs or has ended does not wait.
pub async fn depths_count_what_waits_and_what_is_due(store: Arc<dyn Store>) {
    assert_eq!(store.load_depths(START).await.unwrap(), []);
    plant(&*store, put("running:1", "KIND_B", START), START).await;
    claim_one(&*store, 1, START).await;
    plant_many(&*store, "a", "KIND_A", 3, at(5)).await;
    let urgent = Put {
        priority: Some(Priority::new(9).unwrap()),
        ..put("a:9", "KIND_A", at(3))
    };
    plant(&*store, urgent, START).await;
    plant(&*store, put("a:10", "KIND_A", at(600)), START).await;
    plant(&*store, put("c:1", "KIND_C", at(600)), START).await;
    let mut depths = store.load_depths(at(60)).await.unwrap();
    depths.sort_by(|a, b| a.kind.cmp(&b.kind));
    let of = |name: &str, waiting: u64, due: u64, first_due_at| Depth {
        kind: kind(name),
        waiting,
        due,
        first_due_at,
    };
    assert_eq!(
        depths,
        [
            of("KIND_A", 5, 4, Some(at(3))),
            of("KIND_C", 1, 0, Some(at(600)))
        ]
    );
}

/// Current or not; an unknown number is nobody.
pub async fn a_row_is_loaded_by_its_number(store: Arc<dyn Store>) {
    let id = plant(&*store, put("article:1", PUBLISH, START), START).await;
    claim_one(&*store, 1, START).await;
    ask(&*store, &move_to(60), at(1)).await;
    assert!(!task(&*store, id).await.current);
    assert_eq!(store.load_task(TaskId(i64::MAX)).await.unwrap(), None);
}
