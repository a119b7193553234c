//! What a node is doing, in numbers: for a caller that waits until it is idle.

use std::{collections::BTreeMap, sync::Mutex};

use almanack_core::locked;

/// What a node has planned and tried since it started.
#[derive(Debug, Default)]
pub struct Counters {
    counts: Mutex<Counts>,
}

/// The counters at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Claims that are asked for: what they return is no longer due, and not under way yet.
    pub asking: u64,
    /// Attempts whose ending is not written yet.
    pub under_way: u64,
    pub fired: u64,
    /// Slots that were skipped.
    pub skipped: u64,
    /// Endings written, by the outcome's name.
    pub ended: BTreeMap<&'static str, u64>,
}

impl Counters {
    /// The numbers now.
    pub fn counts(&self) -> Counts {
        locked(&self.counts).clone()
    }

    pub(crate) fn planned(&self, fired: u64, skipped: u64) {
        let mut counts = locked(&self.counts);
        counts.fired += fired;
        counts.skipped += skipped;
    }

    pub(crate) fn asks(&self) {
        locked(&self.counts).asking += 1;
    }

    /// What a claim returned is counted as started before this.
    pub(crate) fn asked(&self) {
        let mut counts = locked(&self.counts);
        counts.asking = counts.asking.saturating_sub(1);
    }

    pub(crate) fn started(&self, attempts: usize) {
        locked(&self.counts).under_way += attempts as u64;
    }

    pub(crate) fn ended(&self, outcome: &'static str) {
        let mut counts = locked(&self.counts);
        counts.under_way = counts.under_way.saturating_sub(1);
        *counts.ended.entry(outcome).or_default() += 1;
    }
}
