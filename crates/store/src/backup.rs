//! Backups of a SQLite store, while a node writes to it.
//!
//! A copy is of one moment: the source is read in one transaction from the first page to the last,
//! so that no writer makes the copying begin again, however busy it is (SQLite's backup restarts
//! when it sees a change between two steps). The price is that the log grows meanwhile. Copies are
//! written under another name and renamed when they are whole and on the disk: a file under its own
//! name is a backup, always.
//!
//! A backup that was never read is a hope. Every one is therefore opened and read from end to end
//! before it gets its name: SQLite's own checks, ours, and the rows and checksum of each table
//! against those of that moment. Then it is sealed with a checksum of its bytes (`seal.rs`), and
//! a later reader reads what was proven.
//!
//! How one replaces a store is in `restore.rs`.

mod restore;
mod rotation;
mod seal;

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::{ffi::OsStrExt as _, fs::OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use almanack_core::{percent, store};
use rusqlite::{Connection, OpenFlags, backup::Backup, backup::StepResult};

use crate::{
    beside,
    lock_file::LockFile,
    migrate,
    sqlite::{BUSY_TIMEOUT, applied, explain, unopened},
    transfer::{Sum, sqlite_sum, sqlite_tables},
};

use seal::Seal;

pub use restore::{Left, left_behind, restore};
pub use rotation::Rotation;

/// Pages copied in one step (16 MiB): enough to be fast, few enough to report progress.
const STEP_PAGES: i32 = 4_000;
/// What a backup holds is private: hashes of tokens and passwords, addresses, payloads.
const PRIVATE: u32 = 0o600;

/// What must be true of every store, and how many rows break it.
pub(crate) const RULES: [(&str, &str); 4] = [
    (
        "identities without exactly one current task",
        "select count(*) from (select 1 from task group by subject, kind \
         having count(*) filter (where is_current) <> 1) as odd",
    ),
    (
        "running tasks whose claim is gone",
        "select count(*) from task where status = 'RUNNING' \
         and claim_id not in (select id from claim)",
    ),
    (
        "tasks that wait without a time, or have one without waiting",
        "select count(*) from task where (status = 'INIT' and due_at_us is null) \
         or (status not in ('INIT', 'FAIL') and due_at_us is not null)",
    ),
    (
        "slots of schedules that do not exist",
        "select count(*) from slot where schedule_id not in (select schedule_id from schedule)",
    ),
];

/// Why there is no backup, or no restored store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A database did not do what it was asked.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A file could not be written, read or renamed.
    #[error("{what} `{}`: {source}", path.display())]
    File {
        what: &'static str,
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is a file of this name.
    #[error("`{}` already exists", path.display())]
    Exists { path: PathBuf },
    /// The store that would be replaced holds something.
    #[error("`{}` is not empty; its tables have rows ({rows})", path.display())]
    NotEmpty { path: PathBuf, rows: u64 },
    /// Another process has the store open.
    #[error("`{}` is in use by another process", path.display())]
    InUse { path: PathBuf },
    /// Another process writes the copy now.
    #[error("another backup or restore is running and writes `{}`", path.display())]
    AtWork { path: PathBuf },
    /// A log without its store, which would be applied to whatever gets the store's name.
    #[error("`{}` is the log of a missing store", path.display())]
    Log { path: PathBuf },
    /// It has no checksum: another tool made it, or its end is missing.
    #[error("`{}` has no checksum at its end", path.display())]
    Unsealed { path: PathBuf },
    /// It is no store of ours, or not a whole one.
    #[error("`{}` is not a complete backup: {what}", path.display())]
    Damaged { path: PathBuf, what: String },
}

pub type Result<T> = std::result::Result<T, Error>;

/// Whether what is there may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace {
    Never,
    /// A backup is overwritten; a store is put aside.
    Allowed,
}

/// Whether a copy is read before it gets its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verify {
    /// From end to end.
    Whole,
    Skip,
}

/// Whether a backup's bytes are held against its checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checksum {
    /// Always; a file without one is refused.
    Required,
    /// For a copy that other tools made: its structure alone is checked.
    Ignored,
}

/// What a backup holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// How large it is.
    pub bytes: u64,
    /// SHA-256 of the bytes before it, in hexadecimal digits; none of a store, and none where it
    /// was ignored.
    pub checksum: Option<String>,
    /// The migrations that were applied.
    pub migrations: usize,
    /// Its tables with rows and checksums; empty if not checked.
    pub tables: Vec<(String, Sum)>,
}

/// How far it is: pages left, pages in all.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64);

