//! Where in a feed the walk is, as far as that matters, and what publishers request there.

use almanack_core::source::hints::Hints;

use super::{
    extra::{ABOUT_BYTES_MAX, CATEGORY_BYTES_MAX},
    vocabulary::Vocabulary,
};

const MINUTE: u32 = 60;
const HOUR: u32 = 60 * MINUTE;
const DAY: u32 = 24 * HOUR;
/// Longest text that says when to come again, or a date.
const WORDS_BYTES_MAX: usize = 100;
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// A kind of element, known by its parent: an entry's own `ttl` is not the feed's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// `rss` or `RDF`; or `urlset`, whose pages are entries.
    Rss,
    /// `channel`, or Atom's `feed`.
    Channel,
    /// `item`, `entry` or `url`.
    Entry,
    /// `skipHours` and `skipDays`.
    Skip,
    Ttl,
    Hour,
    Day,
    Period,
    Frequency,
    /// `enclosure`, or a link to one.
    File,
    /// Atom's; its attributes say what it leads to.
    Link,
    /// `media:content` and `media:group`.
    Media,
    Category,
    /// A description that is not the entry's own: `media:description`, `itunes:summary`.
    About,
    Date(DateKind),
    Other,
}

/// Dates of Atom 0.3 and of Dublin Core, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DateKind {
    Issued,
    Created,
    Modified,
}

impl Place {
    /// The kind of an element by its name and its parent's kind.
    pub(super) fn inside(parent: Option<Self>, vocabulary: Vocabulary, name: &str) -> Self {
        match (parent, name) {
            (Some(Self::Entry), name) => Self::in_entry(vocabulary, name),
            (Some(Self::Media), name) if vocabulary == Vocabulary::Media => {
                Self::in_entry(vocabulary, name)
            }
            (None, "rss" | "RDF" | "urlset") => Self::Rss,
            (None, "feed") | (Some(Self::Rss), "channel") => Self::Channel,
            (Some(Self::Channel | Self::Rss), "item" | "entry" | "url") => Self::Entry,
            (Some(Self::Channel), "skipHours" | "skipDays") => Self::Skip,
            (Some(Self::Channel), "ttl") => Self::Ttl,
            (Some(Self::Channel), "updatePeriod") => Self::Period,
            (Some(Self::Channel), "updateFrequency") => Self::Frequency,
            (Some(Self::Skip), "hour") => Self::Hour,
            (Some(Self::Skip), "day") => Self::Day,
            _ => Self::Other,
        }
    }

    fn in_entry(vocabulary: Vocabulary, name: &str) -> Self {
        match (vocabulary, name) {
            (Vocabulary::Media, "content" | "group") => Self::Media,
            (Vocabulary::Media, "description") | (Vocabulary::Itunes, "summary") => Self::About,
            (Vocabulary::Feed, "link") => Self::Link,
            (Vocabulary::Feed, "category") | (Vocabulary::Dublin, "subject") => Self::Category,
            (Vocabulary::Feed | Vocabulary::Other, "enclosure") => Self::File,
            (Vocabulary::Feed | Vocabulary::Dublin, "issued") => Self::Date(DateKind::Issued),
            (Vocabulary::Feed | Vocabulary::Dublin, "created") => Self::Date(DateKind::Created),
            (Vocabulary::Feed | Vocabulary::Dublin, "modified") => Self::Date(DateKind::Modified),
            _ => Self::Other,
        }
    }

    /// Whether it says something about its entry.
    pub(super) fn is_extra(self) -> bool {
        matches!(
            self,
            Self::File | Self::Media | Self::Category | Self::About | Self::Date(_)
        )
    }

    /// How much of its text is listened to, in bytes.
    pub(super) fn words_max(self) -> usize {
        match self {
            Self::Ttl | Self::Hour | Self::Day | Self::Period | Self::Frequency | Self::Date(_) => {
                WORDS_BYTES_MAX
            }
            Self::Category => CATEGORY_BYTES_MAX,
            Self::About => ABOUT_BYTES_MAX,
            _ => 0,
        }
    }
}

/// The publisher's requests found so far.
#[derive(Debug, Default)]
pub(super) struct PollRequests {
    ttl: Option<u32>,
    period: Option<u32>,
    frequency: Option<u32>,
    skip_hours: u32,
    skip_days: u32,
}

impl PollRequests {
    pub(super) fn hear(&mut self, place: Place, words: &str) {
        match place {
            Place::Ttl => self.ttl = minutes(words).or(self.ttl),
            Place::Period => self.period = period(words),
            Place::Frequency => self.frequency = words.parse().ok(),
            Place::Hour => self.skip_hours |= hour_bit(words),
            Place::Day => self.skip_days |= day_bit(words),
            _ => {}
        }
    }

    /// The longer of two requests counts: they are floors.
    pub(super) fn hints(&self) -> Hints {
        let times = self.frequency.unwrap_or(1).max(1);
        let every = self.period.map(|period| period / times);
        Hints {
            every: self.ttl.max(every).filter(|seconds| *seconds > 0),
            skip_hours: self.skip_hours,
            skip_days: self.skip_days,
            ..Hints::default()
        }
    }
}

/// `ttl` is in minutes.
fn minutes(words: &str) -> Option<u32> {
    let minutes: u32 = words.parse().ok()?;
    Some(minutes.saturating_mul(MINUTE))
}

fn period(words: &str) -> Option<u32> {
    match words.to_ascii_lowercase().as_str() {
        "hourly" => Some(HOUR),
        "daily" => Some(DAY),
        "weekly" => Some(7 * DAY),
        "monthly" => Some(30 * DAY),
        "yearly" => Some(365 * DAY),
        _ => None,
    }
}

/// Hours are 0 to 23; some count midnight as 24.
fn hour_bit(words: &str) -> u32 {
    match words.parse::<u32>() {
        Ok(hour @ 0..=24) => 1 << (hour % 24),
        _ => 0,
    }
}

fn day_bit(words: &str) -> u32 {
    let words = words.to_ascii_lowercase();
    let day = DAYS.iter().position(|day| words.starts_with(day));
    day.map_or(0, |day| 1 << day)
}
