//! The features one by one, as the program that fits the weights sees them.

use jiff::Timestamp;

use super::{ELAPSED, FADING_H, MOMENT_H, Present, SPREAD, between, group};
use crate::source::policy::{
    History,
    number::{hours, small},
    rhythm::{TABLES, Tables},
};

/// How many features there are.
pub const FEATURES: usize = group::END;

/// A history as seen at one instant, ready to compute features.
#[derive(Debug)]
pub struct Features<'a> {
    history: &'a History,
    present: Present,
    tables: Tables,
}

impl<'a> Features<'a> {
    /// Looks at a history.
    pub fn new(history: &'a History, now: Timestamp) -> Self {
        Self {
            history,
            present: Present::new(history, now.as_second()),
            tables: history.tables(),
        }
    }

    /// The features of one instant.
    pub fn at(&self, at: Timestamp) -> [f32; FEATURES] {
        let at_s = at.as_second();
        let mut features = [0.0; FEATURES];
        self.levels(&mut features);
        self.lately(at_s, &mut features);
        let young = self.tables.young();
        for (number, log) in self.tables.logs(at_s).into_iter().enumerate() {
            features[group::RHYTHM + number] = log;
            features[group::RHYTHM + TABLES + number] = log * young;
        }
        self.regularity(at_s, &mut features);
        features
    }

    fn levels(&self, features: &mut [f32; FEATURES]) {
        let logs = self.present.levels.logs();
        features[group::LEVELS..group::LEVELS + 4].copy_from_slice(&logs);
        features[group::LEVELS + 4] = self.tables.young();
    }

    fn lately(&self, at_s: i64, features: &mut [f32; FEATURES]) {
        let ahead_h = small(hours(at_s - self.present.now_s)).max(0.0);
        for (number, over) in self.present.lately.iter().enumerate() {
            let place = group::LATELY + 4 * number;
            features[place] = *over;
            for (fading, fading_h) in FADING_H.iter().enumerate() {
                features[place + 1 + fading] = over * (-ahead_h / fading_h).exp();
            }
        }
    }

    fn regularity(&self, at_s: i64, features: &mut [f32; FEATURES]) {
        let present = &self.present;
        let Some(age_h) = present.age_h else {
            return;
        };
        let factors = &self.history.factors;
        let ahead_h = small(factors.operational_h(present.now_s, at_s));
        let expected = ahead_h * present.levels.days;
        let share = expected / (1.0 + expected);
        features[group::AHEAD] = share;
        features[group::AHEAD + 1] = ahead_h / (ahead_h + age_h + MOMENT_H);
        features[group::AHEAD + 2] = share * present.spread;
        let elapsed = (age_h + ahead_h).max(0.0) + MOMENT_H;
        let (row, below) = between(&SPREAD, present.spread);
        let (column, left) = between(&ELAPSED, elapsed.ln() - self.history.rhythm.gap_mean);
        for (row, share) in [(row, 1.0 - below), (row + 1, below)] {
            let place = group::REGULARITY + row * ELAPSED.len() + column;
            features[place] += share * (1.0 - left);
            features[place + 1] += share * left;
        }
    }
}
