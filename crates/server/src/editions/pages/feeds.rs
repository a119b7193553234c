//! Feeds of published editions: Atom (RFC 4287), RSS 2.0 and JSON Feed 1.1.
//!
//! An entry keeps its id for ever, whichever host name the node is reached by and whichever feed it
//! is read in: an id that changed with the host would make every entry look new.

mod atom;
mod json;
mod rss;

use almanack_core::edition::{document::Document, port::BadTemplate};
use almanack_engine::editions::{Editions, Settings};
use axum::{extract::Path, http::uri::Authority};
use sha2::{Digest, Sha256};

use super::{
    Wrong, as_page, html::Loads, is_known, published_lines, tag_of_list, template, unchanged, view,
    with_documents,
};
use crate::editions::{editions, editions_named, parse_name};
use crate::prelude::*;
use crate::ui::links::reader;

/// Editions in a feed.
const FEED_MAX: usize = 20;

/// A kind of feeds: its content type, and what writes it.
type Kind = (&'static str, fn(&Feed<'_>) -> String);
const ATOM: Kind = ("application/atom+xml; charset=utf-8", atom::write);
const RSS: Kind = ("application/rss+xml; charset=utf-8", rss::write);
const JSON: Kind = ("application/feed+json; charset=utf-8", json::write);

/// Published editions as an Atom feed.
#[utoipa::path(
    get, path = "/editions/feed.xml", tag = "pages",
    responses(
        (status = 200, description = "Atom", body = String, content_type = "application/atom+xml"),
        (status = 304, description = "Not modified"),
        (status = "4XX", description = "An error page", body = String, content_type = "text/html"),
    ),
)]
pub(crate) async fn atom_feed(State(state): App, headers: HeaderMap) -> Result<Response, Wrong> {
    answer(&state, editions(&state)?, &headers, ATOM).await
}

/// The published editions of one name as an Atom feed.
#[utoipa::path(
    get, path = "/editions/{name}/feed.xml", tag = "pages",
    responses(
        (status = 200, description = "Atom", body = String, content_type = "application/atom+xml"),
        (status = 304, description = "Not modified"),
        (status = "4XX", description = "An error page", body = String, content_type = "text/html"),
    ),
)]
pub(crate) async fn named_feed(
    State(state): App,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Wrong> {
    let editions = editions_named(&state, parse_name(&name)?)?;
    answer(&state, editions, &headers, ATOM).await
}

/// Published editions as an RSS 2.0 feed.
#[utoipa::path(
    get, path = "/editions/rss.xml", tag = "pages",
    responses(
        (status = 200, description = "RSS 2.0", body = String, content_type = "application/rss+xml"),
        (status = 304, description = "Not modified"),
        (status = "4XX", description = "An error page", body = String, content_type = "text/html"),
    ),
)]
pub(crate) async fn rss_feed(State(state): App, headers: HeaderMap) -> Result<Response, Wrong> {
    answer(&state, editions(&state)?, &headers, RSS).await
}

/// The published editions of one name as an RSS 2.0 feed.
#[utoipa::path(
    get, path = "/editions/{name}/rss.xml", tag = "pages",
    responses(
        (status = 200, description = "RSS 2.0", body = String, content_type = "application/rss+xml"),
        (status = 304, description = "Not modified"),
        (status = "4XX", description = "An error page", body = String, content_type = "text/html"),
    ),
)]
pub(crate) async fn named_rss_feed(
    State(state): App,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Wrong> {
    let editions = editions_named(&state, parse_name(&name)?)?;
    answer(&state, editions, &headers, RSS).await
}

/// Published editions as a JSON Feed 1.1.
#[utoipa::path(
    get, path = "/editions/feed.json", tag = "pages",
    responses(
        (status = 200, description = "JSON Feed 1.1", body = Object, content_type = "application/feed+json"),
        (status = 304, description = "Not modified"),
        (status = "4XX", description = "An error page", body = String, content_type = "text/html"),
    ),
)]
pub(crate) async fn json_feed(State(state): App, headers: HeaderMap) -> Result<Response, Wrong> {
    answer(&state, editions(&state)?, &headers, JSON).await
}

/// The published editions of one name as a JSON Feed 1.1.
#[utoipa::path(
    get, path = "/editions/{name}/feed.json", tag = "pages",
    responses(
        (status = 200, description = "JSON Feed 1.1", body = Object, content_type = "application/feed+json"),
        (status = 304, description = "Not modified"),
        (status = "4XX", description = "An error page", body = String, content_type = "text/html"),
    ),
)]
pub(crate) async fn named_json_feed(
    State(state): App,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Wrong> {
    let editions = editions_named(&state, parse_name(&name)?)?;
    answer(&state, editions, &headers, JSON).await
}

/// What every feed says, in its own way.
struct Feed<'a> {
    settings: &'a Settings,
    /// Where its editions are listed.
    here: String,
    id: String,
    updated_at: Timestamp,
    entries: Vec<Entry>,
}

/// One edition.
struct Entry {
    id: String,
    url: String,
    title: String,
    language: String,
    /// One line about it.
    summary: String,
    /// The whole of it, as HTML.
    content: String,
    /// The address of a picture.
    image_url: Option<String>,
    published_at: Timestamp,
}

async fn answer(
    state: &AppState,
    editions: &Editions,
    headers: &HeaderMap,
    (content_type, write): Kind,
) -> Result<Response, Wrong> {
    let lines = published_lines(editions, None, FEED_MAX).await?;
    let base = base(headers);
    let tag = tag_of_list(state, &format!("{content_type} {base}"), &lines);
    if is_known(headers, &tag) {
        return Ok(unchanged(state, &tag, Loads::Nothing));
    }
    let mut entries = Vec::with_capacity(lines.len());
    for (line, document) in with_documents(editions, lines).await? {
        if let (Some(document), Some(at)) = (document, line.edition.published_at) {
            entries.push(Entry::of(&document, &base, at)?);
        }
    }
    let updated_at = entries.iter().map(|entry| entry.published_at).max();
    let settings = &editions.settings;
    let id = if settings.name.is_default() {
        urn(&["feed", &settings.title])
    } else {
        urn(&["feed", &settings.title, settings.name.as_str()])
    };
    let text = write(&Feed {
        settings,
        id,
        here: format!("{base}{}", reader(settings.name)),
        updated_at: updated_at.unwrap_or(Timestamp::UNIX_EPOCH),
        entries,
    });
    let kind = [(header::CONTENT_TYPE, content_type)];
    Ok((kind, as_page(state, &tag, text, Loads::Nothing)).into_response())
}

impl Entry {
    fn of(document: &Document, base: &str, published_at: Timestamp) -> Result<Self, BadTemplate> {
        let inputs = &document.inputs;
        let edition = inputs.id().to_string();
        let page = view::PageView::of(document, &view::Around::default());
        let image = |url: &&String| super::is_web(url);
        let images = inputs.stories.iter().filter_map(|it| it.image_url.as_ref());
        Ok(Self {
            id: urn(&["edition", &inputs.title, &edition]),
            url: format!("{base}/editions/{edition}"),
            title: format!("{} · {}", inputs.title, inputs.date),
            language: inputs.language.clone(),
            summary: view::description(inputs),
            content: template::content(&page)?,
            image_url: images.into_iter().find(image).cloned(),
            published_at,
        })
    }
}

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
pub(super) fn text(text: &str) -> String {
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
