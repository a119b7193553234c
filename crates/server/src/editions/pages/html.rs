//! The pages themselves. maud escapes all texts by others.

use std::sync::LazyLock;

use almanack_core::edition::document::{Document, Printed};
use almanack_core::edition::story::Note;
use almanack_core::store::EditionLine;
use almanack_engine::editions::Settings;
use axum::response::Html;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use jiff::civil::Date;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::prelude::*;
use crate::ui::lang::{Lang, words};

const STYLE: &str = include_str!("style.css");

/// Blocks scripts, loading and framing; the only style is allowed by its hash.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = BASE64_STANDARD.encode(Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
});

pub(super) fn respond(status: StatusCode, page: String) -> Response {
    (status, policy(), Html(page)).into_response()
}

/// The content security policy.
pub(super) fn policy() -> [(header::HeaderName, &'static str); 1] {
    [(header::CONTENT_SECURITY_POLICY, &POLICY)]
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

/// The language of the texts around the stories; English if theirs is not supported.
fn language(tag: &str) -> Lang {
    let main = tag.split(['-', '_']).next().unwrap_or_default();
    if main.eq_ignore_ascii_case("zh") {
        return Lang::Chinese;
    }
    Lang::English
}

/// Shown if an article has no summary.
fn instead(lang: Lang, note: Option<Note>) -> &'static str {
    words! { lang, note;
        Some(Note::TitleOnly) => "No description (the page could not be read; only its title is kept)",
            "暂无描述（未能读取原文，仅保留标题）";
        Some(Note::NotSummarised) => "No summary (the page could not be summarised)",
            "暂无摘要（摘要生成失败）";
        None => "No description", "暂无描述";
    }
}

pub(super) fn edition(document: &Document) -> Markup {
    let inputs = &document.inputs;
    let lang = language(&inputs.language);
    let title = format!("{} · {}", inputs.title, inputs.date);
    let body = html! {
        header {
            h1 { (inputs.title) }
            p { time datetime=(inputs.date) { (inputs.date) } }
            (ways(lang, true))
        }
        main { (stories(document)) }
        footer {
            dl {
                dt { (lang.pick("Revision", "修订")) } dd { (inputs.revision) }
                @if inputs.left_out > 0 { dt { (lang.pick("Stories left out", "未收录的文章数")) } dd { (inputs.left_out) } }
                dt { (lang.pick("Digest", "校验值")) } dd { code { (document.body_digest) } }
            }
            p { "Almanack" }
        }
    };
    page(&inputs.language, &title, &body)
}

/// Navigation links.
fn ways(lang: Lang, to_index: bool) -> Markup {
    html! {
        nav {
            @if to_index { a href="/editions" { (lang.pick("All editions", "全部日报")) } }
            a href="/editions/feed.xml" type="application/atom+xml" { (lang.pick("Atom feed", "Atom 订阅")) }
        }
    }
}

/// The stories of a document, also used in the feed.
pub(super) fn stories(document: &Document) -> Markup {
    let lang = language(&document.inputs.language);
    html! {
        @for printed in &document.inputs.stories { (story(printed, lang)) }
    }
}

fn story(story: &Printed, lang: Lang) -> Markup {
    let instead = instead(lang, story.note);
    html! {
        article {
            h2 {
                span class="rank" { (story.rank) "." }
                (link(&story.url, &story.title))
            }
            @if story.original_title != story.title {
                // Its language may differ from the page's.
                p class="original" lang="" { (story.original_title) }
            }
            (meta(story, lang))
            h3 { (lang.pick("Description", "描述")) }
            (paragraphs(story.content_summary.as_deref().unwrap_or(instead)))
            h3 { (lang.pick("Comments", "评论要点")) }
            (paragraphs(story.comment_summary.as_deref().unwrap_or(lang.pick("No comments", "暂无评论"))))
            @if let Some(url) = &story.discussion_url {
                p class="meta" { (link(url, lang.pick("Discussion", "讨论"))) }
            }
        }
    }
}

fn meta(story: &Printed, lang: Lang) -> Markup {
    let published = story
        .published_at
        .map(|at| html! { (lang.pick("Published", "发布时间")) " " (instant(at)) });
    let score = story
        .score
        .map(|score| html! { (score) " " (lang.pick("points", "分")) });
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

/// A link if the address is a web address; plain text otherwise.
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

/// Whether an address is a web address: `javascript:` and the like must not become links.
pub(crate) fn is_web(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    let known =
        |scheme: &str| scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
    scheme.is_some_and(known) && !url.contains(|c: char| c.is_control() || c.is_whitespace())
}

/// The host of a web address.
fn host(url: &str) -> Option<&str> {
    let rest = url.split_once("://").filter(|_| is_web(url))?.1;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    authority.rsplit('@').next().filter(|host| !host.is_empty())
}

/// Splits a text into paragraphs at blank lines.
fn paragraphs(text: &str) -> Markup {
    let text = text.replace("\r\n", "\n");
    html! {
        @for paragraph in text.split("\n\n").map(str::trim).filter(|p| !p.is_empty()) {
            p { (paragraph) }
        }
    }
}

pub(super) fn index(settings: &Settings, lines: &[EditionLine], older: Option<Date>) -> Markup {
    let lang = language(&settings.language);
    let body = html! {
        header {
            h1 { (settings.title) }
            (ways(lang, false))
        }
        main {
            @if lines.is_empty() { p { (lang.pick("No editions published yet.", "暂无已发布的日报。")) } }
            ol class="index" {
                @for line in lines { (index_line(line, lang)) }
            }
            @if let Some(before) = older {
                p { a href={ "/editions?before=" (before) } rel="next" { (lang.pick("Older", "更早")) } }
            }
        }
    };
    page(&settings.language, &settings.title, &body)
}

fn index_line(line: &EditionLine, lang: Lang) -> Markup {
    let date = line.edition.date;
    html! {
        li {
            a href={ "/editions/" (date) } { time datetime=(date) { (date) } }
            @if let Some(at) = line.edition.published_at {
                span class="meta" { (lang.pick("Published", "发布时间")) " " (instant(at)) }
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
