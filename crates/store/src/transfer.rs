//! Moving a whole store from one database into another.
//!
//! What is moved is read from the databases themselves: every table both have, every column, as it
//! is. Nothing here knows what a task is, so a table that a later migration adds is moved without a
//! change here. Claims and nodes are rows like all others: a task that was RUNNING when its node
//! was killed arrives RUNNING, under a lease that passes there as it would have passed here.
//!
//! The target is looked at before anything is made there (`empty.rs`): one that holds rows, or what
//! is not ours, is refused as it is.
//!
//! INVARIANT: the target gets everything or nothing. All rows are written in one transaction, in
//! which they are also read back: unless each table has the rows and the checksum it had at the
//! source, nothing is kept. A process killed in between leaves an empty database with all its
//! tables, which is where every move starts.

mod digest;
mod empty;
mod postgres;
mod sqlite;
mod value;

use std::path::Path;

use almanack_core::store;
use rusqlite::types::Value;

use crate::{
    Location, migrate,
    sqlite::{Durability, SqliteStore},
};

pub use digest::Sum;
pub(crate) use sqlite::{counts as sqlite_counts, sum as sqlite_sum, tables as sqlite_tables};

/// Rows that travel together.
const BATCH_ROWS: usize = 1_000;

/// Why a store was not moved.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A database did not do what it was asked.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// There is something at the target already.
    #[error("the target is not empty; it has rows in {found}")]
    NotEmpty {
        /// Which tables, and how many rows each.
        found: String,
    },
    /// The target is in use by another process.
    #[error("the target contains objects that are not Almanack's: {found}")]
    Foreign {
        /// The first of it by name.
        found: String,
    },
    /// The source is of an earlier version.
    #[error("the source has {applied} of {known} migrations")]
    Behind {
        applied: usize,
        /// What this version knows.
        known: usize,
    },
    /// The two databases have different schemas; no version of ours makes such a pair.
    #[error("the two databases have different schemas: {what}")]
    Unlike { what: String },
    /// A value that the other database cannot hold.
    #[error("table `{table}`: {what}")]
    Unfit {
        table: String,
        /// What is wrong with it.
        what: String,
    },
    /// What arrived is not what was sent.
    #[error("table `{table}` arrived as {arrived}, expected {sent}")]
    Differs {
        table: String,
        /// Rows and checksum at the source.
        sent: Sum,
        /// Rows and checksum at the target.
        arrived: Sum,
    },
    /// Both sides are the same kind of database: its own tools copy it better.
    #[error("source and target are the same kind of database")]
    SameMake,
}

pub type Result<T> = std::result::Result<T, Error>;

/// Whether other processes may write to the source meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Others {
    /// They wait: what is moved is all there is.
    Wait,
    /// They go on: what they write from now on stays behind.
    GoOn,
}

/// How far it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// So many rows are to be moved.
    Total(u64),
    /// So many more rows of a table are there.
    Moved { table: String, rows: u64 },
    /// So many more rows of a table were read back.
    Compared { table: String, rows: u64 },
}

/// One table that was moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    pub table: String,
    /// What both sides have.
    pub sum: Sum,
}

/// A table as both databases have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) name: String,
    /// Sorted by name: the two databases have them in different orders.
    pub(crate) columns: Vec<Column>,
    /// In this order rows are read where the database does not keep them in it.
    key: Vec<String>,
    /// The column whose numbers are never used twice.
    numbered: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// What PostgreSQL keeps there. SQLite keeps what it is given.
    pub(crate) kind: value::Kind,
}

impl Table {
    fn column_list(&self) -> String {
        let quoted = self.columns.iter().map(|column| quoted(&column.name));
        quoted.collect::<Vec<_>>().join(", ")
    }
}

/// An identifier as both databases read it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Moves everything from one store into another, which must be empty; it is created where it is
/// missing.
pub async fn transfer(
    from: &Location,
    to: &Location,
    others: Others,
    report: &mut dyn FnMut(Step),
) -> Result<Vec<Moved>> {
    match (from, to) {
        (Location::Sqlite(from), Location::Postgres(url)) => {
            let source = sqlite::Side::read(from, others)?;
            postgres::refuse_used(url).await?;
            crate::open(to, Durability::Full).await?;
            let target = postgres::Side::write(url).await?;
            let moved = into_postgres(&source, &target, report).await;
            target.end(moved).await
        }
        (Location::Postgres(url), Location::Sqlite(path)) => {
            let source = postgres::Side::read(url, others).await?;
            let moved = into_file(&source, path, report).await;
            source.let_go().await;
            moved
        }
        (Location::Sqlite(_), Location::Sqlite(_))
        | (Location::Postgres(_), Location::Postgres(_)) => Err(Error::SameMake),
    }
}

