//! Rules that repeat (`RRULE` of RFC 5545), for whole days.
//!
//! `FREQ` is `YEARLY`, `MONTHLY`, `WEEKLY` or `DAILY`, with `INTERVAL`, `COUNT`, `UNTIL`,
//! `BYMONTH`, `BYMONTHDAY`, `BYDAY`, `BYSETPOS` and `WKST`. Weeks and days of a year (`BYWEEKNO`,
//! `BYYEARDAY`) and times of day are refused. A rule without an end is unrolled to the last year
//! that schedules know, so the outcome depends on nothing but the text.

use std::collections::BTreeSet;

use jiff::{
    ToSpan,
    civil::{Date, Weekday},
};

use super::DAYS_MAX;
use crate::schedule::YEAR_MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frequency {
    Yearly,
    Monthly,
    Weekly,
    Daily,
}

/// A weekday, and which of the month or year, from its end if negative; 0 for each.
type NthDay = (i16, Weekday);

#[derive(Debug)]
pub(super) struct Recurrence {
    frequency: Frequency,
    interval: i32,
    count: Option<usize>,
    until: Option<Date>,
    months: Vec<i8>,
    month_days: Vec<i8>,
    days: Vec<NthDay>,
    positions: Vec<i16>,
    week_start: Weekday,
}

impl Recurrence {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut rule = Self {
            frequency: Frequency::Yearly,
            interval: 1,
            count: None,
            until: None,
            months: Vec::new(),
            month_days: Vec::new(),
            days: Vec::new(),
            positions: Vec::new(),
            week_start: Weekday::Monday,
        };
        let mut has_frequency = false;
        for part in text.split(';').filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let key = key.to_ascii_uppercase();
            has_frequency |= key == "FREQ";
            let read = rule.take(&key, value);
            read.ok_or_else(|| format!("`{part}` is not supported"))?;
        }
        let nth_of_week = rule.days.iter().any(|(nth, _)| *nth != 0);
        let monthly = matches!(rule.frequency, Frequency::Yearly | Frequency::Monthly);
        match (has_frequency, nth_of_week && !monthly) {
            (false, _) => Err("FREQ is missing".to_owned()),
            (_, true) => Err("BYDAY with a number needs a YEARLY or MONTHLY rule".to_owned()),
            (true, false) => Ok(rule),
        }
    }

    fn take(&mut self, key: &str, value: &str) -> Option<()> {
        match key {
            "FREQ" => {
                self.frequency = match value.to_ascii_uppercase().as_str() {
                    "YEARLY" => Frequency::Yearly,
                    "MONTHLY" => Frequency::Monthly,
                    "WEEKLY" => Frequency::Weekly,
                    "DAILY" => Frequency::Daily,
                    _ => return None,
                };
            }
            "INTERVAL" => self.interval = value.parse().ok().filter(|n| (1..=1_000).contains(n))?,
            "COUNT" => self.count = Some(value.parse().ok()?),
            "UNTIL" => {
                let day = value.get(..8)?;
                self.until = Some(Date::strptime("%Y%m%d", day).ok()?);
            }
            "BYMONTH" => self.months = list(value, |n: &i8| (1..=12).contains(n))?,
            "BYMONTHDAY" => {
                self.month_days = list(value, |n: &i8| *n != 0 && (-31..=31).contains(n))?;
            }
            "BYSETPOS" => self.positions = list(value, |n: &i16| *n != 0)?,
            "BYDAY" => self.days = value.split(',').map(nth_day).collect::<Option<_>>()?,
            "WKST" => self.week_start = weekday(value)?,
            _ => return None,
        }
        Some(())
    }

    /// All days from `start` on; none if they are too many.
    pub(super) fn dates(&self, start: Date) -> Option<BTreeSet<Date>> {
        let mut dates = BTreeSet::new();
        let mut counted = 0;
        let end = Date::new(i16::try_from(YEAR_MAX).ok()?, 12, 31).ok()?;
        let end = self.until.map_or(end, |until| until.min(end));
        let mut first = self.period_of(start);
        while let Some(period) = first.filter(|first| *first <= end) {
            for date in self.of_period(period, start) {
                let done = self.count.is_some_and(|count| counted >= count);
                if date > end || done {
                    return Some(dates);
                }
                if date >= start {
                    counted += 1;
                    dates.insert(date);
                }
            }
            if dates.len() > DAYS_MAX {
                return None;
            }
            first = self.following(period);
        }
        Some(dates)
    }

    /// The first day of the period that a date lies in.
    fn period_of(&self, date: Date) -> Option<Date> {
        match self.frequency {
            Frequency::Yearly => Date::new(date.year(), 1, 1).ok(),
            Frequency::Monthly => Some(date.first_of_month()),
            Frequency::Weekly => {
                let into = date.weekday().since(self.week_start);
                date.checked_sub(i64::from(into).days()).ok()
            }
            Frequency::Daily => Some(date),
        }
    }

    fn following(&self, period: Date) -> Option<Date> {
        let step = match self.frequency {
            Frequency::Yearly => self.interval.years(),
            Frequency::Monthly => self.interval.months(),
            Frequency::Weekly => self.interval.weeks(),
            Frequency::Daily => self.interval.days(),
        };
        period.checked_add(step).ok()
    }

    /// The days of one period, in order.
    fn of_period(&self, period: Date, start: Date) -> Vec<Date> {
        let last = match self.frequency {
            Frequency::Yearly => period.last_of_year(),
            Frequency::Monthly => period.last_of_month(),
            Frequency::Weekly => period.saturating_add(6.days()),
            Frequency::Daily => period,
        };
        let days: Vec<Date> = if let Some(month) = self.month_of_one_day(period, start) {
            // Nearly every holiday: no need to look at all days of a year.
            let date = Date::new(period.year(), month, start.day());
            date.into_iter().collect()
        } else {
            let all = period.series(1.day()).take_while(|date| *date <= last);
            all.filter(|date| self.has(*date, start)).collect()
        };
        if self.positions.is_empty() {
            return days;
        }
        let at = |position: &i16| {
            let from_start = usize::try_from(*position).ok().map(|n| n - 1);
            let from_end = || days.len().checked_sub(usize::from(position.unsigned_abs()));
            days.get(from_start.or_else(from_end)?).copied()
        };
        let chosen: BTreeSet<Date> = self.positions.iter().filter_map(at).collect();
        chosen.into_iter().collect()
    }

    /// The month of the one day of a period, if the rule leaves it to the start.
    fn month_of_one_day(&self, period: Date, start: Date) -> Option<i8> {
        let open = self.days.is_empty() && self.month_days.is_empty() && self.months.is_empty();
        let month = match self.frequency {
            Frequency::Yearly => start.month(),
            Frequency::Monthly => period.month(),
            Frequency::Weekly | Frequency::Daily => return None,
        };
        open.then_some(month)
    }

    /// Whether a day of a period is meant. What the rule leaves open is as it was at the start.
    fn has(&self, date: Date, start: Date) -> bool {
        let of_year = self.frequency == Frequency::Yearly;
        let by_day = !self.days.is_empty();
        let by_date = !self.month_days.is_empty();
        let month = if self.months.is_empty() {
            // A day of the year by its weekday may lie in any month.
            !of_year || by_day || by_date || date.month() == start.month()
        } else {
            self.months.contains(&date.month())
        };
        let in_month = of_year && self.months.is_empty();
        let day = !by_day || self.days.iter().any(|nth| is_nth(*nth, date, in_month));
        let of_month = !by_date || self.month_days.iter().any(|n| is_month_day(*n, date));
        let open = !by_day && !by_date;
        let assumed = match self.frequency {
            Frequency::Yearly | Frequency::Monthly => !open || date.day() == start.day(),
            Frequency::Weekly => by_day || date.weekday() == start.weekday(),
            Frequency::Daily => true,
        };
        month && day && of_month && assumed
    }
}

