//! How many entries an hour a source is expected to publish at an instant to come.
//!
//! A log-linear model: ln λ is a weighted sum of [`FEATURES`] features of the history. The weights
//! were fitted once on real publication times and are shipped ([`super::weights`]); how, and how
//! well they do on sources they were not fitted on, is told in `docs/adr/0013-adaptive-policy.md`.
//! The features, in groups:
//!
//! - the level at several memories, each relative to the next longer one, so that a dead source
//!   fades and a burst is followed;
//! - the rhythm: hour of the day, day of the week, hour of the week, five minutes, minute; with a
//!   second weight each for sources that have shown little;
//! - how much more than expected came in the last day, six hours and hour, fading with the
//!   distance of the instant asked about;
//! - regularity: where the source stands between its last entry and the next, in operational time,
//!   seen against the mean and the spread of its gaps.
//!
//! This module is public for the program that fits the weights; nobody else needs it.

use jiff::Timestamp;

use super::{
    History,
    number::{hours, real, small},
    rhythm::{MEMORIES_H, hour_of_week, minute_of, slot_of},
    weights::WEIGHTS,
};

/// Knots of the regularity table: logarithm of the time since the last entry, relative to the mean.
const ELAPSED: [f32; 9] = [-5.0, -3.5, -2.5, -1.5, -0.75, 0.0, 0.75, 1.5, 3.0];
/// Its other side: the spread of the logarithm of gaps.
const SPREAD: [f32; 4] = [0.3, 0.8, 1.4, 2.2];
/// Distances over which what came lately is forgotten, in hours.
const FADING_H: [f32; 3] = [0.5, 4.0, 24.0];

const LEVELS: usize = 0;
const LATELY: usize = LEVELS + 5;
const RHYTHM: usize = LATELY + 12;
const AHEAD: usize = RHYTHM + 12;
const REGULARITY: usize = AHEAD + 3;
/// How many features there are.
pub const FEATURES: usize = REGULARITY + ELAPSED.len() * SPREAD.len();

/// A history as seen at one instant.
#[derive(Debug)]
pub struct Present<'a> {
    history: &'a History,
    now_s: i64,
    levels: Levels,
    /// Logarithms of what came in the last day, six hours and hour over what was expected.
    lately: [f32; 3],
    /// Weight of the second set of rhythm features: near one for sources that have shown little.
    young: f32,
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
        // Of a source nobody has seen, an entry a day is expected.
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
}

/// Entries an hour on average, lately: what the rhythm is multiplied by.
pub(super) fn level(history: &History, now_s: i64) -> f32 {
    let levels = Levels::new(history, now_s);
    (levels.days * levels.month).sqrt()
}

impl<'a> Present<'a> {
    /// Looks at a history.
    pub fn new(history: &'a History, now: Timestamp) -> Self {
        let now_s = now.as_second();
        let levels = Levels::new(history, now_s);
        let young = 1.0 / (1.0 + history.tables.entries / 40.0);
        let expected = expected_lately(history, levels.days, now_s);
        let over = |memory: usize, expected: f32| {
            ((history.rhythm.level(memory, now_s) + 0.5) / (expected + 0.5)).ln()
        };
        Self {
            history,
            now_s,
            levels,
            lately: [
                (levels.day / levels.days).ln(),
                over(1, expected[1]),
                over(0, expected[0]),
            ],
            young,
        }
    }

    /// The features of one instant.
    pub fn features(&self, at: Timestamp) -> [f32; FEATURES] {
        let at_s = at.as_second();
        let mut features = [0.0; FEATURES];
        let levels = &self.levels;
        features[LEVELS] = 1.0;
        features[LEVELS + 1] = levels.long.ln();
        features[LEVELS + 2] = (levels.month / levels.long).ln();
        features[LEVELS + 3] = (levels.days / levels.month).ln();
        features[LEVELS + 4] = self.young;
        let ahead_h = small(hours(at_s - self.now_s)).max(0.0);
        for (number, over) in self.lately.iter().enumerate() {
            let place = LATELY + 4 * number;
            features[place] = *over;
            for (fading, fading_h) in FADING_H.iter().enumerate() {
                features[place + 1 + fading] = over * (-ahead_h / fading_h).exp();
            }
        }
        let tables = &self.history.tables;
        let hour = hour_of_week(at_s);
        let slot = slot_of(at_s);
        let rhythm = [
            tables.hour[hour % 24],
            tables.day[hour / 24],
            tables.week[hour],
            tables.slot[slot],
            tables.twelfth[slot % 12],
            tables.minute[minute_of(at_s)],
        ];
        for (number, log) in rhythm.into_iter().enumerate() {
            features[RHYTHM + number] = log;
            features[RHYTHM + 6 + number] = log * self.young;
        }
        self.regularity(at_s, &mut features);
        features
    }

    fn regularity(&self, at_s: i64, features: &mut [f32; FEATURES]) {
        let history = self.history;
        let Some((_, now_h)) = history.age_h(self.now_s) else {
            return;
        };
        let ahead_h = small(history.tables.operational_h(self.now_s, at_s));
        let expected = ahead_h * self.levels.days;
        features[AHEAD] = expected / (1.0 + expected);
        features[AHEAD + 1] = ahead_h / (ahead_h + now_h + 0.02);
        let spread = history.rhythm.gap_variance.max(0.0).sqrt();
        features[AHEAD + 2] = features[AHEAD] * spread;
        let elapsed = (now_h + ahead_h + 0.02).max(0.02).ln() - history.rhythm.gap_mean;
        let (row, below) = between(&SPREAD, spread);
        let (column, left) = between(&ELAPSED, elapsed);
        for (row, share) in [(row, 1.0 - below), (row + 1, below)] {
            let place = REGULARITY + row * ELAPSED.len() + column;
            features[place] += share * (1.0 - left);
            features[place + 1] += share * left;
        }
    }

    /// Entries an hour expected at an instant.
    pub fn at(&self, at: Timestamp) -> f32 {
        let features = self.features(at);
        let log: f32 = features.iter().zip(&WEIGHTS).map(|(a, b)| a * b).sum();
        log.clamp(-20.0, 8.0).exp()
    }
}

/// What the level lets expect of the last hour and the last six, as exponentially fading sums.
fn expected_lately(history: &History, level: f32, now_s: i64) -> [f32; 2] {
    let elapsed = &history.tables.elapsed;
    let place = hour_of_week(now_s);
    let mut expected = [0.0; 2];
    for back in 0..18 {
        let hour = (place + 168 - back) % 168;
        let busy = elapsed[hour + 1] - elapsed[hour];
        let age = real(back);
        expected[1] += busy * (-age / 6.0).exp();
        if back < 3 {
            expected[0] += busy * (-age).exp();
        }
    }
    // The sums of the fading weights themselves, so that a flat rhythm expects level × memory.
    [
        expected[0] * level / 1.503,
        expected[1] * level * 6.0 / 6.189,
    ]
}

/// The knot at or below a value, and how far the value is on its way to the next.
fn between(knots: &[f32], value: f32) -> (usize, f32) {
    let last = knots.len() - 2;
    let place = knots[1..=last]
        .iter()
        .take_while(|knot| value >= **knot)
        .count();
    let share = (value - knots[place]) / (knots[place + 1] - knots[place]);
    (place, share.clamp(0.0, 1.0))
}
