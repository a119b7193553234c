//! Dates by arithmetic: day numbers, months and weekdays without a table or a loop.
//!
//! A day number counts from 1970-01-01. The conversions are those of Neri and Schneider ("Euclidean
//! affine functions and their application to calendar algorithms"); they hold for every date
//! between [`YEAR_MIN`](super::YEAR_MIN) and [`YEAR_MAX`](super::YEAR_MAX), which is all that is
//! needed.

/// Seconds of a day that the clocks leave alone.
pub(super) const DAY_S: i64 = 86_400;

/// How far the day number 0 is from 0000-03-01, where the calendar's pattern begins.
const EPOCH_SHIFT: u32 = 719_468;

/// A month of a year, as a search visits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Month {
    /// From 1970 to 2199.
    pub(super) year: u32,
    /// From 1 to 12.
    pub(super) month: u32,
}

impl Month {
    /// The month of a day, and its day of the month from 1.
    pub(super) fn of(day: u32) -> (Self, u32) {
        let shifted = 4 * (day + EPOCH_SHIFT) + 3;
        let (century, of_century) = (shifted / 146_097, shifted % 146_097 / 4);
        let scaled = 2_939_745 * u64::from(4 * of_century + 3);
        let (high, low) = halves(scaled);
        let of_year = low / 2_939_745 / 4;
        let scaled = 2_141 * of_year + 197_913;
        let (month, of_month) = (scaled >> 16, (scaled & 0xffff) / 2_141);
        // The pattern's year begins in March.
        let turned = of_year >= 306;
        let year = 100 * century + high + u32::from(turned);
        let month = if turned { month - 12 } else { month };
        (Self { year, month }, of_month + 1)
    }

    /// The day number of its first day.
    pub(super) fn first_day(self) -> u32 {
        let early = self.month <= 2;
        let year = self.year - u32::from(early);
        let month = self.month + if early { 12 } else { 0 };
        let century = year / 100;
        1_461 * year / 4 - century + century / 4 + (979 * month - 2_919) / 32 - EPOCH_SHIFT
    }

    /// How many days it has.
    pub(super) fn length(self) -> u32 {
        match self.month {
            2 if self.is_leap() => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    fn is_leap(self) -> bool {
        let rule = if self.year.is_multiple_of(25) { 15 } else { 3 };
        self.year & rule == 0
    }
}

/// The weekday of a day number: 0 is Sunday, and 1970-01-01 was a Thursday.
pub(super) fn weekday(day: u32) -> u32 {
    (day + 4) % 7
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the two halves are meant to be cut"
)]
fn halves(wide: u64) -> (u32, u32) {
    ((wide >> 32) as u32, wide as u32)
}

#[cfg(test)]
mod tests {
    use jiff::{ToSpan, civil::date};

    use super::*;

    #[test]
    fn every_day_of_the_supported_years_is_where_the_calendar_has_it() {
        let mut expected = date(1970, 1, 1);
        for day in 0..84_006 {
            let (month, of_month) = Month::of(day);
            let shown = format!("{}-{:02}-{of_month:02}", month.year, month.month);
            assert_eq!(shown, expected.to_string());
            let known = expected.weekday().to_sunday_zero_offset();
            assert_eq!(i64::from(weekday(day)), i64::from(known), "{expected}");
            assert_eq!(month.first_day() + of_month - 1, day, "{expected}");
            let known = expected.days_in_month();
            assert_eq!(i64::from(month.length()), i64::from(known), "{expected}");
            expected = expected.checked_add(1.day()).unwrap();
        }
        assert_eq!(expected, date(2200, 1, 1));
    }
}
