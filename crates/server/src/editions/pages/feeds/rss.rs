//! RSS 2.0, with the whole text in `content:encoded` as readers expect it.

use std::fmt::Write as _;

use jiff::{Timestamp, fmt::rfc2822};

use super::{Entry, Feed, text};

pub(super) fn write(feed: &Feed<'_>) -> String {
    let (title, here) = (text(&feed.settings.title), text(&feed.here));
    let language = text(&feed.settings.language);
    let built = date(feed.updated_at);
    let mut rss = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
    // Writing to a String cannot fail, here and below.
    let _ = write!(
        rss,
        "<rss version=\"2.0\" xmlns:atom=\"http://www.w3.org/2005/Atom\" \
         xmlns:content=\"http://purl.org/rss/1.0/modules/content/\">\n<channel>\n\
         <title>{title}</title>\n<link>{here}</link>\n<description>{title}</description>\n\
         <language>{language}</language>\n<lastBuildDate>{built}</lastBuildDate>\n\
         <generator>Almanack</generator>\n\
         <atom:link rel=\"self\" type=\"application/rss+xml\" href=\"{here}/rss.xml\"/>\n"
    );
    for entry in &feed.entries {
        push(&mut rss, entry);
    }
    rss.push_str("</channel>\n</rss>\n");
    rss
}

fn push(rss: &mut String, entry: &Entry) {
    let (id, title, url) = (&entry.id, text(&entry.title), text(&entry.url));
    let (summary, content) = (text(&entry.summary), text(&entry.content));
    let published = date(entry.published_at);
    let _ = write!(
        rss,
        "<item>\n<title>{title}</title>\n<link>{url}</link>\n\
         <guid isPermaLink=\"false\">{id}</guid>\n<pubDate>{published}</pubDate>\n\
         <description>{summary}</description>\n\
         <content:encoded>{content}</content:encoded>\n</item>\n"
    );
}

/// An instant as RFC 822 writes it; nothing before the year 0.
fn date(at: Timestamp) -> String {
    rfc2822::DateTimePrinter::new()
        .timestamp_to_rfc9110_string(&at)
        .unwrap_or_default()
}
