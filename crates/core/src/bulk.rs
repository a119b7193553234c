//! Bulk changes: cancel, retry or move every task that a filter finds.
//!
//! A bulk change is one durable piece of work: a row that says which tasks, what to do with them
//! and how far it got, and a task of kind [`BULK_CHANGE`] that walks on from there, on any node.
//! The walk goes from the newest row that existed when it was requested down to the oldest. Rows
//! that are written meanwhile, its own successors included, are beyond its beginning.
//!
//! [`plan`] decides about one row. The dry run and the walk ask the same function, so what was
//! counted is what changes; a row that changed in between is skipped, and counted as such.
//!
//! ```text
//!                INIT      RUNNING    SUCCESS    FAIL, waits   FAIL, ended   CANCELLED
//!   cancel       cancel    cancel     ended      cancel        ended         ended
//!   retry        waiting   running    ended      now           now           ended
//!   move         move      running    ended      move          ended         ended
//! ```
//!
//! What would expire at its new time or before is not moved there (`expired`).
//!
//! INVARIANT: a step's changes, its counts and its cursor are one transaction that succeeds once,
//! so a node that dies in between repeats nothing: no task is moved twice.

use std::{collections::BTreeMap, fmt};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    lang::{Lang, Say},
    reschedule::{Cancel, Change, Put, Refused, Request, decide},
    reserved::is_reserved,
    say,
    store::{Applied, TaskFilter},
    task::{
        Expiry, Identity, Invalid, MAX_RETRY_MAX, NewTask, Payload, Priority, Revision, Status,
        Tags, Task, TaskId,
    },
    time::LATEST,
};

/// The kind of the task that carries a bulk change out.
pub const BULK_CHANGE: &str = "BULK_CHANGE";
/// The furthest that tasks are moved by: ten years.
pub const BY_MAX: SignedDuration = SignedDuration::from_hours(24 * 3_653);

/// Number of a bulk change, given by the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct BulkId(pub i64);

impl fmt::Display for BulkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl BulkId {
    /// The task that carries it out.
    pub fn identity(self) -> Result<Identity, Invalid> {
        Identity::parse(&format!("bulk:{self}"), BULK_CHANGE)
    }

    /// The bulk change that a task carries out.
    pub fn of(identity: &Identity) -> Option<Self> {
        let number = identity.subject.as_str().strip_prefix("bulk:")?;
        number.parse().ok().map(Self)
    }
}

names! {
    /// What is done to each task.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[cfg_attr(feature = "schema", schema(as = BulkAction))]
    pub enum Action {
        /// Withdraw what is live.
        Cancel = "cancel",
        /// Try now what failed.
        Retry = "retry",
        /// Change the time of what waits.
        Move = "move",
    }
}

/// Why a request for a bulk change was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum Unclear {
    NoFilter,
    NoTime,
    Timeless(Action),
    By,
}

impl Say for Unclear {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::NoFilter => say!(lang;
                "a bulk change needs a filter: name at least a kind, a tag or a status",
                "批量更改需要筛选条件：至少指定类型、标签或状态"),
            Self::NoTime => say!(lang; "move needs either by_s or to", "move 需要 by_s 或 to 之一"),
            Self::Timeless(it) => say!(lang;
                "{it} takes neither by_s nor to; only move does",
                "{it} 不接受 by_s 和 to；只有 move 接受"),
            Self::By => say!(lang;
                "the shift must not be 0, and be at most ten years either way",
                "移动的时长不能为 0，前后最多十年"),
        }
    }
}

/// What is done to which tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct BulkRequest {
    pub action: Action,
    /// Move: by so many seconds, from each task's own time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_s: Option<i64>,
    /// Move: to this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
    pub filter: TaskFilter,
}

