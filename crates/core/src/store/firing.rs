//! The store's side of firings whose work is followed (DP-19).

use async_trait::async_trait;
use jiff::Timestamp;

use super::Result;
use crate::{
    follow::{Followed, FollowedChange},
    task::TaskId,
};

/// What firings handed over, a row per firing that has something to follow.
#[async_trait]
pub trait FiringStore: Send + Sync {
    /// Writes down what a firing handed over. What was written first stays, so a repetition changes
    /// nothing.
    async fn save_followed(&self, followed: &Followed) -> Result<()>;

    /// Those of the firings that have something written down, in no order.
    async fn load_followed(&self, firings: &[TaskId]) -> Result<Vec<Followed>>;

    /// Changes what is written down, unless it has ended; returns whether it did. Of several
    /// endings one is written: whoever gets `false` reads again.
    async fn change_followed(&self, firing: TaskId, change: &FollowedChange) -> Result<bool>;

    /// Those that have not ended although their firing's task has: it was cancelled, or could not
    /// be read. The cost is that of what has not ended.
    async fn load_abandoned(&self, limit: usize) -> Result<Vec<Followed>>;

    /// Deletes up to `limit` that ended before `before`, oldest first; returns how many.
    async fn prune_followed(&self, before: Timestamp, limit: usize) -> Result<usize>;
}
