//! A task's history as the events of its timeline.

use almanack_core::history::{Attempt, Decision, HistoryEvent};
use almanack_core::reschedule::Rule;

use crate::picture::life::{Event, Kind, draw};
use crate::ui::prelude::*;

pub(super) fn picture(viewer: &Viewer, task: &Task, story: &[HistoryEvent]) -> Markup {
    let caption = viewer.lang.pick("Timeline", "时间线");
    draw(
        &events(task, story),
        viewer.now,
        &viewer.frame("life-picture", caption),
    )
}

/// Past events, and the next.
fn events(task: &Task, story: &[HistoryEvent]) -> Vec<Event> {
    let mut events: Vec<Event> = story.iter().filter_map(event).collect();
    let end = match task.status {
        Status::Success => Some(Outcome::Done),
        Status::Fail if task.due_at.is_none() => Some(Outcome::Failed),
        Status::Init | Status::Running | Status::Fail | Status::Cancelled => None,
    };
    if let (Some(outcome), Some(at)) = (end, task.finished_at) {
        events.push(plain(at, Kind::Finished { outcome }, ""));
    }
    if let Some(due_at) = task.due_at {
        events.push(plain(due_at, Kind::Planned, ""));
    }
    events
}

fn event(entry: &HistoryEvent) -> Option<Event> {
    match entry {
        HistoryEvent::Decision(decision) => decided(decision),
        HistoryEvent::Attempt(attempt) => Some(tried(attempt)),
    }
}

/// Decisions without a change are not shown.
fn decided(decision: &Decision) -> Option<Event> {
    let to = decision.execute_at;
    let kind = match decision.rule {
        Rule::Cancelled => Kind::Cancelled,
        _ if decision.id.number == 0 => Kind::Created { due_at: to },
        Rule::Created | Rule::Updated => Kind::Moved {
            from: decision.old_execute_at.unwrap_or(to),
            to,
        },
        Rule::CancelledAndInserted | Rule::Reinserted => Kind::Replaced,
        Rule::IgnoredDone | Rule::IgnoredStale | Rule::Unchanged => return None,
    };
    Some(plain(decision.decided_at, kind, &decision.origin))
}

fn tried(attempt: &Attempt) -> Event {
    let outcome = match attempt.outcome.as_str() {
        "done" | "again" | "working" => Outcome::Done,
        "retry" | "failed" | "give_up" | "expired" => Outcome::Failed,
        "running" => Outcome::Running,
        "cancelled" | "handed_back" => Outcome::Cancelled,
        _ => Outcome::Unknown,
    };
    let number = attempt.attempt;
    let detail = attempt.detail.as_deref().unwrap_or_default();
    Event {
        until: attempt.finished_at,
        ..plain(
            attempt.started_at,
            Kind::Attempt { number, outcome },
            detail,
        )
    }
}

fn plain(at: jiff::Timestamp, kind: Kind, label: &str) -> Event {
    Event {
        at,
        until: None,
        kind,
        label: label.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use almanack_core::{
        reschedule::DecisionId,
        task::{TaskId, Term},
    };
    use jiff::Timestamp;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn decision(number: u32, rule: Rule) -> HistoryEvent {
        HistoryEvent::Decision(Decision {
            id: DecisionId {
                task_id: TaskId(1),
                number,
            },
            decided_at: at(i64::from(number)),
            origin: "api:ada".into(),
            rule,
            old_execute_at: (number > 0).then(|| at(100)),
            execute_at: at(200),
            revision: 0,
            new_task_id: None,
            requested: None,
            times: 1,
            last_at: None,
        })
    }

    fn attempt(outcome: &str) -> HistoryEvent {
        HistoryEvent::Attempt(Attempt {
            task_id: TaskId(1),
            term: Term(1),
            attempt: 1,
            due_at: at(200),
            started_at: at(201),
            finished_at: Some(at(203)),
            outcome: outcome.into(),
            late_outcome: None,
            detail: None,
            node: None,
        })
    }

    #[test]
    fn every_event_has_its_place_in_a_life() {
        for (entry, kind) in [
            (
                decision(0, Rule::Created),
                Some(Kind::Created { due_at: at(200) }),
            ),
            (
                decision(0, Rule::Reinserted),
                Some(Kind::Created { due_at: at(200) }),
            ),
            (decision(0, Rule::Cancelled), Some(Kind::Cancelled)),
            (
                decision(1, Rule::Updated),
                Some(Kind::Moved {
                    from: at(100),
                    to: at(200),
                }),
            ),
            (
                decision(1, Rule::CancelledAndInserted),
                Some(Kind::Replaced),
            ),
            (decision(1, Rule::Cancelled), Some(Kind::Cancelled)),
            (decision(1, Rule::IgnoredDone), None),
            (
                attempt("done"),
                Some(Kind::Attempt {
                    number: 1,
                    outcome: Outcome::Done,
                }),
            ),
            (
                attempt("give_up"),
                Some(Kind::Attempt {
                    number: 1,
                    outcome: Outcome::Failed,
                }),
            ),
            (
                attempt("of_a_newer_version"),
                Some(Kind::Attempt {
                    number: 1,
                    outcome: Outcome::Unknown,
                }),
            ),
        ] {
            assert_eq!(event(&entry).map(|event| event.kind), kind, "{entry:?}");
        }
    }
}
