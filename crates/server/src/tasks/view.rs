//! Tasks and their histories in the API: `core`'s own types with derived fields.

use almanack_core::callback::Callback;
use almanack_core::history::{HistoryEvent, Page};
use almanack_core::lang::{Lang, Say};
use almanack_core::plan::Pause;
use almanack_core::task::{Identity, Task, why::Why};

use crate::prelude::*;

/// One row of a task.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TaskView {
    #[serde(flatten)]
    task: Task,
    /// Where and how to call, as far as the task itself says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    callback: Option<Callback>,
    /// Whether it is waiting, will be retried, or is running.
    live: bool,
}

impl From<Task> for TaskView {
    fn from(task: Task) -> Self {
        let (live, callback) = (task.is_live(), task.callback());
        Self {
            task,
            callback,
            live,
        }
    }
}

/// Why a task is where it is.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TaskWhyView)]
pub(crate) struct WhyView {
    #[serde(flatten)]
    identity: Identity,
    /// `waiting`, `retrying`, `paused`, `rate_limited`, `due`, `running`, `done`, `failed` or
    /// `cancelled`.
    reason: &'static str,
    /// The reason in a sentence.
    sentence: String,
    /// The pause of its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    paused: Option<Pause>,
}

impl WhyView {
    pub(crate) fn of(identity: Identity, why: Why, lang: Lang) -> Self {
        Self {
            identity,
            reason: why.name(),
            sentence: why.say(lang),
            paused: match why {
                Why::Paused { pause, .. } => Some(pause),
                _ => None,
            },
        }
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
