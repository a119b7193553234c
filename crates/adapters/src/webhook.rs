//! The webhook launcher: a schedule fires by a signed HTTP POST (DP-11).
//!
//! Signed and sent exactly like a callback, in `call.rs`; only what is sent differs: the firing,
//! and the body its target asks for. The receiver recognises a repetition by `Idempotency-Key`,
//! which is the same for every attempt at one firing. What it answers is kept in the run's log.

use std::sync::Arc;

use almanack_core::{
    finish::Outcome,
    plan::{Firing, Trigger},
    run_log::RunLogs,
    store::RunId,
    target::{Launcher, Target},
    task::ClaimedTask,
};
use async_trait::async_trait;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::{
    call::{Behaviour, Caller, Received},
    launcher::wrong_target,
};

/// Fires at [`Target::Webhook`].
pub struct WebhookLauncher {
    pub caller: Caller,
    pub behaviour: Behaviour,
    pub logs: Arc<dyn RunLogs>,
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
        let called = self.caller.exchange(url, &self.behaviour, task, notice);
        let (outcome, received) = called.await;
        if let Some(received) = received {
            self.logs.report(RunId::of(task), &report(&received)).await;
        }
        outcome
    }
}

/// The status, and the answer if it is text.
fn report(received: &Received) -> String {
    let Received { status, body } = received;
    match std::str::from_utf8(body) {
        Ok("") => format!("HTTP {status}\n"),
        Ok(text) if !text.contains('\0') => format!("HTTP {status}\n{text}\n"),
        _ => format!("HTTP {status}\n({} bytes that are not text)\n", body.len()),
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
