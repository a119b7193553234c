//! What ended, what runs, what is to come, and the ledgers of all schedules.

use std::sync::Arc;

use almanack_core::{
    plan::{Reason, ScheduleWrite, Slot, Verdict},
    reschedule::{Put, Request},
    store::{ClaimId, ClaimLine, Store},
    task::{Priority, TaskId},
};
use almanack_testkit::fixture::{
    LEASE, PUBLISH, START, at, cancel, claim_request, next_write, put, schedule, slot,
};
use jiff::{SignedDuration, Timestamp};

use super::{ask, claim_one, claimed, done, end, failed, keep, named, plant, plant_many, wrote};

fn numbers(lines: Vec<almanack_core::store::TaskLine>) -> Vec<TaskId> {
    lines.into_iter().map(|line| line.id).collect()
}

async fn ended_in(store: &dyn Store, from: i64, until: i64) -> Vec<TaskId> {
    let lines = store.load_finished(at(from), at(until), 100).await;
    numbers(lines.expect("load_finished"))
}

/// Plants a task and has it done at once.
async fn done_at(store: &dyn Store, subject: &str, seconds: i64) -> TaskId {
    let now = at(seconds);
    let id = plant(store, put(subject, PUBLISH, now), now).await;
    let attempt = claim_one(store, seconds, now).await;
    end(store, &attempt, &done(), now).await;
    id
}

/// Half open, latest first, and no more than asked for.
pub(crate) async fn what_ended_is_found_by_when_it_ended(store: Arc<dyn Store>) {
    let first = done_at(&*store, "article:1", 10).await;
    let second = done_at(&*store, "article:2", 20).await;
    let third = done_at(&*store, "article:3", 30).await;
    assert_eq!(ended_in(&*store, 0, 100).await, [third, second, first]);
    assert_eq!(ended_in(&*store, 10, 30).await, [second, first]);
    assert_eq!(ended_in(&*store, 11, 20).await, []);
    let one = store.load_finished(START, at(100), 1).await.unwrap();
    assert_eq!(one[0].finished_at, Some(at(30)));
    assert_eq!(numbers(one), [third]);
}

/// Forgetting a claim loses nothing of what ended under it, and the latest ends are found whichever
/// lease is the longest.
pub(crate) async fn what_ended_is_found_after_its_claim_is_forgotten(store: Arc<dyn Store>) {
    let mut ended = Vec::new();
    for number in 1..=6 {
        ended.insert(
            0,
            done_at(&*store, &format!("article:{number}"), number * 10).await,
        );
    }
    let forgotten = [10, 30, 40, 60].map(ClaimId);
    let lease_until = at(500);
    let extended = store
        .extend_claims(&[ClaimId(30)], at(31), lease_until)
        .await;
    assert_eq!(extended.unwrap(), [ClaimId(30)]);
    store.release_claims(&forgotten).await.unwrap();
    store.release_claims(&forgotten).await.unwrap();
    assert_eq!(store.load_claims(9).await.unwrap().len(), 2);
    assert_eq!(ended_in(&*store, 0, 100).await, ended);
    assert_eq!(ended_in(&*store, 20, 51).await, ended[1..5]);
    for limit in 0..=6 {
        let latest = store.load_finished(START, at(100), limit).await.unwrap();
        assert_eq!(numbers(latest), ended[..limit], "the latest {limit}");
    }
    let again = Request::Put(put("article:6", PUBLISH, at(60)));
    ask(&*store, &again, at(70)).await;
    assert_eq!(ended_in(&*store, 0, 100).await, ended, "its row has ended");
}

/// A failed attempt ended, though its task waits again; a row that gave way ended; what runs again
/// has not.
pub(crate) async fn rows_that_ended_are_found_current_or_not(store: Arc<dyn Store>) {
    let waits = plant(&*store, put("article:1", PUBLISH, START), START).await;
    let attempt = claim_one(&*store, 1, START).await;
    end(&*store, &attempt, &failed(), at(10)).await;
    let lines = store.load_finished(START, at(100), 9).await.unwrap();
    assert!(lines[0].is_live(), "{lines:?}");
    assert_eq!(numbers(lines), [waits]);
    let next_at = store.load_task(waits).await.unwrap().unwrap().execute_at;
    claim_one(&*store, 2, next_at).await;
    assert_eq!(ended_in(&*store, 0, 100).await, [], "it runs again");
    plant(&*store, put("article:1", PUBLISH, at(5_000)), at(20)).await;
    assert_eq!(ended_in(&*store, 0, 100).await, [waits], "it gave way");
}

