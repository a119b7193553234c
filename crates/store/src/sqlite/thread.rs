//! Threads that own SQLite connections.
//!
//! SQLite has one writer. Giving that writer its own thread turns contention into a queue, and
//! the queue into group commit: everything waiting when the thread looks up shares one transaction
//! and one flush to disk. A job that fails must not take its neighbours with it, so a group that
//! fails is rolled back and its jobs run again one by one; jobs are therefore written to be run
//! more than once.
//!
//! What is read has no effect, so a read that no caller waits for any more is not begun, and one
//! that is under way is stopped.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
};

use almanack_core::store::Error;
use rusqlite::{Connection, ErrorCode};
use tokio::sync::oneshot;

/// Most jobs that share one commit; bounds how long the first of them waits for the last.
const GROUP_MAX: usize = 256;
/// After so many steps of SQLite's machine, some tens of microseconds, a read looks up whether
/// anybody still waits for it.
const STEPS: i32 = 4_000;

/// Why a job failed: the driver said so, or what it read was malformed.
#[derive(Debug)]
pub(crate) enum Fault {
    Driver(rusqlite::Error),
    Store(Error),
    /// No transaction could be started: another process holds the file.
    NotBegun(String),
    /// The thread is gone; only possible while the process ends.
    Stopped,
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Driver(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

/// What a job answers with.
pub(super) type Outcome<T> = Result<T, Fault>;

/// A piece of work that a connection's thread does.
trait Job: Send {
    fn run(&mut self, connection: &mut Connection) -> Outcome<()>;
    /// Answers the requester: the result of `run`, or why it failed.
    fn answer(self: Box<Self>, committed: Outcome<()>);
    /// Set when no caller waits for the answer any more.
    fn abandoned(&self) -> Arc<AtomicBool>;
}

struct Asked<T, F> {
    work: F,
    made: Option<T>,
    reply: oneshot::Sender<Outcome<T>>,
    abandoned: Arc<AtomicBool>,
}

/// Held by the requester while it waits.
struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl<T: Send, F: FnMut(&mut Connection) -> Outcome<T> + Send> Job for Asked<T, F> {
    fn run(&mut self, connection: &mut Connection) -> Outcome<()> {
        self.made = Some((self.work)(connection)?);
        Ok(())
    }

    fn answer(self: Box<Self>, committed: Outcome<()>) {
        let answer = match (committed, self.made) {
            (Ok(()), Some(made)) => Ok(made),
            (Err(error), _) => Err(error),
            (Ok(()), None) => Err(Fault::Stopped),
        };
        // A requester that went away no longer cares; the effect stays.
        let _ = self.reply.send(answer);
    }

    fn abandoned(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.abandoned)
    }
}

/// A handle to one or more threads with a connection each.
pub(super) struct Threads {
    queue: Mutex<Sender<Box<dyn Job>>>,
    running: Vec<JoinHandle<()>>,
}

/// How a thread treats its work.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// In groups, each group one transaction.
    Write,
    Read,
}

impl Threads {
    /// Starts one thread per connection, all fed from one queue. They end with the handle.
    pub(super) fn start(connections: Vec<Connection>, mode: Mode) -> std::io::Result<Self> {
        let (queue, jobs) = channel::<Box<dyn Job>>();
        let jobs = Arc::new(Mutex::new(jobs));
        let name = if mode == Mode::Write {
            "sqlite-writer"
        } else {
            "sqlite-reader"
        };
        let mut running = Vec::with_capacity(connections.len());
        for mut connection in connections {
            let jobs = Arc::clone(&jobs);
            let thread = thread::Builder::new().name(name.into());
            running.push(thread.spawn(move || match mode {
                Mode::Write => write_all(&mut connection, &jobs),
                Mode::Read => read_all(&mut connection, &jobs),
            })?);
        }
        Ok(Self {
            queue: Mutex::new(queue),
            running,
        })
    }

