//! The handlers of the work on editions.
//!
//! A tick is done in the firing of its schedule's slot, so that what the schedule says about
//! overlap, windows and retries is said about the tick; a run is one task that comes again after
//! every step, so that a node that shuts down loses a step at most and another goes on with the
//! next.

use std::sync::Arc;

use almanack_core::{
    edition::{State, date_of, plan::Requester},
    finish::Outcome,
    handler::Handler,
    task::ClaimedTask,
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use super::{
    Editions, Error,
    run::{End, Stepped, Unwatched},
};
use crate::wake::later;

/// When a run comes again after something outside did not work.
const AFTER_FAILURE: SignedDuration = SignedDuration::from_mins(1);

/// Tries firings at `EDITION_TICK`.
pub struct TickHandler(pub Arc<Editions>);

#[async_trait]
impl Handler for TickHandler {
    async fn attempt(&self, _: &ClaimedTask) -> Outcome {
        match self.0.tick().await {
            Ok(ticked) => {
                let did: Vec<String> = ticked.steps.iter().map(Stepped::summary).collect();
                let after = ticked.steps.last().map(|step| step.after);
                let state = after.map_or("", State::as_str);
                let detail = format!("{} {state}: {}", ticked.date, did.join(", "));
                Outcome::done(detail)
            }
            Err(error) => failed(&error, "edition tick failed; the next tick will retry"),
        }
    }
}

/// Tries `EDITION_RUN` tasks.
pub struct RunHandler(pub Arc<Editions>);

#[async_trait]
impl Handler for RunHandler {
    async fn attempt(&self, task: &ClaimedTask) -> Outcome {
        let Some(date) = date_of(&task.identity) else {
            return Outcome::give_up("not an edition's task");
        };
        match self.0.step(date, Requester::Tick, &Unwatched).await {
            Ok(stepped) => outcome(&stepped.end, self.0.clock.now()),
            Err(error @ (Error::Unknown(_) | Error::NotNow(_))) => {
                Outcome::give_up(error.to_string())
            }
            Err(error) => failed(&error, "a step of an edition failed; will retry"),
        }
    }
}

fn outcome(end: &End, now: Timestamp) -> Outcome {
    match end {
        End::More => Outcome::again(now),
        End::Waits(waiting) => Outcome::again(waiting.until()),
        End::Failed => Outcome::again(later(now, AFTER_FAILURE)),
        End::Rests(State::Published) => Outcome::done("published"),
        End::Rests(State::Aggregating) => {
            Outcome::give_up("a destination does not accept the edition: resend it or skip it")
        }
        End::Rests(state) => Outcome::give_up(format!("the edition is {state}")),
    }
}

/// The state is unchanged, and the whole cause is reported (ED-29).
fn failed(error: &Error, what: &'static str) -> Outcome {
    tracing::error!(error = error.chain(), "{what}");
    Outcome::retry(error.to_string())
}
