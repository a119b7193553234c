//! Schedules on SQLite.

use almanack_core::{
    plan::{Schedule, ScheduleId, ScheduleName, ScheduleWrite},
    reschedule::Change,
    store::{Applied, Result},
};
use jiff::Timestamp;
use rusqlite::{Connection, params, params_from_iter};

use crate::{
    database::Schedules,
    monitor,
    nudge::hint_of_write,
    row::{self, Value, micros, values},
    schedule,
    sqlite::{
        SAFETY_POLL, Sqlite,
        task::{apply, insert, insert_all},
        thread::Outcome,
    },
};

impl Schedules for Sqlite {
    async fn load_schedules(&self, names: &[ScheduleName]) -> Result<Vec<Option<Schedule>>> {
        let names = names.to_vec();
        self.on_reader("load schedules", move |connection| {
            let mut statement = connection.prepare_cached(schedule::LOAD_SQLITE)?;
            let mut load = |name: &ScheduleName| -> Outcome<Option<Schedule>> {
                let mut rows = statement.query([name.as_str()])?;
                Ok(rows
                    .next()?
                    .and_then(|row| row::SCHEDULES.read(&row.into())))
            };
            names.iter().map(&mut load).collect()
        })
        .await
    }

    async fn write_schedules(&self, writes: Vec<ScheduleWrite>) -> Result<Vec<Applied>> {
        let hints: Vec<Option<Timestamp>> = writes
            .iter()
            .map(|write| hint_of_write(write, SAFETY_POLL))
            .collect();
        let answers = self
            .on_writer("write schedules", move |connection| {
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
    for slot in &write.slots {
        let values = row::slot_values(id, slot);
        execute(connection, schedule::NOTE_SLOT_SQLITE, values)?;
    }
    let decided_at_us = micros(write.decided_at);
    let mut met_another = false;
    for fire in &write.fires {
        met_another |= insert(connection, fire, decided_at_us)?.is_none();
    }
    if met_another {
        note_cancelled(connection, id, write)?;
    }
    note_monitor(connection, id, write)?;
    insert_all(connection, &write.event_tasks, decided_at_us)?;
    if let Some(edit) = &write.edit {
        let values = row::edit_values(id, write.seen.unwrap_or(0) + 1, edit);
        execute(connection, schedule::NOTE_EDIT_SQLITE, values)?;
    }
    Ok(Applied::Done { inserted: None })
}

fn note_monitor(connection: &Connection, id: ScheduleId, write: &ScheduleWrite) -> Outcome<()> {
    if let Some(values) = monitor::monitor_values(id, write) {
        execute(connection, monitor::NOTE_MONITOR_SQLITE, values)?;
    }
    if let Some(values) = monitor::ping_values(id, write) {
        execute(connection, monitor::NOTE_PING_SQLITE, values)?;
    }
    if let Some(last) = monitor::forgotten_to(write) {
        execute(connection, monitor::FORGET_PINGS, values![id.0, last])?;
    }
    Ok(())
}

/// The number of the new row, unless its name was taken.
fn created(connection: &Connection, new: &Schedule) -> Outcome<Option<ScheduleId>> {
    let mut values = values![new.name.as_str()];
    values.extend(row::schedule_values(new));
    values.extend(values![new.created_at]);
    let rows = execute(connection, schedule::INSERT_SQLITE, values)?;
    Ok((rows == 1).then(|| ScheduleId(connection.last_insert_rowid())))
}

/// The number of the row, if it was still the version that was seen.
fn changed(connection: &Connection, changed: &Schedule, seen: i64) -> Outcome<Option<ScheduleId>> {
    let mut values = values![changed.id.0, seen];
    values.extend(row::schedule_values(changed));
    let rows = execute(connection, schedule::UPDATE_SQLITE, values)?;
    Ok((rows == 1).then_some(changed.id))
}

fn execute(connection: &Connection, text: &str, values: Vec<Value<'_>>) -> Outcome<usize> {
    let mut statement = connection.prepare_cached(text)?;
    Ok(statement.execute(params_from_iter(values))?)
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