impl BulkRequest {
    /// Refuses what is not one clear change of some tasks.
    pub fn check(&self) -> Result<(), Unclear> {
        let by_max = BY_MAX.as_secs();
        match (self.action, self.by_s, self.to) {
            _ if self.filter.is_wide() => Err(Unclear::NoFilter),
            (Action::Move, Some(0), _) => Err(Unclear::By),
            (Action::Move, Some(by), None) if !(-by_max..=by_max).contains(&by) => Err(Unclear::By),
            (Action::Move, Some(_), None) | (Action::Move, None, Some(_)) => Ok(()),
            (Action::Move, ..) => Err(Unclear::NoTime),
            (_, None, None) => Ok(()),
            (action, ..) => Err(Unclear::Timeless(action)),
        }
    }

    fn moved(&self, execute_at: Timestamp) -> Timestamp {
        let by = SignedDuration::from_secs(self.by_s.unwrap_or_default());
        let moved = || execute_at.checked_add(by).unwrap_or(LATEST).min(LATEST);
        self.to.unwrap_or_else(moved)
    }
}

names! {
    /// Why a task that the filter found was left as it is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    #[cfg_attr(feature = "schema", schema(as = BulkSkip))]
    pub enum Skip {
        /// A newer row of its identity exists.
        Replaced = "replaced",
        /// Its kind belongs to Almanack.
        Reserved = "reserved",
        /// Done, cancelled, or failed for good.
        Ended = "ended",
        /// It runs, and is left to end.
        Running = "running",
        /// It waits for its first attempt: nothing to retry.
        Waiting = "waiting",
        /// It would expire at its new time or before, and never run.
        Expired = "expired",
        /// Already as requested.
        Unchanged = "unchanged",
        /// Someone else changed it in the same moment.
        Changed = "changed",
    }
}

/// Decides what a bulk change does to a row that its filter found.
pub fn plan(
    request: &BulkRequest,
    task: &Task,
    origin: &str,
    now: Timestamp,
) -> Result<Change, Skip> {
    if !task.current {
        return Err(Skip::Replaced);
    }
    if is_reserved(&task.identity.kind) {
        return Err(Skip::Reserved);
    }
    let identity = task.identity.clone();
    let request = match (request.action, task.status) {
        (Action::Cancel, _) if task.is_live() => Request::Cancel(Cancel {
            identity,
            revision: None,
        }),
        (Action::Retry, Status::Fail) => Request::Put(Put::at(identity, now)),
        (Action::Retry, Status::Init) => return Err(Skip::Waiting),
        (Action::Retry | Action::Move, Status::Running) => return Err(Skip::Running),
        (Action::Move, _) if task.is_live() => {
            Request::Put(Put::at(identity, request.moved(task.execute_at)))
        }
        _ => return Err(Skip::Ended),
    };
    let change = decide(Some(task), &request, origin, now).map_err(|refused| match refused {
        Refused::Expired { .. } => Skip::Expired,
        Refused::NothingThere(_) => Skip::Ended,
    })?;
    if change.rule.changes_nothing() {
        return Err(Skip::Unchanged);
    }
    Ok(change)
}

names! {
    /// How a bulk change stands.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[cfg_attr(feature = "schema", schema(as = BulkState))]
    pub enum State {
        /// It walks, or will when a node takes it.
        Running = "running",
        Done = "done",
        /// Stopped by a person; what it had changed stays so.
        Cancelled = "cancelled",
    }
}

/// A bulk change and how far it got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Bulk {
    #[serde(rename = "bulk_id")]
    pub id: BulkId,
    #[serde(flatten)]
    pub request: BulkRequest,
    /// The newest row it looks at.
    pub through_task_id: TaskId,
    pub state: State,
    /// Rows that the filter found so far.
    pub matched: u64,
    /// Of these, changed.
    pub changed: u64,
    /// Of these, left as they are, by reason.
    #[cfg_attr(feature = "schema", schema(value_type = BTreeMap<String, u64>))]
    pub skipped: BTreeMap<Skip, u64>,
    pub requested_by: String,
    pub created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Who stopped it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled_by: Option<String>,
    /// Where the walk continues: below this row.
    #[serde(skip)]
    pub before: TaskId,
    /// How many steps were written; part of the compare-and-set.
    #[serde(skip)]
    pub step: i64,
}

