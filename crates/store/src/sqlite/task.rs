//! Changes of intent on SQLite, and forgetting tasks.

use almanack_core::{
    history::{DECISIONS_KEPT, REPEATED_WITHIN},
    reschedule::{Amend, Change, Requested, Retagged},
    store::{Applied, AppliedOnce, OnceKey, Pruned, Result},
    task::{Identity, NewTask, Tags, Task, TaskId},
};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use crate::{
    database::Tasks,
    find, history,
    nudge::earliest_hint,
    row::{self, micros, most, nearest, small, unreadable, written},
    sqlite::{SAFETY_POLL, Sqlite, thread::Outcome},
    task,
};

impl Tasks for Sqlite {
    async fn load_current(&self, identities: &[Identity]) -> Result<Vec<Option<Task>>> {
        let identities = identities.to_vec();
        self.on_reader("load current tasks", move |connection| {
            let mut statement = connection.prepare_cached(task::LOAD_CURRENT_SQLITE)?;
            let load = |identity: &Identity| -> Outcome<Option<Task>> {
                let key = (identity.subject.as_str(), identity.kind.as_str());
                let mut rows = statement.query(key)?;
                Ok(rows.next()?.map(|row| row::task(&row.into())).transpose()?)
            };
            identities.iter().map(load).collect()
        })
        .await
    }

    async fn apply(&self, changes: Vec<Change>) -> Result<Vec<Applied>> {
        let hint = earliest_hint(&changes, SAFETY_POLL);
        let applied = self
            .on_writer("apply changes", move |connection| {
                changes
                    .iter()
                    .map(|change| apply(connection, change))
                    .collect::<Outcome<Vec<_>>>()
            })
            .await?;
        if let Some(due_at) = hint {
            self.nudger.nudge(due_at);
        }
        Ok(applied)
    }

    async fn apply_once(&self, key: OnceKey, changes: Vec<Change>) -> Result<AppliedOnce> {
        let hint = earliest_hint(&changes, SAFETY_POLL);
        let applied = self
            .on_writer("apply changes once", move |connection| {
                // Other jobs share the transaction: only our own part is undone when we lose.
                connection.execute_batch("savepoint once")?;
                let applied = apply_all_once(connection, &key, &changes)?;
                if !matches!(applied, AppliedOnce::Done(_)) {
                    connection.execute_batch("rollback to once")?;
                }
                connection.execute_batch("release once")?;
                Ok(applied)
            })
            .await?;
        if let (Some(due_at), AppliedOnce::Done(_)) = (hint, &applied) {
            self.nudger.nudge(due_at);
        }
        Ok(applied)
    }

