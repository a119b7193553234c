//! Rows that cannot be read: a newer version wrote them, or a hand.
//!
//! One such row must not hide the others, nor stop a walk through them (SF-06). Where rows
//! are listed it is left out, or shown by a **stand-in** that keeps its place and says what is
//! wrong. Each is said once in the log. INVARIANT: only a person decides by a stand-in, one who
//! writes the row anew; what is about to be changed is read strictly, and fails alone.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Mutex, PoisonError},
};

use almanack_core::{
    plan::{Origin, Schedule, ScheduleId, ScheduleName, State},
    sign_in::{PasswordHash, User},
    source::{self, Definition, Source, SourceId, reading::Reading},
    store::{Error, Result, TaskLine},
    task::{Identity, Kind, Payload, Priority, Revision, Status, Subject, Task, TaskId, Term},
    time::LATEST,
    token::{Scope, Token},
};
use jiff::Timestamp;

use super::{
    Row,
    overview::task_line,
    schedule::schedule,
    sign_in::user,
    source::{cadence_or_null, source},
    task, token,
};

/// What was said already; a table full of such rows must not fill the log.
static SAID: Mutex<BTreeSet<(&str, String)>> = Mutex::new(BTreeSet::new());
const SAID_MAX: usize = 1_000;

/// A row that was read, unless it cannot be; then it is left out, and said.
pub(crate) fn readable<T>(table: &'static str, read: Result<T>) -> Option<T> {
    read.map_err(|why| say(table, &reason(&why))).ok()
}

/// A row that is read strictly: it fails alone, and is said.
pub(crate) fn strict<T>(
    table: &'static str,
    which: impl fmt::Display,
    read: Result<T>,
) -> Result<T> {
    read.inspect_err(|why| {
        if why.is_unreadable() {
            say(table, &format!("{which}: {}", reason(why)));
        }
    })
}

/// What is wrong with a row, for people.
pub(crate) fn reason(why: &Error) -> String {
    match why {
        Error::Unreadable { what } => format!("cannot be read: {what}"),
        other => other.to_string(),
    }
}

fn say(table: &'static str, why: &str) {
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.len() < SAID_MAX && said.insert((table, why.to_owned())) {
        tracing::error!(table, why, "skipped an unreadable row");
    }
}

