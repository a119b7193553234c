//! Which days a schedule leaves out: those of some calendars, or all but those of others.

use std::sync::Arc;

use super::{Calendar, date_of, weekday_of};

/// How far a slot moves at most, in days. A longer stretch without a workday is a mistake in a
/// calendar.
const MOVE_DAYS_MAX: u32 = 31;

/// The days a schedule leaves out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DayFilter {
    /// Their days are left out.
    pub except: Vec<Arc<Calendar>>,
    /// Unless there are none, only their days are left in.
    pub only: Vec<Arc<Calendar>>,
}

/// Where to look for a workday.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    Later,
    Earlier,
}

/// A day that is left out, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffDay {
    /// `holiday Karfreitag (calendar de)`
    pub why: String,
}

impl DayFilter {
    /// Whether every day is as good as another.
    pub fn is_open(&self) -> bool {
        self.except.is_empty() && self.only.is_empty()
    }

    /// Whether a day is left out.
    pub fn is_off(&self, day: u32) -> bool {
        let missing = !self.only.is_empty() && !self.only.iter().any(|it| it.has(day));
        missing || self.except.iter().any(|it| it.has(day))
    }

    /// Why a day is left out, if it is.
    pub fn off_day(&self, day: u32) -> Option<OffDay> {
        let named = |calendar: &Arc<Calendar>| {
            let called = calendar.called(day)?;
            Some(format!("{called} (calendar {})", calendar.name()))
        };
        let excepted = self.except.iter().find_map(named);
        let why = excepted.or_else(|| {
            let on = date_of(day);
            let only: Vec<&str> = self.only.iter().map(|it| it.name()).collect();
            let only = only.join(", ");
            self.is_off(day)
                .then(|| format!("{on} is not a day of calendar {only}"))
        });
        why.map(|why| OffDay { why })
    }

    /// Whether a day counts as a business day: Monday to Friday, and not left out.
    pub fn is_workday(&self, day: u32) -> bool {
        (1..=5).contains(&weekday_of(day)) && !self.is_off(day)
    }

    /// The nearest day from this one on, later or earlier, that is not left out.
    pub fn first_left(&self, day: u32, towards: Left) -> Option<u32> {
        (0..=MOVE_DAYS_MAX)
            .map_while(|away| towards.step(day, away))
            .find(|day| !self.is_off(*day))
    }

    /// The days in a row that are left out before or after a day, the nearest first: what moves to
    /// it.
    pub fn run_of(&self, day: u32, away: Left) -> impl Iterator<Item = u32> {
        (1..=MOVE_DAYS_MAX)
            .map_while(move |distance| away.step(day, distance))
            .take_while(|day| self.is_off(*day))
    }
}

impl Left {
    fn step(self, day: u32, distance: u32) -> Option<u32> {
        match self {
            Self::Later => day.checked_add(distance),
            Self::Earlier => day.checked_sub(distance),
        }
    }

    /// The other direction.
    #[must_use]
    pub fn back(self) -> Self {
        match self {
            Self::Later => Self::Earlier,
            Self::Earlier => Self::Later,
        }
    }
}
