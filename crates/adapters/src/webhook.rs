//! The webhook launcher: a schedule fires by a signed HTTP POST (DP-11).
//!
//! Signed and sent exactly like a callback, in `call.rs`; only what is sent differs: the firing,
//! and the body its target asks for. The receiver recognises a repetition by `Idempotency-Key`,
//! which is the same for every attempt at one firing.

use almanack_core::{
    finish::Outcome,
    plan::{Firing, Trigger},
    target::{Launcher, Target},
    task::ClaimedTask,
};
use async_trait::async_trait;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::{
    call::{Behaviour, Caller},
    launcher::wrong_target,
};

/// Fires at [`Target::Webhook`].
pub struct WebhookLauncher {
    pub caller: Caller,
    pub behaviour: Behaviour,
}

#[async_trait]
impl Launcher for WebhookLauncher {
    async fn fire(&self, firing: &Firing, task: &ClaimedTask) -> Outcome {
        let Target::Webhook { url, body } = &firing.target else {
            return wrong_target("webhooks", &firing.target);
        };
        let notice = Notice::of(firing, task, body.as_ref(), self.caller.clock.now());
        let Ok(notice) = serde_json::to_vec(&notice) else {
            return Outcome::give_up("the firing cannot be written as JSON");
        };
        self.caller.call(url, &self.behaviour, task, notice).await
    }
}

#[derive(Serialize)]
struct Notice<'a> {
    schedule: &'a str,
    nominal_at: Timestamp,
    trigger: Trigger,
    caught_up: bool,
    attempt: u32,
    /// How long after its slot this attempt is made. Clocks differ, so it is never below zero.
    lateness_ms: i64,
    task_id: i64,
    body: Option<&'a Value>,
}

impl<'a> Notice<'a> {
    fn of(firing: &'a Firing, task: &ClaimedTask, body: Option<&'a Value>, now: Timestamp) -> Self {
        let late = now.as_millisecond() - firing.nominal_at.as_millisecond();
        Self {
            schedule: &firing.schedule,
            nominal_at: firing.nominal_at,
            trigger: firing.trigger,
            caught_up: firing.caught_up,
            attempt: task.attempt,
            lateness_ms: late.max(0),
            task_id: task.id.0,
            body,
        }
    }
}
