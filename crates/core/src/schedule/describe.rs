//! A timetable in words, in English and in Simplified Chinese, on a 24-hour clock.
//!
//! Words are made from the compiled sets, not from the text: two expressions that mean the same
//! read the same, and `H` reads as the minute it has become. What a set looks like (everything, a
//! step, a run, a list) is decided here once; each language only says it.

use std::fmt;

use super::{
    expression::Every,
    field::Field,
    timetable::{DayRule, EVERY, LAST, Plan, Table, Timetable},
};
use crate::lang::Lang;

mod chinese;
mod english;

/// What a set of values looks like.
#[derive(Debug, PartialEq, Eq)]
enum Shape {
    /// All of the field.
    All,
    /// Every n-th from the smallest value to the end of the field, without an uneven rest.
    Step(u32),
    /// Consecutive values, at least three.
    Run(u32, u32),
    List(Vec<u32>),
}

/// When on a day.
#[derive(Debug, PartialEq, Eq)]
enum Time {
    /// A few exact times.
    At(Vec<Clock>),
    /// The pace within the minute, the hour and the day.
    Pace {
        seconds: Shape,
        minutes: Shape,
        hours: Shape,
    },
}

/// A time of day; seconds are shown only if any time has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Clock {
    hour: u32,
    minute: u32,
    second: Option<u32>,
}

/// On which days of the month.
#[derive(Debug, Default, PartialEq, Eq)]
struct Days {
    plain: Vec<u32>,
    nearest: Vec<u32>,
    from_end: Vec<u32>,
    last_workday: bool,
}

/// More exact times than these are described as minutes and hours.
const TIMES_MAX: u32 = 6;

impl Timetable {
    /// Says when it fires.
    pub fn describe(&self, lang: Lang) -> String {
        match (&self.plan, lang) {
            (Plan::Every(every), Lang::English) => english::every(*every),
            (Plan::Every(every), Lang::Chinese) => chinese::every(*every),
            (Plan::Table(table), Lang::English) => english::table(table),
            (Plan::Table(table), Lang::Chinese) => chinese::table(table),
        }
    }
}

impl Table {
    fn time(&self) -> Time {
        let counts = [
            self.seconds.count_ones(),
            self.minutes.count_ones(),
            self.hours.count_ones(),
        ];
        if counts.iter().product::<u32>() <= TIMES_MAX {
            return Time::At(self.clocks());
        }
        Time::Pace {
            seconds: shape(self.seconds, Field::Second),
            minutes: shape(self.minutes, Field::Minute),
            hours: shape(self.hours.into(), Field::Hour),
        }
    }

    fn clocks(&self) -> Vec<Clock> {
        let with_seconds = self.seconds != 1;
        let mut clocks = Vec::new();
        for hour in values(self.hours.into()) {
            for minute in values(self.minutes) {
                for second in values(self.seconds) {
                    let second = with_seconds.then_some(second);
                    clocks.push(Clock {
                        hour,
                        minute,
                        second,
                    });
                }
            }
        }
        clocks
    }

    /// The days of the month, unless they are left to the weekdays.
    fn days(&self) -> Option<Days> {
        let days = Days {
            plain: values(u64::from(self.days) << 1).collect(),
            nearest: values(u64::from(self.nearest) << 1).collect(),
            from_end: values(self.from_end.into()).collect(),
            last_workday: self.last_workday,
        };
        let all = days.plain.len() == 31;
        (self.rule != DayRule::Any && !all).then_some(days)
    }

    /// Whether weekdays decide anything.
    fn has_weekdays(&self) -> bool {
        self.rule != DayRule::Any && self.weekday_group(EVERY) != 0x7f
    }

    /// The n-th weekdays: n from 1 to 5, or none for the last, and the weekday.
    fn nth_weekdays(&self) -> Vec<(Option<u32>, u32)> {
        let groups = EVERY + 1..=LAST;
        let named = groups.flat_map(|group| {
            let nth = (group != LAST).then_some(group);
            values(self.weekday_group(group)).map(move |weekday| (nth, weekday))
        });
        named.collect()
    }

