//! What can be believed of a rhythm: logarithms of how much busier than its parent each slot is.
//!
//! A histogram with few entries is mostly noise, so each is shrunk towards what is coarser: the
//! hour of the week towards hour of the day times day of the week, five minutes towards their hour
//! and their place in it, those towards "all the same". Where the source was not watched long, a
//! slot that could not be seen is not held to be empty: expectations go with the time watched.

use super::{MINUTES, Rhythm, SLOTS, WEEK, hour_of_week, minute_of, slot_of};
use crate::source::policy::number::{hours, index, real, small};

/// Tables that have a weight: hour, day, week, slot, twelfth, minute, hour and slot lately.
pub(in crate::source::policy) const TABLES: usize = 8;

/// Pseudo-entries that represent the parent, over the whole of each circle. Chosen by held-out
/// likelihood when the weights were fitted.
mod prior {
    pub(super) const HOUR: f32 = 4.0 / 24.0;
    pub(super) const DAY: f32 = 8.0 / 7.0;
    pub(super) const WEEK: f32 = 6.0 / 24.0;
    pub(super) const SLOT: f32 = 25.0 / 12.0;
    pub(super) const TWELFTH: f32 = 50.0;
    pub(super) const MINUTE: f32 = 10.0;
    pub(super) const HOUR_LATELY: f32 = 3.0;
    pub(super) const SLOT_LATELY: f32 = 0.5;
}

/// Watched so long, all hours of the week were watched alike.
const EVEN_AFTER_H: f64 = 28.0 * 24.0;
/// What "lately" means, in hours.
const LATELY_H: f32 = 240.0;
/// So many entries make half an adult.
const YOUNG_ENTRIES: f32 = 40.0;

/// Logarithms of ratios, derived from a [`Rhythm`].
#[derive(Debug, Clone, PartialEq)]
pub(in crate::source::policy) struct Tables {
    /// Hour of the day.
    pub(super) hour: [f32; 24],
    /// Day of the week, from Monday.
    pub(super) day: [f32; 7],
    /// Hour of the week, relative to the two above.
    pub(super) week: [f32; WEEK],
    /// Five minutes of the day, relative to their hour and their place in the hour.
    pub(super) slot: [f32; SLOTS],
    /// Five minutes of the hour.
    pub(super) twelfth: [f32; 12],
    /// Minute of the hour, relative to its five minutes.
    pub(super) minute: [f32; MINUTES],
    /// Hour of the day lately, relative to the long rhythm.
    pub(super) hour_lately: [f32; 24],
    /// Five minutes of the day lately, relative to the long rhythm.
    pub(super) slot_lately: [f32; SLOTS],
    /// Operational hours from Monday 00:00 to each hour of the week; the last is the whole week.
    pub(super) elapsed: [f32; WEEK + 1],
    /// Entries behind the histograms.
    pub(super) entries: f32,
}

impl Default for Tables {
    fn default() -> Self {
        Self {
            hour: [0.0; 24],
            day: [0.0; 7],
            week: [0.0; WEEK],
            slot: [0.0; SLOTS],
            twelfth: [0.0; 12],
            minute: [0.0; MINUTES],
            hour_lately: [0.0; 24],
            slot_lately: [0.0; SLOTS],
            elapsed: std::array::from_fn(real),
            entries: 0.0,
        }
    }
}

impl Tables {
    /// Derives the tables of a source that was watched until `until_s`; `recent` are its latest
    /// entries.
    pub(in crate::source::policy) fn new(rhythm: &Rhythm, recent: &[i64], until_s: i64) -> Self {
        let mut tables = Self {
            entries: rhythm.week.iter().sum(),
            ..Self::default()
        };
        if tables.entries > 0.0 {
            let watched = watched(rhythm.since_s, until_s);
            tables.derive_hours(rhythm, &watched);
            tables.derive_week(rhythm, &watched);
            tables.derive_minutes(rhythm);
            tables.derive_slots(rhythm);
            tables.derive_elapsed();
            tables.derive_lately(recent, until_s);
        }
        tables
    }

    /// Near one for sources that have shown little, falling to zero.
    pub(in crate::source::policy) fn young(&self) -> f32 {
        1.0 / (1.0 + self.entries / YOUNG_ENTRIES)
    }

    /// All tables at one instant, in the order of their weights.
    pub(in crate::source::policy) fn logs(&self, at_s: i64) -> [f32; TABLES] {
        let (hour, slot) = (hour_of_week(at_s), slot_of(at_s));
        [
            self.hour[hour % 24],
            self.day[hour / 24],
            self.week[hour],
            self.slot[slot],
            self.twelfth[slot % 12],
            self.minute[minute_of(at_s)],
            self.hour_lately[hour % 24],
            self.slot_lately[slot],
        ]
    }

