//! The callback: a task's HTTP call to the business service.
//!
//! One POST per attempt, signed, with everything the service needs to be idempotent; a task can ask
//! for another method, timeout and headers. How it is sent and what the answer means is shared with
//! webhooks, in `call.rs`.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use almanack_core::{
    callback::Callback,
    finish::Outcome,
    handler::Handler,
    secret::Secrets,
    task::{ClaimedTask, Kind},
};
use async_trait::async_trait;
use jiff::SignedDuration;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    call::{Behaviour, Caller, Message},
    webhook::request,
};

/// The wait before a task without an address is retried: time to fix the configuration.
const UNADDRESSED_WAIT: SignedDuration = SignedDuration::from_secs(60);

/// How to call for tasks of one kind.
#[derive(Debug, Clone)]
pub struct CallbackSettings {
    /// The address to call, unless the task has one.
    pub url: Option<String>,
    pub behaviour: Behaviour,
}

pub struct CallbackHandler {
    pub caller: Caller,
    pub by_kind: BTreeMap<Kind, CallbackSettings>,
    /// For the other kinds.
    pub otherwise: CallbackSettings,
    /// What headers may name.
    pub secrets: Arc<dyn Secrets>,
}

#[async_trait]
impl Handler for CallbackHandler {
    async fn attempt(&self, task: &ClaimedTask) -> Outcome {
        let settings = self
            .by_kind
            .get(&task.identity.kind)
            .unwrap_or(&self.otherwise);
        let Some(url) = task.callback_url.as_deref().or(settings.url.as_deref()) else {
            return unaddressed(&task.identity.kind);
        };
        let Ok(body) = Body::of(task).and_then(|body| serde_json::to_vec(&body)) else {
            return Outcome::give_up("the stored payload is not JSON");
        };
        match &task.call_options {
            None => self.caller.call(url, &settings.behaviour, task, body).await,
            Some(options) => {
                let message = Message::json(body);
                let call = self.call_as(options, url, &settings.behaviour, task, message);
                call.await
            }
        }
    }
}

impl CallbackHandler {
    /// The call as the task itself wants it made.
    async fn call_as(
        &self,
        options: &Callback,
        url: &str,
        usual: &Behaviour,
        task: &ClaimedTask,
        mut message: Message,
    ) -> Outcome {
        if let Some(headers) = &options.headers {
            message.headers = match request::headers(headers, url, &*self.secrets).await {
                Ok(headers) => headers,
                Err(outcome) => return outcome,
            };
        }
        let method = options.method.unwrap_or_default();
        message.method = request::method(method);
        if !method.has_body() {
            message.body = None;
        }
        let timeout = options.timeout_s.map(|s| Duration::from_secs(s.into()));
        let behaviour = Behaviour {
            timeout: timeout.unwrap_or(usual.timeout),
            ..usual.clone()
        };
        let call = self.caller.exchange(url, &behaviour, task, message);
        call.await.0
    }
}

/// Another node may know the address, or this one after its configuration has been fixed, so the
/// task is not given up at once.
fn unaddressed(kind: &Kind) -> Outcome {
    tracing::warn!(%kind, "no callback address is configured for this kind; its tasks wait");
    let error = format!("no callback address for kind `{kind}`; configure kinds.{kind}.url");
    Outcome::retry_after(UNADDRESSED_WAIT, error)
}

#[derive(Serialize)]
struct Body<'a> {
    task_id: i64,
    subject: &'a str,
    kind: &'a str,
    attempt: u32,
    term: i64,
    revision: i64,
    execute_at: String,
    payload: &'a RawValue,
}

impl<'a> Body<'a> {
    fn of(task: &'a ClaimedTask) -> serde_json::Result<Self> {
        Ok(Self {
            task_id: task.id.0,
            subject: task.identity.subject.as_str(),
            kind: task.identity.kind.as_str(),
            attempt: task.attempt,
            term: task.term.0,
            revision: task.revision.0,
            execute_at: task.execute_at.to_string(),
            payload: serde_json::from_str(task.payload.as_str())?,
        })
    }
}
