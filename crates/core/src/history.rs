//! A task's history: what was decided about it and what its attempts came to.
//!
//! The store writes as little as it can. A row is its own first decision (who created it, when, for
//! when) and its own last attempt; only what a later event would overwrite gets a row elsewhere.
//! [`report`] puts the pieces back together in the order they happened.

mod page;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    reschedule::{DecisionId, Requested, Rule},
    task::{Status, Task, TaskId, Term},
};

pub use page::{HistoryCursor, Page, page};

/// Decisions kept on one row: a client that changes a task for ever, or repeats what changes
/// nothing, cannot fill the store. The decision that removed the row is kept in addition.
pub const DECISIONS_KEPT: u32 = 1_000;
/// How many of a row's newest decisions are searched for the same one before another is written.
pub const REPEATED_WITHIN: u32 = 64;

/// A decision recorded on a row after its creation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Decision {
    /// Which one.
    #[serde(flatten, serialize_with = "with_row", deserialize_with = "without_row")]
    #[cfg_attr(feature = "schema", schema(value_type = Receipted))]
    pub id: DecisionId,
    /// When it was made.
    pub decided_at: Timestamp,
    /// Who requested it.
    pub origin: String,
    /// Which rule applied.
    pub rule: Rule,
    /// The time before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_execute_at: Option<Timestamp>,
    /// The time afterwards.
    pub execute_at: Timestamp,
    /// The revision afterwards.
    #[serde(default, skip_serializing_if = "is_unknown")]
    pub revision: i64,
    /// The row that took over, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_task_id: Option<TaskId>,
    /// What was requested, where that changed nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested: Option<Requested>,
    /// How often the same was requested; more than once only where it changed nothing.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub times: u32,
    /// When it was requested the last time, if more than once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_at: Option<Timestamp>,
}

/// A decision's name, and the row it was made on.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = DecisionName))]
struct Receipted {
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    receipt: DecisionId,
    task_id: TaskId,
}

fn with_row<S: Serializer>(id: &DecisionId, serializer: S) -> Result<S::Ok, S::Error> {
    let (receipt, task_id) = (*id, id.task_id);
    Receipted { receipt, task_id }.serialize(serializer)
}

fn without_row<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DecisionId, D::Error> {
    Ok(Receipted::deserialize(deserializer)?.receipt)
}

fn once() -> u32 {
    1
}

/// A row that was written first keeps only its newest revision; 0 means unknown.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_unknown(revision: &i64) -> bool {
    *revision <= 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_once(times: &u32) -> bool {
    *times <= 1
}

/// An attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Attempt {
    /// Of which row.
    pub task_id: TaskId,
    /// Under which claim.
    pub term: Term,
    /// Which attempt of its round, from 1.
    pub attempt: u32,
    /// When it was due.
    pub due_at: Timestamp,
    /// When it started.
    pub started_at: Timestamp,
    /// When it ended; `None` while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// How it ended: an [`Outcome`](crate::finish::Outcome) name; derived from the row alone, only
    /// `running`, `done`, `failed` or `cancelled`.
    pub outcome: String,
    /// What came back after the task had been taken from this attempt, if anything did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_outcome: Option<String>,
    /// Its detail: an error, or the answer it got.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Where it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

/// Something that happened to a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum HistoryEvent {
    /// A change of the intent.
    Decision(Decision),
    /// An attempt.
    Attempt(Attempt),
}

impl HistoryEvent {
    /// When it happened (an attempt: when it started).
    pub fn at(&self) -> Timestamp {
        match self {
            Self::Decision(decision) => decision.decided_at,
            Self::Attempt(attempt) => attempt.started_at,
        }
    }
}

/// Builds the history of an identity from its rows, oldest first: row by row, because a row's whole
/// history comes before its successor's.
pub fn report(
    tasks: &[Task],
    decisions: Vec<Decision>,
    attempts: Vec<Attempt>,
) -> Vec<HistoryEvent> {
    let mut decided: BTreeMap<TaskId, Vec<Decision>> = BTreeMap::new();
    for decision in decisions {
        decided
            .entry(decision.id.task_id)
            .or_default()
            .push(decision);
    }
    let mut tried: BTreeMap<TaskId, Vec<Attempt>> = BTreeMap::new();
    for attempt in attempts {
        tried.entry(attempt.task_id).or_default().push(attempt);
    }
    let of_row = |task: &Task| {
        let decisions = decided.remove(&task.id).unwrap_or_default();
        let attempts = tried.remove(&task.id).unwrap_or_default();
        report_row(task, decisions, attempts)
    };
    tasks.iter().flat_map(of_row).collect()
}

