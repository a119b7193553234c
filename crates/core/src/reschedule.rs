//! Changes of intent: which rule a request falls under, and what it does to the identity's row.
//!
//! ```text
//!   current row            request: try at T              request: withdraw
//!   ───────────            ─────────────────              ─────────────────
//!   none                   insert            (created)    404, or a tombstone with a revision
//!   INIT, FAIL with tries  change the time   (updated)    CANCELLED
//!   RUNNING                CANCELLED + insert             CANCELLED
//!   SUCCESS                nothing           (ignored)    nothing (ignored)
//!   CANCELLED, FAIL spent  insert            (reinserted) nothing (unchanged)
//! ```
//!
//! A decision is made from a row that was read a moment ago and may have changed since. The
//! [`Change`] therefore carries a [`Guard`]: the store applies it only to the row that was seen and
//! answers "lost" otherwise; then the caller reads again and decides again (RS-06). INVARIANT:
//! whatever changes a row changes its status, its term or its decision count, so a guard never
//! matches a row that moved on.

mod change;
mod receipt;
mod refused;

use std::cmp::Ordering;

use jiff::Timestamp;

use crate::callback::Callback;
use crate::task::{
    Expires, Expiry, Identity, MAX_RETRY_DEFAULT, NewTask, Payload, Priority, Revision, Status,
    Tags, Task,
};

pub use change::{Amend, Change, Guard, Retagged};
pub use receipt::{DecisionId, Receipt, Requested};
pub use refused::{NothingThere, Refused};

/// A request to try a task at a time (again).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Put {
    /// Whose time changes.
    pub identity: Identity,
    /// When to try; a past time means now.
    pub execute_at: Timestamp,
    /// `None` keeps what the identity's current row has.
    pub payload: Option<Payload>,
    /// `None` keeps what the identity's current row has.
    pub callback_url: Option<String>,
    /// What is not set in it keeps what the identity's current row has.
    pub call_options: Option<Box<Callback>>,
    /// `None` keeps what the identity's current row has.
    pub max_retry: Option<u32>,
    /// `None` keeps what the identity's current row has.
    pub priority: Option<Priority>,
    /// `None` keeps what the identity's current row has.
    pub expires: Option<Expires>,
    /// `None` keeps what the identity's current row has.
    pub tags: Option<Tags>,
    /// The requester's own numbering of its changes; `None` takes effect in the order of arrival.
    pub revision: Option<Revision>,
}

impl Put {
    /// A request for a time and nothing else.
    pub fn at(identity: Identity, execute_at: Timestamp) -> Self {
        Self {
            identity,
            execute_at,
            payload: None,
            callback_url: None,
            call_options: None,
            max_retry: None,
            priority: None,
            expires: None,
            tags: None,
            revision: None,
        }
    }
}

/// A request to withdraw a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancel {
    /// Whose task is withdrawn.
    pub identity: Identity,
    /// The requester's own numbering of its changes; `None` takes effect in the order of arrival.
    pub revision: Option<Revision>,
}

/// A change of intent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Try at a time.
    Put(Put),
    /// Withdraw.
    Cancel(Cancel),
}

impl Request {
    /// Whose intent changes.
    pub fn identity(&self) -> &Identity {
        match self {
            Self::Put(put) => &put.identity,
            Self::Cancel(cancel) => &cancel.identity,
        }
    }

    fn requested(&self) -> Requested {
        let execute_at = match self {
            Self::Put(put) => Some(put.execute_at),
            Self::Cancel(_) => None,
        };
        Requested {
            execute_at,
            revision: self.revision(),
        }
    }

    /// The requester's own number, if it came with one.
    pub fn revision(&self) -> Option<Revision> {
        match self {
            Self::Put(put) => put.revision,
            Self::Cancel(cancel) => cancel.revision,
        }
    }
}

names! {
    /// Which rule a request fell under.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    #[cfg_attr(feature = "schema", schema(as = RescheduleRule))]
    pub enum Rule {
        /// Nothing was there: inserted (RS-05).
        Created = "created",
        /// Waiting: its time was changed in place (RS-02).
        Updated = "updated",
        /// Running: cancelled, and a new task inserted (RS-03).
        CancelledAndInserted = "cancelled_and_inserted",
        /// Cancelled or out of retries: a new task inserted (RS-05).
        Reinserted = "reinserted",
        /// Withdrawn.
        Cancelled = "cancelled",
        /// Already done: nothing changed (RS-04).
        IgnoredDone = "ignored_done",
        /// A newer revision is already known: nothing changed (RS-10).
        IgnoredStale = "ignored_stale",
        /// This revision is already recorded, or the task already is as requested: nothing changed.
        Unchanged = "unchanged",
    }
}

