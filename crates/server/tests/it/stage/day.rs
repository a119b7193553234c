//! Plays the day: minute by minute, as a node would have lived it.

use almanack_core::{
    backoff::Backoff,
    finish::{Outcome, finish},
    handler::Handler as _,
    plan::DISPATCH,
    source::SOURCE_CHECK,
    store::{ClaimId, ClaimRequest, TaskStore},
    task::ClaimedTask,
};
use almanack_testkit::fixture::{START, claim_request};
use jiff::{SignedDuration, Timestamp};

use super::{edition_fixture, people, served::Stage, timetable};

/// The day begins so many minutes before the instant at which it is shown.
const BEGINS: i64 = -13 * 60;
/// While no node plans: missed slots are decided afterwards.
const DARK: std::ops::Range<i64> = -430..-380;
/// A node takes so many at once.
const SLOTS: usize = 64;

/// A day on a stage.
pub(crate) struct Day<'a> {
    stage: &'a Stage,
    claims: i64,
}

impl<'a> Day<'a> {
    pub(crate) fn of(stage: &'a Stage) -> Self {
        Self { stage, claims: 0 }
    }

    pub(crate) async fn play(mut self) {
        let world = &self.stage.world;
        world.clock.set(minute(BEGINS));
        people::arrive(world).await;
        timetable::write(world).await;
        edition_fixture::add(world).await;
        people::plan(world).await;
        for minutes in BEGINS..0 {
            self.minute(minutes).await;
        }
        edition_fixture::mail_yesterday(&self.stage.world).await;
    }

    async fn minute(&mut self, minutes: i64) {
        let world = &self.stage.world;
        world.clock.set(minute(minutes));
        edition_fixture::publish(world, minute(minutes));
        people::change_their_minds(world, minutes).await;
        timetable::change_their_minds(world, minutes).await;
        match minutes {
            -710 => edition_fixture::publish_yesterday(self.stage).await,
            -40 => edition_fixture::begin_today(self.stage).await,
            _ => {}
        }
        if DARK.contains(&minutes) {
            return;
        }
        // Nodes are prompt, but not on the dot.
        let late = SignedDuration::from_millis(120 + (minutes * 37).rem_euclid(900));
        world.plan_at(minute(minutes) + late).await;
        self.work(minute(minutes) + late).await;
    }

    /// Takes what is due and tries it.
    async fn work(&mut self, now: Timestamp) {
        self.claims += 1;
        let claim_id = ClaimId(self.claims);
        let request = ClaimRequest {
            lease_until: START + SignedDuration::from_mins(2),
            ..claim_request(self.claims, now, SLOTS)
        };
        let store = &self.stage.world.store;
        let claimed = store.claim(request).await.unwrap().tasks;
        let mut all_ended = true;
        for (place, task) in (0..).zip(&claimed) {
            all_ended &= self.attempt(task, now, place).await;
        }
        if all_ended {
            store.release_claims(&[claim_id]).await.unwrap();
        }
    }

    /// Tries a task; answers whether it ended.
    async fn attempt(&self, task: &ClaimedTask, now: Timestamp, place: i64) -> bool {
        let world = &self.stage.world;
        timetable::print(world, task, now).await;
        let Some(outcome) = self.outcome(task).await else {
            return false;
        };
        let took = SignedDuration::from_millis(90 + (task.id.0 * 733 + place * 311) % 4_000);
        let ending = finish(task, &outcome, &Backoff::default(), now + took, 0);
        world.store.finish(vec![ending]).await.unwrap();
        true
    }

    async fn outcome(&self, task: &ClaimedTask) -> Option<Outcome> {
        let subject = task.identity.subject.as_str();
        match task.identity.kind.as_str() {
            SOURCE_CHECK => Some(self.stage.world.fixture.handler.attempt(task).await),
            DISPATCH => timetable::outcome(subject, task.attempt),
            _ => published(subject),
        }
    }
}

/// What the article service says.
fn published(subject: &str) -> Option<Outcome> {
    match subject {
        "article:runs" => None,
        "article:refused" => Some(Outcome::GiveUp {
            error: "422: the article has no <title> and no 正文".to_owned(),
        }),
        "article:stubborn" | "article:unlucky" => Some(Outcome::Retry {
            error: "503 Service Unavailable: try later".to_owned(),
            retry_after: None,
        }),
        _ => Some(Outcome::Done {
            detail: Some("200 OK".to_owned()),
        }),
    }
}

fn minute(minutes: i64) -> Timestamp {
    START + SignedDuration::from_mins(minutes)
}
