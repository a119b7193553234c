//! Searching the newest tasks, and counting them.

use std::sync::Arc;

use almanack_core::{
    finish::Outcome,
    plan::DISPATCH,
    reschedule::Request,
    store::{Kinds, StatusCount, Store, TaskFilter},
    task::{Status, TaskId},
};
use almanack_testkit::fixture::{PUBLISH, START, at, cancel, claim_request, kind, put};

use super::{ask, claim_one, claimed, done, end, plant, plant_many};

fn everything() -> TaskFilter {
    TaskFilter {
        among: Some(1_000),
        limit: 1_000,
        ..TaskFilter::default()
    }
}

/// What a search finds. The count must say the same.
async fn found(store: &dyn Store, search: &TaskFilter) -> Vec<TaskId> {
    let lines = store.search_tasks(search).await.expect("search_tasks");
    let ids: Vec<TaskId> = lines.into_iter().map(|line| line.id).collect();
    if search.before.is_none() && ids.len() < search.limit {
        let counted = store.count_found(search).await.expect("count_found");
        assert_eq!(counted, ids.len() as u64, "{search:?}");
    }
    ids
}

/// Plants a task that is due at once, tries it, and has it say something for good.
async fn said(store: &dyn Store, subject: &str, claim: i64, error: &str) -> TaskId {
    let id = plant(store, put(subject, PUBLISH, START), START).await;
    let attempt = claim_one(store, claim, START).await;
    let error = error.to_owned();
    end(store, &attempt, &Outcome::GiveUp { error }, at(1)).await;
    id
}

/// Everything that the row says about itself, at every stage of its life.
pub(crate) async fn a_line_reports_what_its_row_reports(store: Arc<dyn Store>) {
    plant(&*store, put("article:waits", PUBLISH, at(500)), START).await;
    said(&*store, "article:failed", 1, "404 没有").await;
    plant(&*store, put("article:runs", PUBLISH, at(2)), START).await;
    claim_one(&*store, 2, at(2)).await;
    let lines = store.search_tasks(&everything()).await.unwrap();
    assert_eq!(lines.len(), 3);
    for line in lines {
        let row = store.load_task(line.id).await.unwrap().expect("its row");
        assert_eq!(line.is_live(), row.is_live(), "{line:?}");
        assert_eq!(
            (line.identity, line.status, line.execute_at, line.due_at),
            (row.identity, row.status, row.execute_at, row.due_at)
        );
        assert_eq!(
            (line.attempt, line.max_retry, line.origin),
            (row.attempt, row.max_retry, row.origin)
        );
        assert_eq!(
            (line.node, line.detail, line.created_at),
            (row.node, row.detail, row.created_at)
        );
        assert_eq!(
            (line.started_at, line.finished_at),
            (row.started_at, row.finished_at)
        );
    }
}

/// Each filter by itself, and all at once.
pub(crate) async fn a_search_narrows_by_each_filter(store: Arc<dyn Store>) {
    let failed = said(&*store, "article:1", 1, "404 Not Found").await;
    let audit = plant(&*store, put("article:1", "ARTICLE_AUDIT", at(60)), START).await;
    let other = plant(&*store, put("source:1", PUBLISH, at(60)), START).await;
    assert_eq!(
        found(&*store, &everything()).await,
        [other, audit, failed],
        "newest first"
    );
    let by_kind = TaskFilter {
        kind: Some(kind(PUBLISH)),
        ..everything()
    };
    assert_eq!(found(&*store, &by_kind).await, [other, failed]);
    let by_status = TaskFilter {
        status: Some(Status::Init),
        ..everything()
    };
    assert_eq!(found(&*store, &by_status).await, [other, audit]);
    let by_subject = TaskFilter {
        subject_contains: Some("CLE:".to_owned()),
        ..everything()
    };
    assert_eq!(found(&*store, &by_subject).await, [audit, failed]);
    let by_detail = TaskFilter {
        error: Some("not f".to_owned()),
        ..everything()
    };
    assert_eq!(found(&*store, &by_detail).await, [failed]);
    let together = TaskFilter {
        kind: Some(kind(PUBLISH)),
        status: Some(Status::Fail),
        subject_contains: Some("1".to_owned()),
        ..by_detail
    };
    assert_eq!(found(&*store, &together).await, [failed]);
    let none = TaskFilter {
        status: Some(Status::Success),
        ..together
    };
    assert_eq!(found(&*store, &none).await, []);
}

