//! The store's side of run logs (DP-20).

use std::ops::Range;

use async_trait::async_trait;
use jiff::Timestamp;

use super::Result;
use crate::task::{TaskId, Term};

/// Longest piece that is written at once: what a reader has to unpack to show a part of it.
pub const PIECE_BYTES_MAX: usize = 64 * 1024;

/// One attempt of a firing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunId {
    /// The firing: its DISPATCH task.
    pub task_id: TaskId,
    /// The claim that it ran under.
    pub term: Term,
}

impl RunId {
    /// The attempt of a claimed task.
    pub fn of(task: &crate::task::ClaimedTask) -> Self {
        Self {
            task_id: task.id,
            term: task.term,
        }
    }
}

/// A piece of what an attempt printed. Its text holds no secret that the node knows.
#[derive(Clone, PartialEq, Eq)]
pub struct LogPiece {
    /// Where it begins in all that the attempt printed.
    pub at: u64,
    /// At most [`PIECE_BYTES_MAX`].
    pub text: Vec<u8>,
}

/// How long it is; what was printed belongs in no log of ours.
impl std::fmt::Debug for LogPiece {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LogPiece({} bytes at {})", self.text.len(), self.at)
    }
}

impl LogPiece {
    /// Where the next one begins, if nothing is left out.
    pub fn end(&self) -> u64 {
        self.at
            .saturating_add(u64::try_from(self.text.len()).unwrap_or(u64::MAX))
    }
}

/// A piece to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogWrite {
    pub run: RunId,
    pub piece: LogPiece,
    /// Pieces that lie in here are no longer kept: the log is longer than it may be.
    pub cut: Range<u64>,
    pub written_at: Timestamp,
}

/// Which part of a log to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogPage {
    pub run: RunId,
    /// Only pieces with something at or behind this byte.
    pub from: u64,
    /// How many pieces at most.
    pub pieces: usize,
}

/// How much of an attempt's log there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogExtent {
    pub term: Term,
    /// Bytes that are kept.
    pub kept: u64,
    /// Where the log ends: as many bytes as were printed.
    pub end: u64,
    pub written_at: Timestamp,
}

/// What attempts of firings printed or reported, in pieces.
///
/// INVARIANT: a stream (what a command prints) has one writer, its attempt; an attempt that does
/// not stream is reported to from anywhere. The claim's term is part of the key, so an attempt that
/// was given up for dead and still prints never writes into its successor's log.
#[async_trait]
pub trait RunLogStore: Send + Sync {
    /// Writes pieces of streams, each in place of the piece of its run that begins at the same byte,
    /// and forgets what was cut. One transaction; asked again after a lost reply it changes nothing.
    async fn append_run_logs(&self, writes: Vec<LogWrite>) -> Result<()>;

    /// Adds a text behind all that a run has; returns whether it did, which it does not once the
    /// run has `bytes_max`. Safe beside other nodes. Not conditional: asked again after a lost
    /// reply it may add twice.
    async fn report_to_run_log(
        &self,
        run: RunId,
        text: &[u8],
        bytes_max: u64,
        now: Timestamp,
    ) -> Result<bool>;

    /// Pieces of a run's log, in order. The cost is that of the pieces, wherever they are in it.
    /// One that cannot be read is left out.
    async fn load_run_log(&self, page: LogPage) -> Result<Vec<LogPiece>>;

    /// What is kept of a firing's attempts, in order.
    async fn load_run_log_extents(&self, task_id: TaskId) -> Result<Vec<LogExtent>>;

    /// Deletes up to `limit` pieces written before `before`, oldest first; returns how many.
    async fn prune_run_logs(&self, before: Timestamp, limit: usize) -> Result<usize>;
}
