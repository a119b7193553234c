//! Events to Almanack over a message bus instead of HTTP.
//!
//! The service then knows nothing of Almanack: an event has left the outbox when the bus has confirmed it, and nobody refuses
//! it. What Almanack makes of it stands in Almanack's history, or among its dead letters.

use std::time::Duration;

use async_nats::{HeaderMap, header::NATS_MESSAGE_ID, jetstream};
use futures_util::future::join_all;
use rdkafka::{
    ClientConfig,
    message::{Header, OwnedHeaders},
    producer::{FutureProducer, FutureRecord},
    util::Timeout,
};
use serde_json::Value;
use tokio::sync::OnceCell;

use super::{Item, Verdict, Waiting};

const CONTENT_TYPE: &str = "application/cloudevents+json";
const ROOM_WITHIN: Timeout = Timeout::After(Duration::from_secs(5));

/// A message bus that events are sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bus {
    /// A topic of a Kafka cluster.
    Kafka {
        /// Its brokers, `host:port`, separated by commas.
        brokers: String,
        /// The topic.
        topic: String,
    },
    /// A subject that a stream of a NATS server keeps.
    Nats {
        /// The server: `nats://127.0.0.1:4222`.
        server: String,
        /// The subject.
        subject: String,
    },
}

impl Bus {
    /// Where events go, for people.
    pub fn place(&self) -> String {
        match self {
            Self::Kafka { brokers, topic } => format!("Kafka topic {topic} at {brokers}"),
            Self::Nats { server, subject } => format!("NATS subject {subject} at {server}"),
        }
    }
}

/// Sends to a bus; connects with the first event.
pub(in crate::article) struct Sender {
    bus: Bus,
    producer: OnceCell<FutureProducer>,
    context: OnceCell<jetstream::Context>,
}

impl Sender {
    pub(in crate::article) fn new(bus: Bus) -> Self {
        Self {
            bus,
            producer: OnceCell::new(),
            context: OnceCell::new(),
        }
    }

    pub(super) async fn send(&self, waiting: &[Waiting]) -> Verdict {
        let sent = join_all(waiting.iter().map(|row| self.send_one(row))).await;
        let items = sent.into_iter().map(|sent| match sent {
            Ok(()) => Item::Taken,
            Err(reason) => Item::Later(reason),
        });
        Verdict::Each(items.collect())
    }

    async fn send_one(&self, row: &Waiting) -> Result<(), String> {
        match &self.bus {
            Bus::Kafka { brokers, topic } => self.to_kafka(brokers, topic, row).await,
            Bus::Nats { server, subject } => self.to_nats(server, subject, row).await,
        }
    }

    async fn to_kafka(&self, brokers: &str, topic: &str, row: &Waiting) -> Result<(), String> {
        let connecting = async || {
            let mut config = ClientConfig::new();
            config.set("bootstrap.servers", brokers);
            config.set("enable.idempotence", "true");
            config.set("message.timeout.ms", "10000");
            config.create()
        };
        let producer = self.producer.get_or_try_init(connecting).await;
        let producer: &FutureProducer = producer.map_err(|error| error.to_string())?;
        let key = subject_of(&row.event);
        let headers = OwnedHeaders::new().insert(Header {
            key: "content-type",
            value: Some(CONTENT_TYPE),
        });
        let record = FutureRecord::to(topic).key(&key).payload(&row.event);
        let sent = producer.send(record.headers(headers), ROOM_WITHIN).await;
        sent.map(drop).map_err(|(error, _)| error.to_string())
    }

    async fn to_nats(&self, server: &str, subject: &str, row: &Waiting) -> Result<(), String> {
        let connecting = async || {
            let client = async_nats::connect(server).await;
            client
                .map(jetstream::new)
                .map_err(|error| error.to_string())
        };
        let context = self.context.get_or_try_init(connecting).await?;
        let mut headers = HeaderMap::new();
        headers.insert("content-type", CONTENT_TYPE);
        headers.insert(NATS_MESSAGE_ID, row.event_id.as_str());
        let body = row.event.clone().into();
        let sent = context.publish_with_headers(subject.to_owned(), headers, body);
        let confirmed = sent.await.map_err(|error| error.to_string())?;
        confirmed.await.map(drop).map_err(|error| error.to_string())
    }
}

/// Events about one article share a key, so that they keep their order.
fn subject_of(event: &str) -> String {
    let event: Option<Value> = serde_json::from_str(event).ok();
    let subject = event
        .as_ref()
        .and_then(|event| event.get("subject")?.as_str());
    subject.unwrap_or_default().to_owned()
}