    /// Has `work` done and waits for it. `work` may run more than once; only the last run counts.
    pub(super) async fn ask<T, F>(&self, work: F) -> Outcome<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Connection) -> Outcome<T> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let waiting = Waiting(Arc::default());
        let job = Box::new(Asked {
            work,
            made: None,
            reply,
            abandoned: Arc::clone(&waiting.0),
        });
        let sent = match self.queue.lock() {
            Ok(queue) => queue.send(job).is_ok(),
            Err(_) => false,
        };
        match answer.await {
            Ok(answer) if sent => answer,
            _ => Err(Fault::Stopped),
        }
    }
}

/// Waits until every connection is closed: the caller that drops a store may move or remove its
/// files right after, and SQLite removes the log of the last connection when that one closes.
impl Drop for Threads {
    fn drop(&mut self) {
        self.queue = Mutex::new(channel().0);
        for thread in self.running.drain(..) {
            let _ = thread.join();
        }
    }
}

fn next(jobs: &Mutex<Receiver<Box<dyn Job>>>) -> Option<Box<dyn Job>> {
    jobs.lock().ok()?.recv().ok()
}

fn read_all(connection: &mut Connection, jobs: &Mutex<Receiver<Box<dyn Job>>>) {
    while let Some(mut job) = next(jobs) {
        let abandoned = job.abandoned();
        if abandoned.load(Ordering::Relaxed) {
            continue;
        }
        let stops = move || abandoned.load(Ordering::Relaxed);
        let heeded = connection.progress_handler(STEPS, Some(stops));
        let done = heeded
            .map_err(Fault::from)
            .and_then(|()| job.run(connection));
        job.answer(done);
    }
}

fn write_all(connection: &mut Connection, jobs: &Mutex<Receiver<Box<dyn Job>>>) {
    while let Some(first) = next(jobs) {
        let mut group = vec![first];
        if let Ok(jobs) = jobs.lock() {
            group.extend(jobs.try_iter().take(GROUP_MAX - 1));
        }
        commit_group(connection, group);
    }
}

fn commit_group(connection: &mut Connection, mut group: Vec<Box<dyn Job>>) {
    let together = commit(connection, &mut group);
    if let Err(Fault::NotBegun(why)) = &together {
        // It failed for all of them alike; trying each alone would multiply the wait.
        for job in group {
            job.answer(Err(Fault::NotBegun(why.clone())));
        }
        return;
    }
    if together.is_ok() || group.len() == 1 {
        // One error, one requester: it gets the error itself.
        let mut verdict = Some(together);
        for job in group {
            job.answer(verdict.take().unwrap_or(Ok(())));
        }
        return;
    }
    for job in group {
        let mut alone = [job];
        let done = commit(connection, &mut alone);
        let [job] = alone;
        job.answer(done);
    }
}

/// Begins a transaction that may write at once, or waits for the one that does.
pub(super) const WRITES: &str = "begin immediate";
/// Begins one that reads everything as it is at its first look.
pub(super) const READS: &str = "begin";

/// Runs `work` in one transaction; an error leaves nothing behind.
pub(super) fn in_transaction<T>(
    connection: &mut Connection,
    begin: &str,
    mut work: impl FnMut(&mut Connection) -> Outcome<T>,
) -> Outcome<T> {
    match connection.execute_batch(begin) {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
            return Err(Fault::NotBegun(error.to_string()));
        }
        done => done?,
    }
    let made = work(connection).and_then(|made| {
        connection.execute_batch("commit")?;
        Ok(made)
    });
    if !connection.is_autocommit() {
        connection.execute_batch("rollback")?;
    }
    made
}

fn commit(connection: &mut Connection, jobs: &mut [Box<dyn Job>]) -> Outcome<()> {
    in_transaction(connection, WRITES, |connection| {
        jobs.iter_mut().try_for_each(|job| job.run(connection))
    })
}
