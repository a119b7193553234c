//! The store on SQLite: one file, one writer.
//!
//! The process that opens the file writes through one thread (see `thread.rs`) and reads through a
//! few others, of which each sort of caller has its own (see `caller.rs`); write-ahead logging lets
//! them work at once. Other processes may use the same file: write transactions are `immediate`, so
//! they queue at the file lock instead of failing halfway.

mod claim;
mod inbox;
mod node_lock;
mod pace;
mod permit;
mod schedule;
mod session;
mod source;
mod task;
#[cfg(test)]
mod tests;
mod thread;
mod turns;

pub use node_lock::{NodeLock, Occupied};

use std::{
    fs::{self, OpenOptions},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use almanack_core::store::{Error, Node, Result};
use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig, ffi};

use crate::{
    caller::{Caller, READ_WITHIN, Room, took_too_long},
    database::{Access as Asked, Database, SqlStore},
    measure::Stopwatch,
    migrate,
    nudge::Nudger,
    register, row,
    session::Work,
    sqlite::thread::{Fault, Mode, Outcome, READS, Threads, WRITES, in_transaction},
    unavailable,
};

/// Reads of each sort of caller that may run at the same time. Changes look things up by their
/// keys, which takes microseconds; the engine's watch reads more, and must not be all that is read.
const WORK_READERS: usize = 2;
const CHANGE_READERS: usize = 2;
const PAGE_READERS: usize = 2;
/// How long to queue at the file lock behind another process.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Prepared statements kept per connection; more than there are.
const STATEMENTS_KEPT: usize = 128;
/// The log is copied back into the file when it has this many pages (16 MiB). A busy page is
/// written to the log again and again; copying it back less often saves most of those copies.
const CHECKPOINT_PAGES: i64 = 4_000;
/// Page cache of the connection that writes; negative means KiB.
const WRITER_CACHE_KIB: i64 = -8_000;
/// And of each one that reads. There are six of them, and behind them the system keeps the file's
/// pages: with eight megabytes each, a node with 10,000 sources took 105 MB.
const READER_CACHE_KIB: i64 = -2_000;
/// A node asks this often even without a nudge: another process may have written to the file.
/// Cheap here, an empty claim is a few index probes.
const SAFETY_POLL: SignedDuration = SignedDuration::from_secs(1);

/// What a commit survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Power failure: every commit reaches the disk before it is acknowledged.
    #[default]
    Full,
    /// The death of the process; a power failure may lose the last moments, never consistency.
    Normal,
}

/// The store on one SQLite file, for one sort of caller.
pub type SqliteStore = SqlStore<Sqlite>;

/// The file, and its threads.
pub struct Sqlite {
    access: Arc<Access>,
    caller: Caller,
    nudger: Nudger,
}

enum Access {
    Threads(Staff),
    Inline(Mutex<Connection>),
}

/// All connections. Closed in this order: only a connection that may write can merge
/// the log into the file and remove it, and only the last one does.
struct Staff {
    pages: Threads,
    changes: Threads,
    work: Threads,
    writer: Threads,
    room: Room,
}

impl SqliteStore {
    /// Opens (and creates or migrates) a file, with its own threads.
    pub fn open(path: &Path, durability: Durability) -> Result<Self> {
        create_guarded(path);
        let open = |flags| open_file(path, flags, durability);
        let mut first = open(OpenFlags::default())?;
        migrate(&mut first)?;
        let readers = |count| {
            let opened = (0..count).map(|_| open(OpenFlags::SQLITE_OPEN_READ_ONLY));
            start(opened.collect::<Result<_>>()?, Mode::Read)
        };
        let staff = Staff {
            work: readers(WORK_READERS)?,
            changes: readers(CHANGE_READERS)?,
            pages: readers(PAGE_READERS)?,
            writer: start(vec![first], Mode::Write)?,
            room: Room::new(),
        };
        Ok(Self::over(Access::Threads(staff)))
    }

    fn over(access: Access) -> Self {
        Self(Sqlite {
            access: Arc::new(access),
            caller: Caller::Work,
            nudger: Nudger::new(),
        })
    }

    /// Opens a store in memory that works on the caller's own thread: every call is complete at its
    /// first poll, which is what makes a simulation on it deterministic.
    pub fn in_memory() -> Result<Self> {
        Self::inline(Connection::open_in_memory().map_err(|e| unopened("memory", e))?)
    }

    /// Works on the caller's own thread, over a connection the caller made.
    pub fn inline(mut connection: Connection) -> Result<Self> {
        keep_plans(&connection).map_err(|e| unopened("memory", e))?;
        migrate(&mut connection)?;
        Ok(Self::over(Access::Inline(Mutex::new(connection))))
    }
}

