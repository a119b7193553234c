//! Tags, filters and counts.

use std::sync::Arc;

use almanack_core::{
    finish::Outcome,
    reschedule::{Put, Request},
    store::{CountBy, Reading, Store, TaskFilter},
    task::{Status, Tags, TaskId},
};
use almanack_testkit::fixture::{PUBLISH, START, at, cancel, identity, kind, put};

use super::{ask, claim_one, current, end, plant, task};

fn tags(given: &[&str]) -> Tags {
    Tags::parse(given).expect("tags")
}

fn tagged(subject: &str, given: &[&str]) -> Put {
    Put {
        tags: Some(tags(given)),
        ..put(subject, PUBLISH, at(60))
    }
}

fn with(change: impl FnOnce(&mut TaskFilter)) -> TaskFilter {
    let mut filter = TaskFilter {
        limit: 100,
        ..TaskFilter::default()
    };
    change(&mut filter);
    filter
}

async fn found(store: &dyn Store, filter: &TaskFilter) -> Vec<TaskId> {
    let page = store.list_tasks(filter).await.expect("list_tasks");
    page.rows.into_iter().map(|row| row.id).collect()
}

async fn with_tags(store: &dyn Store, given: &[&str]) -> Vec<TaskId> {
    found(store, &with(|filter| filter.tags = tags(given))).await
}

/// The row and the index of tags say the same, whatever changes them.
pub(crate) async fn tags_are_kept_changed_removed_and_found(store: Arc<dyn Store>) {
    let first = plant(&*store, tagged("a:1", &["night", "t-9"]), START).await;
    let second = plant(&*store, tagged("a:2", &["t-9"]), START).await;
    plant(&*store, put("a:3", PUBLISH, at(60)), START).await;
    assert_eq!(task(&*store, first).await.tags, tags(&["night", "t-9"]));
    assert_eq!(with_tags(&*store, &["t-9"]).await, [second, first]);
    assert_eq!(with_tags(&*store, &["t-9", "night"]).await, [first]);
    assert_eq!(
        with_tags(&*store, &["t"]).await,
        [],
        "a tag is a whole word"
    );
    plant(&*store, put("a:1", PUBLISH, at(90)), START).await;
    assert_eq!(
        with_tags(&*store, &["night"]).await,
        [first],
        "a move keeps them"
    );
    plant(&*store, tagged("a:1", &["day", "t-9"]), START).await;
    assert_eq!(with_tags(&*store, &["night"]).await, []);
    assert_eq!(with_tags(&*store, &["day"]).await, [first]);
    plant(&*store, tagged("a:1", &[]), START).await;
    assert_eq!(with_tags(&*store, &["t-9"]).await, [second]);
    assert_eq!(task(&*store, first).await.tags, Tags::NONE);
}

/// A row that takes another's place has its tags, and retention forgets both.
pub(crate) async fn a_successor_has_the_tags_and_the_pruned_row_has_none(store: Arc<dyn Store>) {
    let old = plant(&*store, tagged("a:1", &["x"]), START).await;
    ask(&*store, &Request::Cancel(cancel("a:1", PUBLISH)), at(1)).await;
    let new = plant(&*store, put("a:1", PUBLISH, at(60)), at(2)).await;
    assert_eq!(with_tags(&*store, &["x"]).await, [new, old]);
    let row = current(&*store, &identity("a:1", PUBLISH)).await;
    assert_eq!(row.expect("a row").tags, tags(&["x"]));
    store.prune(at(1_000), TaskId(0), 100).await.expect("prune");
    assert_eq!(with_tags(&*store, &["x"]).await, [new]);
    ask(&*store, &Request::Cancel(cancel("a:1", PUBLISH)), at(3)).await;
    store.prune(at(1_000), TaskId(0), 100).await.expect("prune");
    let counts = store.count_tasks(&with(|_| ()), Some(CountBy::Tag)).await;
    let counts = counts.expect("count_tasks");
    assert_eq!((counts.tasks, counts.groups), (0, Vec::new()));
}

