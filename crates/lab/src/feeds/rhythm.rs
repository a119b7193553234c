//! When a feed publishes, as real ones do: in the daytime of its own zone, on its own days.
//!
//! Time is cut into slots (an hour for news, else a day, a week or a month of the feed's zone), and
//! what a slot holds is drawn from the feed's seed and the slot's number alone. So any moment can be
//! asked about directly: the newest thirty of a feed ten years old cost the same as on its first day.
//!
//! INVARIANT: every entry lies inside the slot that drew it, so slots read one after another are
//! entries in order, and random access equals enumeration.

mod slot;

use jiff::{Timestamp, tz::TimeZone};
use serde::Serialize;

/// What a feed does, in its own zone; minutes count from local midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Rhythm {
    /// All day, little at night, half as much at weekends.
    News {
        /// Entries on a working day, about.
        per_day: u32,
    },
    /// One to three within the three hours after `opens`, Monday to Friday.
    WeekdayMornings {
        /// When the working day begins.
        opens: i64,
    },
    /// Once a day around one time; now and then not at all.
    Daily {
        minute: i64,
        /// How many minutes earlier or later at most.
        spread: i64,
    },
    /// Some days, at any waking hour.
    FewAWeek {
        /// Of a thousand days, so many have an entry.
        permille: u64,
    },
    /// A column on one day of the week.
    Weekly {
        weekday: i64,
        minute: i64,
        /// How many minutes earlier or later at most.
        spread: i64,
    },
    /// Silence, then many at once.
    Bursty {
        /// Of a thousand days, so many have a burst.
        permille: u64,
        most: i64,
    },
    Monthly {
        /// Day of the month, up to 28 so that every month has it.
        day: i8,
        minute: i64,
    },
}

impl Rhythm {
    /// Its name, as control API and OPML show it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::News { .. } => "news",
            Self::WeekdayMornings { .. } => "weekday_mornings",
            Self::Daily { .. } => "daily",
            Self::FewAWeek { .. } => "few_a_week",
            Self::Weekly { .. } => "weekly",
            Self::Bursty { .. } => "bursty",
            Self::Monthly { .. } => "monthly",
        }
    }
}

/// One feed's rhythm with everything that decides its entries.
#[derive(Debug, Clone)]
pub struct Habit {
    /// The feed's own seed.
    pub seed: u64,
    pub rhythm: Rhythm,
    /// Whose days and hours it keeps.
    pub zone: TimeZone,
    /// Times are whole multiples of so many seconds; software that publishes likes round minutes.
    pub round_s: i64,
    /// No entry is older.
    pub first_at: Timestamp,
    /// No entry is newer: the feed is dead from then on.
    pub last_at: Option<Timestamp>,
}

impl Habit {
    /// All entries from `from` on and before `until`, oldest first.
    pub fn published(&self, from: Timestamp, until: Timestamp) -> Vec<Timestamp> {
        let from = from.max(self.first_at).as_second();
        let until = self.bounded(until).as_second();
        if from >= until {
            return Vec::new();
        }
        let slots = self.slot_at(from)..=self.slot_at(until - 1);
        let entries = slots.flat_map(|slot| self.entries_in(slot));
        entries
            .filter(|at| (from..until).contains(at))
            .filter_map(|at| Timestamp::from_second(at).ok())
            .collect()
    }

    /// The newest entries at `at`, newest first.
    pub fn newest(&self, at: Timestamp, count: usize) -> Vec<Timestamp> {
        // An entry of this very second is already out; `published` excludes its end.
        let next = Timestamp::from_second(at.as_second() + 1).unwrap_or(at);
        let (first, until) = (self.first_at.as_second(), self.bounded(next).as_second());
        if first >= until {
            return Vec::new();
        }
        let slots = (self.slot_at(first)..=self.slot_at(until - 1)).rev();
        let entries = slots.flat_map(|slot| self.entries_in(slot).into_iter().rev());
        entries
            .filter(|at| (first..until).contains(at))
            .filter_map(|at| Timestamp::from_second(at).ok())
            .take(count)
            .collect()
    }

    /// Dead feeds publish nothing after their end, whatever is asked.
    fn bounded(&self, until: Timestamp) -> Timestamp {
        self.last_at.map_or(until, |last_at| until.min(last_at))
    }
}

#[cfg(test)]
mod tests;
