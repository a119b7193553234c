//! What identifies an edition: its name and its day.
//!
//! A node makes several editions side by side, each with its own name; each of them has one edition
//! per day. In texts, paths, subjects and keys an edition is its day if it is the default one, and
//! `NAME@DATE` otherwise, so everything that was written before editions had names still means what
//! it meant.

use crate::{
    lang::{Lang, Say, reader::refuse},
    say,
};
use std::{fmt, str::FromStr};

use arrayvec::ArrayString;
use jiff::civil::Date;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Most bytes of a name.
pub const NAME_BYTES_MAX: usize = 32;
/// The name of the edition that is configured without one.
const DEFAULT: &str = "default";
/// What stands between name and day.
const BETWEEN: char = '@';
/// Words that already mean something where names are written: in paths and on the command line.
const TAKEN: [&str; 8] = [
    "all",
    "approve",
    "confirm",
    "feed",
    "search",
    "subscribe",
    "today",
    "unsubscribe",
];

/// The name of an edition: 1 to 32 lower-case letters, digits and hyphens, a letter first. So it
/// is one part of a path, sorts after every day, and never looks like one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EditionName(ArrayString<NAME_BYTES_MAX>);

/// Why a text is no name of an edition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub struct BadName;

impl Say for BadName {
    fn say(&self, lang: Lang) -> String {
        say!(lang;
            "the name of an edition is 1 to {NAME_BYTES_MAX} lower-case letters, digits and hyphens, begins with a letter, and is not a reserved word such as `today` or `feed`",
            "日报的名称为 1 到 {NAME_BYTES_MAX} 个小写字母、数字和连字符，以字母开头，且不能是 `today`、`feed` 等保留字")
    }
}

impl EditionName {
    /// Reads a name.
    pub fn parse(text: &str) -> Result<Self, BadName> {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let begins = text.starts_with(|c: char| c.is_ascii_lowercase());
        if !begins || !text.chars().all(fits) || TAKEN.contains(&text) {
            return Err(BadName);
        }
        ArrayString::from(text).map(Self).map_err(|_| BadName)
    }

    /// The name as a text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What the texts of all its editions begin with: nothing for the default one.
    pub fn prefix(&self) -> String {
        if self.is_default() {
            String::new()
        } else {
            format!("{self}{BETWEEN}")
        }
    }

    /// Whether it is the one that is configured without a name, and that the founding endpoints
    /// serve.
    pub fn is_default(&self) -> bool {
        self.as_str() == DEFAULT
    }
}

impl Default for EditionName {
    fn default() -> Self {
        let mut name = ArrayString::new();
        // Shorter than a name may be.
        let _ = name.try_push_str(DEFAULT);
        Self(name)
    }
}

impl fmt::Display for EditionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for EditionName {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        Self::parse(text)
    }
}

impl Serialize for EditionName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for EditionName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(|bad| refuse(&bad))
    }
}

/// What identifies an edition. Its text is `DATE` for the default one, `NAME@DATE` for any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EditionId {
    /// Its name; `default` for the one that is configured without.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(value_type = String, example = "default"))]
    pub name: EditionName,
    /// Its day, in its own time zone; no two editions of one name share one.
    pub date: Date,
}

/// Why a text identifies no edition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub struct BadId;

impl Say for BadId {
    fn say(&self, lang: Lang) -> String {
        say!(lang;
            "an edition is written YYYY-MM-DD, or NAME@YYYY-MM-DD if it has a name",
            "日报写作 YYYY-MM-DD；有名称时写作 NAME@YYYY-MM-DD")
    }
}

impl EditionId {
    /// The edition of a name and a day.
    pub fn new(name: EditionName, date: Date) -> Self {
        Self { name, date }
    }
}

/// The default edition of a day.
impl From<Date> for EditionId {
    fn from(date: Date) -> Self {
        Self::new(EditionName::default(), date)
    }
}

impl fmt::Display for EditionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name.prefix(), self.date)
    }
}

/// Reads what is written, and `default@DATE`; a day in no other form than it is written in.
impl FromStr for EditionId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let (name, day) = match text.rsplit_once(BETWEEN) {
            Some((name, day)) => (EditionName::parse(name).map_err(|_| BadId)?, day),
            None => (EditionName::default(), text),
        };
        let date: Date = day.parse().map_err(|_| BadId)?;
        // Years of more than four digits would not sort.
        if date.to_string() != day || day.len() != "YYYY-MM-DD".len() {
            return Err(BadId);
        }
        Ok(Self { name, date })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ed_37_an_edition_is_read_as_it_is_written() {
        let date = jiff::civil::date(2026, 1, 5);
        let weekly = EditionId::new(EditionName::parse("tech-weekly").unwrap(), date);
        for (id, text) in [
            (EditionId::from(date), "2026-01-05"),
            (weekly, "tech-weekly@2026-01-05"),
        ] {
            assert_eq!(id.to_string(), text);
            assert_eq!(text.parse(), Ok(id));
        }
        assert_eq!("default@2026-01-05".parse(), Ok(EditionId::from(date)));
    }

    #[test]
    fn what_is_no_edition_is_refused() {
        for text in [
            "",
            "today",
            "2026-1-5",
            "20260105",
            "2026-01-05T00:00",
            "@2026-01-05",
            "Tech@2026-01-05",
            "1st@2026-01-05",
            "a b@2026-01-05",
            "a/b@2026-01-05",
            "tech@",
            "tech@tech@2026-01-05",
            "today@2026-01-05",
            "-000001-01-01",
            "abcdefghijklmnopqrstuvwxyz-abcdefg@2026-01-05",
        ] {
            assert_eq!(text.parse::<EditionId>(), Err(BadId), "{text}");
        }
    }

    #[test]
    fn the_default_edition_keeps_its_json() {
        let id = EditionId::from(jiff::civil::date(2026, 1, 5));
        let json = serde_json::to_string(&id).unwrap();
        assert_eq!(json, r#"{"name":"default","date":"2026-01-05"}"#);
        let older: EditionId = serde_json::from_str(r#"{"date":"2026-01-05"}"#).unwrap();
        assert_eq!(older, id);
    }
}
