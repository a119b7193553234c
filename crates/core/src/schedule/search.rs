//! Finding the next and the previous wall-clock time, without regard to any zone.
//!
//! Times are seconds since 1970-01-01T00:00:00 on a wall clock that never changes. A month is one
//! word of 31 bits: the weekday set is turned to the weekday of the first and repeated by a
//! multiplication, the days of the month join it by `&` or `|`, and the lowest bit left is the day.
//! What cannot be is found out by looking at every month up to the last year: 2,760 words at most.

use super::{
    YEAR_MAX, YEAR_MIN,
    civil::{DAY_S, Month, weekday},
    timetable::{DayRule, EVERY, LAST, Table, Workdays},
};

mod time;

/// 2200-01-01T00:00:00, when all ends.
pub(super) const END: i64 = 84_006 * DAY_S;
/// No time at all, later than every time.
pub(super) const NEVER: i64 = i64::MAX;
/// No time at all, earlier than every time.
pub(super) const NEVER_BEFORE: i64 = i64::MIN;

/// The months when none are restricted.
const FEBRUARY: u16 = 1 << 1;

/// Multiplied by it, seven bits become five weeks of the same.
const EACH_WEEK: u64 = 0x1020_4081;
/// All days of five weeks.
const FIVE_WEEKS: u64 = (1 << 35) - 1;

impl Table {
    /// The first matching time from this one on, or [`NEVER`].
    #[inline]
    pub(super) fn at_or_after(&self, from: i64) -> i64 {
        if from >= END {
            return NEVER;
        }
        let (day, second) = split(from.max(0));
        if self.weekly {
            return self.weekly_at_or_after(day, second);
        }
        let (month, of_month) = Month::of(day);
        let first = day - (of_month - 1);
        let days = self.days_of(month, first);
        if (days >> (of_month - 1)) & 1 == 1
            && let Some(time) = self.time_at_or_after(second)
        {
            return join(day, time);
        }
        // Days after this one. A shift by 31 leaves nothing, as it should.
        let later = days >> of_month;
        if later != 0 {
            return join(day + 1 + later.trailing_zeros(), self.first_time());
        }
        match self.first_day_after(month, first) {
            Some(day) => join(day, self.first_time()),
            None => NEVER,
        }
    }

    /// The last matching time up to this one, or [`NEVER_BEFORE`].
    pub(super) fn at_or_before(&self, from: i64) -> i64 {
        if from < 0 {
            return NEVER_BEFORE;
        }
        let (day, second) = split(from.min(END - 1));
        let (month, of_month) = Month::of(day);
        let first = day - (of_month - 1);
        let days = self.days_of(month, first);
        if (days >> (of_month - 1)) & 1 == 1
            && let Some(time) = self.time_at_or_before(second)
        {
            return join(day, time);
        }
        let earlier = days & ((1 << (of_month - 1)) - 1);
        if earlier != 0 {
            return join(first + earlier.ilog2(), self.last_time());
        }
        match self.last_day_before(month) {
            Some(day) => join(day, self.last_time()),
            None => NEVER_BEFORE,
        }
    }

    /// Whether a day is meant.
    pub(super) fn has_day(&self, day: u32) -> bool {
        let (month, of_month) = Month::of(day);
        let days = self.days_of(month, day - (of_month - 1));
        i64::from(day) * DAY_S < END && (days >> (of_month - 1)) & 1 == 1
    }

    /// Where weekdays alone decide, no calendar is needed: most schedules are of this kind.
    #[inline]
    fn weekly_at_or_after(&self, day: u32, second: u32) -> i64 {
        // Bit 0 is today, and a week later it is today again.
        let week = turned(self.weekday_group(EVERY), weekday(day));
        if week & 1 == 1
            && let Some(time) = self.time_at_or_after(second)
        {
            return join(day, time);
        }
        let ahead = ((week | (week << 7)) >> 1).trailing_zeros() + 1;
        match join(day + ahead, self.first_time()) {
            found if found < END => found,
            _ => NEVER,
        }
    }

    #[inline]
    fn first_day_after(&self, mut month: Month, first: u32) -> Option<u32> {
        let mut known = Some(first);
        loop {
            let next = self.next_month(month)?;
            let follows = next.year == month.year && next.month == month.month + 1;
            let first = match known.filter(|_| follows) {
                Some(first) => first + month.length(),
                None if self.lacks(next) => {
                    (month, known) = (self.last_lacking(next), None);
                    continue;
                }
                None => next.first_day(),
            };
            let days = self.days_of(next, first);
            if days != 0 {
                return Some(first + days.trailing_zeros());
            }
            (month, known) = (next, Some(first));
        }
    }

    /// Whether a month is too short for all days requested, which needs no look at its weekdays:
    /// the 29th of February, three years out of four.
    fn lacks(&self, month: Month) -> bool {
        let possible = self.days & (u32::MAX >> (32 - month.length()));
        self.rule == DayRule::Both && possible == 0 && !self.has_day_modifiers()
    }

    /// The last month in a row that lacks what this one lacks. If only February counts, no year
    /// before the next fourth one has more days than this.
    fn last_lacking(&self, month: Month) -> Month {
        let year = if self.months == FEBRUARY {
            month.year | 3
        } else {
            month.year
        };
        Month { year, ..month }
    }