/// A row, or its stand-in.
fn shown<T>(
    table: &'static str,
    row: &Row<'_>,
    read: impl Fn(&Row<'_>) -> Result<T>,
    stand_in: impl Fn(&Row<'_>, String) -> Option<T>,
) -> Option<T> {
    read(row).map_or_else(
        |why| {
            let why = reason(&why);
            say(table, &why);
            stand_in(row, why)
        },
        Some,
    )
}

/// A task in a list.
pub(crate) fn shown_task(row: &Row<'_>) -> Option<Task> {
    shown("task", row, task, |row, why| {
        Some(Task {
            id: TaskId(row.big(0).ok()?),
            identity: identity(row)?,
            status: status(row, 3),
            current: row.truth(4).unwrap_or(true),
            execute_at: instant(row, 5)?,
            due_at: instant(row, 6),
            priority: Priority::DEFAULT,
            attempt: count(row, 8),
            max_retry: count(row, 9),
            term: Term(row.big(10).unwrap_or(0)),
            revision: Revision(row.big(11).unwrap_or(0)),
            decisions: count(row, 12),
            replaces: None,
            created_at: instant(row, 14)?,
            created_execute_at: instant(row, 15)?,
            started_at: instant(row, 16),
            finished_at: instant(row, 17),
            origin: row.text(18).unwrap_or_default(),
            node: row.text_or_null(19).unwrap_or_default(),
            callback_url: None,
            detail: Some(why),
            payload: row.text(22).map(Payload::from_store).unwrap_or_default(),
            lease_until: instant(row, 23),
        })
    })
}

/// A line about a task.
pub(crate) fn shown_line(row: &Row<'_>) -> Option<TaskLine> {
    shown("task", row, task_line, |row, why| {
        Some(TaskLine {
            id: TaskId(row.big(0).ok()?),
            identity: identity(row)?,
            status: status(row, 3),
            execute_at: instant(row, 4)?,
            due_at: instant(row, 5),
            attempt: count(row, 6),
            max_retry: count(row, 7),
            origin: row.text(8).unwrap_or_default(),
            node: row.text_or_null(9).unwrap_or_default(),
            detail: Some(why),
            created_at: instant(row, 11)?,
            started_at: instant(row, 12),
            finished_at: instant(row, 13),
        })
    })
}

/// A schedule in a list: it is parked, because this node cannot compute it. Written anew it is
/// whole again.
pub(crate) fn shown_schedule(row: &Row<'_>) -> Option<Schedule> {
    shown("schedule", row, schedule, |row, reason| {
        let id = row.big(0).ok()?;
        let name = row.text(1).unwrap_or_default();
        let name = ScheduleName::parse(&name);
        let changed_at = instant(row, 17)?;
        Some(Schedule {
            id: ScheduleId(id),
            name: name
                .or_else(|_| ScheduleName::parse(&format!("unreadable-{id}")))
                .ok()?,
            origin: Origin::parse(&row.text(2).unwrap_or_default()).unwrap_or(Origin::Api),
            definition: row.text(3).unwrap_or_default().into(),
            revision: row.big(4).unwrap_or(0),
            version: row.big(5).ok()?,
            state: State::Parked {
                since: changed_at,
                reason,
            },
            next_at: None,
            waits_since: None,
            look_at: None,
            last: None,
            beside: Vec::new(),
            created_at: instant(row, 16)?,
            changed_at,
        })
    })
}

/// A source in a list: it rests, and its note says why.
pub(crate) fn shown_source(row: &Row<'_>) -> Option<Source> {
    shown("source", row, source, |row, why| {
        let updated_at = instant(row, 36)?;
        Some(Source {
            id: SourceId(row.big(0).ok()?),
            version: row.big(1).ok()?,
            definition: Definition {
                name: row.text(2).unwrap_or_default(),
                address: row.text(3).unwrap_or_default(),
                reading: row
                    .text(4)
                    .ok()
                    .and_then(|reading| serde_json::from_str(&reading).ok())
                    .unwrap_or(Reading::Feed),
                category: row.text(5).unwrap_or_default(),
                policy: row.text_or_null(6).unwrap_or_default(),
                cadence: cadence_or_null(row, 7).unwrap_or_default(),
            },
            state: source::State::Paused {
                since: updated_at,
                note: Some(why),
            },
            attention: None,
            stats: source::Stats::default(),
            memory: source::Memory::default(),
            recent: source::recent::Recent::default(),
            learned: Vec::new(),
            reason: None,
            created_at: instant(row, 35)?,
            updated_at,
        })
    })
}

/// A token in a list. Its row opens nothing, but the list stays one with a token in it: whether a
/// node is guarded must not depend on what can be read.
pub(crate) fn shown_token(row: &Row<'_>) -> Option<Token> {
    shown("token", row, token, |row, _| {
        Some(Token {
            name: row.text(0).ok()?,
            hash: row.text(1).ok()?,
            scope: Scope::Read,
            created_at: instant(row, 3)?,
            expires_at: None,
            revoked_at: None,
        })
    })
}

/// A user in a list, for the same reason; no password fits.
pub(crate) fn shown_user(row: &Row<'_>) -> Option<User> {
    shown("user", row, user, |row, _| {
        Some(User {
            name: row.text(0).ok()?,
            password: PasswordHash(String::new()),
            scope: Scope::Read,
            created_at: instant(row, 3)?,
            changed_at: instant(row, 4)?,
        })
    })
}

/// An instant that a caller waits for, or walks along: one that no calendar has is as far away as
/// instants go.
pub(crate) fn nearest(micros: i64) -> Timestamp {
    let farthest = if micros < 0 { Timestamp::MIN } else { LATEST };
    Timestamp::from_microsecond(micros).unwrap_or(farthest)
}

fn instant(row: &Row<'_>, index: usize) -> Option<Timestamp> {
    row.big_or_null(index).ok().flatten().map(nearest)
}

fn count(row: &Row<'_>, index: usize) -> u32 {
    let count = row.int(index).unwrap_or(0);
    u32::try_from(count).unwrap_or(0)
}

fn status(row: &Row<'_>, index: usize) -> Status {
    let name = row.text(index).unwrap_or_default();
    Status::parse(&name).unwrap_or(Status::Fail)
}

fn identity(row: &Row<'_>) -> Option<Identity> {
    let (subject, kind) = (row.text(1).ok()?, row.text(2).ok()?);
    let subject = Subject::parse(&subject).or_else(|_| Subject::parse("unreadable"));
    let kind = Kind::parse(&kind).or_else(|_| Kind::parse("UNREADABLE"));
    Some(Identity {
        subject: subject.ok()?,
        kind: kind.ok()?,
    })
}
