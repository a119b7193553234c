//! Pages, by each kind of reader.

use std::net::IpAddr;

use almanack_adapters::{
    bearer::Bearer,
    http::{Client, Limits, NoName, Resolve, Settings},
    reader::{CrawlerApi, PageReader, ReaderPrefix, Sent},
};
use almanack_core::{
    address::Guard,
    edition::port::{FailureClass as C, Reader},
};
use almanack_lab::news::{CRAWLER_TOKEN, Endpoint, page::Page, story::NewStory};
use async_trait::async_trait;
use axum::{Router, http::HeaderMap, routing::get};

use super::*;
use crate::fixture::{Fixed, serve};

fn page_reader() -> PageReader {
    let reader = PageReader::new(client(), Arc::new(Fixed));
    // Builds for tests are slow, and so are machines that run many tests at once.
    reader.reading_within(Duration::from_mins(10))
}

fn crawler(news: &News, token: &str) -> CrawlerApi {
    let (url, token) = (news.url("/crawler"), Bearer::new(token));
    CrawlerApi::new(client(), Arc::new(Fixed), url, token)
}

fn prefix(news: &News) -> ReaderPrefix {
    ReaderPrefix::new(client(), Arc::new(Fixed), news.url("/reader/"), None)
}

/// A site with one story, and its page's address.
async fn one_page() -> (News, i64, String) {
    let news = News::quiet().await;
    let id = news.handle().add_story(NewStory::new(MORNING, "Tides", 1));
    let url = news.handle().page_url(id);
    (news, id, url)
}

/// How much of the article was found, in paragraphs.
fn paragraphs(news: &News, id: i64, text: &str) -> (usize, usize) {
    let article = news.handle().story(id).unwrap().article.unwrap();
    // An extractor may set blanks as it likes.
    let words = |text: &str| text.split_whitespace().collect::<String>();
    let text = words(text);
    let found = article
        .iter()
        .filter(|paragraph| text.contains(&words(paragraph)));
    (found.count(), article.len())
}

#[tokio::test]
async fn ed_35_the_built_in_reader_finds_articles() {
    let (news, id, url) = one_page().await;
    for (page, requests) in [
        (Page::Article, 1),
        (Page::AboutBlocking, 1),
        (Page::Gb18030, 1),
        (Page::ShiftJis, 1),
        (Page::Redirected { hops: 5 }, 6),
    ] {
        news.handle().set_page(id, page);
        news.handle().forget_requests();
        let budget = Budget::new(10);
        let text = page_reader().read(&url, &budget).await;
        let text = text
            .unwrap_or_else(|failure| panic!("{page:?}: {failure}"))
            .text;
        let (found, all) = paragraphs(&news, id, &text);
        assert_eq!(found, all, "{page:?}: {text}");
        assert_eq!(budget.spent(), requests, "{page:?}");
        news.assert_paid(&budget);
    }
}

#[tokio::test]
async fn ed_35_what_is_no_article_is_a_failed_crawl() {
    let (news, id, url) = one_page().await;
    for (page, class) in [
        (Page::Blocked, C::Unusable),
        (Page::Empty, C::Unusable),
        (Page::Shell, C::Unusable),
        (Page::Oversized, C::Unusable),
        (Page::Pdf, C::Unusable),
        (Page::Forbidden, C::Refused),
        (Page::Missing, C::Refused),
        (Page::Redirected { hops: 6 }, C::Refused),
        (Page::RedirectLoop, C::Refused),
        (Page::Broken, C::Transient),
    ] {
        news.handle().set_page(id, page);
        news.handle().forget_requests();
        let budget = Budget::new(10);
        let failure = page_reader().read(&url, &budget).await.unwrap_err();
        assert_eq!(failure.class, class, "{page:?}: {failure}");
        news.assert_paid(&budget);
    }
}

#[tokio::test]
async fn ed_35_a_slow_page_is_not_waited_for() {
    let (news, id, url) = one_page().await;
    news.handle().set_page(id, Page::Slow { wait_ms: 600_000 });
    let limits = Limits {
        total: Duration::from_millis(50),
        ..Limits::default()
    };
    let budget = Budget::new(10);
    let read = page_reader().within(limits).read(&url, &budget).await;
    assert_eq!(read.unwrap_err().class, C::Transient);
    assert_eq!(budget.spent(), 1);
}

