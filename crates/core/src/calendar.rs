//! Calendars: named sets of days that schedules fire on, or do not.
//!
//! A calendar is written as dates, weekdays and an iCalendar text (RFC 5545), and compiled once
//! into a set of days ([`Calendar`]). Schedules name calendars; which days a schedule leaves out is
//! a [`DayFilter`]. A day is a day of the wall clock of whoever asks: a calendar has no zone.
//!
//! What must stay true:
//!
//! - Whether a day is in a calendar depends on what is stored of it alone, so every node agrees.
//! - What cannot be read is no calendar. A schedule that needs it is parked (DP-18): it neither
//!   fires on a holiday nor skips a workday because a file was broken.
//! - A set is bounded: rules that repeat are unrolled to the last year that schedules know.

mod filter;
mod ical;
mod port;
mod record;
mod recurrence;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::Arc};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::{
    address,
    lang::{Lang, Say},
    say,
    schedule::WEEKDAYS,
};

pub use filter::{DayFilter, Left, OffDay};
pub use ical::Fault;
pub use port::{Fetched, Fetcher};
pub use record::{CalendarRecord, CalendarVersion, Copy, Reading};

/// Longest name of a calendar or of one of its days, in bytes.
pub const NAME_BYTES_MAX: usize = 100;
/// Most days that one calendar has.
pub const DAYS_MAX: usize = 100_000;
/// Longest iCalendar text, in bytes.
pub const ICAL_BYTES_MAX: usize = 1 << 20;
/// The day number 0, as everywhere in [`crate::schedule`].
const EPOCH: Date = Date::constant(1970, 1, 1);

/// A calendar as written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = CalendarDefinition))]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// Single days.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dates: Vec<NamedDate>,
    /// Days of every week.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weekdays: Vec<Weekday>,
    /// An iCalendar text; its all-day events are days of the calendar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ical: Option<String>,
    /// Where an iCalendar text is published. It is read again every few hours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// A day and what it is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(
    deny_unknown_fields,
    expecting = "a day with its key, like { on = \"2026-12-24\" }"
)]
pub struct NamedDate {
    /// The day: `2026-12-24`.
    #[serde(deserialize_with = "crate::instant::day")]
    #[cfg_attr(feature = "schema", schema(value_type = String, example = "2026-12-24"))]
    pub on: Date,
    /// What it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

names! {
    /// A day of the week.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Weekday {
        Sunday = "sunday",
        Monday = "monday",
        Tuesday = "tuesday",
        Wednesday = "wednesday",
        Thursday = "thursday",
        Friday = "friday",
        Saturday = "saturday",
    }
}

/// Why a calendar cannot be kept as written, or not be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum Unfit {
    /// Not a name of the allowed shape.
    Name { given: String },
    /// It says nothing.
    Empty,
    /// A day's name is no line of text.
    DayName { on: Date },
    /// A date beyond what schedules know.
    Year { on: Date },
    /// Two texts.
    TwoTexts,
    /// The iCalendar text does not read.
    Ical(Fault),
    /// The address cannot be called.
    Url(String),
    /// Its address has not been read yet.
    Unread,
    /// Too many days.
    TooManyDays,
}

impl Say for Unfit {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Name { given } => say!(lang;
                "calendar name `{given}` must start with a letter or digit and have at most {NAME_BYTES_MAX} letters, digits, `.`, `_` or `-`",
                "日历名称 `{given}` 必须以字母或数字开头，最多 {NAME_BYTES_MAX} 个字母、数字、`.`、`_` 或 `-`"),
            Self::Empty => say!(lang;
                "the calendar has no days; give it dates, weekdays, an iCalendar text or a URL",
                "日历中没有日期；请提供日期、星期、iCalendar 文本或 URL"),
            Self::DayName { on } => say!(lang;
                "the name of {on} must be one line of at most {NAME_BYTES_MAX} bytes",
                "{on} 的名称必须是一行，最多 {NAME_BYTES_MAX} 字节"),
            Self::Year { on } => say!(lang;
                "{on} is not between 1970 and 2199",
                "{on} 不在 1970 到 2199 年之间"),
            Self::TwoTexts => say!(lang;
                "a calendar is read from `ical` or from `url`, not from both",
                "日历只能从 `ical` 或 `url` 之一读取，不能两者都有"),
            Self::Ical(it) => say!(lang; "iCalendar, {it}", "iCalendar，{it}"),
            Self::Url(it) => say!(lang; "url: {it}", "url：{it}"),
            Self::Unread => say!(lang; "its address has not been read yet", "其地址尚未读取"),
            Self::TooManyDays => say!(lang;
                "the calendar has more than {DAYS_MAX} days",
                "日历超过 {DAYS_MAX} 天"),
        }
    }
}

impl Unfit {
    /// The path of the invalid part.
    pub fn path(&self) -> &'static str {
        match self {
            Self::Name { .. } => "name",
            Self::Empty | Self::DayName { .. } | Self::Year { .. } | Self::TooManyDays => "dates",
            Self::Ical(_) | Self::TwoTexts => "ical",
            Self::Url(_) | Self::Unread => "url",
        }
    }
}

