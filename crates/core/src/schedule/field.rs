//! The fields of an expression: their names, bounds and words.

use std::fmt;

use super::{YEAR_MAX, YEAR_MIN};

/// A field of an expression, in the order in which seven of them stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// 0 to 59.
    Second,
    /// 0 to 59.
    Minute,
    /// 0 to 23.
    Hour,
    /// Day of the month, 1 to 31.
    Day,
    /// 1 to 12, or JAN to DEC.
    Month,
    /// 0 to 7, or SUN to SAT; both 0 and 7 are Sunday.
    Weekday,
    /// 1970 to 2199.
    Year,
}

const MONTHS: [&str; 12] = [
    "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

impl Field {
    pub(super) const ALL: [Self; 7] = [
        Self::Second,
        Self::Minute,
        Self::Hour,
        Self::Day,
        Self::Month,
        Self::Weekday,
        Self::Year,
    ];

    /// Its position among seven. Hashes depend on it: it must never change.
    pub(super) fn index(self) -> u8 {
        match self {
            Self::Second => 0,
            Self::Minute => 1,
            Self::Hour => 2,
            Self::Day => 3,
            Self::Month => 4,
            Self::Weekday => 5,
            Self::Year => 6,
        }
    }

    /// The smallest value; `*` begins here.
    pub(super) fn min(self) -> u16 {
        match self {
            Self::Second | Self::Minute | Self::Hour | Self::Weekday => 0,
            Self::Day | Self::Month => 1,
            Self::Year => YEAR_MIN,
        }
    }

    /// The largest value that may be written.
    pub(super) fn max(self) -> u16 {
        match self {
            Self::Second | Self::Minute => 59,
            Self::Hour => 23,
            Self::Day => 31,
            Self::Month => 12,
            Self::Weekday => 7,
            Self::Year => YEAR_MAX,
        }
    }

    /// The largest value that is not another name for a smaller one; `*` ends here.
    pub(super) fn last(self) -> u16 {
        match self {
            Self::Weekday => 6,
            other => other.max(),
        }
    }

    /// The largest value a hash picks. Every month has 28 days, so a hashed day skips no month.
    pub(super) fn hash_max(self) -> u16 {
        match self {
            Self::Day => 28,
            other => other.last(),
        }
    }

    /// The words of this field, the first meaning its smallest value.
    pub(super) fn names(self) -> &'static [&'static str] {
        match self {
            Self::Month => &MONTHS,
            Self::Weekday => &WEEKDAYS,
            _ => &[],
        }
    }

    /// Whether it says on which days.
    pub(super) fn is_day(self) -> bool {
        matches!(self, Self::Day | Self::Weekday)
    }

    /// Whether it says at what time of the day.
    pub(super) fn is_time(self) -> bool {
        matches!(self, Self::Second | Self::Minute | Self::Hour)
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Second => "second",
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::Day => "day of month",
            Self::Month => "month",
            Self::Weekday => "day of week",
            Self::Year => "year",
        })
    }
}
