//! A source's rhythm: how much it publishes, and when.
//!
//! Sums that forget, and nothing else, are kept: how many entries lately at six memories from an
//! hour to five months, and histograms over the minute of the hour, the five minutes of the day and
//! the hour of the week. Everything is in UTC. What can be believed of a histogram depends on how
//! many entries it is based on; [`Tables`] shrinks each towards its parent and is derived, not
//! stored.
//!
//! Slots are cut a few seconds after the minute ([`PHASE_S`]): many publishers publish on the
//! minute, and a check at the end of such a slot finds them at once instead of a minute later.

mod factors;
mod spread;
mod tables;

pub(super) use factors::Factors;
pub(super) use tables::{TABLES, Tables};

use super::number::{hours, place, small};

/// Time constants of the levels, in hours.
pub(super) const MEMORIES_H: [f32; 6] = [1.0, 6.0, 24.0, 120.0, 720.0, 3_600.0];
/// Time constant of the histograms, in hours: long enough to learn a week, short enough to follow a
/// change of the clocks.
const HISTOGRAM_MEMORY_H: f32 = 2_880.0;
/// How long after the full minute slots are cut.
pub(super) const PHASE_S: i64 = 10;
pub(super) const MINUTES: usize = 60;
pub(super) const SLOTS: usize = 288;
pub(super) const WEEK: usize = 168;
/// The epoch was a Thursday; weeks begin on Monday.
const MONDAY_S: i64 = 3 * 86_400;
/// Gaps below a minute are bursts, and how short they are says nothing.
const GAP_MIN_H: f64 = 1.0 / 60.0;
/// Gap statistics are means over about so many gaps.
const GAPS: f32 = 40.0;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rhythm {
    /// The oldest entry ever seen; before it we know nothing.
    pub(super) since_s: i64,
    /// The newest entry; all sums are as of this instant.
    pub(super) as_of_s: i64,
    pub(super) levels: [f32; 6],
    pub(super) minute: [f32; MINUTES],
    pub(super) slot: [f32; SLOTS],
    pub(super) week: [f32; WEEK],
    /// Gaps seen, up to [`GAPS`]; mean and variance of their logarithm, in operational hours.
    pub(super) gaps: f32,
    pub(super) gap_mean: f32,
    pub(super) gap_variance: f32,
}

impl Default for Rhythm {
    fn default() -> Self {
        Self {
            since_s: 0,
            as_of_s: 0,
            levels: [0.0; 6],
            minute: [0.0; MINUTES],
            slot: [0.0; SLOTS],
            week: [0.0; WEEK],
            gaps: 0.0,
            gap_mean: 0.0,
            gap_variance: 1.0,
        }
    }
}

impl Rhythm {
    /// Whether nothing was ever seen.
    pub(super) fn is_empty(&self) -> bool {
        self.levels[5] <= 0.0
    }

    /// Whether a source that has shown nothing to learn from is watched for what comes.
    pub(super) fn is_watched(&self) -> bool {
        self.since_s != 0
    }

    /// Begins to watch a source that has shown nothing to learn from.
    pub(super) fn watch(&mut self, since_s: i64) {
        if self.is_empty() && !self.is_watched() {
            (self.since_s, self.as_of_s) = (since_s, since_s);
        }
    }

    /// Counts an entry; the order of entries does not matter.
    pub(super) fn count(&mut self, at_s: i64) {
        let weight = self.count_level(at_s);
        self.minute[minute_of(at_s)] += weight;
        self.slot[slot_of(at_s)] += weight;
        self.week[hour_of_week(at_s)] += weight;
    }

    /// Counts an entry in the levels; what it weighs in the histograms comes back.
    fn count_level(&mut self, at_s: i64) -> f32 {
        self.watch(at_s);
        if at_s > self.as_of_s {
            self.forget(small(hours(at_s - self.as_of_s)));
            self.as_of_s = at_s;
        }
        self.since_s = self.since_s.min(at_s);
        let age_h = small(hours(self.as_of_s - at_s));
        for (level, memory_h) in self.levels.iter_mut().zip(MEMORIES_H) {
            *level += (-age_h / memory_h).exp();
        }
        (-age_h / HISTOGRAM_MEMORY_H).exp()
    }

    fn forget(&mut self, elapsed_h: f32) {
        for (level, memory_h) in self.levels.iter_mut().zip(MEMORIES_H) {
            *level *= (-elapsed_h / memory_h).exp();
        }
        let kept = (-elapsed_h / HISTOGRAM_MEMORY_H).exp();
        let histograms = self.minute.iter_mut().chain(&mut self.slot);
        for sum in histograms.chain(&mut self.week) {
            *sum *= kept;
        }
    }

    /// Learns from the gap between two neighbouring entries, in operational hours.
    pub(super) fn learn_gap(&mut self, operational_h: f64) {
        let log = small(operational_h.max(GAP_MIN_H).ln());
        self.gaps = (self.gaps + 1.0).min(GAPS);
        let share = 1.0 / self.gaps;
        let off = log - self.gap_mean;
        self.gap_mean += share * off;
        // A variance of one represents two unseen gaps.
        let share = 1.0 / (self.gaps + 2.0);
        self.gap_variance += share * (off * off - self.gap_variance);
    }

    /// The level at memory number `memory`, as a sum, at `now_s`.
    pub(super) fn level(&self, memory: usize, now_s: i64) -> f32 {
        let age_h = small(hours((now_s - self.as_of_s).max(0)));
        self.levels[memory] * (-age_h / MEMORIES_H[memory]).exp()
    }
}

/// The minute of the hour, as slots are cut.
pub(super) fn minute_of(at_s: i64) -> usize {
    place(at_s - PHASE_S, 60, MINUTES)
}

/// The five minutes of the day.
pub(super) fn slot_of(at_s: i64) -> usize {
    place(at_s - PHASE_S, 300, SLOTS)
}

/// The hour of the week, from Monday 00:00.
pub(super) fn hour_of_week(at_s: i64) -> usize {
    place(at_s - PHASE_S + MONDAY_S, 3_600, WEEK)
}
