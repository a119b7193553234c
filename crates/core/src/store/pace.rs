//! The store's side of pauses and pace: few rows per kind, read whole.

use async_trait::async_trait;
use jiff::Timestamp;

use super::Result;
use crate::{
    pace::{Rate, Starts},
    plan::Pause,
    task::Kind,
};

/// A kind that no node starts tasks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PausedKind {
    /// Which kind.
    pub kind: Kind,
    /// Since when, until when, why and by whom.
    pub pause: Pause,
}

impl PausedKind {
    /// Whether it still holds at `now`: one with an end ends by itself.
    pub fn holds(&self, now: Timestamp) -> bool {
        self.pause.until.is_none_or(|until| until > now)
    }
}

/// A request for starts of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartRequest {
    /// The bucket's name: see [`crate::pace::Pace::bucket`].
    pub bucket: String,
    /// How many tasks of it were claimed.
    pub wanted: u32,
    pub rate: Rate,
}

/// Pauses of kinds, and starts of keys. A claim asks for them itself: once a pause was answered, no claim that begins
/// takes a task of its kind, on any node (WK-04).
#[async_trait]
pub trait PaceStore: Send + Sync {
    /// The pauses that hold at `now`, by kind.
    async fn load_paused_kinds(&self, now: Timestamp) -> Result<Vec<PausedKind>>;

    /// Writes a pause, in place of one that is there. May be repeated.
    async fn pause_kind(&self, paused: &PausedKind) -> Result<()>;

    /// Grants starts of keys, and books a time for what has to wait: [`Rate::settle`] on the newest
    /// state of each bucket, in the order asked; names differ. What was granted is used up, also if
    /// the node dies right after.
    async fn take_starts(&self, asks: &[StartRequest], now: Timestamp) -> Result<Vec<Starts>>;

    /// Forgets buckets that are full again; returns how many.
    async fn prune_buckets(&self, now: Timestamp) -> Result<usize>;

    /// Forgets a pause and wakes the nodes; returns whether there was one that held at `now`.
    async fn resume_kind(&self, kind: &Kind, now: Timestamp) -> Result<bool>;
}
