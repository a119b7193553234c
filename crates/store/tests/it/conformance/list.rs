//! Listing: filters and pages.

use std::sync::Arc;

use almanack_core::{
    reschedule::Request,
    store::{Store, TaskFilter},
    task::{Status, TaskId},
};
use almanack_testkit::fixture::{PUBLISH, START, at, cancel, claim_request, kind, put};

use super::{ask, claim_one, claimed, done, end, plant, plant_many};

fn all() -> TaskFilter {
    TaskFilter {
        limit: 1000,
        ..TaskFilter::default()
    }
}

async fn listed(store: &dyn Store, filter: &TaskFilter) -> Vec<TaskId> {
    let page = store.list_tasks(filter).await.expect("list_tasks");
    page.rows.into_iter().map(|row| row.id).collect()
}

/// By number, downwards, and whole rows.
pub(crate) async fn newest_rows_come_first(store: Arc<dyn Store>) {
    let mut ids = plant_many(&*store, "article", PUBLISH, 5, START).await;
    ids.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(listed(&*store, &all()).await, ids);
    let rows = store.list_tasks(&all()).await.unwrap().rows;
    assert_eq!(
        store.load_task(ids[0]).await.unwrap().as_ref(),
        rows.first()
    );
    assert_eq!(listed(&*store, &TaskFilter { limit: 0, ..all() }).await, []);
}

/// A filter that fits few rows, or none, examines so many for a page and says where to go on
/// (SF-01).
pub(crate) async fn sf_01_a_list_of_tasks_examines_so_many_and_goes_on(store: Arc<dyn Store>) {
    let mut ids = plant_many(&*store, "article", PUBLISH, 12, START).await;
    ids.sort_unstable_by(|a, b| b.cmp(a));
    let nowhere = [
        TaskFilter {
            kind: Some(kind("ARTICLE_AUDIT")),
            ..all()
        },
        TaskFilter {
            status: Some(Status::Fail),
            ..all()
        },
        TaskFilter {
            subject_prefix: Some("source:".to_owned()),
            ..all()
        },
    ];
    for mut filter in nowhere {
        filter.among = Some(5);
        for place in [4, 9] {
            let page = store.list_tasks(&filter).await.expect("list_tasks");
            assert_eq!((page.rows.len(), page.next), (0, Some(ids[place])));
            filter.before = page.next;
        }
        let last = store.list_tasks(&filter).await.expect("list_tasks");
        assert_eq!((last.rows.len(), last.next), (0, None));
    }
}

/// A page that is full before it has examined all it may goes on after its last row, and not at all
/// where there is no more.
pub(crate) async fn sf_01_a_full_page_goes_on_after_its_last_row(store: Arc<dyn Store>) {
    let mut ids = plant_many(&*store, "article", PUBLISH, 4, START).await;
    ids.sort_unstable_by(|a, b| b.cmp(a));
    for kind in [None, Some(kind(PUBLISH))] {
        let page = |limit, among| TaskFilter {
            kind: kind.clone(),
            limit,
            among: Some(among),
            ..TaskFilter::default()
        };
        for (limit, among, next) in [(2, 9, Some(ids[1])), (4, 9, None), (9, 9, None)] {
            let found = store.list_tasks(&page(limit, among)).await;
            assert_eq!(found.expect("list_tasks").next, next, "{limit}");
        }
    }
}

/// Also while the list grows at its head.
pub(crate) async fn pages_cover_every_row_once(store: Arc<dyn Store>) {
    let mut planted = plant_many(&*store, "article", PUBLISH, 23, START).await;
    let mut seen = Vec::new();
    let mut filter = TaskFilter { limit: 5, ..all() };
    loop {
        let page = listed(&*store, &filter).await;
        assert!(page.len() <= 5);
        let Some(last) = page.last() else { break };
        filter.before = Some(*last);
        seen.extend(page);
        plant(
            &*store,
            put(&format!("late:{}", seen.len()), PUBLISH, START),
            START,
        )
        .await;
    }
    // Numbers within one batch follow no promised order; pages do: newest, that is highest, first.
    planted.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(seen, planted);
}

/// Each filter by itself, and all at once.
pub(crate) async fn filters_narrow_alone_and_together(store: Arc<dyn Store>) {
    let publish = plant(&*store, put("article:1", PUBLISH, START), START).await;
    let attempt = claim_one(&*store, 1, START).await;
    end(&*store, &attempt, &done(), at(1)).await;
    let audit = plant(&*store, put("article:1", "ARTICLE_AUDIT", at(60)), START).await;
    let other = plant(&*store, put("source:1", PUBLISH, at(60)), START).await;

    let by_kind = TaskFilter {
        kind: Some(kind(PUBLISH)),
        ..all()
    };
    assert_eq!(listed(&*store, &by_kind).await, [other, publish]);
    let by_status = TaskFilter {
        status: Some(Status::Init),
        ..all()
    };
    assert_eq!(listed(&*store, &by_status).await, [other, audit]);
    let by_subject = TaskFilter {
        subject_prefix: Some("article:".to_owned()),
        ..all()
    };
    assert_eq!(listed(&*store, &by_subject).await, [audit, publish]);
    let together = TaskFilter {
        subject_prefix: Some("article:".to_owned()),
        ..by_kind
    };
    let together = TaskFilter {
        status: Some(Status::Success),
        ..together
    };
    assert_eq!(listed(&*store, &together).await, [publish]);
    let before = TaskFilter {
        before: Some(publish),
        ..together
    };
    assert_eq!(listed(&*store, &before).await, []);
}

/// No character of a prefix is a wildcard, in any script, in either case.
pub(crate) async fn a_prefix_is_taken_literally(store: Arc<dyn Store>) {
    let mut planted = Vec::new();
    for subject in [
        "a_b:1",
        "axb:1",
        "a%b:1",
        "文章:一",
        "文章:二",
        "文本:一",
        "A_B:1",
        "a\\b:1",
    ] {
        planted.push(plant(&*store, put(subject, PUBLISH, START), START).await);
    }
    for (prefix, expected) in [
        ("a_", vec![planted[0]]),
        ("a%", vec![planted[2]]),
        ("文章", vec![planted[4], planted[3]]),
        ("文", vec![planted[5], planted[4], planted[3]]),
        ("A", vec![planted[6]]),
        ("a\\", vec![planted[7]]),
        ("b:1", vec![]),
    ] {
        let filter = TaskFilter {
            subject_prefix: Some(prefix.to_owned()),
            ..all()
        };
        assert_eq!(listed(&*store, &filter).await, expected, "{prefix}");
    }
}

/// Rows, not identities: the past can be looked at.
pub(crate) async fn replaced_rows_are_listed_too(store: Arc<dyn Store>) {
    let first = plant(&*store, put("article:1", PUBLISH, START), START).await;
    claimed(&*store, claim_request(1, START, 1)).await;
    let second = plant(&*store, put("article:1", PUBLISH, at(60)), at(1)).await;
    ask(
        &*store,
        &Request::Cancel(cancel("article:1", PUBLISH)),
        at(2),
    )
    .await;
    let withdrawn = TaskFilter {
        status: Some(Status::Cancelled),
        ..all()
    };
    assert_eq!(listed(&*store, &withdrawn).await, [second, first]);
}
