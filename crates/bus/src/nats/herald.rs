//! Happenings out to a NATS subject.
//!
//! Done means that a stream has the message. Its `Nats-Msg-Id` is the event's id, so a stream that remembers ids keeps one of two.

use almanack_core::{
    finish::Outcome,
    happening::{CloudEvent, Herald, Mode},
    percent,
};
use async_nats::{
    HeaderMap,
    header::NATS_MESSAGE_ID,
    jetstream::{self, context::PublishError},
};
use async_trait::async_trait;
use tokio::sync::OnceCell;

use super::{connection::Connection, letters::is_too_large};
use crate::Error;

/// Hands happenings over to a subject.
pub struct NatsHerald {
    connection: Connection,
    context: OnceCell<jetstream::Context>,
    subject: String,
    mode: Mode,
}

impl NatsHerald {
    /// Connects with the first happening.
    pub fn new(connection: Connection, subject: &str, mode: Mode) -> Self {
        Self {
            connection,
            context: OnceCell::new(),
            subject: subject.to_owned(),
            mode,
        }
    }

    /// Answers the message's number in its stream, or what became of the attempt.
    async fn send(&self, headers: HeaderMap, body: String) -> Result<u64, Outcome> {
        let bytes = body.len();
        let connecting = async || Ok(jetstream::new(self.connection.open().await?));
        let context = self.context.get_or_try_init(connecting).await;
        let context = context.map_err(|error: Error| self.again(&error.to_string()))?;
        let sent = context.publish_with_headers(self.subject.clone(), headers, body.into());
        let confirmed = sent.await.map_err(|error| self.failed(&error, bytes))?;
        let confirmed = confirmed.await;
        let confirmed = confirmed.map_err(|error| self.failed(&error, bytes))?;
        Ok(confirmed.sequence)
    }

    /// What is too large stays too large until somebody allows more; everything else may be over some day.
    fn failed(&self, error: &PublishError, bytes: usize) -> Outcome {
        if is_too_large(error) {
            let error = format!(
                "subject `{}` does not take a message of {bytes} bytes: allow more in the server's max_payload or its stream's max_msg_size, then retry the task",
                self.subject
            );
            return Outcome::GiveUp { error };
        }
        self.again(&format!("publish: {error}"))
    }

    fn again(&self, why: &str) -> Outcome {
        Outcome::Retry {
            error: format!("{why} (subject `{}`)", self.subject),
            retry_after: None,
        }
    }
}

#[async_trait]
impl Herald for NatsHerald {
    async fn tell(&self, event: &CloudEvent) -> Outcome {
        let (headers, body) = match written(event, self.mode) {
            Ok(written) => written,
            Err(error) => return Outcome::GiveUp { error },
        };
        match self.send(headers, body).await {
            Ok(number) => Outcome::Done {
                detail: Some(format!("{}@{number}", self.subject)),
            },
            Err(outcome) => outcome,
        }
    }
}

fn written(event: &CloudEvent, mode: Mode) -> Result<(HeaderMap, String), String> {
    let mut headers = HeaderMap::new();
    headers.insert(NATS_MESSAGE_ID, percent::encode(&event.id).as_str());
    match mode {
        Mode::Structured => {
            headers.insert("content-type", "application/cloudevents+json");
            let body = serde_json::to_string(event).map_err(|error| error.to_string())?;
            Ok((headers, body))
        }
        Mode::Binary => {
            let time = event.time.to_string();
            for (name, value) in [
                ("ce-specversion", event.specversion.as_str()),
                ("ce-id", &event.id),
                ("ce-source", &event.source),
                ("ce-type", &event.r#type),
                ("ce-subject", &event.subject),
                ("ce-time", &time),
            ] {
                headers.insert(name, percent::encode(value).as_str());
            }
            headers.insert("content-type", event.datacontenttype.as_str());
            Ok((headers, event.data.get().to_owned()))
        }
    }
}
