//! Services that read pages for others.

use almanack_lab::news::{CRAWLER_TOKEN, Endpoint, page::Page};
use serde_json::{Value, json};

use super::{Answer, News, received};

async fn crawl(news: &News, token: &str, body: &Value) -> Answer {
    let request = news.client.post(news.url("/crawler"));
    received(request.bearer_auth(token).json(body)).await
}

async fn read(news: &News, address: &str) -> Answer {
    news.get(&format!("/reader/{address}")).await
}

#[tokio::test]
async fn both_find_the_article() {
    let news = News::quiet().await;
    let id = news.add("Tides");
    let facts = news.handle().story(id).unwrap();
    let (url, text) = (news.handle().page_url(id), facts.main_text().unwrap());
    let crawled = crawl(&news, CRAWLER_TOKEN, &json!({ "url": url }))
        .await
        .json();
    assert_eq!(crawled["success"], true);
    assert!(crawled["markdown"].as_str().unwrap().contains(&text));
    assert!(crawled.get("error").is_none());
    let shown = read(&news, &format!("{url}?utm_source=hn")).await;
    assert_eq!(shown.header("content-type"), "text/plain; charset=utf-8");
    assert!(
        shown
            .text()
            .starts_with("Title: Tides\n\nURL Source: http://")
    );
    assert!(shown.text().contains(&text));
    assert_eq!(news.handle().count(Endpoint::Page), 0);
    assert_eq!(news.handle().count(Endpoint::Crawler), 1);
    assert_eq!(news.handle().count(Endpoint::Reader), 1);
}

#[tokio::test]
async fn the_crawler_wants_its_token_and_an_address() {
    let news = News::quiet().await;
    let body = json!({ "url": "http://127.0.0.1/pages/1" });
    assert_eq!(crawl(&news, "wrong", &body).await.status, 401);
    let nothing = crawl(&news, CRAWLER_TOKEN, &json!({})).await;
    assert_eq!(nothing.status, 400);
    let unknown = crawl(&news, CRAWLER_TOKEN, &body).await.json();
    assert_eq!(unknown["success"], false);
    assert!(unknown["error"].is_string() && unknown.get("markdown").is_none());
}

#[tokio::test]
async fn both_pass_on_what_a_bad_page_says() {
    let news = News::quiet().await;
    let id = news.add("Tides");
    let url = news.handle().page_url(id);
    for (page, success, says) in [
        (Page::Blocked, true, "you are human"),
        (Page::Shell, true, "enable JavaScript"),
        (Page::Empty, true, ""),
        (Page::Missing, false, "404"),
        (Page::Broken, false, "500"),
        (Page::Pdf, false, "415"),
        (Page::Forbidden, false, "403"),
    ] {
        news.handle().set_page(id, page);
        let crawled = crawl(&news, CRAWLER_TOKEN, &json!({ "url": url }))
            .await
            .json();
        assert_eq!(crawled["success"], success, "{page:?}");
        let field = if success { "markdown" } else { "error" };
        let text = crawled[field].as_str().unwrap_or_default();
        assert!(text.contains(says), "{page:?}: {text}");
    }
    assert_eq!(
        read(&news, &url).await.text().matches("robots.txt").count(),
        1
    );
    assert!(
        read(&news, &url)
            .await
            .text()
            .contains("autonomous fetching")
    );
}

#[tokio::test]
async fn the_reader_reports_errors_in_its_body() {
    let news = News::quiet().await;
    let id = news.add("Tides");
    news.handle().set_page(id, Page::Broken);
    for address in [
        news.handle().page_url(id),
        "https://example.org/".to_owned(),
    ] {
        let shown = read(&news, &address).await;
        assert_eq!(shown.status, 200, "{address}");
        let text = shown.text();
        assert!(text.starts_with('[') && text.contains("Error:"), "{text}");
    }
    news.handle().set_page(id, Page::Empty);
    assert_eq!(read(&news, &news.handle().page_url(id)).await.text(), "");
}
