//! Documents: the same entries in every format of feeds.
//!
//! Written without a library: real feeds come from people's scripts, and each format has typical
//! habits (CDATA or escaped HTML, dates inside or none, relative links).

mod forms;

use jiff::{Timestamp, fmt::rfc2822::DateTimePrinter, tz::Offset};
use serde::Serialize;

pub use self::forms::{entry_page, front_page};
use super::feed::{Declared, Entry, Feed};

/// A document format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Document {
    /// RSS 2.0.
    Rss2,
    /// RSS 1.0, which is RDF.
    Rss1,
    /// RSS 0.91: no ids and no dates.
    Rss091,
    Atom,
    /// JSON Feed 1.1.
    JsonFeed,
    /// A list in HTML: items `li.post` with `a.title`, `time[datetime]` and `p.summary`.
    Page,
    /// A JSON API: items at `$.data.items[*]` with `id`, `title`, `url`, `published_at`, `summary`.
    Api,
    /// A sitemap with news.
    Sitemap,
}

impl Document {
    pub const ALL: [Self; 8] = [
        Self::Rss2,
        Self::Rss1,
        Self::Rss091,
        Self::Atom,
        Self::JsonFeed,
        Self::Page,
        Self::Api,
        Self::Sitemap,
    ];

    /// The last part of its address, and its media type without the charset.
    fn parts(self) -> (&'static str, &'static str) {
        match self {
            Self::Rss2 => ("rss.xml", "application/rss+xml"),
            Self::Rss1 => ("rdf.xml", "application/rdf+xml"),
            Self::Rss091 => ("rss091.xml", "application/rss+xml"),
            Self::Atom => ("atom.xml", "application/atom+xml"),
            Self::JsonFeed => ("feed.json", "application/feed+json"),
            Self::Page => ("list.html", "text/html"),
            Self::Api => ("api.json", "application/json"),
            Self::Sitemap => ("sitemap.xml", "application/xml"),
        }
    }

    pub fn file_name(self) -> &'static str {
        self.parts().0
    }

    pub fn media_type(self) -> &'static str {
        self.parts().1
    }

    /// The format with that file name.
    pub fn named(file_name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.file_name() == file_name)
    }

    /// Whether feed readers understand it; the others need selectors or paths.
    pub fn is_feed(self) -> bool {
        !matches!(self, Self::Page | Self::Api | Self::Sitemap)
    }

    fn is_json(self) -> bool {
        matches!(self, Self::JsonFeed | Self::Api)
    }
}

/// A document before it is compressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Its `Content-Type`.
    pub content_type: String,
    /// Its bytes in the feed's charset.
    pub bytes: Vec<u8>,
}

/// Writes a feed's entries as a document.
pub fn write(document: Document, feed: &Feed, entries: &[Entry], base_url: &str) -> Written {
    let text = match document {
        Document::Rss2 => forms::rss2(feed, entries, base_url),
        Document::Rss1 => forms::rss1(feed, entries, base_url),
        Document::Rss091 => forms::rss091(feed, entries, base_url),
        Document::Atom => forms::atom(feed, entries, base_url),
        Document::Sitemap => forms::sitemap(feed, entries),
        Document::Page => forms::page(feed, entries),
        Document::JsonFeed => forms::json_feed(feed, entries, base_url),
        Document::Api => forms::api(feed, entries),
    };
    let media_type = document.media_type();
    let (charset, declared) = if document.is_json() {
        (encoding_rs::UTF_8, Declared::Inside)
    } else {
        (feed.charset, feed.declared)
    };
    Written {
        content_type: match declared {
            Declared::Inside => media_type.to_owned(),
            _ => format!("{media_type}; charset={}", charset.name()),
        },
        // Letters that the charset does not have become character references.
        bytes: charset.encode(&text).0.into_owned(),
    }
}

/// Makes text safe inside an element or a quoted attribute.
pub fn escape(text: &str) -> String {
    replaced(
        text,
        &[
            ('&', "&amp;"),
            ('<', "&lt;"),
            ('>', "&gt;"),
            ('"', "&quot;"),
        ],
    )
}

/// The text with letters replaced.
pub(crate) fn replaced(text: &str, by: &[(char, &str)]) -> String {
    let mut replaced = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match by.iter().find(|(from, _)| *from == letter) {
            Some((_, to)) => replaced.push_str(to),
            None => replaced.push(letter),
        }
    }
    replaced
}

/// `Mon, 05 Jan 2026 16:00:00 +0800`.
fn rfc_2822(at: Timestamp, offset: Offset) -> String {
    let zoned = at.to_zoned(offset.to_time_zone());
    let printed = DateTimePrinter::new().zoned_to_string(&zoned);
    printed.unwrap_or_default()
}

/// `2026-01-05T16:00:00+08:00`.
fn rfc_3339(at: Timestamp, offset: Offset) -> String {
    at.display_with_offset(offset).to_string()
}

#[cfg(test)]
mod tests;
