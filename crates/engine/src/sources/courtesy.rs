//! Counts what checks ask of hosts, and writes what this node has counted (SS-26).
//!
//! Requests are counted by the HTTP client; what only the check's handler knows is counted here:
//! whether the publisher had asked to wait, whether that was kept, and checks that were deferred.

use almanack_core::{
    source::{
        Source,
        check::{Look, Unchanged},
        courtesy::{self, Counts, Courtesy, Day, KEPT_DAYS, RequestedWaits},
    },
    store::{self, Store},
};
use jiff::Timestamp;

/// Rows written at once.
const BATCH: usize = 500;

/// Counts a look at a source that began at `now`.
pub(super) fn count(courtesy: &Courtesy, source: &Source, look: &Look, now: Timestamp) {
    let Some(host) = courtesy::host_of(&source.definition.address) else {
        return;
    };
    courtesy.count(&host, now, &counts(source, look, now));
}

fn counts(source: &Source, look: &Look, now: Timestamp) -> Counts {
    let requested = match look {
        Look::Wait(_) => {
            return Counts {
                waited: 1,
                ..Counts::default()
            };
        }
        Look::Document(document) => RequestedWaits::of_hints(&document.hints),
        Look::Unchanged(Unchanged { hints, .. }) => RequestedWaits::of_hints(hints),
        Look::Failed(failure) => failure
            .retry_after
            .map_or_else(RequestedWaits::default, RequestedWaits::of_wait),
    };
    let keeps = courtesy::keeps(source, now);
    Counts {
        asked: keeps.is_some().into(),
        kept: (keeps == Some(true)).into(),
        requested,
        ..Counts::default()
    }
}

/// Writes what was counted; what could not be written is counted on.
pub(super) async fn write(courtesy: &Courtesy, store: &dyn Store) -> Result<(), store::Error> {
    let counted = courtesy.take();
    let mut left = counted.as_slice();
    while !left.is_empty() {
        let (batch, rest) = left.split_at(left.len().min(BATCH));
        if let Err(error) = store.add_courtesy(batch.to_vec()).await {
            courtesy.give_back(left);
            return Err(error);
        }
        left = rest;
    }
    Ok(())
}

/// Deletes days that are old.
pub(super) async fn prune(store: &dyn Store, now: Timestamp) -> Result<(), store::Error> {
    let before = Day::of(now).back(KEPT_DAYS);
    store.prune_courtesy(before).await.map(drop)
}