/// No character is a wildcard, in subjects as in what was said; only ASCII letters have a case.
pub(crate) async fn parts_of_texts_are_taken_literally(store: Arc<dyn Store>) {
    let texts = ["a_b", "axb", "a%b", "文章 Ä", "it's \\", "A_B"];
    let mut planted = Vec::new();
    for (text, claim) in texts.into_iter().zip(1..) {
        planted.push(said(&*store, &format!("s:{claim}:{text}"), claim, text).await);
    }
    for (part, expected) in [
        ("A_", vec![planted[5], planted[0]]),
        ("a%", vec![planted[2]]),
        ("%", vec![planted[2]]),
        ("章", vec![planted[3]]),
        ("Ä", vec![planted[3]]),
        ("ä", vec![]),
        ("'s \\", vec![planted[4]]),
        ("", planted.iter().rev().copied().collect()),
    ] {
        let containing = TaskFilter {
            subject_contains: Some(part.to_owned()),
            ..everything()
        };
        assert_eq!(found(&*store, &containing).await, expected, "{part}");
        let saying = TaskFilter {
            error: Some(part.to_owned()),
            ..everything()
        };
        assert_eq!(found(&*store, &saying).await, expected, "{part} was said");
    }
}

/// Every line once, newest first, while the list grows at its head.
pub(crate) async fn pages_of_a_search_cover_every_line_once(store: Arc<dyn Store>) {
    let mut planted = plant_many(&*store, "article", PUBLISH, 23, START).await;
    planted.sort_unstable_by(|a, b| b.cmp(a));
    let mut seen = Vec::new();
    let mut search = TaskFilter {
        limit: 5,
        ..everything()
    };
    loop {
        let page = found(&*store, &search).await;
        assert!(page.len() <= 5);
        let Some(last) = page.last() else { break };
        search.before = Some(*last);
        seen.extend(page);
        let late = format!("late:{}", seen.len());
        plant(&*store, put(&late, PUBLISH, START), START).await;
    }
    assert_eq!(seen, planted);
}

/// The newest of all rows are searched, whether they fit or not, from whichever page.
pub(crate) async fn a_search_ends_where_it_was_reported_to(store: Arc<dyn Store>) {
    let old = plant(&*store, put("old:1", PUBLISH, START), START).await;
    let mut planted = plant_many(&*store, "new", PUBLISH, 9, START).await;
    planted.sort_unstable_by(|a, b| b.cmp(a));
    let within = |among: usize| TaskFilter {
        subject_contains: Some("old".to_owned()),
        among: Some(among),
        ..everything()
    };
    assert_eq!(found(&*store, &within(9)).await, []);
    assert_eq!(found(&*store, &within(10)).await, [old]);
    assert_eq!(found(&*store, &within(usize::MAX)).await, [old]);
    let few = TaskFilter {
        among: Some(3),
        ..everything()
    };
    assert_eq!(found(&*store, &few).await, planted[..3]);
    let further = TaskFilter {
        before: Some(planted[1]),
        ..few.clone()
    };
    assert_eq!(found(&*store, &further).await, planted[2..3]);
    assert_eq!(
        store.count_statuses(3, Kinds::All).await.unwrap()[0].tasks,
        3
    );
}

/// One line per identity, but the rows that gave way are among those searched.
pub(crate) async fn replaced_rows_are_searched_and_not_found(store: Arc<dyn Store>) {
    let other = plant(&*store, put("article:2", PUBLISH, at(600)), START).await;
    plant(&*store, put("article:1", PUBLISH, START), START).await;
    claimed(&*store, claim_request(1, START, 1)).await;
    let second = plant(&*store, put("article:1", PUBLISH, at(60)), at(1)).await;
    assert_eq!(found(&*store, &everything()).await, [second, other]);
    let two = TaskFilter {
        among: Some(2),
        ..everything()
    };
    assert_eq!(found(&*store, &two).await, [second]);
}

