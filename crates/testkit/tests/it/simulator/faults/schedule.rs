//! Schedules on that way. The planner's calls meet what every other call meets; what only people and
//! checkers ask for arrives untouched.

use almanack_core::{
    plan::{Edit, Schedule, ScheduleId, ScheduleName, ScheduleWrite, Slot},
    store::{Applied, DueSchedules, LedgerPage, Page, Result, ScheduleFilter, ScheduleStore},
};
use async_trait::async_trait;
use jiff::Timestamp;

use super::FaultyStore;

#[async_trait]
impl ScheduleStore for FaultyStore {
    async fn load_due_schedules(&self, now: Timestamp, limit: usize) -> Result<DueSchedules> {
        self.call("load_due_schedules", move |store| {
            Box::pin(async move { store.load_due_schedules(now, limit).await })
        })
        .await
    }
    async fn load_schedules(&self, names: &[ScheduleName]) -> Result<Vec<Option<Schedule>>> {
        let names = names.to_vec();
        self.call("load_schedules", |store| {
            Box::pin(async move { store.load_schedules(&names).await })
        })
        .await
    }
    async fn list_schedules(
        &self,
        filter: &ScheduleFilter,
    ) -> Result<Page<Schedule, ScheduleName>> {
        let filter = filter.clone();
        self.call("list_schedules", |store| {
            Box::pin(async move { store.list_schedules(&filter).await })
        })
        .await
    }
    async fn write_schedules(&self, writes: Vec<ScheduleWrite>) -> Result<Vec<Applied>> {
        self.call("write_schedules", |store| {
            Box::pin(async move { store.write_schedules(writes).await })
        })
        .await
    }
    async fn load_slots(&self, id: ScheduleId, page: LedgerPage) -> Result<Vec<Slot>> {
        self.below.load_slots(id, page).await
    }
    async fn load_edits(&self, id: ScheduleId, limit: usize) -> Result<Vec<Edit>> {
        self.below.load_edits(id, limit).await
    }
    async fn load_decided_ahead(
        &self,
        after: Timestamp,
        limit: usize,
    ) -> Result<Vec<ScheduleName>> {
        self.below.load_decided_ahead(after, limit).await
    }
    async fn prune_slots(&self, before: Timestamp, limit: usize) -> Result<usize> {
        self.call("prune_slots", move |store| {
            Box::pin(async move { store.prune_slots(before, limit).await })
        })
        .await
    }
}
