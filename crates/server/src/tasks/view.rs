//! Tasks and their histories as the API shows them: `core`'s own types, and what is derived from them.

use almanack_core::history::{HistoryEvent, Page};
use almanack_core::task::{Identity, Task};

use super::history_cursor;
use crate::prelude::*;

/// One row of a task's life.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TaskView {
    #[serde(flatten)]
    task: Task,
    /// Whether it will still be tried, or is being tried.
    live: bool,
}

impl From<Task> for TaskView {
    fn from(task: Task) -> Self {
        let live = task.is_live();
        Self { task, live }
    }
}

/// A page of tasks, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PageView {
    pub(crate) tasks: Vec<TaskView>,
    /// Give it as `cursor` to get the next page; null on the last one.
    pub(crate) next_cursor: Option<String>,
}

/// A page of what happened to an identity, in order.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HistoryView {
    #[serde(flatten)]
    identity: Identity,
    events: Vec<HistoryEvent>,
    /// Give it as `cursor` to get what happened before; null where this is all.
    next_cursor: Option<String>,
}

impl HistoryView {
    pub(crate) fn of(identity: Identity, page: Page) -> Self {
        Self {
            identity,
            events: page.events,
            next_cursor: page.before.map(history_cursor),
        }
    }
}
