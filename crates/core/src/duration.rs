//! Durations as people write them: `30s`, `1h30m`, `7d` (a day has 24 hours here).
//!
//! One reader for the API, the configuration, the flags and what the store kept, so that a mistake
//! is answered in the same words everywhere. Whether a duration may be that long, or below zero, is
//! decided by whoever asked for it.

use jiff::{SignedDuration, Span, SpanRelativeTo};
use serde::{Deserialize as _, Deserializer, Serializer};

use crate::{
    both,
    lang::{Lang, Say, Sentence, reader::refuse},
    say,
};

/// Why a text is not a duration, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub struct Unclear {
    pub what: Sentence,
    pub hint: Sentence,
}

impl Say for Unclear {
    fn say(&self, lang: Lang) -> String {
        let (what, hint) = (self.what.say(lang), self.hint.say(lang));
        say!(lang; "{what}; {hint}", "{what}；{hint}")
    }
}

/// Reads a duration.
pub fn parse(text: &str) -> Result<SignedDuration, Unclear> {
    let (what, hint) = match read(text) {
        Ok(duration) => return Ok(duration),
        Err(_) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => (
            both!("`{text}` has no unit", "`{text}` 没有单位"),
            both!("did you mean \"{text}s\"?", "是否为 \"{text}s\"？"),
        ),
        Err(_) if is_too_long(text) => (
            both!("`{text}` is too long", "`{text}` 过长"),
            both!(
                "the longest is about 19000 years, and times end with the year 9999",
                "最长约为 19000 年，时间到 9999 年为止"
            ),
        ),
        Err(_) => (
            both!("`{text}` is not a duration", "`{text}` 不是时长"),
            both!(
                "write numbers with units, like \"30s\", \"10m\", \"1h30m\" or \"7d\"",
                "请写带单位的数字，例如 \"30s\"、\"10m\"、\"1h30m\" 或 \"7d\""
            ),
        ),
    };
    Err(Unclear { what, hint })
}

fn read(text: &str) -> Result<SignedDuration, jiff::Error> {
    let days = SpanRelativeTo::days_are_24_hours();
    text.parse::<Span>().and_then(|span| span.to_duration(days))
}

/// Whether a text would be a duration, were its numbers smaller.
fn is_too_long(text: &str) -> bool {
    let mut small = String::new();
    for c in text.chars() {
        match c {
            '0'..='9' if small.ends_with('1') => {}
            '0'..='9' => small.push('1'),
            other => small.push(other),
        }
    }
    read(&small).is_ok()
}

/// A duration for people: `1h 30m`, `1 小时 30 分`.
pub fn in_words(duration: SignedDuration, lang: Lang) -> String {
    let english = format!("{duration:#}");
    if lang == Lang::English {
        return english;
    }
    // What the library writes: numbers, each with its unit behind it.
    let units = [
        ("ms", " 毫秒"),
        ("µs", " 微秒"),
        ("ns", " 纳秒"),
        ("h", " 小时"),
        ("m", " 分"),
        ("s", " 秒"),
    ];
    let part = |part: &str| {
        let unit = units
            .iter()
            .find_map(|(unit, words)| Some((part.strip_suffix(unit)?, *words)));
        unit.map_or_else(
            || part.to_owned(),
            |(number, words)| format!("{number}{words}"),
        )
    };
    let parts: Vec<String> = english.split(' ').map(part).collect();
    parts.join(" ")
}

/// Writes a duration the way [`parse`] reads it.
pub fn show(duration: SignedDuration) -> String {
    // The library writes what is below zero as `6h ago`.
    let sign = if duration.is_negative() { "-" } else { "" };
    format!("{sign}{:#}", duration.abs()).replace(' ', "")
}

/// For a field that must be there.
pub mod required {
    use super::{Deserializer, Serializer, SignedDuration};

    /// Writes it as the library does: stored texts never change.
    pub fn serialize<S: Serializer>(it: &SignedDuration, to: S) -> Result<S::Ok, S::Error> {
        jiff::fmt::serde::duration::friendly::compact::required(it, to)
    }

    /// Reads it, or says what is wrong in our own words.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<SignedDuration, D::Error> {
        super::read_text(from)
    }
}

/// For a field that may be absent; beside `#[serde(default)]`.
pub mod optional {
    use super::{Deserializer, Serializer, SignedDuration};

    /// As [`super::required::serialize`].
    pub fn serialize<S: Serializer>(it: &Option<SignedDuration>, to: S) -> Result<S::Ok, S::Error> {
        jiff::fmt::serde::duration::friendly::compact::optional(it, to)
    }

    /// As [`super::required::deserialize`]; `null` is none.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<SignedDuration>, D::Error> {
        super::read_optional(from)
    }
}

fn read_text<'de, D: Deserializer<'de>>(from: D) -> Result<SignedDuration, D::Error> {
    let text = String::deserialize(from)?;
    parse(&text).map_err(|unclear| refuse(&unclear))
}

fn read_optional<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SignedDuration>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    let read = text.as_deref().map(parse).transpose();
    read.map_err(|unclear| refuse(&unclear))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_reads_back_below_zero_too() {
        for seconds in [0, 1, 90, 5_400, 86_400 * 7, -1, -21_600, -5_400] {
            let duration = SignedDuration::from_secs(seconds);
            assert_eq!(parse(&show(duration)), Ok(duration), "{}", show(duration));
        }
        assert_eq!(show(SignedDuration::from_hours(-6)), "-6h");
    }

    #[test]
    fn a_mistake_is_answered_in_our_own_words() {
        for (text, what) in [
            ("90", "`90` has no unit; did you mean \"90s\"?"),
            ("soon", "`soon` is not a duration; write numbers with units"),
            ("6hago", "`6hago` is not a duration"),
            ("", "`` is not a duration"),
            ("999999999999999d", "is too long"),
        ] {
            let said = parse(text).unwrap_err().to_string();
            assert!(said.contains(what), "{text}: {said}");
        }
    }
}
