//! Happenings out to a Kafka topic.
//!
//! Done means that every replica in sync has the message. Events about one subject share a key and thereby a partition, so that they are
//! read in the order they were written.

use std::time::Duration;

use almanack_core::{
    finish::Outcome,
    happening::{CloudEvent, Herald},
};
use async_trait::async_trait;
use rdkafka::{
    error::RDKafkaErrorCode,
    message::{Header, OwnedHeaders},
    producer::{FutureProducer, FutureRecord},
    util::Timeout,
};

use super::{
    connection::{Connection, made, told},
    context::Writing,
};
use crate::{Error, Mode};

const ROOM_WITHIN: Timeout = Timeout::After(Duration::from_secs(5));

/// Hands happenings over to a topic.
pub struct KafkaHerald {
    producer: FutureProducer<Writing>,
    topic: String,
    mode: Mode,
}

impl KafkaHerald {
    /// Makes the client; it connects by itself, whenever the cluster is there.
    pub fn new(connection: &Connection, topic: &str, mode: Mode) -> Result<Self, Error> {
        let producer = connection.producer().create_with_context(Writing);
        Ok(Self {
            producer: made(producer)?,
            topic: topic.to_owned(),
            mode,
        })
    }
}

#[async_trait]
impl Herald for KafkaHerald {
    async fn tell(&self, event: &CloudEvent) -> Outcome {
        let (headers, body) = match written(event, self.mode) {
            Ok(written) => written,
            Err(error) => return Outcome::GiveUp { error },
        };
        let record = FutureRecord::to(&self.topic)
            .key(&event.subject)
            .payload(&body)
            .headers(headers);
        match self.producer.send(record, ROOM_WITHIN).await {
            Ok(at) => Outcome::Done {
                detail: Some(format!("{}/{}@{}", self.topic, at.partition, at.offset)),
            },
            Err((error, _)) => {
                let told = format!("write to topic `{}`: {}", self.topic, told(&error));
                match error.rdkafka_error_code() {
                    Some(RDKafkaErrorCode::MessageSizeTooLarge) => Outcome::GiveUp { error: told },
                    _ => Outcome::Retry {
                        error: told,
                        retry_after: None,
                    },
                }
            }
        }
    }
}

fn written(event: &CloudEvent, mode: Mode) -> Result<(OwnedHeaders, String), String> {
    match mode {
        Mode::Structured => {
            let body = serde_json::to_string(event).map_err(|error| error.to_string())?;
            let kind = (
                "content-type",
                "application/cloudevents+json; charset=UTF-8",
            );
            Ok((headers(&[kind]), body))
        }
        Mode::Binary => {
            let time = event.time.to_string();
            let attributes = [
                ("ce_specversion", event.specversion.as_str()),
                ("ce_id", &event.id),
                ("ce_source", &event.source),
                ("ce_type", &event.r#type),
                ("ce_subject", &event.subject),
                ("ce_time", &time),
                ("content-type", &event.datacontenttype),
            ];
            Ok((headers(&attributes), event.data.get().to_owned()))
        }
    }
}

fn headers(pairs: &[(&str, &str)]) -> OwnedHeaders {
    pairs
        .iter()
        .fold(OwnedHeaders::new(), |headers, (key, value)| {
            let value = Some(*value);
            headers.insert(Header { key, value })
        })
}
