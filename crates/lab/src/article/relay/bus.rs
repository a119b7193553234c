//! Events to Almanack over a message bus instead of HTTP.
//!
//! The service then does not know Almanack: an event leaves the outbox when the bus has confirmed
//! it, and is never refused. Almanack's history or its dead letters show the result.

#[cfg(not(feature = "kafka"))]
#[path = "bus/absent.rs"]
mod kafka;
#[cfg(feature = "kafka")]
mod kafka;

use async_nats::{HeaderMap, header::NATS_MESSAGE_ID, jetstream};
use futures_util::future::join_all;
use tokio::sync::OnceCell;

use self::kafka::Producer;
use super::{Item, Waiting};

const CONTENT_TYPE: &str = "application/cloudevents+json";

/// A message bus that events are sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bus {
    /// A topic of a Kafka cluster.
    Kafka {
        /// Its brokers, `host:port`, separated by commas.
        brokers: String,
        topic: String,
    },
    /// A subject that a stream of a NATS server stores.
    Nats {
        /// The server: `nats://127.0.0.1:4222`.
        server: String,
        subject: String,
    },
}

impl Bus {
    /// The destination of events, for people.
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
    producer: Producer,
    context: OnceCell<jetstream::Context>,
}

impl Sender {
    pub(in crate::article) fn new(bus: Bus) -> Self {
        Self {
            bus,
            producer: Producer::new(),
            context: OnceCell::new(),
        }
    }

    pub(super) async fn send(&self, waiting: &[Waiting]) -> Vec<Item> {
        let sent = join_all(waiting.iter().map(|row| self.send_one(row))).await;
        let items = sent.into_iter();
        items
            .map(|sent| sent.map_or_else(Item::Later, |()| Item::Taken))
            .collect()
    }

    async fn send_one(&self, row: &Waiting) -> Result<(), String> {
        match &self.bus {
            Bus::Kafka { brokers, topic } => self.producer.send(brokers, topic, row).await,
            Bus::Nats { server, subject } => self.to_nats(server, subject, row).await,
        }
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
