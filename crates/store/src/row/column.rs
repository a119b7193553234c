//! What a column holds, as `core` knows it: one table for both databases.

use almanack_core::{
    alert::{self, About, Severity},
    callback::Callback,
    edition::{self, batch, delivery, ladder, story},
    lang::Sentence,
    newsletter::{mailing, subscriber},
    plan::{Edited, Origin, PingKind, ScheduleId, ScheduleName, Verdict},
    reschedule::Rule,
    source::{
        Attention, SourceId,
        check::FailureClass,
        policy::cadence::{Cadence, Frequency},
    },
    store::{ClaimId, Result},
    task::{Kind, Payload, Priority, Revision, Status, Subject, Tags, TaskId, Term},
    token::Scope,
};
use jiff::Timestamp;
use rusqlite::types::{FromSqlResult, ValueRef};
use tokio_postgres::types::{FromSql, Type};

use super::{instant, nearest, unreadable};

/// What both drivers can hand out.
pub(crate) trait Kept: Clone + rusqlite::types::FromSql + for<'a> FromSql<'a> {}
impl<T: Clone + rusqlite::types::FromSql + for<'a> FromSql<'a>> Kept for T {}

/// What is read from one column.
pub(crate) trait Column: Sized {
    type Kept: Kept;
    fn read(kept: Self::Kept) -> Result<Self>;
    /// What is shown in place of a value that cannot be read; without it the row is left out.
    fn instead(_: Option<Self::Kept>) -> Option<Self> {
        None
    }
}

impl<T: Column> Column for Option<T> {
    type Kept = Option<T::Kept>;

    fn read(kept: Self::Kept) -> Result<Self> {
        kept.map(T::read).transpose()
    }

    fn instead(kept: Option<Self::Kept>) -> Option<Self> {
        Some(kept.flatten().and_then(|kept| T::instead(Some(kept))))
    }
}

/// A whole number, however wide PostgreSQL keeps it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Number(i64);

impl rusqlite::types::FromSql for Number {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        i64::column_result(value).map(Self)
    }
}

impl<'a> FromSql<'a> for Number {
    fn from_sql(
        column: &Type,
        raw: &'a [u8],
    ) -> std::result::Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(match *column {
            Type::INT4 => i32::from_sql(column, raw)?.into(),
            _ => i64::from_sql(column, raw)?,
        }))
    }

    tokio_postgres::types::accepts!(INT4, INT8);
}

/// How a type is read from what is kept, and what stands in for it, if anything does.
macro_rules! read_from {
    ($($type:ty: $kept:ty, $given:ident => $read:expr $(, else $instead:expr)?;)*) => {$(
        impl Column for $type {
            type Kept = $kept;
            fn read($given: $kept) -> Result<Self> {
                $read
            }
            $(fn instead(_: Option<$kept>) -> Option<Self> {
                $instead
            })?
        }
    )*};
}
read_from! {
    bool: bool, truth => Ok(truth), else Some(true);
    f64: f64, number => Ok(number);
    String: String, text => Ok(text), else Some(String::new());
    Vec<u8>: Vec<u8>, bytes => Ok(bytes), else Some(Vec::new());
    i64: Number, number => Ok(number.0);
    i32: Number, number => i32::try_from(number.0).map_err(unreadable);
    // Counts are never negative in the store; `core` bounds the short ones far below `i32::MAX`.
    u32: Number, count => u32::try_from(count.0).map_err(unreadable), else Some(0);
    u64: Number, count => u64::try_from(count.0).map_err(unreadable), else Some(0);
    usize: Number, count => usize::try_from(count.0).map_err(unreadable);
    TaskId: Number, id => Ok(Self(id.0));
    ClaimId: Number, id => Ok(Self(id.0));
    ScheduleId: Number, id => Ok(Self(id.0));
    SourceId: Number, id => Ok(Self(id.0));
    Term: Number, term => Ok(Self(term.0)), else Some(Self(0));
    Revision: Number, revision => Ok(Self(revision.0)), else Some(Self(0));
    Priority: Number, level => Self::new(level.0).map_err(unreadable), else Some(Self::DEFAULT);
    Payload: String, text => Ok(Self::from_store(text)), else Some(Self::default());
    Tags: String, text => Ok(Self::from_text(&text)), else Some(Self::NONE);
    Subject: String, text => Self::try_from(text).map_err(unreadable),
        else Self::parse("unreadable").ok();
    Kind: String, text => Self::try_from(text).map_err(unreadable),
        else Self::parse("UNREADABLE").ok();
    Status: String, text => Self::parse(&text).map_err(unreadable), else Some(Self::Fail);
    ScheduleName: String, text => Self::parse(&text).map_err(unreadable);
    Box<Callback>: String, text => serde_json::from_str(&text).map_err(unreadable);
    Cadence: String, text => text.parse().map_err(unreadable);
    Sentence: String, text => Ok(Self::from_stored(&text));
}

/// An instant that is shown, and that no calendar has, is as far away as instants go.
impl Column for Timestamp {
    type Kept = Number;

    fn read(micros: Number) -> Result<Self> {
        instant(micros.0)
    }

    fn instead(micros: Option<Number>) -> Option<Self> {
        micros.map(|micros| nearest(micros.0))
    }
}

/// The same for what has names, each with what a name is of.
macro_rules! named {
    ($($type:ty: $what:literal $(, else $instead:expr)?;)*) => { read_from! {$(
        $type: String, name => Self::parse(&name).ok_or_else(|| unreadable(format!($what, name)))
            $(, else $instead)?;
    )*}};
}
named! {
    Rule: "rule `{}`";
    Scope: "scope `{}`", else Some(Self::Read);
    Origin: "origin `{}`", else Some(Self::Api);
    Verdict: "verdict `{}`";
    Edited: "edit `{}`";
    PingKind: "ping `{}`";
    Attention: "attention `{}`";
    FailureClass: "failure class `{}`";
    Frequency: "frequency `{}`";
    edition::State: "state `{}`";
    batch::Status: "status `{}`";
    delivery::State: "state `{}`";
    mailing::State: "state `{}`";
    subscriber::State: "state `{}`";
    story::Status: "status `{}`";
    story::Note: "note `{}`";
    ladder::Cause: "cause `{}`";
    alert::Rule: "rule `{}` of an alert";
    About: "subject `{}` of an alert";
    Severity: "severity `{}` of an alert";
}
