//! English.

use super::{Days, Shape, Time, name, runs};
use crate::schedule::{
    expression::Every,
    field::{MONTHS, WEEKDAYS},
    timetable::{DayRule, EVERY, Table},
};

const NTH: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];
/// Monday to Friday, as bits from Sunday.
const WORKDAYS: u64 = 0b011_1110;
const WEEKEND: u64 = 0b100_0001;

pub(super) fn every(every: Every) -> String {
    let text = match every.in_units(["day", "hour", "minute", "second"]) {
        (1, name) => format!("every {name}"),
        (count, name) => format!("every {count} {name}s"),
    };
    match every.phase_s {
        0 => text,
        phase_s => format!("{text}, {phase_s} s late"),
    }
}

pub(super) fn table(table: &Table) -> String {
    let time = table.time();
    let mut parts = vec![time_words(&time)];
    let days = day_words(table);
    let every_day = matches!(time, Time::At(_)).then(|| "every day".to_owned());
    parts.extend(days.or(every_day));
    parts.extend(month_words(table));
    parts.extend(year_words(table));
    parts.join(" ")
}

fn time_words(time: &Time) -> String {
    match time {
        Time::At(clocks) => {
            let clocks: Vec<String> = clocks.iter().map(ToString::to_string).collect();
            format!("at {}", and(&clocks))
        }
        Time::Pace {
            seconds,
            minutes,
            hours,
        } => pace_words(seconds, minutes, hours),
    }
}

fn pace_words(seconds: &Shape, minutes: &Shape, hours: &Shape) -> String {
    let on_the_hour = *minutes == Shape::List(vec![0]);
    if let (Shape::List(second), true, Shape::Step(step)) = (seconds, on_the_hour, hours)
        && second == &[0]
    {
        return format!("every {step} hours");
    }
    let within_hour = minute_words(seconds, minutes);
    let flows = matches!(minutes, Shape::All | Shape::Step(_));
    let hours = match hours {
        Shape::All if flows => String::new(),
        Shape::All => " of every hour".to_owned(),
        Shape::Step(step) => format!(" of every {} hour", ordinal(*step)),
        Shape::Run(first, last) if flows => format!(" from {first:02}:00 to {last:02}:59"),
        Shape::Run(first, last) => format!(" of the hours {first} to {last}"),
        Shape::List(list) if flows && list.len() == 1 => {
            let hour = numbers(list);
            format!(" from {hour:0>2}:00 to {hour:0>2}:59")
        }
        Shape::List(list) => format!(" of {} {}", plural("the hour", list), numbers(list)),
    };
    within_hour + &hours
}

fn minute_words(seconds: &Shape, minutes: &Shape) -> String {
    let on_the_minute = *seconds == Shape::List(vec![0]);
    let seconds = match seconds {
        Shape::All => "every second".to_owned(),
        Shape::Step(step) => format!("every {step} seconds"),
        Shape::Run(first, last) => format!("at seconds {first} to {last}"),
        Shape::List(list) => format!("at {} {}", plural("second", list), numbers(list)),
    };
    let flows = seconds.starts_with("every");
    match minutes {
        Shape::All if on_the_minute => "every minute".to_owned(),
        Shape::All if flows => seconds,
        Shape::All => format!("{seconds} of every minute"),
        Shape::Step(step) if on_the_minute => format!("every {step} minutes"),
        Shape::Step(step) => format!("{seconds} of every {} minute", ordinal(*step)),
        Shape::Run(first, last) if on_the_minute => format!("at minutes {first} to {last}"),
        Shape::Run(first, last) => format!("{seconds} of the minutes {first} to {last}"),
        Shape::List(list) if on_the_minute => {
            format!("at {} {}", plural("minute", list), numbers(list))
        }
        Shape::List(list) => format!(
            "{seconds} of {} {}",
            plural("the minute", list),
            numbers(list)
        ),
    }
}

fn day_words(table: &Table) -> Option<String> {
    let days = table.days().map(|days| month_days(&days));
    let weekdays = table.has_weekdays().then(|| weekday_words(table));
    match (days, weekdays) {
        (Some(days), Some(weekdays)) if table.rule == DayRule::Either => {
            Some(format!("{days} or {weekdays}"))
        }
        // One that always fits makes the other superfluous.
        _ if table.rule == DayRule::Either => Some("every day".to_owned()),
        (Some(days), Some(weekdays)) => Some(format!("{days} when that falls {weekdays}")),
        (days, weekdays) => days.or(weekdays),
    }
}

fn month_days(days: &Days) -> String {
    let mut parts = Vec::new();
    if !days.plain.is_empty() {
        parts.push(format!(
            "{} {}",
            plural("day", &days.plain),
            numbers(&days.plain)
        ));
    }
    for day in &days.nearest {
        parts.push(format!(
            "the day from Monday to Friday nearest to day {day}"
        ));
    }
    if days.last_workday {
        parts.push("the last day from Monday to Friday".to_owned());
    }
    for before in &days.from_end {
        parts.push(match before {
            0 => "the last day".to_owned(),
            1 => "the day before the last".to_owned(),
            before => format!("the day {before} days before the last"),
        });
    }
    format!("on {} of the month", and(&parts))
}

fn weekday_words(table: &Table) -> String {
    let mut parts = Vec::new();
    let every = table.weekday_group(EVERY);
    match every {
        0 => {}
        WORKDAYS => parts.push("weekdays".to_owned()),
        WEEKEND => parts.push("weekends".to_owned()),
        _ => {
            let every: Vec<u32> = super::values(every).collect();
            parts.extend(runs(&every, " to ", &|day| name(&WEEKDAYS, day)));
        }
    }
    for (nth, weekday) in table.nth_weekdays() {
        let nth = nth.map_or("last".to_owned(), |nth| name(&NTH, nth - 1));
        parts.push(format!(
            "the {nth} {} of the month",
            name(&WEEKDAYS, weekday)
        ));
    }
    for nth in table.nth_workdays() {
        let nth = nth.map_or("last".to_owned(), |nth| match NTH.get(nth as usize - 1) {
            Some(word) => (*word).to_owned(),
            None => format!("{nth}{}", suffix(nth)),
        });
        parts.push(format!("the {nth} business day of the month"));
    }
    format!("on {}", and(&parts))
}

/// From the sixth to the twenty-third.
fn suffix(number: u32) -> &'static str {
    match number {
        21 => "st",
        22 => "nd",
        23 => "rd",
        _ => "th",
    }
}

fn month_words(table: &Table) -> Option<String> {
    let month = |month| name(&MONTHS, month - 1);
    let months = runs(&table.some_months()?, " to ", &month);
    Some(format!("in {}", and(&months)))
}

fn year_words(table: &Table) -> Option<String> {
    let (years, last) = table.some_years(|first, last| match last - first {
        0 => first.to_string(),
        _ => format!("{first} to {last}"),
    })?;
    Some(match last {
        Some(last) => format!("in {}, … {last}", years.join(", ")),
        None => format!("in {}", and(&years)),
    })
}

fn numbers(values: &[u32]) -> String {
    and(&runs(values, " to ", &|value| value.to_string()))
}

fn plural(word: &str, values: &[u32]) -> String {
    match values.len() {
        1 => word.to_owned(),
        _ => format!("{word}s"),
    }
}

fn and(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [front @ .., last] => format!("{} and {last}", front.join(", ")),
    }
}

fn ordinal(number: u32) -> String {
    let ending = match number {
        2 => "nd",
        3 => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}
