//! Replaces the Kafka client in a build without it.

use super::Waiting;

pub(super) struct Producer;

impl Producer {
    pub(super) fn new() -> Self {
        Self
    }

    #[expect(clippy::unused_async, reason = "same signature as the Kafka client")]
    pub(super) async fn send(&self, _: &str, _: &str, _: &Waiting) -> Result<(), String> {
        Err("this build of Almanack has no Kafka client".to_owned())
    }
}
