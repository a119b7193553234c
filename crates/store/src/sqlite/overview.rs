//! What pages look at, on SQLite.

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
use rusqlite::{Connection, Params, params};

use crate::{
    activity,
    overview::{self, Latest, newest, part, reach, soonest},
    row::{self, micros, most, nearest, readable},
    sqlite::{SqliteStore, edition::listed, thread::Outcome},
};

#[async_trait]
impl OverviewStore for SqliteStore {
    async fn search_tasks(&self, search: &TaskSearch) -> Result<Vec<TaskLine>> {
        let search = search.clone();
        self.read("search tasks", move |connection| {
            let parameters = params![
                most(search.among),
                search.kind.as_ref().map(Kind::as_str),
                search.status.map(Status::as_str),
                part(search.containing.as_deref()),
                part(search.saying.as_deref()),
                search.before.map_or(i64::MAX, |id| id.0),
                most(search.limit),
            ];
            lines(connection, overview::SEARCH_SQLITE, parameters)
        })
        .await
    }

    async fn count_found(&self, search: &TaskSearch) -> Result<u64> {
        let search = search.clone();
        self.read("count tasks", move |connection| {
            let parameters = params![
                most(search.among),
                search.kind.as_ref().map(Kind::as_str),
                search.status.map(Status::as_str),
                part(search.containing.as_deref()),
                part(search.saying.as_deref()),
            ];
            let mut statement = connection.prepare_cached(overview::COUNT_SQLITE)?;
            let found: i64 = statement.query_row(parameters, |row| row.get(0))?;
            Ok(u64::try_from(found).unwrap_or(0))
        })
        .await
    }

    async fn count_statuses(&self, among: usize) -> Result<Vec<StatusCount>> {
        self.read("count statuses", move |connection| {
            let text = overview::COUNT_STATUSES;
            let mut counts = listed(connection, text, [most(among)], |found| {
                readable("task", row::status_count(found))
            })?;
            counts.sort_by_key(|count| count.status);
            Ok(counts)
        })
        .await
    }

    async fn load_finished(
        &self,
        from: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<TaskLine>> {
        self.read("load finished tasks", move |connection| {
            let (from, until) = (micros(from), micros(until));
            let mut latest = Latest::new(limit);
            latest.add(lines(connection, overview::ENDED_SQLITE, [from, until])?);
            let mut past = connection.prepare_cached(overview::PAST_CLAIMS)?;
            let mut past = past.query([from, overview::PAST_CLAIMS_MAX])?;
            while let Some(claim) = past.next()? {
                let (id, lease_until): (i64, i64) = (claim.get(0)?, claim.get(1)?);
                if !latest.has_room(nearest(lease_until)) {
                    break;
                }
                let parameters = [from, until, id];
                latest.add(lines(connection, overview::ENDED_PAST_SQLITE, parameters)?);
            }
            Ok(latest.into_lines())
        })
        .await
    }

    async fn load_upcoming(&self, until: Timestamp, limit: usize) -> Result<Vec<TaskLine>> {
        self.read("load upcoming tasks", move |connection| {
            let mut lanes = connection.prepare_cached(overview::LANES)?;
            let mut waiting = lanes.query([])?;
            let mut found = Vec::new();
            while let Some(row) = waiting.next()? {
                let (kind, priority): (String, i32) = (row.get(0)?, row.get(1)?);
                let parameters = params![kind, priority, micros(until), most(limit)];
                found.extend(lines(connection, overview::UPCOMING, parameters)?);
            }
            Ok(soonest(found, limit))
        })
        .await
    }

    async fn load_running(&self, limit: usize) -> Result<Vec<TaskLine>> {
        self.read("load running tasks", move |connection| {
            lines(connection, overview::RUNNING_SQLITE, [most(limit)])
        })
        .await
    }

    async fn load_claims(&self, limit: usize) -> Result<Vec<ClaimLine>> {
        self.read("load claims", move |connection| {
            let text = overview::CLAIMS_SQLITE;
            listed(connection, text, [most(limit)], |found| {
                readable("claim", row::claim_line(found))
            })
        })
        .await
    }

    async fn load_slots_between(
        &self,
        from: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<SlotLine>> {
        self.read("load slots", move |connection| {
            let parameters = [micros(from), micros(until), most(limit)];
            listed(connection, overview::SLOTS_BETWEEN, parameters, |found| {
                readable("slot", row::slot_line(found))
            })
        })
        .await
    }

    async fn load_activity(&self, filter: &ActivityFilter) -> Result<Vec<Activity>> {
        let filter = filter.clone();
        self.read("load activity", move |connection| {
            // What one transaction reads is of one moment, whatever is written beside it.
            let moment = connection.unchecked_transaction()?;
            let mut found = task_activity(&moment, &filter)?;
            if filter.kind.is_none() {
                found.extend(schedule_activity(&moment, &filter)?);
            }
            moment.finish()?;
            Ok(newest(found, &filter))
        })
        .await
    }
}

/// Creations and changes of tasks.
fn task_activity(connection: &Connection, filter: &ActivityFilter) -> Outcome<Vec<Activity>> {
    let (by, about) = (
        part(filter.by.as_deref()),
        part(filter.containing.as_deref()),
    );
    let parameters = params![
        most(filter.among),
        filter.after.map_or(i64::MAX, |cursor| micros(cursor.at)),
        by,
        filter.by_people,
        about,
        filter.kind.as_ref().map(Kind::as_str),
        most(reach(filter)),
    ];
    let mut found = listed(connection, activity::CHANGES_SQLITE, parameters, |found| {
        readable("decision", row::change(found))
    })?;
    let created = listed(
        connection,
        activity::CREATIONS_SQLITE,
        parameters,
        |found| row::shown_task(found),
    )?;
    found.extend(created.into_iter().map(|task| Activity::Task {
        decision: creation(&task),
        identity: task.identity,
    }));
    Ok(found)
}

/// What people did to schedules.
fn schedule_activity(connection: &Connection, filter: &ActivityFilter) -> Outcome<Vec<Activity>> {
    let parameters = params![
        most(filter.among),
        filter.after.map_or(i64::MAX, |cursor| micros(cursor.at)),
        part(filter.by.as_deref()),
        filter.by_people,
        part(filter.containing.as_deref()),
        most(reach(filter)),
    ];
    listed(connection, activity::EDITS_SQLITE, parameters, |found| {
        readable("schedule_edit", row::schedule_edit(found))
    })
}

fn lines(connection: &Connection, text: &str, parameters: impl Params) -> Outcome<Vec<TaskLine>> {
    listed(connection, text, parameters, |found| row::shown_line(found))
}
