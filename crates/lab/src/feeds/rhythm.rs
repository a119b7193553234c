//! When a feed publishes, like real ones: in the daytime of its zone, on its days.
//!
//! The entries of a day in the feed's zone are drawn only from the feed's seed and the day's
//! number. So any moment can be computed directly: the newest thirty of a feed ten years old cost
//! the same as on its first day.
//!
//! Days and seconds count from the epoch. Local time is `seconds + offset`; where a change of the
//! clocks makes that ambiguous either reading is fine, as long as it is always the same.
//!
//! INVARIANT: every entry lies inside the day that drew it, so days read one after another are
//! entries in order, and random access equals enumeration.

use jiff::{
    Timestamp,
    tz::{Offset, TimeZone},
};

use crate::chance::Chance;

const MINUTE: i64 = 60;
const HOUR: i64 = 3600;
const DAY: i64 = 86_400;
/// 1970-01-01 was a Thursday; weeks begin on Monday.
const EPOCH_WEEKDAY: i64 = 3;
/// How busy a harness is at each local hour, in percent of its mean.
const BUSY: [i64; 24] = [
    20, 12, 8, 8, 12, 35, 80, 130, 170, 180, 175, 165, 150, 150, 160, 165, 160, 150, 130, 105, 90,
    75, 50, 30,
];

/// A feed's rhythm, in its zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rhythm {
    /// Its name in the control API and in OPML.
    pub name: &'static str,
    pub days: Days,
    /// Of a thousand such days, this many have entries: people are ill, or on holiday.
    pub permille: u64,
    /// How many such a day has, at least and at most.
    pub entries: (i64, i64),
    pub hours: Hours,
}

/// On which days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Days {
    Every,
    /// Monday to Friday.
    Working,
    /// One day of the week; Monday is 0.
    Weekly(i64),
    /// One day of the month, up to 28 so that every month has it.
    Monthly(i8),
}

impl Days {
    fn hold(self, day: i64) -> bool {
        match self {
            Self::Every => true,
            Self::Working => weekday_of(day) < 5,
            Self::Weekly(weekday) => weekday_of(day) == weekday,
            Self::Monthly(wanted) => Timestamp::from_second(day * DAY)
                .is_ok_and(|midnight| Offset::UTC.to_datetime(midnight).day() == wanted),
        }
    }
}

/// When on such a day; minutes count from local midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hours {
    /// All day, little at night; half as many at weekends.
    EditionHarness,
    /// Anywhere from one minute to another.
    Between(i64, i64),
    /// About one minute, at most this much earlier or later: near it more often than far from it.
    About(i64, i64),
    /// The first anywhere from one minute to another, the others soon after.
    Burst(i64, i64),
}

/// One feed's rhythm with everything that decides its entries.
#[derive(Debug, Clone)]
pub struct Habit {
    /// The feed's own seed.
    pub seed: u64,
    pub rhythm: Rhythm,
    /// The zone of its days and hours.
    pub zone: TimeZone,
    /// Times are multiples of this many seconds; publishing software prefers round minutes.
    pub round_s: i64,
    /// No entry is older.
    pub first_at: Timestamp,
    /// No entry is newer: the feed is dead from then on.
    pub last_at: Option<Timestamp>,
}

impl Habit {
    /// All entries from `from` on and before `until`, oldest first.
    pub fn published(&self, from: Timestamp, until: Timestamp) -> Vec<Timestamp> {
        let mut all: Vec<Timestamp> = self.backwards(from, until).collect();
        all.reverse();
        all
    }

    /// The newest entries at `at`, newest first.
    pub fn newest(&self, at: Timestamp, count: usize) -> Vec<Timestamp> {
        // An entry of this very second is already out.
        let next = Timestamp::from_second(at.as_second() + 1).unwrap_or(at);
        self.backwards(self.first_at, next).take(count).collect()
    }

    fn backwards(&self, from: Timestamp, until: Timestamp) -> impl Iterator<Item = Timestamp> {
        let from = from.max(self.first_at).as_second();
        // Dead feeds publish nothing after their end, whatever is asked.
        let until = self.last_at.map_or(until, |last_at| until.min(last_at));
        let until = until.as_second().max(from);
        let days = (self.day_at(from)..=self.day_at(until)).rev();
        let entries = days.flat_map(|day| self.entries_in(day).into_iter().rev());
        entries
            .filter(move |at| (from..until).contains(at))
            .filter_map(|at| Timestamp::from_second(at).ok())
    }

    /// The entries of a day: oldest first, rounded, each once, and nothing outside the day.
    fn entries_in(&self, day: i64) -> Vec<i64> {
        if !self.rhythm.days.hold(day) {
            return Vec::new();
        }
        let mut drawn: Vec<i64> = self.draw(day).collect();
        for at in &mut drawn {
            *at -= at.rem_euclid(self.round_s.max(1));
        }
        drawn.sort_unstable();
        drawn.dedup();
        drawn.retain(|at| self.day_at(*at) == day);
        drawn
    }

    fn draw(&self, day: i64) -> impl Iterator<Item = i64> {
        let mut chance = Chance::of(self.seed, &[day.cast_unsigned()]);
        let Rhythm {
            permille,
            entries: (least, most),
            hours,
            ..
        } = self.rhythm;
        let quiet = hours == Hours::EditionHarness && weekday_of(day) >= 5;
        let busy = chance.happens(permille);
        let count = chance.between(least, most) * i64::from(busy) / if quiet { 2 } else { 1 };
        let mut before = None;
        (0..count).map(move |_| {
            let second = hours.draw(&mut chance, before);
            before = Some(second);
            self.instant(day, second)
        })
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

impl Hours {
    /// The second of the next entry of a day, after the last one.
    fn draw(self, chance: &mut Chance, last: Option<i64>) -> i64 {
        let mut within = |from: i64, until: i64| chance.between(from * MINUTE, until * MINUTE);
        match (self, last) {
            (Self::Burst(..), Some(last)) => last + chance.between(20, 12 * MINUTE),
            (Self::Between(from, until) | Self::Burst(from, until), _) => within(from, until),
            (Self::About(minute, spread), _) => {
                let (from, until) = (minute - spread, minute + spread);
                i64::midpoint(within(from, until), within(from, until))
            }
            (Self::EditionHarness, _) => {
                let mut share = chance.between(0, BUSY.iter().sum::<i64>() - 1);
                let hour = BUSY.iter().zip(0_i64..).find(|(busy, _)| {
                    share -= **busy;
                    share < 0
                });
                hour.map_or(0, |(_, hour)| hour) * HOUR + chance.between(0, HOUR - 1)
            }
        }
    }
}

/// Seconds that local time is ahead of UTC.
fn offset(zone: &TimeZone, at: i64) -> i64 {
    Timestamp::from_second(at).map_or(0, |at| i64::from(zone.to_offset(at).seconds()))
}

fn weekday_of(day: i64) -> i64 {
    (day + EPOCH_WEEKDAY).rem_euclid(7)
}

#[cfg(test)]
mod tests;
