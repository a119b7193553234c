//! The rhythm made ready for decisions: what each slot multiplies the level by, weights applied.

use super::{MINUTES, MONDAY_S, PHASE_S, SLOTS, TABLES, Tables, WEEK, hour_of_week};
use crate::source::policy::{
    intensity::RHYTHM,
    number::{hours, real, small},
    weights::WEIGHTS,
};

/// Fewer entries than this show no habits worth a word.
const HABIT_ENTRIES: f32 = 10.0;
/// An hour of the day stands out if it has so many times its share.
const PEAK: f32 = 2.5;
/// The weekend is empty if it has less than this of the week.
const EMPTY_WEEKEND: f32 = 0.06;

/// Derived from [`Tables`] whenever entries arrive.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::source::policy) struct Factors {
    /// By hour of the week, from Monday.
    pub(in crate::source::policy) week: [f32; WEEK],
    /// By five minutes of the day, minutes averaged.
    pub(in crate::source::policy) slot: [f32; SLOTS],
    /// By minute of the hour, relative to the average of its five minutes.
    pub(in crate::source::policy) minute: [f32; MINUTES],
    /// Operational hours from Monday 00:00 to each hour of the week; the last is the whole week.
    pub(in crate::source::policy) elapsed: [f32; WEEK + 1],
    /// Near one for sources that have shown little, falling to zero.
    pub(in crate::source::policy) young: f32,
    /// The hour of the day that stands out, UTC.
    pub(in crate::source::policy) peak_hour: Option<u8>,
    /// Whether hardly anything comes on Saturdays and Sundays.
    pub(in crate::source::policy) weekdays_only: bool,
}

impl Factors {
    pub(in crate::source::policy) fn new(tables: &Tables) -> Self {
        let young = tables.young();
        let weights: [f32; TABLES] =
            std::array::from_fn(|n| WEIGHTS[RHYTHM + n] + young * WEIGHTS[RHYTHM + TABLES + n]);
        let mut minute = tables.minute.map(|log| (log * weights[5]).exp());
        let mut twelfth = [0.0; 12];
        for (number, five) in minute.chunks_exact_mut(5).enumerate() {
            let mean = five.iter().sum::<f32>() / 5.0;
            for factor in &mut *five {
                *factor /= mean;
            }
            twelfth[number] = tables.twelfth[number] * weights[4] + mean.ln();
        }
        let week = |place: usize| {
            let hour =
                tables.hour[place % 24] * weights[0] + tables.hour_lately[place % 24] * weights[6];
            (hour + tables.day[place / 24] * weights[1] + tables.week[place] * weights[2]).exp()
        };
        let slot = |place: usize| {
            let log = tables.slot[place] * weights[3] + tables.slot_lately[place] * weights[7];
            (log + twelfth[place % 12]).exp()
        };
        let mut factors = Self {
            week: std::array::from_fn(week),
            slot: std::array::from_fn(slot),
            minute,
            elapsed: tables.elapsed,
            young,
            peak_hour: None,
            weekdays_only: false,
        };
        if tables.entries >= HABIT_ENTRIES {
            factors.find_habits();
        }
        factors
    }

    fn find_habits(&mut self) {
        let mut hours = [0.0; 24];
        for place in 0..WEEK {
            hours[place % 24] += self.elapsed[place + 1] - self.elapsed[place];
        }
        let busiest = (0_u8..24).max_by(|a, b| {
            let [a, b] = [a, b].map(|hour| hours[usize::from(*hour)]);
            f32::total_cmp(&a, &b)
        });
        let fair = real(WEEK) / 24.0;
        self.peak_hour = busiest.filter(|hour| hours[usize::from(*hour)] >= PEAK * fair);
        let weekend = self.elapsed[WEEK] - self.elapsed[5 * 24];
        self.weekdays_only = weekend < EMPTY_WEEKEND * self.elapsed[WEEK];
    }

    /// Operational hours between two instants: hours count as much as the source usually publishes
    /// in them.
    pub(in crate::source::policy) fn operational_h(&self, from_s: i64, to_s: i64) -> f64 {
        operational_h(&self.elapsed, from_s, to_s)
    }
}

impl Default for Factors {
    fn default() -> Self {
        Self::new(&Tables::default())
    }
}

fn operational_h(elapsed: &[f32; WEEK + 1], from_s: i64, to_s: i64) -> f64 {
    let weeks = |at_s: i64| (at_s - PHASE_S + MONDAY_S).div_euclid(604_800);
    let into = |at_s: i64| {
        let place = hour_of_week(at_s);
        let share = small(hours((at_s - PHASE_S).rem_euclid(3_600)));
        f64::from(elapsed[place] + share * (elapsed[place + 1] - elapsed[place]))
    };
    hours((weeks(to_s) - weeks(from_s)) * 604_800) + into(to_s) - into(from_s)
}