/// Each filter finds what it says, alone and with a tag.
pub(crate) async fn each_filter_finds_what_it_says(store: Arc<dyn Store>) {
    let failed = plant(&*store, tagged("b:1", &["x"]), START).await;
    let task = claim_one(&*store, 1, at(60)).await;
    let outcome = Outcome::give_up("503 Service UNAVAILABLE (upstream)");
    end(&*store, &task, &outcome, at(61)).await;
    let waiting = plant(&*store, tagged("a:1", &["x"]), START).await;
    for (filter, expected, why) in [
        (with(|f| f.live = Some(true)), waiting, "live"),
        (with(|f| f.live = Some(false)), failed, "ended"),
        (with(|f| f.status = Some(Status::Fail)), failed, "status"),
        (
            with(|f| f.subject_prefix = Some("a:".into())),
            waiting,
            "subject",
        ),
        (
            with(|f| f.error = Some("service unavailable".into())),
            failed,
            "error",
        ),
        (
            with(|f| f.error = Some("%".into())),
            TaskId(0),
            "no wildcard",
        ),
        (with(|f| f.kind = Some(kind("OTHER"))), TaskId(0), "kind"),
        (with(|f| f.ids = vec![failed]), failed, "number"),
        (with(|f| f.ids = vec![TaskId(999)]), TaskId(0), "number"),
        (
            with(|f| f.subject_contains = Some("A:".into())),
            waiting,
            "part of the subject",
        ),
        (
            with(|f| f.internal = Some(true)),
            TaskId(0),
            "internal kinds",
        ),
        (with(|f| f.from = Some(at(61))), TaskId(0), "not earlier"),
        (with(|f| f.to = Some(at(60))), TaskId(0), "earlier"),
    ] {
        for tags in [Tags::NONE, tags(&["x"])] {
            let filter = TaskFilter {
                tags,
                ..filter.clone()
            };
            let expected: Vec<TaskId> = Some(expected).filter(|id| id.0 > 0).into_iter().collect();
            assert_eq!(found(&*store, &filter).await, expected, "{why}");
            let counts = store.count_tasks(&filter, None).await.expect("count_tasks");
            assert_eq!(
                (counts.tasks, counts.exact),
                (expected.len() as u64, true),
                "{why}"
            );
        }
    }
    let both = with(|f| (f.from, f.to) = (Some(at(60)), Some(at(61))));
    assert_eq!(found(&*store, &both).await, [waiting, failed]);
    let numbered = with(|f| (f.ids, f.internal) = (vec![failed, waiting], Some(false)));
    assert_eq!(found(&*store, &numbered).await, [waiting, failed]);
    let bare = with(|f| f.reading = Reading::Counted);
    assert_eq!(found(&*store, &bare).await, [waiting, failed]);
}

/// Groups add up, and a task with two tags counts in both.
pub(crate) async fn counts_are_by_kind_status_and_tag(store: Arc<dyn Store>) {
    plant(&*store, tagged("a:1", &["x", "y"]), START).await;
    plant(&*store, tagged("a:2", &["x"]), START).await;
    plant(&*store, put("a:3", "OTHER", at(60)), START).await;
    ask(&*store, &Request::Cancel(cancel("a:3", "OTHER")), START).await;
    for (by, expected) in [
        (CountBy::Kind, [(PUBLISH, 2), ("OTHER", 1)]),
        (CountBy::Status, [("INIT", 2), ("CANCELLED", 1)]),
        (CountBy::Tag, [("x", 2), ("y", 1)]),
    ] {
        let counts = store.count_tasks(&with(|_| ()), Some(by)).await;
        let counts = counts.expect("count_tasks");
        let groups = counts
            .groups
            .iter()
            .map(|group| (group.name.as_str(), group.tasks));
        assert_eq!(groups.collect::<Vec<_>>(), expected, "{by}");
        assert_eq!((counts.tasks, counts.exact), (3, true));
    }
    let only = with(|filter| filter.tags = tags(&["y"]));
    let counts = store
        .count_tasks(&only, Some(CountBy::Tag))
        .await
        .expect("count_tasks");
    assert_eq!((counts.tasks, counts.groups.len()), (1, 2));
}

/// A walk along a tag examines so many of its rows, and none of the others.
pub(crate) async fn sf_01_a_list_by_tag_examines_rows_with_the_tag(store: Arc<dyn Store>) {
    let mut ids = Vec::new();
    for n in 0..6 {
        let name = format!("a:{n}");
        let given: &[&str] = if n % 2 == 0 { &["x"] } else { &[] };
        let id = plant(&*store, tagged(&name, given), START).await;
        ids.extend((n % 2 == 0).then_some(id));
    }
    let mut filter = with(|filter| {
        filter.tags = tags(&["x"]);
        filter.status = Some(Status::Fail);
        filter.among = Some(2);
    });
    let page = store.list_tasks(&filter).await.expect("list_tasks");
    assert_eq!((page.rows.len(), page.next), (0, Some(ids[1])));
    filter.before = page.next;
    let page = store.list_tasks(&filter).await.expect("list_tasks");
    assert_eq!((page.rows.len(), page.next), (0, None));
}

/// Rows that are asked for by number are found without examining those above and below them.
pub(crate) async fn sf_01_rows_by_number_examine_no_others(store: Arc<dyn Store>) {
    let mut ids = Vec::new();
    for n in 0..6 {
        ids.push(plant(&*store, tagged(&format!("a:{n}"), &[]), START).await);
    }
    let filter = with(|filter| {
        filter.ids = vec![ids[1], ids[2]];
        filter.among = Some(2);
    });
    let page = store.list_tasks(&filter).await.expect("list_tasks");
    let found: Vec<TaskId> = page.rows.iter().map(|row| row.id).collect();
    assert_eq!((found, page.next), (vec![ids[2], ids[1]], None));
}
