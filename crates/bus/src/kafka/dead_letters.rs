//! Dead letters of Kafka: another topic, with the unchanged message and why it is there.

use std::time::Duration;

use almanack_core::event::incoming::envelope::Incoming;
use async_trait::async_trait;
use rdkafka::{
    ClientConfig,
    error::{KafkaError, RDKafkaErrorCode},
    message::{Header, OwnedHeaders},
    producer::{FutureProducer, FutureRecord, Producer as _},
    util::Timeout,
};

use super::{connection::created, context::Writing, settings::Connection};
use crate::{
    Error,
    batch::{CUT, DeadLetters, REASON, Refusal},
};

/// A message's original position, so that it can be found and compared.
const PLACE: &str = "almanack-place";
/// How long a message may wait for room in the client before that counts as a failure.
const ROOM_WITHIN: Timeout = Timeout::After(Duration::from_secs(5));

/// Writes dead letters to a topic.
pub(crate) struct DeadLetterQueue {
    producer: FutureProducer<Writing>,
    writing: Writing,
    topic: String,
}

impl DeadLetterQueue {
    pub(crate) fn new(connection: &Connection, topic: &str) -> Result<Self, Error> {
        let writing = Writing::default();
        Ok(Self {
            producer: created(settings(connection).create_with_context(writing.clone()))?,
            writing,
            topic: topic.to_owned(),
        })
    }
}

impl DeadLetterQueue {
    /// Why no letter can be written any more with this client, if so: only another one helps.
    pub(crate) fn broken(&self) -> Option<String> {
        let error = self.producer.client().fatal_error();
        error.map(|(code, why)| format!("write dead letters: {code}: {why}"))
    }

    fn refusal(&self, error: &KafkaError) -> Refusal {
        let why = format!(
            "write to topic `{}`: {}",
            self.topic,
            self.writing.describe(error)
        );
        match error.rdkafka_error_code() {
            Some(RDKafkaErrorCode::MessageSizeTooLarge | RDKafkaErrorCode::InvalidMessageSize) => {
                Refusal::TooLarge(why)
            }
            _ => Refusal::NotNow(why),
        }
    }
}

#[async_trait]
impl DeadLetters for DeadLetterQueue {
    async fn bury(
        &self,
        message: &Incoming,
        reason: &str,
        cut: Option<usize>,
    ) -> Result<(), Refusal> {
        let own = message.headers.iter();
        let headers = own.fold(OwnedHeaders::new(), |headers, (name, value)| {
            headers.insert(Header {
                key: name,
                value: Some(value),
            })
        });
        let (topic, place) = (message.channel.as_str(), message.place.as_str());
        let (partition, offset) = partition_and_offset(place);
        let added = [
            (REASON, reason),
            (PLACE, place),
            ("almanack-topic", topic),
            ("almanack-partition", partition),
            ("almanack-offset", offset),
        ];
        let cut = cut.map(|bytes| bytes.to_string());
        let added = added
            .into_iter()
            .chain(cut.as_deref().map(|cut| (CUT, cut)));
        let headers = added.fold(headers, |headers, (key, value)| {
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
        sent.map_err(|(error, _)| self.refusal(&error))?;
        self.writing.relieve();
        Ok(())
    }
}

/// A letter is as large as the message was, and more by its headers; the broker decides how large
/// is too large. One at a time, so that its answer is about that one.
fn settings(connection: &Connection) -> ClientConfig {
    let mut config = connection.producer();
    config.set("message.max.bytes", "1000000000");
    config.set("batch.num.messages", "1");
    config
}

/// A message's position: `articles/3@17`.
pub(super) fn place(topic: &str, partition: i32, offset: i64) -> String {
    format!("{topic}/{partition}@{offset}")
}

/// Partition and offset of a position. A topic's name has neither of the two signs.
fn partition_and_offset(place: &str) -> (&str, &str) {
    let within = place.rsplit_once('/').map_or("", |(_, within)| within);
    within.split_once('@').unwrap_or(("", ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_reads_back_as_written() {
        assert_eq!(partition_and_offset(&place("a.b-c_d", 3, 17)), ("3", "17"));
    }
}
