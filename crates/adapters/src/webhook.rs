//! The webhook launcher: a schedule fires by a signed HTTP request (DP-11).
//!
//! Signed and sent exactly like a callback, in `call.rs`; only what is sent differs: the firing,
//! and the body its target asks for, or what its template says instead. The receiver recognises a repetition by `Idempotency-Key`,
//! which is the same for every attempt at one firing.

mod request;

use std::sync::Arc;

use almanack_core::{
    finish::Outcome,
    plan::{Firing, Trigger},
    secret::Secrets,
    target::{Launcher, Target},
    task::ClaimedTask,
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::Value;

use crate::{
    call::{Behaviour, Caller, Message},
    launcher::wrong_target,
};

/// Fires at [`Target::Webhook`].
pub struct WebhookLauncher {
    pub caller: Caller,
    pub behaviour: Behaviour,
    /// What headers may name.
    pub secrets: Arc<dyn Secrets>,
}

#[async_trait]
impl Launcher for WebhookLauncher {
    async fn fire(&self, firing: &Firing, task: &ClaimedTask) -> Outcome {
        let Target::Webhook {
            url,
            method,
            headers,
            body,
            template,
        } = &firing.target
        else {
            return wrong_target("webhooks", &firing.target);
        };
        let Some(mut message) = self.message(firing, task, (body.as_ref(), template.as_ref()))
        else {
            return Outcome::give_up("the firing cannot be written as JSON");
        };
        message.headers = match request::headers(headers, url, &*self.secrets).await {
            Ok(headers) => headers,
            Err(outcome) => return outcome,
        };
        message.method = request::method(*method);
        if !method.has_body() {
            message.body = None;
        }
        let timeout = firing.timeout.map(SignedDuration::unsigned_abs);
        let behaviour = Behaviour {
            timeout: timeout.unwrap_or(self.behaviour.timeout),
            ..self.behaviour.clone()
        };
        self.caller.send(url, &behaviour, task, message).await
    }
}

impl WebhookLauncher {
    /// What the template says, or else the firing with its body.
    fn message(
        &self,
        firing: &Firing,
        task: &ClaimedTask,
        (body, template): (Option<&Value>, Option<&Value>),
    ) -> Option<Message> {
        if let Some(template) = template {
            return Some(request::filled(template, firing, task));
        }
        let notice = Notice::of(firing, task, body, self.caller.clock.now());
        serde_json::to_vec(&notice).ok().map(Message::json)
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
