//! A signed webhook: the whole edition as JSON, to an address of the operator.
//!
//! Signed like all our calls (Standard Webhooks), with the delivery's key both as the message's id
//! and as `Idempotency-Key`: it is the same however often a part is sent, so a receiver that keeps
//! keys takes it once. That is why a delivery with an unknown result is repeated.

use std::{sync::Arc, time::Duration};

use almanack_core::{
    budget::Budget,
    callback::wait_asked_for,
    edition::{
        EditionId,
        delivery::{OnRevision, OnUnknown},
        document::Printed,
        port::{Failure, FailureClass, Message, Publisher, Sent},
    },
    time::Clock,
};
use async_trait::async_trait;
use jiff::Timestamp;
use reqwest::header;
use serde::Serialize;

use super::unsent;
use crate::{
    call::Seal,
    http::{Client, Head},
    signature::SigningKey,
};

/// Where editions are posted to.
#[derive(Debug, Clone)]
pub struct WebhookPublisherSettings {
    /// The destination's name in the configuration.
    pub destination: String,
    pub url: String,
    /// What calls are signed with.
    pub key: Option<SigningKey>,
    /// How long an answer may take, connection included.
    pub timeout: Duration,
}

pub struct WebhookPublisher {
    client: Client,
    clock: Arc<dyn Clock>,
    settings: WebhookPublisherSettings,
}

impl WebhookPublisher {
    /// Delivers as `settings` say.
    pub fn new(client: Client, clock: Arc<dyn Clock>, settings: WebhookPublisherSettings) -> Self {
        Self {
            client,
            clock,
            settings,
        }
    }
}

#[async_trait]
impl Publisher for WebhookPublisher {
    fn destination(&self) -> &str {
        &self.settings.destination
    }

    /// The key makes a repetition harmless.
    fn on_unknown(&self) -> OnUnknown {
        OnUnknown::Repeat
    }

    fn on_revision(&self) -> OnRevision {
        OnRevision::Replace
    }

    fn requests_per_part(&self) -> u32 {
        1
    }

    async fn send(&self, message: &Message<'_>, budget: &Arc<Budget>) -> Sent {
        let Ok(body) = serde_json::to_vec(&WebhookBody::of(message)) else {
            let detail = "the edition cannot be written as JSON";
            return Sent::Failed(Failure::new(FailureClass::Refused, detail));
        };
        let key = self.settings.key.as_ref();
        let request = Seal::of(&message.key, self.clock.now(), key)
            .post(&self.settings.url, self.settings.timeout, body)
            .paid_by(Arc::clone(budget));
        match self.client.open(request).await {
            Ok(answer) => result_of(&answer.head, self.clock.now()),
            Err(error) => unsent(&error),
        }
    }
}

/// What a receiver's answer means. Its status is all that counts.
pub(crate) fn result_of(head: &Head, now: Timestamp) -> Sent {
    let (class, more) = match head.status {
        200..=299 => return Sent::Confirmed { receipt: None },
        408 | 425 | 500..=599 => (FailureClass::Transient, ""),
        429 => (FailureClass::RateLimited, ""),
        401 | 403 => (FailureClass::Credentials, ""),
        300..=399 => (FailureClass::Refused, ": redirects are not followed"),
        _ => (FailureClass::Refused, ""),
    };
    let asked = head.header(&header::RETRY_AFTER);
    let failure = Failure {
        class,
        detail: format!("HTTP {}{more}", head.status),
        retry_after: asked.and_then(|text| wait_asked_for(text, now)),
    };
    // A receiver that fails in the middle may have kept it.
    if head.status >= 500 {
        Sent::Unknown(failure)
    } else {
        Sent::Failed(failure)
    }
}

#[derive(Serialize)]
struct WebhookBody<'a> {
    r#type: &'static str,
    #[serde(flatten)]
    edition: EditionId,
    revision: u32,
    title: &'a str,
    language: &'a str,
    markdown: &'a str,
    stories: &'a [Printed],
    left_out: u32,
}

impl<'a> WebhookBody<'a> {
    fn of(message: &'a Message<'_>) -> Self {
        let inputs = &message.document.inputs;
        Self {
            r#type: "edition.published",
            edition: inputs.id(),
            revision: inputs.revision,
            title: &inputs.title,
            language: &inputs.language,
            markdown: message.body,
            stories: &inputs.stories,
            left_out: inputs.left_out,
        }
    }
}
