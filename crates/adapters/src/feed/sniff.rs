//! Content sniffing: what an unexpected answer is, in a sentence that says what to do.
//!
//! "Not a feed" does not help. Most often it is the site's own page, whose feed is one line above;
//! or a login, or a file. The sentence quotes titles and addresses only, nothing else of an answer.

use almanack_core::source::check::{Failure, FailureClass};
use url::Url;

use super::{advertised, page, xml};

/// How much of a page is looked at.
const PAGE_BYTES_MAX: usize = 512 * 1024;

/// First bytes of files that are not text.
const FILES: [(&[u8], &str); 9] = [
    (b"\x89PNG", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"GIF8", "a picture (GIF)"),
    (b"RIFF", "a picture or a recording (RIFF)"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x1f\x8b", "a packed file (gzip)"),
    (b"ID3", "a recording (MP3)"),
    (b"\x7fELF", "a program"),
];

/// A failure for an answer that should have been `expected`.
pub(crate) fn describe(bytes: &[u8], text: &str, expected: &str, base: &Url) -> Failure {
    let (class, what) = what_it_is(bytes, text, base);
    Failure::new(class, format!("this is not {expected}: {what}"))
}

/// What kind of failure it is, and what the answer is.
type Described = (FailureClass, String);

fn other(what: impl Into<String>) -> Described {
    (FailureClass::NotAFeed, what.into())
}

fn what_it_is(bytes: &[u8], text: &str, base: &Url) -> Described {
    let trimmed = text.trim_start();
    if bytes.is_empty() {
        return other("the answer is empty");
    }
    if trimmed.is_empty() {
        return other("the answer is blank");
    }
    if let Some((_, kind)) = FILES.iter().find(|(start, _)| bytes.starts_with(start)) {
        return other(format!("it is {kind}"));
    }
    if bytes.iter().take(512).any(|byte| *byte == 0) {
        return other("it is a file, not text");
    }
    match trimmed.as_bytes().first() {
        Some(b'{' | b'[') => other("it is JSON, which a custom source can read by paths"),
        Some(b'<') => markup(trimmed, base),
        _ if is_page(trimmed) => web_page(trimmed, base),
        _ => other("it is plain text"),
    }
}

fn markup(text: &str, base: &Url) -> Described {
    let root = xml::root(&xml::mend(text)).map(|root| root.name);
    match root.as_deref() {
        _ if is_page(text) => web_page(text, base),
        Some("urlset" | "sitemapindex") => {
            other("it is a sitemap, which a custom source can read as one")
        }
        Some("opml") => other("it is an OPML list of feeds, which can be imported"),
        Some("Error" | "error") => other("it is an error message in XML"),
        Some("svg") => other("it is a picture (SVG)"),
        Some("rss" | "RDF" | "feed") => other("it is a feed"),
        Some(name) if name.len() <= 50 => other(format!("it is XML, but its root is <{name}>")),
        _ => web_page(text, base),
    }
}

fn is_page(text: &str) -> bool {
    let head = &text[..text.floor_char_boundary(2000)];
    let head = head.to_ascii_lowercase();
    ["<!doctype html", "<html", "<head", "<body"]
        .iter()
        .any(|tag| head.contains(tag))
}

fn web_page(text: &str, base: &Url) -> Described {
    let Ok(page) = page::parse(&text[..text.floor_char_boundary(PAGE_BYTES_MAX)]) else {
        return other("it is a web page");
    };
    let title = advertised::title_of(&page);
    let title = title.map_or_else(
        || " without a title".to_owned(),
        |title| format!(" titled “{title}”"),
    );
    let feeds = advertised::feeds_of(&page, base);
    match feeds.first() {
        Some(feed) => other(format!(
            "it is a web page{title}; its feed may be at {}",
            feed.address
        )),
        None if advertised::asks_for_password(&page) => (
            FailureClass::Unauthorised,
            format!("it is a login page{title}; without logging in there is nothing to read"),
        ),
        None => other(format!("it is a web page{title}")),
    }
}

#[cfg(test)]
mod tests;
