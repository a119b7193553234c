//! Durations and instants as people type them.
//!
//! A local time that its zone skips, or has twice, is refused instead of guessed: a person who
//! types one for a single task can choose the instant, and a silently shifted hour is the bug this
//! program exists to prevent.

use std::fmt;

use almanack_core::{
    duration,
    time::{parse_instant, to_micros},
};
use jiff::{
    SignedDuration, Timestamp, Zoned,
    civil::DateTime,
    tz::{AmbiguousOffset, TimeZone},
};

/// Why a text is not a duration or an instant, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub(crate) struct Unclear {
    pub(crate) what: String,
    pub(crate) hint: String,
}

fn unclear<T>(what: impl Into<String>, hint: impl Into<String>) -> Result<T, Unclear> {
    Err(Unclear {
        what: what.into(),
        hint: hint.into(),
    })
}

/// Reads `30s`, `10m`, `1h30m`, `7d` (a day has 24 hours here).
pub(crate) fn parse_duration(text: &str) -> Result<SignedDuration, Unclear> {
    duration::parse(text).or_else(|it| unclear(it.what.to_string(), it.hint.to_string()))
}

/// Writes a duration the way [`parse_duration`] reads it.
pub(crate) fn show_duration(duration: SignedDuration) -> String {
    duration::show(duration)
}

const AT_HINT: &str = "write 2026-01-05T08:00Z, \"2026-01-05 08:00 Europe/Berlin\", +10m or now";

const LAST_HINT: &str = "times end with the year 9999";

/// Reads `now`, `+10m`, an instant with its offset, or a wall-clock time with its zone.
pub(crate) fn parse_at(text: &str, now: Timestamp) -> Result<Timestamp, Unclear> {
    let text = text.trim();
    if text == "now" {
        return Ok(now);
    }
    if let Some(wait) = text.strip_prefix('+') {
        let at = now.checked_add(parse_duration(wait)?);
        return at.or_else(|_| unclear(format!("`{text}` is too far away"), LAST_HINT));
    }
    if let Ok(at) = parse_instant(text) {
        return Ok(at);
    }
    match text.rsplit_once(' ') {
        Some((civil, zone)) if zone.starts_with(|c: char| c.is_alphabetic()) => {
            in_zone(civil, zone)
        }
        _ => at_or_advice(text),
    }
}

/// The same, where a wall-clock time without a zone is one in `zone`.
pub(crate) fn parse_at_in(text: &str, now: Timestamp, zone: &str) -> Result<Timestamp, Unclear> {
    let text = text.trim();
    parse_at(text, now).or_else(|unclear| match text.parse::<DateTime>() {
        Ok(_) if text.len() > DATE_CHARS && !has_long_year(text) => in_zone(text, zone),
        _ => Err(unclear),
    })
}

fn at_or_advice(text: &str) -> Result<Timestamp, Unclear> {
    if let Ok(zoned) = text.parse::<Zoned>() {
        return Ok(to_micros(zoned.timestamp()));
    }
    if has_long_year(text) {
        return unclear(format!("`{text}` is out of range"), LAST_HINT);
    }
    match text.parse::<DateTime>() {
        Ok(_) if text.len() == DATE_CHARS => unclear(
            format!("`{text}` has no time of day"),
            format!("write {text}T08:00Z, or with a zone: \"{text} 08:00 Europe/Berlin\""),
        ),
        Ok(_) => unclear(
            format!("`{text}` has no time zone"),
            format!("end it with Z for UTC, or with a zone: \"{text} Europe/Berlin\""),
        ),
        Err(_) => unclear(format!("`{text}` is not a time"), AT_HINT),
    }
}

/// `2026-01-05`
const DATE_CHARS: usize = 10;

/// Whether it starts as a date does, but for a year of more than four digits.
fn has_long_year(text: &str) -> bool {
    let year = text.split('-').next().unwrap_or_default();
    year.len() > 4 && text.len() > year.len() && year.bytes().all(|byte| byte.is_ascii_digit())
}

fn in_zone(civil: &str, zone: &str) -> Result<Timestamp, Unclear> {
    if has_long_year(civil) {
        return unclear(format!("`{civil}` is out of range"), LAST_HINT);
    }
    let Ok(wall) = civil.parse::<DateTime>() else {
        return unclear(format!("`{civil}` is not a date and time"), AT_HINT);
    };
    let Ok(zone) = TimeZone::get(zone) else {
        return unclear(
            format!("there is no time zone `{zone}`"),
            "zones look like Europe/Berlin",
        );
    };
    let ambiguous = zone.to_ambiguous_timestamp(wall);
    let name = zone.iana_name().unwrap_or("this zone").to_owned();
    match ambiguous.offset() {
        AmbiguousOffset::Unambiguous { .. } => {}
        AmbiguousOffset::Gap { .. } => {
            return unclear(
                format!("{civil} does not exist in {name}: the clocks skip it"),
                "choose a time before or after the clock change",
            );
        }
        AmbiguousOffset::Fold { before, after } => {
            return unclear(
                format!("{civil} occurs twice in {name}"),
                format!("choose one: {wall}{before} or {wall}{after}"),
            );
        }
    }
    match ambiguous.unambiguous() {
        Ok(at) => Ok(to_micros(at)),
        Err(_) => unclear(format!("`{civil}` is too far away"), LAST_HINT),
    }
}

/// An instant seen from another: `in 5m`, `3h ago`, `now`.
pub(crate) struct Relative {
    pub(crate) at: Timestamp,
    /// Where it is seen from.
    pub(crate) now: Timestamp,
}

impl fmt::Display for Relative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let distance = self.at.duration_since(self.now);
        let text = rounded(distance.abs());
        match distance.is_negative() {
            _ if text == "0s" => f.pad("now"),
            true => f.pad(&format!("{text} ago")),
            false => f.pad(&format!("in {text}")),
        }
    }
}

/// The two largest units that matter: days do not need seconds.
pub(crate) fn rounded(distance: SignedDuration) -> String {
    let half = SignedDuration::from_millis(500);
    let seconds = distance.saturating_add(half).as_secs();
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
    let (minutes, rest) = (seconds / 60 % 60, seconds % 60);
    let pair = |large: i64, unit: &str, small: i64, small_unit: &str| match small {
        0 => format!("{large}{unit}"),
        _ => format!("{large}{unit} {small}{small_unit}"),
    };
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{rest}s"),
        (0, 0, _) => pair(minutes, "m", rest, "s"),
        (0, _, _) => pair(hours, "h", minutes, "m"),
        _ => pair(days, "d", hours, "h"),
    }
}

/// A short duration of work, to a millisecond.
pub(crate) fn took(duration: SignedDuration) -> String {
    match duration.as_millis() {
        millis if millis < 1_000 => format!("{millis} ms"),
        millis if millis < 60_000 => format!("{}.{} s", millis / 1_000, millis % 1_000 / 100),
        _ => rounded(duration),
    }
}

#[cfg(test)]
mod tests;
