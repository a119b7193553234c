//! The built-in reader: fetches a page and finds the article in it.

use std::{sync::Arc, time::Duration};

use almanack_core::{
    budget::Budget,
    edition::port::{Failure, FailureClass, Reader},
    time::Clock,
};
use async_trait::async_trait;
use dom_smoothie::{Config, Readability, TextMode};
use reqwest::header::{ACCEPT, CONTENT_TYPE};

use super::{LIMITS, check_article};
use crate::{
    feed::{blocking_pool::BlockingPool, charset, html},
    http::{Client, Limits, Request},
    upstream::Upstream,
};

/// Redirects that are followed: link shorteners, then http to https, then www.
const REDIRECTS_MAX: usize = 5;
/// How long finding the article may take.
const TIME_MAX: Duration = Duration::from_secs(10);
/// Most elements that are searched for an article; the search compares many of them with each
/// other.
const ELEMENTS_MAX: usize = 50_000;

const SITE: Upstream = Upstream::open("the site");

/// Fetches pages and finds the articles in them.
pub struct PageReader {
    client: Client,
    clock: Arc<dyn Clock>,
    limits: Limits,
    blocking_pool: BlockingPool,
}

impl PageReader {
    /// Fetches through `client`.
    pub fn new(client: Client, clock: Arc<dyn Clock>) -> Self {
        Self {
            client,
            clock,
            limits: LIMITS,
            blocking_pool: BlockingPool::new(TIME_MAX),
        }
    }

    /// The same with these limits.
    #[must_use]
    pub fn within(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The same, but finding an article may take so long, for builds and machines that are slow.
    #[must_use]
    pub fn reading_within(self, time_max: Duration) -> Self {
        let blocking_pool = BlockingPool::new(time_max);
        Self {
            blocking_pool,
            ..self
        }
    }

    async fn fetch(&self, url: &str, budget: &Arc<Budget>) -> Result<RawPage, Failure> {
        let request = Request::get(url)
            .header(
                ACCEPT,
                "text/html, application/xhtml+xml, text/plain;q=0.9, */*;q=0.1",
            )
            .limits(self.limits)
            .following(REDIRECTS_MAX)
            .paid_by(Arc::clone(budget));
        let opened = self.client.open(request).await;
        let mut answer = opened.map_err(|error| SITE.no_answer(&error))?;
        if let Some(failure) = SITE.refusal(&answer.head, self.clock.now()) {
            return Err(failure);
        }
        let content_type = answer.head.header(&CONTENT_TYPE).map(str::to_owned);
        // What is no text is not even fetched.
        kind_of(content_type.as_deref())?;
        let body = answer.read().await;
        Ok(RawPage {
            body: body.map_err(|error| SITE.no_answer(&error))?,
            address: answer.head.address.into(),
            content_type,
        })
    }
}

#[async_trait]
impl Reader for PageReader {
    async fn read(&self, url: &str, budget: &Arc<Budget>) -> Result<String, Failure> {
        let fetched = self.fetch(url, budget).await?;
        let read = self.blocking_pool.run(move || {
            let content_type = fetched.content_type.as_deref();
            Ok(read_page(&fetched.body, content_type, &fetched.address))
        });
        let unread = |why: almanack_core::source::check::Failure| {
            Failure::new(FailureClass::Unusable, why.detail)
        };
        read.await.map_err(unread)?
    }
}

/// What a page is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Html,
    Text,
}

/// A page as it came.
struct RawPage {
    body: Vec<u8>,
    address: String,
    content_type: Option<String>,
}

/// The article in a page that came from `address`. Pure, and what it takes is bounded by the page's
/// size alone.
pub fn read_page(
    body: &[u8],
    content_type: Option<&str>,
    address: &str,
) -> Result<String, Failure> {
    let kind = kind_of(content_type)?;
    let text = charset::decode(body, content_type);
    match kind {
        Kind::Text => check_article(&text),
        Kind::Html => check_article(&extract(&text, address)?),
    }
}

fn kind_of(content_type: Option<&str>) -> Result<Kind, Failure> {
    let named = content_type.unwrap_or_default().split(';').next();
    let named = named.unwrap_or_default().trim().to_ascii_lowercase();
    match named.as_str() {
        // Browsers treat an unnamed type as a page, and so do servers.
        "text/html" | "application/xhtml+xml" | "" => Ok(Kind::Html),
        "text/plain" | "text/markdown" | "text/x-markdown" => Ok(Kind::Text),
        _ => Err(SITE.unusable("shows something other than text")),
    }
}

