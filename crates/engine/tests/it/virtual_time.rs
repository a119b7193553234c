//! Time that passes only while all tasks wait: the runtime's own, paused.

use std::time::Duration;

use almanack_core::time::{Clock, Sleeper, to_micros};
use async_trait::async_trait;
use jiff::Timestamp;
use tokio::time::Instant;

/// Counts from a fixed instant.
#[derive(Clone, Copy)]
pub(crate) struct VirtualTime {
    started: Instant,
}

impl VirtualTime {
    pub(crate) fn start() -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "the paused runtime's clock, not the machine's"
        )]
        let started = Instant::now();
        Self { started }
    }
}

impl Clock for VirtualTime {
    fn now(&self) -> Timestamp {
        let begin = Timestamp::from_second(1_767_600_000).unwrap();
        to_micros(begin + self.started.elapsed())
    }
}

#[async_trait]
impl Sleeper for VirtualTime {
    async fn until(&self, at: Timestamp) {
        while let Ok(left) = Duration::try_from(at.duration_since(self.now())) {
            if left.is_zero() {
                return;
            }
            pause(left).await;
        }
    }
}

/// Lets virtual time pass.
pub(crate) async fn pause(period: Duration) {
    #[expect(
        clippy::disallowed_methods,
        reason = "the paused runtime's time, not the machine's"
    )]
    tokio::time::sleep(period).await;
}
