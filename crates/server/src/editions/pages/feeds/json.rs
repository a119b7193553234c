//! JSON Feed 1.1.

use serde_json::{Value, json};

use super::{Entry, Feed};

pub(super) fn write(feed: &Feed<'_>) -> String {
    let (title, here) = (&feed.settings.title, &feed.here);
    let items: Vec<Value> = feed.entries.iter().map(item).collect();
    let feed = json!({
        "version": "https://jsonfeed.org/version/1.1",
        "title": title,
        "home_page_url": here,
        "feed_url": format!("{here}/feed.json"),
        "language": feed.settings.language,
        "authors": [{ "name": title }],
        "items": items,
    });
    feed.to_string()
}

fn item(entry: &Entry) -> Value {
    let mut item = json!({
        "id": entry.id,
        "url": entry.url,
        "title": entry.title,
        "summary": entry.summary,
        "content_html": entry.content,
        "date_published": entry.published_at,
        "language": entry.language,
    });
    if let (Some(url), Some(item)) = (&entry.image_url, item.as_object_mut()) {
        item.insert("image".to_owned(), json!(url));
    }
    item
}
