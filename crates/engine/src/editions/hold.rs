//! Leases: a run extends its lease on an edition while it works, and owns it only while the lease
//! holds.
//!
//! A node that dies stops saying so, and another takes over within a lease, however long the work
//! itself may take.

use almanack_core::edition::{Account, EditionId, account::Change};
use jiff::Timestamp;

use super::{Editions, Error};
use crate::wake::later;

impl Editions {
    /// Extends a lease with every beat, until another run has it: from then on the work would be
    /// lost. A failed extension is retried even after the lease has expired: it may still be free.
    pub(super) async fn hold(
        &self,
        id: EditionId,
        extend: impl Fn(&Account, Timestamp) -> Option<(Change, Timestamp)> + Send + Sync,
    ) {
        loop {
            match self.beat(id, &extend).await {
                Ok(Some(_)) => {}
                Ok(None) => return,
                Err(error) => not_extended(id, &error),
            }
        }
    }

    /// The same for what must not be done twice: also until the lease cannot be trusted any more.
    pub(super) async fn hold_strictly(
        &self,
        id: EditionId,
        mut lease_until: Timestamp,
        extend: impl Fn(&Account, Timestamp, Timestamp) -> Option<(Change, Timestamp)> + Send + Sync,
    ) {
        let rules = &self.settings.rules;
        loop {
            let held = lease_until;
            let beat = self.beat(id, |account, now| extend(account, held, now));
            let extended = tokio::select! {
                biased;
                extended = beat => extended,
                () = self.sleeper.until(rules.trusted(lease_until)) => return,
            };
            match extended {
                Ok(Some(until)) => lease_until = until,
                Ok(None) => return,
                Err(error) => not_extended(id, &error),
            }
        }
    }

    /// Waits for the next beat and extends a lease; nothing if another run has it.
    async fn beat(
        &self,
        id: EditionId,
        extend: impl Fn(&Account, Timestamp) -> Option<(Change, Timestamp)> + Send,
    ) -> Result<Option<Timestamp>, Error> {
        let next = later(self.clock.now(), self.settings.rules.beat());
        self.sleeper.until(next).await;
        let extended = self.turn(id, extend).await?;
        Ok(extended.map(|(_, until)| until))
    }
}

fn not_extended(id: EditionId, error: &Error) {
    tracing::warn!(edition.id = %id, error = error.chain(), "could not extend a lease");
}
