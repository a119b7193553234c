//! What the planner must look at, and pages of schedules.

use std::sync::Arc;

use almanack_core::{
    plan::{Origin, Pause, Schedule, State},
    store::{ScheduleFilter, Store},
};
use almanack_testkit::fixture::{
    START, at, fires, new_schedule, next_write, schedule, schedule_name,
};
use jiff::Timestamp;

use super::{keep, named, wrote};

async fn keep_all(store: &dyn Store, looks: &[(&str, i64)]) {
    for (name, look_at) in looks {
        keep(store, schedule(name, at(*look_at))).await;
    }
}

/// Names that are due, and when to come back.
async fn due(store: &dyn Store, now: Timestamp, limit: usize) -> (Vec<String>, Option<Timestamp>) {
    let due = store
        .load_due_schedules(now, limit)
        .await
        .expect("load_due_schedules");
    (names(&due.schedules), due.next_look_at)
}

fn names(schedules: &[Schedule]) -> Vec<String> {
    schedules.iter().map(|s| s.name.to_string()).collect()
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Longest due first, whole rows, and nothing before its time.
pub(crate) async fn due_schedules_come_longest_first(store: Arc<dyn Store>) {
    keep_all(&*store, &[("c", 30), ("a", 10), ("d", 31), ("b", 20)]).await;
    assert_eq!(due(&*store, at(9), 9).await, (vec![], Some(at(10))));
    let found = due(&*store, at(30), 9).await;
    assert_eq!(found, (strings(&["a", "b", "c"]), Some(at(31))));
    assert_eq!(
        due(&*store, at(31), 9).await,
        (strings(&["a", "b", "c", "d"]), None)
    );
    let whole = store.load_due_schedules(at(10), 9).await.unwrap();
    assert_eq!(whole.schedules, [named(&*store, "a").await]);
}

/// What does not fit says when it was due: the next look is at once.
pub(crate) async fn next_look_is_that_of_the_first_left_out(store: Arc<dyn Store>) {
    keep_all(&*store, &[("a", 10), ("b", 20), ("c", 20), ("d", 30)]).await;
    assert_eq!(
        due(&*store, at(25), 1).await,
        (strings(&["a"]), Some(at(20)))
    );
    let found = due(&*store, at(25), 2).await;
    assert_eq!((found.0.len(), found.1), (2, Some(at(20))), "one of a pair");
    assert_eq!(due(&*store, at(25), 3).await.1, Some(at(30)));
    assert_eq!(due(&*store, at(25), 0).await, (vec![], Some(at(10))));
}

/// Nothing to look at, nothing to wait for.
pub(crate) async fn nothing_is_due_where_nothing_is(store: Arc<dyn Store>) {
    assert_eq!(due(&*store, at(99), 9).await, (vec![], None));
}

/// What is decided goes to the end of the queue, so that every schedule gets a turn (DP-18).
pub(crate) async fn dp_18_a_schedule_that_was_planned_is_due_at_its_new_time(
    store: Arc<dyn Store>,
) {
    keep_all(&*store, &[("a", 10), ("b", 15)]).await;
    let seen = named(&*store, "a").await;
    assert!(wrote(&*store, fires(&seen)).await);
    assert_eq!(
        due(&*store, at(15), 9).await,
        (strings(&["b"]), Some(at(20)))
    );
    assert_eq!(due(&*store, at(20), 9).await, (strings(&["b", "a"]), None));
}

/// A schedule without a time to look at it is never due, however long one waits.
pub(crate) async fn dp_17_a_paused_schedule_is_never_due(store: Arc<dyn Store>) {
    keep_all(&*store, &[("a", 10), ("b", 10)]).await;
    let seen = named(&*store, "a").await;
    let pause = next_write(&seen, |s| {
        s.look_at = None;
        s.state = State::Paused(Pause {
            since: START,
            until: None,
            note: None,
            by: "author".to_owned(),
        });
    });
    assert!(wrote(&*store, pause).await);
    assert_eq!(due(&*store, at(10), 9).await, (strings(&["b"]), None));
    let seen = named(&*store, "a").await;
    let resumed = next_write(&seen, |s| {
        s.look_at = Some(at(20));
        s.state = State::Active;
    });
    assert!(wrote(&*store, resumed).await);
    assert_eq!(due(&*store, at(20), 9).await, (strings(&["b", "a"]), None));
}

async fn listed(store: &dyn Store, filter: ScheduleFilter) -> Vec<String> {
    let page = store.list_schedules(&filter).await.expect("list_schedules");
    names(&page.rows)
}

fn all() -> ScheduleFilter {
    ScheduleFilter {
        limit: 100,
        ..ScheduleFilter::default()
    }
}

/// Exactly: what only looks alike, in whatever part of a definition, is not listed.
pub(crate) async fn schedules_are_listed_by_tag_and_owner(store: Arc<dyn Store>) {
    let rows: [(&str, &[&str], Option<&str>); 5] = [
        ("a", &["billing", "eu"], Some("Ada")),
        ("b", &["billing-eu"], Some("ada")),
        ("c", &["eu"], Some("A_a")),
        ("d", &[], None),
        ("e", &["us"], None),
    ];
    for (name, tags, owner) in rows {
        let mut kept = schedule(name, at(10));
        let mut definition = kept.definition.read().expect("a definition").clone();
        definition.tags = strings(tags);
        definition.owner = owner.map(str::to_owned);
        if name == "e" {
            // What follows the tags names another schedule's.
            definition.alerts = Some(strings(&["billing"]));
        }
        kept.definition = definition.into();
        keep(&*store, kept).await;
    }
    let with = |tag: Option<&str>, owner: Option<&str>| ScheduleFilter {
        tag: tag.map(str::to_owned),
        owner: owner.map(str::to_owned),
        ..all()
    };
    for (tag, owner, expected) in [
        (Some("billing"), None, &["a"][..]),
        (Some("eu"), None, &["a", "c"]),
        (None, Some("Ada"), &["a"]),
        (None, Some("A_a"), &["c"]),
        (Some("eu"), Some("Ada"), &["a"]),
        (Some("none"), None, &[]),
    ] {
        let found = listed(&*store, with(tag, owner)).await;
        assert_eq!(found, strings(expected), "{tag:?} {owner:?}");
    }
}

/// By name, byte by byte, on any database: a page must not depend on its locale.
pub(crate) async fn schedules_are_listed_by_name_in_pages(store: Arc<dyn Store>) {
    let sorted = ["B", "a", "a-b", "a.b", "aB", "a_b", "ab", "b"];
    let mut expected = strings(&sorted);
    expected.sort();
    for name in sorted.iter().rev() {
        keep(&*store, schedule(name, at(10))).await;
    }
    let mut seen = Vec::new();
    loop {
        let after = seen.last().map(|name: &String| schedule_name(name));
        let page = listed(
            &*store,
            ScheduleFilter {
                after,
                limit: 3,
                ..all()
            },
        )
        .await;
        assert!(page.len() <= 3);
        if page.is_empty() {
            break;
        }
        seen.extend(page);
    }
    assert_eq!(seen, expected);
    let none = ScheduleFilter { limit: 0, ..all() };
    assert_eq!(listed(&*store, none).await, strings(&[]));
}

/// By origin and by state, alone and together; the removed only on request.
pub(crate) async fn removed_schedules_are_listed_only_when_asked_for(store: Arc<dyn Store>) {
    let parked = State::Parked {
        since: START,
        reason: "no such zone".to_owned().into(),
    };
    let removed = State::Removed { since: START };
    for (name, origin, state) in [
        ("a", Origin::File, State::Active),
        ("b", Origin::Dispatch, State::Active),
        ("c", Origin::File, parked),
        ("d", Origin::File, removed),
    ] {
        let new = Schedule {
            origin,
            state,
            ..schedule(name, at(10))
        };
        assert!(wrote(&*store, new_schedule(new)).await);
    }
    let of = |origin: Option<Origin>, state: Option<&str>, removed| ScheduleFilter {
        origin,
        state: state.map(str::to_owned),
        removed,
        ..all()
    };
    let file = Some(Origin::File);
    for (filter, expected) in [
        (of(None, None, false), &["a", "b", "c"][..]),
        (of(None, None, true), &["a", "b", "c", "d"]),
        (of(file, None, false), &["a", "c"]),
        (of(file, None, true), &["a", "c", "d"]),
        (of(None, Some("active"), false), &["a", "b"]),
        (of(file, Some("active"), true), &["a"]),
        (of(None, Some("parked"), false), &["c"]),
        (of(None, Some("removed"), false), &["d"]),
        (of(Some(Origin::Api), None, true), &[]),
    ] {
        let page = listed(&*store, filter.clone()).await;
        assert_eq!(page, strings(expected), "{filter:?}");
    }
}

/// A filter that fits few schedules examines so many for a page and says where to go on (SF-01).
pub(crate) async fn sf_01_a_list_of_schedules_examines_so_many_and_goes_on(store: Arc<dyn Store>) {
    for name in ["a", "b", "c", "d", "e"] {
        keep(&*store, schedule(name, at(10))).await;
    }
    let mut filter = ScheduleFilter {
        state: Some("parked".to_owned()),
        among: Some(2),
        ..all()
    };
    for name in ["b", "d"] {
        let page = store.list_schedules(&filter).await.expect("list_schedules");
        assert_eq!((page.rows.len(), page.next), (0, Some(schedule_name(name))));
        filter.after = Some(schedule_name(name));
    }
    let last = store.list_schedules(&filter).await.expect("list_schedules");
    assert_eq!((last.rows.len(), last.next), (0, None));
}
