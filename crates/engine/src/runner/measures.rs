//! What is measured per kind.
//!
//! Looking a metric up by name and labels costs more than recording it, and a busy node records
//! three per task. The handles of each kind are therefore looked up once and kept. There are as many
//! labels as kinds, and kinds are few by design.

use std::collections::BTreeMap;

use almanack_core::task::Kind;
use metrics::{Counter, Gauge, Histogram};

/// The handles of one kind.
pub(super) struct KindMeasures {
    queue: String,
    /// From due to started.
    pub(super) wait: Histogram,
    /// From started to ended.
    pub(super) duration: Histogram,
    /// Attempts running on this node.
    pub(super) running: Gauge,
    /// Tasks that failed for good.
    pub(super) failed: Counter,
    runs: BTreeMap<&'static str, Counter>,
}

impl KindMeasures {
    fn new(kind: &Kind) -> Self {
        let queue = kind.to_string();
        Self {
            wait: metrics::histogram!("almanack_run_wait_seconds", "queue" => queue.clone()),
            duration: metrics::histogram!("almanack_run_duration_seconds", "queue" => queue.clone()),
            running: metrics::gauge!("almanack_running", "queue" => queue.clone()),
            failed: metrics::counter!("almanack_tasks_failed_total", "queue" => queue.clone()),
            queue,
            runs: BTreeMap::new(),
        }
    }

    /// How often attempts ended so.
    pub(super) fn runs(&mut self, outcome: &'static str) -> &Counter {
        let queue = &self.queue;
        self.runs.entry(outcome).or_insert_with(|| {
            metrics::counter!("almanack_runs_total", "queue" => queue.clone(), "outcome" => outcome)
        })
    }
}

/// The handles of all kinds seen so far.
#[derive(Default)]
pub(super) struct Measures(BTreeMap<Kind, KindMeasures>);

impl Measures {
    pub(super) fn of(&mut self, kind: &Kind) -> &mut KindMeasures {
        self.0
            .entry(kind.clone())
            .or_insert_with(|| KindMeasures::new(kind))
    }
}
