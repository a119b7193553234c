//! What `why` and a backfill say about slots that retention has forgotten, on both databases.

use almanack_core::{
    backoff::Backoff,
    finish::{Finish, Outcome, finish},
    plan::Definition,
    task::TaskId,
};
use almanack_engine::schedules::{Backfill, Error};
use almanack_testkit::fixture::{at, claim_request};
use jiff::{SignedDuration, Timestamp};

use crate::desk::{Desk, HOUR, hourly, on_both};

on_both!(
    dp_16_a_slot_that_retention_forgot_is_not_called_undecided,
    dp_16_while_a_schedule_was_removed_it_had_no_slots,
    dp_16_a_slot_from_before_the_schedule_may_have_been_fired_by_hand,
    a_backfill_does_not_fire_again_what_is_forgotten,
    a_backfill_fires_what_never_was_decided,
);

impl Desk {
    async fn put_by(&self, expression: &str) {
        let definition = Definition {
            expression: expression.to_owned(),
            ..hourly()
        };
        self.put(definition).await.unwrap();
    }

    /// Plans at the given hours, and lets what fired end at once.
    async fn live_through(&self, hours: std::ops::RangeInclusive<i64>) {
        for hour in hours {
            let now = at(hour * HOUR);
            self.clock.set(now);
            self.planner.pass().await.unwrap();
            let claimed = self.store.claim(claim_request(hour, now, 10)).await;
            let outcome = Outcome::Done { detail: None };
            let backoff = Backoff::default();
            let tasks = claimed.unwrap().tasks;
            let done = |task| finish(task, &outcome, &backoff, now, 0);
            let done: Vec<Finish> = tasks.iter().map(done).collect();
            self.store.finish(done).await.unwrap();
        }
    }

    async fn forget(&self, before: Timestamp) {
        self.store.prune(before, TaskId(0), 1_000).await.unwrap();
        self.store.prune_slots(before, 1_000).await.unwrap();
    }

    async fn why(&self, hour: i64) -> String {
        let answer = self.schedules.why(&self.nightly, at(hour * HOUR)).await;
        answer.unwrap().sentence
    }

    async fn backfill(&self, from: i64, to: i64) -> Result<usize, Error> {
        let wish = Backfill {
            from: at(from * HOUR),
            to: at(to * HOUR),
            pace: SignedDuration::ZERO,
        };
        let done = self.schedules.backfill(&self.nightly, wish, "ada").await?;
        Ok(done.fires())
    }
}

async fn dp_16_a_slot_that_retention_forgot_is_not_called_undecided(desk: Desk) {
    desk.put_by("0 * * * *").await;
    desk.live_through(1..=6).await;
    desk.forget(at(4 * HOUR)).await;
    let forgotten = "2026-01-05T10:00:00Z was decided, but what became of it is no longer kept.";
    assert_eq!(desk.why(2).await, forgotten);
    let kept = desk.why(4).await;
    assert!(kept.contains("fired 0 ms after its time"), "{kept}");
    let paused = desk.schedules.pause(&desk.nightly, None, None, "ada").await;
    paused.unwrap();
    assert_eq!(desk.why(2).await, forgotten, "nor paused");
    let to_come = desk.why(8).await;
    assert!(to_come.contains("is paused by ada"), "{to_come}");
    desk.schedules.remove(&desk.nightly, "ada").await.unwrap();
    assert_eq!(desk.why(2).await, forgotten, "nor removed");
}

async fn dp_16_while_a_schedule_was_removed_it_had_no_slots(desk: Desk) {
    desk.put_by("0 * * * *").await;
    desk.live_through(1..=2).await;
    desk.schedules.remove(&desk.nightly, "ada").await.unwrap();
    desk.clock.set(at(5 * HOUR));
    desk.put_by("0 * * * *").await;
    desk.live_through(6..=7).await;
    let gone = "did not fire: the schedule had been removed at 2026-01-05T10:00:00Z.";
    for hour in [3, 5] {
        let told = desk.why(hour).await;
        assert!(told.ends_with(gone), "{told}");
    }
    desk.forget(at(7 * HOUR)).await;
    let told = desk.why(4).await;
    assert!(told.ends_with(gone), "{told}");
    assert_eq!(
        desk.backfill(3, 6).await.unwrap(),
        3,
        "nobody fired them, so they may"
    );
}

async fn dp_16_a_slot_from_before_the_schedule_may_have_been_fired_by_hand(desk: Desk) {
    desk.put_by("0 * * * *").await;
    let told = desk.why(-2).await;
    assert!(
        told.contains("did not fire: the schedule was first written"),
        "{told}"
    );
    assert_eq!(desk.backfill(-3, -1).await.unwrap(), 2);
    let told = desk.why(-2).await;
    assert!(
        told.contains("was fired by hand at 2026-01-05T08:00:00Z, and task"),
        "{told}"
    );
}

async fn a_backfill_does_not_fire_again_what_is_forgotten(desk: Desk) {
    desk.put_by("0 * * * *").await;
    desk.live_through(1..=6).await;
    desk.forget(at(4 * HOUR)).await;
    let refused = desk.backfill(1, 6).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "what became of the slot at 2026-01-05T09:00:00Z is no longer kept, so it may have fired; \
         the oldest slot of this range that is still known is 2026-01-05T12:00:00Z"
    );
    let refused = desk.backfill(1, 3).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "what became of the slot at 2026-01-05T09:00:00Z is no longer kept, so it may have fired; \
         no slot of this range is still known"
    );
    assert_eq!(
        desk.backfill(4, 6).await.unwrap(),
        0,
        "these are known to have fired"
    );
    assert_eq!(
        desk.backfill(-3, 1).await.unwrap(),
        4,
        "and these are known not to"
    );
}

async fn a_backfill_fires_what_never_was_decided(desk: Desk) {
    desk.put_by("0 0 1 1 *").await;
    desk.clock.set(at(3 * HOUR));
    desk.put_by("0 * * * *").await;
    desk.live_through(4..=5).await;
    assert_eq!(
        desk.backfill(1, 4).await.unwrap(),
        3,
        "another rule held then"
    );
    assert_eq!(desk.backfill(1, 5).await.unwrap(), 0);
}
