//! What was decided, by whom: creations and changes of tasks, and what people did to schedules.

use std::sync::Arc;

use almanack_core::{
    history::creation,
    plan::{Edit, Edited, ScheduleWrite},
    reschedule::{Request, Rule, decide},
    store::{Activity, ActivityCursor, ActivityFilter, HistoryPage, Kinds, Store},
};
use almanack_testkit::fixture::{
    PUBLISH, START, at, cancel, cancel_rev, fires, identity, kind, next_write, put, schedule,
};
use jiff::Timestamp;

use super::{applied, ask, current, keep, named, plant, task, wrote};

fn everything() -> ActivityFilter {
    ActivityFilter {
        among: 1_000,
        limit: 1_000,
        ..ActivityFilter::default()
    }
}

async fn page_of(store: &dyn Store, filter: &ActivityFilter) -> Vec<Activity> {
    store.load_activity(filter).await.expect("load_activity")
}

/// Who did what to whom.
async fn lines(store: &dyn Store, filter: &ActivityFilter) -> Vec<String> {
    let line = |activity: &Activity| match activity {
        Activity::Task { identity, decision } => {
            let rule = decision.rule.as_str();
            format!("{} {rule} {}", decision.origin, identity.subject)
        }
        Activity::Schedule { name, edit } => {
            format!("{} {} {name}", edit.by, edit.edited.as_str())
        }
    };
    page_of(store, filter).await.iter().map(line).collect()
}

/// Decides as another author than the rules' own.
async fn ask_as(store: &dyn Store, who: &str, request: &Request, now: Timestamp) {
    let row = current(store, request.identity()).await;
    let change = decide(row.as_ref(), request, who, now).expect("something to decide on");
    applied(store, change).await;
}

/// Writes a person's change of a schedule.
async fn edited(store: &dyn Store, name: &str, edited: Edited, by: &str, now: Timestamp) {
    let seen = named(store, name).await;
    let edit = Edit {
        revision: seen.revision,
        edited,
        by: by.to_owned(),
        note: Some("停".to_owned()),
        definition: seen.definition.clone(),
        at: now,
    };
    let write = ScheduleWrite {
        decided_at: now,
        edit: Some(edit),
        ..next_write(&seen, |_| ())
    };
    assert!(wrote(store, write).await);
}

/// A task put by one, moved by another; a schedule that fires after a third one paused and resumed
/// it.
async fn a_busy_minute(store: &dyn Store) {
    let first = Request::Put(put("article:1", PUBLISH, at(600)));
    ask_as(store, "ada", &first, at(1)).await;
    keep(store, schedule("daily", at(4))).await;
    edited(store, "daily", Edited::Paused, "Bob", at(2)).await;
    let moved = Request::Put(put("article:1", PUBLISH, at(700)));
    ask_as(store, "cms", &moved, at(3)).await;
    assert!(wrote(store, fires(&named(store, "daily").await)).await);
    let audit = Request::Put(put("article:1", "ARTICLE_AUDIT", at(600)));
    ask_as(store, "ada", &audit, at(5)).await;
}

/// Newest first, of all three kinds; the firing by the name of its schedule.
pub(crate) async fn activity_is_merged_newest_first(store: Arc<dyn Store>) {
    a_busy_minute(&*store).await;
    let firing = lines(&*store, &everything()).await.remove(1);
    assert!(firing.starts_with("schedule daily created "), "{firing}");
    let people = ActivityFilter {
        by_people: true,
        ..everything()
    };
    assert_eq!(
        lines(&*store, &people).await,
        [
            "ada created article:1",
            "cms updated article:1",
            "Bob paused daily",
            "ada created article:1",
        ],
        "without the firing"
    );
    assert_eq!(lines(&*store, &everything()).await.len(), 5);
}

/// As the identity's own history shows it: the decision whole, the creation with the number 0.
pub(crate) async fn activity_reports_what_the_history_reports(store: Arc<dyn Store>) {
    a_busy_minute(&*store).await;
    let who = identity("article:1", PUBLISH);
    let records = store.load_history(&who, HistoryPage::WHOLE).await.unwrap();
    let created = creation(&records.tasks[0]);
    assert_eq!((created.id.number, created.rule), (0, Rule::Created));
    let about = |decision| Activity::Task {
        identity: who.clone(),
        decision,
    };
    let of_task = ActivityFilter {
        kind: Some(kind(PUBLISH)),
        ..everything()
    };
    let expected = [about(records.decisions[0].clone()), about(created)];
    assert_eq!(page_of(&*store, &of_task).await, expected);
    let daily = named(&*store, "daily").await;
    let edit = store.load_edits(daily.id, 9).await.unwrap().remove(0);
    let of_schedule = ActivityFilter {
        by: Some("bob".to_owned()),
        ..everything()
    };
    let edit = Activity::Schedule {
        name: daily.name,
        edit: Box::new(edit),
    };
    assert_eq!((edit.at(), edit.by()), (at(2), "Bob"));
    assert_eq!(page_of(&*store, &of_schedule).await, [edit]);
}

