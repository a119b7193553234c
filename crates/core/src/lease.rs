//! Leases: at most one node tries a task at a time.
//!
//! The database decides who holds a claim and until when. To a node its claim is valid only until
//! `claim started + ttl − margin`, so a slow reply shortens the lease validity and never extends
//! it. A paused node may still *believe* it holds the lease; safety therefore rests on the task's
//! term: every write under a claim shows it, and the store refuses any but the newest.

use jiff::{SignedDuration, Timestamp};

use crate::time::LATEST;

/// How long claims hold, and how long a node treats them as valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeasePolicy {
    /// How long a claim holds after its last heartbeat.
    pub ttl: SignedDuration,
    /// How much earlier it ends for the holder itself; covers clock drift and slow disks.
    pub margin: SignedDuration,
    /// How often the holder extends it.
    pub beat: SignedDuration,
}

impl Default for LeasePolicy {
    fn default() -> Self {
        Self {
            ttl: SignedDuration::from_secs(30),
            margin: SignedDuration::from_secs(5),
            beat: SignedDuration::from_secs(5),
        }
    }
}

impl LeasePolicy {
    /// Until when the database keeps others away from a claim requested at `asked_at`.
    pub fn lease_until(&self, asked_at: Timestamp) -> Timestamp {
        asked_at.saturating_add(self.ttl).unwrap_or(LATEST)
    }

    /// Until when the holder itself may act on a claim it requested at `asked_at`.
    pub fn valid_until(&self, asked_at: Timestamp) -> Timestamp {
        asked_at
            .saturating_add(self.ttl - self.margin)
            .unwrap_or(LATEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rs_07_a_holder_stops_trusting_itself_before_the_database_lets_others_in() {
        let policy = LeasePolicy::default();
        let asked_at = Timestamp::UNIX_EPOCH;
        assert!(policy.valid_until(asked_at) < policy.lease_until(asked_at));
        assert!(
            policy.beat * 3 < policy.ttl,
            "two lost heartbeats must not lose the lease"
        );
    }
}
