//! Schedules on SQLite.

use almanack_core::{
    plan::{Edit, Origin, Schedule, ScheduleId, ScheduleName, ScheduleWrite, Slot},
    reschedule::Change,
    store::{Applied, DueSchedules, LedgerPage, Page, Result, ScheduleFilter},
    task::Subject,
};
use jiff::Timestamp;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, params};

use crate::{
    nudge::hint_of_write,
    row::{self, StateColumns, beside_or_null, examined, many, micros, most, one_more, readable},
    schedule::{self, DueRow},
    sqlite::{
        SAFETY_POLL, SqliteStore,
        task::{apply, insert},
        thread::Outcome,
    },
};

impl SqliteStore {
    pub(super) async fn due(&self, now: Timestamp, limit: usize) -> Result<DueSchedules> {
        self.read("load due schedules", move |connection| {
            let mut statement = connection.prepare_cached(schedule::LOAD_DUE)?;
            let one_more = most(limit.saturating_add(1));
            let mut rows = statement.query(params![micros(now), one_more])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(DueRow::read(row)?);
            }
            Ok(schedule::due(found, now, limit))
        })
        .await
    }

    pub(super) async fn named(&self, names: &[ScheduleName]) -> Result<Vec<Option<Schedule>>> {
        let names = names.to_vec();
        self.read("load schedules", move |connection| {
            let mut statement = connection.prepare_cached(schedule::LOAD_SQLITE)?;
            let mut load = |name: &ScheduleName| -> Outcome<Option<Schedule>> {
                let mut rows = statement.query([name.as_str()])?;
                Ok(rows.next()?.and_then(row::shown_schedule))
            };
            names.iter().map(&mut load).collect()
        })
        .await
    }

    pub(super) async fn schedules(
        &self,
        filter: &ScheduleFilter,
    ) -> Result<Page<Schedule, ScheduleName>> {
        let filter = filter.clone();
        self.read("list schedules", move |connection| {
            let after = schedule::after(&filter);
            let mut examining = connection.prepare_cached(schedule::EXAMINED_TO)?;
            let to = examining.query_row(params![after, examined(filter.among)], |row| row.get(0));
            let to: Option<String> = to.optional()?;
            let mut statement = connection.prepare_cached(schedule::LIST)?;
            let parameters = params![
                after,
                to.as_deref().unwrap_or(schedule::END),
                filter.origin.map(Origin::as_str),
                filter.state,
                schedule::with_removed(&filter),
                one_more(filter.limit),
            ];
            let found = schedules(&mut statement, parameters)?;
            Ok(schedule::page(found, filter.limit, to.as_deref())?)
        })
        .await
    }

    pub(super) async fn decide(&self, writes: Vec<ScheduleWrite>) -> Result<Vec<Applied>> {
        let hints: Vec<Option<Timestamp>> = writes
            .iter()
            .map(|write| hint_of_write(write, SAFETY_POLL))
            .collect();
        let answers = self
            .write("write schedules", move |connection| {
                writes
                    .iter()
                    .map(|write| whole(connection, write))
                    .collect::<Outcome<Vec<_>>>()
            })
            .await?;
        let done = hints.iter().zip(&answers);
        let done = done.filter(|(_, answer)| **answer != Applied::Lost);
        if let Some(due_at) = done.filter_map(|(hint, _)| *hint).min() {
            self.nudger.nudge(due_at);
        }
        Ok(answers)
    }

    pub(super) async fn ledger(&self, id: ScheduleId, page: LedgerPage) -> Result<Vec<Slot>> {
        self.read("load ledger", move |connection| {
            let mut statement = connection.prepare_cached(schedule::LOAD_SLOTS)?;
            let mut rows = statement.query(params![id.0, micros(page.before), most(page.limit)])?;
            let mut slots = Vec::new();
            while let Some(row) = rows.next()? {
                slots.extend(readable("slot", row::slot(row)));
            }
            Ok(slots)
        })
        .await
    }

    pub(super) async fn edits(&self, id: ScheduleId, limit: usize) -> Result<Vec<Edit>> {
        self.read("load edits", move |connection| {
            let mut statement = connection.prepare_cached(schedule::LOAD_EDITS)?;
            let mut rows = statement.query(params![id.0, most(limit)])?;
            let mut edits = Vec::new();
            while let Some(row) = rows.next()? {
                edits.extend(readable("schedule_edit", row::edit(row)));
            }
            edits.reverse();
            Ok(edits)
        })
        .await
    }

    pub(super) async fn decided_ahead(
        &self,
        after: Timestamp,
        limit: usize,
    ) -> Result<Vec<ScheduleName>> {
        self.read("load schedules decided ahead", move |connection| {
            let mut statement = connection.prepare_cached(schedule::DECIDED_AHEAD)?;
            let mut rows = statement.query(params![micros(after), most(limit)])?;
            let mut names = Vec::new();
            while let Some(row) = rows.next()? {
                names.extend(readable("schedule", row::schedule_name(row)));
            }
            Ok(names)
        })
        .await
    }

    pub(super) async fn forget_slots(&self, before: Timestamp, limit: usize) -> Result<usize> {
        self.write("prune ledger", move |connection| {
            let mut statement = connection.prepare_cached(schedule::PRUNE_SLOTS_SQLITE)?;
            Ok(statement.execute(params![micros(before), most(limit)])?)
        })
        .await
    }
}

