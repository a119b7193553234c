//! Rows read and parameters written: one mapping for both databases.
//!
//! Columns are read by position, in the order of the column lists beside the statements. What the
//! two drivers call a value differs; what the values mean does not.

mod alert;
mod calendar;
mod column;
pub(crate) mod edition;
mod overview;
pub(crate) mod permit;
mod schedule;
mod sign_in;
mod source;
mod stand_in;
mod value;

use almanack_core::{
    alert::trouble::{NodeTroubles, Trouble},
    callback::Callback,
    clock::Mark,
    history::{Attempt, Decision},
    lang::reader::in_english,
    reschedule::{DecisionId, Requested},
    store::{ClaimId, EXAMINED_MAX, Error, Node, OnceRecord, Result, TakenTask},
    task::{ClaimedTask, Expiry, Identity, Tags, Task},
    token::Token,
};
use jiff::{SignedDuration, Timestamp};

pub(crate) use alert::{alert, alert_values};
pub(crate) use calendar::{calendar, calendar_values, calendar_version};
use column::Column;
pub(crate) use overview::{change, claim_line, schedule_edit, slot_line, status_count};
pub(crate) use schedule::{edit, edit_values, schedule, schedule_values, slot, slot_values};
pub(crate) use sign_in::{holder_columns, session, user};
pub(crate) use source::{
    entry, entry_edit_values, entry_renewal_values, entry_values, fleet, hashes, known_entry,
    source, source_values,
};
pub(crate) use stand_in::{
    LINES, Listing, SCHEDULES, SOURCES, TASKS, TOKENS, USERS, listing, nearest, readable, reason,
    strict,
};
pub(crate) use value::{List, Value, lists, values};

/// A row of either database.
pub(crate) struct Row<'r> {
    driver: Driver<'r>,
    /// Whether it is shown even if it cannot be read: see [`stand_in`].
    shown: bool,
}

#[derive(Clone, Copy)]
enum Driver<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

impl<'r> From<&'r rusqlite::Row<'_>> for Row<'r> {
    fn from(row: &'r rusqlite::Row<'_>) -> Self {
        let (driver, shown) = (Driver::Sqlite(row), false);
        Self { driver, shown }
    }
}

impl<'r> From<&'r tokio_postgres::Row> for Row<'r> {
    fn from(row: &'r tokio_postgres::Row) -> Self {
        let (driver, shown) = (Driver::Postgres(row), false);
        Self { driver, shown }
    }
}

impl Row<'_> {
    pub(crate) fn get<T: Column>(&self, index: usize) -> Result<T> {
        let kept = match self.driver {
            Driver::Sqlite(row) => row.get::<_, T::Kept>(index).map_err(unreadable),
            Driver::Postgres(row) => row.try_get::<_, T::Kept>(index).map_err(unreadable),
        };
        match kept {
            Ok(kept) if self.shown => {
                self.or_instead(T::read(kept.clone()), || T::instead(Some(kept)))
            }
            Ok(kept) => T::read(kept),
            Err(why) => self.or_instead(Err(why), || T::instead(None)),
        }
    }

    pub(crate) fn text(&self, index: usize) -> Result<String> {
        self.get(index)
    }

    /// The same row, to be shown with what can be read of it.
    fn shown(&self) -> Self {
        Self {
            shown: true,
            ..*self
        }
    }

    /// What was read, or what stands in for it in a row that is shown all the same.
    fn or_instead<T>(&self, read: Result<T>, instead: impl FnOnce() -> Option<T>) -> Result<T> {
        read.or_else(|why| instead().filter(|_| self.shown).ok_or(why))
    }
}

/// Reads the columns listed in `task.rs`.
pub(crate) fn task(row: &Row<'_>) -> Result<Task> {
    Ok(Task {
        id: row.get(0)?,
        identity: identity(row, 1)?,
        status: row.get(3)?,
        current: row.get(4)?,
        execute_at: row.get(5)?,
        due_at: row.get(6)?,
        priority: row.get(7)?,
        attempt: row.get(8)?,
        max_retry: row.get(9)?,
        term: row.get(10)?,
        revision: row.get(11)?,
        decisions: row.get(12)?,
        replaces: row.get(13)?,
        created_at: row.get(14)?,
        created_execute_at: row.get(15)?,
        started_at: row.get(16)?,
        finished_at: row.get(17)?,
        origin: row.get(18)?,
        node: row.get(19)?,
        callback_url: row.get(20)?,
        detail: row.get(21)?,
        payload: row.get(22)?,
        lease_until: row.get(23)?,
        expiry: expiry(row, 24)?,
        call_options: row.get(26)?,
        tags: row.get::<Option<Tags>>(27)?.unwrap_or_default(),
    })
}

/// Reads the columns listed in `claim.rs`.
pub(crate) fn claimed_task(row: &Row<'_>) -> Result<ClaimedTask> {
    Ok(ClaimedTask {
        id: row.get(0)?,
        identity: identity(row, 1)?,
        term: row.get(3)?,
        attempt: row.get(4)?,
        max_retry: row.get(5)?,
        execute_at: row.get(6)?,
        started_at: row.get(7)?,
        payload: row.get(8)?,
        callback_url: row.get(9)?,
        revision: row.get(10)?,
        expiries: row.get(11)?,
        expiry: expiry(row, 12)?,
        call_options: row.get(14)?,
    })
}

