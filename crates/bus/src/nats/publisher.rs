//! Events out to a NATS subject.
//!
//! Done means that a stream has the message. Its `Nats-Msg-Id` is the event's id, so a stream that
//! remembers ids keeps one of two.

use std::sync::Mutex;

use almanack_core::{
    event::outgoing::{CloudEvent, EventPublisher, Mode, Written},
    finish::Outcome,
    locked, percent,
};
use async_nats::{HeaderMap, header::NATS_MESSAGE_ID};
use async_trait::async_trait;
use futures_util::{
    FutureExt as _,
    future::{BoxFuture, Shared},
};

use super::connection::{Connection, Link};
use crate::batch::Refusal;

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
            let mut held = locked(&self.opening);
            if held.as_ref().is_some_and(|it| it.ptr_eq(&opening)) {
                *held = None;
            }
        }
        opened
    }

    fn opening(&self) -> Opening {
        let mut held = locked(&self.opening);
        let opening = held.get_or_insert_with(|| {
            let connection = self.connection.clone();
            let opening = async move { connection.open().await.map_err(|error| error.to_string()) };
            opening.boxed().shared()
        });
        opening.clone()
    }

    /// Returns the message's position, or the outcome of the attempt.
    async fn send(&self, event: &CloudEvent) -> Result<String, Outcome> {
        let written = event.written(self.mode);
        let written = written.map_err(|error| Outcome::give_up(error.to_string()))?;
        let (subject, bytes) = (&self.subject, written.body.len());
        let sent = match self.link().await {
            Ok(link) => {
                let headers = headers(&event.id, &written);
                link.publish(subject, headers, written.body.into()).await
            }
            Err(why) => Err(Refusal::NotNow(format!("publish to `{subject}`: {why}"))),
        };
        let number = sent.map_err(|refusal| {
            refusal.outcome(|| {
                format!(
                    "subject `{subject}` does not take a message of {bytes} bytes: allow more in the server's max_payload or its stream's max_msg_size, then retry the task"
                )
            })
        })?;
        Ok(format!("{subject}@{number}"))
    }
}

#[async_trait]
impl EventPublisher for NatsEventPublisher {
    async fn publish(&self, event: &CloudEvent) -> Outcome {
        match self.send(event).await {
            Ok(place) => Outcome::done(place),
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
