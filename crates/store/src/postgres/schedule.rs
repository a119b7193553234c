//! Schedules on PostgreSQL: looking them up.

use almanack_core::{
    plan::{Edit, Origin, Schedule, ScheduleId, ScheduleName, Slot},
    store::{DueSchedules, LedgerPage, Page, Result, ScheduleFilter},
};
use jiff::Timestamp;
use tokio_postgres::types::ToSql;

use super::PostgresStore;
use crate::{
    row::{self, examined, micros, most, one_more, readable},
    schedule::{self, DueRow},
};

/// Where the position stands: behind the columns of a schedule.
const POSITION: usize = 18;

impl PostgresStore {
    pub(super) async fn due(&self, now: Timestamp, limit: usize) -> Result<DueSchedules> {
        let one_more = most(limit.saturating_add(1));
        let parameters: [&(dyn ToSql + Sync); 2] = [&micros(now), &one_more];
        let rows = self
            .rows("load due schedules", schedule::LOAD_DUE, &parameters)
            .await?;
        let found = rows.iter().map(DueRow::read).collect::<Result<_>>()?;
        Ok(schedule::due(found, now, limit))
    }

    pub(super) async fn named(&self, names: &[ScheduleName]) -> Result<Vec<Option<Schedule>>> {
        let asked: Vec<&str> = names.iter().map(ScheduleName::as_str).collect();
        let rows = self
            .rows("load schedules", schedule::LOAD_POSTGRES, &[&asked])
            .await?;
        let mut found: Vec<Option<Schedule>> = names.iter().map(|_| None).collect();
        for row in rows {
            let position = usize::try_from(row.get::<_, i64>(POSITION)).unwrap_or(0);
            if let Some(place) = found.get_mut(position.wrapping_sub(1)) {
                *place = row::shown_schedule(&row);
            }
        }
        Ok(found)
    }

    pub(super) async fn schedules(
        &self,
        filter: &ScheduleFilter,
    ) -> Result<Page<Schedule, ScheduleName>> {
        let (name, after) = ("list schedules", schedule::after(filter));
        let parameters: [&(dyn ToSql + Sync); 2] = [&after, &examined(filter.among)];
        let to = self.rows(name, schedule::EXAMINED_TO, &parameters).await?;
        let to: Option<&str> = to.first().map(|row| row.get(0));
        let parameters: [&(dyn ToSql + Sync); 6] = [
            &after,
            &to.unwrap_or(schedule::END),
            &filter.origin.map(Origin::as_str),
            &filter.state,
            &i64::from(schedule::with_removed(filter)),
            &one_more(filter.limit),
        ];
        let rows = self.rows(name, schedule::LIST, &parameters).await?;
        let found = rows.iter().filter_map(row::shown_schedule).collect();
        schedule::page(found, filter.limit, to)
    }

    pub(super) async fn ledger(&self, id: ScheduleId, page: LedgerPage) -> Result<Vec<Slot>> {
        let parameters: [&(dyn ToSql + Sync); 3] = [&id.0, &micros(page.before), &most(page.limit)];
        let rows = self
            .rows("load ledger", schedule::LOAD_SLOTS, &parameters)
            .await?;
        let slots = rows.iter().map(row::slot);
        Ok(slots.filter_map(|slot| readable("slot", slot)).collect())
    }

    pub(super) async fn edits(&self, id: ScheduleId, limit: usize) -> Result<Vec<Edit>> {
        let parameters: [&(dyn ToSql + Sync); 2] = [&id.0, &most(limit)];
        let rows = self
            .rows("load edits", schedule::LOAD_EDITS, &parameters)
            .await?;
        let edits = rows.iter().rev().map(row::edit);
        Ok(edits
            .filter_map(|edit| readable("schedule_edit", edit))
            .collect())
    }

    pub(super) async fn decided_ahead(
        &self,
        after: Timestamp,
        limit: usize,
    ) -> Result<Vec<ScheduleName>> {
        let parameters: [&(dyn ToSql + Sync); 2] = [&micros(after), &most(limit)];
        let name = "load schedules decided ahead";
        let rows = self
            .rows(name, schedule::DECIDED_AHEAD, &parameters)
            .await?;
        let names = rows.iter().map(row::schedule_name);
        Ok(names
            .filter_map(|name| readable("schedule", name))
            .collect())
    }

    pub(super) async fn forget_slots(&self, before: Timestamp, limit: usize) -> Result<usize> {
        let parameters: [&(dyn ToSql + Sync); 2] = [&micros(before), &most(limit)];
        let gone = self
            .execute("prune ledger", schedule::PRUNE_SLOTS_POSTGRES, &parameters)
            .await?;
        Ok(usize::try_from(gone).unwrap_or(usize::MAX))
    }
}