impl Rule {
    /// Whether the row stayed unchanged.
    pub fn changes_nothing(self) -> bool {
        matches!(
            self,
            Self::IgnoredDone | Self::IgnoredStale | Self::Unchanged
        )
    }
}

/// Decides what a request does to an identity whose current row is `current`.
pub fn decide(
    current: Option<&Task>,
    request: &Request,
    origin: &str,
    now: Timestamp,
) -> Result<Change, Refused> {
    let (rule, amend, insert) = match (current, request) {
        (None, Request::Put(put)) => (Rule::Created, None, Some(first(put, origin, now))),
        (None, Request::Cancel(cancel)) => {
            (Rule::Cancelled, None, Some(tombstone(cancel, origin, now)?))
        }
        (Some(task), request) => decide_on(task, request, origin, now),
    };
    let change = Change {
        rule,
        origin: origin.to_owned(),
        decided_at: now,
        requested: rule.changes_nothing().then(|| request.requested()),
        amend,
        insert,
    };
    if !rule.changes_nothing() {
        change.check_expiry()?;
    }
    Ok(change)
}

fn decide_on(
    task: &Task,
    request: &Request,
    origin: &str,
    now: Timestamp,
) -> (Rule, Option<Amend>, Option<NewTask>) {
    if let Some(rule) = repeats_or_lags(task, request) {
        return (rule, Some(Amend::of(task)), None);
    }
    // An unnumbered change keeps the number: counting on would use up the next number of a client
    // that numbers its changes, and swallow the change that really carries it (RS-06).
    let revision = request.revision().unwrap_or(task.revision);
    match (task.status, request) {
        (_, Request::Put(put))
            if revision == task.revision
                && task.due_at.is_some()
                && is_as_requested(task, put, now) =>
        {
            (Rule::Unchanged, Some(Amend::of(task)), None)
        }
        (Status::Success, _) => (Rule::IgnoredDone, Some(Amend::of(task)), None),
        (Status::Init, Request::Put(put)) => {
            (Rule::Updated, Some(move_to(task, put, revision, now)), None)
        }
        (Status::Fail, Request::Put(put)) if task.is_live() => {
            (Rule::Updated, Some(move_to(task, put, revision, now)), None)
        }
        (Status::Running, Request::Put(put)) => {
            let retired = retire(task, Status::Cancelled, revision);
            let new = successor(task, put, revision, origin, now);
            (Rule::CancelledAndInserted, Some(retired), Some(new))
        }
        (status @ (Status::Cancelled | Status::Fail), Request::Put(put)) => {
            let retired = retire(task, status, task.revision);
            (
                Rule::Reinserted,
                Some(retired),
                Some(successor(task, put, revision, origin, now)),
            )
        }
        (_, Request::Cancel(_)) if task.is_live() => {
            (Rule::Cancelled, Some(withdraw(task, revision)), None)
        }
        // Already withdrawn, or out of retries: only the revision is worth remembering, so that an
        // older change arriving later is still recognised as older.
        (_, Request::Cancel(_)) => {
            let amend = Amend {
                revision,
                ..Amend::of(task)
            };
            (Rule::Unchanged, Some(amend), None)
        }
    }
}

/// A revision that is not newer than what is known changes nothing: the same one is a redelivery,
/// whatever happened to the task since; an older one comes too late.
fn repeats_or_lags(task: &Task, request: &Request) -> Option<Rule> {
    let given = request.revision()?;
    match given.cmp(&task.revision) {
        Ordering::Greater => None,
        Ordering::Equal => Some(Rule::Unchanged),
        Ordering::Less => Some(Rule::IgnoredStale),
    }
}

/// Whether a waiting task is already as a request wants it. Both times past is the same request: a
/// past time was stored as the instant it was decided.
fn is_as_requested(task: &Task, put: &Put, now: Timestamp) -> bool {
    fn keeps<T: PartialEq>(requested: Option<&T>, has: &T) -> bool {
        requested.is_none_or(|requested| requested == has)
    }
    task.execute_at.max(now) == when(put, now)
        && keeps(put.payload.as_ref(), &task.payload)
        && put
            .callback_url
            .as_ref()
            .is_none_or(|url| task.callback_url.as_ref() == Some(url))
        && call_options(put, Some(task)) == task.call_options
        && keeps(put.priority.as_ref(), &task.priority)
        && keeps(put.max_retry.as_ref(), &task.max_retry)
        && put.expires.is_none_or(|expires| expires.is(task.expiry))
        && keeps(put.tags.as_ref(), &task.tags)
}