    fn derive_hours(&mut self, rhythm: &Rhythm, watched: &[f32; WEEK]) {
        let (mut found, mut seen) = ([0.0; 24], [0.0; 24]);
        let mut days = [[0.0; 2]; 7];
        for (place, (count, share)) in rhythm.week.iter().zip(watched).enumerate() {
            found[place % 24] += count;
            seen[place % 24] += share * self.entries;
            days[place / 24][0] += count;
            days[place / 24][1] += share * self.entries;
        }
        self.hour = std::array::from_fn(|hour| {
            log_ratio(
                around(&found, hour, 0.25),
                around(&seen, hour, 0.25),
                prior::HOUR,
            )
        });
        self.day = days.map(|[found, expected]| log_ratio(found, expected, prior::DAY));
    }

    fn derive_week(&mut self, rhythm: &Rhythm, watched: &[f32; WEEK]) {
        let parent = |place: usize| (self.hour[place % 24] + self.day[place / 24]).exp();
        let expected: [f32; WEEK] = std::array::from_fn(|place| watched[place] * parent(place));
        let scale = self.entries / expected.iter().sum::<f32>().max(1e-6);
        self.week = std::array::from_fn(|place| {
            let found = around(&rhythm.week, place, 0.25);
            log_ratio(found, around(&expected, place, 0.25) * scale, prior::WEEK)
        });
    }

    fn derive_minutes(&mut self, rhythm: &Rhythm) {
        for (twelfth, five) in rhythm.minute.chunks_exact(5).enumerate() {
            let found: f32 = five.iter().sum();
            self.twelfth[twelfth] = log_ratio(found, self.entries / 12.0, prior::TWELFTH);
            for (number, count) in five.iter().enumerate() {
                self.minute[twelfth * 5 + number] = log_ratio(*count, found / 5.0, prior::MINUTE);
            }
        }
    }

    fn derive_slots(&mut self, rhythm: &Rhythm) {
        let shares = self.twelfth.map(f32::exp);
        let whole: f32 = shares.iter().sum();
        for (hour, slots) in rhythm.slot.chunks_exact(12).enumerate() {
            let found: f32 = slots.iter().sum();
            for (number, (count, share)) in slots.iter().zip(shares).enumerate() {
                let log = log_ratio(*count, found * share / whole, prior::SLOT);
                self.slot[hour * 12 + number] = log;
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
        self.elapsed.iter_mut().for_each(|sum| *sum *= scale);
    }

    /// What the latest entries say beyond the long rhythm: publishers change their ways.
    fn derive_lately(&mut self, recent: &[i64], until_s: i64) {
        let (mut slots, mut hours_found) = ([0.0; SLOTS], [0.0; 24]);
        for time in recent {
            let age_h = small(hours(until_s - time)).max(0.0);
            let weight = (-age_h / LATELY_H).exp();
            slots[slot_of(*time)] += weight;
            hours_found[slot_of(*time) / 12] += weight;
        }
        let sum: f32 = hours_found.iter().sum();
        let mut expected = [0.0; 24];
        for place in 0..WEEK {
            let share = (self.elapsed[place + 1] - self.elapsed[place]) / real(WEEK);
            expected[place % 24] += share * sum;
        }
        for hour in 0..24 {
            let (found, usual) = (
                around(&hours_found, hour, 0.2),
                around(&expected, hour, 0.2),
            );
            self.hour_lately[hour] = log_ratio(found, usual, prior::HOUR_LATELY);
            let log = |number: usize| self.twelfth[number] + self.slot[hour * 12 + number];
            let shares: [f32; 12] = std::array::from_fn(|number| log(number).exp());
            let whole: f32 = shares.iter().sum();
            for (number, share) in shares.iter().enumerate() {
                let slot = hour * 12 + number;
                // A neighbour counts a quarter: what comes at ten past may come at five past.
                let near = 1.5 * around(&slots, slot, 1.0 / 6.0);
                let usual = 1.5 * hours_found[hour] * share / whole;
                self.slot_lately[slot] = log_ratio(near, usual, prior::SLOT_LATELY);
            }
        }
    }
}

/// How much more was found than expected, shrunk towards no difference.
fn log_ratio(found: f32, expected: f32, prior: f32) -> f32 {
    ((found + prior) / (expected + prior)).ln()
}

/// A place on a circle, with this share of the value taken from either neighbour.
fn around(circle: &[f32], place: usize, share: f32) -> f32 {
    let (before, behind) = (
        circle[(place + circle.len() - 1) % circle.len()],
        circle[(place + 1) % circle.len()],
    );
    (1.0 - 2.0 * share) * circle[place] + share * (before + behind)
}

/// Which share of the time watched fell into each hour of the week.
fn watched(since_s: i64, until_s: i64) -> [f32; WEEK] {
    let span_h = hours(until_s - since_s).max(1.0);
    if span_h >= EVEN_AFTER_H {
        return [1.0 / real(WEEK); WEEK];
    }
    let mut watched = [0.0; WEEK];
    let first = hour_of_week(since_s);
    for hour in 0..=index(small(span_h)) {
        watched[(first + hour) % WEEK] += small(span_h - f64::from(real(hour))).min(1.0);
    }
    let sum: f32 = watched.iter().sum();
    watched.map(|share| share / sum)
}
