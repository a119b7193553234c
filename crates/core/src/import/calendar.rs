//! Calendar expressions of systemd (`Mon..Fri *-*-* 08:00`) as schedule expressions.
//!
//! ```text
//! calendar := [weekdays] [date] [time] [zone]       at least one of the first three
//! date     := [year "-"] month ("-" day | "~" day before the end)
//! time     := hour ":" minute [":" second]
//! ```
//!
//! A date and a weekday must both fit there, so both are required with `+`. What counts back from
//! the end of the month can be said for the last day (`L`) and for the last week's weekdays (`5L`),
//! and not otherwise.

use super::{Fault, Reason, zone_named};
use crate::{
    place::{Token, words},
    schedule::{Expression, Mode, Span, WEEKDAYS, YEAR_MAX},
};

const SHORTHANDS: [(&str, &str); 9] = [
    ("minutely", "* * * * *"),
    ("hourly", "0 * * * *"),
    ("daily", "0 0 * * *"),
    ("weekly", "0 0 * * 1"),
    ("monthly", "0 0 1 * *"),
    ("quarterly", "0 0 1 1,4,7,10 *"),
    ("semiannually", "0 0 1 1,7 *"),
    ("yearly", "0 0 1 1 *"),
    ("annually", "0 0 1 1 *"),
];

/// A calendar expression in our words.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Calendar {
    pub(super) expression: String,
    /// The zone it names itself.
    pub(super) tz: Option<String>,
}

/// The fields that a calendar expression says something about.
struct Parts {
    second: String,
    minute: String,
    hour: String,
    day: String,
    month: String,
    weekday: String,
    year: String,
}

/// Translates a calendar expression.
pub(super) fn translate(text: &str) -> Result<Calendar, Fault> {
    let mut words = words(text);
    let tz = take_zone(&mut words)?;
    let lower = words
        .first()
        .map_or(String::new(), |word| word.text.to_ascii_lowercase());
    let known = SHORTHANDS.iter().find(|known| known.0 == lower);
    let expression = match (known, words.as_slice()) {
        (Some((_, expression)), [_]) => (*expression).to_owned(),
        _ => parts(&words)?.expression(),
    };
    let whole = Span::new(0, text.len());
    let parsed = Expression::parse(&expression, Mode::Strict);
    let parsed = parsed.map_err(|error| Fault::new(whole, error))?;
    if parsed.compile("").never_fires() {
        return Err(Fault::new(whole, Reason::NeverFires));
    }
    Ok(Calendar { expression, tz })
}

/// The zone is the last word, and the only one that can look like one.
fn take_zone(words: &mut Vec<Token<'_>>) -> Result<Option<String>, Fault> {
    let Some(last) = words.last().copied().filter(|_| words.len() > 1) else {
        return Ok(None);
    };
    let letters = last.text.starts_with(|c: char| c.is_ascii_alphabetic());
    if !letters || weekdays(last).is_ok() {
        return Ok(None);
    }
    let tz = last.text.to_owned();
    let zone = zone_named(&tz).ok_or_else(|| Fault::new(last.span(), Reason::Zone { tz }))?;
    words.pop();
    Ok(Some(zone))
}