/// A time in the past means now (RS-11).
fn when(put: &Put, now: Timestamp) -> Timestamp {
    put.execute_at.max(now)
}

/// What the request says about the expiry, or else what there was, moved with the time.
fn expiry(put: &Put, kept: Expiry, now: Timestamp) -> Expiry {
    let execute_at = when(put, now);
    put.expires.map_or_else(
        || kept.moved_to(execute_at),
        |expires| Expiry::of(expires, execute_at),
    )
}

fn call_options(put: &Put, task: Option<&Task>) -> Option<Box<Callback>> {
    let kept = task.and_then(|task| task.call_options.as_deref());
    Callback::onto(put.call_options.as_deref(), kept)
}

fn first(put: &Put, origin: &str, now: Timestamp) -> NewTask {
    NewTask {
        identity: put.identity.clone(),
        status: Status::Init,
        execute_at: when(put, now),
        payload: put.payload.clone().unwrap_or_default(),
        callback_url: put.callback_url.clone(),
        call_options: call_options(put, None),
        priority: put.priority.unwrap_or_default(),
        max_retry: put.max_retry.unwrap_or(MAX_RETRY_DEFAULT),
        share_key: None,
        expiry: expiry(put, Expiry::NEVER, now),
        revision: put.revision.unwrap_or(Revision::NONE),
        tags: put.tags.clone().unwrap_or_default(),
        origin: origin.to_owned(),
        replaces: None,
    }
}

/// A withdrawal that overtook the creation it belongs to leaves a tombstone, or the creation
/// arriving later would revive what its author has already withdrawn.
fn tombstone(cancel: &Cancel, origin: &str, now: Timestamp) -> Result<NewTask, NothingThere> {
    let identity = cancel.identity.clone();
    let Some(revision) = cancel.revision else {
        return Err(NothingThere { identity });
    };
    Ok(NewTask {
        identity,
        status: Status::Cancelled,
        execute_at: now,
        payload: Payload::default(),
        callback_url: None,
        call_options: None,
        priority: Priority::DEFAULT,
        max_retry: MAX_RETRY_DEFAULT,
        share_key: None,
        expiry: Expiry::NEVER,
        revision,
        tags: Tags::NONE,
        origin: origin.to_owned(),
        replaces: None,
    })
}

fn successor(task: &Task, put: &Put, revision: Revision, origin: &str, now: Timestamp) -> NewTask {
    NewTask {
        identity: task.identity.clone(),
        status: Status::Init,
        execute_at: when(put, now),
        payload: put.payload.clone().unwrap_or_else(|| task.payload.clone()),
        callback_url: put
            .callback_url
            .clone()
            .or_else(|| task.callback_url.clone()),
        call_options: call_options(put, Some(task)),
        priority: put.priority.unwrap_or(task.priority),
        max_retry: put.max_retry.unwrap_or(task.max_retry),
        share_key: None,
        expiry: expiry(put, task.expiry, now),
        revision,
        tags: put.tags.clone().unwrap_or_else(|| task.tags.clone()),
        origin: origin.to_owned(),
        replaces: Some(task.id),
    }
}

fn move_to(task: &Task, put: &Put, revision: Revision, now: Timestamp) -> Amend {
    Amend {
        execute_at: when(put, now),
        waits: true,
        payload: put.payload.clone(),
        callback_url: put
            .callback_url
            .clone()
            .or_else(|| task.callback_url.clone()),
        call_options: call_options(put, Some(task)),
        priority: put.priority.unwrap_or(task.priority),
        max_retry: put.max_retry.unwrap_or(task.max_retry),
        expiry: expiry(put, task.expiry, now),
        revision,
        tags: retagged(task, put),
        ..Amend::of(task)
    }
}

fn retagged(task: &Task, put: &Put) -> Option<Retagged> {
    let after = put.tags.clone().filter(|tags| *tags != task.tags)?;
    let before = task.tags.clone();
    Some(Retagged { before, after })
}

fn withdraw(task: &Task, revision: Revision) -> Amend {
    Amend {
        status: Status::Cancelled,
        waits: false,
        revision,
        ..Amend::of(task)
    }
}

/// The row gives way to its successor.
fn retire(task: &Task, status: Status, revision: Revision) -> Amend {
    Amend {
        status,
        current: false,
        waits: false,
        revision,
        ..Amend::of(task)
    }
}

#[cfg(test)]
mod tests;
