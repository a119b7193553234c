//! The handlers of the work on editions.
//!
//! A tick is done in the firing of its schedule's slot, so that what the schedule says about
//! overlap, windows and retries is said about the tick; a run is one task that comes again after
//! every step, so that a node that shuts down loses a step at most and another goes on with the
//! next.

use std::sync::Arc;

use almanack_core::{
    edition::{
        EditionName, State,
        hold::HoldReason,
        id_of,
        plan::{Requester, Waiting},
        tick_of,
    },
    finish::Outcome,
    handler::Handler,
    plan::Firing,
    target::Target,
    task::ClaimedTask,
    time::Clock,
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use super::{
    EditionSet, Error,
    run::{End, Stepped, Unwatched},
};
use crate::wake::later;

/// When a run comes again after something outside did not work.
const AFTER_FAILURE: SignedDuration = SignedDuration::from_mins(1);

/// When a node that does not make an edition checks again whether another one does.
const ELSEWHERE_AFTER: SignedDuration = SignedDuration::from_secs(30);

/// Leaves an edition to a node that is configured for it: a node without it must neither fail nor
/// end its tasks. A tick waits no longer than the window of its slot.
pub fn elsewhere(now: Timestamp) -> Outcome {
    tracing::warn!("this node does not make the edition; leaving its task to another node");
    Outcome::NotNow {
        at: later(now, ELSEWHERE_AFTER),
        why: "waits for a node that produces editions",
    }
}

/// The edition that a firing ticks: that of its target's subject, or the default one.
fn ticked_edition(task: &ClaimedTask) -> EditionName {
    let firing = Firing::read(&task.payload).ok();
    match firing.map(|firing| firing.target) {
        Some(Target::Task { subject, .. }) => tick_of(&subject),
        _ => EditionName::default(),
    }
}

/// Tries firings at `EDITION_TICK`.
pub struct TickHandler {
    pub editions: EditionSet,
    pub clock: Arc<dyn Clock>,
}

#[async_trait]
impl Handler for TickHandler {
    async fn attempt(&self, task: &ClaimedTask) -> Outcome {
        let Some(editions) = self.editions.get(ticked_edition(task)) else {
            return elsewhere(self.clock.now());
        };
        match editions.tick().await {
            Ok(ticked) => {
                let did: Vec<String> = ticked.steps.iter().map(Stepped::summary).collect();
                let after = ticked.steps.last().map(|step| step.after);
                let state = after.map_or("", State::as_str);
                let detail = format!("{} {state}: {}", ticked.id, did.join(", "));
                Outcome::done(detail)
            }
            Err(error) => failed(&error, "edition tick failed; the next tick will retry"),
        }
    }
}

/// Tries `EDITION_RUN` tasks.
pub struct RunHandler {
    pub editions: EditionSet,
    pub clock: Arc<dyn Clock>,
}

#[async_trait]
impl Handler for RunHandler {
    async fn attempt(&self, task: &ClaimedTask) -> Outcome {
        let Some(id) = id_of(&task.identity) else {
            return Outcome::give_up("not an edition's task");
        };
        let Some(editions) = self.editions.get(id.name) else {
            return elsewhere(self.clock.now());
        };
        match editions.step(id, Requester::Tick, &Unwatched).await {
            Ok(stepped) => outcome(&stepped.end, self.clock.now()),
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
        // Who decides about it asks for it again.
        End::Waits(waiting @ Waiting::Held(HoldReason::Approval, None)) => {
            Outcome::done(waiting.to_string())
        }
        // Nobody knows when it is better, or a person decides; they or a tick continue it then.
        End::Waits(waiting @ Waiting::Held(HoldReason::Quality, None)) => {
            Outcome::give_up(waiting.to_string())
        }
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
