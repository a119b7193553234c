//! One signed HTTP POST, and what its answer means.
//!
//! Callbacks and webhooks differ in what they send and in where the address comes from; how they are
//! signed, sent and judged is the same and stands here. What an answer means is decided in
//! `core::callback`; no answer at all is a retry, because the call may have taken effect and the
//! other side is the one who knows.

use std::{sync::Arc, time::Duration};

use almanack_core::{
    callback::{AlreadyDone, Answer, judge},
    finish::Outcome,
    task::ClaimedTask,
    time::Clock,
};
use reqwest::{Client, Response, header, redirect};
use serde::Deserialize;

use crate::signature::SigningKey;

/// How much of an answer is read in search of a `code`.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// The client could not be built: the platform's TLS is not usable.
#[derive(Debug, thiserror::Error)]
#[error("build HTTP client")]
pub struct NoClient(#[source] reqwest::Error);

/// A client that goes where it is sent and nowhere else: no redirects, no proxy from the environment.
pub(crate) fn client() -> Result<Client, NoClient> {
    // Installing twice is harmless: the first one stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .redirect(redirect::Policy::none())
        .no_proxy()
        .user_agent(concat!("almanack/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(NoClient)
}

/// How to call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner<'a> {
    /// How long an answer may take, connection included.
    pub(crate) timeout: Duration,
    /// What calls are signed with.
    pub(crate) key: Option<&'a SigningKey>,
    /// Answers that mean "this had already taken effect".
    pub(crate) already_done: &'a [AlreadyDone],
}

/// Makes signed calls.
pub(crate) struct Caller {
    client: Client,
    clock: Arc<dyn Clock>,
}

impl Caller {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Result<Self, NoClient> {
        let client = client()?;
        Ok(Self { client, clock })
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }

    /// Sends `body` for an attempt at `task`. The task's id is the same for every attempt,
    /// `(task id, term)` names this one.
    pub(crate) async fn call(
        &self,
        url: &str,
        manner: Manner<'_>,
        task: &ClaimedTask,
        body: Vec<u8>,
    ) -> Outcome {
        match self.send(url, manner, task, body).await {
            Ok(response) => self.read(response, manner).await,
            Err(error) if error.is_builder() => Outcome::GiveUp {
                error: "the address is not a usable URL".to_owned(),
            },
            Err(error) => Outcome::Retry {
                error: explain(error),
                retry_after: None,
            },
        }
    }

    async fn send(
        &self,
        url: &str,
        manner: Manner<'_>,
        task: &ClaimedTask,
        body: Vec<u8>,
    ) -> reqwest::Result<Response> {
        let id = format!("almanack-task-{}-{}", task.id, task.term.0);
        let now = self.clock.now();
        let mut request = self
            .client
            .post(url)
            .timeout(manner.timeout)
            .header(header::CONTENT_TYPE, "application/json")
            .header("idempotency-key", format!("almanack-task-{}", task.id))
            .header("webhook-id", &id)
            .header("webhook-timestamp", now.as_second().to_string());
        if let Some(key) = manner.key {
            request = request.header("webhook-signature", key.sign(&id, now, &body));
        }
        request.body(body).send().await
    }

    async fn read(&self, response: Response, manner: Manner<'_>) -> Outcome {
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
        judge(&answer, manner.already_done, self.clock.now())
    }
}

/// The `code` of a JSON answer, if it has one within the bytes we are willing to read.
async fn read_code(response: Response) -> Option<String> {
    #[derive(Deserialize)]
    struct Coded {
        code: String,
    }
    let body = read_body(response, ANSWER_BYTES_MAX).await?;
    serde_json::from_slice::<Coded>(&body)
        .ok()
        .map(|coded| coded.code)
}

/// The whole body, unless it breaks off or has more than `bytes_max`.
pub(crate) async fn read_body(mut response: Response, bytes_max: usize) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > bytes_max {
            return None;
        }
    }
    Some(body)
}

/// What went wrong, down to the cause, without the address: it may carry a token.
pub(crate) fn explain(error: reqwest::Error) -> String {
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
