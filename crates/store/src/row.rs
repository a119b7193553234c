//! Rows read and parameters written: one mapping for both databases.
//!
//! Columns are read by position, in the order of the column lists beside the statements. What the
//! two drivers call a value differs; what the values mean does not.

mod alert;
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
    clock::Mark,
    history::{Attempt, Decision},
    reschedule::{DecisionId, Requested, Rule},
    store::{EXAMINED_MAX, Error, Node, OnceRecord, Result},
    task::{
        ClaimedTask, Identity, Kind, Payload, Priority, Revision, Status, Subject, Task, TaskId,
        Term,
    },
    token::{Scope, Token},
};
use jiff::{SignedDuration, Timestamp};

pub(crate) use alert::{alert, alert_values};
pub(crate) use overview::{change, claim_line, schedule_edit, slot_line, status_count};
pub(crate) use schedule::{
    edit, edit_values, schedule, schedule_name, schedule_values, slot, slot_values,
};
pub(crate) use sign_in::{holder_columns, session, user};
pub(crate) use source::{
    attention_or_null, cadence_or_null, class_or_null, entry, entry_values, fleet, hashes, source,
    source_values,
};
pub(crate) use stand_in::{
    nearest, readable, reason, shown_line, shown_schedule, shown_source, shown_task, shown_token,
    shown_user, strict,
};
pub(crate) use value::{List, Value, lists, values};

/// A row of either database.
pub(crate) enum Row<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

impl<'r> From<&'r rusqlite::Row<'_>> for Row<'r> {
    fn from(row: &'r rusqlite::Row<'_>) -> Self {
        Self::Sqlite(row)
    }
}

impl<'r> From<&'r tokio_postgres::Row> for Row<'r> {
    fn from(row: &'r tokio_postgres::Row) -> Self {
        Self::Postgres(row)
    }
}

impl Row<'_> {
    fn get<T>(&self, index: usize) -> Result<T>
    where
        T: rusqlite::types::FromSql + for<'a> tokio_postgres::types::FromSql<'a>,
    {
        match self {
            Self::Sqlite(row) => row.get(index).map_err(unreadable),
            Self::Postgres(row) => row.try_get(index).map_err(unreadable),
        }
    }
    /// A 64-bit column.
    pub(crate) fn big(&self, index: usize) -> Result<i64> {
        self.get(index)
    }
    /// A 64-bit column that may be null.
    pub(crate) fn big_or_null(&self, index: usize) -> Result<Option<i64>> {
        self.get(index)
    }
    /// A 32-bit column.
    pub(crate) fn int(&self, index: usize) -> Result<i32> {
        self.get(index)
    }
    pub(crate) fn text(&self, index: usize) -> Result<String> {
        self.get(index)
    }
    pub(crate) fn text_or_null(&self, index: usize) -> Result<Option<String>> {
        self.get(index)
    }
    pub(crate) fn truth(&self, index: usize) -> Result<bool> {
        self.get(index)
    }
    pub(crate) fn real_or_null(&self, index: usize) -> Result<Option<f64>> {
        self.get(index)
    }
    pub(crate) fn bytes(&self, index: usize) -> Result<Vec<u8>> {
        self.get(index)
    }
}

/// Reads the columns listed in `task.rs`.
pub(crate) fn task(row: &Row<'_>) -> Result<Task> {
    Ok(Task {
        id: TaskId(row.big(0)?),
        identity: identity(row, 1)?,
        status: Status::parse(&row.text(3)?).map_err(unreadable)?,
        current: row.truth(4)?,
        execute_at: instant(row.big(5)?)?,
        due_at: maybe_instant(row.big_or_null(6)?)?,
        priority: Priority::new(row.int(7)?.into()).map_err(unreadable)?,
        attempt: count(row.int(8)?)?,
        max_retry: count(row.int(9)?)?,
        term: Term(row.big(10)?),
        revision: Revision(row.big(11)?),
        decisions: count(row.int(12)?)?,
        replaces: row.big_or_null(13)?.map(TaskId),
        created_at: instant(row.big(14)?)?,
        created_execute_at: instant(row.big(15)?)?,
        started_at: maybe_instant(row.big_or_null(16)?)?,
        finished_at: maybe_instant(row.big_or_null(17)?)?,
        origin: row.text(18)?,
        node: row.text_or_null(19)?,
        callback_url: row.text_or_null(20)?,
        detail: row.text_or_null(21)?,
        payload: Payload::from_store(row.text(22)?),
        lease_until: maybe_instant(row.big_or_null(23)?)?,
    })
}

/// Reads the columns listed in `claim.rs`.
pub(crate) fn claimed_task(row: &Row<'_>) -> Result<ClaimedTask> {
    Ok(ClaimedTask {
        id: TaskId(row.big(0)?),
        identity: identity(row, 1)?,
        term: Term(row.big(3)?),
        attempt: count(row.int(4)?)?,
        max_retry: count(row.int(5)?)?,
        execute_at: instant(row.big(6)?)?,
        started_at: instant(row.big(7)?)?,
        payload: Payload::from_store(row.text(8)?),
        callback_url: row.text_or_null(9)?,
        revision: Revision(row.big(10)?),
        expiries: count(row.int(11)?)?,
    })
}

