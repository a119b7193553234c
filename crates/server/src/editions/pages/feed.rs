//! The Atom feed of published editions (RFC 4287).
//!
//! An entry keeps its id for ever, whichever host name the node is reached by: an id that changed
//! with the host would make every entry look new.

use std::fmt::Write as _;

use almanack_core::edition::document::Document;
use almanack_engine::editions::Settings;
use axum::http::uri::Authority;
use sha2::{Digest, Sha256};

use super::html;
use crate::prelude::*;

/// The address of this node, as the request names it; empty if unknown, and links are then
/// relative.
pub(super) fn base(headers: &HeaderMap) -> String {
    let value = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let host = value(header::HOST)
        .and_then(|host| host.parse::<Authority>().ok())
        .filter(|host| !host.as_str().contains('@'));
    let forwarded = headers.get("x-forwarded-proto");
    let secure = forwarded.is_some_and(|scheme| scheme == "https");
    let scheme = if secure { "https" } else { "http" };
    host.map(|host| format!("{scheme}://{host}"))
        .unwrap_or_default()
}

pub(super) fn atom(settings: &Settings, base: &str, entries: &[(Document, Timestamp)]) -> String {
    let title = text(&settings.title);
    let updated = entries.iter().map(|(_, at)| *at).max();
    let updated = updated.unwrap_or(Timestamp::UNIX_EPOCH);
    let (base, language) = (text(base), text(&settings.language));
    let id = urn(&["feed", &settings.title]);
    let mut feed = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
    // Writing to a String cannot fail, here and below.
    let _ = write!(
        feed,
        "<feed xmlns=\"http://www.w3.org/2005/Atom\" xml:lang=\"{language}\">\n\
         <id>{id}</id>\n<title>{title}</title>\n<updated>{updated}</updated>\n\
         <author><name>{title}</name></author>\n<generator>Almanack</generator>\n\
         <link rel=\"self\" type=\"application/atom+xml\" href=\"{base}/editions/feed.xml\"/>\n\
         <link rel=\"alternate\" type=\"text/html\" href=\"{base}/editions\"/>\n"
    );
    for (document, published_at) in entries {
        entry(&mut feed, &base, document, *published_at);
    }
    feed.push_str("</feed>\n");
    feed
}

fn entry(feed: &mut String, base: &str, document: &Document, updated: Timestamp) {
    let inputs = &document.inputs;
    let (date, title) = (inputs.date, text(&inputs.title));
    let id = urn(&["edition", &inputs.title, &date.to_string()]);
    let language = text(&inputs.language);
    let content = text(&html::stories(document).into_string());
    let _ = write!(
        feed,
        "<entry xml:lang=\"{language}\">\n<id>{id}</id>\n<title>{title} · {date}</title>\n\
         <updated>{updated}</updated>\n\
         <link rel=\"alternate\" type=\"text/html\" href=\"{base}/editions/{date}\"/>\n\
         <content type=\"html\">{content}</content>\n</entry>\n"
    );
}

/// A permanent name derived from its content: a UUID of version 8, whose bits are
/// application-defined.
fn urn(parts: &[&str]) -> String {
    let mut bytes = Sha256::digest(format!("almanack\n{}", parts.join("\n")));
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = format!("{bytes:x}");
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &hex[part]);
    format!("urn:uuid:{}", parts.join("-"))
}

/// Text as XML allows it. Some characters are not allowed even when escaped.
fn text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' => escaped.push(c),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c < ' ' => {}
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_is_taken_only_from_a_host_that_is_one() {
        for (host, proto, expected) in [
            (Some("news.example"), None, "http://news.example"),
            (
                Some("news.example:8080"),
                Some("https"),
                "https://news.example:8080",
            ),
            (Some("[::1]:8080"), Some("javascript"), "http://[::1]:8080"),
            (Some("a@b.example"), None, ""),
            (Some("a.example/\"><x"), None, ""),
            (Some(""), None, ""),
            (None, None, ""),
        ] {
            let mut headers = HeaderMap::new();
            headers.extend(host.map(|host| (header::HOST, host.parse().unwrap())));
            if let Some(proto) = proto {
                headers.insert("x-forwarded-proto", proto.parse().unwrap());
            }
            assert_eq!(base(&headers), expected, "{host:?}");
        }
    }

    #[test]
    fn what_xml_cannot_hold_is_left_out() {
        assert_eq!(
            text("a\u{0}\u{8}<&\">\u{ffff}\n译"),
            "a&lt;&amp;&quot;&gt;\n译"
        );
    }

    #[test]
    fn a_name_is_the_same_for_ever_and_another_for_another_day() {
        let name = urn(&["edition", "Daily", "2026-01-05"]);
        assert_eq!(name, urn(&["edition", "Daily", "2026-01-05"]));
        assert_ne!(name, urn(&["edition", "Daily", "2026-01-06"]));
        assert_eq!(name.len(), "urn:uuid:".len() + 36);
        assert_eq!(name.as_bytes()["urn:uuid:".len() + 14], b'8');
    }
}
