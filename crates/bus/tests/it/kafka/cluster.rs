//! A cluster, a writer, and members of a group.

use std::time::Duration;

use almanack_bus::{
    Ports,
    kafka::{CONFIRM_WITHIN, Connection, Consumer, Settings},
};
use almanack_core::event::incoming::envelope::Reading;
use rdkafka::{
    ClientConfig, Message, Offset,
    consumer::{BaseConsumer, Consumer as _, StreamConsumer},
    message::{Header, Headers as _, OwnedHeaders, OwnedMessage},
    mocking::MockCluster,
    producer::{DefaultProducerContext, FutureProducer, FutureRecord},
    util::Timeout,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::broker::Broker;
use crate::fixture::reading;

pub(crate) const TOPIC: &str = "articles";
pub(crate) const DEAD: &str = "articles.dead-letter";
const GROUP: &str = "almanack";
const PARTITIONS: i32 = 4;
/// The mock cluster takes as long, less a second, for every rebalance.
const SILENCE: Duration = Duration::from_secs(6);

pub(crate) struct Cluster {
    broker: Broker,
    producer: FutureProducer,
}

impl Cluster {
    pub(crate) fn new() -> Self {
        let broker = Broker::start(&[(TOPIC, PARTITIONS), (DEAD, 1)]);
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", broker.address());
        config.set("message.max.bytes", "4000000");
        let producer = config.create().unwrap();
        Self { broker, producer }
    }

    /// The one that fails on command.
    pub(crate) fn mock(&self) -> &MockCluster<'static, DefaultProducerContext> {
        self.broker.mock()
    }

    pub(crate) fn connection(&self) -> Connection {
        Connection {
            brokers: vec![self.broker.address()],
            tls: None,
            sasl: None,
            confirm_within: CONFIRM_WITHIN,
        }
    }

    /// Writes a message; returns its position.
    pub(crate) async fn write(
        &self,
        key: &str,
        body: &str,
        headers: &[(&str, &str)],
    ) -> (i32, i64) {
        let headers = headers
            .iter()
            .fold(OwnedHeaders::new(), |all, (key, value)| {
                let value = Some(*value);
                all.insert(Header { key, value })
            });
        let record = FutureRecord::to(TOPIC)
            .key(key)
            .payload(body)
            .headers(headers);
        let sent = self.producer.send(record, Timeout::Never).await;
        let at = sent.map_err(|(error, _)| error).unwrap();
        (at.partition, at.offset)
    }

    /// How many messages the group has behind it, over all partitions.
    pub(crate) async fn committed(&self) -> i64 {
        let mut config = self.client();
        config.set("group.id", GROUP);
        let asked = tokio::task::spawn_blocking(move || {
            let consumer: BaseConsumer = config.create().unwrap();
            let mut list = rdkafka::TopicPartitionList::new();
            list.add_partition_range(TOPIC, 0, PARTITIONS - 1);
            let committed = consumer.committed_offsets(list, Duration::from_secs(10));
            let elements = committed.unwrap();
            let elements = elements
                .elements()
                .into_iter()
                .map(|element| match element.offset() {
                    Offset::Offset(offset) => offset,
                    _ => 0,
                });
            elements.sum()
        });
        asked.await.unwrap()
    }

    /// The next dead letters, in order.
    pub(crate) async fn dead_letters(&self, many: usize) -> Vec<OwnedMessage> {
        self.read(DEAD, many).await
    }

    /// The first messages of a topic.
    pub(crate) async fn read(&self, topic: &str, many: usize) -> Vec<OwnedMessage> {
        let mut config = self.client();
        config.set("group.id", "reader");
        let consumer: StreamConsumer = config.create().unwrap();
        let mut list = rdkafka::TopicPartitionList::new();
        list.add_partition_offset(topic, 0, Offset::Beginning)
            .unwrap();
        consumer.assign(&list).unwrap();
        let mut read = Vec::new();
        while read.len() < many {
            let next = tokio::time::timeout(Duration::from_secs(30), consumer.recv()).await;
            read.push(next.expect("a message comes").unwrap().detach());
        }
        read
    }

    fn client(&self) -> ClientConfig {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", self.broker.address());
        config
    }
}

/// The text of a header.
pub(crate) fn header(message: &OwnedMessage, name: &str) -> String {
    let headers = message.headers().expect("it has headers");
    let mut headers = headers.iter();
    let header = headers.find(|header| header.key == name);
    let value = header.and_then(|header| header.value).unwrap_or_default();
    String::from_utf8_lossy(value).into_owned()
}

/// A consumer that runs.
pub(crate) struct Member {
    running: JoinHandle<()>,
    stop: CancellationToken,
}

impl Member {
    pub(crate) fn join(cluster: &Cluster, ports: Ports) -> Self {
        Self::reading(cluster.connection(), ports, reading())
    }

    pub(crate) fn reading(connection: Connection, ports: Ports, reading: Reading) -> Self {
        let settings = Settings {
            connection,
            topic: TOPIC.to_owned(),
            group: GROUP.to_owned(),
            dead_letter: DEAD.to_owned(),
            silence: SILENCE,
            reading,
        };
        let stop = CancellationToken::new();
        let consumer = Consumer::new(settings, ports);
        Self {
            running: tokio::spawn(consumer.run(stop.clone())),
            stop,
        }
    }

    pub(crate) async fn leave(self) {
        self.stop.cancel();
        self.running.await.unwrap();
    }

    /// Ends in the middle of whatever it does.
    pub(crate) async fn die(self) {
        self.running.abort();
        assert!(self.running.await.unwrap_err().is_cancelled());
    }
}
