//! A feed's document over HTTP: validators, 304, compression and caching headers.
//!
//! The tag is a hash of the feed's state, which is cheap to compute; a request that changes nothing
//! is answered without writing the document at all.

pub(super) mod pack;

use jiff::{Timestamp, fmt::rfc2822::DateTimeParser};

use super::{
    document::{self, Document},
    feed::{Announced, Feed},
};
use crate::{
    chance::Chance,
    reply::{Reply, http_date},
};

/// Smaller bodies are not worth compressing.
const PACK_ABOVE: usize = 256;

/// The request headers for validators and encodings.
#[derive(Debug, Clone, Default)]
pub struct RequestHeaders {
    /// `If-None-Match`, as sent.
    pub if_none_match: Option<String>,
    /// `If-Modified-Since`, as sent.
    pub if_modified_since: Option<String>,
    /// Whether `Accept-Encoding` names gzip.
    pub gzip: bool,
    /// Whether `Accept-Encoding` names brotli.
    pub brotli: bool,
}

impl RequestHeaders {
    /// Whether the client sent validators.
    pub fn is_conditional(&self) -> bool {
        self.if_none_match.is_some() || self.if_modified_since.is_some()
    }
}

/// Answers a request for a feed's document.
pub fn answer(
    feed: &Feed,
    document: Document,
    announced: &[Announced],
    asked: &RequestHeaders,
    (now, base_url): (Timestamp, &str),
) -> Reply {
    let state = feed.state(announced, now);
    let packing = packing(feed, asked);
    let tag = tag(feed, document, state);
    // A strong tag names bytes, so each encoding has its own.
    let suffix = packing.map_or_else(String::new, |name| format!("-{name}"));
    let mut headers = validators(feed, state.0, &format!("\"{tag}{suffix}\""));
    headers.push(("vary", "Accept-Encoding".to_owned()));
    if let Some(max_age_s) = feed.hints.max_age_s {
        headers.push(("cache-control", format!("public, max-age={max_age_s}")));
    }
    if is_unchanged(feed, &tag, state.0, asked) {
        let unchanged = Reply::status(304, "");
        return Reply {
            headers,
            ..unchanged
        };
    }
    let entries = feed.entries(announced, now, base_url);
    let written = document::write(document, feed, &entries, base_url);
    let mut reply = match packed(&written.bytes, packing) {
        Some((name, bytes)) => {
            Reply::new(&written.content_type, bytes).with("content-encoding", name)
        }
        None => Reply::new(&written.content_type, written.bytes),
    };
    reply.headers.append(&mut headers);
    reply
}

/// Different for every state of every form of every feed.
fn tag(feed: &Feed, document: Document, state: (Option<Timestamp>, usize)) -> String {
    let newest = state.0.map_or(0, |at| at.as_second().cast_unsigned());
    let path = [newest, state.1 as u64, document as u64];
    format!("{:016x}", Chance::of(feed.habit.seed, &path).next_u64())
}

fn validators(feed: &Feed, newest_at: Option<Timestamp>, tag: &str) -> Vec<(&'static str, String)> {
    let mut headers = Vec::with_capacity(6);
    if feed.etag {
        headers.push(("etag", tag.to_owned()));
    }
    if let Some(at) = newest_at.filter(|_| feed.last_modified) {
        headers.push(("last-modified", http_date(at)));
    }
    headers
}

/// By the tag if both have one; otherwise by the time (RFC 9110, 13.2.2).
fn is_unchanged(
    feed: &Feed,
    tag: &str,
    newest_at: Option<Timestamp>,
    asked: &RequestHeaders,
) -> bool {
    if let Some(sent) = &asked.if_none_match {
        return feed.etag && names(sent, tag);
    }
    let since = asked.if_modified_since.as_deref();
    let since = since.and_then(|text| DateTimeParser::new().parse_timestamp(text).ok());
    match (feed.last_modified, since, newest_at) {
        (true, Some(since), Some(newest_at)) => newest_at.as_second() <= since.as_second(),
        _ => false,
    }
}

/// Whether a list of tags names ours, in any of its encodings.
fn names(list: &str, tag: &str) -> bool {
    list.split(',').any(|one| {
        let one = one.trim();
        let quoted = one.strip_prefix("W/").unwrap_or(one);
        let bare = quoted.trim_matches('"');
        let bare = bare
            .strip_suffix("-gzip")
            .or(bare.strip_suffix("-br"))
            .unwrap_or(bare);
        one == "*" || bare == tag
    })
}

/// How a body is compressed, as in `Content-Encoding`.
fn packing(feed: &Feed, asked: &RequestHeaders) -> Option<&'static str> {
    if feed.brotli && asked.brotli {
        return Some("br");
    }
    (feed.gzip && asked.gzip).then_some("gzip")
}

fn packed(bytes: &[u8], packing: Option<&'static str>) -> Option<(&'static str, Vec<u8>)> {
    let name = packing.filter(|_| bytes.len() >= PACK_ABOVE)?;
    let packed = match name {
        "br" => pack::brotli(bytes)?,
        _ => pack::gzip(bytes)?,
    };
    Some((name, packed))
}

#[cfg(test)]
mod tests;
