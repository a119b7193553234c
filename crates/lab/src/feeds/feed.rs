//! One feed: its HTTP properties, and its entries at a moment.

use encoding_rs::Encoding;
use jiff::{Timestamp, tz::Offset};
use serde::Serialize;

use super::{document::Document, language::Language, rhythm::Habit};
use crate::chance::Chance;

/// A feed, drawn by [`Fleet::feed`](super::fleet::Fleet::feed).
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent properties in any combination"
)]
pub struct Feed {
    /// Its number in the fleet.
    pub number: u32,
    /// Its host.
    pub host: u32,
    /// The format at its address; the other file names serve the same entries.
    pub document: Document,
    pub habit: Habit,
    /// Its language.
    pub language: Language,
    /// Its charset; JSON is always UTF-8.
    pub charset: &'static Encoding,
    /// Where the charset is declared.
    pub declared: Declared,
    /// How many entries it shows.
    pub shown: usize,
    /// Its polling hints.
    pub hints: Hints,
    /// Whether it sends an `ETag`. Without that and a time, every check costs a whole document.
    pub etag: bool,
    /// Whether it sends `Last-Modified`.
    pub last_modified: bool,
    /// Whether its host compresses with gzip.
    pub gzip: bool,
    /// Whether its host compresses with brotli.
    pub brotli: bool,
    /// The ids of its entries.
    pub ids: Ids,
    /// Whether its links carry parameters that count readers.
    pub trackers: bool,
}

/// Where a charset is declared: a reader must look in both places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Declared {
    /// In `Content-Type` alone.
    Header,
    /// In the XML declaration or the `meta` element alone.
    Inside,
    Both,
}

/// A feed's polling hints. RSS has all; other formats only `max_age_s`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Hints {
    /// `<ttl>`.
    pub ttl_min: Option<u32>,
    /// `Cache-Control: max-age`.
    pub max_age_s: Option<u32>,
    /// `<sy:updatePeriod>`.
    pub update_period: Option<&'static str>,
    /// `<skipHours>`, GMT.
    pub skip_hours: Vec<u8>,
    /// `<skipDays>`, GMT.
    pub skip_days: Vec<&'static str>,
}

/// The ids of a feed's entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ids {
    Link,
    /// A `tag:` URI.
    Tag,
    /// An opaque id.
    Opaque,
    /// No id, where the format allows that.
    None,
}

/// One entry as a document shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The key of its page; unique in the feed.
    pub key: String,
    /// When it was published.
    pub published_at: Timestamp,
    pub title: String,
    /// Its page, absolute, with whatever the feed adds to links.
    pub link: String,
    /// Its id, if the feed has ids.
    pub id: Option<String>,
    /// Untrusted HTML: one in five contains a script.
    pub summary: String,
}

/// An entry that was published manually.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Announced {
    pub published_at: Timestamp,
    pub title: String,
}

impl Feed {
    /// The newest entry's time and the number published manually: together they identify a state of
    /// the document, without writing it.
    pub fn state(&self, announced: &[Announced], at: Timestamp) -> (Option<Timestamp>, usize) {
        let by_hand = announced.iter().filter(|it| it.published_at <= at);
        let newest_by_hand = by_hand.clone().map(|it| it.published_at).max();
        let newest = self.habit.newest(at, 1).first().copied();
        (newest.max(newest_by_hand), by_hand.count())
    }

    /// What the document shows at a moment, newest first.
    pub fn entries(&self, announced: &[Announced], at: Timestamp, base_url: &str) -> Vec<Entry> {
        let times = self.habit.newest(at, self.shown);
        let own = times.into_iter().map(|at| self.entry(at, base_url));
        let by_hand = announced.iter().enumerate();
        let by_hand = by_hand.filter(|(_, it)| it.published_at <= at);
        let mut entries: Vec<Entry> = by_hand
            .map(|(index, it)| self.announced_entry(index, it, base_url))
            .chain(own)
            .collect();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.published_at));
        entries.truncate(self.shown);
        entries
    }

    /// A feed's title.
    pub fn title(&self) -> String {
        let title = self
            .language
            .title(&mut Chance::of(self.habit.seed, &[u64::MAX]));
        format!("{title} #{}", self.number)
    }

    /// How far its local time is ahead of UTC.
    pub fn offset(&self, at: Timestamp) -> Offset {
        self.habit.zone.to_offset(at)
    }

    fn entry(&self, at: Timestamp, base_url: &str) -> Entry {
        let second = at.as_second();
        let mut chance = Chance::of(self.habit.seed, &[second.cast_unsigned(), 1]);
        let title = self.language.title(&mut chance);
        self.finish(second.to_string(), at, title, &mut chance, base_url)
    }

    fn announced_entry(&self, index: usize, it: &Announced, base_url: &str) -> Entry {
        let at = it.published_at;
        let key = format!("{}-by-hand-{index}", at.as_second());
        let mut chance = Chance::of(self.habit.seed, &[index as u64, 2]);
        self.finish(key, at, it.title.clone(), &mut chance, base_url)
    }

    fn finish(
        &self,
        key: String,
        published_at: Timestamp,
        title: String,
        chance: &mut Chance,
        base_url: &str,
    ) -> Entry {
        let number = self.number;
        let page = format!("{base_url}/feeds/{number}/entries/{key}");
        let id = match self.ids {
            Ids::Link => Some(page.clone()),
            Ids::Tag => Some(format!("tag:feeds.example,2020:{number}/{key}")),
            Ids::Opaque => Some(format!(
                "{:016x}",
                Chance::of(number.into(), &[chance.next_u64()]).next_u64()
            )),
            Ids::None => None,
        };
        let link = if self.trackers {
            format!("{page}?utm_source=rss&utm_medium=feed")
        } else {
            page
        };
        Entry {
            key,
            published_at,
            title,
            link,
            id,
            summary: summary(&self.language.text(chance), chance),
        }
    }
}

/// Most summaries are harmless; some contain markup that readers must remove.
fn summary(text: &str, chance: &mut Chance) -> String {
    let text = super::document::escape(text);
    match chance.below(10) {
        0 => format!("<p>{text}</p><script>document.title = 'taken over'</script>"),
        1 => format!("<p onclick=\"steal()\">{text}</p><img src=\"x\" onerror=\"steal()\">"),
        2..5 => format!("<p>{text} <a href=\"/about\">…</a></p><p><em>{text}</em></p>"),
        _ => format!("<p>{text}</p>"),
    }
}