/// Copies the store at `from` into a file.
pub fn save(
    from: &Path,
    to: &Path,
    (replace, verify): (Replace, Verify),
    report: Progress<'_>,
) -> Result<Held> {
    if replace == Replace::Never && to.exists() {
        return Err(Error::Exists { path: to.into() });
    }
    let source = open(from)?;
    copy_of(&source, to, verify, report)
}

/// Reads a backup from end to end.
pub fn verify(path: &Path, checksum: Checksum) -> Result<Held> {
    let (copy, seal) = opened(path, checksum)?;
    let held = examine(&copy, path)?;
    Ok(Held {
        checksum: seal.map(|seal| seal.checksum),
        ..held
    })
}

/// A backup to read from. One that matches its seal is read as its bytes are: a journal that lies
/// beside it is not its own.
fn opened(path: &Path, checksum: Checksum) -> Result<(Connection, Option<Seal>)> {
    match checksum {
        Checksum::Ignored => Ok((open(path)?, None)),
        Checksum::Required => {
            let seal = seal::check(path)?;
            Ok((open_unchanging(path)?, Some(seal)))
        }
    }
}

/// Whether it is a whole store of ours, and what is in it.
fn examine(copy: &Connection, path: &Path) -> Result<Held> {
    let damaged = |what: String| Error::Damaged {
        path: path.into(),
        what,
    };
    let migrations = applied(copy).map_err(|error| damaged(error.to_string()))?;
    if migrations.is_empty() {
        return Err(damaged("it is not an Almanack store".to_owned()));
    }
    // A newer version of ours made it, and knows what it means.
    migrate::pending(migrate::ALL, &migrations)?;
    let found = faults(copy).map_err(|error| damaged(error.to_string()))?;
    if !found.is_empty() {
        return Err(damaged(found.join("; ")));
    }
    Ok(Held {
        bytes: length(path)?,
        checksum: None,
        migrations: migrations.len(),
        tables: sums(copy).map_err(|error| damaged(error.to_string()))?,
    })
}

fn copy_of(source: &Connection, to: &Path, verify: Verify, report: Progress<'_>) -> Result<Held> {
    let part = beside(to, ".partial");
    let _lock = lock_writer(&part)?;
    let draft = Draft {
        part: &part,
        journal: Journal::Alone,
    };
    let done = written(source, draft, verify, report).and_then(|held| sealed(&part, held));
    match done {
        Ok(held) => rename(&part, to).map(|()| held),
        Err(error) => {
            // A partial copy is of no use.
            discard(&part);
            Err(error)
        }
    }
}

fn sealed(part: &Path, held: Held) -> Result<Held> {
    let seal = seal::close(part)?;
    sync(part)?;
    Ok(Held {
        bytes: length(part)?,
        checksum: Some(seal.checksum),
        ..held
    })
}

/// How a copy is to be written to later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Journal {
    /// A backup is one file, with nothing beside it: a copy of it is complete.
    Alone,
    /// A store is as a node would leave it.
    WriteAhead,
}

impl Journal {
    fn mode(self) -> &'static str {
        match self {
            Self::Alone => "delete",
            Self::WriteAhead => "wal",
        }
    }
}

/// A copy to be made.
#[derive(Debug, Clone, Copy)]
struct Draft<'a> {
    /// Where it is until it gets its name.
    part: &'a Path,
    journal: Journal,
}

/// Writes a copy of one moment, and holds it against that moment.
fn written(
    source: &Connection,
    draft: Draft<'_>,
    check: Verify,
    report: Progress<'_>,
) -> Result<Held> {
    let Draft { part, journal } = draft;
    let failed = |error: rusqlite::Error| explain("copy", error.into());
    create(part)?;
    let snapshot = "begin; select 1 from sqlite_schema limit 1";
    source.execute_batch(snapshot).map_err(failed)?;
    let mut copy = open(part)?;
    pages(source, &mut copy, report).map_err(failed)?;
    copy.pragma_update(None, "journal_mode", journal.mode())
        .map_err(failed)?;
    // The last connection to close merges the log into the file, and removes the log.
    copy.close().map_err(|(_, error)| failed(error))?;
    sync(part)?;
    if check == Verify::Skip {
        return Ok(Held {
            bytes: length(part)?,
            checksum: None,
            migrations: applied(source).map_err(failed)?.len(),
            tables: Vec::new(),
        });
    }
    let held = examine(&open(part)?, part)?;
    let sent = sums(source).map_err(failed)?;
    match sent.iter().zip(&held.tables).find(|(a, b)| a != b) {
        None if sent.len() == held.tables.len() => Ok(held),
        differs => Err(Error::Damaged {
            path: part.into(),
            what: differs.map_or_else(
                || "its tables differ from the store's".to_owned(),
                |((table, sent), (_, arrived))| {
                    format!("table `{table}` has {arrived}, expected {sent}")
                },
            ),
        }),
    }
}

