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
    /// The claim that it printed under: its name among the firing's attempts.
    pub term: Term,
    /// Which attempt of its round, from 1; unknown if the history does not record it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended, or the work that it handed over did. Absent while it runs.
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
    /// The name of how it ended.
    #[serde(skip)]
    outcome: String,
    /// The claims it covers: its own, and those of looks after the work that it handed over.
    #[serde(skip)]
    terms: [Term; 2],
}

impl LoggedAttempt {
    /// Whether its work was handed over and goes on, as far as the history says.
    pub fn is_handed_over(&self) -> bool {
        self.outcome == "working"
    }

    /// Whether a claim belongs to it.
    pub fn covers(&self, term: Term) -> bool {
        let [first, last] = self.terms;
        (first..=last).contains(&term)
    }

    /// Adds a look after its work: what that found out, and what it printed.
    fn add_look(&mut self, look: Self) {
        self.terms[1] = look.term;
        if look.printed_bytes > 0 {
            self.term = look.term;
            (self.printed_bytes, self.kept_bytes) = (look.printed_bytes, look.kept_bytes);
        }
        if matches!(
            look.outcome.as_str(),
            "done" | "failed" | "give_up" | "cancelled"
        ) {
            self.finished_at = look.finished_at;
            self.ending = look.ending;
            self.outcome = look.outcome;
        }
    }
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
    without_looks(found)
}

/// Looks are part of the attempt that handed the work over.
fn without_looks(found: Vec<LoggedAttempt>) -> Vec<LoggedAttempt> {
    let mut attempts: Vec<LoggedAttempt> = Vec::new();
    for it in found {
        let one_log = |before: &LoggedAttempt| before.printed_bytes == 0 || it.printed_bytes == 0;
        let before = attempts.last_mut();
        match before.filter(|before| before.is_handed_over() && one_log(before)) {
            Some(before) => before.add_look(it),
            None => attempts.push(it),
        }
    }
    attempts
}

fn of(attempt: Attempt) -> LoggedAttempt {
    let is_handed_over = attempt.outcome == "working";
    LoggedAttempt {
        ending: ending(&attempt),
        attempt: Some(attempt.attempt),
        started_at: Some(attempt.started_at),
        finished_at: attempt.finished_at.filter(|_| !is_handed_over),
        node: attempt.node,
        outcome: attempt.outcome,
        ..unrecorded(attempt.term)
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
        outcome: String::new(),
        terms: [term; 2],
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

    fn recorded(term: i64, outcome: &str) -> Attempt {
        let at = Timestamp::from_second(term).unwrap();
        Attempt {
            task_id: TaskId(1),
            term: Term(term),
            attempt: 1,
            due_at: at,
            started_at: at,
            finished_at: Some(at),
            outcome: outcome.to_owned(),
            late_outcome: None,
            detail: None,
            node: Some("node-a".to_owned()),
        }
    }

    #[test]
    fn dp_20_looks_after_handed_over_work_are_no_attempts() {
        let whole = |outcomes: &[&str]| {
            let found = (1..)
                .zip(outcomes)
                .map(|(term, outcome)| of(recorded(term, outcome)));
            without_looks(found.collect())
        };
        let shown = |attempts: &[LoggedAttempt]| -> Vec<(String, bool)> {
            let of = |it: &LoggedAttempt| (it.outcome.clone(), it.finished_at.is_some());
            attempts.iter().map(of).collect()
        };
        let pair = |outcome: &str, over| (outcome.to_owned(), over);
        assert_eq!(
            shown(&whole(&["retry", "working", "running"])),
            [pair("retry", true), pair("working", false)]
        );
        let over = whole(&["retry", "working", "lease_expired", "done"]);
        assert_eq!(shown(&over), [pair("retry", true), pair("done", true)]);
        assert!(over[1].covers(Term(2)) && over[1].covers(Term(4)) && !over[1].covers(Term(1)));
        assert_eq!(
            shown(&whole(&["retry", "done"])).len(),
            2,
            "nothing was handed over"
        );
    }

    /// A look that finds the run prints its address: that is the attempt's log.
    #[test]
    fn dp_20_what_a_look_printed_is_the_log_of_its_attempt() {
        let mut look = of(recorded(3, "working"));
        look.printed_bytes = 9;
        let others =
            [(1, "working"), (4, "failed")].map(|(term, outcome)| of(recorded(term, outcome)));
        let [first, last] = others;
        let attempts = without_looks(vec![first, look, last]);
        let [attempt] = attempts.as_slice() else {
            panic!("{attempts:?}");
        };
        let found = (
            attempt.term,
            attempt.printed_bytes,
            attempt.outcome.as_str(),
        );
        assert_eq!(found, (Term(3), 9, "failed"));
    }

    #[test]
    fn dp_20_a_log_says_how_its_attempt_ended_and_not_what_it_printed() {
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
                detail: detail.map(str::to_owned),
                ..recorded(1, outcome)
            };
            assert_eq!(ending(&attempt).as_deref(), expected);
        }
    }
}
