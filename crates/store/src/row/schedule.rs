//! Rows of schedules, and the columns a schedule's state is kept in.

use almanack_core::{
    lang::Sentence,
    plan::{Edit, Pause, Schedule, ScheduleId, ScheduleName, Slot, State},
    store::Result,
    task::Subject,
};
use jiff::Timestamp;

use super::{Row, Value, many, unreadable, values};

/// Reads the columns of a schedule listed in `schedule.rs`.
pub(crate) fn schedule(row: &Row<'_>) -> Result<Schedule> {
    let id: ScheduleId = row.get(0)?;
    let state = StateColumns {
        since: row.get(7)?,
        until: row.get(8)?,
        note: row.get(9)?,
        by: row.get(10)?,
    };
    Ok(Schedule {
        id,
        name: row.or_instead(row.get(1), || {
            ScheduleName::parse(&format!("unreadable-{}", id.0)).ok()
        })?,
        origin: row.get(2)?,
        definition: row.text(3)?.into(),
        revision: row.get(4)?,
        version: row.get(5)?,
        state: row.or_instead(state.read(&row.text(6)?), || Some(State::Active))?,
        next_at: row.get(11)?,
        waits_since: row.get(12)?,
        look_at: row.get(13)?,
        last: row.get(14)?,
        beside: row.or_instead(beside(row.get(15)?), || Some(Vec::new()))?,
        created_at: row.get(16)?,
        changed_at: row.get(17)?,
        runs: row.get(18)?,
    })
}

fn beside(text: Option<String>) -> Result<Vec<Subject>> {
    let Some(text) = text else {
        return Ok(Vec::new());
    };
    let subjects: Vec<String> = serde_json::from_str(&text).map_err(unreadable)?;
    let parse = |subject: &String| Subject::parse(subject).map_err(unreadable);
    subjects.iter().map(parse).collect()
}

/// What [`beside`] reads; null where there is nothing to keep.
fn beside_or_null(subjects: &[Subject]) -> Option<String> {
    let subjects: Vec<&str> = subjects.iter().map(Subject::as_str).collect();
    (!subjects.is_empty()).then(|| serde_json::json!(subjects).to_string())
}

/// What is kept about a state beside its name; what a state does not know of is null.
#[derive(Default)]
struct StateColumns {
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    /// What was said about a pause; why a schedule is parked.
    note: Option<String>,
    by: Option<String>,
}

impl StateColumns {
    fn of(state: &State) -> Self {
        match state {
            State::Active => Self::default(),
            State::Paused(pause) => Self {
                since: Some(pause.since),
                until: pause.until,
                note: pause.note.clone(),
                by: Some(pause.by.clone()),
            },
            State::Parked { since, reason } => Self {
                since: Some(*since),
                note: Some(reason.to_stored()),
                ..Self::default()
            },
            State::Removed { since } | State::Done { since } => Self {
                since: Some(*since),
                ..Self::default()
            },
        }
    }

    fn read(self, name: &str) -> Result<State> {
        let missing = || unreadable(format!("state `{name}` without its facts"));
        let since = self.since.ok_or_else(missing);
        Ok(match name {
            "active" => State::Active,
            "paused" => State::Paused(Pause {
                since: since?,
                until: self.until,
                note: self.note,
                by: self.by.ok_or_else(missing)?,
            }),
            "parked" => State::Parked {
                since: since?,
                reason: Sentence::from_stored(&self.note.ok_or_else(missing)?),
            },
            "removed" => State::Removed { since: since? },
            "done" => State::Done { since: since? },
            _ => return Err(unreadable(format!("state `{name}`"))),
        })
    }
}

/// What new and changed schedules are written with, in the order of `schedule.rs`.
pub(crate) fn schedule_values(schedule: &Schedule) -> Vec<Value<'_>> {
    let state = StateColumns::of(&schedule.state);
    values![
        schedule.origin.as_str(),
        schedule.definition.as_str(),
        schedule.revision,
        schedule.state.as_str(),
        state.since,
        state.until,
        state.note,
        state.by,
        schedule.next_at,
        schedule.waits_since,
        schedule.look_at,
        schedule.last.as_ref().map(Subject::as_str),
        beside_or_null(&schedule.beside),
        many(schedule.runs),
        schedule.changed_at,
    ]
}

pub(crate) fn slot_values(id: ScheduleId, slot: &Slot) -> Vec<Value<'_>> {
    values![
        id.0,
        slot.slot_at,
        slot.last_at,
        many(slot.slots),
        slot.verdict.as_str(),
        &slot.detail,
        slot.revision,
        slot.decided_at,
    ]
}

pub(crate) fn edit_values(id: ScheduleId, version: i64, edit: &Edit) -> Vec<Value<'_>> {
    values![
        id.0,
        version,
        edit.revision,
        edit.edited.as_str(),
        &edit.by,
        &edit.note,
        edit.definition.as_str(),
        edit.at,
    ]
}

/// Reads the columns of a ledger row listed in `schedule.rs`.
pub(crate) fn slot(row: &Row<'_>) -> Result<Slot> {
    Ok(Slot {
        slot_at: row.get(0)?,
        last_at: row.get(1)?,
        slots: row.get(2)?,
        verdict: row.get(3)?,
        detail: row.get(4)?,
        revision: row.get(5)?,
        decided_at: row.get(6)?,
    })
}

/// Reads the columns of an edit listed in `schedule.rs`.
pub(crate) fn edit(row: &Row<'_>) -> Result<Edit> {
    Ok(Edit {
        revision: row.get(0)?,
        edited: row.get(1)?,
        by: row.get(2)?,
        note: row.get(3)?,
        definition: row.text(4)?.into(),
        at: row.get(5)?,
    })
}
