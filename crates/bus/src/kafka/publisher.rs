//! Events out to a Kafka topic.
//!
//! Events about one subject share a key and thereby a partition, so that they are read in the order
//! they were written.

use almanack_core::{
    event::outgoing::{CloudEvent, EventPublisher, Mode, Written},
    finish::Outcome,
};
use async_trait::async_trait;
use rdkafka::message::{Header, OwnedHeaders};

use super::{settings::Connection, topic::Topic};
use crate::Error;

/// Publishes events to a topic.
pub struct KafkaEventPublisher {
    topic: Topic,
    mode: Mode,
}

impl KafkaEventPublisher {
    /// Makes the client; it connects by itself, whenever the cluster is there.
    pub fn new(connection: &Connection, topic: &str, mode: Mode) -> Result<Self, Error> {
        let topic = Topic::open(connection.producer(), topic)?;
        Ok(Self { topic, mode })
    }

    /// Returns the message's position, or the outcome of the attempt.
    async fn send(&self, event: &CloudEvent) -> Result<String, Outcome> {
        let written = event.written(self.mode);
        let written = written.map_err(|error| Outcome::give_up(error.to_string()))?;
        let (key, body) = (event.subject.as_bytes(), written.body.as_bytes());
        let sent = self.topic.write(Some(key), headers(&written), body).await;
        sent.map_err(|refusal| {
            refusal.outcome(|| {
                format!(
                    "topic `{}` does not take a message of {} bytes: allow more in its max.message.bytes, then retry the task",
                    self.topic.name,
                    body.len()
                )
            })
        })
    }
}

#[async_trait]
impl EventPublisher for KafkaEventPublisher {
    async fn publish(&self, event: &CloudEvent) -> Outcome {
        match self.send(event).await {
            Ok(place) => Outcome::done(place),
            Err(outcome) => outcome,
        }
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