/// One row's story: it is created, and then decisions and attempts are merged by time. Each sort
/// keeps its own order, whatever clocks said.
fn report_row(
    task: &Task,
    decisions: Vec<Decision>,
    mut attempts: Vec<Attempt>,
) -> Vec<HistoryEvent> {
    let is_written = attempts.iter().any(|attempt| attempt.term == task.term);
    attempts.extend(last_attempt(task).filter(|_| !is_written));
    let mut story = vec![HistoryEvent::Decision(creation(task))];
    let mut attempts = attempts.into_iter().peekable();
    for decision in decisions {
        while let Some(attempt) = attempts.next_if(|attempt| is_before(attempt, &decision)) {
            story.push(HistoryEvent::Attempt(attempt));
        }
        story.push(HistoryEvent::Decision(decision));
    }
    story.extend(attempts.map(HistoryEvent::Attempt));
    story
}

/// At one and the same instant a row is moved, tried, and then taken away.
fn is_before(attempt: &Attempt, decision: &Decision) -> bool {
    let moves = decision.rule == Rule::Updated;
    attempt.started_at < decision.decided_at
        || (attempt.started_at == decision.decided_at && !moves)
}

/// The decision that wrote the row. A replacing row is shown as `reinserted`: its predecessor's own
/// decision says what happened to that one. A row that is CANCELLED although nothing ever ended on
/// it was written so, as a withdrawal's tombstone.
pub fn creation(task: &Task) -> Decision {
    let ended = task.finished_at.is_some() || task.started_at.is_some();
    let rule = match task.replaces {
        _ if task.status == Status::Cancelled && !ended => Rule::Cancelled,
        Some(_) => Rule::Reinserted,
        None => Rule::Created,
    };
    Decision {
        id: DecisionId {
            task_id: task.id,
            number: 0,
        },
        decided_at: task.created_at,
        origin: task.origin.clone(),
        rule,
        old_execute_at: None,
        execute_at: task.created_execute_at,
        revision: if task.decisions == 0 {
            task.revision.0
        } else {
            0
        },
        new_task_id: None,
        requested: None,
        times: 1,
        last_at: None,
    }
}

/// The decision that cancelled a row, if it is on record.
pub fn cancellation(task: &Task, decisions: &[Decision]) -> Option<Decision> {
    let cancels = |rule| matches!(rule, Rule::Cancelled | Rule::CancelledAndInserted);
    let on_row = |it: &&Decision| it.id.task_id == task.id && cancels(it.rule);
    let found = decisions.iter().rfind(on_row).cloned();
    found.or_else(|| Some(creation(task)).filter(|it| cancels(it.rule)))
}

fn last_attempt(task: &Task) -> Option<Attempt> {
    let started_at = task.started_at?;
    let outcome = match task.status {
        Status::Running => "running",
        Status::Success => "done",
        Status::Cancelled => "cancelled",
        Status::Fail if task.due_at.is_none() => "failed",
        Status::Init | Status::Fail => return None,
    };
    Some(Attempt {
        task_id: task.id,
        term: task.term,
        attempt: task.attempt,
        due_at: task.execute_at,
        started_at,
        finished_at: task.finished_at,
        outcome: outcome.to_owned(),
        late_outcome: None,
        detail: task.detail.clone(),
        node: task.node.clone(),
    })
}

names! {
    /// Whether a receipt was kept, asked at any later time (RS-14).
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Kept {
        /// The intent is in force and its time has not come, or it is being tried.
        Stands = "stands",
        /// A later decision took its place.
        Superseded = "superseded",
        /// It was carried out.
        Done = "done",
        /// It was tried as often as allowed and failed.
        Failed = "failed",
        /// It was a withdrawal, and it holds.
        Withdrawn = "withdrawn",
        /// It changed nothing.
        ChangedNothing = "changed_nothing",
    }
}

/// What decision `id` was and whether it was kept, from its row, the row that took over if one did,
/// and the later decisions on both; `None` if that is no longer known.
pub fn verify(id: DecisionId, tasks: &[Task], decisions: &[Decision]) -> Option<(Decision, Kept)> {
    let find = |id: TaskId| tasks.iter().find(|task| task.id == id);
    let row = find(id.task_id)?;
    let decision = match id.number {
        0 => creation(row),
        _ => decisions.iter().find(|d| d.id == id)?.clone(),
    };
    let carrier = match decision.new_task_id {
        Some(new) => find(new)?,
        None => row,
    };
    let later: Vec<Decision> = decisions
        .iter()
        .filter(|d| d.id.task_id == carrier.id && d.id > id)
        .cloned()
        .collect();
    let kept = judge(&decision, carrier, &later);
    Some((decision, kept))
}

/// Judges a decision by the row that carries its intent (the one it wrote, or else the one it was
/// made on) and the later decisions on that row.
pub fn judge(decision: &Decision, carrier: &Task, later: &[Decision]) -> Kept {
    let changes = |d: &Decision| !d.rule.changes_nothing();
    if !changes(decision) {
        return Kept::ChangedNothing;
    }
    if later.iter().any(changes) {
        return Kept::Superseded;
    }
    match carrier.status {
        _ if carrier.is_live() => Kept::Stands,
        Status::Success => Kept::Done,
        Status::Cancelled if decision.rule == Rule::Cancelled => Kept::Withdrawn,
        Status::Cancelled => Kept::Superseded,
        _ => Kept::Failed,
    }
}

#[cfg(test)]
mod tests;
