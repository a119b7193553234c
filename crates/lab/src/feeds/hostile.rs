//! Hostile and broken documents, by name: each breaks some reader, and none may break Almanack.
//!
//! Every one has an address, `/hostile/{name}`, and can replace a feed by
//! [`Fault::Serve`](super::fault::Fault::Serve). They are built as values first, so that tests can
//! prove each to be what its name claims.

mod bomb;
mod content;
mod opml;
mod transport;

use std::fmt::Write as _;

use jiff::Timestamp;

use crate::reply::{Answer, Reply};

/// `Content-Type` of a feed that pretends to be valid.
const RSS: &str = "application/rss+xml; charset=utf-8";
/// `Content-Type` of a page.
const HTML: &str = "text/html; charset=utf-8";

/// Where and when a document is requested.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The server's address as the client reached it, without a trailing slash.
    pub base_url: &'a str,
    pub now: Timestamp,
}

/// A document with a name.
#[derive(Debug, Clone, Copy)]
pub struct Hostile {
    /// The last part of its address.
    pub name: &'static str,
    /// What is wrong with it.
    pub what: &'static str,
}

/// All that have a fixed name, in the order of a tour.
pub fn all() -> impl Iterator<Item = Hostile> {
    let lines = include_str!("hostile/names.txt").lines();
    lines.filter_map(|line| {
        let (name, what) = line.split_once(": ")?;
        Some(Hostile { name, what })
    })
}

/// The response for a name. In addition to the fixed names: `hops/{n}` redirects n times and then
/// serves a feed, `redirect-forever/{n}` never repeats an address and never ends, and
/// `redirect-private/{which}` leads to a private address.
pub fn answer(name: &str, place: &Place<'_>) -> Option<Answer> {
    content::answer(name)
        .or_else(|| bomb::answer(name, place))
        .or_else(|| transport::answer(name, place))
        .or_else(|| opml::answer(name, place))
        .or_else(|| transport::numbered(name, place).map(Answer::Reply))
}

/// Where `redirect-private/{which}` leads: the names and the addresses.
pub fn private_targets() -> &'static [(&'static str, &'static str)] {
    transport::PRIVATE
}

/// Text of a feed with these items.
fn feed_with(items: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<rss version=\"2.0\"><channel>\
         <title>A feed</title><link>http://feeds.example/</link><description>d</description>\n\
         {items}</channel></rss>\n"
    )
}

/// What comes before and after the items of a feed.
fn around() -> (String, String) {
    let whole = feed_with("\u{0}");
    let (head, tail) = whole.split_once('\u{0}').unwrap_or((&whole, ""));
    (head.to_owned(), tail.to_owned())
}

/// A valid item.
fn item(number: usize) -> String {
    let day = number % 28 + 1;
    format!(
        "<item><title>Entry {number}</title><link>http://feeds.example/{number}</link>\
         <guid isPermaLink=\"false\">entry-{number}</guid>\
         <pubDate>{day:02} Jan 2026 08:00:00 +0000</pubDate><description>Text</description></item>\n"
    )
}

/// Entities of which each contains ten of the one before: the last is a billion laughs.
fn laugh_entities() -> String {
    let mut entities = String::from("<!ENTITY l0 \"lol\">");
    for level in 1..10 {
        let ten = format!("&l{};", level - 1).repeat(10);
        let _ = write!(entities, "<!ENTITY l{level} \"{ten}\">");
    }
    entities
}

fn feed(items: &str) -> Reply {
    Reply::new(RSS, feed_with(items))
}

#[cfg(test)]
mod tests;
