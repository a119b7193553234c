//! What every fuzz target holds a reader to.
//!
//! A target fails when a reader panics, takes too long, or breaks a promise of `adapters::feed`:
//! what comes out keeps to the limits of `core::source::entry`, has no control characters and no
//! markup that can run.

use std::collections::BTreeSet;

use almanack_adapters::feed;
use almanack_core::source::{
    check::{Document, Failure},
    entry::{
        CONTENT_BYTES_MAX, ENTRIES_PER_DOCUMENT, FoundEntry, KEY_BYTES_MAX, LINK_BYTES_MAX, SUMMARY_BYTES_MAX,
        TITLE_BYTES_MAX,
    },
    hints::{HONOURED_MAX, Hints},
    reading::Reading,
};
use jiff::Timestamp;
use url::Url;

/// When everything is read.
pub const NOW: Timestamp = Timestamp::constant(1_767_600_000, 0);
/// More than any sentence of ours needs.
const SENTENCE_BYTES_MAX: usize = 4000;

/// Reads `bytes` and looks at what came of them.
pub fn read(reading: &Reading, bytes: &[u8]) {
    // The first byte chooses what the server says, so that one corpus covers all of it.
    let (content_type, bytes) = match bytes.split_first() {
        Some((0, rest)) => (None, rest),
        Some((1, rest)) => (Some("text/xml; charset=gbk"), rest),
        _ => (Some("text/xml; charset=utf-8"), bytes),
    };
    let Ok(base) = Url::parse("https://site.example/blog/feed") else {
        return;
    };
    match feed::read(reading, bytes, content_type, &base, NOW) {
        Ok(document) => check_document(&document),
        Err(failure) => check_failure(&failure),
    }
}

fn check_failure(failure: &Failure) {
    check_line(&failure.detail, SENTENCE_BYTES_MAX);
    assert!(!failure.detail.is_empty(), "a failure without a word");
}

fn check_document(document: &Document) {
    assert!(document.entries.len() <= ENTRIES_PER_DOCUMENT);
    let keys: BTreeSet<_> = document.entries.iter().map(FoundEntry::key).collect();
    assert_eq!(keys.len(), document.entries.len(), "an entry came twice");
    assert!(
        !keys.contains(&None),
        "an entry without a key"
    );
    for found in &document.entries {
        check_entry(found);
    }
    if let Some(title) = &document.title {
        check_line(title, TITLE_BYTES_MAX);
    }
    check_hints(&document.hints);
}

fn check_entry(found: &FoundEntry) {
    let key = found.key().unwrap_or_default();
    check_line(&key, KEY_BYTES_MAX);
    check_line(&found.title, TITLE_BYTES_MAX);
    for line in [&found.id, &found.link, &found.author]
        .into_iter()
        .flatten()
    {
        check_line(line, LINK_BYTES_MAX);
    }
    if let Some(link) = &found.link {
        assert!(link.starts_with("http://") || link.starts_with("https://"));
    }
    assert!(found.enclosures.len() <= 10 && found.categories.len() <= 20);
    for file in &found.enclosures {
        check_line(&file.url, LINK_BYTES_MAX);
        assert!(file.url.starts_with("http://") || file.url.starts_with("https://"));
        check_line(file.media_type.as_deref().unwrap_or_default(), 100);
    }
    for category in &found.categories {
        check_line(category, 100);
    }
    check_markup(found.summary.as_deref(), SUMMARY_BYTES_MAX);
    check_markup(found.content.as_deref(), CONTENT_BYTES_MAX);
}

fn check_line(text: &str, bytes_max: usize) {
    assert!(text.len() <= bytes_max, "{} bytes", text.len());
    assert!(!text.contains(char::is_control), "{text:?}");
}

fn check_markup(markup: Option<&str>, bytes_max: usize) {
    let Some(markup) = markup else { return };
    assert!(markup.len() <= bytes_max && !markup.is_empty());
    let strange = |char: char| char.is_control() && !matches!(char, '\n' | '\t');
    assert!(!markup.contains(strange), "{markup:?}");
    let lower = markup.to_ascii_lowercase();
    for word in ["<script", "<style", "<iframe"] {
        assert!(!lower.contains(word), "{markup}");
    }
    // As plain text it does no harm.
    let mut tags = lower.split('<').skip(1);
    let runs = |tag: &str| {
        let tag = tag.split('>').next().unwrap_or_default();
        tag.contains("href=\"javascript:")
    };
    assert!(!tags.any(runs), "{markup}");
}

/// Hints delay a check, by a day at most, and never hurry it.
pub fn check_hints(hints: &Hints) {
    let at = hints.not_before(NOW, NOW);
    assert!(
        at >= NOW && at.duration_since(NOW) <= HONOURED_MAX,
        "{hints:?}"
    );
}