impl Sqlite {
    /// Runs `work` in a write transaction, shared with whatever else is waiting.
    async fn on_writer<T, F>(&self, statement: &'static str, mut work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Connection) -> Outcome<T> + Send + 'static,
    {
        let done = match &*self.access {
            Access::Threads(staff) => {
                let watch = Stopwatch::start();
                let done = staff.writer.ask(noting_wait(watch, "writer", work)).await;
                watch.took("write");
                done
            }
            Access::Inline(connection) => match connection.lock() {
                Ok(mut connection) => in_transaction(&mut connection, WRITES, &mut work),
                Err(_) => Err(Fault::Stopped),
            },
        };
        done.map_err(|fault| explain(statement, fault))
    }

    /// Runs `work` on a connection of this caller's that only reads. A caller that stops waiting
    /// stops it.
    async fn on_reader<T, F>(&self, statement: &'static str, mut work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Connection) -> Outcome<T> + Send + 'static,
    {
        let done = match &*self.access {
            Access::Threads(staff) => return staff.read(self.caller, statement, work).await,
            Access::Inline(connection) => match connection.lock() {
                Ok(mut connection) => work(&mut connection),
                Err(_) => Err(Fault::Stopped),
            },
        };
        done.map_err(|fault| explain(statement, fault))
    }
}

impl Staff {
    async fn read<T, F>(&self, caller: Caller, statement: &'static str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Connection) -> Outcome<T> + Send + 'static,
    {
        let _place = self.room.enter(caller)?;
        let watch = Stopwatch::start();
        let work = noting_wait(watch, caller.as_str(), work);
        let done = match caller {
            Caller::Work => self.work.ask(work).await,
            Caller::Changes => self.changes.ask(work).await,
            Caller::Pages => {
                let asked = tokio::time::timeout(READ_WITHIN, self.pages.ask(work));
                asked.await.map_err(|_| took_too_long(statement))?
            }
        };
        watch.took("read");
        done.map_err(|fault| explain(statement, fault))
    }
}

impl Database for Sqlite {
    const SAFETY_POLL: SignedDuration = SAFETY_POLL;

    fn handed_to(&self, caller: Caller) -> Self {
        Self {
            access: Arc::clone(&self.access),
            caller,
            nudger: self.nudger.clone(),
        }
    }

    fn nudger(&self) -> &Nudger {
        &self.nudger
    }

    fn text(sqlite: &'static str, _: &'static str) -> &'static str {
        sqlite
    }

    async fn ask<A, T>(
        &self,
        access: Asked,
        name: &'static str,
        args: A,
        work: Work<A, T>,
    ) -> Result<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        let asked = move |connection: &mut Connection| session::ask(connection, name, &args, work);
        match access {
            Asked::Read => self.on_reader(name, asked).await,
            Asked::Moment => {
                let mut asked = asked;
                let of_one_moment = move |connection: &mut Connection| {
                    in_transaction(connection, READS, &mut asked)
                };
                self.on_reader(name, of_one_moment).await
            }
            Asked::Statement | Asked::Transaction => self.on_writer(name, asked).await,
        }
    }

    async fn hint(&self, due_at: Option<Timestamp>) {
        if let Some(due_at) = due_at {
            self.nudger.nudge(due_at);
        }
    }

    /// One machine, one clock: there is nothing to correct.
    async fn database_time(&self) -> Result<Option<Timestamp>> {
        Ok(None)
    }

    async fn ping(&self) -> Result<()> {
        self.on_reader("ping", |connection| {
            Ok(connection.query_row("select 1", [], |_| Ok(()))?)
        })
        .await
    }
}

/// The same work, which notes when it is begun how long it waited.
fn noting_wait<T, F>(
    watch: Stopwatch,
    pool: &'static str,
    mut work: F,
) -> impl FnMut(&mut Connection) -> Outcome<T> + Send + 'static
where
    T: Send + 'static,
    F: FnMut(&mut Connection) -> Outcome<T> + Send + 'static,
{
    let mut is_waiting = true;
    move |connection| {
        if std::mem::take(&mut is_waiting) {
            watch.waited(pool);
        }
        work(connection)
    }
}

/// Who is registered in a file that is only looked at.
pub(crate) fn registered(path: &Path) -> Result<Vec<Node>> {
    let connection = open_as_it_is(path)?;
    let load = || -> Outcome<Vec<Node>> {
        if !connection.table_exists(None, "node")? {
            return Ok(Vec::new());
        }
        let mut statement = connection.prepare(register::LOAD_NODES)?;
        let mut rows = statement.query([])?;
        let mut nodes = Vec::new();
        while let Some(row) = rows.next()? {
            nodes.extend(row::readable("node", row::node(&row.into())));
        }
        Ok(nodes)
    };
    load().map_err(|fault| explain("load nodes", fault))
}

fn start(connections: Vec<Connection>, mode: Mode) -> Result<Threads> {
    let started = Threads::start(connections, mode);
    started.map_err(|error| unavailable("start database thread", error))
}

/// Makes a file that is not there yet: it will hold hashes of tokens and other people's payloads,
/// so only its owner and, as far as the umask allows, its group may read it. SQLite gives its logs
/// the same rights. Where this fails, opening says why.
fn create_guarded(path: &Path) {
    let mut options = OpenOptions::new();
    let _ = options
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o660)
        .open(path);
}

