//! The pages around editions: the index, what a search found, errors. maud escapes all texts by
//! others.

use std::sync::LazyLock;

use almanack_core::edition::{
    Edition, EditionId, EditionName, document::Document, port::BadTemplate, revision::Retraction,
};
use almanack_core::store::EditionLine;
use almanack_engine::editions::Settings;
use axum::response::Html;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use jiff::civil::Date;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::{search, template, view};
use crate::prelude::*;
use crate::ui::links::reader;
use almanack_core::{lang::Lang, say};

pub(super) const STYLE: &str = include_str!("style.css");
/// Titles of an edition on the index.
const TITLES_MAX: usize = 3;

/// Blocks scripts, loading and framing; the only style is allowed by its hash, and forms lead
/// nowhere else.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = BASE64_STANDARD.encode(Sha256::digest(STYLE));
    policy_with(&format!("style-src 'sha256-{hash}'"))
});
/// The same with stories' pictures, wherever they are.
static POLICY_WITH_IMAGES: LazyLock<String> =
    LazyLock::new(|| format!("{}; img-src https: http:", *POLICY));
/// An operator's template has a style of its own, and perhaps pictures; still nothing runs.
static POLICY_OF_OTHERS: LazyLock<String> = LazyLock::new(|| {
    policy_with("style-src 'unsafe-inline' https:; img-src https: http: data:; font-src https:")
});

fn policy_with(allowed: &str) -> String {
    format!(
        "default-src 'none'; {allowed}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
}

/// What a page may load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loads {
    Nothing,
    Images,
    /// What an operator's template names, but no script.
    OwnTemplate,
}

pub(super) fn respond(status: StatusCode, page: String, loads: Loads) -> Response {
    (status, policy(loads), Html(page)).into_response()
}

/// A page whose form posts to this server.
pub(crate) fn respond_with_form(status: StatusCode, page: String) -> Response {
    respond(status, page, Loads::Nothing)
}

/// The content security policy.
pub(super) fn policy(loads: Loads) -> [(header::HeaderName, &'static str); 1] {
    let policy = match loads {
        Loads::Nothing => &POLICY,
        Loads::Images => &POLICY_WITH_IMAGES,
        Loads::OwnTemplate => &POLICY_OF_OTHERS,
    };
    [(header::CONTENT_SECURITY_POLICY, policy.as_str())]
}

/// A page of the editions of a name.
fn page(language: &str, title: &str, name: EditionName, head: &Markup, body: &Markup) -> Markup {
    let here = reader(name);
    let head = html! {
        (head)
        link rel="alternate" type="application/atom+xml" title="Atom" href={ (here) "/feed.xml" };
        link rel="alternate" type="application/rss+xml" title="RSS" href={ (here) "/rss.xml" };
        link rel="alternate" type="application/feed+json" title="JSON Feed" href={ (here) "/feed.json" };
    };
    whole(language, title, &head, body)
}

/// A page for one reader.
pub(crate) fn bare(language: &str, title: &str, body: &Markup) -> Markup {
    whole(language, title, &html! {}, body)
}

fn whole(language: &str, title: &str, head: &Markup, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang=(language) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                (head)
                style { (PreEscaped(STYLE)) }
            }
            body { (body) }
        }
    }
}

/// The language of the texts around the stories; English if theirs is not supported.
pub(crate) fn language(tag: &str) -> Lang {
    let main = tag.split(['-', '_']).next().unwrap_or_default();
    if main.eq_ignore_ascii_case("zh") {
        return Lang::Chinese;
    }
    Lang::English
}

/// The stories of a document and what opens it, as its page shows them.
pub(crate) fn stories(document: &Document) -> Result<Markup, BadTemplate> {
    let page = view::PageView::of(document, &view::Around::default());
    template::content(&page).map(PreEscaped)
}

/// The page of an edition that was taken back.
pub(super) fn retracted(
    settings: &Settings,
    id: EditionId,
    (retraction, form): (&Retraction, Option<&str>),
) -> Markup {
    let lang = language(&settings.language);
    let (name, date) = (id.name, id.date);
    let title = format!("{} · {date}", settings.title);
    let head = html! { meta name="robots" content="noindex"; };
    let body = html! {
        header {
            p class="brand" { a href=(reader(name)) { (lang.pick("All editions", "全部日报")) } }
            h1 { (settings.title) }
            p class="dateline" { time datetime=(date) { (view::day(lang, date)) } }
        }
        main {
            p { strong { (lang.pick("This edition was retracted.", "本期日报已撤回。")) } }
            @if let Some(note) = &retraction.note { p { (note) } }
            p class="meta" { (lang.pick("Retracted", "撤回时间")) " " (instant(retraction.at)) }
        }
        footer { (feeds(lang, name, form)) }
    };
    page(&settings.language, &title, name, &head, &body)
}

fn instant(at: Timestamp) -> Markup {
    html! { time datetime=(at) { (at.strftime("%Y-%m-%d %H:%M UTC")) } }
}

/// A page of the index.
pub(super) struct Index<'a> {
    pub(super) settings: &'a Settings,
    /// Editions with their documents, as far as these can be read.
    pub(super) lines: &'a [(EditionLine, Option<Document>)],
    /// Where the next page begins.
    pub(super) older: Option<Date>,
    pub(super) base: &'a str,
    /// Where readers subscribe by mail, if they can.
    pub(super) form: Option<&'a str>,
}