fn parts(words: &[Token<'_>]) -> Result<Parts, Fault> {
    let mut parts = Parts::every_midnight();
    let mut from_end = None;
    for word in words {
        if word.text.contains(':') {
            parts.set_time(*word)?;
        } else if word.text.starts_with(|c: char| c.is_ascii_alphabetic()) {
            parts.weekday = weekdays(*word)?;
        } else if let Some((before, day)) = word.text.rsplit_once('~') {
            parts.set_months(*word, before)?;
            from_end = Some((*word, day));
        } else if let Some((before, day)) = word.text.rsplit_once('-') {
            parts.set_months(*word, before)?;
            parts.day = component(*word, day, 31)?;
        } else {
            return Err(unsaid(*word));
        }
    }
    if words.is_empty() {
        return Err(Fault::new(
            Span::default(),
            Reason::NoTime {
                wanted: "a date or a time",
            },
        ));
    }
    if let Some((word, day)) = from_end {
        parts.set_from_end(word, day)?;
    }
    Ok(parts)
}

impl Parts {
    /// What is meant where nothing is said.
    fn every_midnight() -> Self {
        let any = || "*".to_owned();
        let zero = || "0".to_owned();
        Self {
            second: zero(),
            minute: zero(),
            hour: zero(),
            day: any(),
            month: any(),
            weekday: any(),
            year: any(),
        }
    }

    fn set_time(&mut self, word: Token<'_>) -> Result<(), Fault> {
        let pieces: Vec<&str> = word.text.split(':').collect();
        let (hour, minute, second) = match pieces.as_slice() {
            [hour, minute] => (*hour, *minute, "0"),
            [hour, minute, second] => (*hour, *minute, *second),
            _ => return Err(unsaid(word)),
        };
        self.hour = component(word, hour, 23)?;
        self.minute = component(word, minute, 59)?;
        self.second = component(word, second, 59)?;
        Ok(())
    }

    fn set_months(&mut self, word: Token<'_>, text: &str) -> Result<(), Fault> {
        let month = match text.rsplit_once('-') {
            Some((year, month)) => {
                self.year = years(component(word, year, YEAR_MAX)?);
                month
            }
            None => text,
        };
        self.month = component(word, month, 12)?;
        Ok(())
    }

    /// Days counted from the end of the month.
    fn set_from_end(&mut self, word: Token<'_>, day: &str) -> Result<(), Fault> {
        let (count, step) = day.split_once('/').unwrap_or((day, ""));
        let last_week = (count.parse(), step) == (Ok(7), "1");
        if count.parse() == Ok(1) && step.is_empty() {
            "L".clone_into(&mut self.day);
        } else if last_week && self.weekday.split(',').all(is_one_day) && self.weekday != "*" {
            let last: Vec<String> = self.weekday.split(',').map(last_of_month).collect();
            self.weekday = last.join(",");
        } else {
            return Err(unsaid(word));
        }
        Ok(())
    }

    fn expression(&self) -> String {
        let Self {
            second,
            minute,
            hour,
            day,
            month,
            weekday,
            year,
        } = self;
        let both = if day != "*" && weekday != "*" {
            "+"
        } else {
            ""
        };
        let five = format!("{minute} {hour} {day} {month} {both}{weekday}");
        match (second.as_str(), year.as_str()) {
            ("0", "*") => five,
            (_, "*") => format!("{second} {five}"),
            _ => format!("{second} {five} {year}"),
        }
    }
}

/// A year of two digits is one from 1970 to 2069.
fn years(list: String) -> String {
    match list.parse::<u16>() {
        Ok(year @ 0..70) => (2000 + year).to_string(),
        Ok(year @ 70..100) => (1900 + year).to_string(),
        _ => list,
    }
}

fn is_one_day(weekday: &str) -> bool {
    !weekday.contains('-')
}

fn last_of_month(weekday: &str) -> String {
    format!("{weekday}L")
}

/// A list of values, ranges `a..b` and repetitions `a/n` as one field. A repetition without an end
/// continues to the end of the field.
fn component(word: Token<'_>, text: &str, last: u16) -> Result<String, Fault> {
    let items = text.split(',').map(|item| {
        let (base, step) = match item.split_once('/') {
            Some((base, step)) => (base, Some(number(step)?)),
            None => (item, None),
        };
        let range = match base.split_once("..") {
            Some((first, last)) => format!("{}-{}", number(first)?, number(last)?),
            None if base == "*" && step.is_none() => base.to_owned(),
            None if step.is_some() => format!("{}-{last}", number(base)?),
            None => number(base)?.to_string(),
        };
        Some(match step {
            Some(step) => format!("{range}/{step}"),
            None => range,
        })
    });
    let items: Option<Vec<String>> = items.collect();
    Ok(items.ok_or_else(|| unsaid(word))?.join(","))
}

fn number(text: &str) -> Option<u16> {
    // Whole seconds may be written with zeros behind a point.
    let whole = text.split_once('.').map_or(Some(text), |(whole, part)| {
        part.bytes().all(|byte| byte == b'0').then_some(whole)
    })?;
    whole
        .parse()
        .ok()
        .filter(|_| whole.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `Mon..Fri,Sun`, in three letters or more, as numbers.
fn weekdays(word: Token<'_>) -> Result<String, Fault> {
    let day = |text: &str| {
        let is = |name: &str| name.eq_ignore_ascii_case(text);
        WEEKDAYS.iter().position(|name| is(name) || is(&name[..3]))
    };
    let items = word.text.split(',').map(|item| {
        let range = item.split_once("..").or_else(|| item.split_once('-'));
        Some(match range {
            // Weeks end on Sunday there, so nothing but Sunday follows it.
            Some((first, last)) => match (day(first)?, day(last)?) {
                (0, 0) => "0".to_owned(),
                (0, _) => return None,
                (first, 0) => format!("{first}-7"),
                (first, last) if first > last => return None,
                (first, last) => format!("{first}-{last}"),
            },
            None => day(item)?.to_string(),
        })
    });
    let items: Option<Vec<String>> = items.collect();
    Ok(items.ok_or_else(|| unsaid(word))?.join(","))
}

fn unsaid(word: Token<'_>) -> Fault {
    let piece = word.text.to_owned();
    Fault::new(word.span(), Reason::Calendar { piece })
}
