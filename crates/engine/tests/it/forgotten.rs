//! What `why` and a backfill say about slots that retention has forgotten, on both databases.

use almanack_core::{
    backoff::Backoff,
    finish::{Finish, Outcome, finish},
    lang::Lang,
    plan::Definition,
    task::TaskId,
};
use almanack_engine::schedules::{Backfill, Error};
use almanack_testkit::fixture::{at, claim_request};
use jiff::{SignedDuration, Timestamp};

use crate::fixture::{Fixture, HOUR, hourly, on_both};

on_both!(
    dp_16_a_slot_that_retention_forgot_is_not_called_undecided,
    dp_16_while_a_schedule_was_removed_it_had_no_slots,
    dp_16_a_slot_from_before_the_schedule_may_have_been_fired_by_hand,
    a_backfill_does_not_fire_again_what_is_forgotten,
    a_backfill_fires_what_never_was_decided,
);

impl Fixture {
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
        let answer = self
            .schedules
            .why(&self.nightly, at(hour * HOUR), Lang::English)
            .await;
        answer.unwrap().sentence
    }

    async fn backfill(&self, from: i64, to: i64) -> Result<usize, Error> {
        let request = Backfill {
            from: at(from * HOUR),
            to: at(to * HOUR),
            pace: SignedDuration::ZERO,
        };
        let done = self
            .schedules
            .backfill(&self.nightly, request, "ada")
            .await?;
        Ok(done.fires())
    }
}

async fn dp_16_a_slot_that_retention_forgot_is_not_called_undecided(fixture: Fixture) {
    fixture.put_by("0 * * * *").await;
    fixture.live_through(1..=6).await;
    fixture.forget(at(4 * HOUR)).await;
    let forgotten = "2026-01-05T10:00:00Z was decided, but its outcome is no longer kept.";
    assert_eq!(fixture.why(2).await, forgotten);
    let kept = fixture.why(4).await;
    assert!(kept.contains("fired 0 ms after its time"), "{kept}");
    let paused = fixture
        .schedules
        .pause(&fixture.nightly, None, None, "ada")
        .await;
    paused.unwrap();
    assert_eq!(fixture.why(2).await, forgotten, "nor paused");
    let to_come = fixture.why(8).await;
    assert!(to_come.contains("is paused by ada"), "{to_come}");
    fixture
        .schedules
        .remove(&fixture.nightly, "ada")
        .await
        .unwrap();
    assert_eq!(fixture.why(2).await, forgotten, "nor removed");
}

async fn dp_16_while_a_schedule_was_removed_it_had_no_slots(fixture: Fixture) {
    fixture.put_by("0 * * * *").await;
    fixture.live_through(1..=2).await;
    fixture
        .schedules
        .remove(&fixture.nightly, "ada")
        .await
        .unwrap();
    fixture.clock.set(at(5 * HOUR));
    fixture.put_by("0 * * * *").await;
    fixture.live_through(6..=7).await;
    let gone = "did not fire: the schedule had been removed at 2026-01-05T10:00:00Z.";
    for hour in [3, 5] {
        let sentence = fixture.why(hour).await;
        assert!(sentence.ends_with(gone), "{sentence}");
    }
    fixture.forget(at(7 * HOUR)).await;
    let sentence = fixture.why(4).await;
    assert!(sentence.ends_with(gone), "{sentence}");
    assert_eq!(
        fixture.backfill(3, 6).await.unwrap(),
        3,
        "they never fired, so they may"
    );
}

async fn dp_16_a_slot_from_before_the_schedule_may_have_been_fired_by_hand(fixture: Fixture) {
    fixture.put_by("0 * * * *").await;
    let sentence = fixture.why(-2).await;
    assert!(
        sentence.contains("did not fire: the schedule was first written"),
        "{sentence}"
    );
    assert_eq!(fixture.backfill(-3, -1).await.unwrap(), 2);
    let sentence = fixture.why(-2).await;
    assert!(
        sentence.contains("was fired by hand by ada at 2026-01-05T08:00:00Z, and task"),
        "{sentence}"
    );
}

async fn a_backfill_does_not_fire_again_what_is_forgotten(fixture: Fixture) {
    fixture.put_by("0 * * * *").await;
    fixture.live_through(1..=6).await;
    fixture.forget(at(4 * HOUR)).await;
    let refused = fixture.backfill(1, 6).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the outcome of the slot at 2026-01-05T09:00:00Z is no longer on record, so it may have fired; \
         the oldest slot still on record in this range is 2026-01-05T12:00:00Z"
    );
    let refused = fixture.backfill(1, 3).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the outcome of the slot at 2026-01-05T09:00:00Z is no longer on record, so it may have fired; \
         no slot of this range is still on record"
    );
    assert_eq!(
        fixture.backfill(4, 6).await.unwrap(),
        0,
        "these are known to have fired"
    );
    assert_eq!(
        fixture.backfill(-3, 1).await.unwrap(),
        4,
        "and these are known not to"
    );
}

async fn a_backfill_fires_what_never_was_decided(fixture: Fixture) {
    fixture.put_by("0 0 1 1 *").await;
    fixture.clock.set(at(3 * HOUR));
    fixture.put_by("0 * * * *").await;
    fixture.live_through(4..=5).await;
    assert_eq!(
        fixture.backfill(1, 4).await.unwrap(),
        3,
        "another rule held then"
    );
    assert_eq!(fixture.backfill(1, 5).await.unwrap(), 0);
}