/// A row that was written as a tombstone is shown so, one that was cancelled later was
/// created first.
pub(crate) async fn a_mark_is_reported_apart_from_a_cancelled_row(store: Arc<dyn Store>) {
    ask(&*store, &cancel_rev("article:1", PUBLISH, 5), at(1)).await;
    plant(&*store, put("article:2", PUBLISH, at(600)), at(2)).await;
    let withdraw = Request::Cancel(cancel("article:2", PUBLISH));
    ask(&*store, &withdraw, at(3)).await;
    assert_eq!(
        lines(&*store, &everything()).await,
        [
            "author cancelled article:2",
            "author created article:2",
            "author cancelled article:1",
        ]
    );
}

/// Each filter by itself, and together; edits are about no kind of task.
pub(crate) async fn activity_narrows_by_each_filter(store: Arc<dyn Store>) {
    a_busy_minute(&*store).await;
    let count = async |filter: ActivityFilter| lines(&*store, &filter).await.len();
    let by = |by: &str| ActivityFilter {
        by: Some(by.to_owned()),
        ..everything()
    };
    assert_eq!(count(by("ADA")).await, 2);
    assert_eq!(count(by("bO")).await, 1);
    assert_eq!(count(by("daily")).await, 1, "the firing");
    assert_eq!(count(by("%")).await, 0, "no wildcard");
    assert_eq!(count(by("")).await, 5);
    let about = |containing: &str| ActivityFilter {
        containing: Some(containing.to_owned()),
        ..everything()
    };
    assert_eq!(count(about("ARTICLE")).await, 3);
    assert_eq!(count(about("daily")).await, 2, "the edit and the firing");
    let of_kind = |name: &str| ActivityFilter {
        kind: Some(kind(name)),
        ..everything()
    };
    assert_eq!(count(of_kind(PUBLISH)).await, 2);
    let business = ActivityFilter {
        kinds: Kinds::Business,
        ..everything()
    };
    assert_eq!(count(business).await, 4, "all but the firing");
    let together = ActivityFilter {
        by: Some("cms".to_owned()),
        containing: Some("1".to_owned()),
        by_people: true,
        ..of_kind(PUBLISH)
    };
    assert_eq!(lines(&*store, &together).await, ["cms updated article:1"]);
}

/// Seven tasks put and four of them cancelled by one act, and a schedule paused, all in the same
/// microsecond.
async fn at_one_instant(store: &dyn Store, now: Timestamp) {
    for n in 0..7 {
        let request = Request::Put(put(&format!("story:{n}"), PUBLISH, at(600)));
        ask_as(store, "ada", &request, now).await;
    }
    for n in 0..4 {
        let request = Request::Cancel(cancel(&format!("story:{n}"), PUBLISH));
        ask_as(store, "ada", &request, now).await;
    }
    edited(store, "daily", Edited::Resumed, "Bob", now).await;
}

/// A page ends where it was asked to, and the next one begins after it, also amidst what was
/// decided at one instant.
pub(crate) async fn pages_of_activity_follow_each_other(store: Arc<dyn Store>) {
    a_busy_minute(&*store).await;
    at_one_instant(&*store, at(6)).await;
    let all = page_of(&*store, &everything()).await;
    assert_eq!(all.len(), 5 + 12);
    for limit in [1, 2, 5, 7] {
        let mut page = ActivityFilter {
            limit,
            ..everything()
        };
        let mut seen = Vec::new();
        loop {
            let found = page_of(&*store, &page).await;
            assert!(found.len() <= limit);
            let end = ActivityCursor::end_of(&found, page.after);
            seen.extend(found);
            if end.is_none() {
                break;
            }
            page.after = end;
        }
        assert_eq!(seen, all, "in pages of {limit}");
    }
}

/// Of tasks, decisions and edits each the newest, whether they fit or not.
pub(crate) async fn activity_ends_where_it_was_reported_to(store: Arc<dyn Store>) {
    a_busy_minute(&*store).await;
    edited(&*store, "daily", Edited::Resumed, "Bob", at(6)).await;
    let moved = Request::Put(put("article:1", PUBLISH, at(800)));
    ask_as(&*store, "ada", &moved, at(7)).await;
    let one = ActivityFilter {
        among: 1,
        ..everything()
    };
    assert_eq!(
        lines(&*store, &one).await,
        [
            "ada updated article:1",
            "Bob resumed daily",
            "ada created article:1",
        ]
    );
    let none = ActivityFilter {
        by: Some("cms".to_owned()),
        ..one
    };
    assert_eq!(lines(&*store, &none).await, [""; 0]);
}

/// A row that took over is shown as such, beside what became of the one before.
pub(crate) async fn a_successor_is_reported_as_reinserted(store: Arc<dyn Store>) {
    let first = plant(&*store, put("article:1", PUBLISH, START), START).await;
    super::claim_one(&*store, 1, START).await;
    let second = plant(&*store, put("article:1", PUBLISH, at(60)), at(1)).await;
    let found = page_of(&*store, &everything()).await;
    let rows: Vec<_> = found
        .iter()
        .map(|activity| match activity {
            Activity::Task { decision, .. } => (decision.id.task_id, decision.rule),
            Activity::Schedule { .. } => panic!("no schedule did anything"),
        })
        .collect();
    assert_eq!(
        rows,
        [
            (second, Rule::Reinserted),
            (first, Rule::CancelledAndInserted),
            (first, Rule::Created),
        ]
    );
    assert_eq!(task(&*store, second).await.replaces, Some(first));
}
