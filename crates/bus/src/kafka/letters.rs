//! Dead letters of Kafka: another topic, with the message as it was and why it is there.

use std::time::Duration;

use almanack_core::event::incoming::Incoming;
use async_trait::async_trait;
use rdkafka::{
    message::{Header, OwnedHeaders},
    producer::{FutureProducer, FutureRecord},
    util::Timeout,
};

use super::{
    connection::{Connection, made, told},
    context::Writing,
};
use crate::{
    Error,
    batch::{DeadLetters, REASON},
};

/// Where a message stood, so that it can be found and compared.
const PLACE: &str = "almanack-place";
/// How long a message may wait for room in the client before that counts as a failure.
const ROOM_WITHIN: Timeout = Timeout::After(Duration::from_secs(5));

/// Writes dead letters to a topic.
pub(crate) struct Letters {
    producer: FutureProducer<Writing>,
    topic: String,
}

impl Letters {
    pub(crate) fn new(connection: &Connection, topic: &str) -> Result<Self, Error> {
        let producer = connection.producer().create_with_context(Writing);
        Ok(Self {
            producer: made(producer)?,
            topic: topic.to_owned(),
        })
    }
}

#[async_trait]
impl DeadLetters for Letters {
    async fn bury(&self, message: &Incoming, reason: &str) -> Result<(), String> {
        let own = message.headers.iter();
        let headers = own.fold(OwnedHeaders::new(), |headers, (name, value)| {
            headers.insert(Header {
                key: name,
                value: Some(value),
            })
        });
        let (topic, place) = (message.channel.as_str(), message.place.as_str());
        let (partition, offset) = apart(place);
        let added = [
            (REASON, reason),
            (PLACE, place),
            ("almanack-topic", topic),
            ("almanack-partition", partition),
            ("almanack-offset", offset),
        ];
        let headers = added.into_iter().fold(headers, |headers, (key, value)| {
            let value = Some(value);
            headers.insert(Header { key, value })
        });
        let mut record: FutureRecord<'_, [u8], [u8]> = FutureRecord::to(&self.topic)
            .payload(message.body.as_slice())
            .headers(headers);
        if let Some(key) = &message.key {
            record = record.key(key.as_slice());
        }
        let sent = self.producer.send(record, ROOM_WITHIN).await;
        let topic = &self.topic;
        sent.map(drop)
            .map_err(|(error, _)| format!("write to topic `{topic}`: {}", told(&error)))
    }
}

/// Where a message stands: `articles/3@17`.
pub(super) fn place(topic: &str, partition: i32, offset: i64) -> String {
    format!("{topic}/{partition}@{offset}")
}

/// Partition and offset of a place. A topic's name has neither of the two signs.
fn apart(place: &str) -> (&str, &str) {
    let within = place.rsplit_once('/').map_or("", |(_, within)| within);
    within.split_once('@').unwrap_or(("", ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_taken_apart_as_it_was_put_together() {
        assert_eq!(apart(&place("a.b-c_d", 3, 17)), ("3", "17"));
    }
}
