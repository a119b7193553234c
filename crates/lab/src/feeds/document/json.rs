//! JSON Feed, and an API that nobody standardised.

use serde_json::{Value, json};

use super::rfc_3339;
use crate::feeds::feed::{Entry, Feed};

/// JSON Feed 1.1. Ids are required, so a feed without them uses its links.
pub(super) fn json_feed(feed: &Feed, entries: &[Entry], base_url: &str) -> String {
    let number = feed.number;
    let item = |entry: &Entry| {
        json!({
            "id": entry.id.as_ref().unwrap_or(&entry.link),
            "url": entry.link,
            "title": entry.title,
            "content_html": entry.summary,
            "date_published": rfc_3339(entry.published_at, feed.offset(entry.published_at)),
        })
    };
    json!({
        "version": "https://jsonfeed.org/version/1.1",
        "title": feed.title(),
        "language": feed.language.tag(),
        "home_page_url": format!("{base_url}/feeds/{number}/"),
        "feed_url": format!("{base_url}/feeds/{number}/feed.json"),
        "items": entries.iter().map(item).collect::<Vec<Value>>(),
    })
    .to_string()
}

/// Half of these APIs tell the time as text, the others as seconds.
pub(super) fn api(feed: &Feed, entries: &[Entry]) -> String {
    let item = |entry: &Entry| {
        let at = entry.published_at;
        let published_at = if feed.number.is_multiple_of(2) {
            json!(rfc_3339(at, feed.offset(at)))
        } else {
            json!(at.as_second())
        };
        json!({
            "id": entry.key,
            "title": entry.title,
            "url": entry.link,
            "published_at": published_at,
            "summary": entry.summary,
        })
    };
    let items: Vec<Value> = entries.iter().map(item).collect();
    json!({ "status": "ok", "data": { "count": items.len(), "items": items } }).to_string()
}
