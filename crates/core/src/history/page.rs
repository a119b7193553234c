//! A history in pages, the newest first.
//!
//! An identity that is put and withdrawn for ever, or a task that comes again for ever, has no
//! bound on its history, so it is read a page at a time, from the newest backwards: rows in the
//! order of their numbers, and of each row the decisions and attempts in the order of theirs.
//! Within a page everything is in the order in which it happened. Numbers, unlike instants, are
//! never equal and never go back.

use std::fmt;

use super::{HistoryEvent, report};
use crate::{
    store::Records,
    task::{TaskId, Term},
};

/// Where a page of a history ended: what is left is everything on earlier rows, and on this one the
/// decisions numbered below `number` and the attempts under terms below `term`. The creation of a
/// row is its decision 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryCursor {
    pub task_id: TaskId,
    /// Decisions below this are left.
    pub number: u32,
    /// Attempts below this are left.
    pub term: Term,
}

impl fmt::Display for HistoryCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.task_id, self.number, self.term.0)
    }
}

impl HistoryCursor {
    /// Reads what [`fmt::Display`] wrote.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '.');
        Some(Self {
            task_id: TaskId(parts.next()?.parse().ok()?),
            number: parts.next()?.parse().ok()?,
            term: Term(parts.next()?.parse().ok()?),
        })
    }
}

/// A page of a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// What happened, in order.
    pub events: Vec<HistoryEvent>,
    /// Where what happened before begins; `None` if this is all.
    pub before: Option<HistoryCursor>,
}

/// The newest `limit` of what was loaded after `cursor`.
pub fn page(records: Records, cursor: Option<HistoryCursor>, limit: usize) -> Page {
    let mut story = report(&records.tasks, records.decisions, records.attempts);
    if let Some(cursor) = cursor {
        story.retain(|event| is_left(event, cursor));
    }
    let cut = story.len().saturating_sub(limit);
    let events = story.split_off(cut);
    let before = cursor_after(&story);
    Page { events, before }
}

fn is_left(event: &HistoryEvent, cursor: HistoryCursor) -> bool {
    match event {
        HistoryEvent::Decision(decision) if decision.id.task_id == cursor.task_id => {
            decision.id.number < cursor.number
        }
        HistoryEvent::Attempt(attempt) if attempt.task_id == cursor.task_id => {
            attempt.term < cursor.term
        }
        _ => true,
    }
}

/// Right behind the last of `rest`. Of a sort that has nothing left on its row everything is on the
/// page.
fn cursor_after(rest: &[HistoryEvent]) -> Option<HistoryCursor> {
    let row = |event: &HistoryEvent| match event {
        HistoryEvent::Decision(decision) => decision.id.task_id,
        HistoryEvent::Attempt(attempt) => attempt.task_id,
    };
    let task_id = row(rest.last()?);
    let mut cursor = HistoryCursor {
        task_id,
        number: 0,
        term: Term(0),
    };
    for event in rest.iter().rev().take_while(|rest| row(rest) == task_id) {
        match event {
            HistoryEvent::Decision(decision) => {
                cursor.number = cursor.number.max(decision.id.number + 1);
            }
            HistoryEvent::Attempt(attempt) => {
                cursor.term = cursor.term.max(Term(attempt.term.0 + 1));
            }
        }
    }
    Some(cursor)
}
