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
    plan::{Schedule, State},
    sign_in::{PasswordHash, User},
    source::{self, Source},
    store::{Error, Result, TaskLine},
    task::Task,
    time::LATEST,
    token::{Scope, Token},
};
use jiff::Timestamp;

use super::{
    Row, overview::task_line, schedule::schedule, sign_in::user, source::source, task, token,
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

/// How rows are read where one that cannot be read must not hide the others.
pub(crate) struct Listing<T> {
    table: &'static str,
    read: fn(&Row<'_>) -> Result<T>,
    /// Makes what could be read of such a row say so; without it the row is left out.
    stand_in: Option<fn(&mut T, String)>,
}

impl<T> Clone for Listing<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Listing<T> {}

pub(crate) const fn listing<T>(table: &'static str, read: fn(&Row<'_>) -> Result<T>) -> Listing<T> {
    let stand_in = None;
    Listing {
        table,
        read,
        stand_in,
    }
}

impl<T> Listing<T> {
    const fn standing_in(self, stand_in: fn(&mut T, String)) -> Self {
        let stand_in = Some(stand_in);
        Self { stand_in, ..self }
    }

    /// A row, or its stand-in.
    pub(crate) fn read(&self, row: &Row<'_>) -> Option<T> {
        let read = (self.read)(row);
        read.or_else(|why| {
            let reason = reason(&why);
            say(self.table, &reason);
            let stand_in = self.stand_in.ok_or(why)?;
            let mut shown = (self.read)(&row.shown())?;
            stand_in(&mut shown, reason);
            Ok::<T, Error>(shown)
        })
        .ok()
    }
}

/// Tasks in a list, and lines about them.
pub(crate) const TASKS: Listing<Task> =
    listing("task", task).standing_in(|task, why| task.detail = Some(why));
pub(crate) const LINES: Listing<TaskLine> =
    listing("task", task_line).standing_in(|line, why| line.detail = Some(why));

/// A schedule in a list: it is parked, because this node cannot compute it. Written anew it is
/// whole again.
pub(crate) const SCHEDULES: Listing<Schedule> =
    listing("schedule", schedule).standing_in(|schedule, reason| {
        let (since, reason) = (schedule.changed_at, reason.into());
        schedule.state = State::Parked { since, reason };
        (schedule.next_at, schedule.waits_since, schedule.look_at) = (None, None, None);
        (schedule.last, schedule.beside) = (None, Vec::new());
    });

/// A source in a list: it rests, and its note says why.
pub(crate) const SOURCES: Listing<Source> = listing("source", source).standing_in(|source, why| {
    let (since, note) = (source.updated_at, Some(why));
    source.state = source::State::Paused { since, note };
    source.stats = source::Stats::default();
});

/// A token in a list. Its row opens nothing, but the list stays one with a token in it: whether a
/// node is guarded must not depend on what can be read.
pub(crate) const TOKENS: Listing<Token> = listing("token", token).standing_in(|token, _| {
    token.scope = Scope::Read;
    (token.expires_at, token.revoked_at) = (None, None);
});

/// A user in a list, for the same reason; no password fits.
pub(crate) const USERS: Listing<User> = listing("user", user).standing_in(|user, _| {
    (user.password, user.scope) = (PasswordHash(String::new()), Scope::Read);
});

/// An instant that a caller waits for, or walks along: one that no calendar has is as far away as
/// instants go.
pub(crate) fn nearest(micros: i64) -> Timestamp {
    let farthest = if micros < 0 { Timestamp::MIN } else { LATEST };
    Timestamp::from_microsecond(micros).unwrap_or(farthest)
}
