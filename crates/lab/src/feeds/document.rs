//! Documents: the same entries in every form that feeds come in.
//!
//! Written by hand, not with a library: what readers meet is what people's scripts write, and each
//! form keeps the habits of its kind (CDATA or escaped HTML, dates inside or none, relative links).

mod json;
mod markup;
mod rss;

use jiff::{Timestamp, fmt::rfc2822::DateTimePrinter, tz::Offset};
use serde::Serialize;

use super::feed::{Charset, Declared, Entry, Feed};

/// A form of document.
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

    /// The last part of its address.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Rss2 => "rss.xml",
            Self::Rss1 => "rdf.xml",
            Self::Rss091 => "rss091.xml",
            Self::Atom => "atom.xml",
            Self::JsonFeed => "feed.json",
            Self::Page => "list.html",
            Self::Api => "api.json",
            Self::Sitemap => "sitemap.xml",
        }
    }

    /// The form with that file name.
    pub fn named(file_name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.file_name() == file_name)
    }

    /// Its media type, without the charset.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Rss2 | Self::Rss091 => "application/rss+xml",
            Self::Rss1 => "application/rdf+xml",
            Self::Atom => "application/atom+xml",
            Self::JsonFeed => "application/feed+json",
            Self::Page => "text/html",
            Self::Api => "application/json",
            Self::Sitemap => "application/xml",
        }
    }

    /// Whether feed readers understand it; the others need selectors or paths.
    pub fn is_feed(self) -> bool {
        !matches!(self, Self::Page | Self::Api | Self::Sitemap)
    }

    /// Whether its entries carry their time.
    pub fn is_dated(self) -> bool {
        self != Self::Rss091
    }

    /// Whether it can say when to look again.
    pub fn is_rss2(self) -> bool {
        self == Self::Rss2
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
        Document::Rss2 => rss::rss2(feed, entries, base_url),
        Document::Rss1 => rss::rss1(feed, entries, base_url),
        Document::Rss091 => rss::rss091(feed, entries, base_url),
        Document::Atom => markup::atom(feed, entries, base_url),
        Document::Sitemap => markup::sitemap(feed, entries),
        Document::Page => markup::page(feed, entries),
        Document::JsonFeed => json::json_feed(feed, entries, base_url),
        Document::Api => json::api(feed, entries),
    };
    let media_type = document.media_type();
    if document.is_json() {
        return Written {
            content_type: media_type.to_owned(),
            bytes: text.into_bytes(),
        };
    }
    let in_header = feed.declared != Declared::Inside;
    let content_type = if in_header {
        format!("{media_type}; charset={}", feed.charset.label())
    } else {
        media_type.to_owned()
    };
    Written {
        content_type,
        bytes: feed.charset.encode(&text),
    }
}

/// The page of a site: what a person sees, and where a program discovers the feeds.
pub fn front_page(feeds: &[Feed], base_url: &str) -> String {
    markup::front_page(feeds, base_url)
}

/// The page of one entry.
pub fn entry_page(feed: &Feed, entry: &Entry) -> String {
    markup::entry_page(feed, entry)
}

impl Charset {
    /// As people write it in headers and declarations.
    pub fn label(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Gb18030 => "GB18030",
            Self::Windows1251 => "windows-1251",
            Self::ShiftJis => "Shift_JIS",
        }
    }

    /// The bytes of a text; letters it does not have become character references.
    pub fn encode(self, text: &str) -> Vec<u8> {
        let encoding = match self {
            Self::Utf8 => encoding_rs::UTF_8,
            Self::Gb18030 => encoding_rs::GB18030,
            Self::Windows1251 => encoding_rs::WINDOWS_1251,
            Self::ShiftJis => encoding_rs::SHIFT_JIS,
        };
        encoding.encode(text).0.into_owned()
    }
}

/// Makes text safe inside an element or a quoted attribute.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
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

/// The XML declaration, with the charset where the feed tells it inside.
fn declaration(feed: &Feed) -> String {
    if feed.declared == Declared::Header {
        return "<?xml version=\"1.0\"?>\n".to_owned();
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"{}\"?>\n",
        feed.charset.label()
    )
}

#[cfg(test)]
mod tests;
