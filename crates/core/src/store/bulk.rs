//! Bulk changes, as a database keeps them.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{Applied, Page, Result};
use crate::{
    bulk::{Bulk, BulkId},
    reschedule::Change,
};

/// Bulk changes and their progress.
#[async_trait]
pub trait BulkStore: Send + Sync {
    /// Writes a bulk change and the task that carries it out, together; its number.
    async fn create_bulk(&self, bulk: &Bulk) -> Result<BulkId>;

    async fn load_bulk(&self, id: BulkId) -> Result<Option<Bulk>>;

    /// Bulk changes, newest first.
    async fn list_bulks(&self, before: Option<BulkId>, limit: usize) -> Result<Page<Bulk, BulkId>>;

    /// Carries out each change for itself and writes `bulk`, with the results counted
    /// ([`Bulk::settled`]), in one transaction: what a step changed and how far it got are known
    /// together or not at all. `None`, and nothing is written, if the stored one is not at
    /// `bulk.step` any more or has ended: another node was faster, or a person stopped it.
    async fn advance_bulk(
        &self,
        bulk: &Bulk,
        changes: Vec<Change>,
    ) -> Result<Option<(Bulk, Vec<Applied>)>>;

    /// Stops a bulk change that runs; whether it did.
    async fn cancel_bulk(&self, id: BulkId, by: &str, now: Timestamp) -> Result<bool>;

    /// Deletes up to `limit` that ended before `before`; returns how many.
    async fn prune_bulks(&self, before: Timestamp, limit: usize) -> Result<usize>;
}
