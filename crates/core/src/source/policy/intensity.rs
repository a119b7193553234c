//! How many entries an hour a source is expected to publish at an instant to come.
//!
//! A log-linear model: ln λ is a weighted sum of [`FEATURES`] features of the history. The weights
//! were fitted once on real publication times and are shipped (`weights.rs`); how, and how well
//! they do on sources they were not fitted on, is in `docs/adr/0013-adaptive-policy.md`. The
//! features, in groups:
//!
//! - the level at several memories, each relative to the next longer one, so that a dead source
//!   fades and a burst is followed;
//! - how much more than expected came in the last day, six hours and hour, fading with the
//!   distance of the instant asked about;
//! - the rhythm: hour of the day, day of the week, hour of the week, five minutes, minute, and what
//!   was different lately; with a second weight each for sources that have shown little;
//! - regularity: where the source is between its last entry and the next, in operational time, seen
//!   against the mean and the spread of its gaps.
//!
//! Decisions do not go through features: `course` computes the smooth groups at a few distances
//! and `rhythm::Factors` holds the rhythm ready. [`features`] says the same slowly, for the
//! program that fits the weights, and a test holds the two together.

mod course;
pub mod features;

pub(super) use course::Course;
pub use features::{FEATURES, Features};

use super::{
    History,
    number::{hours, small},
    rhythm::{MEMORIES_H, hour_of_week},
};

/// Knots of the regularity table: logarithm of the time since the last entry, relative to the mean.
const ELAPSED: [f32; 11] = [
    -5.0, -3.5, -2.5, -1.5, -0.8, -0.35, 0.0, 0.35, 0.8, 1.5, 3.0,
];
/// Its other side: the spread of the logarithm of gaps.
const SPREAD: [f32; 5] = [0.15, 0.5, 0.9, 1.4, 2.2];
/// Distances over which what came lately is forgotten, in hours.
const FADING_H: [f32; 3] = [0.5, 4.0, 24.0];
/// What is added to hours before a logarithm is taken: about a minute.
const MOMENT_H: f32 = 0.02;

/// Where the groups of features begin.
mod group {
    pub(super) const LEVELS: usize = 0;
    pub(super) const LATELY: usize = LEVELS + 5;
    pub(super) const RHYTHM: usize = LATELY + 12;
    pub(super) const AHEAD: usize = RHYTHM + 2 * super::super::rhythm::TABLES;
    pub(super) const REGULARITY: usize = AHEAD + 3;
    pub(super) const END: usize = REGULARITY + super::ELAPSED.len() * super::SPREAD.len();
}

/// Where the weights of the rhythm begin.
pub(super) const RHYTHM: usize = group::RHYTHM;

/// A history as seen at one instant: what does not depend on the instant asked about.
#[derive(Debug)]
struct Present {
    now_s: i64,
    levels: Levels,
    /// Logarithms of what came in the last day, six hours and hour over what was expected.
    lately: [f32; 3],
    /// Operational hours since the newest entry, if there is one.
    age_h: Option<f32>,
    /// The spread of the logarithm of gaps.
    spread: f32,
}

/// Entries an hour at four memories; each leans on the next longer one.
#[derive(Debug, Clone, Copy)]
struct Levels {
    long: f32,
    month: f32,
    days: f32,
    day: f32,
}

impl Levels {
    fn new(history: &History, now_s: i64) -> Self {
        let rhythm = &history.rhythm;
        let span_h = small(hours(now_s.saturating_sub(rhythm.since_s)).clamp(1.0, 1e6));
        let level = |memory: usize, prior: f32, parent: f32| {
            let watched_h = MEMORIES_H[memory] * (1.0 - (-span_h / MEMORIES_H[memory]).exp());
            (rhythm.level(memory, now_s) + prior) / (watched_h + prior / parent)
        };
        // Of a source without looks, an entry a day is expected.
        let long = level(5, 0.3, 1.0 / 24.0);
        let month = level(4, 1.0, long);
        let days = level(3, 1.0, month);
        Self {
            long,
            month,
            days,
            day: level(2, 1.0, days),
        }
    }

    /// The constant and the logarithms, as features.
    fn logs(&self) -> [f32; 4] {
        [
            1.0,
            self.long.ln(),
            (self.month / self.long).ln(),
            (self.days / self.month).ln(),
        ]
    }

    /// What the rhythm is multiplied by when only one number is wanted.
    fn typical(&self) -> f32 {
        (self.days * self.month).sqrt()
    }
}

/// Entries an hour on average, lately.
pub(super) fn level(history: &History, now_s: i64) -> f32 {
    Levels::new(history, now_s).typical()
}

impl Present {
    fn new(history: &History, now_s: i64) -> Self {
        let levels = Levels::new(history, now_s);
        let expected = expected_lately(history, levels.days, now_s);
        let over = |memory: usize, expected: f32| {
            ((history.rhythm.level(memory, now_s) + 0.5) / (expected + 0.5)).ln()
        };
        Self {
            now_s,
            levels,
            lately: [
                (levels.day / levels.days).ln(),
                over(1, expected[1]),
                over(0, expected[0]),
            ],
            age_h: history.age_h(now_s),
            spread: history.rhythm.gap_variance.max(0.0).sqrt(),
        }
    }
}

/// What the level lets expect of the last hour and the last six, as exponentially fading sums.
fn expected_lately(history: &History, level: f32, now_s: i64) -> [f32; 2] {
    /// e^(−1/6)
    const KEPT: f32 = 0.846_482;
    /// e^(−1)
    const KEPT_FAST: f32 = 0.367_879;
    let elapsed = &history.factors.elapsed;
    let place = hour_of_week(now_s);
    let (mut weight, mut fast) = (1.0, 1.0);
    let mut sums = [[0.0; 2]; 2];
    for back in 0..18 {
        let hour = (place + 168 - back) % 168;
        let busy = elapsed[hour + 1] - elapsed[hour];
        sums[1][0] += busy * weight;
        sums[1][1] += weight;
        if back < 3 {
            sums[0][0] += busy * fast;
            sums[0][1] += fast;
        }
        weight *= KEPT;
        fast *= KEPT_FAST;
    }
    // A flat rhythm lets expect level × memory.
    [
        level * sums[0][0] / sums[0][1],
        level * 6.0 * sums[1][0] / sums[1][1],
    ]
}

/// The knot at or below a value, and how far the value is on its way to the next.
fn between(knots: &[f32], value: f32) -> (usize, f32) {
    let last = knots.len() - 2;
    let inner = knots[1..=last].iter();
    let place = inner.take_while(|knot| value >= **knot).count();
    let share = (value - knots[place]) / (knots[place + 1] - knots[place]);
    (place, share.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests;
