//! What the store ought to hold: a small model that gets every call in the order it took effect.
//!
//! The model knows nothing of SQL and does not use `core`'s decisions; it only knows which steps
//! are allowed. Whatever the store answers is held against it at once, so a violation is found at
//! the write that made it and not by what follows from it.

use std::collections::{BTreeMap, BTreeSet};

use almanack_core::{
    bulk::{Bulk, BulkId},
    finish::Finish,
    reschedule::{Amend, Change, DecisionId, Rule},
    store::{Applied, ClaimId, Finished},
    task::{ClaimedTask, Expiry, Identity, NewTask, Revision, Status, Task, TaskId, Term},
};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::operations::Operations;

/// A row as it ought to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) identity: Identity,
    pub(super) status: Status,
    pub(super) current: bool,
    pub(super) execute_at: Timestamp,
    pub(super) waits: bool,
    pub(super) attempt: u32,
    pub(super) max_retry: u32,
    pub(super) expiry: Expiry,
    pub(super) term: Term,
    pub(super) revision: Revision,
    pub(super) decisions: u32,
}

impl Row {
    fn of(new: &NewTask) -> Self {
        Self {
            identity: new.identity.clone(),
            status: new.status,
            current: true,
            execute_at: new.execute_at,
            waits: new.status == Status::Init,
            attempt: 0,
            max_retry: new.max_retry,
            expiry: new.expiry,
            term: Term(0),
            revision: new.revision,
            decisions: 0,
        }
    }

    /// The same view of what the store has.
    pub(super) fn seen(task: &Task) -> Self {
        Self {
            identity: task.identity.clone(),
            status: task.status,
            current: task.current,
            execute_at: task.execute_at,
            waits: task.due_at.is_some(),
            attempt: task.attempt,
            max_retry: task.max_retry,
            expiry: task.expiry,
            term: task.term,
            revision: task.revision,
            decisions: task.decisions,
        }
    }

    pub(super) fn is_live(&self) -> bool {
        self.status == Status::Running || self.waits
    }
}

/// A change of intent that took effect.
#[derive(Debug, Clone)]
pub(super) struct Accepted {
    pub(super) id: DecisionId,
    pub(super) identity: Identity,
    /// The row that carries the intent from now on.
    pub(super) carrier: TaskId,
    pub(super) rule: Rule,
    pub(super) execute_at: Timestamp,
    pub(super) origin: String,
    /// How many claims had been made before it.
    pub(super) claims_before: usize,
}

impl Accepted {
    pub(super) fn sets_time(&self) -> bool {
        matches!(
            self.rule,
            Rule::Created | Rule::Updated | Rule::Reinserted | Rule::CancelledAndInserted
        )
    }

    pub(super) fn changes(&self) -> bool {
        self.sets_time() || self.rule == Rule::Cancelled
    }
}

/// A task that was taken.
#[derive(Debug, Clone)]
pub(super) struct Taken {
    pub(super) task_id: TaskId,
    pub(super) term: Term,
}

/// Everything that ought to be, and how it came about.
#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) rows: BTreeMap<TaskId, Row>,
    pub(super) current: BTreeMap<Identity, TaskId>,
    /// Claims of tasks that were over the rate of their key: not attempts, so not in the history.
    pub(super) put_off: BTreeSet<(TaskId, Term)>,
    /// In the order they took effect.
    pub(super) accepted: Vec<Accepted>,
    /// In the order they took effect.
    pub(super) taken: Vec<Taken>,
    /// How many attempts of a row lost their nodes; no row that never did is in here.
    pub(super) expiries: BTreeMap<TaskId, u32>,
    /// Which run of a node each claim was asked for by.
    pub(super) sessions: BTreeMap<ClaimId, String>,
    /// The events that were written with endings, by their ids.
    pub(super) events: BTreeSet<String>,
    pub(super) operations: Operations,
}

pub(super) type Checked<T = ()> = Result<T, String>;

impl Model {
    /// A change that the store says it carried out.
    pub(super) fn apply(&mut self, change: &Change, applied: Applied) -> Checked {
        let now_there = self.current_row(change).cloned();
        rule_fits(change.rule, now_there.as_ref())?;
        let inserted = match applied {
            Applied::Done { inserted } => inserted,
            Applied::Repeated { number } => return self.repeat(change, number),
            Applied::Lost => return Err("a lost change was carried out".to_owned()),
        };
        if let Some(amend) = &change.amend {
            self.amend(amend)?;
        }
        if let Some(new) = &change.insert {
            let id = inserted.ok_or("a row was to be written and none was")?;
            if let Some(other) = self.current.insert(new.identity.clone(), id) {
                return Err(format!(
                    "{} has two current rows: {other} and {id}",
                    new.identity
                ));
            }
            self.rows.insert(id, Row::of(new));
        }
        let next = change.amend.as_ref().map(|amend| amend.guard.decisions + 1);
        self.accept(change, inserted, next.unwrap_or(0))
    }

