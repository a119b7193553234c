//! Tasks and their histories in the API: `core`'s own types with derived fields.

use almanack_core::history::{HistoryEvent, Page};
use almanack_core::task::{Identity, Task};

use crate::prelude::*;

/// One row of a task.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TaskView {
    #[serde(flatten)]
    task: Task,
    /// Whether it is waiting, will be retried, or is running.
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
    /// Pass it as `cursor` to get the next page; null on the last page.
    pub(crate) next_cursor: Option<String>,
}

/// A page of a task's history, in order.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HistoryView {
    #[serde(flatten)]
    identity: Identity,
    events: Vec<HistoryEvent>,
    /// Pass it as `cursor` to get earlier events; null if there are none.
    next_cursor: Option<String>,
}

impl HistoryView {
    pub(crate) fn of(identity: Identity, page: Page) -> Self {
        Self {
            identity,
            events: page.events,
            next_cursor: page.before.map(paging::cursor),
        }
    }
}
