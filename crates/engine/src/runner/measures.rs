//! What is measured per kind.
//!
//! Looking a metric up by name and labels costs more than recording it, and a busy node records
//! three per task. The handles of each kind are therefore looked up once and kept. Kinds are few by
//! design, but any client that may put tasks can name new ones, and a label never goes away: beyond
//! [`KINDS_MAX`] all share one.

use std::collections::BTreeMap;

use almanack_core::task::Kind;
use metrics::{Counter, Gauge, Histogram};

/// Kinds that are measured by themselves, in the order in which they are first seen.
const KINDS_MAX: usize = 250;
/// What the others are called together.
const OTHER: &str = "other";

/// How an attempt can end on the node that made it.
const OUTCOMES: [&str; 6] = [
    "done",
    "again",
    "retry",
    "give_up",
    "handed_back",
    "expired",
];

/// Exports the counters of a kind before anything of it has run: what first appears when it has
/// counted hides its first time from every query for its increase.
pub fn export_kind(kind: &str) {
    metrics::counter!("almanack_tasks_failed_total", "kind" => kind.to_owned()).increment(0);
    for outcome in OUTCOMES {
        metrics::counter!("almanack_runs_total", "kind" => kind.to_owned(), "outcome" => outcome)
            .increment(0);
    }
}

/// The handles of one kind.
pub(crate) struct KindMeasures {
    kind: String,
    /// From due to started.
    pub(crate) wait: Histogram,
    /// From started to ended.
    pub(crate) duration: Histogram,
    /// Attempts running on this node.
    pub(crate) running: Gauge,
    /// Tasks that failed for good.
    pub(crate) failed: Counter,
    runs: BTreeMap<&'static str, Counter>,
}

impl KindMeasures {
    fn new(kind: &str) -> Self {
        let kind = kind.to_owned();
        Self {
            wait: metrics::histogram!("almanack_run_wait_seconds", "kind" => kind.clone()),
            duration: metrics::histogram!("almanack_run_duration_seconds", "kind" => kind.clone()),
            running: metrics::gauge!("almanack_running", "kind" => kind.clone()),
            failed: metrics::counter!("almanack_tasks_failed_total", "kind" => kind.clone()),
            kind,
            runs: BTreeMap::new(),
        }
    }

    /// How often attempts ended so.
    pub(crate) fn runs(&mut self, outcome: &'static str) -> &Counter {
        let kind = &self.kind;
        self.runs.entry(outcome).or_insert_with(|| {
            metrics::counter!("almanack_runs_total", "kind" => kind.clone(), "outcome" => outcome)
        })
    }
}

/// The handles of the kinds seen so far.
#[derive(Default)]
pub(crate) struct Measures {
    kinds: BTreeMap<Kind, KindMeasures>,
    others: Option<KindMeasures>,
}

impl Measures {
    pub(crate) fn of(&mut self, kind: &Kind) -> &mut KindMeasures {
        if self.kinds.len() >= KINDS_MAX && !self.kinds.contains_key(kind) {
            return self.others.get_or_insert_with(|| KindMeasures::new(OTHER));
        }
        self.kinds
            .entry(kind.clone())
            .or_insert_with(|| KindMeasures::new(kind.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sf_01_kinds_without_end_share_one_label() {
        let mut measures = Measures::default();
        let kind = |number: usize| Kind::parse(&format!("KIND_{number}")).unwrap();
        for number in 0..20_000 {
            measures.of(&kind(number));
        }
        assert_eq!(measures.kinds.len(), KINDS_MAX);
        assert_eq!(
            measures.of(&kind(7)).kind,
            "KIND_7",
            "once by itself, always"
        );
        assert_eq!(measures.of(&kind(19_999)).kind, OTHER);
    }
}