    fn last_day_before(&self, month: Month) -> Option<u32> {
        let mut month = self.previous_month(month)?;
        loop {
            let first = month.first_day();
            let days = self.days_of(month, first);
            if days != 0 {
                return Some(first + days.ilog2());
            }
            month = self.previous_month(month)?;
        }
    }

    /// The next month that is listed, in this year or a later one.
    #[inline]
    fn next_month(&self, after: Month) -> Option<Month> {
        let later = u32::from(self.months) >> after.month;
        if later != 0 && self.has_year(after.year) {
            let month = after.month + 1 + later.trailing_zeros();
            return Some(Month { month, ..after });
        }
        let month = u32::from(self.months).trailing_zeros() + 1;
        let mut year = after.year + 1;
        while year <= u32::from(YEAR_MAX) {
            if self.has_year(year) {
                return Some(Month { year, month });
            }
            year += 1;
        }
        None
    }

    fn previous_month(&self, before: Month) -> Option<Month> {
        let earlier = u32::from(self.months) & ((1 << (before.month - 1)) - 1);
        if earlier != 0 && self.has_year(before.year) {
            let month = earlier.ilog2() + 1;
            return Some(Month { month, ..before });
        }
        let month = u32::from(self.months).ilog2() + 1;
        let mut years = (YEAR_MIN.into()..before.year).rev();
        let year = years.find(|year| self.has_year(*year))?;
        Some(Month { year, month })
    }

    /// The matching days of a month: bit n is day n + 1.
    #[inline]
    fn days_of(&self, month: Month, first_day: u32) -> u32 {
        if !self.has_month(month.month) || !self.has_year(month.year) {
            return 0;
        }
        let length = month.length();
        let all = u32::MAX >> (32 - length);
        if self.rule == DayRule::Any {
            return all;
        }
        let first = weekday(first_day);
        let (mut days, mut weekdays) = (self.days, each_week(self.weekday_group(EVERY), first));
        if self.has_day_modifiers() {
            days |= self.modified_days(first, length);
        }
        if self.has_weekday_modifiers() {
            weekdays |= self.modified_weekdays(first, length);
        }
        if let Some(workdays) = &self.workdays {
            weekdays |= workdays.of_month(first_day, length);
        }
        let matching = if self.rule == DayRule::Either {
            days | weekdays
        } else {
            days & weekdays
        };
        matching & all
    }

    fn modified_days(&self, first: u32, length: u32) -> u32 {
        // Turned around, bit 31 is the last day; shifted, the last day is where the month has it.
        let mut days = self.from_end.reverse_bits() >> (32 - length);
        for day in ones(self.nearest).filter(|day| *day < length) {
            days |= 1 << nearest_workday(day, first, length);
        }
        if self.last_workday {
            days |= 1 << nearest_workday(length - 1, first, length);
        }
        days
    }

    #[inline]
    fn modified_weekdays(&self, first: u32, length: u32) -> u32 {
        // The groups of the first to the fifth lie as the weeks of a month do: turn all at once.
        let weeks = self.weekdays >> 7;
        let low = EACH_WEEK * (0x7f >> first);
        let nth = ((weeks >> first) & low) | ((weeks << (7 - first)) & (FIVE_WEEKS ^ low));
        let last_week = 0x7f << (length - 7);
        low_word(nth) | (each_week(self.weekday_group(LAST), first) & last_week)
    }
}

impl Workdays {
    /// Those of a month that are meant: bit n is day n + 1.
    fn of_month(&self, first_day: u32, length: u32) -> u32 {
        let days = (0..length).filter(|day| self.days.is_workday(first_day + day));
        let mut meant = 0;
        let mut last = None;
        for (nth, day) in (1_u32..).zip(days) {
            meant |= ((self.nth >> nth) & 1) << day;
            last = Some(day);
        }
        meant | last.map_or(0, |day| (self.nth & 1) << day)
    }
}

/// The day from Monday to Friday nearest to a day of the month. It stays in the month, so Saturday
/// the first moves to Monday the third. Days count from 0 here.
fn nearest_workday(day: u32, first: u32, length: u32) -> u32 {
    match (first + day) % 7 {
        6 if day == 0 => 2,
        6 => day - 1,
        0 if day + 1 == length => day - 2,
        0 => day + 1,
        _ => day,
    }
}

/// Seven bits from Sunday, turned to begin with the weekday of the first.
#[inline]
fn turned(week: u64, first: u32) -> u64 {
    ((week >> first) | (week << (7 - first))) & 0x7f
}

#[inline]
fn each_week(week: u64, first: u32) -> u32 {
    low_word(turned(week, first) * EACH_WEEK)
}

/// The places of the bits that are set.
fn ones(mut bits: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let place = (bits != 0).then(|| bits.trailing_zeros())?;
        bits &= bits - 1;
        Some(place)
    })
}

#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "days beyond a month's last are cut anyway"
)]
fn low_word(bits: u64) -> u32 {
    bits as u32
}

/// The day and the second of it.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "callers keep it between 0 and END, which is day 84,006"
)]
fn split(time: i64) -> (u32, u32) {
    let time = time as u64;
    let day = DAY_S as u64;
    ((time / day) as u32, (time % day) as u32)
}

#[inline]
fn join(day: u32, second: u32) -> i64 {
    i64::from(day) * DAY_S + i64::from(second)
}
