//! The fields of an expression: their names, bounds and words.

use super::{YEAR_MAX, YEAR_MIN};
use crate::lang::{Lang, Say};

names! {
    /// A field of an expression, in the order in which seven of them stand.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Field {
        /// 0 to 59.
        Second = "second",
        /// 0 to 59.
        Minute = "minute",
        /// 0 to 23.
        Hour = "hour",
        /// 1 to 31.
        Day = "day of month",
        /// 1 to 12, or JAN to DEC.
        Month = "month",
        /// 0 to 7, or SUN to SAT; both 0 and 7 are Sunday.
        Weekday = "day of week",
        /// 1970 to 2199.
        Year = "year",
    }
}

impl Say for Field {
    fn say(&self, lang: Lang) -> String {
        let chinese = match self {
            Self::Second => "秒",
            Self::Minute => "分",
            Self::Hour => "时",
            Self::Day => "日",
            Self::Month => "月",
            Self::Weekday => "星期",
            Self::Year => "年",
        };
        lang.pick(self.as_str(), chinese).to_owned()
    }
}

/// The months; an expression has the first three letters of a name for its number.
pub(crate) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// The days of the week, likewise.
pub(crate) const WEEKDAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

impl Field {
    /// Its position among seven. Hashes depend on it: it must never change.
    pub(super) fn index(self) -> u8 {
        self as u8
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

    /// What its values are called, from its smallest on.
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