pub(super) fn index(index: &Index<'_>) -> Markup {
    let settings = index.settings;
    let lang = language(&settings.language);
    let here = reader(settings.name);
    let head = html! {
        meta property="og:type" content="website";
        meta property="og:title" content=(settings.title);
        @if !index.base.is_empty() {
            link rel="canonical" href={ (index.base) (here) };
            meta property="og:url" content={ (index.base) (here) };
        }
    };
    let body = html! {
        header {
            h1 { (settings.title) }
            (feeds(lang, settings.name, index.form))
            (search_form(lang, settings.name, ""))
        }
        main {
            @if index.lines.is_empty() { p { (lang.pick("No editions published yet.", "暂无已发布的日报。")) } }
            ol class="index" {
                @for (line, document) in index.lines { (index_line(&line.edition, document.as_ref(), lang)) }
            }
            @if let Some(before) = index.older {
                p { a href={ (here) "?before=" (before) } rel="next" { (lang.pick("Older", "更早")) } }
            }
        }
    };
    page(
        &settings.language,
        &settings.title,
        settings.name,
        &head,
        &body,
    )
}

/// An edition on the index: its day, what it opens with, what is in it.
fn index_line(edition: &Edition, document: Option<&Document>, lang: Lang) -> Markup {
    let id = edition.id;
    html! {
        li {
            h2 { a href={ "/editions/" (id) } { time datetime=(id.date) { (view::day(lang, id.date)) } } }
            @if edition.retraction.is_some() {
                p class="meta" { (lang.pick("Retracted", "已撤回")) }
            }
            @if let Some(document) = document {
                p { (view::description(&document.inputs)) }
                (inside(document, lang))
            }
        }
    }
}

fn inside(document: &Document, lang: Lang) -> Markup {
    let inputs = &document.inputs;
    let count = view::story_count(lang, inputs.stories.len());
    let minutes = view::minutes(inputs).map(|minutes| view::reading_time(lang, minutes));
    let opening = view::description(inputs);
    let mut others = view::stories(inputs);
    // What the line above names need not be said twice.
    others.retain(|story| !opening.contains(&story.title));
    html! {
        @if !others.is_empty() {
            ul class="teasers" {
                @for story in others.iter().take(TITLES_MAX) {
                    li { a href={ "/editions/" (inputs.id()) "#" (story.anchor) } { (story.title) } }
                }
            }
        }
        p class="meta" { span { (count) } @if let Some(minutes) = minutes { " " span { (minutes) } } }
    }
}

/// What a search found.
pub(super) fn found(settings: &Settings, results: &search::Results<'_>) -> Markup {
    let lang = language(&settings.language);
    let here = reader(settings.name);
    let title = say!(lang, "Search · {}", "搜索 · {}", settings.title);
    let head = html! { meta name="robots" content="noindex"; };
    let body = html! {
        header {
            p class="brand" { a href=(here) { (lang.pick("All editions", "全部日报")) } }
            h1 { (lang.pick("Search", "搜索")) }
            (search_form(lang, settings.name, results.query))
        }
        main {
            @if results.matches.is_empty() && !results.query.is_empty() {
                p role="status" { (lang.pick("Nothing found.", "没有找到相关内容。")) }
            }
            ol class="index" {
                @for found in &results.matches { (match_line(found, lang)) }
            }
            @if let Some(before) = results.older {
                p { a rel="next" href={ (here) "/search?q=" (results.encoded()) "&before=" (before) } {
                    (lang.pick("Older", "更早"))
                } }
            }
        }
    };
    page(&settings.language, &title, settings.name, &head, &body)
}

fn match_line(found: &search::Match, lang: Lang) -> Markup {
    html! {
        li {
            h2 { a href={ "/editions/" (found.id) "#" (found.story.anchor) } { (found.story.title) } }
            p { (found.excerpt()) }
            p class="meta" { time datetime=(found.id.date) { (view::day(lang, found.id.date)) } }
        }
    }
}

fn search_form(lang: Lang, name: EditionName, query: &str) -> Markup {
    html! {
        form class="search" role="search" action={ (reader(name)) "/search" } {
            label for="q" { (lang.pick("Search all editions", "搜索全部日报")) }
            input type="search" id="q" name="q" value=(query) required maxlength=(search::QUERY_CHARS_MAX);
            button { (lang.pick("Search", "搜索")) }
        }
    }
}

fn feeds(lang: Lang, name: EditionName, form: Option<&str>) -> Markup {
    let here = reader(name);
    let subscribe = lang.pick("Subscribe", "订阅");
    html! {
        nav class="feeds" aria-label=(subscribe) {
            span { (subscribe) }
            @if let Some(form) = form { a href=(form) { (lang.pick("By mail", "邮件")) } }
            a href={ (here) "/feed.xml" } { "Atom" }
            a href={ (here) "/rss.xml" } { "RSS" }
            a href={ (here) "/feed.json" } { "JSON Feed" }
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
pub(super) fn host(url: &str) -> Option<&str> {
    let rest = url.split_once("://").filter(|_| is_web(url))?.1;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    authority.rsplit('@').next().filter(|host| !host.is_empty())
}

pub(super) fn wrong(status: StatusCode, message: &str) -> Markup {
    let name = status.canonical_reason().unwrap_or("Error");
    let body = html! {
        header { h1 { (name) } }
        main { p { (message) } }
        footer { nav { a href="/editions" { "All editions" } } }
    };
    page("en", name, EditionName::default(), &html! {}, &body)
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
