//! The webhook publisher: delivers an event by a signed HTTP POST.
//!
//! The body is the CloudEvent, or in binary mode its data, with the attributes as `ce-` headers, or
//! in batched mode a list of CloudEvents. `webhook-id` is the event's own id, or the batch's, and
//! the same for every delivery of it, so a receiver that remembers ids processes each event once. What an answer means is decided in `core::event`; the
//! body of an answer is not read.

use std::time::Duration;

use almanack_core::{
    event::outgoing::{
        Batch, BatchOutcome, CloudEvent, EventPublisher, Mode, Written, judge, judge_batch,
        judge_silence,
    },
    finish::Outcome,
    percent,
};
use async_trait::async_trait;
use jiff::Timestamp;
use reqwest::header::{CONTENT_TYPE, HeaderName, RETRY_AFTER};

use crate::{
    call::{Caller, Seal},
    http::{Error, Request},
    signature::SigningKey,
};

/// Where and how to deliver.
#[derive(Debug, Clone)]
pub struct WebhookEventPublisherSettings {
    pub url: String,
    /// What calls are signed with.
    pub key: Option<SigningKey>,
    /// How long an answer may take, connection included.
    pub timeout: Duration,
    /// How the event is put into the request.
    pub mode: Mode,
}

pub struct WebhookEventPublisher {
    pub caller: Caller,
    pub settings: WebhookEventPublisherSettings,
}

#[async_trait]
impl EventPublisher for WebhookEventPublisher {
    async fn publish(&self, event: &CloudEvent) -> Outcome {
        let written = match event.written(self.settings.mode) {
            Ok(written) => written,
            Err(error) => return Outcome::give_up(error.to_string()),
        };
        match self.send(&event.id, written).await {
            Ok(Answer { status, asked, at }) => judge(status, asked.as_deref(), at),
            Err(NoAnswer::Busy(outcome)) => outcome,
            // A refused address can be fixed in the configuration, like one that does not answer.
            Err(NoAnswer::Failed(error)) => Outcome::retry(error.to_string()),
        }
    }

    async fn publish_batch(&self, batch: &Batch<'_>) -> BatchOutcome {
        if self.settings.mode != Mode::Batched {
            return BatchOutcome::one_at_a_time();
        }
        match self.send(batch.id, batch.written()).await {
            Ok(Answer { status, asked, at }) => judge_batch(status, asked.as_deref(), at),
            Err(NoAnswer::Busy(outcome)) => BatchOutcome::Whole(outcome),
            Err(NoAnswer::Failed(error @ Error::Timeout { .. })) => {
                judge_silence(batch.attempt, error.to_string())
            }
            Err(NoAnswer::Failed(error)) => BatchOutcome::Whole(Outcome::retry(error.to_string())),
        }
    }
}

/// The head of an answer, and when it came.
struct Answer {
    status: u16,
    /// Its `Retry-After`.
    asked: Option<String>,
    at: Timestamp,
}

enum NoAnswer {
    /// Nothing was sent: too many requests to that host are under way.
    Busy(Outcome),
    Failed(Error),
}

impl WebhookEventPublisher {
    async fn send(&self, id: &str, written: Written) -> Result<Answer, NoAnswer> {
        let WebhookEventPublisherSettings {
            url, key, timeout, ..
        } = &self.settings;
        let Caller { client, clock, .. } = &self.caller;
        let mut permit = self.caller.enter(url).map_err(NoAnswer::Busy)?;
        let sealed = Seal::of(id, clock.now(), key.as_ref());
        let request = request(written, url, *timeout, &sealed);
        let answer = client.open(request).await.map_err(NoAnswer::Failed)?;
        if let Some(permit) = &mut permit {
            permit.answered();
        }
        Ok(Answer {
            status: answer.head.status,
            asked: answer.head.header(&RETRY_AFTER).map(str::to_owned),
            at: clock.now(),
        })
    }
}

fn request(written: Written, url: &str, timeout: Duration, sealed: &Seal<'_>) -> Request {
    let request = sealed
        .post(url, timeout, written.body.into_bytes())
        .header(CONTENT_TYPE, &written.content_type);
    written
        .attributes
        .iter()
        .fold(request, |request, (name, value)| {
            request.header(HeaderName::from_static(name), &percent::encode(value))
        })
}
