//! The store's side of schedules.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{Applied, Page, Result};
use crate::plan::{
    Edit, FiredByHand, Origin, Schedule, ScheduleId, ScheduleName, ScheduleWrite, Slot,
};

/// What the planner must look at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DueSchedules {
    /// Those to look at now, longest due first.
    pub schedules: Vec<Schedule>,
    /// Stand-ins for those of them that cannot be read, parked with the reason. No node plans
    /// these: a newer version may be able to, or a person puts the row right.
    pub unreadable: Vec<Schedule>,
    /// When the next one after them is to be looked at; may have passed already.
    pub next_look_at: Option<Timestamp>,
}

/// Which schedules to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScheduleFilter {
    /// Only of this origin.
    pub origin: Option<Origin>,
    /// Only in this state, by its name.
    pub state: Option<String>,
    /// Also those that were removed.
    pub removed: bool,
    /// Only with this tag.
    pub tag: Option<String>,
    /// Only of this owner.
    pub owner: Option<String>,
    /// Only names after this: the cursor of the page before.
    pub after: Option<ScheduleName>,
    /// How many are examined at most; [`super::EXAMINED_MAX`] where nothing is said.
    pub among: Option<usize>,
    /// How many at most.
    pub limit: usize,
}

/// Which part of a ledger to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerPage {
    /// Only rows whose first slot is before this.
    pub before: Timestamp,
    /// How many at most, newest first.
    pub limit: usize,
}

/// Schedules and their ledgers.
#[async_trait]
pub trait ScheduleStore: Send + Sync {
    /// Schedules whose `look_at` has come, longest first, at most `limit`. The cost grows with what
    /// it answers, never with how many schedules exist.
    async fn load_due_schedules(&self, now: Timestamp, limit: usize) -> Result<DueSchedules>;

    /// Schedules by name, in the order asked; removed ones too.
    async fn load_schedules(&self, names: &[ScheduleName]) -> Result<Vec<Option<Schedule>>>;

    /// A page of schedules, by name. The cost is that of those examined, never that of all there
    /// are. One that cannot be read is shown as parked, with the reason.
    async fn list_schedules(&self, filter: &ScheduleFilter)
    -> Result<Page<Schedule, ScheduleName>>;

    /// Carries out each write for itself and whole: the row, its ledger rows, its firings, its
    /// edit. One whose `seen` version is no longer the row's, whose name is taken, or whose
    /// cancelled task has moved on, is `Lost` and changes nothing. `Done` reports no inserted row.
    ///
    /// A firing that becomes due soon gives a hint like any other task; so does a `look_at`.
    async fn write_schedules(&self, writes: Vec<ScheduleWrite>) -> Result<Vec<Applied>>;

    /// Rows of a ledger, newest first.
    async fn load_slots(&self, id: ScheduleId, page: LedgerPage) -> Result<Vec<Slot>>;

    /// Firings of a schedule that people asked for, at `from` or later, newest first, as a page of
    /// its ledger. The cost is that of the schedule's firings in that time.
    async fn load_fired_by_hand(
        &self,
        name: &ScheduleName,
        from: Timestamp,
        page: LedgerPage,
    ) -> Result<Vec<FiredByHand>>;

    /// What people did to a schedule, oldest first, the newest `limit` of it.
    async fn load_edits(&self, id: ScheduleId, limit: usize) -> Result<Vec<Edit>>;

    /// Names of schedules, at most `limit`, that have slots in their ledgers later than `after`:
    /// with `after` = now, those that were planned by a clock that was ahead.
    async fn load_decided_ahead(&self, after: Timestamp, limit: usize)
    -> Result<Vec<ScheduleName>>;

    /// Deletes up to `limit` ledger rows whose last slot is before `before`; returns how many.
    async fn prune_slots(&self, before: Timestamp, limit: usize) -> Result<usize>;
}
