//! A compiled expression: sets of numbers as bits.
//!
//! A million schedules must fit into memory and answer in nanoseconds, so this is one small value
//! without pointers, except for what is rarely written: years, whose 230 bits would double the size
//! of everything, and business days, which depend on calendars.

use super::expression::Every;
use crate::calendar::DayFilter;

/// Which instants a schedule names, once its zone is given.
///
/// `next_after` and `previous_before` are in `occurrence.rs`, `describe` in `describe.rs`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timetable {
    pub(super) plan: Plan,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Plan {
    Every(Every),
    Table(Table),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table {
    /// Bit n is second n.
    pub(super) seconds: u64,
    /// Bit n is minute n.
    pub(super) minutes: u64,
    /// Seven bits for each of [`EVERY`], the first to the fifth of a month, and [`LAST`].
    pub(super) weekdays: u64,
    /// Bit n is the year 1970 + n; none means all.
    pub(super) years: Option<Box<[u64; 4]>>,
    /// Business days that are counted from the ends of a month.
    pub(super) workdays: Option<Box<Workdays>>,
    /// Bit n is hour n.
    pub(super) hours: u32,
    /// Bit n is day n + 1.
    pub(super) days: u32,
    /// Bit n is the day from Monday to Friday nearest to day n + 1.
    pub(super) nearest: u32,
    /// Bit n is n days before the last day.
    pub(super) from_end: u32,
    /// Bit n is month n + 1.
    pub(super) months: u16,
    /// Whether the last day from Monday to Friday is meant.
    pub(super) last_workday: bool,
    /// Whether the weekday alone decides on which days.
    pub(super) weekly: bool,
    pub(super) rule: DayRule,
    pub(super) pace: Pace,
}

/// Business days: Monday to Friday, without the days that the schedule's calendars leave out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Workdays {
    /// Bit n is the n-th of a month; bit 0 is the last.
    pub(super) nth: u32,
    /// What the calendars leave out.
    pub(super) days: DayFilter,
}

/// The group of weekdays that count in every week.
pub(super) const EVERY: u32 = 0;
/// The group of weekdays that count in the last seven days of a month.
pub(super) const LAST: u32 = 6;
/// All weekdays of a group.
pub(super) const WEEK: u64 = 0x7f;

/// How the two day fields go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DayRule {
    Any,
    /// Both must hold; an open one always does.
    Both,
    /// Both are restricted and one is enough.
    Either,
}

/// How the time of day meets a change of the clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// Plain times: never lost, never repeated.
    Fixed,
    Interval,
}

impl Timetable {
    /// The period of an expression that is nothing but one (`@10s`, `@every 1h`).
    pub fn period_s(&self) -> Option<u32> {
        match &self.plan {
            Plan::Every(every) => Some(every.period_s),
            Plan::Table(_) => None,
        }
    }

    /// The same, with business days counted by calendars.
    #[must_use]
    pub fn counting_by(mut self, days: &DayFilter) -> Self {
        if let Plan::Table(table) = &mut self.plan
            && let Some(workdays) = &mut table.workdays
        {
            workdays.days.clone_from(days);
        }
        self
    }

    /// Whether its times of day are plain values: nothing else can be moved to another day.
    pub fn is_fixed_time(&self) -> bool {
        matches!(&self.plan, Plan::Table(table) if table.pace == Pace::Fixed)
    }
}

impl Table {
    /// The weekdays of a group, as seven bits from Sunday.
    pub(super) fn weekday_group(&self, group: u32) -> u64 {
        (self.weekdays >> (7 * group)) & WEEK
    }

    /// Whether some days of the month depend on the month.
    pub(super) fn has_day_modifiers(&self) -> bool {
        (self.nearest | self.from_end) != 0 || self.last_workday
    }

    /// Whether some weekdays count in one week only.
    pub(super) fn has_weekday_modifiers(&self) -> bool {
        (self.weekdays >> 7) != 0 || self.workdays.is_some()
    }

    pub(super) fn has_month(&self, month: u32) -> bool {
        (self.months >> (month - 1)) & 1 == 1
    }

    pub(super) fn has_year(&self, year: u32) -> bool {
        match &self.years {
            None => true,
            Some(years) => {
                let bit = year - u32::from(super::YEAR_MIN);
                let word = years.get(bit as usize / 64).copied().unwrap_or(0);
                (word >> (bit % 64)) & 1 == 1
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiled_schedule_fits_into_a_cache_line() {
        assert_eq!(size_of::<Timetable>(), 64);
        assert_eq!(size_of::<Option<Timetable>>(), 64);
    }
}
