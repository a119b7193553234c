//! What a worker holds: running programs with their leases, and reports that are not taken yet.

use std::{collections::BTreeMap, time::Duration};

use almanack_adapters::clock::Stopwatch;
use almanack_core::work::{HeldTask, TASKS_MAX, WorkReport};
use tokio::task::AbortHandle;

/// A program under way.
struct Running {
    /// The task, for people.
    task: String,
    /// When its lease began, or was last extended, in seconds of the worker's own watch.
    leased_at: f64,
    program: AbortHandle,
}

pub(super) struct Holdings {
    slots: usize,
    watch: Stopwatch,
    running: BTreeMap<HeldTask, Running>,
    reports: Vec<WorkReport>,
    back: Vec<HeldTask>,
    /// Whether a report is under way.
    reporting: bool,
}

impl Holdings {
    pub(super) fn new(slots: usize) -> Self {
        Self {
            slots,
            watch: Stopwatch::start(),
            running: BTreeMap::new(),
            reports: Vec::new(),
            back: Vec::new(),
            reporting: false,
        }
    }

    pub(super) fn seconds(&self) -> f64 {
        self.watch.seconds()
    }

    /// How many more programs may run. Reports count: a node that takes none gets no more work.
    pub(super) fn free(&self) -> usize {
        self.slots
            .saturating_sub(self.running.len() + self.reports.len())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty() && self.reports.is_empty() && !self.reporting
    }

    pub(super) fn take(&mut self, held: HeldTask, task: String, program: AbortHandle) {
        let running = Running {
            task,
            // From the answer on: a long wait for work began long before the lease did.
            leased_at: self.watch.seconds(),
            program,
        };
        self.running.insert(held, running);
    }

    /// A program ended: its task, unless it was given up.
    pub(super) fn end(&mut self, held: HeldTask, report: WorkReport) -> Option<String> {
        let ended = self.running.remove(&held)?;
        self.reports.push(report);
        Some(ended.task)
    }

    /// The task is no longer ours: ends its program.
    pub(super) fn lose(&mut self, held: HeldTask) -> Option<String> {
        let lost = self.running.remove(&held)?;
        lost.program.abort();
        Some(lost.task)
    }

    /// The task is given back when the worker leaves.
    pub(super) fn give_back(&mut self, held: HeldTask) {
        self.back.push(held);
    }

    pub(super) fn held(&self) -> Vec<HeldTask> {
        self.running.keys().copied().take(TASKS_MAX).collect()
    }

    /// The lease was extended by a request sent at `asked_at`.
    pub(super) fn extended(&mut self, held: HeldTask, asked_at: f64) {
        if let Some(running) = self.running.get_mut(&held) {
            running.leased_at = running.leased_at.max(asked_at);
        }
    }

    /// Ends programs whose lease may pass within `margin`; their tasks.
    pub(super) fn end_lapsed(&mut self, lease: Duration, margin: Duration) -> Vec<String> {
        let since = self.watch.seconds() - lease.saturating_sub(margin).as_secs_f64();
        let lapsed = |running: &Running| running.leased_at <= since;
        let all = self.running.iter();
        let lost: Vec<HeldTask> = all
            .filter(|(_, it)| lapsed(it))
            .map(|(held, _)| *held)
            .collect();
        lost.into_iter()
            .filter_map(|held| self.lose(held))
            .collect()
    }

    /// Reports to send, if there are any and none is under way.
    pub(super) fn take_reports(&mut self) -> Option<Vec<WorkReport>> {
        if self.reporting || self.reports.is_empty() {
            return None;
        }
        self.reporting = true;
        let first = self.reports.len().min(TASKS_MAX);
        Some(self.reports.drain(..first).collect())
    }

    /// A report was answered; these were not taken.
    pub(super) fn reported(&mut self, again: Vec<WorkReport>) {
        self.reporting = false;
        self.reports.extend(again);
    }

    /// Ends everything: what is given back, and what is still to be reported.
    pub(super) fn leave(&mut self) -> (Vec<HeldTask>, Vec<WorkReport>) {
        let running: Vec<HeldTask> = self.running.keys().copied().collect();
        for held in running {
            self.lose(held);
            self.back.push(held);
        }
        (
            std::mem::take(&mut self.back),
            std::mem::take(&mut self.reports),
        )
    }
}
