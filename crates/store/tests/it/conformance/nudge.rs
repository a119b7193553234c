//! Hints to sleeping nodes. While a subscription is young or was interrupted, a hint may get lost
//! or may say "anything may be due" (an instant long past); so the rules ask again a bounded number
//! of times. What they must never see is a hint of what is far off.

use std::{sync::Arc, time::Duration};

use almanack_core::{
    edition::account::Change,
    finish::Outcome,
    plan::ScheduleWrite,
    store::{Nudges, Store},
};
use almanack_testkit::fixture::{
    PUBLISH, START, at, claim_request, fires, next_look, next_write, put, schedule, source,
};
use jiff::{SignedDuration, Timestamp};

use super::{
    changed, claim_one, claimed, done, end, ending, followed, keep, looked, opened, plant,
    reporting::report, wrote,
};

/// How long one hint is waited for, and how often.
const WAIT_MAX: Duration = Duration::from_millis(500);
const ROUNDS: i64 = 20;

async fn next(nudges: &mut dyn Nudges) -> Option<Timestamp> {
    tokio::time::timeout(WAIT_MAX, nudges.next()).await.ok()
}

/// Whether `expected` is hinted at before the timeout; no hint may be of anything later.
async fn hears(nudges: &mut dyn Nudges, expected: Timestamp) -> bool {
    while let Some(due_at) = next(nudges).await {
        assert!(due_at <= expected, "{due_at} is no reason to wake anybody");
        if due_at == expected {
            return true;
        }
    }
    false
}

/// Otherwise a sleeping node would find it only at its next slow poll.
pub(crate) async fn a_change_due_soon_is_hinted_at(store: Arc<dyn Store>) {
    let mut nudges = store.nudges();
    for round in 0..ROUNDS {
        plant(
            &*store,
            put(&format!("article:{round}"), PUBLISH, at(1)),
            START,
        )
        .await;
        if hears(&mut *nudges, at(1)).await {
            return;
        }
    }
    panic!("{ROUNDS} changes and no hint that says when");
}

/// A million tasks for next year wake no node.
pub(crate) async fn a_change_due_far_off_is_not(store: Arc<dyn Store>) {
    let mut nudges = store.nudges();
    let far = START + store.safety_poll() * 2 + SignedDuration::from_secs(1);
    for round in 0..ROUNDS {
        plant(&*store, put(&format!("far:{round}"), PUBLISH, far), START).await;
        plant(
            &*store,
            put(&format!("near:{round}"), PUBLISH, START),
            START,
        )
        .await;
        if hears(&mut *nudges, START).await {
            return;
        }
    }
    panic!("{ROUNDS} changes and no hint");
}

/// A node that shuts down hands its work to those that sleep.
pub(crate) async fn a_task_that_waits_again_soon_is_hinted_at(store: Arc<dyn Store>) {
    plant(&*store, put("article:1", PUBLISH, START), START).await;
    let mut nudges = store.nudges();
    for round in 0..ROUNDS {
        let attempt = claim_one(&*store, round + 1, at(round + 1)).await;
        let again = Outcome::Again {
            at: at(round + 1),
            on_record: true,
        };
        end(&*store, &attempt, &again, at(round + 1)).await;
        if hears(&mut *nudges, at(round + 1)).await {
            return;
        }
    }
    panic!("{ROUNDS} endings and no hint");
}

/// The deliverer of events must not sleep until another node has something to do, wherever it was
/// written.
pub(crate) async fn what_is_reported_is_hinted_at(store: Arc<dyn Store>) {
    let mut nudges = store.nudges();
    let mut heard = Vec::new();
    for round in 0..ROUNDS {
        let now = at(round);
        let events = |what: &str| vec![report(&format!("{what}-{round}"), now)];
        plant(
            &*store,
            put(&format!("article:{round}"), PUBLISH, START),
            START,
        )
        .await;
        let attempt = claimed(&*store, claim_request(round + 1, START, 1)).await;
        let mut finish = ending(&attempt[0], &done(), now);
        finish.event_tasks = events("task");
        let seen = followed(&*store, source(&format!("s{round}"))).await;
        let mut look = next_look(&seen, now, |_| ());
        look.event_tasks = events("source");
        let day = opened(&*store, i32::try_from(round).unwrap()).await;
        let mut change = Change::of(day.edition);
        change.event_tasks = events("edition");
        let seen = keep(&*store, schedule(&format!("m{round}"), at(9_000))).await;
        let mut write = next_write(&seen, |_| ());
        write.event_tasks = events("monitor");
        while next(&mut *nudges).await.is_some() {}
        store.finish(vec![finish]).await.unwrap();
        heard.push(hears(&mut *nudges, now).await);
        looked(&*store, look).await;
        heard.push(hears(&mut *nudges, now).await);
        changed(&*store, change).await;
        heard.push(hears(&mut *nudges, now).await);
        assert!(wrote(&*store, write).await);
        heard.push(hears(&mut *nudges, now).await);
        if heard.ends_with(&[true, true, true, true]) {
            return;
        }
    }
    panic!("{ROUNDS} rounds, and not every hint was given: {heard:?}");
}

/// The runner sleeps until the next task it knows of; a firing is one it does not know of.
pub(crate) async fn dp_05_a_firing_due_soon_is_hinted_at(store: Arc<dyn Store>) {
    let far = START + SignedDuration::from_hours(24);
    let mut nudges = store.nudges();
    for round in 0..ROUNDS {
        let seen = keep(&*store, schedule(&format!("s{round}"), at(1))).await;
        while next(&mut *nudges).await.is_some() {}
        let mut write = fires(&seen);
        write.schedule.look_at = Some(far);
        assert!(wrote(&*store, write).await);
        if hears(&mut *nudges, at(1)).await {
            return;
        }
    }
    panic!("{ROUNDS} firings and no hint that says when");
}

/// The planner sleeps until the next look it knows of: a schedule that was just written is to be
/// looked at before that.
pub(crate) async fn a_look_due_soon_is_hinted_at(store: Arc<dyn Store>) {
    let mut nudges = store.nudges();
    for round in 0..ROUNDS {
        keep(&*store, schedule(&format!("s{round}"), at(1))).await;
        if hears(&mut *nudges, at(1)).await {
            return;
        }
    }
    panic!("{ROUNDS} schedules and no hint that says when");
}

/// A file of daily schedules wakes no node, nor does a write that was lost.
pub(crate) async fn a_look_far_off_is_not_hinted_at(store: Arc<dyn Store>) {
    let mut nudges = store.nudges();
    let far = START + store.safety_poll() * 2 + SignedDuration::from_secs(1);
    for round in 0..ROUNDS {
        let seen = keep(&*store, schedule(&format!("far{round}"), far)).await;
        let lost = ScheduleWrite {
            seen: Some(7),
            ..next_write(&seen, |s| s.look_at = Some(at(1)))
        };
        assert!(!wrote(&*store, lost).await);
        keep(&*store, schedule(&format!("near{round}"), START)).await;
        if hears(&mut *nudges, START).await {
            return;
        }
    }
    panic!("{ROUNDS} schedules and no hint");
}
