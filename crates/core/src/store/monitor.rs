//! The store's side of monitors: what was heard of jobs that others run.

use async_trait::async_trait;

use super::{Page, Result};
use crate::plan::{Monitor, Ping, Schedule, ScheduleId, ScheduleName};

/// A key by which jobs and readers of badges name a monitor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MonitorKey {
    /// The hash of the secret that pings are sent under.
    Ping(String),
    /// What its badge is shown under; everybody may know it.
    Badge(String),
}

/// The keys of a monitor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MonitorKeys {
    /// The hash of the secret that pings are sent under, if it has one.
    pub ping_hash: Option<String>,
    /// What its badge is shown under, if it is.
    pub badge: Option<String>,
}

/// Monitors and their pings. Their rows are written by
/// [`write_schedules`](super::ScheduleStore::write_schedules), together with the schedule's.
#[async_trait]
pub trait MonitorStore: Send + Sync {
    /// What was heard of each, in the order asked; `None` of what is no monitor.
    async fn load_monitors(&self, ids: &[ScheduleId]) -> Result<Vec<Option<Monitor>>>;

    /// A page of schedules that are or were monitors, oldest first, without removed ones.
    async fn list_monitors(
        &self,
        after: ScheduleId,
        limit: usize,
    ) -> Result<Page<Schedule, ScheduleId>>;

    /// The schedule that a key names; removed ones too. One look at an index: anyone may ask.
    async fn find_monitor(&self, key: &MonitorKey) -> Result<Option<ScheduleName>>;

    /// The keys of a monitor.
    async fn load_monitor_keys(&self, id: ScheduleId) -> Result<MonitorKeys>;

    /// Gives a monitor these keys, in place of those it has. `false` if one of them is another's,
    /// or there is no such monitor; then nothing is changed.
    async fn save_monitor_keys(&self, id: ScheduleId, keys: &MonitorKeys) -> Result<bool>;

    /// Monitors that are down, longest first, at most `limit`. The cost grows with what it answers.
    async fn load_down_monitors(&self, limit: usize) -> Result<Vec<ScheduleName>>;

    /// Pings of a monitor numbered below `before`, newest first, at most `limit`.
    async fn load_pings(&self, id: ScheduleId, before: u64, limit: usize) -> Result<Vec<Ping>>;
}