fn pages(source: &Connection, copy: &mut Connection, report: Progress<'_>) -> rusqlite::Result<()> {
    let backup = Backup::new(source, copy)?;
    loop {
        let step = backup.step(STEP_PAGES)?;
        let progress = backup.progress();
        let number = |pages: i32| u64::try_from(pages).unwrap_or_default();
        report(number(progress.remaining), number(progress.pagecount));
        if step == StepResult::Done {
            return Ok(());
        }
    }
}

/// What is wrong with a file, by SQLite's rules and by ours.
pub(crate) fn faults(copy: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut statement = copy.prepare("pragma integrity_check(10)")?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
    for line in lines {
        found.extend(Some(line?).filter(|line| line != "ok"));
    }
    let mut statement = copy.prepare("pragma foreign_key_check")?;
    if statement.exists([])? {
        found.push("a row refers to one that does not exist".to_owned());
    }
    for (what, count) in RULES {
        let rows: i64 = copy.query_row(count, [], |row| row.get(0))?;
        if rows > 0 {
            found.push(format!("{rows} {what}"));
        }
    }
    Ok(found)
}

fn sums(connection: &Connection) -> rusqlite::Result<Vec<(String, Sum)>> {
    let tables = sqlite_tables(connection)?.into_iter();
    let sums = tables.map(|(name, columns)| {
        let sum = sqlite_sum(connection, &name, &columns)?;
        Ok((name, sum))
    });
    sums.collect()
}

fn open(path: &Path) -> Result<Connection> {
    let shown = path.display().to_string();
    // To read a log that a killed node left beside its file, SQLite must be able to write.
    let opened = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
        .or_else(|_| Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY));
    let connection = opened.map_err(|error| unopened(&shown, error))?;
    let waits = connection.busy_timeout(BUSY_TIMEOUT);
    waits.map_err(|error| unopened(&shown, error))?;
    Ok(connection)
}

/// Opens a file that does not change: without locks, and without looking for a journal.
fn open_unchanging(path: &Path) -> Result<Connection> {
    let whole = path.canonicalize();
    let whole = whole.map_err(|source| unread("open", path, source))?;
    let address = format!(
        "file:{}?immutable=1",
        percent::encode_path(whole.as_os_str().as_bytes())
    );
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let opened = Connection::open_with_flags(address, flags);
    Ok(opened.map_err(|error| unopened(&path.display().to_string(), error))?)
}

/// Removes an unwanted copy, with whatever SQLite put beside it.
fn discard(part: &Path) {
    for ending in ["", "-wal", "-shm", "-journal"] {
        let _ = fs::remove_file(beside(part, ending));
    }
}

/// An empty file that others cannot read; what a killed process left under this name goes.
fn create(part: &Path) -> Result<()> {
    discard(part);
    let mut options = OpenOptions::new();
    let made = options
        .write(true)
        .create_new(true)
        .mode(PRIVATE)
        .open(part);
    made.map(drop)
        .map_err(|source| unread("create", part, source))
}

/// Gives a whole file its name, for good: the folder is written too.
fn rename(part: &Path, to: &Path) -> Result<()> {
    fs::rename(part, to).map_err(|source| unread("rename", part, source))?;
    restore::sync_folder(to)
}

fn sync(path: &Path) -> Result<()> {
    let synced = File::open(path).and_then(|file| file.sync_all());
    synced.map_err(|source| unread("write", path, source))
}

fn length(path: &Path) -> Result<u64> {
    let found = fs::metadata(path).map_err(|source| unread("read", path, source))?;
    Ok(found.len())
}

/// Two processes that write a copy for the same name would write into each other's.
fn lock_writer(part: &Path) -> Result<LockFile> {
    let path = lock_of(part);
    let taken = LockFile::take(&path).map_err(|source| unread("lock", &path, source))?;
    taken.map_err(|_| Error::AtWork { path: part.into() })
}

fn lock_of(part: &Path) -> PathBuf {
    beside(part, ".lock")
}

fn unread(what: &'static str, path: &Path, source: io::Error) -> Error {
    Error::File {
        what,
        path: path.into(),
        source,
    }
}