/// The text of the article in a page. The page is parsed with limits first, because the article
/// search parses it without.
fn extract(page: &str, address: &str) -> Result<String, Failure> {
    if !html::is_harmless(page) {
        return Err(SITE.unusable("shows a page that is too complex"));
    }
    let config = Config {
        max_elements_to_parse: ELEMENTS_MAX,
        text_mode: TextMode::Formatted,
        ..Config::default()
    };
    let nothing = |_| SITE.unusable("shows a page without an article");
    let mut readability = Readability::new(page, Some(address), Some(config)).map_err(nothing)?;
    let article = readability.parse().map_err(nothing)?;
    Ok(article.text_content.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ed_35_only_texts_are_read() {
        for (content_type, expected) in [
            (Some("text/html; charset=utf-8"), Some(Kind::Html)),
            (Some("Text/HTML"), Some(Kind::Html)),
            (Some("application/xhtml+xml"), Some(Kind::Html)),
            (None, Some(Kind::Html)),
            (Some("text/plain"), Some(Kind::Text)),
            (Some("text/markdown; x=y"), Some(Kind::Text)),
            (Some("application/pdf"), None),
            (Some("application/json"), None),
            (Some("image/png"), None),
            (Some("text/css"), None),
            (Some("application/octet-stream"), None),
        ] {
            let kind = kind_of(content_type);
            assert_eq!(kind.ok(), expected, "{content_type:?}");
        }
    }

    #[test]
    fn ed_35_an_article_is_found_without_the_text_around_it() {
        let paragraph = "The harbour was quiet that morning, and the ferries left on time, one after the other, as they had for years.";
        let article = format!("<p>{paragraph}</p>").repeat(8);
        let page = format!(
            "<html><head><title>Harbour</title><script>track()</script></head><body>\
             <nav><ul><li><a href=/a>Home</a></li><li><a href=/b>Sport</a></li></ul></nav>\
             <article><h1>Harbour</h1>{article}</article>\
             <footer><a href=/imprint>Imprint</a></footer></body></html>"
        );
        let text = extract(&page, "https://site.example/harbour").unwrap();
        assert_eq!(text.matches(paragraph).count(), 8);
        for around in ["track()", "Imprint", "Sport", "<p>"] {
            assert!(!text.contains(around), "{around}: {text}");
        }
    }

    #[test]
    fn ed_35_pages_without_an_article_are_failures() {
        for (page, why) in [
            (String::new(), "nothing"),
            ("<html><body></body></html>".to_owned(), "empty"),
            (
                "<html><body><div id=root></div><script>start()</script>".to_owned(),
                "a shell",
            ),
            ("<div>".repeat(100_000), "deep"),
        ] {
            let read = extract(&page, "https://site.example/");
            let checked = read.and_then(|text| check_article(&text));
            let class = checked.unwrap_err().class;
            assert_eq!(class, FailureClass::Unusable, "{why}");
        }
    }

    #[test]
    fn ed_35_hostile_pages_end_as_failures_or_as_bounded_texts() {
        let sentence = "The tide comes in twice a day, and no one minds, since it leaves again. ";
        let nested = format!("{}{sentence}", "<div><p>".repeat(200)).repeat(20);
        for (page, why) in [
            (
                "<p>x</p>".repeat(600_000),
                "more elements than are searched",
            ),
            (format!("<p>{sentence}</p>").repeat(20_000), "a book"),
            (nested, "deep, and broad"),
            (
                format!("<a href=x>{sentence}</a>").repeat(10_000),
                "links only",
            ),
            (format!("<br><br>{sentence}").repeat(10_000), "line breaks"),
            ("<table><tr><td>".repeat(160), "tables in tables"),
            (
                format!("<b>{sentence}").repeat(300),
                "formatting never closed",
            ),
            ("\u{0}&#0;<!---->".repeat(100_000), "noise"),
            (format!("<script>{}", "x".repeat(4_000_000)), "a program"),
        ] {
            let read = read_page(page.as_bytes(), Some("text/html"), "https://site.example/");
            match read {
                Ok(text) => assert!(text.chars().count() <= 20_000, "{why}"),
                Err(failure) => assert_eq!(failure.class, FailureClass::Unusable, "{why}"),
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_a_page_holds_is_read_or_refused(body in proptest::collection::vec(proptest::num::u8::ANY, 0..500), markup in "(</?(p|div|a|table|td|article|b|script|h1|ul|li)( class=\"[a-z]{0,5}\")?>|[a-z. ]{1,30}){0,60}") {
            let page = [markup.as_bytes(), &body].concat();
            if let Err(failure) = read_page(&page, None, "https://site.example/a") {
                proptest::prop_assert_eq!(failure.class, FailureClass::Unusable);
            }
        }
    }
}
