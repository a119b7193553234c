//! Replaces the client in a build without one. A configuration with Kafka is refused before any of
//! this is called.

use almanack_core::{
    event::outgoing::{CloudEvent, EventPublisher, Mode},
    finish::Outcome,
};
use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::settings::{Connection, Settings};
use crate::{Error, Ports};

pub struct Consumer;

impl Consumer {
    /// Same signature as the real client.
    pub fn new(_: Settings, _: Ports) -> Self {
        Self
    }

    /// Logs why, and ends.
    #[expect(clippy::unused_async, reason = "same signature as the real client")]
    pub async fn run(self, _: CancellationToken) {
        tracing::error!(events.bus = "kafka", "{}", Error::NotBuilt);
    }
}

pub enum KafkaEventPublisher {}

impl KafkaEventPublisher {
    pub fn new(_: &Connection, _: &str, _: Mode) -> Result<Self, Error> {
        Err(Error::NotBuilt)
    }
}

#[async_trait]
impl EventPublisher for KafkaEventPublisher {
    async fn publish(&self, _: &CloudEvent) -> Outcome {
        match *self {}
    }
}

pub async fn look(_: &Connection, _: &[&str]) -> Result<Vec<String>, Error> {
    Err(Error::NotBuilt)
}