async fn into_postgres(
    source: &sqlite::Side,
    target: &postgres::Side,
    report: &mut dyn FnMut(Step),
) -> Result<Vec<Moved>> {
    let tables = target.tables().await?;
    agree(&source.names()?, &tables)?;
    source.fit(&tables)?;
    refuse_filled(target.counts(&names(&tables)).await?)?;
    report(Step::Total(total(&source.counts(&names(&tables))?)));
    postgres::fill(source, target, &tables, report).await
}

/// Into a file that may not be there yet.
async fn into_file(
    source: &postgres::Side,
    path: &Path,
    report: &mut dyn FnMut(Step),
) -> Result<Vec<Moved>> {
    sqlite::refuse_used(path)?;
    drop(SqliteStore::open(path, Durability::Full)?);
    let target = sqlite::Side::write(path)?;
    let moved = into_sqlite(source, &target, report).await?;
    target.commit()?;
    Ok(moved)
}

async fn into_sqlite(
    source: &postgres::Side,
    target: &sqlite::Side,
    report: &mut dyn FnMut(Step),
) -> Result<Vec<Moved>> {
    let tables = source.tables().await?;
    agree(&target.names()?, &tables)?;
    target.fit(&tables)?;
    refuse_filled(target.counts(&names(&tables))?)?;
    report(Step::Total(total(&source.counts(&names(&tables)).await?)));
    sqlite::fill(source, target, &tables, report).await
}

fn names(tables: &[Table]) -> Vec<&str> {
    tables.iter().map(|table| table.name.as_str()).collect()
}

fn total(counts: &[(String, u64)]) -> u64 {
    counts.iter().map(|(_, rows)| rows).sum()
}

impl Sum {
    /// With these rows, which are on their way.
    fn moved(&mut self, table: &Table, rows: &[Vec<Value>]) -> Step {
        self.extend(rows);
        Step::Moved {
            table: table.name.clone(),
            rows: rows.len() as u64,
        }
    }

    /// With these rows, which were read back.
    fn compared(&mut self, table: &Table, rows: &[Vec<Value>]) -> Step {
        self.extend(rows);
        Step::Compared {
            table: table.name.clone(),
            rows: rows.len() as u64,
        }
    }
}

/// Whether both have the same tables.
fn agree(names: &[String], tables: &[Table]) -> Result<()> {
    let others = self::names(tables);
    let missing = |one: &[&str], other: &[&str]| -> Vec<String> {
        let lost = one.iter().filter(|name| !other.contains(name));
        lost.map(|name| format!("`{name}`")).collect()
    };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut lost = missing(&names, &others);
    lost.extend(missing(&others, &names));
    if lost.is_empty() {
        return Ok(());
    }
    let what = format!("only one has {}", lost.join(", "));
    Err(Error::Unlike { what })
}

fn refuse_filled(counts: Vec<(String, u64)>) -> Result<()> {
    let found = counts.into_iter().filter(|(_, rows)| *rows > 0);
    let found: Vec<String> = found
        .map(|(table, rows)| format!("`{table}` ({rows})"))
        .collect();
    if found.is_empty() {
        return Ok(());
    }
    Err(Error::NotEmpty {
        found: found.join(", "),
    })
}

/// A source must be as this version would leave it: to migrate it here would change what may have
/// to stay unchanged, for an operator who goes back.
fn up_to_date(applied: &[migrate::Applied]) -> Result<()> {
    let left = migrate::pending(migrate::ALL, applied)?;
    if left.is_empty() {
        return Ok(());
    }
    Err(Error::Behind {
        applied: applied.len(),
        known: migrate::ALL.len(),
    })
}

fn compare(table: &Table, sent: Sum, arrived: Sum) -> Result<Moved> {
    if sent == arrived {
        return Ok(Moved {
            table: table.name.clone(),
            sum: sent,
        });
    }
    Err(Error::Differs {
        table: table.name.clone(),
        sent,
        arrived,
    })
}
