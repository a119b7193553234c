//! How long to wait for what does not answer.

use almanack_core::backoff::{Backoff, next_wait};
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::Ports;

/// Waits grow to half a minute: an outage ends unannounced, and by then many messages wait.
const BACKOFF: Backoff = Backoff {
    base: SignedDuration::from_millis(250),
    cap: SignedDuration::from_secs(30),
    retry_after_cap: SignedDuration::ZERO,
};

/// Counts failures in a row.
#[derive(Debug, Default)]
pub(crate) struct WaitBackoff {
    failures: u32,
}

impl WaitBackoff {
    pub(crate) fn renew(&mut self) {
        self.failures = 0;
    }

    /// When to try again after one more failure.
    pub(crate) fn next(&mut self, ports: &Ports) -> Timestamp {
        self.failures = self.failures.saturating_add(1);
        let wait = next_wait(&BACKOFF, self.failures, None, ports.entropy.next_u64());
        let now = ports.clock.now();
        now.saturating_add(wait).unwrap_or(now)
    }
}

/// Waits; returns whether we were stopped meanwhile.
pub(crate) async fn is_stopped(ports: &Ports, until: Timestamp, stop: &CancellationToken) -> bool {
    let waited = stop.run_until_cancelled(ports.sleeper.until(until));
    waited.await.is_none()
}
