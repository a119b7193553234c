//! Keeps what runs print, without slowing anything else (DP-20).
//!
//! All attempts of a node share one writer. It gathers what they printed for a second, or until a
//! piece is full, and hands it to the store in one call of bounded size; the next call is not made
//! before that one is answered and `REST` has passed. So however much is printed, SQLite's one
//! writer has at most one short job of ours in its queue, and a claim waits for no more than that
//! ([ADR 0041](../../../docs/adr/0041-run-logs.md)).
//!
//! The writer exists only while there is something to write: a quiet node pays nothing. A store that
//! refuses is asked again later; meanwhile a log loses its middle, never its run.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use almanack_core::{
    locked,
    run_log::{Buffer, KnownSecrets, Redactor, RunLog, RunLogs},
    store::{Error, LogWrite, PIECE_BYTES_MAX, RunId, Store},
    time::{Clock, Sleeper},
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Notify;

use crate::wake::later;

/// How long output waits for company.
const GATHERED_FOR: SignedDuration = SignedDuration::from_secs(1);
/// Output that does not wait.
const GATHERED_BYTES: usize = PIECE_BYTES_MAX;
/// What one call of the store carries, or a piece more.
pub const CALL_BYTES_MAX: usize = 256 * 1024;
/// Between two calls.
const REST: SignedDuration = SignedDuration::from_millis(50);
/// After a call that failed.
const TRIED_AGAIN_AFTER: SignedDuration = SignedDuration::from_secs(2);
/// How long an attempt that ended waits for its output to be kept.
const ENDS_WITHIN: SignedDuration = SignedDuration::from_secs(10);

/// Keeps the logs of all runs on this node.
#[derive(Clone)]
pub struct RunLogKeeper(Arc<Keeper>);

struct Keeper {
    /// Not the one that claims: see [`almanack_core::store`]'s callers.
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    sleeper: Arc<dyn Sleeper>,
    bytes_max: u64,
    secrets: KnownSecrets,
    state: Mutex<State>,
    /// There is something that should not wait.
    hurry: Notify,
    /// Something was written.
    written: Notify,
}

#[derive(Default)]
struct State {
    logs: BTreeMap<RunId, Log>,
    /// Runs whose output is on its way into the store.
    in_flight: Vec<RunId>,
    /// The last run that had its turn.
    turn: Option<RunId>,
    is_writing: bool,
}

struct Log {
    buffer: Buffer,
    /// Nothing follows.
    is_over: bool,
}

impl State {
    fn is_kept(&self, run: RunId) -> bool {
        let pending = self.logs.get(&run).map_or(0, |log| log.buffer.pending());
        pending == 0 && !self.in_flight.contains(&run)
    }

    fn pending(&self) -> usize {
        self.logs.values().map(|log| log.buffer.pending()).sum()
    }

    /// Forgets logs that are over and kept.
    fn tidy(&mut self) {
        let in_flight = &self.in_flight;
        self.logs
            .retain(|run, log| !log.is_over || log.buffer.pending() > 0 || in_flight.contains(run));
    }

    /// What the next call carries: a part of each run's output, those whose turn comes first.
    fn take(&mut self, now: Timestamp) -> Vec<LogWrite> {
        let share = CALL_BYTES_MAX / self.logs.len().max(1);
        let after = |run: &&RunId| self.turn.is_some_and(|turn| **run > turn);
        let (mut first, rest): (Vec<RunId>, Vec<RunId>) =
            self.logs.keys().partition(|run| after(run));
        first.extend(rest);
        let mut writes: Vec<LogWrite> = Vec::new();
        let mut bytes = 0;
        for run in first {
            let Some(log) = self.logs.get_mut(&run).filter(|_| bytes < CALL_BYTES_MAX) else {
                break;
            };
            let taken = log.buffer.take(share.max(1), now);
            bytes += taken.iter().map(|it| it.piece.text.len()).sum::<usize>();
            self.turn = Some(run);
            writes.extend(taken);
        }
        self.in_flight = writes.iter().map(|write| write.run).collect();
        writes
    }
}

impl RunLogKeeper {
    /// Keeps `bytes_max` of each run, without `secrets`.
    pub fn new(
        store: Arc<dyn Store>,
        (clock, sleeper): (Arc<dyn Clock>, Arc<dyn Sleeper>),
        bytes_max: u64,
        secrets: KnownSecrets,
    ) -> Self {
        Self(Arc::new(Keeper {
            store,
            clock,
            sleeper,
            bytes_max,
            secrets,
            state: Mutex::default(),
            hurry: Notify::new(),
            written: Notify::new(),
        }))
    }
}

