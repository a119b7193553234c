//! Slots: which one an instant lies in, and what it holds.
//!
//! Seconds since the epoch throughout. Local time is `seconds + offset`; where a change of the
//! clocks makes that ambiguous either reading will do, as long as it is always the same.

use jiff::{Timestamp, civil, tz::TimeZone};

use super::{Habit, Rhythm};
use crate::chance::Chance;

const MINUTE: i64 = 60;
const HOUR: i64 = 3600;
const DAY: i64 = 86_400;
/// 1970-01-01 was a Thursday; weeks begin on Monday.
const EPOCH_WEEKDAY: i64 = 3;
/// One column or day in so many thousands is skipped: people are ill, or on holiday.
const SKIPPED_PERMILLE: u64 = 40;
/// How busy a newsroom is at each local hour, in percent of its mean.
const BUSY: [u32; 24] = [
    20, 12, 8, 8, 12, 35, 80, 130, 170, 180, 175, 165, 150, 150, 160, 165, 160, 150, 130, 105, 90,
    75, 50, 30,
];

impl Habit {
    /// The slot an instant lies in. Never decreases with time.
    pub(super) fn slot_at(&self, at: i64) -> i64 {
        match self.rhythm {
            Rhythm::News { .. } => at.div_euclid(HOUR),
            Rhythm::Weekly { .. } => week_of(self.day_at(at)),
            Rhythm::Monthly { .. } => month_of(self.day_at(at)),
            _ => self.day_at(at),
        }
    }

    /// The entries of a slot, oldest first.
    pub(super) fn entries_in(&self, slot: i64) -> Vec<i64> {
        let mut chance = Chance::of(self.seed, &[slot.cast_unsigned()]);
        let drawn = match self.rhythm {
            Rhythm::News { per_day } => self.news(&mut chance, slot, per_day),
            Rhythm::Weekly {
                weekday,
                minute,
                spread,
            } => {
                let day = slot * 7 - EPOCH_WEEKDAY + weekday;
                self.once(&mut chance, day, minute, spread)
            }
            Rhythm::Monthly { day, minute } => first_of(slot).map_or_else(Vec::new, |first| {
                self.once(&mut chance, first + i64::from(day) - 1, minute, 90)
            }),
            Rhythm::Daily { minute, spread } => self.once(&mut chance, slot, minute, spread),
            Rhythm::WeekdayMornings { opens } => self.mornings(&mut chance, slot, opens),
            Rhythm::FewAWeek { permille } => self.some_day(&mut chance, slot, permille),
            Rhythm::Bursty { permille, most } => self.burst(&mut chance, slot, permille, most),
        };
        self.settle(drawn, slot)
    }

    /// In order, rounded, each once, and nothing outside the slot.
    fn settle(&self, mut drawn: Vec<i64>, slot: i64) -> Vec<i64> {
        for at in &mut drawn {
            *at -= at.rem_euclid(self.round_s.max(1));
        }
        drawn.sort_unstable();
        drawn.dedup();
        drawn.retain(|at| self.slot_at(*at) == slot);
        drawn
    }

    fn news(&self, chance: &mut Chance, slot: i64, per_day: u32) -> Vec<i64> {
        let start = slot * HOUR;
        let local = start + offset(&self.zone, start);
        let hour = usize::try_from(local.div_euclid(HOUR).rem_euclid(24)).unwrap_or(0);
        let weekend = weekday_of(local.div_euclid(DAY)) >= 5;
        let busy = BUSY.get(hour).copied().unwrap_or(100) / if weekend { 2 } else { 1 };
        let expected = f64::from(per_day * busy) / 2400.0;
        let count = poisson(chance, expected);
        (0..count)
            .map(|_| start + chance.between(0, HOUR - 1))
            .collect()
    }

    fn once(&self, chance: &mut Chance, day: i64, minute: i64, spread: i64) -> Vec<i64> {
        if chance.happens(SKIPPED_PERMILLE) {
            return Vec::new();
        }
        let off = spread * MINUTE;
        // Two draws: near the usual time more often than far from it.
        let shift = i64::midpoint(chance.between(-off, off), chance.between(-off, off));
        vec![self.instant(day, minute * MINUTE + shift)]
    }

    fn mornings(&self, chance: &mut Chance, day: i64, opens: i64) -> Vec<i64> {
        if weekday_of(day) >= 5 || chance.happens(SKIPPED_PERMILLE) {
            return Vec::new();
        }
        let count = chance.between(1, 3);
        let second = |chance: &mut Chance| opens * MINUTE + chance.between(0, 3 * HOUR);
        (0..count)
            .map(|_| self.instant(day, second(chance)))
            .collect()
    }

    fn some_day(&self, chance: &mut Chance, day: i64, permille: u64) -> Vec<i64> {
        if !chance.happens(permille) {
            return Vec::new();
        }
        vec![self.instant(day, chance.between(8 * HOUR, 22 * HOUR))]
    }

    fn burst(&self, chance: &mut Chance, day: i64, permille: u64, most: i64) -> Vec<i64> {
        if !chance.happens(permille) {
            return Vec::new();
        }
        let mut second = chance.between(7 * HOUR, 20 * HOUR);
        let mut drawn = Vec::new();
        for _ in 0..chance.between(3, most) {
            drawn.push(self.instant(day, second));
            second += chance.between(20, 12 * MINUTE);
        }
        drawn
    }

    fn day_at(&self, at: i64) -> i64 {
        (at + offset(&self.zone, at)).div_euclid(DAY)
    }

    /// The instant of a local second of a local day; seconds outside the day are moved into it.
    fn instant(&self, day: i64, second: i64) -> i64 {
        let local = day * DAY + second.clamp(0, DAY - 1);
        let guess = local - offset(&self.zone, local);
        local - offset(&self.zone, guess)
    }
}

/// Seconds that local time is ahead of UTC.
fn offset(zone: &TimeZone, at: i64) -> i64 {
    Timestamp::from_second(at).map_or(0, |at| i64::from(zone.to_offset(at).seconds()))
}

fn weekday_of(day: i64) -> i64 {
    (day + EPOCH_WEEKDAY).rem_euclid(7)
}

fn week_of(day: i64) -> i64 {
    (day + EPOCH_WEEKDAY).div_euclid(7)
}

/// Months since year 0.
fn month_of(day: i64) -> i64 {
    let Ok(midnight) = Timestamp::from_second(day * DAY) else {
        return 0;
    };
    let date = jiff::tz::Offset::UTC.to_datetime(midnight).date();
    i64::from(date.year()) * 12 + i64::from(date.month()) - 1
}

/// The day a month begins with.
fn first_of(month: i64) -> Option<i64> {
    let year = i16::try_from(month.div_euclid(12)).ok()?;
    let number = i8::try_from(month.rem_euclid(12) + 1).ok()?;
    let date = civil::Date::new(year, number, 1).ok()?;
    let midnight = jiff::tz::Offset::UTC.to_timestamp(date.at(0, 0, 0, 0));
    midnight.ok().map(|at| at.as_second().div_euclid(DAY))
}

/// How many independent events happen where so many are expected.
fn poisson(chance: &mut Chance, expected: f64) -> u32 {
    let drawn = chance.unit();
    let mut probability = (-expected).exp();
    let mut reached = probability;
    let mut count = 0;
    // The bound only guards against rounding: no newsroom here comes near it.
    while drawn >= reached && count < 200 {
        count += 1;
        probability *= expected / f64::from(count);
        reached += probability;
    }
    count
}