/// Soonest first, before a time, and only what waits.
pub(crate) async fn what_is_to_come_is_listed_soonest_first(store: Arc<dyn Store>) {
    let later = plant(&*store, put("article:1", PUBLISH, at(60)), START).await;
    let soon = plant(&*store, put("article:2", PUBLISH, at(30)), START).await;
    let urgent = Put {
        priority: Some(Priority::new(9).unwrap()),
        ..put("article:3", PUBLISH, at(45))
    };
    let between = plant(&*store, urgent, START).await;
    let other = plant(&*store, put("article:1", "ARTICLE_AUDIT", at(50)), START).await;
    plant(&*store, put("article:4", PUBLISH, at(40)), START).await;
    let withdraw = Request::Cancel(cancel("article:4", PUBLISH));
    ask(&*store, &withdraw, START).await;
    let until = |seconds: i64| store.load_upcoming(START, at(seconds), 10);
    let all = [soon, between, other, later];
    assert_eq!(numbers(until(61).await.unwrap()), all);
    assert_eq!(numbers(until(60).await.unwrap()), all[..3], "before it");
    assert_eq!(numbers(until(30).await.unwrap()), []);
    let from = store.load_upcoming(at(45), at(60), 10).await.unwrap();
    assert_eq!(numbers(from), all[1..3], "from a time on");
    claimed(&*store, claim_request(1, at(30), 1)).await;
    assert_eq!(numbers(until(61).await.unwrap()), all[1..], "one runs");
}

/// No more than asked for of each kind, over all its priorities, and the soonest of them.
pub(crate) async fn a_crowded_kind_does_not_hide_another(store: Arc<dyn Store>) {
    plant_many(&*store, "crowd", PUBLISH, 50, at(10)).await;
    let urgent = Put {
        priority: Some(Priority::new(9).unwrap()),
        ..put("urgent:1", PUBLISH, at(5))
    };
    let urgent = plant(&*store, urgent, START).await;
    let quiet = plant(&*store, put("article:1", "ARTICLE_AUDIT", at(500)), START).await;
    let coming = store.load_upcoming(START, at(1_000), 3).await.unwrap();
    let coming = numbers(coming);
    assert_eq!(coming.len(), 4, "three of the crowd, one of the other kind");
    assert_eq!(coming.first(), Some(&urgent));
    assert_eq!(coming.last(), Some(&quiet));
}

/// Longest first; what ended or was taken away from its claim does not run.
pub(crate) async fn what_runs_is_found_through_its_claim(store: Arc<dyn Store>) {
    assert_eq!(store.load_running(9).await.unwrap(), []);
    let second = plant(&*store, put("article:2", PUBLISH, at(20)), START).await;
    let first = plant(&*store, put("article:1", PUBLISH, at(10)), START).await;
    plant(&*store, put("article:3", PUBLISH, at(30)), START).await;
    claim_one(&*store, 1, at(10)).await;
    let attempt = claim_one(&*store, 2, at(20)).await;
    claim_one(&*store, 3, at(30)).await;
    plant(&*store, put("article:3", PUBLISH, at(900)), at(31)).await;
    let running = store.load_running(9).await.unwrap();
    assert_eq!(running[0].started_at, Some(at(10)));
    assert_eq!(running[0].node.as_deref(), Some("node-a"));
    assert_eq!(numbers(running), [first, second], "the third gave way");
    assert_eq!(numbers(store.load_running(1).await.unwrap()), [first]);
    end(&*store, &attempt, &done(), at(40)).await;
    assert_eq!(numbers(store.load_running(9).await.unwrap()), [first]);
}

