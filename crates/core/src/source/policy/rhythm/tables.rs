//! What can be believed of a rhythm: logarithms of how much busier than its parent each slot is.
//!
//! A histogram with few entries is mostly noise, so each is shrunk towards what is coarser: the
//! hour of the week towards hour of the day times day of the week, five minutes towards their hour
//! and their place in it, those towards "all the same". Where the source was not watched long, a
//! slot that could not be seen is not held to be empty: expectations go with the time watched.

use super::{MINUTES, Rhythm, SLOTS, WEEK, hour_of_week};
use crate::source::policy::number::{hours, real, small};

/// Pseudo-entries that stand for the parent, for each table.
const HOUR_PRIOR: f32 = 4.0;
const DAY_PRIOR: f32 = 4.0;
const WEEK_PRIOR: f32 = 3.0;
const SLOT_PRIOR: f32 = 1.5;
const MINUTE_PRIOR: f32 = 1.5;
/// Watched so long, all hours of the week were watched alike.
const EVEN_AFTER_H: f64 = 28.0 * 24.0;

/// Logarithms of ratios, derived from a [`Rhythm`].
#[derive(Debug, Clone, PartialEq)]
pub(in crate::source::policy) struct Tables {
    /// Hour of the day.
    pub(in crate::source::policy) hour: [f32; 24],
    /// Day of the week, from Monday.
    pub(in crate::source::policy) day: [f32; 7],
    /// Hour of the week, relative to the two above.
    pub(in crate::source::policy) week: [f32; WEEK],
    /// Five minutes of the day, relative to its hour and its place in the hour.
    pub(in crate::source::policy) slot: [f32; SLOTS],
    /// Five minutes of the hour.
    pub(in crate::source::policy) twelfth: [f32; 12],
    /// Minute of the hour, relative to its five minutes.
    pub(in crate::source::policy) minute: [f32; MINUTES],
    /// Operational hours from Monday 00:00 to each hour of the week; the last is the whole week.
    pub(in crate::source::policy) elapsed: [f32; WEEK + 1],
    /// Entries behind the histograms.
    pub(in crate::source::policy) entries: f32,
}

impl Default for Tables {
    fn default() -> Self {
        let mut elapsed = [0.0; WEEK + 1];
        for (hour, sum) in elapsed.iter_mut().enumerate() {
            *sum = real(hour);
        }
        Self {
            hour: [0.0; 24],
            day: [0.0; 7],
            week: [0.0; WEEK],
            slot: [0.0; SLOTS],
            twelfth: [0.0; 12],
            minute: [0.0; MINUTES],
            elapsed,
            entries: 0.0,
        }
    }
}

impl Tables {
    /// Derives the tables of a source that was watched until `until_s`.
    pub(in crate::source::policy) fn derive(rhythm: &Rhythm, until_s: i64) -> Self {
        let mut tables = Self {
            entries: rhythm.week.iter().sum(),
            ..Self::default()
        };
        if tables.entries <= 0.0 {
            return tables;
        }
        let watched = watched(rhythm.since_s, until_s);
        tables.derive_hours(rhythm, &watched);
        tables.derive_week(rhythm, &watched);
        tables.derive_minutes(rhythm);
        tables.derive_slots(rhythm);
        tables.derive_elapsed();
        tables
    }

    fn derive_hours(&mut self, rhythm: &Rhythm, watched: &[f32; WEEK]) {
        let (mut hours, mut days) = ([[0.0_f32; 2]; 24], [[0.0_f32; 2]; 7]);
        for (place, (count, share)) in rhythm.week.iter().zip(watched).enumerate() {
            for sums in [&mut hours[place % 24], &mut days[place / 24]] {
                sums[0] += count;
                sums[1] += share;
            }
        }
        for hour in 0..24 {
            let [before, at, behind] =
                [hours[(hour + 23) % 24], hours[hour], hours[(hour + 1) % 24]];
            let smooth = |part: usize| 0.25 * before[part] + 0.5 * at[part] + 0.25 * behind[part];
            let expected = smooth(1) * self.entries;
            self.hour[hour] =
                ((smooth(0) + HOUR_PRIOR / 24.0) / (expected + HOUR_PRIOR / 24.0)).ln();
        }
        for day in 0..7 {
            let expected = days[day][1] * self.entries;
            self.day[day] = ((days[day][0] + DAY_PRIOR / 7.0) / (expected + DAY_PRIOR / 7.0)).ln();
        }
    }