/// Reads the columns listed in `history.rs`.
pub(crate) fn decision(row: &Row<'_>) -> Result<Decision> {
    let rule = row.text(4)?;
    Ok(Decision {
        id: DecisionId {
            task_id: TaskId(row.big(0)?),
            number: count(row.int(1)?)?,
        },
        decided_at: instant(row.big(2)?)?,
        origin: row.text(3)?,
        rule: Rule::parse(&rule).ok_or_else(|| unreadable(format!("rule `{rule}`")))?,
        old_execute_at: maybe_instant(row.big_or_null(5)?)?,
        execute_at: instant(row.big(6)?)?,
        revision: row.big(7)?,
        new_task_id: row.big_or_null(8)?.map(TaskId),
        requested: requested(row, 9)?,
        times: count(row.int(12)?)?,
        last_at: maybe_instant(row.big_or_null(13)?)?,
    })
}

/// What was asked for: `put`, with its time, or `cancel`.
fn requested(row: &Row<'_>, index: usize) -> Result<Option<Requested>> {
    let Some(_) = row.text_or_null(index)? else {
        return Ok(None);
    };
    Ok(Some(Requested {
        execute_at: maybe_instant(row.big_or_null(index + 1)?)?,
        revision: row.big_or_null(index + 2)?.map(Revision),
    }))
}

/// Reads the columns listed in `history.rs`.
pub(crate) fn attempt(row: &Row<'_>) -> Result<Attempt> {
    Ok(Attempt {
        task_id: TaskId(row.big(0)?),
        term: Term(row.big(1)?),
        attempt: count(row.int(2)?)?,
        due_at: instant(row.big(3)?)?,
        started_at: instant(row.big(4)?)?,
        finished_at: maybe_instant(row.big_or_null(5)?)?,
        outcome: row.text(6)?,
        late_outcome: row.text_or_null(7)?,
        detail: row.text_or_null(8)?,
        node: row.text_or_null(9)?,
    })
}

/// Reads the columns listed in `register.rs`.
pub(crate) fn node(row: &Row<'_>) -> Result<Node> {
    Ok(Node {
        session: row.text(0)?,
        name: row.text(1)?,
        version: row.text(2)?,
        started_at: instant(row.big(3)?)?,
        seen_at: instant(row.big(4)?)?,
        skew_us: row.big(5)?,
    })
}

/// Reads what a run of a node says of itself.
pub(crate) fn troubles(row: &Row<'_>) -> Result<NodeTroubles> {
    Ok(NodeTroubles {
        node: row.text(0)?,
        seen_at: instant(row.big(1)?)?,
        troubles: Trouble::read_all(&row.text(2)?).map_err(unreadable)?,
    })
}

/// Reads the columns listed in `register.rs`.
pub(crate) fn mark(row: &Row<'_>) -> Result<Mark> {
    Ok(Mark {
        at: instant(row.big(0)?)?,
        uptime: SignedDuration::from_micros(row.big(1)?),
        boot: row.text(2)?,
        revision: row.big(3)?,
    })
}

/// Reads the columns listed in `register.rs`.
pub(crate) fn token(row: &Row<'_>) -> Result<Token> {
    let scope = row.text(2)?;
    Ok(Token {
        name: row.text(0)?,
        hash: row.text(1)?,
        scope: Scope::parse(&scope).ok_or_else(|| unreadable(format!("scope `{scope}`")))?,
        created_at: instant(row.big(3)?)?,
        expires_at: maybe_instant(row.big_or_null(4)?)?,
        revoked_at: maybe_instant(row.big_or_null(5)?)?,
    })
}

/// Reads what a key was used for.
pub(crate) fn once(row: &Row<'_>) -> Result<OnceRecord> {
    Ok(OnceRecord {
        digest: row.text(0)?,
        receipts: serde_json::from_str(&row.text(1)?).map_err(unreadable)?,
    })
}

fn identity(row: &Row<'_>, index: usize) -> Result<Identity> {
    let subject = Subject::parse(&row.text(index)?).map_err(unreadable)?;
    let kind = Kind::parse(&row.text(index + 1)?).map_err(unreadable)?;
    Ok(Identity { subject, kind })
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

pub(crate) fn maybe_instant(micros: Option<i64>) -> Result<Option<Timestamp>> {
    micros.map(instant).transpose()
}

/// Counts are never negative in the store; `core` bounds them far below `i32::MAX`.
fn count(stored: i32) -> Result<u32> {
    u32::try_from(stored).map_err(unreadable)
}

/// A count on its way into the store.
pub(crate) fn small(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

pub(crate) fn unreadable(why: impl std::fmt::Display) -> Error {
    Error::Unreadable {
        what: why.to_string(),
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