/// The same, with what a worker's report depends on.
pub(crate) fn taken_task(row: &Row<'_>) -> Result<TakenTask> {
    Ok(TakenTask {
        task: claimed_task(row)?,
        status: row.get(15)?,
        claim_id: row.get::<Option<i64>>(16)?.map(ClaimId),
    })
}

fn expiry(row: &Row<'_>, index: usize) -> Result<Expiry> {
    Ok(Expiry {
        at: row.get(index)?,
        after_s: row.get(index + 1)?,
    })
}

/// How a row keeps what its task says about its callback.
pub(crate) fn written(options: Option<&Callback>) -> Result<Option<String>> {
    let text = options.map(serde_json::to_string).transpose();
    text.map_err(unreadable)
}

/// Reads the columns listed in `history.rs`.
pub(crate) fn decision(row: &Row<'_>) -> Result<Decision> {
    Ok(Decision {
        id: DecisionId {
            task_id: row.get(0)?,
            number: row.get(1)?,
        },
        decided_at: row.get(2)?,
        origin: row.get(3)?,
        rule: row.get(4)?,
        old_execute_at: row.get(5)?,
        execute_at: row.get(6)?,
        revision: row.get(7)?,
        new_task_id: row.get(8)?,
        requested: requested(row, 9)?,
        times: row.get(12)?,
        last_at: row.get(13)?,
    })
}

/// What was asked for: `put`, with its time, or `cancel`.
fn requested(row: &Row<'_>, index: usize) -> Result<Option<Requested>> {
    let Some(_) = row.get::<Option<String>>(index)? else {
        return Ok(None);
    };
    Ok(Some(Requested {
        execute_at: row.get(index + 1)?,
        revision: row.get(index + 2)?,
    }))
}

/// Reads the columns listed in `history.rs`.
pub(crate) fn attempt(row: &Row<'_>) -> Result<Attempt> {
    Ok(Attempt {
        task_id: row.get(0)?,
        term: row.get(1)?,
        attempt: row.get(2)?,
        due_at: row.get(3)?,
        started_at: row.get(4)?,
        finished_at: row.get(5)?,
        outcome: row.get(6)?,
        late_outcome: row.get(7)?,
        detail: row.get(8)?,
        node: row.get(9)?,
    })
}

/// Reads the columns listed in `register.rs`.
pub(crate) fn node(row: &Row<'_>) -> Result<Node> {
    Ok(Node {
        session: row.get(0)?,
        name: row.get(1)?,
        version: row.get(2)?,
        started_at: row.get(3)?,
        seen_at: row.get(4)?,
        skew_us: row.get(5)?,
    })
}

/// Reads what a run of a node says of itself.
pub(crate) fn troubles(row: &Row<'_>) -> Result<NodeTroubles> {
    Ok(NodeTroubles {
        node: row.get(0)?,
        seen_at: row.get(1)?,
        troubles: Trouble::read_all(&row.text(2)?).map_err(unreadable)?,
    })
}

/// Reads the columns listed in `register.rs`.
pub(crate) fn mark(row: &Row<'_>) -> Result<Mark> {
    Ok(Mark {
        at: row.get(0)?,
        uptime: SignedDuration::from_micros(row.get(1)?),
        boot: row.get(2)?,
        revision: row.get(3)?,
    })
}

/// Reads the columns listed in `register.rs`.
pub(crate) fn token(row: &Row<'_>) -> Result<Token> {
    Ok(Token {
        name: row.get(0)?,
        hash: row.get(1)?,
        scope: row.get(2)?,
        created_at: row.get(3)?,
        expires_at: row.get(4)?,
        revoked_at: row.get(5)?,
    })
}

/// Reads what a key was used for.
pub(crate) fn once(row: &Row<'_>) -> Result<OnceRecord> {
    Ok(OnceRecord {
        digest: row.get(0)?,
        receipts: serde_json::from_str(&row.text(1)?).map_err(unreadable)?,
    })
}

fn identity(row: &Row<'_>, index: usize) -> Result<Identity> {
    Ok(Identity {
        subject: row.get(index)?,
        kind: row.get(index + 1)?,
    })
}

/// A period as the store keeps it.
pub(crate) fn period_micros(period: SignedDuration) -> i64 {
    i64::try_from(period.as_micros()).unwrap_or(i64::MAX)
}

/// An instant as the store keeps it.
pub(crate) fn micros(at: Timestamp) -> i64 {
    at.as_microsecond()
}

/// An instant the store kept.
pub(crate) fn instant(micros: i64) -> Result<Timestamp> {
    Timestamp::from_microsecond(micros).map_err(unreadable)
}

/// A count on its way into the store.
pub(crate) fn small(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

pub(crate) fn unreadable(why: impl std::fmt::Display) -> Error {
    Error::Unreadable {
        what: in_english(&why),
    }
}

/// A list's bound on its way into the store.
pub(crate) fn most(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// One more than a page holds: that one says whether another page follows.
pub(crate) fn one_more(limit: usize) -> i64 {
    most(limit.saturating_add(1))
}

/// How many rows stand before the last one that a page examines. It examines one at least, so that
/// every page gets further.
pub(crate) fn examined(among: Option<usize>) -> i64 {
    most(among.unwrap_or(EXAMINED_MAX).saturating_sub(1))
}

/// A large count on its way into the store.
pub(crate) fn many(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