#[tokio::test]
async fn ed_35_a_crawler_reads_for_us() {
    let (news, id, url) = one_page().await;
    let budget = Budget::new(20);
    let text = crawler(&news, CRAWLER_TOKEN).read(&url, &budget).await;
    let (found, all) = paragraphs(&news, id, &text.unwrap().text);
    assert_eq!(found, all);
    for page in [
        Page::Blocked,
        Page::Shell,
        Page::Empty,
        Page::Missing,
        Page::Pdf,
    ] {
        news.handle().set_page(id, page);
        let read = crawler(&news, CRAWLER_TOKEN).read(&url, &budget).await;
        assert_eq!(read.unwrap_err().class, C::Unusable, "{page:?}");
    }
    let read = crawler(&news, "wrong").read(&url, &budget).await;
    insta::assert_snapshot!(read.unwrap_err(), @"the crawler does not accept our credentials (HTTP 401)");
    assert_eq!(news.handle().count(Endpoint::Crawler), 7);
    for nowhere in ["file:///etc/passwd", "about:blank", "tides"] {
        let read = crawler(&news, CRAWLER_TOKEN).read(nowhere, &budget).await;
        assert_eq!(read.unwrap_err().class, C::Refused, "{nowhere}");
    }
    news.assert_paid(&budget);
}

#[tokio::test]
async fn ed_35_a_reader_prefix_reads_for_us() {
    let (news, id, url) = one_page().await;
    let budget = Budget::new(20);
    let text = prefix(&news).read(&url, &budget).await.unwrap().text;
    let (found, all) = paragraphs(&news, id, &text);
    assert_eq!(found, all);
    assert!(!text.contains("URL Source:"), "{text}");
    for page in [
        Page::Blocked,
        Page::Shell,
        Page::Empty,
        Page::Missing,
        Page::Broken,
        Page::Forbidden,
    ] {
        news.handle().set_page(id, page);
        let read = prefix(&news).read(&url, &budget).await;
        assert_eq!(read.unwrap_err().class, C::Unusable, "{page:?}");
    }
    news.assert_paid(&budget);
    let spent = Budget::new(0);
    let read = prefix(&news).read(&url, &spent).await;
    assert_eq!(read, Err(Failure::spent()));
}

#[tokio::test]
async fn ed_35_a_key_is_sent_every_other_time() {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = requests.clone();
    let app = Router::new().fallback(get(move |headers: HeaderMap| {
        let key = headers.get("authorization").cloned();
        let accept = headers["accept"].to_str().unwrap().to_owned();
        seen.lock().unwrap().push((key.is_some(), accept));
        async { "The tide comes in twice a day, and no one in the harbour minds. ".repeat(10) }
    }));
    let url = format!("{}/", serve(app).await);
    let reader = || {
        let key = Bearer::new("k3y");
        ReaderPrefix::new(client(), Arc::new(Fixed), url.clone(), key)
    };
    let budget = Budget::new(10);
    for reader in [reader(), reader().rotating()] {
        for _ in 0..3 {
            let read = reader.read("https://site.example/a?b", &budget).await;
            assert!(read.is_ok(), "{read:?}");
        }
    }
    let requests = std::mem::take(&mut *requests.lock().unwrap());
    let keys: Vec<bool> = requests.iter().map(|(key, _)| *key).collect();
    assert_eq!(keys, [true, true, true, true, false, true]);
    assert!(requests.iter().all(|(_, accept)| accept == "text/plain"));
}

/// Every name leads into a private network.
struct Inwards;

#[async_trait]
impl Resolve for Inwards {
    async fn resolve(&self, _: &str) -> Result<Vec<IpAddr>, NoName> {
        Ok(vec![
            "93.184.216.34".parse().unwrap(),
            "10.0.0.7".parse().unwrap(),
        ])
    }
}

#[tokio::test]
async fn ss_14_no_service_is_sent_where_we_may_not_go() {
    let (news, _, url) = one_page().await;
    let inwards = Client::new(&Settings {
        resolver: Arc::new(Inwards),
        ..Settings::new(Guard::new(Vec::new(), "sources.allow"))
    })
    .unwrap();
    for address in [
        "http://169.254.169.254/latest/meta-data/",
        "http://metadata.google.internal/",
        "http://site.example/",
        "file:///etc/passwd",
        &url,
    ] {
        let budget = Budget::new(10);
        let by_crawler = Sent::new(crawler(&news, CRAWLER_TOKEN), inwards.clone());
        let by_prefix = Sent::new(prefix(&news), inwards.clone());
        for reader in [&by_crawler as &dyn Reader, &by_prefix] {
            let failure = reader.read(address, &budget).await.unwrap_err();
            assert_eq!(failure.class, C::Refused, "{address}: {failure}");
        }
        assert_eq!(budget.spent(), 0, "no service got {address}");
    }
    let allowed = Sent::new(crawler(&news, CRAWLER_TOKEN), client());
    allowed.read(&url, &Budget::new(10)).await.unwrap();
}
