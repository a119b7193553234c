//! In place of the client in a build that has none.

use super::Waiting;

pub(super) struct Producer;

impl Producer {
    pub(super) fn new() -> Self {
        Self
    }

    #[expect(clippy::unused_async, reason = "stands in for one that waits")]
    pub(super) async fn send(&self, _: &str, _: &str, _: &Waiting) -> Result<(), String> {
        Err("this build of Almanack has no Kafka client".to_owned())
    }
}
