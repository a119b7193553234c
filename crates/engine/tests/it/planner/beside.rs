//! Several firings of one schedule run beside each other: because a person forced one, or because
//! the policy allowed it. Whether the next slot may fire depends on all of them, whichever ends
//! last.

use almanack_core::{
    backoff::Backoff,
    finish::{Outcome, finish},
    plan::{BESIDE_MAX, Definition, Overlap},
    store::Finished,
    task::{ClaimedTask, Status},
};
use almanack_engine::schedules::{Error, Overlapping};
use almanack_testkit::fixture::{at, claim_request};

use crate::fixture::{Fixture, HOUR, hourly, on_both};

on_both!(
    dp_17_a_firing_forced_beside_another_is_not_overlapped_either,
    dp_17_a_forced_firing_does_not_hide_the_one_that_runs,
    dp_17_cancel_running_takes_all_that_run_back,
    dp_17_what_was_allowed_to_overlap_is_not_overlapped_later,
    dp_17_no_more_are_forced_than_can_be_remembered,
);

impl Fixture {
    /// Starts every firing that is due.
    async fn start(&self, claim: i64, now: i64) -> Vec<ClaimedTask> {
        let request = claim_request(claim, at(now), 100);
        self.store.claim(request).await.unwrap().tasks
    }

    async fn end(&self, task: &ClaimedTask, now: i64) {
        let done = Outcome::Done { detail: None };
        let ending = finish(task, &done, &Backoff::default(), at(now), 0);
        let finished = self.store.finish(vec![ending]).await.unwrap();
        assert_eq!(finished, [Finished::Applied]);
    }

    async fn force(&self) -> Result<(), Error> {
        let fired = self
            .schedules
            .fire(&self.nightly, Overlapping::Forced, "ada");
        fired.await.map(drop)
    }

    /// The slot of 09:00 and a firing that was forced beside it, both running.
    async fn two_running(&self, overlap: Overlap) -> [ClaimedTask; 2] {
        let definition = Definition {
            overlap,
            ..hourly()
        };
        self.put(definition).await.unwrap();
        self.pass_at(at(HOUR)).await;
        let planned = self.start(1, HOUR).await.pop().unwrap();
        self.force().await.unwrap();
        let forced = self.start(2, HOUR).await.pop().unwrap();
        [planned, forced]
    }
}

async fn dp_17_a_firing_forced_beside_another_is_not_overlapped_either(fixture: Fixture) {
    let [planned, forced] = fixture.two_running(Overlap::Skip).await;
    fixture.end(&planned, HOUR + 60).await;
    fixture.pass_at(at(2 * HOUR)).await;
    assert_eq!(fixture.ledger().await, ["09:00 fired", "10:00 overlap"]);
    let refused = fixture
        .schedules
        .fire(&fixture.nightly, Overlapping::AsPlanned, "ada")
        .await;
    let in_the_way =
        |error| matches!(error, Error::Overlaps { running, .. } if running == forced.identity);
    assert!(refused.is_err_and(in_the_way), "by hand neither");
    fixture.end(&forced, 2 * HOUR + 60).await;
    fixture.pass_at(at(3 * HOUR)).await;
    assert_eq!(fixture.ledger().await[2..], ["11:00 fired"]);
}

async fn dp_17_a_forced_firing_does_not_hide_the_one_that_runs(fixture: Fixture) {
    let [planned, forced] = fixture.two_running(Overlap::QueueOne).await;
    fixture.end(&forced, HOUR + 60).await;
    fixture.pass_at(at(2 * HOUR)).await;
    assert_eq!(fixture.ledger().await, ["09:00 fired"], "10:00 waits");
    fixture.end(&planned, 2 * HOUR + 60).await;
    fixture.pass_at(at(2 * HOUR + 61)).await;
    assert_eq!(fixture.ledger().await.len(), 2, "and then fires");
    let schedule = fixture.schedules.load(&fixture.nightly).await.unwrap();
    assert_eq!(schedule.beside, [], "they have ended, and are forgotten");
}

async fn dp_17_cancel_running_takes_all_that_run_back(fixture: Fixture) {
    fixture.two_running(Overlap::CancelRunning).await;
    fixture.pass_at(at(2 * HOUR)).await;
    let firings = fixture.firings().await;
    let statuses: Vec<Status> = firings.iter().map(|task| task.status).collect();
    assert_eq!(
        statuses,
        [Status::Cancelled, Status::Cancelled, Status::Init]
    );
    let schedule = fixture.schedules.load(&fixture.nightly).await.unwrap();
    assert_eq!(schedule.beside, []);
}

async fn dp_17_what_was_allowed_to_overlap_is_not_overlapped_later(fixture: Fixture) {
    let allowing = Definition {
        overlap: Overlap::Allow,
        ..hourly()
    };
    fixture.put(allowing).await.unwrap();
    fixture.pass_at(at(HOUR)).await;
    let older = fixture.start(1, HOUR).await.pop().unwrap();
    fixture.pass_at(at(2 * HOUR)).await;
    let newer = fixture.start(2, 2 * HOUR).await.pop().unwrap();
    fixture.end(&newer, 2 * HOUR + 60).await;
    fixture.put(hourly()).await.unwrap();
    fixture.pass_at(at(3 * HOUR)).await;
    assert_eq!(fixture.ledger().await[2..], ["11:00 overlap"]);
    fixture.end(&older, 3 * HOUR + 60).await;
    fixture.pass_at(at(4 * HOUR)).await;
    assert_eq!(fixture.ledger().await[3..], ["12:00 fired"]);
}

/// What would be forgotten might be overlapped, so it is not begun.
async fn dp_17_no_more_are_forced_than_can_be_remembered(fixture: Fixture) {
    fixture.put(hourly()).await.unwrap();
    fixture.pass_at(at(HOUR)).await;
    for second in 1..=BESIDE_MAX {
        fixture.clock.set(at(HOUR + i64::try_from(second).unwrap()));
        fixture.force().await.unwrap();
    }
    fixture.clock.set(at(HOUR + 100));
    let refused = fixture.force().await.unwrap_err();
    assert!(matches!(refused, Error::NotNow { .. }), "{refused}");
    let running = fixture.start(1, HOUR + 100).await;
    fixture.end(&running[0], HOUR + 101).await;
    fixture.force().await.unwrap();
}
