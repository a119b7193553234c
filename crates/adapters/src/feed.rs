//! Reading what a source shows: feeds, pages, JSON and sitemaps.
//!
//! ```text
//! bytes ─ charset ─► text ─┬─ feed:    xml (mend), syndication, json_feed ┐
//!                          ├─ page:    selectors ─────────────────────────┤
//!                          ├─ json:    paths ─────────────────────────────┼► drafts ─► document
//!                          └─ sitemap: pages ─────────────────────────────┘
//! ```
//!
//! [`read`] is pure and its work is bounded by the length of what it is given: nothing is expanded,
//! nothing recurses, nothing deeper than 512 is built. INVARIANT: whatever a document holds, what
//! comes out keeps to the limits of `core::source::entry`, holds no control characters and no
//! markup that can run (SS-12, SS-13). Times are the publisher's or absent, never ours: the time of
//! a check must not look like a rhythm of publication. A refusal in words is a failure, never an
//! entry (`soft_error`).

mod advertised;
mod answer;
mod attached;
pub(crate) mod blocking_pool;
pub(crate) mod charset;
pub mod checker;
pub mod date;
mod dialect;
mod discover;
mod draft;
mod fetch;
pub mod freshness;
pub(crate) mod html;
mod hub;
mod json;
mod json_feed;
mod markup;
mod page;
pub mod rules;
mod sitemap;
mod sniff;
mod soft_error;
mod syndication;
pub(crate) mod text;
pub mod websub;
pub(crate) mod xml;

use std::cell::LazyCell;

use almanack_core::source::{
    check::{Document, Failure, FailureClass},
    reading::Reading,
};
use jiff::Timestamp;
use url::Url;

use draft::Against;
use rules::RulesError;

/// Reads an answer of which nothing is known. `base` is the address it came from, after redirects.
pub fn read(
    reading: &Reading,
    bytes: &[u8],
    content_type: Option<&str>,
    base: &Url,
    now: Timestamp,
) -> Result<Document, Failure> {
    read_against(reading, bytes, content_type, base, &Against::nothing(now))
}

/// Reads an answer against what its source showed last time.
pub(crate) fn read_against(
    reading: &Reading,
    bytes: &[u8],
    content_type: Option<&str>,
    base: &Url,
    against: &Against,
) -> Result<Document, Failure> {
    // A sitemap may be packed; its text is needed only where it is none.
    let text = LazyCell::new(|| charset::decode_from(base.host_str(), bytes, content_type));
    let read = match reading {
        Reading::Feed => read_feed(bytes, &text, base, against),
        Reading::Html(rules) => page::Selectors::parse(rules)
            .map_err(|error| unusable(&error))?
            .read(&text, base, against),
        Reading::Json(rules) => json::Paths::parse(rules)
            .map_err(|error| unusable(&error))?
            .read(&text, base, against),
        Reading::Sitemap(rules) => {
            sitemap::validate(rules).map_err(|error| unusable(&error))?;
            sitemap::read(rules, bytes, content_type, base, against)
        }
    };
    soft_error::check(reading, read, || text.as_str())
}

/// Fails if an answer has one of the texts that people named as errors of its source.
pub(crate) fn check_error_texts(
    texts: &[String],
    bytes: &[u8],
    content_type: Option<&str>,
    base: &Url,
) -> Result<(), Failure> {
    if texts.is_empty() {
        return Ok(());
    }
    let text = charset::decode_from(base.host_str(), bytes, content_type);
    soft_error::check_named(texts, &text)
}

/// Whether rules can be read at all; asked before a source is stored.
pub fn validate(reading: &Reading) -> Result<(), RulesError> {
    match reading {
        Reading::Feed => Ok(()),
        Reading::Html(rules) => page::Selectors::parse(rules).map(drop),
        Reading::Json(rules) => json::Paths::parse(rules).map(drop),
        Reading::Sitemap(rules) => sitemap::validate(rules),
    }
}

fn read_feed(bytes: &[u8], text: &str, base: &Url, against: &Against) -> Result<Document, Failure> {
    let start = text.trim_start_matches(|char: char| char.is_whitespace() || char == '\u{feff}');
    if start.starts_with('{') {
        let document = json::parse(start)?;
        if json_feed::is_feed(&document) {
            return Ok(json_feed::read(&document, base, against));
        }
    } else if start.starts_with('<') {
        let mended = xml::mend(text);
        if let Some(root) = xml::root(&mended).filter(syndication::is_feed) {
            return syndication::read(&mended, &root, base, against);
        }
    }
    Err(sniff::describe(bytes, text, "a feed", base))
}

fn unusable(error: &RulesError) -> Failure {
    Failure::new(FailureClass::Rules, error.to_string())
}

#[cfg(test)]
mod tests;
