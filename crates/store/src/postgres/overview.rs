//! What pages look at, on PostgreSQL.

use almanack_core::{
    history::creation,
    store::{
        Activity, ActivityFilter, ClaimLine, OverviewStore, Result, SlotLine, StatusCount,
        TaskLine, TaskSearch,
    },
    task::{Kind, Status},
};
use async_trait::async_trait;
use jiff::Timestamp;
use tokio_postgres::types::ToSql;

use super::PostgresStore;
use crate::{
    activity,
    overview::{self, Latest, newest, part, reach, soonest},
    row::{self, micros, most, nearest, readable},
};

/// How many claims' tasks are looked up in one round trip.
const CLAIMS_AT_ONCE: usize = 200;

#[async_trait]
impl OverviewStore for PostgresStore {
    async fn search_tasks(&self, search: &TaskSearch) -> Result<Vec<TaskLine>> {
        let parameters: [&(dyn ToSql + Sync); 7] = [
            &most(search.among),
            &search.kind.as_ref().map(Kind::as_str),
            &search.status.map(Status::as_str),
            &part(search.containing.as_deref()),
            &part(search.saying.as_deref()),
            &search.before.map_or(i64::MAX, |id| id.0),
            &most(search.limit),
        ];
        self.lines("search tasks", overview::SEARCH_POSTGRES, &parameters)
            .await
    }

    async fn count_found(&self, search: &TaskSearch) -> Result<u64> {
        let parameters: [&(dyn ToSql + Sync); 5] = [
            &most(search.among),
            &search.kind.as_ref().map(Kind::as_str),
            &search.status.map(Status::as_str),
            &part(search.containing.as_deref()),
            &part(search.saying.as_deref()),
        ];
        let rows = self
            .rows("count tasks", overview::COUNT_POSTGRES, &parameters)
            .await?;
        let found: i64 = rows.first().map_or(0, |row| row.get(0));
        Ok(u64::try_from(found).unwrap_or(0))
    }

    async fn count_statuses(&self, among: usize) -> Result<Vec<StatusCount>> {
        let rows = self
            .rows("count statuses", overview::COUNT_STATUSES, &[&most(among)])
            .await?;
        let counts = rows.iter().map(row::status_count);
        let counts = counts.filter_map(|count| readable("task", count));
        let mut counts: Vec<StatusCount> = counts.collect();
        counts.sort_by_key(|count| count.status);
        Ok(counts)
    }

    async fn load_finished(
        &self,
        from: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<TaskLine>> {
        let name = "load finished tasks";
        let (from, until) = (micros(from), micros(until));
        let mut latest = Latest::new(limit);
        let lately = self
            .lines(name, overview::ENDED_POSTGRES, &[&from, &until])
            .await?;
        latest.add(lately);
        let asked: [&(dyn ToSql + Sync); 2] = [&from, &overview::PAST_CLAIMS_MAX];
        let past = self.rows(name, overview::PAST_CLAIMS, &asked).await?;
        for claims in past.chunks(CLAIMS_AT_ONCE) {
            let lease_until = claims.first().map_or(0, |claim| claim.get(1));
            if !latest.has_room(nearest(lease_until)) {
                break;
            }
            let ids: Vec<i64> = claims.iter().map(|claim| claim.get(0)).collect();
            let parameters: [&(dyn ToSql + Sync); 3] = [&from, &until, &ids];
            let ended = self.lines(name, overview::ENDED_PAST_POSTGRES, &parameters);
            latest.add(ended.await?);
        }
        Ok(latest.into_lines())
    }

    async fn load_upcoming(&self, until: Timestamp, limit: usize) -> Result<Vec<TaskLine>> {
        let name = "load upcoming tasks";
        let mut found = Vec::new();
        for lane in self.rows(name, overview::LANES, &[]).await? {
            let (kind, priority): (String, i32) = (lane.get(0), lane.get(1));
            let parameters: [&(dyn ToSql + Sync); 4] =
                [&kind, &priority, &micros(until), &most(limit)];
            found.extend(self.lines(name, overview::UPCOMING, &parameters).await?);
        }
        Ok(soonest(found, limit))
    }

    async fn load_running(&self, limit: usize) -> Result<Vec<TaskLine>> {
        self.lines(
            "load running tasks",
            overview::RUNNING_POSTGRES,
            &[&most(limit)],
        )
        .await
    }

    async fn load_claims(&self, limit: usize) -> Result<Vec<ClaimLine>> {
        let rows = self
            .rows("load claims", overview::CLAIMS_POSTGRES, &[&most(limit)])
            .await?;
        let claims = rows.iter().map(row::claim_line);
        Ok(claims
            .filter_map(|claim| readable("claim", claim))
            .collect())
    }

    async fn load_slots_between(
        &self,
        from: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<SlotLine>> {
        let parameters: [&(dyn ToSql + Sync); 3] = [&micros(from), &micros(until), &most(limit)];
        let rows = self
            .rows("load slots", overview::SLOTS_BETWEEN, &parameters)
            .await?;
        let slots = rows.iter().map(row::slot_line);
        Ok(slots.filter_map(|slot| readable("slot", slot)).collect())
    }

    async fn load_activity(&self, filter: &ActivityFilter) -> Result<Vec<Activity>> {
        let mut found = self.task_activity(filter).await?;
        if filter.kind.is_none() {
            found.extend(self.schedule_activity(filter).await?);
        }
        Ok(newest(found, filter))
    }
}

impl PostgresStore {
    async fn lines(
        &self,
        name: &'static str,
        text: &str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<TaskLine>> {
        let rows = self.rows(name, text, parameters).await?;
        Ok(rows.iter().filter_map(row::shown_line).collect())
    }

    /// Creations and changes of tasks.
    async fn task_activity(&self, filter: &ActivityFilter) -> Result<Vec<Activity>> {
        let parameters: [&(dyn ToSql + Sync); 7] = [
            &most(filter.among),
            &filter.after.map_or(i64::MAX, |cursor| micros(cursor.at)),
            &part(filter.by.as_deref()),
            &i64::from(filter.by_people),
            &part(filter.containing.as_deref()),
            &filter.kind.as_ref().map(Kind::as_str),
            &most(reach(filter)),
        ];
        let changes = self
            .rows("load decisions", activity::CHANGES_POSTGRES, &parameters)
            .await?;
        let created = self
            .rows("load new tasks", activity::CREATIONS_POSTGRES, &parameters)
            .await?;
        let creations = created.iter().filter_map(row::shown_task);
        let creations = creations.map(|task| Activity::Task {
            decision: creation(&task),
            identity: task.identity,
        });
        let changes = changes.iter().map(row::change);
        let changes = changes.filter_map(|change| readable("decision", change));
        Ok(changes.chain(creations).collect())
    }

    /// What people did to schedules.
    async fn schedule_activity(&self, filter: &ActivityFilter) -> Result<Vec<Activity>> {
        let parameters: [&(dyn ToSql + Sync); 6] = [
            &most(filter.among),
            &filter.after.map_or(i64::MAX, |cursor| micros(cursor.at)),
            &part(filter.by.as_deref()),
            &i64::from(filter.by_people),
            &part(filter.containing.as_deref()),
            &most(reach(filter)),
        ];
        let rows = self
            .rows("load edits", activity::EDITS_POSTGRES, &parameters)
            .await?;
        let edits = rows.iter().map(row::schedule_edit);
        Ok(edits
            .filter_map(|edit| readable("schedule_edit", edit))
            .collect())
    }
}
