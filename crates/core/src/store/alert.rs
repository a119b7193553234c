//! The store's side of alerts.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{Applied, Result};
use crate::alert::Alert;

/// Which alerts to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlertFilter {
    /// Besides those that last or wait to be sent, those that closed at or after this.
    pub closed_from: Timestamp,
    /// How many at most.
    pub limit: usize,
}

/// Alerts.
#[async_trait]
pub trait AlertStore: Send + Sync {
    /// Alerts, the one that opened last first; of one instant by rule and what they are about.
    async fn load_alerts(&self, filter: AlertFilter) -> Result<Vec<Alert>>;

    /// Writes all of them at once, each if its `version` is still the row's; the row's is one more
    /// afterwards. Version 0 writes a new one, or again one that is closed and has nothing left to
    /// send. `Lost` changes nothing: of several nodes that saw the same row one opens, closes or
    /// sends. `Done` reports no inserted row.
    async fn write_alerts(&self, alerts: Vec<Alert>) -> Result<Vec<Applied>>;

    /// Takes the right to send what waits to be sent by `now`, until `until`: at most `limit`
    /// alerts, the one that opened first first, as their rows are afterwards. One statement: of
    /// several nodes that ask at once one gets all of them, and people one message.
    async fn claim_alerts(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<Alert>>;

    /// Deletes up to `limit` alerts that closed before `before` and have nothing left to send;
    /// returns how many.
    async fn prune_alerts(&self, before: Timestamp, limit: usize) -> Result<usize>;
}
