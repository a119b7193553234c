//! Hints to sleeping nodes. A hint may come late or get lost while a subscription is young, so the
//! rules ask again a bounded number of times; what they must never see is a hint too many.

use std::{sync::Arc, time::Duration};

use almanack_core::{
    finish::Outcome,
    reschedule::Request,
    store::{Nudges, Store},
};
use jiff::{SignedDuration, Timestamp};

use super::{ask, claim_one, end, plant};
use crate::fixture::{PUBLISH, START, at, put};

/// How long one hint is waited for, and how often.
const PATIENCE: Duration = Duration::from_millis(500);
const ROUNDS: i64 = 20;

async fn next(nudges: &mut dyn Nudges) -> Option<Timestamp> {
    tokio::time::timeout(PATIENCE, nudges.next()).await.ok()
}

/// Otherwise a sleeping node would find it only at its next slow poll.
pub async fn a_change_due_soon_is_hinted_at(store: Arc<dyn Store>) {
    let mut nudges = store.nudges();
    for round in 0..ROUNDS {
        let wish = put(&format!("article:{round}"), PUBLISH, at(1));
        plant(&*store, wish, START).await;
        if let Some(due_at) = next(&mut *nudges).await {
            assert_eq!(due_at, at(1), "the hint says when");
            return;
        }
    }
    panic!("{ROUNDS} changes and no hint");
}

/// A million tasks for next year wake nobody.
pub async fn a_change_due_far_off_is_not(store: Arc<dyn Store>) {
    let mut nudges = store.nudges();
    let far = START + store.safety_poll() + SignedDuration::from_secs(1);
    for round in 0..ROUNDS {
        let request = Request::Put(put(&format!("far:{round}"), PUBLISH, far));
        ask(&*store, &request, START).await;
        plant(
            &*store,
            put(&format!("near:{round}"), PUBLISH, START),
            START,
        )
        .await;
        if let Some(due_at) = next(&mut *nudges).await {
            assert_eq!(due_at, START, "only the near one is worth a hint");
            return;
        }
    }
    panic!("{ROUNDS} changes and no hint");
}

/// A node that shuts down hands its work to those that sleep.
pub async fn a_task_that_waits_again_soon_is_hinted_at(store: Arc<dyn Store>) {
    plant(&*store, put("article:1", PUBLISH, START), START).await;
    let mut nudges = store.nudges();
    for round in 0..ROUNDS {
        let attempt = claim_one(&*store, round + 1, at(round + 1)).await;
        let again = Outcome::Again { at: at(round + 1) };
        end(&*store, &attempt, &again, at(round + 1)).await;
        if let Some(due_at) = next(&mut *nudges).await {
            assert!(due_at <= at(round + 1));
            return;
        }
    }
    panic!("{ROUNDS} endings and no hint");
}
