//! The smooth part of the intensity: everything but the rhythm, by distance.

use super::{ELAPSED, FADING_H, MOMENT_H, Present, SPREAD, between, group};
use crate::source::policy::{
    History,
    number::{hours, small},
    weights::WEIGHTS,
};

/// How many spreads beyond the last knot a source is held to be dying.
const BEYOND: f32 = 1.5;

/// The smooth groups of features with their weights applied, for one history at one instant.
#[derive(Debug)]
pub(in crate::source::policy) struct Course<'a> {
    history: &'a History,
    present: Present,
    constant: f32,
    fading: [f32; 3],
    /// The regularity table, already mixed for the source's spread.
    regularity: [f32; ELAPSED.len()],
}

impl<'a> Course<'a> {
    pub(in crate::source::policy) fn new(history: &'a History, now_s: i64) -> Self {
        let present = Present::new(history, now_s);
        let logs = present.levels.logs();
        let weighted = logs.iter().zip(&WEIGHTS[group::LEVELS..]);
        let mut constant: f32 = weighted.map(|(log, weight)| log * weight).sum();
        constant += WEIGHTS[group::LEVELS + 4] * history.factors.young;
        let mut fading = [0.0; 3];
        for (number, over) in present.lately.iter().enumerate() {
            let weights = &WEIGHTS[group::LATELY + 4 * number..][..4];
            constant += over * weights[0];
            for (fading, weight) in fading.iter_mut().zip(&weights[1..]) {
                *fading += over * weight;
            }
        }
        let (row, below) = between(&SPREAD, present.spread);
        let at = |row: usize, column| WEIGHTS[group::REGULARITY + row * ELAPSED.len() + column];
        let mixed = |column| (1.0 - below) * at(row, column) + below * at(row + 1, column);
        Self {
            history,
            constant,
            fading,
            regularity: std::array::from_fn(mixed),
            present,
        }
    }

    /// Entries an hour on average, lately.
    pub(in crate::source::policy) fn level(&self) -> f32 {
        self.present.levels.typical()
    }

    /// Entries an hour at a distance from now, but for the rhythm.
    pub(in crate::source::policy) fn at(&self, ahead_s: i64) -> f32 {
        let ahead_h = small(hours(ahead_s));
        let mut log = self.constant;
        for (fading, fading_h) in self.fading.iter().zip(FADING_H) {
            log += fading * (-ahead_h / fading_h).exp();
        }
        if let Some(age_h) = self.present.age_h {
            log += self.regularity(ahead_s, age_h);
        }
        log.clamp(-20.0, 8.0).exp()
    }

    fn regularity(&self, ahead_s: i64, age_h: f32) -> f32 {
        let now_s = self.present.now_s;
        let ahead_h = self.history.factors.operational_h(now_s, now_s + ahead_s);
        let ahead_h = small(ahead_h);
        let expected = ahead_h * self.present.levels.days;
        let share = expected / (1.0 + expected);
        let weights = &WEIGHTS[group::AHEAD..];
        let elapsed = (age_h + ahead_h).max(0.0) + MOMENT_H;
        let elapsed = elapsed.ln() - self.history.rhythm.gap_mean;
        let (column, left) = between(&ELAPSED, elapsed);
        // Sources that never came back are not among those the weights were fitted on. Far beyond
        // its habit, a source's rate is held to fall with the time since its last entry.
        let beyond = elapsed - ELAPSED[ELAPSED.len() - 1] - BEYOND * self.present.spread;
        weights[0] * share
            + weights[1] * ahead_h / (ahead_h + age_h + MOMENT_H)
            + weights[2] * share * self.present.spread
            + (1.0 - left) * self.regularity[column]
            + left * self.regularity[column + 1]
            - beyond.max(0.0)
    }
}