/// The one that ends first first, with as many tasks as were taken, ended or not.
pub(crate) async fn claims_are_listed_by_when_they_end(store: Arc<dyn Store>) {
    assert_eq!(store.load_claims(9).await.unwrap(), []);
    plant_many(&*store, "article", PUBLISH, 3, START).await;
    claimed(&*store, claim_request(7, at(9), 1)).await;
    let taken = claimed(&*store, claim_request(8, at(5), 2)).await;
    end(&*store, &taken[0], &done(), at(6)).await;
    let line = |claim: i64, since: i64, tasks: usize| ClaimLine {
        claim_id: ClaimId(claim),
        node: "node-a".to_owned(),
        session: "session-a".to_owned(),
        lease_until: at(since) + LEASE,
        tasks,
    };
    let claims = store.load_claims(9).await.unwrap();
    assert_eq!(claims, [line(8, 5, 2), line(7, 9, 1)]);
    assert_eq!(store.load_claims(1).await.unwrap(), [line(8, 5, 2)]);
    store.release_claims(&[ClaimId(8)]).await.unwrap();
    assert_eq!(store.load_claims(9).await.unwrap(), [line(7, 9, 1)]);
}

/// Skips that follow each other share a row.
fn several(from: i64, until: i64) -> Slot {
    Slot {
        last_at: at(until),
        slots: 10,
        ..slot(at(from), Verdict::Skipped(Reason::Paused))
    }
}

async fn note(store: &dyn Store, name: &str, slots: Vec<Slot>) {
    let seen = named(store, name).await;
    let write = ScheduleWrite {
        slots,
        ..next_write(&seen, |_| ())
    };
    assert!(wrote(store, write).await);
}

/// The slots in a window, as their schedules and first seconds.
async fn window(store: &dyn Store, from: Timestamp, until: Timestamp) -> Vec<(String, i64)> {
    let lines = store.load_slots_between(from, until, 100).await;
    let found = lines.expect("load_slots_between").into_iter().map(|line| {
        let second = line.slot.slot_at.duration_since(START).as_secs();
        (line.schedule.as_str().to_owned(), second)
    });
    found.collect()
}

/// Of any schedule, latest first; half open.
pub(crate) async fn slots_of_all_schedules_are_found_by_time(store: Arc<dyn Store>) {
    for name in ["hourly", "daily"] {
        keep(&*store, schedule(name, START)).await;
    }
    let fired = |seconds: i64| slot(at(seconds), Verdict::Fired);
    note(&*store, "hourly", vec![fired(10), fired(20), fired(40)]).await;
    note(&*store, "daily", vec![fired(30)]).await;
    let expected = |slots: &[(&str, i64)]| -> Vec<(String, i64)> {
        slots
            .iter()
            .map(|(name, at)| ((*name).to_owned(), *at))
            .collect()
    };
    let all = [
        ("hourly", 40),
        ("daily", 30),
        ("hourly", 20),
        ("hourly", 10),
    ];
    assert_eq!(window(&*store, START, at(100)).await, expected(&all));
    assert_eq!(window(&*store, at(10), at(40)).await, expected(&all[1..]));
    assert_eq!(window(&*store, at(11), at(20)).await, expected(&[]));
    let whole = store.load_slots_between(START, at(100), 1).await.unwrap();
    assert_eq!(whole.len(), 1);
    assert_eq!(whole[0].slot, fired(40));
}

/// A row of several slots is found by each side of a window that it reaches over, and by none it
/// does not touch.
pub(crate) async fn a_row_of_several_slots_touches_every_window_it_reaches(store: Arc<dyn Store>) {
    keep(&*store, schedule("daily", START)).await;
    note(&*store, "daily", vec![several(100, 200)]).await;
    let moment = SignedDuration::from_micros(1);
    for (from, until, touches, why) in [
        (at(0), at(100), false, "before it"),
        (at(0), at(100) + moment, true, "its first slot"),
        (at(50), at(150), true, "its first half"),
        (at(120), at(130), true, "its middle"),
        (at(150), at(900), true, "its second half"),
        (at(0), at(900), true, "all of it"),
        (at(200), at(900), true, "its last slot"),
        (at(200) + moment, at(900), false, "after it"),
    ] {
        let found = window(&*store, from, until).await;
        assert_eq!(found.len(), usize::from(touches), "{why}");
    }
}