    /// A decision that was made before and changes nothing now: the row stays exactly as it is.
    fn repeat(&mut self, change: &Change, number: u32) -> Checked {
        let amend = change.amend.as_ref().ok_or("nothing to repeat")?;
        let (guard, id) = (&amend.guard, amend.guard.task_id);
        let row = self.rows.get(&id).ok_or(format!("no row {id}"))?;
        let as_seen = (row.status, row.term, row.decisions, row.revision)
            == (guard.status, guard.term, guard.decisions, amend.revision);
        if !as_seen || !change.rule.changes_nothing() {
            return Err(format!("{change:?} was taken for a repetition on {row:?}"));
        }
        self.accept(change, None, number)
    }

    fn current_row(&self, change: &Change) -> Option<&Row> {
        match (&change.amend, &change.insert) {
            (Some(amend), _) => self.rows.get(&amend.guard.task_id),
            (None, Some(new)) => self.rows.get(self.current.get(&new.identity)?),
            (None, None) => None,
        }
    }

    fn amend(&mut self, amend: &Amend) -> Checked {
        let guard = &amend.guard;
        let id = guard.task_id;
        let row = self.rows.get_mut(&id).ok_or(format!("no row {id}"))?;
        let as_seen = row.current
            && (row.status, row.term, row.decisions) == (guard.status, guard.term, guard.decisions);
        if !as_seen {
            return Err(format!(
                "a decision made from {guard:?} was accepted, but the row had moved on to {row:?}"
            ));
        }
        if !row.is_live() && (amend.waits || amend.status != row.status) {
            return Err(format!(
                "task {id} had ended as {} and came back",
                row.status
            ));
        }
        if amend.revision < row.revision {
            return Err(format!(
                "task {id} went back from revision {:?} to {:?}",
                row.revision, amend.revision
            ));
        }
        row.status = amend.status;
        row.current = amend.current;
        row.execute_at = amend.execute_at;
        row.waits = amend.waits;
        row.max_retry = amend.max_retry;
        row.expiry = amend.expiry;
        row.revision = amend.revision;
        row.decisions += 1;
        if !row.current {
            self.current.remove(&row.identity);
        }
        Ok(())
    }

    fn accept(&mut self, change: &Change, inserted: Option<TaskId>, number: u32) -> Checked {
        let amended = change.amend.as_ref().map(|amend| amend.guard.task_id);
        let task_id = amended.or(inserted);
        let task_id = task_id.ok_or("a change that changes nothing")?;
        let id = DecisionId { task_id, number };
        let carrier = inserted.unwrap_or(id.task_id);
        let row = self.rows.get(&carrier).ok_or(format!("no row {carrier}"))?;
        self.accepted.push(Accepted {
            id,
            identity: row.identity.clone(),
            carrier,
            rule: change.rule,
            execute_at: row.execute_at,
            origin: change.origin.clone(),
            claims_before: self.taken.len(),
        });
        Ok(())
    }

    /// A task that the store says a node has taken at `now`, true time; `tolerance` is how far a
    /// drifting clock may be ahead of it.
    pub(super) fn take(
        &mut self,
        task: &ClaimedTask,
        now: Timestamp,
        tolerance: SignedDuration,
    ) -> Checked {
        let id = task.id;
        let row = self.rows.get_mut(&id).ok_or(format!("no row {id}"))?;
        if !row.waits || !row.current {
            return Err(format!(
                "task {id} was taken although it did not wait: {row:?}"
            ));
        }
        if row.execute_at > now + tolerance || task.execute_at != row.execute_at {
            return Err(format!(
                "task {id} was taken at {now}, before its time {}",
                row.execute_at
            ));
        }
        row.attempt += 1;
        row.term = Term(row.term.0 + 1);
        row.status = Status::Running;
        row.waits = false;
        if (task.term, task.attempt) != (row.term, row.attempt) {
            return Err(format!(
                "task {id} was taken as {task:?} and should have been {row:?}"
            ));
        }
        let expiries = self.expiries.get(&id).copied().unwrap_or(0);
        if row.attempt - expiries > row.max_retry + 1 {
            return Err(format!(
                "task {id} is on attempt {} of {}, and {expiries} for lost nodes",
                row.attempt,
                row.max_retry + 1
            ));
        }
        let term = task.term;
        self.taken.push(Taken { task_id: id, term });
        Ok(())
    }

