//! Rows of schedules, and the columns a schedule's state is kept in.

use almanack_core::{
    plan::{Edit, Edited, Origin, Pause, Schedule, ScheduleId, ScheduleName, Slot, State, Verdict},
    store::Result,
    task::Subject,
};
use jiff::Timestamp;

use super::{Row, Value, instant, many, maybe_instant, unreadable, values};

/// Reads the columns of a schedule listed in `schedule.rs`.
pub(crate) fn schedule(row: &Row<'_>) -> Result<Schedule> {
    let origin = row.text(2)?;
    let state = StateColumns {
        since: maybe_instant(row.big_or_null(7)?)?,
        until: maybe_instant(row.big_or_null(8)?)?,
        note: row.text_or_null(9)?,
        by: row.text_or_null(10)?,
    };
    let last = row.text_or_null(14)?;
    Ok(Schedule {
        id: ScheduleId(row.big(0)?),
        name: ScheduleName::parse(&row.text(1)?).map_err(unreadable)?,
        origin: Origin::parse(&origin).ok_or_else(|| unreadable(format!("origin `{origin}`")))?,
        definition: row.text(3)?.into(),
        revision: row.big(4)?,
        version: row.big(5)?,
        state: state.read(&row.text(6)?)?,
        next_at: maybe_instant(row.big_or_null(11)?)?,
        waits_since: maybe_instant(row.big_or_null(12)?)?,
        look_at: maybe_instant(row.big_or_null(13)?)?,
        last: last
            .map(|subject| Subject::parse(&subject).map_err(unreadable))
            .transpose()?,
        beside: beside(row.text_or_null(15)?)?,
        created_at: instant(row.big(16)?)?,
        changed_at: instant(row.big(17)?)?,
    })
}

/// Reads a single name.
pub(crate) fn schedule_name(row: &Row<'_>) -> Result<ScheduleName> {
    ScheduleName::parse(&row.text(0)?).map_err(unreadable)
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
                note: Some(reason.clone()),
                ..Self::default()
            },
            State::Removed { since } => Self {
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
                reason: self.note.ok_or_else(missing)?,
            },
            "removed" => State::Removed { since: since? },
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
    let verdict = row.text(3)?;
    Ok(Slot {
        slot_at: instant(row.big(0)?)?,
        last_at: instant(row.big(1)?)?,
        slots: u64::try_from(row.big(2)?).map_err(unreadable)?,
        verdict: Verdict::parse(&verdict)
            .ok_or_else(|| unreadable(format!("verdict `{verdict}`")))?,
        detail: row.text_or_null(4)?,
        revision: row.big(5)?,
        decided_at: instant(row.big(6)?)?,
    })
}

/// Reads the columns of an edit listed in `schedule.rs`.
pub(crate) fn edit(row: &Row<'_>) -> Result<Edit> {
    let edited = row.text(1)?;
    Ok(Edit {
        revision: row.big(0)?,
        edited: Edited::parse(&edited).ok_or_else(|| unreadable(format!("edit `{edited}`")))?,
        by: row.text(2)?,
        note: row.text_or_null(3)?,
        definition: row.text(4)?.into(),
        at: instant(row.big(5)?)?,
    })
}
