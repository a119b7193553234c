//! The pages that stories link to.

use almanack_lab::news::{Endpoint, page::Page, site::Site};

use super::{DAY_S, News, received};

#[tokio::test]
async fn a_page_holds_the_article_that_the_facts_promise() {
    let news = News::quiet().await;
    let id = news.add("Tides & <clocks>");
    let page = news.get(&format!("/pages/{id}")).await;
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    let facts = news.handle().story(id).unwrap();
    let text = page.text();
    let paragraphs = facts.article.clone().unwrap();
    assert!(paragraphs.len() >= 5);
    assert!(paragraphs.iter().all(|paragraph| text.contains(paragraph)));
    assert_eq!(facts.main_text().unwrap(), paragraphs.join("\n\n"));
    assert!(text.contains("<h1>Tides &amp; &lt;clocks&gt;</h1>"));
}

/// The article an extractor finds, if any.
fn extracted(html: &str) -> Option<String> {
    let mut reader = dom_smoothie::Readability::new(html, None, None).unwrap();
    let article = reader.parse().ok()?;
    Some(article.text_content.to_string())
}

#[tokio::test]
async fn an_extractor_finds_the_article_and_leaves_the_rest() {
    let news = News::quiet().await;
    for (page, encoding) in [
        (Page::Article, encoding_rs::UTF_8),
        (Page::AboutBlocking, encoding_rs::UTF_8),
        (Page::Gb18030, encoding_rs::GB18030),
        (Page::ShiftJis, encoding_rs::SHIFT_JIS),
    ] {
        // Two of them, because every other page is built differently.
        for id in [news.add("One"), news.add("Other")] {
            news.handle().set_page(id, page);
            let answer = news.get(&format!("/pages/{id}")).await;
            let (html, _, _) = encoding.decode(&answer.body);
            let found = extracted(&html).unwrap();
            let facts = news.handle().story(id).unwrap();
            for paragraph in facts.article.unwrap() {
                let paragraph = paragraph.trim();
                assert!(found.contains(paragraph), "{page:?} {id}: {paragraph}");
            }
            for around in ["814 partners", "Ten chairs", "owned a boat", "Imprint"] {
                assert!(!found.contains(around), "{page:?} {id}: {around}");
            }
        }
    }
}

#[tokio::test]
async fn a_page_can_be_changed_into_any_other() {
    let news = News::quiet().await;
    let id = news.add("Tides");
    for (page, status, content_type, says) in [
        (
            Page::Blocked,
            200,
            "text/html; charset=utf-8",
            "you are human",
        ),
        (
            Page::Forbidden,
            403,
            "text/html; charset=utf-8",
            "Access Denied",
        ),
        (Page::Empty, 200, "text/html; charset=utf-8", ""),
        (
            Page::Shell,
            200,
            "text/html; charset=utf-8",
            "enable JavaScript",
        ),
        (Page::Missing, 404, "text/html; charset=utf-8", "moved on"),
        (Page::Broken, 500, "text/html; charset=utf-8", "went wrong"),
        (
            Page::AboutBlocking,
            200,
            "text/html; charset=utf-8",
            "Access Denied",
        ),
    ] {
        news.handle().set_page(id, page);
        let answer = news.get(&format!("/pages/{id}")).await;
        let shown = (answer.status, answer.header("content-type"));
        assert_eq!(shown, (status, content_type), "{page:?}");
        assert!(answer.text().contains(says), "{page:?}");
    }
    news.handle().set_page(id, Page::Pdf);
    let file = news.get(&format!("/pages/{id}")).await;
    assert_eq!(file.header("content-type"), "application/pdf");
    assert!(file.body.starts_with(b"%PDF-"));
}

#[tokio::test]
async fn an_oversized_page_really_arrives() {
    let news = News::quiet().await;
    let id = news.add("Tides");
    news.handle().set_page(id, Page::Oversized);
    let answer = news.get(&format!("/pages/{id}")).await;
    assert!(answer.body.len() > 10 * 1024 * 1024);
    assert_eq!(
        answer.header("content-length"),
        "",
        "it has no content-length"
    );
}

#[tokio::test]
async fn redirects_count_and_end_at_the_article() {
    let news = News::quiet().await;
    let id = news.add("Tides");
    news.handle().set_page(id, Page::Redirected { hops: 3 });
    let mut path = format!("/pages/{id}");
    let mut statuses = Vec::new();
    let page = loop {
        let answer = news.get(&path).await;
        if answer.status == 200 {
            break answer;
        }
        statuses.push(answer.status);
        answer.header("location").clone_into(&mut path);
    };
    assert_eq!(statuses, [302, 301, 307]);
    let facts = news.handle().story(id).unwrap();
    assert!(page.text().contains(&facts.article.unwrap()[0]));
    assert_eq!(news.handle().count(Endpoint::Page), 4);
    news.handle().set_page(id, Page::RedirectLoop);
    assert_eq!(news.get(&format!("/pages/{id}/hop/77")).await.status, 301);
}

#[tokio::test]
async fn a_slow_page_keeps_its_caller_waiting() {
    let news = News::quiet().await;
    let id = news.add("Tides");
    news.handle()
        .set_page(id, Page::Slow { wait_ms: 3_600_000 });
    let waiting = tokio::spawn(news.client.get(news.url(&format!("/pages/{id}"))).send());
    crate::support::within(news.handle().until(|handle| handle.total() == 1)).await;
    assert!(!waiting.is_finished());
    assert_eq!(
        news.get("/v0/beststories.json").await.status,
        200,
        "others do not wait"
    );
    waiting.abort();
}

#[tokio::test]
async fn pages_have_separate_hosts_if_the_site_listens_on_all() {
    let news = News::start(Site::new(3, 40), |config| {
        config.listen = ([0, 0, 0, 0], 0).into();
    })
    .await;
    let stories = news.handle().stories_between(DAY_S.0, DAY_S.1);
    let mut hosts = std::collections::BTreeSet::new();
    for story in &stories[..5] {
        let url = news.handle().page_url(story.id);
        assert_eq!(received(news.client.get(&url)).await.status, 200, "{url}");
        let seen = news.handle().requests();
        hosts.insert(seen.last().unwrap().facts.host.clone());
    }
    assert_eq!(hosts.len(), 5);
    assert!(hosts.iter().all(|host| host.starts_with("127.0.0.")));
    assert!(news.running.url().starts_with("http://127.0.0.1:"));
}

#[tokio::test]
async fn a_share_of_pages_is_bad() {
    let site = Site {
        quiet: false,
        ..Site::new(3, 1000)
    };
    let news = News::start(site, |_| {}).await;
    let stories = news.handle().stories_between(DAY_S.0, DAY_S.1);
    let without = |id| news.handle().story(id).unwrap().article.is_none();
    let bad = stories.iter().filter(|story| without(story.id)).count();
    assert!((120..240).contains(&bad), "17.5 % of 1000, but {bad}");
}
