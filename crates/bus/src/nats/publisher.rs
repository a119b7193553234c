//! Events out to a NATS subject.
//!
//! Done means that a stream has the message. Its `Nats-Msg-Id` is the event's id, so a stream that
//! remembers ids keeps one of two.

use std::sync::{Mutex, MutexGuard, PoisonError};

use almanack_core::{
    event::outgoing::{CloudEvent, EventPublisher, Mode, Written},
    finish::Outcome,
    percent,
};
use async_nats::{HeaderMap, header::NATS_MESSAGE_ID, jetstream::context::PublishError};
use async_trait::async_trait;
use futures_util::{
    FutureExt as _,
    future::{BoxFuture, Shared},
};

use super::{
    connection::{Connection, Link},
    dead_letters::is_too_large,
};

/// A try to connect, whose result all waiting events share.
type Opening = Shared<BoxFuture<'static, Result<Link, String>>>;

/// Publishes events to a subject.
pub struct NatsEventPublisher {
    connection: Connection,
    /// The connection, or the try that is under way.
    opening: Mutex<Option<Opening>>,
    subject: String,
    mode: Mode,
}

impl NatsEventPublisher {
    /// Connects with the first event.
    pub fn new(connection: Connection, subject: &str, mode: Mode) -> Self {
        Self {
            connection,
            opening: Mutex::default(),
            subject: subject.to_owned(),
            mode,
        }
    }

    /// The connection. Concurrent events wait for one try; an event after a failed try begins
    /// another.
    async fn link(&self) -> Result<Link, String> {
        let opening = self.opening();
        let opened = opening.clone().await;
        if opened.is_err() {
            let mut held = self.held();
            if held.as_ref().is_some_and(|it| it.ptr_eq(&opening)) {
                *held = None;
            }
        }
        opened
    }

    fn opening(&self) -> Opening {
        let mut held = self.held();
        let opening = held.get_or_insert_with(|| {
            let connection = self.connection.clone();
            let opening = async move { connection.open().await.map_err(|error| error.to_string()) };
            opening.boxed().shared()
        });
        opening.clone()
    }

    fn held(&self) -> MutexGuard<'_, Option<Opening>> {
        self.opening.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the message's number in its stream, or the outcome of the attempt.
    async fn send(&self, headers: HeaderMap, body: String) -> Result<u64, Outcome> {
        let bytes = body.len();
        let again = |why: String| self.again(&why);
        let link = self.link().await.map_err(again)?;
        let context = link.context().map_err(again)?;
        let failed = |error: PublishError| self.failed(&link, &error, bytes);
        let subject = self.subject.clone();
        let sent = context.publish_with_headers(subject, headers, body.into());
        let confirmed = sent.await.map_err(failed)?;
        let confirmed = confirmed.await.map_err(failed)?;
        Ok(confirmed.sequence)
    }

    /// What is too large stays so until an operator allows more; for everything else a retry may
    /// help.
    fn failed(&self, link: &Link, error: &PublishError, bytes: usize) -> Outcome {
        if is_too_large(error) {
            let error = format!(
                "subject `{}` does not take a message of {bytes} bytes: allow more in the server's max_payload or its stream's max_msg_size, then retry the task",
                self.subject
            );
            return Outcome::GiveUp { error };
        }
        self.again(&format!("publish: {}", link.describe(error.to_string())))
    }

    fn again(&self, why: &str) -> Outcome {
        Outcome::Retry {
            error: format!("{why} (subject `{}`)", self.subject),
            retry_after: None,
        }
    }
}

#[async_trait]
impl EventPublisher for NatsEventPublisher {
    async fn publish(&self, event: &CloudEvent) -> Outcome {
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
