//! A topic that is written to.
//!
//! Written means that every replica in sync has the message.

use std::{sync::Mutex, time::Duration};

use almanack_core::locked;

use rdkafka::{
    ClientConfig,
    error::{KafkaError, RDKafkaErrorCode},
    message::OwnedHeaders,
    producer::{FutureProducer, FutureRecord, Producer as _},
    util::Timeout,
};

use super::{connection::created, context::Writing};
use crate::{Error, batch::Refusal};

/// How long a message may wait for room in the client before that counts as a failure.
const ROOM_WITHIN: Timeout = Timeout::After(Duration::from_secs(5));

pub(super) struct Topic {
    config: ClientConfig,
    producer: Mutex<FutureProducer<Writing>>,
    writing: Writing,
    pub(super) name: String,
}

impl Topic {
    /// Makes the client; it connects by itself, whenever the cluster is there.
    pub(super) fn open(config: ClientConfig, name: &str) -> Result<Self, Error> {
        let writing = Writing::default();
        let producer = created(config.create_with_context(writing.clone()))?;
        Ok(Self {
            config,
            producer: Mutex::new(producer),
            writing,
            name: name.to_owned(),
        })
    }

    /// Returns the message's position.
    pub(super) async fn write(
        &self,
        key: Option<&[u8]>,
        headers: OwnedHeaders,
        body: &[u8],
    ) -> Result<String, Refusal> {
        let producer = self.producer();
        let producer = producer.map_err(|error| Refusal::NotNow(error.to_string()))?;
        let record = FutureRecord::to(&self.name).payload(body).headers(headers);
        let sent = producer.send(FutureRecord { key, ..record }, ROOM_WITHIN);
        let at = sent.await.map_err(|(error, _)| self.refusal(&error))?;
        self.writing.relieve();
        Ok(place(&self.name, at.partition, at.offset))
    }

    /// The client to write with: a new one where the last has failed for good, since it would
    /// refuse everything from then on.
    fn producer(&self) -> Result<FutureProducer<Writing>, Error> {
        let mut held = locked(&self.producer);
        if let Some((code, why)) = held.client().fatal_error() {
            tracing::warn!(events.bus = "kafka", events.topic = %self.name, error = format!("{code}: {why}"), "the client failed for good; starting a new one");
            *held = created(self.config.create_with_context(self.writing.clone()))?;
        }
        Ok(held.clone())
    }

    fn refusal(&self, error: &KafkaError) -> Refusal {
        let (name, why) = (&self.name, self.writing.describe(error));
        let why = format!("write to topic `{name}`: {why}");
        match error.rdkafka_error_code() {
            Some(RDKafkaErrorCode::MessageSizeTooLarge | RDKafkaErrorCode::InvalidMessageSize) => {
                Refusal::TooLarge(why)
            }
            _ => Refusal::NotNow(why),
        }
    }
}

/// A message's position: `articles/3@17`.
pub(super) fn place(topic: &str, partition: i32, offset: i64) -> String {
    format!("{topic}/{partition}@{offset}")
}
