//! Tasks, receipts and histories as `--json` shows them: the names are the API's.

mod edition;
mod schedule;
mod source;

use almanack_core::{
    history::{Attempt, Decision, Happening},
    reschedule::Receipt,
    sign_in::User,
    task::{Identity, Task},
    token::Token,
};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;

pub(crate) use edition::{account, document, edition, edition_line};
pub(crate) use schedule::{edit, schedule, slot};
pub(crate) use source::{
    candidate, entry, found, look, source, source_due, source_numbers, why_source,
};

/// One row of a task's life.
#[derive(Debug, Serialize)]
pub(crate) struct TaskView<'a> {
    task_id: i64,
    subject: &'a str,
    kind: &'a str,
    status: &'static str,
    live: bool,
    execute_at: Timestamp,
    payload: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    callback: Option<CallbackView<'a>>,
    priority: u8,
    attempt: u32,
    max_retry: u32,
    revision: i64,
    origin: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lease_until: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaces: Option<i64>,
    created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finished_at: Option<Timestamp>,
}

/// Where to call.
#[derive(Debug, Serialize)]
struct CallbackView<'a> {
    url: &'a str,
}

impl<'a> From<&'a Task> for TaskView<'a> {
    fn from(task: &'a Task) -> Self {
        let payload = RawValue::from_string(task.payload.as_str().to_owned());
        Self {
            task_id: task.id.0,
            subject: task.identity.subject.as_str(),
            kind: task.identity.kind.as_str(),
            status: task.status.as_str(),
            live: task.is_live(),
            execute_at: task.execute_at,
            payload: payload.unwrap_or_else(|_| RawValue::NULL.to_owned()),
            callback: task.callback_url.as_deref().map(|url| CallbackView { url }),
            priority: task.priority.level(),
            attempt: task.attempt,
            max_retry: task.max_retry,
            revision: task.revision.0,
            origin: &task.origin,
            detail: task.detail.as_deref(),
            node: task.node.as_deref(),
            lease_until: task.lease_until,
            replaces: task.replaces.map(|id| id.0),
            created_at: task.created_at,
            started_at: task.started_at,
            finished_at: task.finished_at,
        }
    }
}

/// The answer to a change of intent.
#[derive(Debug, Serialize)]
pub(crate) struct ReceiptView<'a> {
    receipt: String,
    rule: &'static str,
    subject: &'a str,
    kind: &'a str,
    task_id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancelled_task_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_execute_at: Option<Timestamp>,
    execute_at: Timestamp,
    revision: i64,
}

impl<'a> ReceiptView<'a> {
    /// A receipt and whom it is about.
    pub(crate) fn of(identity: &'a Identity, receipt: &Receipt) -> Self {
        let decision = receipt.decision;
        Self {
            receipt: format!("{}.{}", decision.task_id, decision.number),
            rule: receipt.rule.as_str(),
            subject: identity.subject.as_str(),
            kind: identity.kind.as_str(),
            task_id: receipt.task_id.0,
            cancelled_task_id: receipt.cancelled_task_id.map(|id| id.0),
            old_execute_at: receipt.old_execute_at,
            execute_at: receipt.execute_at,
            revision: receipt.revision.0,
        }
    }
}

