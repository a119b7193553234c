//! The runner's side of limits across nodes: permits are taken before a claim, and returned when
//! not needed.

use std::collections::BTreeMap;

use almanack_core::{
    store,
    task::{ClaimedTask, Kind},
    time::Clock,
};
use jiff::Timestamp;

use super::Shift;
use crate::permits::Requester;

impl Shift<'_> {
    /// How many more of each kind that is limited in all this node could run.
    pub(super) fn wanted(&self, slots: usize) -> BTreeMap<Kind, usize> {
        let room = |kind: &Kind| self.room(kind).map_or(slots, |room| room.min(slots));
        let kinds = self.holdings.permits.kinds();
        kinds.map(|kind| (kind.clone(), room(kind))).collect()
    }

    /// Takes permits of kinds that are limited across nodes; returns how many of each.
    pub(super) async fn take_places(
        &mut self,
        wanted: &BTreeMap<Kind, usize>,
        now: Timestamp,
    ) -> store::Result<BTreeMap<Kind, usize>> {
        if wanted.is_empty() {
            return Ok(BTreeMap::new());
        }
        let (ports, permits) = (self.ports, self.holdings.permits.clone());
        let (session, lease) = (self.identity.session.clone(), self.lease);
        let wanted = wanted.clone();
        let taking = async move {
            let (session, lease) = (session.as_str(), &lease);
            let requester = Requester { session, lease };
            permits
                .take(ports.store.as_ref(), requester, &wanted, now)
                .await
        };
        self.watching(Box::pin(taking)).await
    }

    /// Others may wait for permits that are not needed here, so the database is updated at once,
    /// unless the next claim, which says the same, is due anyway. If it does not answer, the
    /// heartbeat reports it.
    pub(super) async fn return_places(&mut self, claim_at: Timestamp) {
        let now = self.ports.clock.now();
        if !self.holdings.permits.is_overstated() || claim_at <= now {
            return;
        }
        let (ports, permits) = (self.ports, self.holdings.permits.clone());
        let (session, lease) = (self.identity.session.clone(), self.lease);
        let saying = async move {
            let (session, lease) = (session.as_str(), &lease);
            let requester = Requester { session, lease };
            permits.keep(ports.store.as_ref(), requester, now).await
        };
        if let Err(error) = self.watching(Box::pin(saying)).await {
            tracing::warn!(
                error = error.chain(),
                "could not return permits; the heartbeat will"
            );
        }
    }
}

/// How many of each kind.
pub(super) fn count_by_kind<'a>(
    tasks: impl IntoIterator<Item = &'a ClaimedTask>,
) -> BTreeMap<Kind, usize> {
    let mut counts = BTreeMap::new();
    for task in tasks {
        *counts.entry(task.identity.kind.clone()).or_default() += 1;
    }
    counts
}
