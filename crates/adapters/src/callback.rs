//! The callback: a task's HTTP call to the business service.
//!
//! One POST per attempt, signed, with everything the service needs to be idempotent: the task's id
//! is the same for every attempt, `(task id, term)` names this one. What the answer means is
//! decided in `core::callback`; no answer at all is a retry, because the call may have taken effect
//! and the service is the one who knows.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use almanack_core::{
    callback::{AlreadyDone, Answer, judge},
    finish::Outcome,
    handler::Handler,
    task::{ClaimedTask, Kind},
    time::Clock,
};
use async_trait::async_trait;
use jiff::SignedDuration;
use reqwest::{Client, Response, header, redirect};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::signature::SigningKey;

/// How much of an answer is read in search of a `code`.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Before a task without an address is tried again: time to mend a configuration.
const UNADDRESSED_WAIT: SignedDuration = SignedDuration::from_secs(60);

/// How to call for tasks of one kind.
#[derive(Debug, Clone)]
pub struct CallbackSettings {
    /// Where to call, unless the task says otherwise.
    pub url: Option<String>,
    /// How long an answer may take, connection included.
    pub timeout: Duration,
    /// What calls are signed with.
    pub key: Option<SigningKey>,
    /// Answers that mean "this had already taken effect".
    pub already_done: Vec<AlreadyDone>,
}

/// The client could not be built: the platform's TLS is not usable.
#[derive(Debug, thiserror::Error)]
#[error("build HTTP client")]
pub struct NoClient(#[source] reqwest::Error);

/// Makes the calls.
pub struct CallbackHandler {
    client: Client,
    clock: Arc<dyn Clock>,
    by_kind: BTreeMap<Kind, CallbackSettings>,
    otherwise: CallbackSettings,
}

impl CallbackHandler {
    /// Calls by `by_kind`, and by `otherwise` for every other kind.
    pub fn new(
        clock: Arc<dyn Clock>,
        by_kind: BTreeMap<Kind, CallbackSettings>,
        otherwise: CallbackSettings,
    ) -> Result<Self, NoClient> {
        // Installing twice is harmless: the first one stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .redirect(redirect::Policy::none())
            .no_proxy()
            .user_agent(concat!("almanack/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(NoClient)?;
        Ok(Self {
            client,
            clock,
            by_kind,
            otherwise,
        })
    }

    async fn call(
        &self,
        url: &str,
        settings: &CallbackSettings,
        task: &ClaimedTask,
    ) -> Result<Outcome, Failure> {
        let body = serde_json::to_vec(&Body::of(task)?).map_err(|_| Failure::Payload)?;
        let id = format!("almanack-task-{}-{}", task.id, task.term.0);
        let now = self.clock.now();
        let mut request = self
            .client
            .post(url)
            .timeout(settings.timeout)
            .header(header::CONTENT_TYPE, "application/json")
            .header("idempotency-key", format!("almanack-task-{}", task.id))
            .header("webhook-id", &id)
            .header("webhook-timestamp", now.as_second().to_string());
        if let Some(key) = &settings.key {
            request = request.header("webhook-signature", key.sign(&id, now, &body));
        }
        let response = request.body(body).send().await.map_err(Failure::NoAnswer)?;
        Ok(self.read(response, settings).await)
    }

    async fn read(&self, response: Response, settings: &CallbackSettings) -> Outcome {
        let status = response.status().as_u16();
        let retry_after = response.headers().get(header::RETRY_AFTER);
        let retry_after = retry_after
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned);
        let code = read_code(response).await;
        let answer = Answer {
            status,
            code: code.as_deref(),
            retry_after: retry_after.as_deref(),
        };
        judge(&answer, &settings.already_done, self.clock.now())
    }
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
        match self.call(url, settings, task).await {
            Ok(outcome) => outcome,
            Err(Failure::NoAnswer(error)) if error.is_builder() => Outcome::GiveUp {
                error: "the callback address is not a usable URL".to_owned(),
            },
            Err(Failure::NoAnswer(error)) => Outcome::Retry {
                error: explain(error),
                retry_after: None,
            },
            Err(Failure::Payload) => Outcome::GiveUp {
                error: "the stored payload is not JSON".to_owned(),
            },
        }
    }
}

/// Another node may know the address, or this one after its configuration has been mended, so the
/// task is not given up at once.
fn unaddressed(kind: &Kind) -> Outcome {
    tracing::warn!(%kind, "no callback address is configured for this kind; its tasks wait");
    let error = format!("no callback address for kind `{kind}`; configure kinds.{kind}.url");
    Outcome::Retry {
        error,
        retry_after: Some(UNADDRESSED_WAIT),
    }
}

enum Failure {
    NoAnswer(reqwest::Error),
    Payload,
}

/// What is sent.
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
    fn of(task: &'a ClaimedTask) -> Result<Self, Failure> {
        Ok(Self {
            task_id: task.id.0,
            subject: task.identity.subject.as_str(),
            kind: task.identity.kind.as_str(),
            attempt: task.attempt,
            term: task.term.0,
            revision: task.revision.0,
            execute_at: task.execute_at.to_string(),
            payload: serde_json::from_str(task.payload.as_str()).map_err(|_| Failure::Payload)?,
        })
    }
}

/// The `code` of a JSON answer, if it has one within the bytes we are willing to read.
async fn read_code(mut response: Response) -> Option<String> {
    #[derive(Deserialize)]
    struct Coded {
        code: String,
    }
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk);
        if body.len() > ANSWER_BYTES_MAX {
            return None;
        }
    }
    serde_json::from_slice::<Coded>(&body)
        .ok()
        .map(|coded| coded.code)
}

/// What went wrong, down to the cause, without the address: it may carry a token.
fn explain(error: reqwest::Error) -> String {
    let what = if error.is_timeout() {
        "no answer in time"
    } else if error.is_connect() {
        "could not connect"
    } else {
        "no usable answer"
    };
    let error = error.without_url();
    let mut root: &dyn std::error::Error = &error;
    while let Some(cause) = root.source() {
        root = cause;
    }
    format!("{what}: {root}")
}