/// Something that happened to a task.
#[derive(Debug, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub(crate) enum HappeningView<'a> {
    /// Somebody changed the intent.
    Decision {
        /// Names the decision.
        receipt: String,
        /// When it was made.
        decided_at: Timestamp,
        /// Who asked.
        origin: &'a str,
        /// Which rule applied.
        rule: &'static str,
        /// The time before.
        #[serde(skip_serializing_if = "Option::is_none")]
        old_execute_at: Option<Timestamp>,
        /// The time afterwards.
        execute_at: Timestamp,
        /// On which row.
        task_id: i64,
        /// The row that took over.
        #[serde(skip_serializing_if = "Option::is_none")]
        new_task_id: Option<i64>,
        /// What was asked for, where that changed nothing.
        #[serde(skip_serializing_if = "Option::is_none")]
        requested: Option<RequestedView>,
        /// How often, if more than once.
        #[serde(skip_serializing_if = "Option::is_none")]
        times: Option<u32>,
        /// When for the last time.
        #[serde(skip_serializing_if = "Option::is_none")]
        last_at: Option<Timestamp>,
    },
    /// Somebody tried.
    Attempt {
        /// Of which row.
        task_id: i64,
        /// Which attempt of its round.
        attempt: u32,
        /// Under which claim.
        term: i64,
        /// When it was due.
        due_at: Timestamp,
        /// When it started.
        started_at: Timestamp,
        /// When it ended.
        #[serde(skip_serializing_if = "Option::is_none")]
        finished_at: Option<Timestamp>,
        /// How it ended.
        outcome: &'a str,
        /// What came back too late.
        #[serde(skip_serializing_if = "Option::is_none")]
        late_outcome: Option<&'a str>,
        /// What it said.
        #[serde(skip_serializing_if = "Option::is_none")]
        detail: Option<&'a str>,
        /// Where it ran.
        #[serde(skip_serializing_if = "Option::is_none")]
        node: Option<&'a str>,
    },
}

/// What somebody asked for who was told that nothing changes.
#[derive(Debug, Serialize)]
pub(crate) struct RequestedView {
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    execute_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<i64>,
}

impl<'a> From<&'a Happening> for HappeningView<'a> {
    fn from(happening: &'a Happening) -> Self {
        match happening {
            Happening::Decision(decision) => decision.into(),
            Happening::Attempt(attempt) => attempt.into(),
        }
    }
}

impl<'a> From<&'a Decision> for HappeningView<'a> {
    fn from(decision: &'a Decision) -> Self {
        Self::Decision {
            receipt: format!("{}.{}", decision.id.task_id, decision.id.number),
            decided_at: decision.decided_at,
            origin: &decision.origin,
            rule: decision.rule.as_str(),
            old_execute_at: decision.old_execute_at,
            execute_at: decision.execute_at,
            task_id: decision.id.task_id.0,
            new_task_id: decision.new_task_id.map(|id| id.0),
            requested: decision.requested.map(|requested| RequestedView {
                what: requested.name(),
                execute_at: requested.execute_at,
                revision: requested.revision.map(|revision| revision.0),
            }),
            times: Some(decision.times).filter(|times| *times > 1),
            last_at: decision.last_at,
        }
    }
}

impl<'a> From<&'a Attempt> for HappeningView<'a> {
    fn from(attempt: &'a Attempt) -> Self {
        Self::Attempt {
            task_id: attempt.task_id.0,
            attempt: attempt.attempt,
            term: attempt.term.0,
            due_at: attempt.due_at,
            started_at: attempt.started_at,
            finished_at: attempt.finished_at,
            outcome: &attempt.outcome,
            late_outcome: attempt.late_outcome.as_deref(),
            detail: attempt.detail.as_deref(),
            node: attempt.node.as_deref(),
        }
    }
}

/// A user as the store knows them; what their password is recognised by stays there.
#[derive(Debug, Serialize)]
pub(crate) struct UserView<'a> {
    name: &'a str,
    scope: &'static str,
    created_at: Timestamp,
    changed_at: Timestamp,
}

impl<'a> From<&'a User> for UserView<'a> {
    fn from(user: &'a User) -> Self {
        Self {
            name: &user.name,
            scope: user.scope.as_str(),
            created_at: user.created_at,
            changed_at: user.changed_at,
        }
    }
}

/// A token as the store knows it; its hash stays there.
#[derive(Debug, Serialize)]
pub(crate) struct TokenView<'a> {
    name: &'a str,
    scope: &'static str,
    valid: bool,
    created_at: Timestamp,
    expires_at: Option<Timestamp>,
    revoked_at: Option<Timestamp>,
}

impl<'a> TokenView<'a> {
    /// A token as it is at `now`.
    pub(crate) fn of(token: &'a Token, now: Timestamp) -> Self {
        Self {
            name: &token.name,
            scope: token.scope.as_str(),
            valid: token.is_valid(now),
            created_at: token.created_at,
            expires_at: token.expires_at,
            revoked_at: token.revoked_at,
        }
    }
}
