//! Happenings out to a NATS subject.
//!
//! Done means that a stream has the message. Its `Nats-Msg-Id` is the event's id, so a stream that remembers ids keeps one of two.

use almanack_core::{
    finish::Outcome,
    happening::{CloudEvent, Herald, Mode, Written},
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
        let written = match event.written(self.mode) {
            Ok(written) => written,
            Err(error) => {
                let error = error.to_string();
                return Outcome::GiveUp { error };
            }
        };
        let headers = headers(&event.id, &written);
        match self.send(headers, written.body).await {
            Ok(number) => Outcome::Done {
                detail: Some(format!("{}@{number}", self.subject)),
            },
            Err(outcome) => outcome,
        }
    }
}

fn headers(id: &str, written: &Written) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(NATS_MESSAGE_ID, percent::encode(id).as_str());
    headers.insert("content-type", written.content_type.as_str());
    for (name, value) in &written.attributes {
        headers.insert(*name, percent::encode(value).as_str());
    }
    headers
}