#[async_trait]
impl RunLogs for RunLogKeeper {
    fn begin(&self, run: RunId) -> Box<dyn RunLog> {
        Box::new(Output {
            keeper: Arc::clone(&self.0),
            run,
            redactor: self.0.secrets.redactor(),
        })
    }

    async fn report(&self, run: RunId, text: &str) {
        let Keeper { store, clock, .. } = &*self.0;
        let mut text = self.0.secrets.redact(text);
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.truncate(text.floor_char_boundary(PIECE_BYTES_MAX));
        let kept = store.report_to_run_log(run, text.as_bytes(), self.0.bytes_max, clock.now());
        if let Err(error) = kept.await {
            let (task, error) = (run.task_id.0, error.chain());
            tracing::warn!(task.id = task, error, "could not keep a run's report");
        }
    }
}

/// The output of one attempt.
struct Output {
    keeper: Arc<Keeper>,
    run: RunId,
    redactor: Redactor,
}

impl Output {
    fn push(&self, clean: &[u8]) {
        if clean.is_empty() {
            return;
        }
        let keeper = &self.keeper;
        let mut state = locked(&keeper.state);
        let log = state.logs.entry(self.run).or_insert_with(|| Log {
            buffer: Buffer::new(self.run, keeper.bytes_max),
            is_over: false,
        });
        log.buffer.push(clean);
        if log.buffer.pending() >= GATHERED_BYTES {
            keeper.hurry.notify_one();
        }
        if !state.is_writing {
            state.is_writing = true;
            tokio::spawn(Arc::clone(keeper).run_writer());
        }
    }
}

#[async_trait]
impl RunLog for Output {
    fn write(&mut self, printed: &[u8]) -> Vec<u8> {
        let clean = self.redactor.pass(printed);
        self.push(&clean);
        clean
    }

    async fn end(&mut self) -> Vec<u8> {
        let clean = self.redactor.end();
        self.push(&clean);
        let keeper = &self.keeper;
        let until = later(keeper.clock.now(), ENDS_WITHIN);
        tokio::select! {
            () = keeper.kept(self.run) => {}
            () = keeper.sleeper.until(until) => {}
        }
        clean
    }
}

/// What was written before is written still; the buffer goes with the last of it.
impl Drop for Output {
    fn drop(&mut self) {
        let mut state = locked(&self.keeper.state);
        if let Some(log) = state.logs.get_mut(&self.run) {
            log.is_over = true;
        }
        state.tidy();
    }
}

impl Keeper {
    /// Waits until all that a run printed is kept.
    async fn kept(&self, run: RunId) {
        loop {
            let written = self.written.notified();
            if locked(&self.state).is_kept(run) {
                return;
            }
            self.hurry.notify_one();
            written.await;
        }
    }

    /// Writes until there is nothing to write.
    async fn run_writer(self: Arc<Self>) {
        let mut next_at = self.clock.now();
        loop {
            self.gather().await;
            // Whatever hurries, there is a rest between two calls.
            self.sleeper.until(next_at).await;
            let writes = locked(&self.state).take(self.clock.now());
            if writes.is_empty() {
                if self.has_stopped() {
                    return;
                }
                continue;
            }
            self.write(writes).await;
            next_at = later(self.clock.now(), REST);
        }
    }

    async fn gather(&self) {
        let until = later(self.clock.now(), GATHERED_FOR);
        tokio::select! {
            () = self.hurry.notified() => {}
            () = self.sleeper.until(until) => {}
        }
    }

    /// Whether the writer may end: nothing came in the meantime.
    fn has_stopped(&self) -> bool {
        let mut state = locked(&self.state);
        state.is_writing = state.pending() > 0;
        !state.is_writing
    }

    /// Tries until it is written: asked again, the store changes nothing.
    async fn write(&self, writes: Vec<LogWrite>) {
        let mut is_reported = false;
        while let Err(error) = self.store.append_run_logs(writes.clone()).await {
            if matches!(error, Error::Refused { .. } | Error::Unreadable { .. }) {
                tracing::warn!(
                    error = error.chain(),
                    "could not keep a run's output; it is lost"
                );
                break;
            }
            if !is_reported {
                is_reported = true;
                let error = error.chain();
                tracing::warn!(error, "could not keep a run's output; will retry");
            }
            let until = later(self.clock.now(), TRIED_AGAIN_AFTER);
            self.sleeper.until(until).await;
        }
        let mut state = locked(&self.state);
        state.in_flight.clear();
        state.tidy();
        // What is left after a full call does not wait for company.
        if state.pending() >= GATHERED_BYTES {
            self.hurry.notify_one();
        }
        drop(state);
        self.written.notify_waiters();
    }
}
