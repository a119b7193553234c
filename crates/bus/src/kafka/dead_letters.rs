//! Dead letters of Kafka: another topic, with the unchanged message and why it is there.

use almanack_core::event::incoming::envelope::Incoming;
use async_trait::async_trait;
use rdkafka::message::{Header, OwnedHeaders};

use super::{settings::Connection, topic::Topic};
use crate::{
    Error,
    batch::{CUT, DeadLetters, PLACE, REASON, Refusal},
};

/// Writes dead letters to a topic.
pub(crate) struct DeadLetterQueue(Topic);

impl DeadLetterQueue {
    pub(crate) fn new(connection: &Connection, topic: &str) -> Result<Self, Error> {
        let mut config = connection.producer();
        // One at a time, so that the broker's answer about its size is about that one.
        config.set("batch.num.messages", "1");
        Topic::open(config, topic).map(Self)
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
        let own = own.map(|(name, value)| (name.as_str(), value.as_slice()));
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
        let cut = cut.as_deref().map(|cut| (CUT, cut));
        let added = added.into_iter().chain(cut);
        let all = own.chain(added.map(|(name, value)| (name, value.as_bytes())));
        let headers = all.fold(OwnedHeaders::new(), |headers, (key, value)| {
            let value = Some(value);
            headers.insert(Header { key, value })
        });
        let written = self.0.write(message.key.as_deref(), headers, &message.body);
        written.await.map(drop)
    }
}

/// Partition and offset of a position. A topic's name has neither of the two signs.
fn partition_and_offset(place: &str) -> (&str, &str) {
    let within = place.rsplit_once('/').map_or("", |(_, within)| within);
    within.split_once('@').unwrap_or(("", ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kafka::topic::place;

    #[test]
    fn a_position_reads_back_as_written() {
        assert_eq!(partition_and_offset(&place("a.b-c_d", 3, 17)), ("3", "17"));
    }
}
