//! The pages themselves. Whatever others wrote passes through maud, which escapes it.

use std::sync::LazyLock;

use almanack_core::edition::document::{Document, Printed};
use almanack_core::store::EditionLine;
use almanack_engine::editions::Settings;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use jiff::civil::Date;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::labels::Labels;
use crate::prelude::*;

const STYLE: &str = include_str!("style.css");

/// Nothing runs, nothing is loaded, nothing frames it; the one style is known by its hash.
static POLICY: LazyLock<Option<HeaderValue>> = LazyLock::new(|| {
    let hash = BASE64_STANDARD.encode(Sha256::digest(STYLE));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    HeaderValue::try_from(policy).ok()
});

/// An answer with a page.
pub(super) fn respond(status: StatusCode, page: String) -> Response {
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    let mut response = (status, page).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, kind);
    guard(headers);
    response
}

/// Says what a page may do.
pub(super) fn guard(headers: &mut HeaderMap) {
    let policy = POLICY.clone();
    headers.extend(policy.map(|policy| (header::CONTENT_SECURITY_POLICY, policy)));
}

fn page(language: &str, title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang=(language) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                link rel="alternate" type="application/atom+xml" href="/editions/feed.xml";
                style { (PreEscaped(STYLE)) }
            }
            body { (body) }
        }
    }
}

pub(super) fn edition(document: &Document) -> Markup {
    let inputs = &document.inputs;
    let labels = Labels::of(&inputs.language);
    let title = format!("{} · {}", inputs.title, inputs.date);
    let body = html! {
        header {
            h1 { (inputs.title) }
            p { time datetime=(inputs.date) { (inputs.date) } }
            (ways(labels, true))
        }
        main { (stories(document)) }
        footer {
            dl {
                dt { (labels.revision) } dd { (inputs.revision) }
                @if inputs.left_out > 0 { dt { (labels.left_out) } dd { (inputs.left_out) } }
                dt { (labels.digest) } dd { code { (document.body_digest) } }
            }
            p { "Almanack" }
        }
    };
    page(&inputs.language, &title, &body)
}

/// The ways out of a page.
fn ways(labels: &Labels, to_index: bool) -> Markup {
    html! {
        nav {
            @if to_index { a href="/editions" { (labels.all) } }
            a href="/editions/feed.xml" type="application/atom+xml" { (labels.subscribe) }
        }
    }
}

/// The stories of a document, as they also stand in the feed.
pub(super) fn stories(document: &Document) -> Markup {
    let labels = Labels::of(&document.inputs.language);
    html! {
        @for printed in &document.inputs.stories { (story(printed, labels)) }
    }
}

fn story(story: &Printed, labels: &Labels) -> Markup {
    let instead = labels.instead(story.note);
    html! {
        article {
            h2 {
                span class="rank" { (story.rank) "." }
                (link(&story.url, &story.title))
            }
            @if story.original_title != story.title {
                // Whichever language it is in, it is not the page's.
                p class="original" lang="" { (story.original_title) }
            }
            (meta(story, labels))
            h3 { (labels.description) }
            (paragraphs(story.content_summary.as_deref().unwrap_or(instead)))
            h3 { (labels.comments) }
            (paragraphs(story.comment_summary.as_deref().unwrap_or(labels.no_comments)))
            @if let Some(url) = &story.discussion_url {
                p class="meta" { (link(url, labels.discussion)) }
            }
        }
    }
}

fn meta(story: &Printed, labels: &Labels) -> Markup {
    let published = story
        .published_at
        .map(|at| html! { (labels.published) " " (instant(at)) });
    let score = story
        .score
        .map(|score| html! { (score) " " (labels.points) });
    let host = host(&story.url).map(|host| html! { (host) });
    let known: Vec<Markup> = [published, score, host].into_iter().flatten().collect();
    html! {
        @if !known.is_empty() {
            p class="meta" {
                @for (place, part) in known.iter().enumerate() {
                    @if place > 0 { " · " }
                    (part)
                }
            }
        }
    }
}

fn instant(at: Timestamp) -> Markup {
    html! { time datetime=(at) { (at.strftime("%Y-%m-%d %H:%M UTC")) } }
}

/// A link where the address is one of the web; the words alone where it is anything else.
fn link(url: &str, words: &str) -> Markup {
    let words = if words.trim().is_empty() { url } else { words };
    html! {
        @if is_web(url) {
            a href=(url) rel="noopener noreferrer" { (words) }
        } @else {
            (words)
        }
    }
}

/// Whether an address leads into the web and nowhere else: `javascript:` and its kin must not become links.
pub(crate) fn is_web(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    let known =
        |scheme: &str| scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
    scheme.is_some_and(known) && !url.contains(|c: char| c.is_control() || c.is_whitespace())
}

/// Where an address of the web leads.
fn host(url: &str) -> Option<&str> {
    let rest = url.split_once("://").filter(|_| is_web(url))?.1;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    authority.rsplit('@').next().filter(|host| !host.is_empty())
}

/// A text by its blank lines.
fn paragraphs(text: &str) -> Markup {
    let text = text.replace("\r\n", "\n");
    html! {
        @for paragraph in text.split("\n\n").map(str::trim).filter(|p| !p.is_empty()) {
            p { (paragraph) }
        }
    }
}

/// The list of published editions.
pub(super) fn index(settings: &Settings, lines: &[EditionLine], older: Option<Date>) -> Markup {
    let labels = Labels::of(&settings.language);
    let body = html! {
        header {
            h1 { (settings.title) }
            (ways(labels, false))
        }
        main {
            @if lines.is_empty() { p { (labels.none_yet) } }
            ol class="index" {
                @for line in lines { (index_line(line, labels)) }
            }
            @if let Some(before) = older {
                p { a href={ "/editions?before=" (before) } rel="next" { (labels.older) } }
            }
        }
    };
    page(&settings.language, &settings.title, &body)
}

fn index_line(line: &EditionLine, labels: &Labels) -> Markup {
    let date = line.edition.date;
    html! {
        li {
            a href={ "/editions/" (date) } { time datetime=(date) { (date) } }
            @if let Some(at) = line.edition.published_at {
                span class="meta" { (labels.published) " " (instant(at)) }
            }
        }
    }
}

pub(super) fn wrong(status: StatusCode, message: &str) -> Markup {
    let name = status.canonical_reason().unwrap_or("Error");
    let body = html! {
        header { h1 { (name) } }
        main { p { (message) } }
        footer { nav { a href="/editions" { "All editions" } } }
    };
    page("en", name, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_web_become_links() {
        for (url, web) in [
            ("https://a.example/x?y=1#z", true),
            ("HTTP://a.example", true),
            ("https://例子.测试/路径", true),
            ("javascript:alert(1)", false),
            ("javascript://a.example/%0aalert(1)", false),
            (" https://a.example", false),
            ("java\nscript:alert(1)", false),
            ("https://a.example/\nx", false),
            ("data:text/html,<script>", false),
            ("//a.example", false),
            ("/editions", false),
            ("", false),
        ] {
            assert_eq!(is_web(url), web, "{url:?}");
        }
    }

    #[test]
    fn a_host_is_what_a_browser_would_ask() {
        for (url, found) in [
            ("https://a.example/x", Some("a.example")),
            ("https://a.example:81", Some("a.example:81")),
            ("https://good.example@evil.example/", Some("evil.example")),
            ("https:///", None),
            ("javascript:alert(1)", None),
        ] {
            assert_eq!(host(url), found, "{url}");
        }
    }
}