fn is_month_day(number: i8, date: Date) -> bool {
    let from_end = date.day() - date.days_in_month() - 1;
    number == date.day() || number == from_end
}

/// Whether a date is the n-th such weekday, of its year or of its month.
fn is_nth((nth, weekday): NthDay, date: Date, of_year: bool) -> bool {
    let (day, length) = if of_year {
        (date.day_of_year(), date.days_in_year())
    } else {
        (i16::from(date.day()), i16::from(date.days_in_month()))
    };
    let from_start = (day - 1) / 7 + 1;
    let from_end = -((length - day) / 7 + 1);
    date.weekday() == weekday && [0, from_start, from_end].contains(&nth)
}

fn nth_day(text: &str) -> Option<NthDay> {
    let (nth, name) = text.split_at_checked(text.len().checked_sub(2)?)?;
    let nth = match nth.strip_prefix('+').unwrap_or(nth) {
        "" => 0,
        number => number.parse().ok().filter(|n: &i16| *n != 0)?,
    };
    Some((nth, weekday(name)?))
}

fn weekday(name: &str) -> Option<Weekday> {
    Some(match name.to_ascii_uppercase().as_str() {
        "MO" => Weekday::Monday,
        "TU" => Weekday::Tuesday,
        "WE" => Weekday::Wednesday,
        "TH" => Weekday::Thursday,
        "FR" => Weekday::Friday,
        "SA" => Weekday::Saturday,
        "SU" => Weekday::Sunday,
        _ => return None,
    })
}

fn list<T: std::str::FromStr>(text: &str, fits: impl Fn(&T) -> bool) -> Option<Vec<T>> {
    let numbers = text.split(',').map(|number| {
        let number = number.strip_prefix('+').unwrap_or(number);
        number.parse().ok().filter(&fits)
    });
    numbers.collect()
}
