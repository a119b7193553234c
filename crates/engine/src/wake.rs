//! When a sleeping duty wakes.

use almanack_core::store::Nudges;
use jiff::{SignedDuration, Timestamp};

/// Waits for a hint that is worth waking up for.
pub(crate) async fn earlier_hint(nudges: &mut dyn Nudges, wake_at: Timestamp) {
    while nudges.next().await >= wake_at {}
}

/// An instant so much later, as far as instants go.
pub(crate) fn later(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.saturating_add(by).unwrap_or(Timestamp::MAX)
}
