//! The webhook publisher: delivers an event by a signed HTTP POST.
//!
//! The body is the CloudEvent, or in binary mode its data, with the attributes as `ce-` headers.
//! `webhook-id` is the event's own id and the same for every delivery of it, so a receiver that
//! remembers ids processes each event once. What an answer means is decided in `core::event`; the
//! body of an answer is not read.

use std::time::Duration;

use almanack_core::{
    event::outgoing::{CloudEvent, EventPublisher, Mode, Written, judge},
    finish::Outcome,
    percent,
};
use async_trait::async_trait;
use reqwest::header::{CONTENT_TYPE, HeaderName, RETRY_AFTER};

use crate::{
    call::{Caller, Seal},
    http::Request,
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
        let WebhookEventPublisherSettings {
            url,
            key,
            timeout,
            mode,
        } = &self.settings;
        let written = match event.written(*mode) {
            Ok(written) => written,
            Err(error) => return Outcome::give_up(error.to_string()),
        };
        let Caller { client, clock, .. } = &self.caller;
        let mut permit = match self.caller.enter(url) {
            Ok(permit) => permit,
            Err(busy) => return busy,
        };
        let sealed = Seal::of(&event.id, clock.now(), key.as_ref());
        let request = request(written, url, *timeout, &sealed);
        match client.open(request).await {
            Ok(answer) => {
                if let Some(permit) = &mut permit {
                    permit.answered();
                }
                let asked = answer.head.header(&RETRY_AFTER);
                judge(answer.head.status, asked, clock.now())
            }
            // A refused address can be fixed in the configuration, like one that does not answer.
            Err(error) => Outcome::retry(error.to_string()),
        }
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
