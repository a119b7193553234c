//! Events out to a Kafka topic.
//!
//! Done means that every replica in sync has the message. Events about one subject share a key and
//! thereby a partition, so that they are read in the order they were written.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use almanack_core::{
    event::outgoing::{CloudEvent, EventPublisher, Mode, Written},
    finish::Outcome,
};
use async_trait::async_trait;
use rdkafka::{
    error::{KafkaError, RDKafkaErrorCode},
    message::{Header, OwnedHeaders},
    producer::{FutureProducer, FutureRecord, Producer as _},
    util::Timeout,
};

use super::{connection::created, context::Writing, settings::Connection};
use crate::Error;

const ROOM_WITHIN: Timeout = Timeout::After(Duration::from_secs(5));

/// Publishes events to a topic.
pub struct KafkaEventPublisher {
    connection: Connection,
    producer: Mutex<FutureProducer<Writing>>,
    writing: Writing,
    topic: String,
    mode: Mode,
}

impl KafkaEventPublisher {
    /// Makes the client; it connects by itself, whenever the cluster is there.
    pub fn new(connection: &Connection, topic: &str, mode: Mode) -> Result<Self, Error> {
        let writing = Writing::default();
        Ok(Self {
            connection: connection.clone(),
            producer: Mutex::new(connect(connection, &writing)?),
            writing,
            topic: topic.to_owned(),
            mode,
        })
    }

    /// The client to write with: a new one where the last has failed for good, since it would
    /// refuse everything from then on.
    fn producer(&self) -> Result<FutureProducer<Writing>, Error> {
        let mut held = self.producer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((code, why)) = held.client().fatal_error() {
            tracing::warn!(events.bus = "kafka", events.topic = %self.topic, error = format!("{code}: {why}"), "the client failed for good; starting a new one");
            *held = connect(&self.connection, &self.writing)?;
        }
        Ok(held.clone())
    }

    /// What is too large stays so until an operator allows more; for everything else a retry may
    /// help.
    fn failed(&self, error: &KafkaError, bytes: usize) -> Outcome {
        let topic = &self.topic;
        if error.rdkafka_error_code() == Some(RDKafkaErrorCode::MessageSizeTooLarge) {
            let error = format!(
                "topic `{topic}` does not take a message of {bytes} bytes: allow more in its max.message.bytes, then retry the task"
            );
            return Outcome::GiveUp { error };
        }
        again(format!(
            "write to topic `{topic}`: {}",
            self.writing.describe(error)
        ))
    }
}

#[async_trait]
impl EventPublisher for KafkaEventPublisher {
    async fn publish(&self, event: &CloudEvent) -> Outcome {
        let written = match event.written(self.mode) {
            Ok(written) => written,
            Err(error) => {
                let error = error.to_string();
                return Outcome::GiveUp { error };
            }
        };
        let record = FutureRecord::to(&self.topic)
            .key(&event.subject)
            .payload(&written.body)
            .headers(headers(&written));
        let producer = match self.producer() {
            Ok(producer) => producer,
            Err(error) => return again(error.to_string()),
        };
        match producer.send(record, ROOM_WITHIN).await {
            Ok(at) => {
                self.writing.relieve();
                Outcome::Done {
                    detail: Some(format!("{}/{}@{}", self.topic, at.partition, at.offset)),
                }
            }
            Err((error, _)) => self.failed(&error, written.body.len()),
        }
    }
}

fn connect(connection: &Connection, writing: &Writing) -> Result<FutureProducer<Writing>, Error> {
    let mut config = connection.producer();
    // The broker decides how large is too large.
    config.set("message.max.bytes", "1000000000");
    created(config.create_with_context(writing.clone()))
}

fn again(error: String) -> Outcome {
    Outcome::Retry {
        error,
        retry_after: None,
    }
}

fn headers(written: &Written) -> OwnedHeaders {
    let kind = Header {
        key: "content-type",
        value: Some(&written.content_type),
    };
    written.attributes.iter().fold(
        OwnedHeaders::new().insert(kind),
        |headers, (name, value)| {
            let key = &name.replacen('-', "_", 1);
            let value = Some(value);
            headers.insert(Header { key, value })
        },
    )
}