    /// The walk reads beside the writer; only what goes is written.
    async fn prune(&self, before: Timestamp, after: TaskId, limit: usize) -> Result<Pruned> {
        let walked = self
            .on_reader("find old tasks", move |connection| {
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
            .on_writer("prune", move |connection| {
                prune_rows(connection, &walked, before)
            })
            .await?;
        Ok(Pruned { rows, next, oldest })
    }
}

fn apply_all_once(
    connection: &Connection,
    key: &OnceKey,
    changes: &[Change],
) -> Outcome<AppliedOnce> {
    let mut receipts = Vec::with_capacity(changes.len());
    for change in changes {
        let applied = apply(connection, change)?;
        if applied == Applied::Lost {
            return Ok(AppliedOnce::Lost);
        }
        let receipt = applied.receipt(change);
        receipts.push(receipt.ok_or_else(|| unreadable("a change without a row"))?);
    }
    let answer = serde_json::to_string(&receipts).map_err(unreadable)?;
    let used_at = changes
        .first()
        .map_or(0, |change| micros(change.decided_at));
    let mut statement = connection.prepare_cached(history::NOTE_ONCE)?;
    let noted = statement.execute(params![key.key, key.digest, answer, used_at])?;
    Ok(if noted == 1 {
        AppliedOnce::Done(receipts)
    } else {
        AppliedOnce::Used
    })
}

pub(super) fn apply(connection: &Connection, change: &Change) -> Outcome<Applied> {
    if let Some(number) = repeated(connection, change)? {
        return Ok(Applied::Repeated { number });
    }
    if let Some(amend) = &change.amend
        && !amended(connection, amend, micros(change.decided_at))?
    {
        return Ok(Applied::Lost);
    }
    let inserted = match &change.insert {
        None => None,
        Some(new) => match insert(connection, new, micros(change.decided_at))? {
            Some(id) => Some(id),
            None if change.amend.is_none() => return Ok(Applied::Lost),
            // The row we just retired was current, so no other can be.
            None => return Err(unreadable("two current rows of one identity").into()),
        },
    };
    if let Some(amend) = &change.amend {
        note_decision(connection, change, amend, inserted)?;
    }
    Ok(Applied::Done { inserted })
}

/// The number of the decision that this one merely repeats, if it does.
fn repeated(connection: &Connection, change: &Change) -> Outcome<Option<u32>> {
    let (Some(requested), Some(amend)) = (&change.requested, &change.amend) else {
        return Ok(None);
    };
    let guard = &amend.guard;
    let mut statement = connection.prepare_cached(history::REPEAT_SQLITE)?;
    let number = statement.query_row(
        params![
            guard.task_id.0,
            guard.decisions.saturating_sub(REPEATED_WITHIN),
            change.rule.as_str(),
            change.origin,
            micros(amend.execute_at),
            amend.revision.0,
            requested.name(),
            requested.execute_at.map(micros),
            requested.revision.map(|revision| revision.0),
            micros(change.decided_at),
            guard.status.as_str(),
            guard.term.0,
            guard.decisions,
        ],
        |row| row.get(0),
    );
    Ok(number.optional()?)
}

/// Whether the row was still as the decision saw it.
fn amended(connection: &Connection, amend: &Amend, decided_at_us: i64) -> Outcome<bool> {
    let guard = &amend.guard;
    let execute_at_us = micros(amend.execute_at);
    let mut statement = connection.prepare_cached(task::AMEND_SQLITE)?;
    let rows = statement.execute(params![
        guard.task_id.0,
        guard.status.as_str(),
        guard.term.0,
        guard.decisions,
        amend.status.as_str(),
        amend.current,
        execute_at_us,
        amend.waits.then_some(execute_at_us),
        amend
            .payload
            .as_ref()
            .map(almanack_core::task::Payload::as_str),
        amend.callback_url,
        amend.priority.level(),
        small(amend.max_retry),
        amend.revision.0,
        decided_at_us,
        amend.expiry.at.map(micros),
        amend.expiry.after_s,
        written(amend.call_options.as_deref())?,
        amend.tags.as_ref().map(|tags| tags.after.as_text()),
        amend.share_key,
    ])?;
    if let Some(Retagged { before, after }) = amend.tags.as_ref().filter(|_| rows == 1) {
        untag(connection, guard.task_id.0, before)?;
        tag(connection, guard.task_id.0, after)?;
    }
    Ok(rows == 1)
}

/// The new row's number, unless another writer created the identity first.
pub(super) fn insert(
    connection: &Connection,
    new: &NewTask,
    created_at_us: i64,
) -> Outcome<Option<TaskId>> {
    let mut statement = connection.prepare_cached(task::INSERT_SQLITE)?;
    let rows = statement.execute(params![
        new.identity.subject.as_str(),
        new.identity.kind.as_str(),
        new.status.as_str(),
        micros(new.execute_at),
        new.due_at().map(micros),
        new.priority.level(),
        small(new.max_retry),
        new.revision.0,
        new.replaces.map(|id| id.0),
        created_at_us,
        new.origin,
        new.callback_url,
        new.payload.as_str(),
        new.expiry.at.map(micros),
        new.expiry.after_s,
        written(new.call_options.as_deref())?,
        (!new.tags.is_empty()).then(|| new.tags.as_text()),
        new.share_key,
    ])?;
    if rows == 0 {
        return Ok(None);
    }
    let id = connection.last_insert_rowid();
    tag(connection, id, &new.tags)?;
    Ok(Some(TaskId(id)))
}

fn tag(connection: &Connection, id: i64, tags: &Tags) -> Outcome<()> {
    for tag in tags.iter() {
        let mut statement = connection.prepare_cached(find::TAG)?;
        statement.execute(params![tag, id])?;
    }
    Ok(())
}

fn untag(connection: &Connection, id: i64, tags: &Tags) -> Outcome<()> {
    for tag in tags.iter() {
        let mut statement = connection.prepare_cached(find::UNTAG)?;
        statement.execute(params![tag, id])?;
    }
    Ok(())
}

/// Writes tasks as a part of something larger; an identity that exists already is left as it is.
pub(super) fn insert_all(
    connection: &Connection,
    tasks: &[NewTask],
    created_at_us: i64,
) -> Outcome<()> {
    for new in tasks {
        insert(connection, new, created_at_us)?;
    }
    Ok(())
}

fn note_decision(
    connection: &Connection,
    change: &Change,
    amend: &Amend,
    inserted: Option<TaskId>,
) -> Outcome<()> {
    let new = change.insert.as_ref();
    let requested = change.requested.as_ref();
    let (task_id, number) = (amend.guard.task_id.0, amend.guard.decisions + 1);
    let mut statement = connection.prepare_cached(history::NOTE_DECISION_SQLITE)?;
    statement.execute(params![
        task_id,
        number,
        micros(change.decided_at),
        change.origin,
        change.rule.as_str(),
        micros(amend.old_execute_at),
        micros(new.map_or(amend.execute_at, |new| new.execute_at)),
        new.map_or(amend.revision, |new| new.revision).0,
        inserted.map(|id| id.0),
        requested.map(Requested::name),
        requested.and_then(|requested| requested.execute_at.map(micros)),
        requested.and_then(|requested| requested.revision.map(|revision| revision.0)),
    ])?;
    if let Some(last) = number.checked_sub(DECISIONS_KEPT).filter(|last| *last > 0) {
        let mut statement = connection.prepare_cached(history::BOUND_SQLITE)?;
        statement.execute(params![task_id, last])?;
    }
    Ok(())
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
        let pruned = prune.query_row(key, |row| row.get::<_, Option<String>>(0));
        if let Some(tags) = pruned.optional()? {
            gone += 1;
            untag(
                connection,
                row.id,
                &Tags::from_text(&tags.unwrap_or_default()),
            )?;
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
