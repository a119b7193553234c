//! `[edition.source]`: where stories come from (ED-33).

use almanack_adapters::hacker_news::{ALGOLIA_URL, FIREBASE_URL, List};
use jiff::SignedDuration;

use super::{
    super::super::{
        key::KeyPath,
        reader::{Reader, Show},
        value,
    },
    address,
};

/// Where stories come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stories {
    /// Hacker News.
    HackerNews {
        /// Which of its lists.
        list: List,
        /// How old a story of the best list may be.
        window: SignedDuration,
        /// Where the lists live.
        firebase_url: String,
        /// Where the search lives.
        algolia_url: String,
    },
    /// What our own sources brought.
    Entries,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    HackerNews,
    Entries,
}

impl Show for From {
    fn show(&self) -> String {
        match self {
            Self::HackerNews => "\"hacker-news\"".to_owned(),
            Self::Entries => "\"entries\"".to_owned(),
        }
    }
}

impl Show for List {
    fn show(&self) -> String {
        match self {
            Self::Best => "\"best\"".to_owned(),
            Self::Day => "\"day\"".to_owned(),
        }
    }
}

impl Stories {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let key = |name| KeyPath::plain("edition.source", name);
        let places = &[
            ("hacker-news", From::HackerNews),
            ("entries", From::Entries),
        ];
        let lists = &[("best", List::Best), ("day", List::Day)];
        let from = reader.value(&key("from"), From::HackerNews, value::choice(places));
        let list = reader.value(&key("list"), List::default(), value::choice(lists));
        let hours: u32 = reader.value(&key("window_hours"), 24, value::count(1..=168));
        let firebase_url = reader.value(&key("firebase_url"), FIREBASE_URL.to_owned(), address);
        let algolia_url = reader.value(&key("algolia_url"), ALGOLIA_URL.to_owned(), address);
        match from {
            From::Entries => Self::Entries,
            From::HackerNews => Self::HackerNews {
                list,
                window: SignedDuration::from_hours(i64::from(hours)),
                firebase_url,
                algolia_url,
            },
        }
    }
}
