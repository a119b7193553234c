//! The store ports on SQLite and PostgreSQL. All SQL lives here, one file per aggregate.
//!
//! `task`, `claim`, `history`, `schedule`, `source`, `edition`, `register`, `sign_in`, `permit`,
//! `overview`, `activity`, `alert`, `courtesy`, `firing`, `inbox` and `run_log` hold the statements and carry
//! out what is the same for both databases; `row` reads what statements return and lists what they
//! are given. `database` says
//! what `sqlite` and `postgres` do each in its own way, `session` what a connection of either can
//! be asked. One conformance suite proves the two equal.

mod activity;
mod alert;
pub mod backup;
mod bulk;
mod calendar;
mod caller;
mod category;
mod claim;
mod coming;
pub mod condition;
mod courtesy;
mod database;
mod depth;
mod edition;
mod entry;
mod find;
mod finish;
mod firing;
mod history;
mod inbox;
mod lanes;
mod lock_file;
mod measure;
mod migrate;
mod model_spend;
mod monitor;
mod newsletter;
mod nudge;
mod overview;
mod pace;
mod permit;
pub mod postgres;
mod register;
mod row;
mod run_log;
mod schedule;
pub mod scratch;
mod session;
mod shared_text;
mod sign_in;
mod source;
pub mod sqlite;
mod task;
#[cfg(test)]
mod tests;
pub mod transfer;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use almanack_core::store::{Cause, Error, Node, Result, Store};
use jiff::Timestamp;

use crate::{
    database::{Database, SqlStore},
    postgres::PostgresStore,
    sqlite::{Durability, SqliteStore},
};

/// Where the data lives.
#[derive(Clone, PartialEq, Eq)]
pub enum Location {
    Sqlite(PathBuf),
    /// A PostgreSQL URL, password and all; never to be printed.
    Postgres(String),
}

/// Without the URL: it may hold a password.
impl std::fmt::Debug for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(path) => f.debug_tuple("Sqlite").field(path).finish(),
            Self::Postgres(_) => f.write_str("Postgres(***)"),
        }
    }
}

/// A database URL that names neither.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("database URL must start with `sqlite:` or `postgres://`")]
pub struct UnknownLocation;

impl Location {
    /// Reads `sqlite:PATH` or `postgres://…`.
    pub fn parse(url: &str) -> std::result::Result<Self, UnknownLocation> {
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return Ok(Self::Postgres(url.to_owned()));
        }
        match url.strip_prefix("sqlite:") {
            Some(path) if !path.is_empty() => {
                Ok(Self::Sqlite(path.strip_prefix("//").unwrap_or(path).into()))
            }
            _ => Err(UnknownLocation),
        }
    }
}

/// What is beside a file, under its name with an ending.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Why a call failed that may succeed later.
fn unavailable(statement: &'static str, source: impl Into<Cause>) -> Error {
    let source = source.into();
    Error::Unavailable { statement, source }
}

/// Who is registered in a database, and what time it is there.
#[derive(Debug, Clone, PartialEq)]
pub struct Register {
    /// Every node on record, alive or not.
    pub nodes: Vec<Node>,
    /// What the database's clock showed before they were read. Nodes keep to it, so it alone says
    /// how long ago they were seen. `None` where the database has no clock.
    pub now: Option<Timestamp>,
}

/// Who is registered there, without opening it as a store: that would migrate what is only looked
/// at. A database without such a table has none.
pub async fn registered(location: &Location) -> Result<Register> {
    match location {
        Location::Sqlite(path) => Ok(Register {
            nodes: sqlite::registered(path)?,
            now: None,
        }),
        Location::Postgres(url) => postgres::registered(url).await,
    }
}

/// Whether a process runs a node on a SQLite file now; where several nodes may work, only their
/// heartbeats say.
pub fn has_node(location: &Location) -> bool {
    match location {
        Location::Sqlite(path) => sqlite::NodeLock::is_held(path),
        Location::Postgres(_) => false,
    }
}

/// Makes this process the node on a SQLite file, until the lock is dropped; nothing where several
/// nodes may work.
pub fn lock_node(
    location: &Location,
) -> std::result::Result<Option<sqlite::NodeLock>, sqlite::Occupied> {
    match location {
        Location::Sqlite(path) => sqlite::NodeLock::take(path).map(Some),
        Location::Postgres(_) => Ok(None),
    }
}

/// Opens the store, creating and migrating it as needed. `durability` concerns SQLite; PostgreSQL's
/// is set by the server (`synchronous_commit`).
pub async fn open(location: &Location, durability: Durability) -> Result<Arc<dyn Store>> {
    Ok(open_for_all(location, durability).await?.work)
}

/// One store, handed out to each sort of caller with its own readers: none can keep another
/// waiting (SF-01).
pub struct Handles {
    /// For the duties of a node.
    pub work: Arc<dyn Store>,
    /// For clients that want something changed.
    pub changes: Arc<dyn Store>,
    /// For clients that read pages. May answer [`almanack_core::store::Error::Busy`].
    pub pages: Arc<dyn Store>,
}

/// [`open`], for a process that answers others.
pub async fn open_for_all(location: &Location, durability: Durability) -> Result<Handles> {
    Ok(match location {
        Location::Sqlite(path) => handles(SqliteStore::open(path, durability)?),
        Location::Postgres(url) => handles(PostgresStore::connect(url).await?),
    })
}

fn handles<D: Database>(work: SqlStore<D>) -> Handles {
    Handles {
        changes: Arc::new(work.for_changes()),
        pages: Arc::new(work.for_pages()),
        work: Arc::new(work),
    }
}
