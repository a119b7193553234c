//! JSON Feed. It is short enough to be read field by field, so that a number where a text should
//! be, or a title that is missing, does not cost the whole feed.

use almanack_core::source::{check::Document, entry::Enclosure, hub::NamedHub};
use serde_json::Value;
use url::Url;

use super::{
    date,
    draft::{self, Against, Draft},
    hub, json,
    markup::Markup,
};

/// Whether a document is a JSON Feed.
pub(crate) fn is_feed(document: &Value) -> bool {
    let version = document.get("version").and_then(Value::as_str);
    version.is_some_and(|version| version.contains("jsonfeed.org/version/"))
        && document.get("items").is_some_and(Value::is_array)
}

pub(crate) fn read(document: &Value, base: &Url, against: &Against) -> Document {
    let items = document.get("items").and_then(Value::as_array);
    let authors = author(document);
    let drafts = items.into_iter().flatten().map(|item| {
        let mut draft = draft(item);
        draft.author = draft.author.or_else(|| authors.clone());
        draft
    });
    let mut read = draft::document(text(document, "title"), drafts.collect(), base, against);
    read.hub = hub_of(document, base);
    read
}

/// A hub may be of another protocol.
fn hub_of(document: &Value, base: &Url) -> Option<NamedHub> {
    let hubs = document.get("hubs").and_then(Value::as_array);
    let is_ours = |hub: &&Value| {
        let kind = hub.get("type").and_then(Value::as_str);
        kind.is_some_and(|kind| kind.eq_ignore_ascii_case("websub"))
    };
    let hub = hubs.into_iter().flatten().find(is_ours)?;
    let hub = ("hub", hub.get("url")?.as_str()?);
    let own = document.get("feed_url").and_then(Value::as_str);
    let own = own.map(|own| ("self", own));
    hub::of_links([Some(hub), own].into_iter().flatten(), base)
}

fn draft(item: &Value) -> Draft {
    let html = text(item, "content_html").map(Markup::Html);
    let date = text(item, "date_published").or_else(|| text(item, "date_modified"));
    Draft {
        id: text(item, "id"),
        link: text(item, "url").or_else(|| text(item, "external_url")),
        title: text(item, "title").unwrap_or_default(),
        published_at: date.and_then(|date| date::parse(&date)),
        author: author(item),
        summary: text(item, "summary").map(Markup::Text),
        content: html.or_else(|| text(item, "content_text").map(Markup::Text)),
        enclosures: list(item, "attachments").filter_map(file).collect(),
        categories: list(item, "tags").filter_map(json::text).collect(),
        base: None,
    }
}

fn file(attachment: &Value) -> Option<Enclosure> {
    Some(Enclosure {
        url: text(attachment, "url")?,
        media_type: text(attachment, "mime_type"),
        length: attachment.get("size_in_bytes").and_then(Value::as_u64),
    })
}

fn list<'a>(item: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    let list = item.get(field).and_then(Value::as_array);
    list.into_iter().flatten()
}

/// Version 1.1 lists authors, version 1 has one.
fn author(value: &Value) -> Option<String> {
    let author = value.get("authors").and_then(|authors| authors.get(0));
    text(author.or_else(|| value.get("author"))?, "name")
}

fn text(value: &Value, field: &str) -> Option<String> {
    json::text(value.get(field)?)
}
