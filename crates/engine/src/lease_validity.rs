//! How long a node's leases are valid, as the node itself knows.
//!
//! The keeper extends the node's claims with one heartbeat; what that heartbeat proved about the
//! node is kept here for the runner to see, and what it proved about each claim in the book of
//! claims. INVARIANT: validity is counted from *before* the heartbeat was sent, so a slow answer
//! shortens it.

use jiff::Timestamp;
use tokio::sync::watch;

/// Shared between the keeper, who proves it, and the runner, who needs it.
#[derive(Debug)]
pub struct LeaseValidity {
    until: watch::Sender<Timestamp>,
}

impl Default for LeaseValidity {
    fn default() -> Self {
        Self {
            until: watch::Sender::new(Timestamp::MIN),
        }
    }
}

impl LeaseValidity {
    /// A heartbeat succeeded: claims are good until `until`.
    pub fn extend(&self, until: Timestamp) {
        self.until.send_if_modified(|current| {
            let later = until > *current;
            *current = until.max(*current);
            later
        });
    }

    /// Until when the node may act on its claims.
    pub fn until(&self) -> Timestamp {
        *self.until.borrow()
    }

    /// To be notified when it is extended.
    pub fn watch(&self) -> watch::Receiver<Timestamp> {
        self.until.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_only_grows() {
        let lease_validity = LeaseValidity::default();
        let at = |second| Timestamp::from_second(second).unwrap();
        lease_validity.extend(at(20));
        lease_validity.extend(at(10));
        assert_eq!(
            lease_validity.until(),
            at(20),
            "an answer that arrives late must not shorten it again"
        );
    }
}
