//! Tasks and their histories as the API shows them.
//!
//! Own types, although they look like `core`'s: a field renamed there must not change what callers
//! rely on here.

use almanack_core::{
    history::{Attempt, Happening, Page},
    task::{Identity, Status, Task},
};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::history_cursor;
use crate::receipts::DecisionView;

/// One row of a task's life.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TaskView {
    /// Number of the row.
    task_id: i64,
    /// What the task is about.
    #[schema(example = "article:42")]
    subject: String,
    /// What is tried.
    #[schema(example = "ARTICLE_PUBLISH")]
    kind: String,
    /// Where it stands.
    status: StatusName,
    /// Whether it will still be tried, or is being tried.
    live: bool,
    /// When to try (next), or when it was last meant to be tried.
    #[schema(value_type = String, format = DateTime)]
    execute_at: Timestamp,
    /// What the handler needs to know.
    #[schema(value_type = serde_json::Value)]
    payload: Box<RawValue>,
    /// Where to call, when the task itself says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    callback: Option<CallbackView>,
    /// Which of several due tasks goes first: 9 before 0.
    priority: u8,
    /// Attempts started so far in this round.
    attempt: u32,
    /// Retries allowed after the first attempt.
    max_retry: u32,
    /// Number of the newest change of intent; 0 while nobody has numbered one.
    revision: i64,
    /// Who asked for it.
    origin: String,
    /// What the last attempt said.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// The node that claimed it last.
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<String>,
    /// Until when the claim holds, while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    lease_until: Option<Timestamp>,
    /// The row this one replaced, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaces: Option<i64>,
    /// When it was written.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When the last attempt started.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    started_at: Option<Timestamp>,
    /// When the last attempt ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    finished_at: Option<Timestamp>,
}

/// Where to call.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CallbackView {
    url: String,
}

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum StatusName {
    /// Waits for its time.
    Init,
    /// Claimed by a node.
    Running,
    /// Done; nothing about it changes any more.
    Success,
    /// The last attempt failed. Live while retries are left.
    Fail,
    /// Withdrawn or replaced.
    Cancelled,
}

impl From<Status> for StatusName {
    fn from(status: Status) -> Self {
        match status {
            Status::Init => Self::Init,
            Status::Running => Self::Running,
            Status::Success => Self::Success,
            Status::Fail => Self::Fail,
            Status::Cancelled => Self::Cancelled,
        }
    }
}

impl From<Task> for TaskView {
    fn from(task: Task) -> Self {
        Self {
            task_id: task.id.0,
            subject: task.identity.subject.to_string(),
            kind: task.identity.kind.to_string(),
            status: task.status.into(),
            live: task.is_live(),
            execute_at: task.execute_at,
            payload: raw(task.payload.as_str()),
            callback: task.callback_url.map(|url| CallbackView { url }),
            priority: task.priority.level(),
            attempt: task.attempt,
            max_retry: task.max_retry,
            revision: task.revision.0,
            origin: task.origin,
            detail: task.detail,
            node: task.node,
            lease_until: task.lease_until,
            replaces: task.replaces.map(|id| id.0),
            created_at: task.created_at,
            started_at: task.started_at,
            finished_at: task.finished_at,
        }
    }
}

/// The payload as it was given. Through a value tree, large numbers would come out changed.
fn raw(payload: &str) -> Box<RawValue> {
    RawValue::from_string(payload.to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
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
    #[schema(example = "article:42")]
    subject: String,
    #[schema(example = "ARTICLE_PUBLISH")]
    kind: String,
    happenings: Vec<HappeningView>,
    /// Give it as `cursor` to get what happened before; null where this is all.
    next_cursor: Option<String>,
}

impl HistoryView {
    pub(crate) fn of(identity: &Identity, page: Page) -> Self {
        let story = page.happenings;
        Self {
            subject: identity.subject.to_string(),
            kind: identity.kind.to_string(),
            happenings: story.into_iter().map(HappeningView::from).collect(),
            next_cursor: page.before.map(history_cursor),
        }
    }
}

/// Somebody changed the intent, or somebody tried.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "what", rename_all = "snake_case")]
pub(crate) enum HappeningView {
    /// Somebody changed the intent.
    Decision(DecisionView),
    /// Somebody tried.
    Attempt(AttemptView),
}

/// One try.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AttemptView {
    /// Of which row.
    task_id: i64,
    /// Which attempt of its round, from 1.
    attempt: u32,
    /// Fencing number of its claim.
    term: i64,
    /// When it was due.
    #[schema(value_type = String, format = DateTime)]
    due_at: Timestamp,
    /// When it started.
    #[schema(value_type = String, format = DateTime)]
    started_at: Timestamp,
    /// When it ended; absent while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    finished_at: Option<Timestamp>,
    /// How it ended.
    #[schema(example = "done")]
    outcome: String,
    /// What came back after the task had been taken from this attempt, if anything did.
    #[serde(skip_serializing_if = "Option::is_none")]
    late_outcome: Option<String>,
    /// What it said.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// Where it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<String>,
}

impl From<Happening> for HappeningView {
    fn from(happening: Happening) -> Self {
        match happening {
            Happening::Decision(decision) => Self::Decision(decision.into()),
            Happening::Attempt(attempt) => Self::Attempt(attempt.into()),
        }
    }
}

impl From<Attempt> for AttemptView {
    fn from(attempt: Attempt) -> Self {
        Self {
            task_id: attempt.task_id.0,
            attempt: attempt.attempt,
            term: attempt.term.0,
            due_at: attempt.due_at,
            started_at: attempt.started_at,
            finished_at: attempt.finished_at,
            outcome: attempt.outcome,
            late_outcome: attempt.late_outcome,
            detail: attempt.detail,
            node: attempt.node,
        }
    }
}