    /// An ending, and what the store says became of it at `now`, which is at least the true time.
    pub(super) fn finish(
        &mut self,
        finish: &Finish,
        answered: Finished,
        now: Timestamp,
    ) -> Checked {
        let id = finish.task_id;
        let row = self.rows.get_mut(&id).ok_or(format!("no row {id}"))?;
        let holds = row.status == Status::Running && row.term == finish.term;
        match (holds, answered) {
            (false, Finished::Late) => return Ok(()),
            (true, Finished::Applied) => {}
            (false, Finished::Applied) => {
                return Err(format!(
                    "an ending under term {} changed task {id}, which was {} under term {}",
                    finish.term.0, row.status, row.term.0
                ));
            }
            (true, Finished::Late) => {
                return Err(format!(
                    "the rightful ending of task {id} was refused: {finish:?}"
                ));
            }
        }
        // RS-08 in the model's own words: only a task handed back gets its attempt back, and only
        // one that asked for another time starts counting anew. A lost node uses up no retry.
        let expiries = self.expiries.entry(id).or_default();
        match finish.ended.outcome {
            "lease_expired" => *expiries += 1,
            "again" => *expiries = 0,
            _ => {}
        }
        row.attempt = match finish.ended.outcome {
            "handed_back" | "expired" | "not_now" => row.attempt - 1,
            "again" => 0,
            _ => row.attempt,
        };
        let spent = match finish.ended.outcome {
            "lease_expired" => *expiries > row.max_retry.max(20),
            _ => row.attempt - *expiries > row.max_retry,
        };
        (row.status, row.waits) = match finish.ended.outcome {
            "done" => (Status::Success, false),
            "again" => (Status::Init, true),
            "handed_back" | "not_now" if row.attempt == 0 => (Status::Init, true),
            "handed_back" | "not_now" => (Status::Fail, true),
            "give_up" | "expired" => (Status::Fail, false),
            _ => (Status::Fail, !spent),
        };
        row.execute_at = finish.execute_at;
        if finish.ended.outcome == "not_now" {
            self.put_off.insert((id, finish.term));
        }
        expiry_fits(row, finish, now)
    }

    /// A task that delivers an outcome's event, and the row the store says it became.
    pub(super) fn event_written(&mut self, new: &NewTask, id: Option<TaskId>) -> Checked {
        let identity = &new.identity;
        let id = id.ok_or(format!("{identity} was to be written with an ending"))?;
        for event in events_in(new) {
            if !self.events.insert(event.clone()) {
                return Err(format!("{event} is in two deliveries"));
            }
        }
        if let Some(other) = self.current.insert(identity.clone(), id) {
            return Err(format!("{identity} is delivered twice: {other} and {id}"));
        }
        self.rows.insert(id, Row::of(new));
        Ok(())
    }

    /// The task that carries a bulk change out, and the row the store says it became.
    pub(super) fn bulk_written(&mut self, id: BulkId, bulk: &Bulk, row: Option<TaskId>) -> Checked {
        self.operations.begun(id, bulk);
        let new = bulk.task(id).map_err(|invalid| invalid.to_string())?;
        let row = row.ok_or(format!("bulk change {id} was written without its task"))?;
        self.current.insert(new.identity.clone(), row);
        self.rows.insert(row, Row::of(&new));
        Ok(())
    }

    pub(super) fn live(&self) -> usize {
        self.rows.values().filter(|row| row.is_live()).count()
    }
}

/// WK-06 in the model's own words: only a new round moves an expiry, nothing waits beyond it, and
/// nothing ends for it early.
fn expiry_fits(row: &mut Row, finish: &Finish, now: Timestamp) -> Checked {
    if finish.ended.outcome == "again" {
        row.expiry = row.expiry.moved_to(row.execute_at);
    }
    let (id, expires_at) = (finish.task_id, row.expiry.at);
    if finish.expires_at != expires_at {
        let said = finish.expires_at;
        return Err(format!("task {id} expires {said:?}, not {expires_at:?}"));
    }
    if row.waits && expires_at.is_some_and(|at| at < row.execute_at) {
        let until = row.execute_at;
        return Err(format!(
            "task {id} waits until {until}, beyond {expires_at:?}"
        ));
    }
    if finish.ended.outcome == "expired" && !row.expiry.is_over(now) {
        return Err(format!("task {id} expired by {now}, before {expires_at:?}"));
    }
    Ok(())
}

/// The ids of the events that a delivery carries.
fn events_in(new: &NewTask) -> Vec<String> {
    let payload: Value = serde_json::from_str(new.payload.as_str()).unwrap_or_default();
    match &payload["ended"] {
        Value::Array(ends) => {
            let id = |end: &Value| format!("task-{}-{}", end[0], end[1]);
            ends.iter().map(id).collect()
        }
        _ => vec![payload["id"].as_str().unwrap_or_default().to_owned()],
    }
}

/// Which rule fits which row, in the words of RS-02 to RS-05.
fn rule_fits(rule: Rule, row: Option<&Row>) -> Checked {
    let fits = match (rule, row) {
        // A withdrawal that overtook its creation leaves a mark.
        (Rule::Created | Rule::Cancelled, None) | (Rule::Unchanged, Some(_)) => true,
        (_, None) | (Rule::Created, Some(_)) => false,
        (Rule::Updated, Some(row)) => row.waits,
        (Rule::CancelledAndInserted, Some(row)) => row.status == Status::Running,
        (Rule::Reinserted, Some(row)) => !row.is_live() && row.status != Status::Success,
        (Rule::Cancelled, Some(row)) => row.is_live(),
        (Rule::IgnoredDone, Some(row)) => row.status == Status::Success,
        (Rule::IgnoredStale, Some(row)) => row.revision > Revision::NONE,
    };
    let seen = row.map(|row| row.status);
    if fits {
        Ok(())
    } else {
        Err(format!(
            "rule {rule:?} was applied to a row that was {seen:?}: {row:?}"
        ))
    }
}