/// Among the newest, in the order of a task's life, without the empty ones.
pub(crate) async fn statuses_are_counted_among_the_newest(store: Arc<dyn Store>) {
    assert_eq!(store.count_statuses(10, Kinds::All).await.unwrap(), []);
    said(&*store, "article:1", 1, "404").await;
    plant(&*store, put("article:2", PUBLISH, START), START).await;
    let attempt = claim_one(&*store, 2, START).await;
    end(&*store, &attempt, &done(), at(1)).await;
    plant_many(&*store, "late", PUBLISH, 3, at(600)).await;
    let withdraw = Request::Cancel(cancel("late:0", PUBLISH));
    ask(&*store, &withdraw, at(2)).await;
    let counted = store.count_statuses(10, Kinds::All).await.unwrap();
    let expected = [
        (Status::Init, 2),
        (Status::Success, 1),
        (Status::Fail, 1),
        (Status::Cancelled, 1),
    ];
    let expected = expected.map(|(status, tasks)| StatusCount { status, tasks });
    assert_eq!(counted, expected);
    for count in counted {
        let search = TaskFilter {
            status: Some(count.status),
            ..everything()
        };
        assert_eq!(store.count_found(&search).await.unwrap(), count.tasks);
    }
    let late = store.count_statuses(3, Kinds::All).await.unwrap();
    assert_eq!(late.iter().map(|count| count.tasks).sum::<u64>(), 3);
    assert!(late.iter().all(|count| count.status != Status::Fail));
}

/// Internal kinds are left out where a list is about the users' tasks alone; a kind that merely
/// begins or ends like one is a user's.
pub(crate) async fn internal_kinds_are_left_out_where_asked(store: Arc<dyn Store>) {
    let own = plant(&*store, put("article:1", PUBLISH, at(60)), START).await;
    let firing = put("schedule:a@2026-01-05T08:00:00Z", DISPATCH, at(60));
    let firing = plant(&*store, firing, START).await;
    let alike = plant(&*store, put("article:1", "DISPATCH_ALL", at(60)), START).await;
    assert_eq!(found(&*store, &everything()).await, [alike, firing, own]);
    let business = TaskFilter {
        internal: Some(false),
        ..everything()
    };
    assert_eq!(found(&*store, &business).await, [alike, own]);
    let internal = TaskFilter {
        internal: Some(true),
        ..everything()
    };
    assert_eq!(found(&*store, &internal).await, [firing]);
    for (kinds, expected) in [(Kinds::All, 3), (Kinds::Business, 2)] {
        let counted = store.count_statuses(10, kinds).await.unwrap();
        let all: u64 = counted.iter().map(|count| count.tasks).sum();
        assert_eq!(all, expected, "{kinds:?}");
    }
}

/// As typed, wildcards included: the newest row of each identity, in order.
pub(crate) async fn subjects_are_found_by_how_they_begin(store: Arc<dyn Store>) {
    for subject in [
        "article:2",
        "article:10",
        "article",
        "a_b:1",
        "aXb:1",
        "文章:1",
    ] {
        plant(&*store, put(subject, PUBLISH, at(60)), START).await;
    }
    plant(&*store, put("article:2", "ARTICLE_AUDIT", at(60)), START).await;
    plant(&*store, put("article:internal", DISPATCH, at(60)), START).await;
    let cancelling = Request::Cancel(cancel("article:10", PUBLISH));
    ask(&*store, &cancelling, at(1)).await;
    let beginning = async |prefix: &str, limit: usize| -> Vec<String> {
        let found = store.find_subjects(prefix, limit).await;
        let found = found.expect("find_subjects").into_iter();
        found.map(|line| line.identity.to_string()).collect()
    };
    let all = [
        "(article, ARTICLE_PUBLISH)",
        "(article:10, ARTICLE_PUBLISH)",
        "(article:2, ARTICLE_AUDIT)",
        "(article:2, ARTICLE_PUBLISH)",
    ];
    assert_eq!(beginning("article", 10).await, all);
    assert_eq!(beginning("article", 2).await, all[..2]);
    assert_eq!(beginning("a_", 10).await, ["(a_b:1, ARTICLE_PUBLISH)"]);
    assert_eq!(beginning("文", 10).await, ["(文章:1, ARTICLE_PUBLISH)"]);
    assert!(
        beginning("rticle", 10).await.is_empty(),
        "it begins otherwise"
    );
    assert!(beginning("Article", 10).await.is_empty(), "case matters");
}
