//! Publication times, in whatever way people write them.
//!
//! Four ways in: a number since 1970, a date that starts with its year, one in numbers that ends
//! with it, and a date with the name of its month. An offset is applied, a time without one is UTC,
//! a date without a time is its first instant. `03/04/2026` is refused: it is ambiguous (March or
//! April), and no time is better than a wrong one.

use jiff::{
    Timestamp,
    civil::{Date, DateTime, Time},
    tz::Offset,
};

mod numbers;
mod words;

/// Longer text is no date.
const DATE_BYTES_MAX: usize = 100;
/// From here on a number counts milliseconds, then microseconds: as seconds it would be past the
/// year 5000.
const MILLISECONDS_FROM: u64 = 100_000_000_000;
const MICROSECONDS_FROM: u64 = MILLISECONDS_FROM * 1000;

/// The instant a text names.
pub fn parse(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if text.len() > DATE_BYTES_MAX {
        return None;
    }
    if let Some(at) = number(text) {
        return Some(at);
    }
    let text = text
        .replace(['年', '月'], "-")
        .replace(['日', '\u{a0}', '\u{3000}'], " ");
    let text = text.trim();
    year_first(text)
        .or_else(|| numbers::parse(text))
        .or_else(|| words::parse(text))
}

/// Seconds, milliseconds or microseconds since 1970, distinguished by size.
pub(crate) fn since_1970(number: u64) -> Option<Timestamp> {
    let signed = i64::try_from(number).ok()?;
    match number {
        MICROSECONDS_FROM.. => Timestamp::from_microsecond(signed).ok(),
        MILLISECONDS_FROM.. => Timestamp::from_millisecond(signed).ok(),
        _ => Timestamp::from_second(signed).ok(),
    }
}

/// Nine digits or more: fewer are a date without separators, or nothing.
fn number(text: &str) -> Option<Timestamp> {
    let whole = text.split('.').next()?;
    let is_number = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    (is_number && whole.len() >= 9)
        .then(|| whole.parse().ok())
        .flatten()
        .and_then(since_1970)
}

/// ISO 8601 and its relatives: `2026-01-02T03:04:05+01:00`, `20260102`, `2026/1/2 3:04`.
fn year_first(text: &str) -> Option<Timestamp> {
    let (date, rest) = leading_date(text)?;
    let rest = rest.trim_start_matches(['T', 't', ' ', ',']);
    if rest.is_empty() {
        return instant(date, Time::midnight(), Offset::UTC);
    }
    let split = rest.find(|char: char| !(char.is_ascii_digit() || ":.,".contains(char)));
    let (clock, zone) = rest.split_at(split.unwrap_or(rest.len()));
    let (time, days) = time_of_day(clock)?;
    let date = date.checked_add(days).ok()?;
    instant(date, time, offset(zone.trim())?)
}

fn leading_date(text: &str) -> Option<(Date, &str)> {
    // A number may have a sign, a date's parts may not.
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let year: i16 = text.get(..4).filter(|year| digits(year))?.parse().ok()?;
    let rest = &text[4..];
    let Some(rest) = rest.strip_prefix(['-', '/', '.']) else {
        let (month, day) = rest.get(..4).filter(|rest| digits(rest))?.split_at(2);
        let date = Date::new(year, month.parse().ok()?, day.parse().ok()?).ok()?;
        return Some((date, &rest[4..]));
    };
    let (month, rest) = small_number(rest)?;
    let rest = rest.strip_prefix(['-', '/', '.'])?;
    let (day, rest) = small_number(rest)?;
    Some((Date::new(year, month, day).ok()?, rest))
}

fn small_number(text: &str) -> Option<(i8, &str)> {
    let digits = text.bytes().take(2).take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    Some((number.parse().ok()?, rest))
}

/// `15:04`, `15:04:05`, `15:04:05.678`, `150405`; with the days that `24:00` adds.
fn time_of_day(text: &str) -> Option<(Time, jiff::Span)> {
    let text = text.split(['.', ',']).next()?;
    let parts: Vec<&str> = if text.contains(':') {
        text.split(':').collect()
    } else {
        [text.get(..2), text.get(2..4), text.get(4..6)]
            .into_iter()
            .flatten()
            .collect()
    };
    let mut numbers = parts.iter().map(|part| part.parse::<i8>());
    let hour = numbers.next()?.ok()?;
    let minute = numbers.next().transpose().ok()?.unwrap_or(0);
    // A leap second is the last one of its minute here.
    let second = numbers.next().transpose().ok()?.unwrap_or(0).min(59);
    if numbers.next().is_some() {
        return None;
    }
    let next_day = i64::from(hour == 24);
    let time = Time::new(hour % 24, minute, second, 0).ok()?;
    (hour <= 24).then(|| (time, jiff::Span::new().days(next_day)))
}

/// `Z`, `+02:00`, `+0200`, `+02`, `GMT`, `EST`, `GMT+2`, or nothing, which is UTC.
fn offset(text: &str) -> Option<Offset> {
    let (name, signed) = match text.find(['+', '-', '\u{2212}']) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let named = hours_of_zone(name.trim());
    if signed.is_empty() {
        return Offset::from_seconds(named?).ok();
    }
    let east = signed.starts_with('+');
    let digits: String = signed
        .chars()
        .skip(1)
        .take_while(|char| char.is_ascii_digit() || *char == ':')
        .filter(char::is_ascii_digit)
        .collect();
    let (hours, minutes) = match digits.len() {
        1 | 2 => (digits.as_str(), "0"),
        3 => digits.split_at(1),
        4 => digits.split_at(2),
        _ => return None,
    };
    let minutes: i32 = minutes.parse().ok()?;
    let seconds = hours.parse::<i32>().ok()? * 3600 + (minutes < 60).then_some(minutes)? * 60;
    Offset::from_seconds(if east { seconds } else { -seconds }).ok()
}

/// Seconds east of Greenwich. RFC 2822 knows the American names and counts every name it does not
/// know, the single letters among them, as UTC; the others here are common in feeds and mean one
/// thing only.
fn hours_of_zone(name: &str) -> Option<i32> {
    if !name.bytes().all(|byte| byte.is_ascii_alphabetic()) || name.len() > 5 {
        return None;
    }
    let hours = match name.to_ascii_uppercase().as_str() {
        "PST" => -8,
        "PDT" | "MST" => -7,
        "MDT" | "CST" => -6,
        "CDT" | "EST" => -5,
        "EDT" => -4,
        "WEST" | "CET" | "MEZ" => 1,
        "CEST" | "MESZ" | "EET" => 2,
        "EEST" | "MSK" => 3,
        "HKT" | "SGT" => 8,
        "JST" | "KST" => 9,
        "AEST" => 10,
        "AEDT" => 11,
        "NZST" => 12,
        "NZDT" => 13,
        _ => 0,
    };
    Some(hours * 3600)
}

fn instant(date: Date, time: Time, offset: Offset) -> Option<Timestamp> {
    offset.to_timestamp(DateTime::from_parts(date, time)).ok()
}

#[cfg(test)]
mod tests;
