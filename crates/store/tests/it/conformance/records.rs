//! Records: the whole story of an identity, and how much waits.

use std::sync::Arc;

use almanack_core::{
    finish::Outcome,
    history::{DECISIONS_KEPT, Decision, HistoryEvent, Kept, page, report, verify},
    reschedule::{Change, Put, Request, Requested, Rule},
    store::{Applied, AppliedOnce, Depth, HistoryPage, OnceKey, Records, Store},
    task::{Identity, Priority, Revision, TaskId},
};
use almanack_testkit::fixture::{
    PUBLISH, START, at, cancel, cancel_rev, identity, kind, put, put_rev,
};

use super::{ORIGIN, ask, claim_one, decided, done, end, failed, plant, plant_many, task};

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
    let story = report(&records.tasks, records.decisions, records.attempts);
    let line = |event: &HistoryEvent| match event {
        HistoryEvent::Decision(d) => format!("{} {}", place(d.id.task_id), d.rule.as_str()),
        HistoryEvent::Attempt(a) => format!("{} {}", place(a.task_id), a.outcome),
    };
    story.iter().map(line).collect()
}

/// Created, moved, tried, replaced, tried again, done, and asked about once more.
pub(crate) async fn rs_13_a_whole_life_is_reported_in_order(store: Arc<dyn Store>) {
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
    let records = store
        .load_history(&publish(), HistoryPage::WHOLE)
        .await
        .unwrap();
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
pub(crate) async fn rs_13_a_decision_reports_who_when_what_and_both_times(store: Arc<dyn Store>) {
    ask(&*store, &put_rev("article:1", PUBLISH, START, 1), START).await;
    claim_one(&*store, 1, START).await;
    let receipt = ask(&*store, &put_rev("article:1", PUBLISH, at(60), 2), at(5)).await;
    let moved = ask(&*store, &put_rev("article:1", PUBLISH, at(90), 3), at(6)).await;
    let records = store
        .load_history(&publish(), HistoryPage::WHOLE)
        .await
        .unwrap();
    let replaced = Decision {
        id: receipt.decision,
        decided_at: at(5),
        origin: ORIGIN.to_owned(),
        rule: Rule::CancelledAndInserted,
        old_execute_at: Some(START),
        execute_at: at(60),
        revision: 2,
        new_task_id: Some(receipt.task_id),
        requested: None,
        times: 1,
        last_at: None,
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

/// Which change was dropped, its scheduled time, its number, and its requester.
pub(crate) async fn rs_13_a_request_that_changed_nothing_is_reported(store: Arc<dyn Store>) {
    ask(&*store, &put_rev("article:1", PUBLISH, at(60), 5), START).await;
    let stale = put_rev("article:1", PUBLISH, at(90), 4);
    let withdrawn = cancel_rev("article:1", PUBLISH, 3);
    let again = move_to(60);
    for (request, rule, execute_at, revision) in [
        (&stale, Rule::IgnoredStale, Some(at(90)), Some(4)),
        (&withdrawn, Rule::IgnoredStale, None, Some(3)),
        (&again, Rule::Unchanged, Some(at(60)), None),
    ] {
        let receipt = ask(&*store, request, at(1)).await;
        let records = store.load_history(&publish(), HistoryPage::WHOLE).await;
        let recorded = records.unwrap().decisions.pop().unwrap();
        let revision = revision.map(Revision);
        let requested = Requested {
            execute_at,
            revision,
        };
        assert_eq!((recorded.id, recorded.rule), (receipt.decision, rule));
        assert_eq!(
            (recorded.requested, recorded.origin.as_str()),
            (Some(requested), ORIGIN)
        );
        assert_eq!((recorded.times, recorded.last_at), (1, None));
    }
}

/// However often it comes, alone, many at once or under a key; its receipt is that of the first
/// time, and the row does not change.
pub(crate) async fn sf_02_a_redelivery_is_counted_and_not_written_again(store: Arc<dyn Store>) {
    let first = put_rev("article:1", PUBLISH, at(60), 5);
    let created = ask(&*store, &first, START).await;
    let other = put_rev("article:1", PUBLISH, at(90), 4);
    let receipt = ask(&*store, &first, at(1)).await;
    let row = task(&*store, created.task_id).await;
    ask(&*store, &other, at(2)).await;
    for seconds in 3..10 {
        assert_eq!(ask(&*store, &first, at(seconds)).await, receipt);
    }
    let change = decided(&*store, &first, at(10)).await;
    let many = store.apply(vec![change.clone(); 20]).await.unwrap();
    assert_eq!(many, vec![Applied::Repeated { number: 1 }; 20]);
    let key = OnceKey {
        key: "k".to_owned(),
        digest: String::new(),
    };
    let once = store.apply_once(key, vec![change]).await.unwrap();
    assert_eq!(once, AppliedOnce::Done(vec![receipt.clone()]));
    let records = store.load_history(&publish(), HistoryPage::WHOLE).await;
    let recorded: Vec<_> = records.unwrap().decisions.into_iter().collect();
    let counted: Vec<_> = recorded
        .iter()
        .map(|d| (d.id.number, d.times, d.last_at))
        .collect();
    assert_eq!(counted, [(1, 29, Some(at(10))), (2, 1, None)]);
    assert_eq!(recorded[0].decided_at, at(1), "when it was asked first");
    let after = task(&*store, created.task_id).await;
    assert_eq!((after.decisions, after.revision), (2, row.revision));
}

/// Asked by another author, or of a row that has moved on, it is another decision.
pub(crate) async fn rs_13_only_the_very_same_request_is_counted(store: Arc<dyn Store>) {
    ask(&*store, &put_rev("article:1", PUBLISH, at(60), 5), START).await;
    let stale = put_rev("article:1", PUBLISH, at(90), 4);
    ask(&*store, &stale, at(1)).await;
    let change = decided(&*store, &stale, at(2)).await;
    let by_another = Change {
        origin: "another author".to_owned(),
        ..change.clone()
    };
    let applied = store.apply(vec![by_another]).await.unwrap();
    assert_eq!(applied, [Applied::Done { inserted: None }]);
    assert_eq!(
        store.apply(vec![change]).await.unwrap(),
        [Applied::Lost],
        "the row has one decision more"
    );
    ask(&*store, &put_rev("article:1", PUBLISH, at(70), 6), at(3)).await;
    ask(&*store, &stale, at(4)).await;
    ask(&*store, &put_rev("article:1", PUBLISH, at(90), 3), at(5)).await;
    let records = store.load_history(&publish(), HistoryPage::WHOLE).await;
    let recorded = records.unwrap().decisions;
    assert_eq!(recorded.len(), 5);
    assert!(recorded.iter().all(|decision| decision.times == 1));
}

/// The newest stay, the row and its receipts from lately with them.
pub(crate) async fn sf_02_the_decisions_on_a_row_are_bounded(store: Arc<dyn Store>) {
    let kept = i64::from(DECISIONS_KEPT);
    ask(&*store, &move_to(100_000), START).await;
    for second in 1..=kept + 3 {
        ask(&*store, &move_to(100_000 + second), at(second)).await;
    }
    let receipt = ask(
        &*store,
        &Request::Cancel(cancel("article:1", PUBLISH)),
        at(5_000),
    )
    .await;
    let records = store
        .load_history(&publish(), HistoryPage::WHOLE)
        .await
        .unwrap();
    assert_eq!(records.decisions.len(), usize::try_from(kept).unwrap());
    let first = records.decisions[0].id.number;
    assert_eq!(i64::from(first), 5, "the oldest went first");
    let verified = verify(receipt.decision, &records.tasks, &records.decisions);
    assert_eq!(verified.map(|(_, kept)| kept), Some(Kept::Withdrawn));
}

/// From the newest on, whatever the page's size, and without payloads.
pub(crate) async fn sf_02_a_history_is_read_in_pages(store: Arc<dyn Store>) {
    for second in 0..6 {
        ask(&*store, &move_to(1_000 + second), at(second * 10)).await;
        ask(&*store, &move_to(2_000 + second), at(second * 10 + 1)).await;
        ask(&*store, &move_to(second * 10), at(second * 10 + 2)).await;
        let attempt = claim_one(&*store, second + 1, at(second * 10 + 3)).await;
        end(&*store, &attempt, &failed(), at(second * 10 + 4)).await;
        ask(
            &*store,
            &Request::Cancel(cancel("article:1", PUBLISH)),
            at(second * 10 + 5),
        )
        .await;
    }
    // A row with a longer story than any small page.
    for second in 60..80 {
        ask(&*store, &move_to(3_000 + second), at(second)).await;
    }
    let whole = store
        .load_history(&publish(), HistoryPage::WHOLE)
        .await
        .unwrap();
    assert_eq!(whole.tasks.len(), 7);
    let whole = page(whole, None, usize::MAX).events;
    for limit in [1, 2, 3, 7, 29, 49, 50, 51] {
        let (mut recorded, mut before) = (Vec::new(), None);
        // No page is empty, so there are no more.
        for _ in 0..=whole.len() {
            let wanted = HistoryPage { before, limit };
            let records = store.load_history(&publish(), wanted).await.unwrap();
            assert!(records.decisions.len() + records.attempts.len() <= 2 * limit + 4);
            let page = page(records, before, limit);
            recorded.splice(0..0, page.events);
            before = page.before;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(recorded, whole, "{limit} on a page");
    }
}

/// Those of one row above a number, oldest first.
pub(crate) async fn decisions_of_a_row_are_loaded_by_their_numbers(store: Arc<dyn Store>) {
    let id = ask(&*store, &move_to(100), START).await.task_id;
    for second in 1..=4 {
        ask(&*store, &move_to(100 + second), at(second)).await;
    }
    let loaded = |after, limit| {
        let store = Arc::clone(&store);
        async move {
            let found = store.load_decisions(id, after, limit).await.unwrap();
            found
                .iter()
                .map(|found| found.id.number)
                .collect::<Vec<_>>()
        }
    };
    assert_eq!(loaded(0, 10).await, [1, 2, 3, 4]);
    assert_eq!(loaded(1, 2).await, [2, 3]);
    assert!(loaded(4, 10).await.is_empty());
    assert_eq!(
        store.load_decisions(TaskId(i64::MAX), 0, 1).await.unwrap(),
        []
    );
}

/// Shown once, beside what was taken away.
pub(crate) async fn rs_13_a_late_answer_is_in_the_story(store: Arc<dyn Store>) {
    plant(&*store, put("article:1", PUBLISH, START), START).await;
    let attempt = claim_one(&*store, 1, START).await;
    ask(
        &*store,
        &Request::Cancel(cancel("article:1", PUBLISH)),
        at(1),
    )
    .await;
    end(&*store, &attempt, &done(), at(2)).await;
    let records = store
        .load_history(&publish(), HistoryPage::WHOLE)
        .await
        .unwrap();
    let recorded = report(&records.tasks, records.decisions, records.attempts);
    let attempts: Vec<_> = recorded
        .iter()
        .filter_map(|event| match event {
            HistoryEvent::Attempt(attempt) => Some(attempt),
            HistoryEvent::Decision(_) => None,
        })
        .collect();
    assert_eq!(attempts.len(), 1);
    assert_eq!(attempts[0].late_outcome.as_deref(), Some("done"));
}

/// Every receipt of a life, asked about at its end.
pub(crate) async fn rs_14_a_receipt_can_be_verified_from_the_records(store: Arc<dyn Store>) {
    let created = ask(&*store, &put_rev("article:1", PUBLISH, START, 1), START).await;
    claim_one(&*store, 1, START).await;
    let replaced = ask(&*store, &put_rev("article:1", PUBLISH, at(60), 2), at(1)).await;
    let stale = ask(&*store, &put_rev("article:1", PUBLISH, at(30), 1), at(2)).await;
    let moved = ask(&*store, &put_rev("article:1", PUBLISH, at(90), 3), at(3)).await;
    let attempt = claim_one(&*store, 2, at(90)).await;
    end(&*store, &attempt, &done(), at(91)).await;
    let records = store
        .load_history(&publish(), HistoryPage::WHOLE)
        .await
        .unwrap();
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
pub(crate) async fn records_of_an_unknown_identity_are_empty(store: Arc<dyn Store>) {
    assert_eq!(
        store
            .load_history(&publish(), HistoryPage::WHOLE)
            .await
            .unwrap(),
        Records::default()
    );
}

/// The same subject under another kind is another identity.
pub(crate) async fn records_are_the_identitys_own(store: Arc<dyn Store>) {
    plant(&*store, put("article:1", "ARTICLE_AUDIT", START), START).await;
    let audit = claim_one(&*store, 1, START).await;
    end(&*store, &audit, &failed(), at(1)).await;
    ask(&*store, &move_to(600), START).await;
    let receipt = ask(&*store, &move_to(700), START).await;
    let records = store
        .load_history(&publish(), HistoryPage::WHOLE)
        .await
        .unwrap();
    assert_eq!(records.tasks, [task(&*store, receipt.task_id).await]);
    assert_eq!((records.decisions.len(), records.attempts.len()), (1, 0));
}

/// Each once, whatever waits of it; what runs or has ended does not wait.
pub(crate) async fn sf_01_waiting_kinds_are_named_up_to_a_bound(store: Arc<dyn Store>) {
    plant(&*store, put("running:1", "KIND_Z", START), START).await;
    claim_one(&*store, 1, START).await;
    for name in ["KIND_C", "KIND_A", "KIND_B"] {
        plant_many(&*store, name, name, 3, at(600)).await;
    }
    let named = |limit| {
        let store = Arc::clone(&store);
        async move {
            let kinds = store.load_waiting_kinds(limit).await.unwrap();
            kinds
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" ")
        }
    };
    assert_eq!(named(10).await, "KIND_A KIND_B KIND_C");
    assert_eq!(named(2).await, "KIND_A KIND_B");
}

/// Per kind, over its priorities; what runs or has ended does not wait.
pub(crate) async fn depths_count_what_waits_and_what_is_due(store: Arc<dyn Store>) {
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

/// Current or not; an unknown number is none.
pub(crate) async fn a_row_is_loaded_by_its_number(store: Arc<dyn Store>) {
    let id = plant(&*store, put("article:1", PUBLISH, START), START).await;
    claim_one(&*store, 1, START).await;
    ask(&*store, &move_to(60), at(1)).await;
    assert!(!task(&*store, id).await.current);
    assert_eq!(store.load_task(TaskId(i64::MAX)).await.unwrap(), None);
}
