//! The built-in reader: fetches a page and finds the article in it.

use std::{sync::Arc, time::Duration};

use almanack_core::{
    budget::Budget,
    edition::plain::plain_line,
    edition::port::{Article, Failure, FailureClass, Reader},
    source::entry::LINK_BYTES_MAX,
    time::Clock,
};
use async_trait::async_trait;
use dom_smoothie::{Config, Readability, TextMode};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use url::Url;

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

/// Longest description of a page, in characters.
const DESCRIPTION_CHARS_MAX: usize = 1_000;

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
    async fn read(&self, url: &str, budget: &Arc<Budget>) -> Result<Article, Failure> {
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
) -> Result<Article, Failure> {
    let kind = kind_of(content_type)?;
    let text = charset::decode(body, content_type);
    match kind {
        Kind::Text => check_article(&text).map(Article::of),
        Kind::Html => {
            let found = extract(&text, address)?;
            let text = check_article(&found.text)?;
            Ok(Article { text, ..found })
        }
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

/// The article in a page, unchecked. The page is parsed with limits first, because the article
/// search parses it without.
fn extract(page: &str, address: &str) -> Result<Article, Failure> {
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
    // Before the search, which takes the first paragraph for a description where there is none.
    let linked_data = readability.parse_json_ld();
    let about = readability.get_article_metadata(linked_data);
    let article = readability.parse().map_err(nothing)?;
    Ok(Article {
        text: article.text_content.to_string(),
        description: about.excerpt.as_deref().and_then(description),
        image_url: about
            .image
            .as_deref()
            .and_then(|image| picture(image, address)),
    })
}

/// What a page says about itself, as plain text.
fn description(text: &str) -> Option<String> {
    let text = plain_line(text, DESCRIPTION_CHARS_MAX);
    (!text.is_empty()).then_some(text)
}

/// The address of a picture, whole and of the web, if it is one. It is never fetched here.
fn picture(image: &str, address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?.join(image.trim()).ok()?;
    let is_web = matches!(url.scheme(), "http" | "https") && url.username().is_empty();
    let text = String::from(url);
    (is_web && text.len() <= LINK_BYTES_MAX).then_some(text)
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
        let text = extract(&page, "https://site.example/harbour").unwrap().text;
        assert_eq!(text.matches(paragraph).count(), 8);
        for around in ["track()", "Imprint", "Sport", "<p>"] {
            assert!(!text.contains(around), "{around}: {text}");
        }
    }

    #[test]
    fn ed_36_a_page_may_say_what_it_is_about_and_how_it_looks() {
        let paragraph = "The harbour was quiet that morning, and the ferries left on time.";
        let read = |head: &str| {
            let page = format!(
                "<html><head>{head}</head><body><article>{}</article></body></html>",
                format!("<p>{paragraph}</p>").repeat(8)
            );
            let found = extract(&page, "https://site.example/a/b").unwrap();
            (found.description, found.image_url)
        };
        let own = Some("Ferries & tides".to_owned());
        let picture = |url: &str| Some(url.to_owned());
        for (head, expected, why) in [
            (
                "",
                (None, None),
                "nothing said: the first paragraph is no description",
            ),
            (
                "<meta name=description content='Ferries &amp; tides'>",
                (own.clone(), None),
                "a description",
            ),
            (
                "<meta property=og:description content='Ferries &amp; tides'><meta property=og:image content=/c.png>",
                (own.clone(), picture("https://site.example/c.png")),
                "a card",
            ),
            (
                "<meta property=og:image content='javascript:alert(1)'>",
                (None, None),
                "no picture",
            ),
            (
                "<meta property=og:image content='https://me:pw@x.example/c.png'>",
                (None, None),
                "no credentials",
            ),
        ] {
            assert_eq!(read(head), expected, "{why}");
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
            let checked = read.and_then(|found| check_article(&found.text));
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
                Ok(found) => assert!(found.text.chars().count() <= 20_000, "{why}"),
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
