//! The attempts of a firing, with how much each printed.

use jiff::Timestamp;
use serde::Serialize;

use crate::{
    history::{Attempt, HistoryEvent, report},
    plan::{DISPATCH, shareable_detail},
    store::{LogExtent, Records},
    task::{Task, Term},
};

/// One attempt of a firing, and what there is of its log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LoggedAttempt {
    /// The claim that it ran under: its name among the firing's attempts.
    pub term: Term,
    /// Which attempt of its round, from 1; unknown if the history does not record it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// Absent while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// Where it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// How it ended, in a sentence; absent while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
    /// Bytes that it printed.
    pub printed_bytes: u64,
    /// Bytes of that which are kept.
    pub kept_bytes: u64,
}

/// The attempts of a firing, oldest first: all that are on record, and all that printed.
pub fn attempts(task: &Task, records: Records, extents: &[LogExtent]) -> Vec<LoggedAttempt> {
    let events = report(&records.tasks, records.decisions, records.attempts);
    let mut found: Vec<LoggedAttempt> = events
        .into_iter()
        .filter_map(|event| match event {
            HistoryEvent::Attempt(attempt) if attempt.task_id == task.id => Some(of(attempt)),
            _ => None,
        })
        .collect();
    for extent in extents {
        if !found.iter().any(|it| it.term == extent.term) {
            found.push(unrecorded(extent.term));
        }
    }
    found.sort_by_key(|it| it.term);
    for it in &mut found {
        if let Some(extent) = extents.iter().find(|extent| extent.term == it.term) {
            (it.printed_bytes, it.kept_bytes) = (extent.end, extent.kept);
        }
    }
    found
}

fn of(attempt: Attempt) -> LoggedAttempt {
    LoggedAttempt {
        ending: ending(&attempt),
        term: attempt.term,
        attempt: Some(attempt.attempt),
        started_at: Some(attempt.started_at),
        finished_at: attempt.finished_at,
        node: attempt.node,
        printed_bytes: 0,
        kept_bytes: 0,
    }
}

fn unrecorded(term: Term) -> LoggedAttempt {
    LoggedAttempt {
        term,
        attempt: None,
        started_at: None,
        finished_at: None,
        node: None,
        ending: Some("How it ended is not recorded.".to_owned()),
        printed_bytes: 0,
        kept_bytes: 0,
    }
}

/// What it printed is in the log; the sentence says only how it ended.
fn ending(attempt: &Attempt) -> Option<String> {
    let node = attempt.node.as_deref().unwrap_or("its node");
    let sentence = match attempt.outcome.as_str() {
        "running" => return None,
        "lease_expired" => format!("The attempt ended with its node: {node} stopped answering."),
        "handed_back" => format!("The attempt was handed back: {node} was shut down."),
        "expired" => "It expired before it could start.".to_owned(),
        "cancelled" => "The firing was cancelled.".to_owned(),
        outcome => {
            let detail = attempt.detail.as_deref().unwrap_or_default();
            let detail = match shareable_detail(DISPATCH, detail) {
                "" => String::new(),
                how => format!(": {how}"),
            };
            match outcome {
                "done" => format!("Done{detail}."),
                // Not the end: whoever took it works on.
                "working" => format!("Handed over{detail}."),
                _ => format!("Failed{detail}."),
            }
        }
    };
    Some(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::TaskId;

    #[test]
    fn dp_20_a_log_says_how_its_attempt_ended_and_not_what_it_printed() {
        let at = Timestamp::UNIX_EPOCH;
        for (outcome, detail, expected) in [
            ("running", None, None),
            (
                "done",
                Some("exit code 0: hunter2"),
                Some("Done: exit code 0."),
            ),
            (
                "retry",
                Some("exit code 3: hunter2"),
                Some("Failed: exit code 3."),
            ),
            ("failed", None, Some("Failed.")),
            (
                "working",
                Some("waits for a report"),
                Some("Handed over: waits for a report."),
            ),
            (
                "lease_expired",
                Some("the node that ran it stopped answering"),
                Some("The attempt ended with its node: node-a stopped answering."),
            ),
            (
                "handed_back",
                None,
                Some("The attempt was handed back: node-a was shut down."),
            ),
            ("cancelled", None, Some("The firing was cancelled.")),
        ] {
            let attempt = Attempt {
                task_id: TaskId(1),
                term: Term(1),
                attempt: 1,
                due_at: at,
                started_at: at,
                finished_at: Some(at),
                outcome: outcome.to_owned(),
                late_outcome: None,
                detail: detail.map(str::to_owned),
                node: Some("node-a".to_owned()),
            };
            assert_eq!(ending(&attempt).as_deref(), expected);
        }
    }
}