    /// The n-th business days: n from 1 to 23, or none for the last.
    fn nth_workdays(&self) -> Vec<Option<u32>> {
        let nth = self.workdays.as_ref().map_or(0, |workdays| workdays.nth);
        let counted = values(u64::from(nth)).map(|nth| (nth > 0).then_some(nth));
        counted.collect()
    }

    /// The months, unless it is all of them.
    fn some_months(&self) -> Option<Vec<u32>> {
        let months: Vec<u32> = values(u64::from(self.months) << 1).collect();
        (months.len() < 12).then_some(months)
    }

    /// The years, runs of them drawn together. They are few, or a pattern that the first ones
    /// show: then it is those, and the last apart.
    fn some_years(&self, show: fn(u32, u32) -> String) -> Option<(Vec<String>, Option<String>)> {
        self.years.as_ref()?;
        let all = u32::from(super::YEAR_MIN)..=u32::from(super::YEAR_MAX);
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for year in all.filter(|year| self.has_year(*year)) {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == year => *last = year,
                _ => runs.push((year, year)),
            }
        }
        let mut years: Vec<String> = runs.iter().map(|run| show(run.0, run.1)).collect();
        let last = (years.len() > 6).then(|| years.pop()).flatten();
        if last.is_some() {
            years.truncate(3);
        }
        Some((years, last))
    }
}

impl Every {
    /// How many of the largest unit that fits; `units` are the names of days, hours, minutes and
    /// seconds.
    fn in_units(self, units: [&str; 4]) -> (u32, &str) {
        let sizes = [86_400, 3_600, 60, 1];
        let fits = |(size, _): &(u32, &str)| self.period_s.is_multiple_of(*size);
        let unit = sizes.into_iter().zip(units).find(fits);
        unit.map_or((self.period_s, ""), |(size, name)| {
            (self.period_s / size, name)
        })
    }
}

/// Values with runs of three and more drawn together.
fn runs(values: &[u32], to: &str, show: &dyn Fn(u32) -> String) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = values;
    while let Some(first) = rest.first() {
        let length = (1..rest.len())
            .find(|place| rest[*place] != rest[place - 1] + 1)
            .unwrap_or(rest.len());
        let taken = if length > 2 { length } else { 1 };
        let (run, after) = rest.split_at(taken);
        parts.push(match run.last() {
            Some(last) if taken > 1 => format!("{}{to}{}", show(*first), show(*last)),
            _ => show(*first),
        });
        rest = after;
    }
    parts
}

fn name(names: &[&'static str], place: u32) -> String {
    let name = names.get(place as usize).copied();
    name.unwrap_or("?").to_owned()
}

fn values(bits: u64) -> impl Iterator<Item = u32> {
    (0..64).filter(move |bit| (bits >> bit) & 1 == 1)
}

fn shape(bits: u64, field: Field) -> Shape {
    let listed: Vec<u32> = values(bits).collect();
    let (min, last) = (u32::from(field.min()), u32::from(field.last()));
    let choices = last - min + 1;
    let (Some(first), Some(end)) = (listed.first().copied(), listed.last().copied()) else {
        return Shape::List(listed);
    };
    let count = u32::try_from(listed.len()).unwrap_or(u32::MAX);
    if count == choices {
        return Shape::All;
    }
    let step = choices / count;
    let even = step * count == choices && first == min;
    if count > 1 && even && listed.windows(2).all(|pair| pair[1] - pair[0] == step) {
        return Shape::Step(step);
    }
    match end - first + 1 {
        length if length == count && count > 2 => Shape::Run(first, end),
        _ => Shape::List(listed),
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.hour, self.minute)?;
        match self.second {
            Some(second) => write!(f, ":{second:02}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