impl Bulk {
    /// One that has not begun. The store gives its number.
    pub fn new(request: BulkRequest, through: TaskId, by: &str, now: Timestamp) -> Self {
        Self {
            id: BulkId(0),
            request,
            through_task_id: through,
            state: State::Running,
            matched: 0,
            changed: 0,
            skipped: BTreeMap::new(),
            requested_by: by.to_owned(),
            created_at: now,
            ended_at: None,
            cancelled_by: None,
            before: TaskId(through.0.saturating_add(1)),
            step: 0,
        }
    }

    /// The task that carries out number `id`.
    pub fn task(&self, id: BulkId) -> Result<NewTask, Invalid> {
        Ok(NewTask {
            identity: id.identity()?,
            status: Status::Init,
            execute_at: self.created_at,
            payload: Payload::default(),
            callback_url: None,
            call_options: None,
            share_key: None,
            expiry: Expiry::NEVER,
            priority: Priority::DEFAULT,
            max_retry: MAX_RETRY_MAX,
            revision: Revision::NONE,
            tags: Tags::NONE,
            origin: self.requested_by.clone(),
            replaces: None,
        })
    }

    /// What its changes say of who requested them.
    pub fn origin(&self) -> String {
        format!("{} bulk {}", self.requested_by, self.id)
    }

    /// Plans the rows of a page: the changes, and itself after it, but for their results.
    pub fn next(&self, rows: &[Task], next: Option<TaskId>, now: Timestamp) -> (Self, Vec<Change>) {
        let (mut after, mut changes) = (self.clone(), Vec::new());
        let origin = self.origin();
        for row in rows {
            after.matched += 1;
            match plan(&self.request, row, &origin, now) {
                Ok(change) => changes.push(change),
                Err(skip) => *after.skipped.entry(skip).or_default() += 1,
            }
        }
        after.before = next.unwrap_or(TaskId(0));
        // A page that changes something never is the last: what is lost is decided again.
        if next.is_none() && changes.is_empty() {
            after.state = State::Done;
            after.ended_at = Some(now);
        }
        (after, changes)
    }

    /// The same for rows of the last page that were lost and fit again; they were counted then.
    pub fn again(&self, rows: &[Task], now: Timestamp) -> (Self, Vec<Change>) {
        let count = u64::try_from(rows.len()).unwrap_or_default();
        let mut before = self.clone();
        before.matched = before.matched.saturating_sub(count);
        if let Some(lost) = before.skipped.get_mut(&Skip::Changed) {
            *lost = lost.saturating_sub(count);
        }
        before.skipped.retain(|_, count| *count > 0);
        before.next(rows, Some(self.before), now)
    }

    /// The same with the results of its changes.
    #[must_use]
    pub fn settled(mut self, applied: &[Applied]) -> Self {
        let lost = applied.iter().filter(|applied| **applied == Applied::Lost);
        let lost = u64::try_from(lost.count()).unwrap_or_default();
        let all = u64::try_from(applied.len()).unwrap_or_default();
        self.changed += all - lost;
        if lost > 0 {
            *self.skipped.entry(Skip::Changed).or_default() += lost;
        }
        self.step += 1;
        self
    }
}

/// What a bulk change would do now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = BulkDryRun))]
pub struct DryRun {
    pub matched: u64,
    pub would_change: u64,
    /// Left as they are, by reason.
    #[cfg_attr(feature = "schema", schema(value_type = BTreeMap<String, u64>))]
    pub skipped: BTreeMap<Skip, u64>,
    /// The newest row it looked at. Pass it on to change no others.
    pub through_task_id: TaskId,
    /// Whether every row was examined. If not, there are at least so many.
    pub exact: bool,
}

#[cfg(test)]
mod tests;
