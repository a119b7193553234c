//! Sends events to a topic with librdkafka.

use std::time::Duration;

use rdkafka::{
    ClientConfig,
    message::{Header, OwnedHeaders},
    producer::{FutureProducer, FutureRecord},
    util::Timeout,
};
use serde_json::Value;
use tokio::sync::OnceCell;

use super::{CONTENT_TYPE, Waiting};

const ROOM_WITHIN: Timeout = Timeout::After(Duration::from_secs(5));

/// Connects with the first event.
pub(super) struct Producer(OnceCell<FutureProducer>);

impl Producer {
    pub(super) fn new() -> Self {
        Self(OnceCell::new())
    }

    pub(super) async fn send(
        &self,
        brokers: &str,
        topic: &str,
        row: &Waiting,
    ) -> Result<(), String> {
        let connecting = async || {
            let mut config = ClientConfig::new();
            config.set("bootstrap.servers", brokers);
            config.set("enable.idempotence", "true");
            config.set("message.timeout.ms", "10000");
            config.create()
        };
        let producer = self.0.get_or_try_init(connecting).await;
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
}

/// Events about one article share a key, so that they keep their order.
fn subject_of(event: &str) -> String {
    let event: Option<Value> = serde_json::from_str(event).ok();
    let subject = event
        .as_ref()
        .and_then(|event| event.get("subject")?.as_str());
    subject.unwrap_or_default().to_owned()
}