    fn derive_week(&mut self, rhythm: &Rhythm, watched: &[f32; WEEK]) {
        let mut expected = [0.0; WEEK];
        for (place, expected) in expected.iter_mut().enumerate() {
            *expected = watched[place] * (self.hour[place % 24] + self.day[place / 24]).exp();
        }
        let scale = self.entries / expected.iter().sum::<f32>().max(1e-6);
        let prior = WEEK_PRIOR / 24.0;
        for place in 0..WEEK {
            let near = [(place + WEEK - 1) % WEEK, place, (place + 1) % WEEK];
            let smooth =
                |of: &[f32; WEEK]| 0.25 * of[near[0]] + 0.5 * of[near[1]] + 0.25 * of[near[2]];
            let (found, expected) = (smooth(&rhythm.week), smooth(&expected) * scale);
            self.week[place] = ((found + prior) / (expected + prior)).ln();
        }
    }

    fn derive_minutes(&mut self, rhythm: &Rhythm) {
        for twelfth in 0..12 {
            let found: f32 = rhythm.minute[twelfth * 5..twelfth * 5 + 5].iter().sum();
            let prior = MINUTE_PRIOR;
            self.twelfth[twelfth] = ((found + prior) / (self.entries / 12.0 + prior)).ln();
            let expected = (found + 0.01) / 5.0;
            for minute in twelfth * 5..twelfth * 5 + 5 {
                let prior = MINUTE_PRIOR / 5.0;
                let found = rhythm.minute[minute] + 0.002;
                self.minute[minute] = ((found + prior) / (expected + prior)).ln();
            }
        }
    }

    fn derive_slots(&mut self, rhythm: &Rhythm) {
        for hour in 0..24 {
            let slots = hour * 12..hour * 12 + 12;
            let found: f32 = rhythm.slot[slots.clone()].iter().sum();
            let shares = self.twelfth.map(f32::exp);
            let whole: f32 = shares.iter().sum();
            for (slot, share) in slots.zip(shares) {
                let expected = found * share / whole;
                let prior = SLOT_PRIOR / 12.0;
                self.slot[slot] = ((rhythm.slot[slot] + prior) / (expected + prior)).ln();
            }
        }
    }

    /// Scaled so that a week has 168 operational hours.
    fn derive_elapsed(&mut self) {
        let mut sum = 0.0;
        for place in 0..WEEK {
            self.elapsed[place] = sum;
            sum += (self.hour[place % 24] + self.day[place / 24] + self.week[place]).exp();
        }
        self.elapsed[WEEK] = sum;
        let scale = real(WEEK) / sum.max(1e-6);
        for sum in &mut self.elapsed {
            *sum *= scale;
        }
    }

    /// Operational hours between two instants: hours count as much as the source usually publishes
    /// in them.
    pub(in crate::source::policy) fn operational_h(&self, from_s: i64, to_s: i64) -> f64 {
        let weeks = |at_s: i64| (at_s - super::PHASE_S + super::MONDAY_S).div_euclid(604_800);
        let whole = hours((weeks(to_s) - weeks(from_s)) * 604_800);
        whole + f64::from(self.into_week(to_s)) - f64::from(self.into_week(from_s))
    }

    fn into_week(&self, at_s: i64) -> f32 {
        let place = hour_of_week(at_s);
        let into = (at_s - super::PHASE_S).rem_euclid(3_600);
        let share = small(hours(into));
        self.elapsed[place] + share * (self.elapsed[place + 1] - self.elapsed[place])
    }
}

/// Which share of the time watched fell into each hour of the week.
fn watched(since_s: i64, until_s: i64) -> [f32; WEEK] {
    let span_h = hours(until_s - since_s).max(1.0);
    if span_h >= EVEN_AFTER_H {
        return [1.0 / real(WEEK); WEEK];
    }
    let mut watched = [0.0_f32; WEEK];
    let first = hour_of_week(since_s);
    let whole = crate::source::policy::number::index(small(span_h));
    for hour in 0..=whole {
        let share = small(span_h - f64::from(real(hour))).min(1.0);
        watched[(first + hour) % WEEK] += share;
    }
    let sum: f32 = watched.iter().sum();
    watched.map(|share| share / sum)
}
