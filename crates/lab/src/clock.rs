//! The only place where the world reads the time and waits.
//!
//! Everything else takes a [`Clock`] or an instant, so that a test can set the time.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;

/// A source of the current time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

pub fn system() -> Clock {
    Arc::new(|| to_micros(read_system_clock()))
}

/// Cuts an instant to whole microseconds, the precision that the database keeps.
pub(crate) fn to_micros(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the world's one look at the machine's clock"
)]
fn read_system_clock() -> Timestamp {
    Timestamp::now()
}

/// Waits in real time.
#[expect(
    clippy::disallowed_methods,
    reason = "the world's one place that waits"
)]
pub(crate) async fn pause(wait: Duration) {
    tokio::time::sleep(wait).await;
}
