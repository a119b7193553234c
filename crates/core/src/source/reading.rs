//! How an address is read: as a feed, or by rules of one's own.
//!
//! A feed needs no rules. A custom source names what to pick from a page (CSS selectors), from JSON
//! (paths as in RFC 9535) or from a sitemap. The rules are kept as written; whether a selector or
//! path can be read is the adapter's question, asked before a source is stored.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use super::SourceType;

/// How a source's address is read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "how", rename_all = "lowercase", deny_unknown_fields)]
pub enum Reading {
    /// RSS, Atom or JSON Feed, whichever it turns out to be.
    #[default]
    #[serde(deserialize_with = "without_rules")]
    Feed,
    /// A page, by CSS selectors.
    Html(HtmlRules),
    /// A JSON document, by paths.
    Json(JsonRules),
    /// A sitemap: every listed page is an entry.
    Sitemap(SitemapRules),
}

/// serde would overlook rules that a feed does not have.
fn without_rules<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct NoRules {}
    NoRules::deserialize(deserializer).map(|NoRules {}| ())
}

/// What to pick from a page. Selectors other than `item` are looked for inside an item; the names
/// are the founding documents'.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct HtmlRules {
    /// One per entry.
    pub item: String,
    /// The entry's title; the text of what matches.
    pub title: String,
    /// The entry's link: the first `href` at or inside what matches. The item itself when not
    /// given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// When it was published: a `datetime` attribute or text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// What to pick from JSON. Paths other than `items` start at an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct JsonRules {
    /// All entries.
    pub items: String,
    /// The entry's title.
    pub title: String,
    /// The entry's link; may be relative to the document's address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// What the entry is known by; the link when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// When it was published: text, or seconds or milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// Which pages of a sitemap count.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SitemapRules {
    /// Only pages whose address contains this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub containing: Option<String>,
}

impl Reading {
    /// What the founding documents call it: `rss` or `custom`.
    pub fn source_type(&self) -> SourceType {
        match self {
            Self::Feed => SourceType::Rss,
            Self::Html(_) | Self::Json(_) | Self::Sitemap(_) => SourceType::Custom,
        }
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Feed => "feed",
            Self::Html(_) => "page by selectors",
            Self::Json(_) => "JSON by paths",
            Self::Sitemap(_) => "sitemap",
        })
    }
}
