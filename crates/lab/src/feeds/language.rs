//! Texts of entries, in five languages: enough words for distinct titles, few enough to read.
//!
//! Readers use titles as a last resort to distinguish entries, and the letters matter because feeds
//! use the charsets of their languages.

use serde::Serialize;

use crate::chance::Chance;

/// The language of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    English,
    Chinese,
    Japanese,
    Russian,
    German,
}

/// For each language, in the order of [`Language`], a line of who, one of does what, and one of
/// where or when; each of twelve.
const WORDS: &str = include_str!("language/words.txt");
const PER_LINE: u64 = 12;

impl Language {
    /// As in `xml:lang`.
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh-CN",
            Self::Japanese => "ja",
            Self::Russian => "ru",
            Self::German => "de",
        }
    }

    pub fn title(self, chance: &mut Chance) -> String {
        let mut lines = WORDS.lines().skip(self as usize * 3);
        let mut word = || {
            let place = usize::try_from(chance.below(PER_LINE)).unwrap_or(0);
            let words = lines.next().unwrap_or_default();
            words.split('|').nth(place).unwrap_or_default()
        };
        let (who, does, detail) = (word(), word(), word());
        let (joint, space) = match self {
            Self::Chinese => ("，", "，"),
            // Joins the first two by itself.
            Self::Japanese => ("", "\u{3000}"),
            _ => (" ", " "),
        };
        format!("{who}{joint}{does}{space}{detail}")
    }

    /// Some sentences, as plain text.
    pub fn text(self, chance: &mut Chance) -> String {
        let stop = match self {
            Self::Chinese | Self::Japanese => "。",
            _ => ". ",
        };
        let mut text = String::new();
        for _ in 0..chance.between(1, 4) {
            text.push_str(&self.title(chance));
            text.push_str(stop);
        }
        text
    }
}