fn schedules(
    statement: &mut CachedStatement<'_>,
    parameters: impl Params,
) -> Outcome<Vec<Schedule>> {
    let mut rows = statement.query(parameters)?;
    let mut schedules = Vec::new();
    while let Some(row) = rows.next()? {
        schedules.extend(row::shown_schedule(row));
    }
    Ok(schedules)
}

/// Carries out one write, or nothing of it.
fn whole(connection: &Connection, write: &ScheduleWrite) -> Outcome<Applied> {
    if write.cancels.is_empty() {
        return take(connection, write);
    }
    // Only here is something written before it is known whether it stays. Others share the
    // transaction: only our own part is undone.
    connection.execute_batch("savepoint schedule_write")?;
    let mut answer = take(connection, write)?;
    if answer != Applied::Lost && !withdraw(connection, &write.cancels)? {
        answer = Applied::Lost;
        connection.execute_batch("rollback to schedule_write")?;
    }
    connection.execute_batch("release schedule_write")?;
    Ok(answer)
}

/// Whether all of them held.
fn withdraw(connection: &Connection, changes: &[Change]) -> Outcome<bool> {
    for change in changes {
        if apply(connection, change)? == Applied::Lost {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Takes the row, and if it was there to be taken, writes what belongs to it.
fn take(connection: &Connection, write: &ScheduleWrite) -> Outcome<Applied> {
    let taken = match write.seen {
        None => created(connection, &write.schedule)?,
        Some(seen) => changed(connection, &write.schedule, seen)?,
    };
    let Some(id) = taken else {
        return Ok(Applied::Lost);
    };
    if let Some(from) = write.takes_back {
        let mut statement = connection.prepare_cached(schedule::TAKE_BACK_SLOTS)?;
        statement.execute(params![id.0, micros(from)])?;
    }
    note_slots(connection, id, &write.slots)?;
    let decided_at_us = micros(write.decided_at);
    let mut met_another = false;
    for fire in &write.fires {
        met_another |= insert(connection, fire, decided_at_us)?.is_none();
    }
    if met_another {
        note_cancelled(connection, id, write)?;
    }
    if let Some(edit) = &write.edit {
        note_edit(connection, id, write.seen.unwrap_or(0) + 1, edit)?;
    }
    Ok(Applied::Done { inserted: None })
}

/// The number of the new row, unless its name was taken.
fn created(connection: &Connection, new: &Schedule) -> Outcome<Option<ScheduleId>> {
    let state = StateColumns::of(&new.state);
    let mut statement = connection.prepare_cached(schedule::INSERT_SQLITE)?;
    let rows = statement.execute(params![
        new.name.as_str(),
        new.origin.as_str(),
        new.definition.as_str(),
        new.revision,
        new.state.as_str(),
        state.since.map(micros),
        state.until.map(micros),
        state.note,
        state.by,
        new.next_at.map(micros),
        new.waits_since.map(micros),
        new.look_at.map(micros),
        new.last.as_ref().map(Subject::as_str),
        beside_or_null(&new.beside),
        micros(new.changed_at),
        micros(new.created_at),
    ])?;
    Ok((rows == 1).then(|| ScheduleId(connection.last_insert_rowid())))
}

/// The number of the row, if it was still the version that was seen.
fn changed(connection: &Connection, changed: &Schedule, seen: i64) -> Outcome<Option<ScheduleId>> {
    let state = StateColumns::of(&changed.state);
    let mut statement = connection.prepare_cached(schedule::UPDATE_SQLITE)?;
    let rows = statement.execute(params![
        changed.id.0,
        seen,
        changed.origin.as_str(),
        changed.definition.as_str(),
        changed.revision,
        changed.state.as_str(),
        state.since.map(micros),
        state.until.map(micros),
        state.note,
        state.by,
        changed.next_at.map(micros),
        changed.waits_since.map(micros),
        changed.look_at.map(micros),
        changed.last.as_ref().map(Subject::as_str),
        beside_or_null(&changed.beside),
        micros(changed.changed_at),
    ])?;
    Ok((rows == 1).then_some(changed.id))
}

fn note_slots(connection: &Connection, id: ScheduleId, slots: &[Slot]) -> Outcome<()> {
    let mut statement = connection.prepare_cached(schedule::NOTE_SLOT_SQLITE)?;
    for slot in slots {
        statement.execute(params![
            id.0,
            micros(slot.slot_at),
            micros(slot.last_at),
            many(slot.slots),
            slot.verdict.as_str(),
            slot.detail,
            slot.revision,
            micros(slot.decided_at),
        ])?;
    }
    Ok(())
}

fn note_cancelled(connection: &Connection, id: ScheduleId, write: &ScheduleWrite) -> Outcome<()> {
    let mut statement = connection.prepare_cached(schedule::NOTE_CANCELLED)?;
    for (slot, firing) in schedule::fired_slots(write) {
        statement.execute(params![
            id.0,
            micros(slot.slot_at),
            micros(slot.decided_at),
            firing.subject.as_str(),
            firing.kind.as_str(),
        ])?;
    }
    Ok(())
}

fn note_edit(connection: &Connection, id: ScheduleId, version: i64, edit: &Edit) -> Outcome<()> {
    let mut statement = connection.prepare_cached(schedule::NOTE_EDIT_SQLITE)?;
    statement.execute(params![
        id.0,
        version,
        edit.revision,
        edit.edited.as_str(),
        edit.by,
        edit.note,
        edit.definition.as_str(),
        micros(edit.at),
    ])?;
    Ok(())
}
