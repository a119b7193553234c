//! The store's side of the courtesy report (SS-26).

use async_trait::async_trait;

use super::Result;
use crate::source::courtesy::{Day, DayCounts, HostCounts, HostDay};

/// Which days and hosts to report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CourtesyQuery {
    /// The first day.
    pub from: Day,
    /// Only this host.
    pub host: Option<String>,
    /// How many hosts at most.
    pub limit: usize,
}

/// What was asked of hosts, a row per host and day.
#[async_trait]
pub trait CourtesyStore: Send + Sync {
    /// Adds counts to their days; the longest requested stay. One transaction, safe beside those of
    /// other nodes if the rows are in order. Not conditional: asked again after a lost reply it may
    /// count twice, which a report can bear.
    async fn add_courtesy(&self, days: Vec<HostDay>) -> Result<()>;

    /// The hosts, each over all the days: the most requests first. The cost is that of the days.
    async fn load_courtesy_hosts(&self, query: &CourtesyQuery) -> Result<Vec<HostCounts>>;

    /// The days, each over all the hosts: the newest first.
    async fn load_courtesy_days(&self, query: &CourtesyQuery) -> Result<Vec<DayCounts>>;

    /// Deletes the days before this; returns how many rows. The cost is that of what is deleted.
    async fn prune_courtesy(&self, before: Day) -> Result<usize>;
}
