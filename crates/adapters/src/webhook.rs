//! The webhook launcher: a schedule fires by a signed HTTP request (DP-11).
//!
//! Signed and sent exactly like a callback, in `call.rs`; only what is sent differs: the firing,
//! and the body its target asks for, or what its template says instead. The receiver recognises a
//! repetition by `Idempotency-Key`, which is the same for every attempt at one firing. What it
//! answers is kept in the run's log.
//!
//! A target with `report_within` is given addresses to report to; if it answers 202, the firing
//! goes on until it has reported the end (DP-19, `core::follow`).

pub(crate) mod request;

use std::sync::Arc;

use almanack_core::{
    finish::Outcome,
    follow::{HandedOver, Stage, Work, signed_id, to_url},
    plan::{Firing, Trigger},
    run_log::RunLogs,
    secret::Secrets,
    store::RunId,
    target::{ELSEWHERE_AFTER, Launcher, Target},
    task::{ClaimedTask, TaskId},
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::Value;

use crate::{
    call::{Behaviour, Caller, Message, Received},
    launcher::wrong_target,
    signature::SigningKey,
};

/// "Accepted": the receiver will do it.
const ACCEPTED: u16 = 202;

/// Fires at [`Target::Webhook`].
pub struct WebhookLauncher {
    pub caller: Caller,
    pub behaviour: Behaviour,
    /// Where receivers report to, if they can reach this node.
    pub reports: Option<ReportAddress>,
    pub logs: Arc<dyn RunLogs>,
    /// What headers may name.
    pub secrets: Arc<dyn Secrets>,
}

/// Where receivers report to.
#[derive(Debug, Clone)]
pub struct ReportAddress {
    /// The nodes' public address, without a `/` at its end.
    pub base: String,
    /// What addresses are signed with.
    pub key: SigningKey,
}

/// The addresses for one firing, as its call carries them.
#[derive(Serialize)]
struct ReportLinks {
    start: String,
    progress: String,
    finish: String,
    /// A report must come within so many seconds, and again after each that is not the last.
    within_s: i64,
}

impl ReportAddress {
    fn links(&self, firing: TaskId, within: SignedDuration) -> ReportLinks {
        let signature = self
            .key
            .sign_by_newest(&signed_id(firing), Timestamp::UNIX_EPOCH, b"");
        let signature = to_url(&signature);
        let base = &self.base;
        let link =
            |stage: Stage| format!("{base}/api/v1/firings/{firing}/{stage}?signature={signature}");
        ReportLinks {
            start: link(Stage::Start),
            progress: link(Stage::Progress),
            finish: link(Stage::Finish),
            within_s: within.as_secs(),
        }
    }
}

impl WebhookLauncher {
    /// Makes the call; whether the receiver has accepted it and will report.
    async fn call(&self, firing: &Firing, task: &ClaimedTask) -> (Outcome, Option<Work>) {
        let Target::Webhook {
            url,
            method,
            headers,
            body,
            template,
            report_within,
        } = &firing.target
        else {
            return (wrong_target("webhooks", &firing.target), None);
        };
        let links = match report_within.map(|within| self.links(task.id, within)) {
            Some(Err(outcome)) => return (outcome, None),
            Some(Ok(links)) => Some(links),
            None => None,
        };
        let written = match template {
            Some(template) => Some(request::filled(template, firing, task)),
            None => self.notice(firing, task, body.as_ref(), links),
        };
        let Some(mut message) = written else {
            let outcome = Outcome::give_up("the firing cannot be written as JSON");
            return (outcome, None);
        };
        message.headers = match request::headers(headers, url, &*self.secrets).await {
            Ok(headers) => headers,
            Err(outcome) => return (outcome, None),
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
        let called = self.caller.exchange(url, &behaviour, task, message);
        let (outcome, received) = called.await;
        let mut status = None;
        if let Some(received) = received {
            self.logs.report(RunId::of(task), &report(&received)).await;
            status = Some(received.status);
        }
        let accepted = report_within.filter(|_| status == Some(ACCEPTED));
        let within_s = accepted.map(|within| within.as_secs());
        (outcome, within_s.map(|within_s| Work::Report { within_s }))
    }

    /// The firing with its body, and where to report.
    fn notice(
        &self,
        firing: &Firing,
        task: &ClaimedTask,
        body: Option<&Value>,
        report: Option<ReportLinks>,
    ) -> Option<Message> {
        let mut notice = Notice::of(firing, task, body, self.caller.clock.now());
        notice.report = report;
        serde_json::to_vec(&notice).ok().map(Message::json)
    }

    fn links(&self, firing: TaskId, within: SignedDuration) -> Result<ReportLinks, Outcome> {
        let reports = self.reports.as_ref();
        reports.map(|it| it.links(firing, within)).ok_or_else(|| {
            let error = "target.report_within needs server.public_url and callback.secret, \
                     which this node does not have";
            Outcome::retry_after(ELSEWHERE_AFTER, error)
        })
    }
}

#[async_trait]
impl Launcher for WebhookLauncher {
    async fn fire(&self, firing: &Firing, task: &ClaimedTask) -> Outcome {
        self.call(firing, task).await.0
    }

    async fn hand_over(&self, firing: &Firing, task: &ClaimedTask) -> HandedOver {
        match self.call(firing, task).await {
            (_, Some(work)) => HandedOver::Works(work),
            (outcome, None) => HandedOver::Ended(outcome),
        }
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
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<ReportLinks>,
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
            report: None,
        }
    }
}
