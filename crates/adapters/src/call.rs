//! One signed HTTP request, and what its answer means.
//!
//! Callbacks and webhooks differ in what they send and in where the address comes from; this file
//! signs and sends them, and reads the answer. What an answer means is decided in `core::callback`;
//! no answer at all is a retry, because the call may have taken effect and only the receiver knows.
//! Editions and alerts are signed the same way, by a `Seal`, and their senders read the answers.

use std::{sync::Arc, time::Duration};

use almanack_core::{
    callback::{AlreadyDone, Answer, judge},
    finish::Outcome,
    task::ClaimedTask,
    time::Clock,
};
use jiff::Timestamp;
use reqwest::{
    Method,
    header::{self, HeaderMap, HeaderName},
};
use serde::Deserialize;

use crate::{
    http::{self, Client, HostLimiter, Limits, Permit, Request},
    signature::SigningKey,
    trace::{self, TRACEPARENT},
};

/// How much of an answer is read in search of a `code`.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// How a receiver is called.
#[derive(Debug, Clone)]
pub struct Behaviour {
    /// How long an answer may take, connection included.
    pub timeout: Duration,
    /// What calls are signed with.
    pub key: Option<SigningKey>,
    /// Answers that mean "this had already taken effect".
    pub already_done: Vec<AlreadyDone>,
}

/// The id and signature of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seal<'a> {
    /// The same for all calls that must take effect once.
    pub(crate) idempotency_key: &'a str,
    pub(crate) id: &'a str,
    /// When it is sent.
    pub(crate) at: Timestamp,
    /// What it is signed with.
    pub(crate) key: Option<&'a SigningKey>,
}

impl<'a> Seal<'a> {
    /// Of a call whose id is the same whenever it is repeated.
    pub(crate) fn of(id: &'a str, at: Timestamp, key: Option<&'a SigningKey>) -> Self {
        let idempotency_key = id;
        Self {
            idempotency_key,
            id,
            at,
            key,
        }
    }

    /// A POST of JSON under this seal.
    pub(crate) fn post(&self, url: &str, timeout: Duration, body: Vec<u8>) -> Request {
        self.put_on(Request::post_json(url, body), timeout)
    }

    /// The request under this seal. Where there is no body, an empty one is signed.
    fn put_on(&self, request: Request, timeout: Duration) -> Request {
        let body = request.body.as_deref().unwrap_or_default();
        let signature = self.key.map(|key| key.sign(self.id, self.at, body));
        let request = request
            .limits(Limits::within(timeout, ANSWER_BYTES_MAX))
            .header(IDEMPOTENCY_KEY, self.idempotency_key)
            .header(WEBHOOK_ID, self.id)
            .header(WEBHOOK_TIMESTAMP, &self.at.as_second().to_string());
        match signature {
            Some(signature) => request.header(WEBHOOK_SIGNATURE, &signature),
            None => request,
        }
    }
}

/// What was answered; a body that was too large is left out.
pub(crate) struct Received {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// What a receiver is sent.
pub(crate) struct Message {
    pub(crate) method: Method,
    /// Besides those of the seal.
    pub(crate) headers: HeaderMap,
    /// What the body is, unless a header says so.
    content_type: &'static str,
    pub(crate) body: Option<Vec<u8>>,
}

impl Message {
    /// A POST of JSON.
    pub(crate) fn json(body: Vec<u8>) -> Self {
        Self::new("application/json", body)
    }

    pub(crate) fn new(content_type: &'static str, body: Vec<u8>) -> Self {
        Self {
            method: Method::POST,
            headers: HeaderMap::new(),
            content_type,
            body: Some(body),
        }
    }

    fn request(self, url: &str) -> Request {
        let mut request = Request::new(self.method, url);
        if self.body.is_some() {
            request = request.header(header::CONTENT_TYPE, self.content_type);
        }
        request.headers.extend(self.headers);
        request.body = self.body;
        request
    }
}

/// Makes the calls.
pub struct Caller {
    pub client: Client,
    pub clock: Arc<dyn Clock>,
    /// The hosts' limits, if they apply.
    pub hosts: Option<HostLimiter>,
}

impl Caller {
    /// A permit to call, if there are limits; the outcome if the host has reached its own.
    pub(crate) fn enter(&self, url: &str) -> Result<Option<Permit>, Outcome> {
        let hosts = self.hosts.as_ref();
        let permit = hosts.map(|hosts| hosts.enter(url, &self.clock)).transpose();
        let why = "waits for its host, which has reached its limit of concurrent calls";
        permit.map_err(|at| Outcome::NotNow { at, why })
    }

    /// Sends `body` for an attempt at `task`. The task's id is the same for every attempt,
    /// `(task id, term)` names this one.
    pub(crate) async fn call(
        &self,
        url: &str,
        behaviour: &Behaviour,
        task: &ClaimedTask,
        body: Vec<u8>,
    ) -> Outcome {
        let message = Message::json(body);
        self.exchange(url, behaviour, task, message).await.0
    }

    /// Sends any message, and answers with what was answered, too.
    pub(crate) async fn exchange(
        &self,
        url: &str,
        behaviour: &Behaviour,
        task: &ClaimedTask,
        message: Message,
    ) -> (Outcome, Option<Received>) {
        let mut permit = match self.enter(url) {
            Ok(permit) => permit,
            Err(busy) => return (busy, None),
        };
        let mut request = self.request(url, behaviour, task, message);
        let traced = trace::begin(self.clock.now());
        if let Some(traced) = &traced {
            request = request.header(TRACEPARENT, &traced.parent());
        }
        let answered = self.client.open(request).await;
        let status = answered.as_ref().ok().map(|answer| answer.head.status);
        if let (Ok(_), Some(permit)) = (&answered, &mut permit) {
            permit.answered();
        }
        let answered = match answered {
            Ok(answer) => {
                let (outcome, received) = self.read(answer, behaviour).await;
                (outcome, Some(received))
            }
            Err(error) => (unanswered(&error), None),
        };
        if let Some(traced) = traced {
            traced.end(self.clock.now(), url, status);
        }
        answered
    }

    fn request(
        &self,
        url: &str,
        behaviour: &Behaviour,
        task: &ClaimedTask,
        message: Message,
    ) -> Request {
        let sealed = Seal {
            idempotency_key: &format!("almanack-task-{}", task.id),
            id: &format!("almanack-task-{}-{}", task.id, task.term.0),
            at: self.clock.now(),
            key: behaviour.key.as_ref(),
        };
        sealed.put_on(message.request(url), behaviour.timeout)
    }

    /// The status counts. A body that cannot be read, or is too large, has no `code`.
    async fn read(&self, mut answer: http::Answer, behaviour: &Behaviour) -> (Outcome, Received) {
        let body = answer.read().await.unwrap_or_default();
        let (status, code) = (answer.head.status, code_of(&body));
        let answer = Answer {
            status,
            code: code.as_deref(),
            retry_after: answer.head.header(&header::RETRY_AFTER),
        };
        let outcome = judge(&answer, &behaviour.already_done, self.clock.now());
        (outcome, Received { status, body })
    }
}

/// Without an answer, a retry may succeed; a refused address stays refused.
fn unanswered(error: &http::Error) -> Outcome {
    if error.is_transient() {
        Outcome::retry(error.to_string())
    } else {
        Outcome::give_up(error.to_string())
    }
}

/// The `code` of a JSON answer, if it has one.
fn code_of(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Coded {
        code: String,
    }
    let coded = serde_json::from_slice::<Coded>(body);
    coded.ok().map(|coded| coded.code)
}
