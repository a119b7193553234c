//! Looking things up on SQLite, and forgetting them.

use almanack_core::{
    history::Decision,
    store::{Depth, HistoryPage, Page, Pruned, Records, Result, TaskFilter},
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

    pub(super) async fn history(&self, identity: &Identity, page: HistoryPage) -> Result<Records> {
        let identity = identity.clone();
        self.read("load history", move |connection| {
            let mut wanted = history::Wanted::of(page);
            let mut lives = Vec::new();
            let mut statement = connection.prepare_cached(task::LOAD_LIVES)?;
            let key = (identity.subject.as_str(), identity.kind.as_str());
            let mut rows = statement.query(params![key.0, key.1, wanted.from(), wanted.rows()])?;
            while let Some(row) = rows.next()?
                && !wanted.is_full()
            {
                let Some(task) = row::shown_task(row) else {
                    continue;
                };
                let life = load_life(connection, task, &wanted)?;
                wanted.take(&life);
                lives.push(life);
            }
            Ok(history::records(lives))
        })
        .await
    }

    pub(super) async fn decisions(
        &self,
        id: TaskId,
        after: u32,
        limit: usize,
    ) -> Result<Vec<Decision>> {
        self.read("load decisions", move |connection| {
            let mut statement = connection.prepare_cached(history::LOAD_DECISIONS)?;
            let mut rows = statement.query(params![id.0, after, most(limit)])?;
            let mut decisions = Vec::new();
            while let Some(row) = rows.next()? {
                decisions.extend(readable("decision", row::decision(row)));
            }
            Ok(decisions)
        })
        .await
    }

    pub(super) async fn waiting_kinds(&self, limit: usize) -> Result<Vec<Kind>> {
        self.read("load waiting kinds", move |connection| {
            let mut statement = connection.prepare_cached(claim::KINDS)?;
            let kinds = statement.query_map([most(limit)], |row| row.get::<_, String>(0))?;
            let kinds = kinds.collect::<rusqlite::Result<Vec<String>>>()?;
            let kinds = kinds.iter().map(|kind| Kind::parse(kind));
            Ok(kinds.filter_map(std::result::Result::ok).collect())
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
                    Ok(Walked {
                        id: row.get(0)?,
                        created_at_us: row.get(1)?,
                        has_history: row.get(2)?,
                    })
                })?;
                Ok(rows.collect::<rusqlite::Result<Vec<Walked>>>()?)
            })
            .await?;
        let oldest = walked
            .iter()
            .map(|row| row.created_at_us)
            .min()
            .map(nearest);
        let next = walked
            .last()
            .filter(|_| walked.len() == limit)
            .map(|row| TaskId(row.id));
        let rows = self
            .write("prune", move |connection| {
                prune_rows(connection, &walked, before)
            })
            .await?;
        Ok(Pruned { rows, next, oldest })
    }

    pub(super) async fn forget_keys(&self, before: Timestamp, limit: usize) -> Result<usize> {
        self.write("prune idempotency keys", move |connection| {
            let mut keys = connection.prepare_cached(history::PRUNE_ONCE)?;
            Ok(keys.execute(params![micros(before), most(limit)])?)
        })
        .await
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

/// A row that the walk looked at.
struct Walked {
    id: i64,
    created_at_us: i64,
    has_history: bool,
}

fn prune_rows(connection: &Connection, walked: &[Walked], before: Timestamp) -> Outcome<usize> {
    let mut prune = connection.prepare_cached(task::PRUNE_SQLITE)?;
    let mut gone = 0;
    for row in walked {
        let key = params![row.id, micros(before)];
        if prune.execute(key)? == 1 {
            gone += 1;
            for history in history::PRUNE_SQLITE {
                connection.prepare_cached(history)?.execute([row.id])?;
            }
        } else if row.has_history {
            for history in history::FORGET_SQLITE {
                connection.prepare_cached(history)?.execute(key)?;
            }
        }
    }
    Ok(gone)
}

fn load_life(
    connection: &Connection,
    task: Task,
    wanted: &history::Wanted,
) -> Outcome<history::Life> {
    let (mut decisions, mut attempts) = (Vec::new(), Vec::new());
    let bounds = wanted.bounds(&task);
    let mut statement = connection.prepare_cached(history::LOAD_DECISIONS_BEFORE)?;
    let mut rows = statement.query(params![task.id.0, bounds.number, wanted.rows()])?;
    while let Some(row) = rows.next()? {
        decisions.extend(readable("decision", row::decision(row)));
    }
    let mut statement = connection.prepare_cached(history::LOAD_ATTEMPTS_BEFORE)?;
    let mut rows = statement.query(params![task.id.0, bounds.term, wanted.rows()])?;
    while let Some(row) = rows.next()? {
        attempts.extend(readable("attempt", row::attempt(row)));
    }
    Ok(history::Life {
        task,
        decisions,
        attempts,
    })
}
