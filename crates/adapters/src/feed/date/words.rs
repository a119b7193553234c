//! Dates with the name of a month: RFC 822 as feeds write it, `asctime`, `date`, and plain English.
//!
//! Words are taken in any order, since publishers use any order: a name of a month, a time with
//! colons, a day of one or two digits and a year are distinct. The day of the week is often wrong
//! and never read.

use jiff::{Timestamp, civil::Date, civil::Time, tz::Offset};

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// What the words read so far contain.
#[derive(Default)]
struct Parts<'a> {
    day: Option<i8>,
    month: Option<i8>,
    year: Option<i16>,
    clock: Option<&'a str>,
    afternoon: Option<bool>,
    offset: Option<Offset>,
}

/// The instant that words name.
pub(super) fn parse(text: &str) -> Option<Timestamp> {
    Parts::default().read(text)
}

/// The instant on a date that the words behind it name.
pub(super) fn on(date: Date, words: &str) -> Option<Timestamp> {
    let parts = Parts {
        day: Some(date.day()),
        month: Some(date.month()),
        year: Some(date.year()),
        ..Parts::default()
    };
    parts.read(words)
}

impl<'a> Parts<'a> {
    fn read(mut self, text: &'a str) -> Option<Timestamp> {
        // A comment may follow the zone: `+0200 (CEST)`.
        let text = text.split('(').next()?;
        for word in text.split([' ', ',', '\t', '\n']) {
            self.word(word)?;
        }
        self.instant()
    }

    /// Takes one word; `None` for one that fits nowhere.
    fn word(&mut self, word: &'a str) -> Option<()> {
        let lower = word.to_ascii_lowercase();
        let starts = |names: &[&str]| names.iter().position(|name| lower.starts_with(name));
        let first = word.bytes().next();
        match first {
            None => {}
            Some(b'0'..=b'9') if word.contains(':') => self.clock(word)?,
            Some(b'0'..=b'9') if word.contains('-') => self.joined(word)?,
            Some(b'0'..=b'9') => self.number(&lower)?,
            Some(b'+' | b'-') => self.offset = Some(super::offset(word)?),
            _ if matches!(lower.as_str(), "am" | "a.m.") => self.afternoon = Some(false),
            _ if matches!(lower.as_str(), "pm" | "p.m.") => self.afternoon = Some(true),
            _ if matches!(lower.as_str(), "at" | "of" | "the" | "on") => {}
            _ if self.month.is_none() && starts(&MONTHS).is_some() => {
                self.month = i8::try_from(starts(&MONTHS)? + 1).ok();
            }
            _ if starts(&DAYS).is_some() => {}
            _ => self.offset = Some(super::offset(word)?),
        }
        Some(())
    }

    /// A time, possibly with what belongs to it: `3:04pm`, `15:04:05+0200`, `15:04:05Z`.
    fn clock(&mut self, word: &'a str) -> Option<()> {
        let end = word.find(|char: char| !(char.is_ascii_digit() || ":.".contains(char)));
        let (clock, rest) = word.split_at(end.unwrap_or(word.len()));
        if self.clock.replace(clock).is_some() {
            return None;
        }
        if rest.is_empty() {
            Some(())
        } else {
            self.word(rest)
        }
    }

    /// `02-Jan-2006`.
    fn joined(&mut self, word: &'a str) -> Option<()> {
        word.split('-').try_for_each(|part| {
            let is_simple =
                !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
            is_simple.then(|| self.word(part)).flatten()
        })
    }

    /// A day, then a year; `2nd` is a day, too.
    fn number(&mut self, word: &str) -> Option<()> {
        let end = word.find(|char: char| !char.is_ascii_digit());
        let (digits, suffix) = word.split_at(end.unwrap_or(word.len()));
        if !matches!(suffix, "" | "st" | "nd" | "rd" | "th" | ".") {
            return None;
        }
        match (digits.len(), self.day) {
            (1 | 2, None) => self.day = digits.parse().ok(),
            (2..=4, _) if self.year.is_none() => self.year = Some(full_year(digits)?),
            _ => return None,
        }
        Some(())
    }

    fn instant(&self) -> Option<Timestamp> {
        let date = Date::new(self.year?, self.month?, self.day?).ok()?;
        let (time, days) = match self.clock {
            Some(clock) => super::time_of_day(clock)?,
            None => (Time::midnight(), jiff::Span::new()),
        };
        let hour = match (self.afternoon, time.hour()) {
            (Some(_), 13..) => return None,
            (Some(false), 12) => 0,
            (Some(true), hour @ ..=11) => hour + 12,
            (_, hour) => hour,
        };
        let time = time.with().hour(hour).build().ok()?;
        let offset = self.offset.unwrap_or(Offset::UTC);
        super::instant(date.checked_add(days).ok()?, time, offset)
    }
}

/// Years of two and three digits, as in RFC 2822.
fn full_year(digits: &str) -> Option<i16> {
    let year: i16 = digits.parse().ok()?;
    Some(match (digits.len(), year) {
        (2, 0..50) => 2000 + year,
        (2 | 3, _) => 1900 + year,
        _ => year,
    })
}