/// Refuses what is no name: names stand in paths, files and log lines.
pub fn check_name(name: &str) -> Result<(), Unfit> {
    if crate::plan::is_name(name) {
        return Ok(());
    }
    let given = name.chars().take(NAME_BYTES_MAX).collect();
    Err(Unfit::Name { given })
}

impl Definition {
    /// Checks everything, and compiles what needs no address.
    pub fn check(&self) -> Result<(), Unfit> {
        if self.ical.is_some() && self.url.is_some() {
            return Err(Unfit::TwoTexts);
        }
        if let Some(url) = &self.url {
            address::parse(url).map_err(|refusal| Unfit::Url(refusal.to_string()))?;
        }
        match Calendar::new("calendar", self, None) {
            Ok(_) | Err(Unfit::Unread) => Ok(()),
            Err(unfit) => Err(unfit),
        }
    }

    /// The text the store keeps.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A compiled calendar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calendar {
    name: Box<str>,
    /// Bit n is weekday n, from Sunday.
    weekdays: u8,
    /// Day numbers, and what the days are called.
    days: BTreeMap<u32, Option<Box<str>>>,
}

impl Calendar {
    /// Compiles a calendar. `copy` is what its address last answered.
    pub fn new(name: &str, definition: &Definition, copy: Option<&str>) -> Result<Self, Unfit> {
        let mut calendar = Self {
            name: name.into(),
            weekdays: 0,
            days: BTreeMap::new(),
        };
        for weekday in &definition.weekdays {
            calendar.weekdays |= 1 << (*weekday as u8);
        }
        for date in &definition.dates {
            calendar.add(date.on, date.name.as_deref())?;
        }
        let text = match (&definition.ical, &definition.url) {
            (Some(text), _) => Some(text.as_str()),
            (None, Some(_)) => Some(copy.ok_or(Unfit::Unread)?),
            (None, None) => None,
        };
        if let Some(text) = text {
            for (date, name) in ical::days(text).map_err(Unfit::Ical)? {
                calendar.add(date, name.as_deref())?;
            }
        }
        if calendar.weekdays == 0 && calendar.days.is_empty() {
            return Err(Unfit::Empty);
        }
        Ok(calendar)
    }

    /// Stands in for a calendar whose address is read elsewhere.
    pub fn unread(name: &str) -> Self {
        Self {
            name: name.into(),
            weekdays: 0,
            days: BTreeMap::new(),
        }
    }

    fn add(&mut self, on: Date, name: Option<&str>) -> Result<(), Unfit> {
        let number = number_of(on).ok_or(Unfit::Year { on })?;
        let line = |name: &str| name.len() <= NAME_BYTES_MAX && !name.contains(char::is_control);
        if !name.is_none_or(line) {
            return Err(Unfit::DayName { on });
        }
        self.days.entry(number).or_insert(None);
        if let (Some(name), Some(slot @ None)) = (name, self.days.get_mut(&number)) {
            *slot = Some(name.into());
        }
        if self.days.len() > DAYS_MAX {
            return Err(Unfit::TooManyDays);
        }
        Ok(())
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it has this day.
    pub fn has(&self, day: u32) -> bool {
        self.has_weekday(day) || self.days.contains_key(&day)
    }

    fn has_weekday(&self, day: u32) -> bool {
        (self.weekdays >> weekday_of(day)) & 1 == 1
    }

    /// What the day is called here: by its own name, or as a weekday.
    fn called(&self, day: u32) -> Option<String> {
        match self.days.get(&day) {
            Some(Some(name)) => Some(format!("holiday {name}")),
            Some(None) => Some(date_of(day).to_string()),
            None => self.has_weekday(day).then(|| {
                let name = WEEKDAYS.get(weekday_of(day)).copied();
                name.unwrap_or_default().to_owned()
            }),
        }
    }

    /// The single days from a date on, in order, with their names.
    pub fn days_from(&self, on: Date) -> impl Iterator<Item = (Date, Option<&str>)> {
        let from = number_of(on).unwrap_or(0);
        let days = self.days.range(from..);
        days.map(|(day, name)| (date_of(*day), name.as_deref()))
    }

    /// The last single day.
    pub fn last_on(&self) -> Option<Date> {
        self.days.keys().next_back().map(|day| date_of(*day))
    }

    /// How many single days it has.
    pub fn len(&self) -> usize {
        self.days.len()
    }

    /// Whether it consists of weekdays alone.
    pub fn is_empty(&self) -> bool {
        self.days.is_empty()
    }
}

/// The names of the calendars that schedules may use, each compiled, or why it cannot be.
pub type Calendars = BTreeMap<String, Result<Arc<Calendar>, Unfit>>;

/// Days from 1970 on; none for a date that schedules do not know.
pub(crate) fn number_of(on: Date) -> Option<u32> {
    let years = i16::try_from(crate::schedule::YEAR_MAX).ok()?;
    let days = EPOCH.until(on).ok()?.get_days();
    u32::try_from(days).ok().filter(|_| on.year() <= years)
}

pub(crate) fn date_of(day: u32) -> Date {
    let days = jiff::Span::new().try_days(i64::from(day));
    days.and_then(|days| EPOCH.checked_add(days))
        .unwrap_or(EPOCH)
}

/// 0 is Sunday, and 1970-01-01 was a Thursday.
fn weekday_of(day: u32) -> usize {
    (day as usize + 4) % 7
}
