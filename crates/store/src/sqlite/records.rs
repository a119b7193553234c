//! Looking things up on SQLite, and forgetting them.

use almanack_core::{
    store::{Depth, Page, Pruned, Records, Result, TaskFilter},
    task::{Identity, Kind, Status, Task, TaskId},
};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params, params};

use crate::{
    claim, history,
    row::{self, examined, micros, most, nearest, one_more, readable},
    sqlite::{SqliteStore, thread::Outcome},
    task,
};

impl SqliteStore {
    pub(super) async fn task(&self, id: TaskId) -> Result<Option<Task>> {
        self.read("load task", move |connection| {
            let mut statement = connection.prepare_cached(task::LOAD)?;
            let mut rows = statement.query([id.0])?;
            Ok(rows.next()?.and_then(row::shown_task))
        })
        .await
    }

    pub(super) async fn page(&self, filter: &TaskFilter) -> Result<Page<Task, TaskId>> {
        let filter = filter.clone();
        self.read("list tasks", move |connection| {
            let before = filter.before.map_or(i64::MAX, |id| id.0);
            let to = if filter.is_empty() {
                None
            } else {
                let parameters = [before, examined(filter.among)];
                examined_to(connection, task::EXAMINED_TO, parameters)?
            };
            let mut statement = connection.prepare_cached(task::LIST_SQLITE)?;
            let mut rows = statement.query(params![
                before,
                to.unwrap_or(0),
                filter.kind.as_ref().map(Kind::as_str),
                filter.status.map(Status::as_str),
                filter.subject_prefix,
                one_more(filter.limit),
            ])?;
            let mut tasks = Vec::new();
            while let Some(row) = rows.next()? {
                tasks.push((TaskId(row.get(0)?), row::shown_task(row)));
            }
            let page = Page::cut(tasks, filter.limit, to.map(TaskId), |(id, _)| *id);
            Ok(page.filter_map(|(_, task)| task))
        })
        .await
    }

    pub(super) async fn records(&self, identity: &Identity) -> Result<Records> {
        let identity = identity.clone();
        self.read("load history", move |connection| {
            let mut records = Records::default();
            let mut statement = connection.prepare_cached(task::LOAD_ALL)?;
            let key = (identity.subject.as_str(), identity.kind.as_str());
            let mut rows = statement.query(key)?;
            while let Some(row) = rows.next()? {
                let Some(task) = row::shown_task(row) else {
                    continue;
                };
                load_history(connection, task.id, &mut records)?;
                records.tasks.push(task);
            }
            Ok(records)
        })
        .await
    }

    pub(super) async fn depths(&self, now: Timestamp) -> Result<Vec<Depth>> {
        self.read("load depths", move |connection| {
            let mut lanes = connection.prepare_cached(claim::LANES)?;
            let mut depth = connection.prepare_cached(task::DEPTH)?;
            let mut rows = lanes.query([])?;
            let mut depths: Vec<Depth> = Vec::new();
            while let Some(row) = rows.next()? {
                let (kind, priority): (String, i32) = (row.get(0)?, row.get(1)?);
                let Ok(known) = Kind::parse(&kind) else {
                    continue;
                };
                let key = params![kind, priority, micros(now)];
                let counted = depth.query_row(key, |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get::<_, Option<i64>>(2)?))
                })?;
                let (waiting, due, oldest): (i64, i64, Option<i64>) = counted;
                let lane = Depth {
                    kind: known,
                    waiting: u64::try_from(waiting).unwrap_or(0),
                    due: u64::try_from(due).unwrap_or(0),
                    first_due_at: oldest.map(nearest),
                };
                crate::depth::add(&mut depths, lane);
            }
            Ok(depths)
        })
        .await
    }

    /// The walk reads beside the writer; only what goes is written.
    pub(super) async fn forget(
        &self,
        before: Timestamp,
        after: TaskId,
        limit: usize,
    ) -> Result<Pruned> {
        let walked = self
            .read("find old tasks", move |connection| {
                let mut statement = connection.prepare_cached(task::NEXT_ROWS)?;
                let rows = statement.query_map(params![after.0, most(limit)], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })?;
                Ok(rows.collect::<rusqlite::Result<Vec<(i64, i64)>>>()?)
            })
            .await?;
        let oldest = walked
            .iter()
            .map(|(_, created)| *created)
            .min()
            .map(nearest);
        let ids: Vec<i64> = walked.into_iter().map(|(id, _)| id).collect();
        let next = ids
            .last()
            .filter(|_| ids.len() == limit)
            .map(|id| TaskId(*id));
        let rows = self
            .write("prune", move |connection| {
                let gone = prune_rows(connection, &ids, before)?;
                let mut keys = connection.prepare_cached(history::PRUNE_ONCE)?;
                keys.execute(params![micros(before), most(limit)])?;
                Ok(gone)
            })
            .await?;
        Ok(Pruned { rows, next, oldest })
    }
}

/// Where a page stops at the latest; nowhere before the end, if there is nothing to stop at.
pub(super) fn examined_to(
    connection: &Connection,
    text: &str,
    parameters: impl Params,
) -> Outcome<Option<i64>> {
    let mut statement = connection.prepare_cached(text)?;
    let found = statement.query_row(parameters, |row| row.get(0));
    Ok(found.optional()?.flatten())
}

fn prune_rows(connection: &Connection, ids: &[i64], before: Timestamp) -> Outcome<usize> {
    let mut prune = connection.prepare_cached(task::PRUNE_SQLITE)?;
    let mut gone = 0;
    for id in ids {
        if prune.execute(params![id, micros(before)])? == 1 {
            gone += 1;
            for history in history::PRUNE_SQLITE {
                connection.prepare_cached(history)?.execute([id])?;
            }
        }
    }
    Ok(gone)
}

fn load_history(connection: &Connection, id: TaskId, records: &mut Records) -> Outcome<()> {
    let mut statement = connection.prepare_cached(history::LOAD_DECISIONS)?;
    let mut rows = statement.query([id.0])?;
    while let Some(row) = rows.next()? {
        let decision = readable("decision", row::decision(row));
        records.decisions.extend(decision);
    }
    let mut statement = connection.prepare_cached(history::LOAD_ATTEMPTS)?;
    let mut rows = statement.query([id.0])?;
    while let Some(row) = rows.next()? {
        let attempt = readable("attempt", row::attempt(row));
        records.attempts.extend(attempt);
    }
    Ok(())
}