/// Opens a file that is there, without changing how it is kept.
pub(crate) fn open_as_it_is(path: &Path) -> Result<Connection> {
    let opened = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE);
    let waiting = opened.and_then(|connection| {
        connection.busy_timeout(BUSY_TIMEOUT)?;
        Ok(connection)
    });
    waiting.map_err(|error| unopened(&path.display().to_string(), error))
}

/// Whether a log holds anything; SQLite leaves empty ones behind.
pub(crate) fn holds(log: &Path) -> bool {
    fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

fn open_file(path: &Path, flags: OpenFlags, durability: Durability) -> Result<Connection> {
    let shown = path.display().to_string();
    let connection =
        Connection::open_with_flags(path, flags).map_err(|error| unopened(&shown, error))?;
    let cache_kib = if flags.contains(OpenFlags::SQLITE_OPEN_READ_ONLY) {
        READER_CACHE_KIB
    } else {
        WRITER_CACHE_KIB
    };
    prepare(&connection, durability, cache_kib).map_err(|error| unopened(&shown, error))?;
    Ok(connection)
}

fn prepare(
    connection: &Connection,
    durability: Durability,
    cache_kib: i64,
) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    keep_plans(connection)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    let synchronous = match durability {
        Durability::Full => "full",
        Durability::Normal => "normal",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    connection.pragma_update(None, "cache_size", cache_kib)?;
    connection.pragma_update(None, "temp_store", "memory")
}

/// Keeps statements and their plans. Without the guarantee asked for here (QPSG) SQLite was seen to
/// plan statements anew when other values were bound, at almost half the simulator's time; the
/// partial indexes are the likely reason.
fn keep_plans(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Two processes may start at once: each step is its own immediate transaction that first looks
/// again at what has been applied.
fn migrate(connection: &mut Connection) -> Result<()> {
    in_transaction(connection, WRITES, |connection| {
        connection.execute_batch(migrate::CREATE_LEDGER)?;
        for migration in migrate::pending(migrate::ALL, &applied(connection)?)? {
            connection.execute_batch(migration.sqlite)?;
            connection.execute(migrate::NOTE_APPLIED, (migration.number, migration.name))?;
            let mark = (migration.number, migration.works_from());
            connection.execute(migrate::MARK_APPLIED, mark)?;
        }
        Ok(())
    })
    .map_err(|fault| explain("migrate", fault))
}

/// The steps that a file has; none if it has no list of them.
pub(crate) fn applied(connection: &Connection) -> rusqlite::Result<Vec<migrate::Applied>> {
    let [steps, marks] = migrate::LEDGERS.map(|table| connection.table_exists(None, table));
    let text = match (steps?, marks?) {
        (false, _) => return Ok(Vec::new()),
        (true, false) => migrate::LOAD_UNMARKED,
        (true, true) => migrate::LOAD_APPLIED,
    };
    let mut statement = connection.prepare(text)?;
    let rows = statement.query_map([], |row| {
        Ok(migrate::Applied {
            number: row.get(0)?,
            name: row.get(1)?,
            works_from: row.get(2)?,
        })
    })?;
    rows.collect()
}

pub(crate) fn unopened(path: &str, error: rusqlite::Error) -> Error {
    let statement = "open database file";
    match explain(statement, Fault::Driver(error)) {
        Error::Unavailable { source, .. } => unavailable(statement, format!("{path}: {source}")),
        Error::Unwritable { source, .. } => Error::Unwritable {
            statement,
            source: format!("{path}: {source}").into(),
        },
        other => other,
    }
}

/// Sorts the driver's errors by what a caller can do about them.
pub(crate) fn explain(statement: &'static str, fault: Fault) -> Error {
    let error = match fault {
        Fault::Store(error) => return error,
        Fault::Stopped => return unavailable(statement, "the database thread stopped"),
        Fault::NotBegun(why) => return unavailable(statement, why),
        Fault::Driver(error) => error,
    };
    let source = Box::new(error);
    match source.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation | ErrorCode::TooBig | ErrorCode::TypeMismatch) => {
            Error::Refused { statement, source }
        }
        Some(ErrorCode::ReadOnly | ErrorCode::DiskFull | ErrorCode::PermissionDenied) => {
            Error::Unwritable { statement, source }
        }
        Some(ErrorCode::SystemIoFailure) if write_failed(&source) => {
            Error::Unwritable { statement, source }
        }
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Error::Incompatible {
            what: source.to_string(),
        },
        _ => Error::Unavailable { statement, source },
    }
}

/// A quota or a limit on file sizes refuses a write as a full disk does, but SQLite calls only the
/// disk full; the others are I/O errors to it.
fn write_failed(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|cause| cause.extended_code);
    matches!(
        code,
        Some(ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_TRUNCATE | ffi::SQLITE_IOERR_SHMSIZE)
    )
}
