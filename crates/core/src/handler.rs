//! The port between the runner and whatever tries a task.

use async_trait::async_trait;

use crate::{finish::Outcome, task::ClaimedTask};

/// Tries tasks of one kind.
///
/// A handler may be called again for the same task: after a failure, after its node died, or
/// because an earlier call's answer was lost. It must therefore be idempotent, or pass the task id
/// on so that the other side can be; `(task id, term)` names one attempt. It need not watch the
/// clock: the runner drops it when the node may no longer trust its lease.
#[async_trait]
pub trait Handler: Send + Sync {
    /// Makes one attempt.
    async fn attempt(&self, task: &ClaimedTask) -> Outcome;

    /// Clears up what tasks of this kind left behind when others ended them. A node calls it every
    /// few seconds; where nothing was left behind it costs one cheap question at most.
    async fn clear_up(&self) {}
}
