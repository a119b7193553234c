//! A task's history: what was decided about it and what its attempts came to.
//!
//! The store writes as little as it can. A row is its own first decision (who created it, when, for
//! when) and its own last attempt; only what a later event would overwrite gets a row elsewhere.
//! [`tell`] puts the pieces back together in the order they happened.

use jiff::Timestamp;

use crate::{
    reschedule::{DecisionId, Rule},
    task::{Status, Task, TaskId, Term},
};

/// A decision written down on a row after its creation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Which one.
    pub id: DecisionId,
    /// When it was made.
    pub decided_at: Timestamp,
    /// Who asked.
    pub origin: String,
    /// Which rule applied.
    pub rule: Rule,
    /// The time before.
    pub old_execute_at: Option<Timestamp>,
    /// The time afterwards.
    pub execute_at: Timestamp,
    /// The revision afterwards.
    pub revision: i64,
    /// The row that took over, if one did.
    pub new_task_id: Option<TaskId>,
}

/// An attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    pub finished_at: Option<Timestamp>,
    /// How it ended: an [`Outcome`](crate::finish::Outcome) name; told from the row alone, only
    /// `running`, `done`, `failed` or `cancelled`.
    pub outcome: String,
    /// What came back after the task had been taken from this attempt, if anything did.
    pub late_outcome: Option<String>,
    /// What it said.
    pub detail: Option<String>,
    /// Where it ran.
    pub node: Option<String>,
}

/// Something that happened to a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happening {
    /// Somebody changed the intent.
    Decision(Decision),
    /// Somebody tried.
    Attempt(Attempt),
}

impl Happening {
    /// When it happened (an attempt: when it started).
    pub fn at(&self) -> Timestamp {
        match self {
            Self::Decision(decision) => decision.decided_at,
            Self::Attempt(attempt) => attempt.started_at,
        }
    }
}

/// Tells the story of an identity from all its rows, oldest first.
pub fn tell(tasks: &[Task], decisions: Vec<Decision>, attempts: Vec<Attempt>) -> Vec<Happening> {
    let created = tasks
        .iter()
        .map(|task| Happening::Decision(creation(task, &decisions)));
    let mut story: Vec<Happening> = created.collect();
    for task in tasks {
        let written = attempts
            .iter()
            .any(|a| a.task_id == task.id && a.term == task.term);
        if !written {
            story.extend(last_attempt(task).map(Happening::Attempt));
        }
    }
    story.extend(decisions.into_iter().map(Happening::Decision));
    story.extend(attempts.into_iter().map(Happening::Attempt));
    story.sort_by_key(|happening| (happening.at(), order_at_one_instant(happening)));
    story
}

/// At one and the same instant a row's whole story comes before its successor's; within it, the row
/// is created, moved, tried, and then taken away.
fn order_at_one_instant(happening: &Happening) -> (TaskId, u8, i64) {
    match happening {
        Happening::Decision(d) if d.id.number == 0 => (d.id.task_id, 0, 0),
        Happening::Decision(d) if d.rule == Rule::Updated => {
            (d.id.task_id, 1, i64::from(d.id.number))
        }
        Happening::Attempt(a) => (a.task_id, 2, a.term.0),
        Happening::Decision(d) => (d.id.task_id, 3, i64::from(d.id.number)),
    }
}

/// The decision that wrote the row. A replacing row is told as `reinserted`: its predecessor's own
/// decision says what happened to that one. `decisions` are those known about the identity: a row
/// that is CANCELLED although nobody cancelled it was written so, as a withdrawal's mark.
pub fn creation(task: &Task, decisions: &[Decision]) -> Decision {
    let cancels = |d: &Decision| {
        d.id.task_id == task.id && matches!(d.rule, Rule::Cancelled | Rule::CancelledAndInserted)
    };
    let mark = task.status == Status::Cancelled && !decisions.iter().any(cancels);
    let rule = match task.replaces {
        _ if mark => Rule::Cancelled,
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
    }
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

/// Whether a receipt was kept, asked at any later time (RS-14).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// The intent stands and its time has not come, or it is being tried.
    Stands,
    /// A later decision took its place.
    Superseded,
    /// It was carried out.
    Done,
    /// It was tried as often as allowed and failed.
    Failed,
    /// It was a withdrawal, and it holds.
    Withdrawn,
    /// It changed nothing, and said so.
    ChangedNothing,
}

impl Kept {
    /// The name used in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stands => "stands",
            Self::Superseded => "superseded",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Withdrawn => "withdrawn",
            Self::ChangedNothing => "changed_nothing",
        }
    }
}

/// What decision `id` was and whether it was kept, from everything known about its identity; `None`
/// if that is no longer known.
pub fn verify(id: DecisionId, tasks: &[Task], decisions: &[Decision]) -> Option<(Decision, Kept)> {
    let find = |id: TaskId| tasks.iter().find(|task| task.id == id);
    let row = find(id.task_id)?;
    let decision = match id.number {
        0 => creation(row, decisions),
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
    let changes = |d: &Decision| {
        !matches!(
            d.rule,
            Rule::IgnoredDone | Rule::IgnoredStale | Rule::Unchanged
        )
    };
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
