//! Published editions as pages and as a feed (ED-34).

use std::sync::Arc;

use almanack_core::{
    budget::Budget,
    edition::{
        port::{Failure, StorySource, Wanted},
        quote::Comment,
        story::{Listed, StoryKey},
    },
    source::reading::Reading,
};
use almanack_engine::editions::Outside;
use almanack_server::access::Access;
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::fixture::{START, at};
use async_trait::async_trait;
use axum::http::Method;
use insta::assert_snapshot;
use jiff::SignedDuration;
use rusqlite::Connection;

use super::{Newsstand, SYNC, Stand, TODAY};
use crate::harness::{Answer, with};

const PAGE: &str = "/editions/2026-01-05";
const FEED: &str = "/editions/feed.xml";

/// Lists one story that wants to be more than text.
struct Hostile;

const SCRIPT: &str = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&]]>\u{8}";

#[async_trait]
impl StorySource for Hostile {
    fn name(&self) -> &'static str {
        "hostile"
    }

    async fn list(&self, _: &Wanted, _: &Arc<Budget>) -> Result<Vec<Listed>, Failure> {
        let story = |number: u32, url: &str, discussion: &str| Listed {
            key: StoryKey(format!("hn:{number}")),
            url: url.to_owned(),
            discussion_url: Some(discussion.to_owned()),
            title: format!("{SCRIPT}{number}"),
            score: None,
            comment_count: None,
            source_name: None,
            topic: None,
            published_at: None,
            text: Some(format!("{SCRIPT}: and so on")),
        };
        Ok(vec![
            story(1, "javascript:alert(3)", "JaVaScRiPt://x/%0aalert(4)"),
            story(
                2,
                "https://a.example/\"onmouseover=\"alert(5)",
                "data:text/html,x",
            ),
        ])
    }

    async fn comments(&self, _: &StoryKey, _: &Arc<Budget>) -> Result<Vec<Comment>, Failure> {
        Ok(Vec::new())
    }
}

pub(crate) fn hostile(outside: Outside) -> Outside {
    Outside {
        source: Arc::new(Hostile),
        ..outside
    }
}

async fn known(stand: &Newsstand, method: Method, path: &str, tag: &str) -> Answer {
    let headers = [("if-none-match", tag)];
    stand.world.send(with(method, path, "", &headers)).await
}

#[tokio::test]
async fn ed_34_a_published_edition_is_a_page() {
    let stand = Stand {
        stories: 1,
        ..Stand::default()
    }
    .open()
    .await;
    stand.world.post(SYNC, "").await;
    let page = stand.world.get(PAGE).await;
    assert_eq!(page.status, 200, "{}", page.body);
    assert_eq!(
        page.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    let (_, body) = page.body.split_once("</head>").unwrap();
    assert_snapshot!(body, @r#"
    <body>
    <header>
    <p class="brand"><a href="/editions">全部日报</a></p>
    <h1>HackerNews Daily</h1>
    <p class="dateline"><time datetime="2026-01-05">2026年1月5日 星期一</time> <span>共 1 篇</span> <span>约 1 分钟读完</span></p>

    </header>
    <main>
    <section class="overview" aria-label="概览">
    <p>译：Story 1 — 摘要：article 1</p>
    </section>
    <article id="s-hn-1">
    <h2><a href="https://pages.test/1" rel="noopener noreferrer">译：Story 1</a></h2>

    <p class="original" lang="">Story 1</p>
    <p class="meta"><span>pages.test</span> <span>999 分</span> <span><a href="https://news.ycombinator.com/item?id=1" rel="noopener noreferrer">3 条评论</a></span> <span>约 1 分钟读完</span> <time datetime="1970-01-01T00:00:00Z">1970年1月1日</time></p>

    <p>摘要：article 1</p>
    <h3>评论要点</h3>
    <p class="readers">摘要：comment on 1</p>
    </article>
    </main>
    <footer>
    <form class="search" role="search" action="/editions/search">
    <label for="q">搜索全部日报</label>
    <input type="search" id="q" name="q" required maxlength="100">
    <button>搜索</button>
    </form>
    <nav class="feeds" aria-label="订阅">
    <span>订阅</span>
    <a href="/editions/feed.xml">Atom</a>
    <a href="/editions/rss.xml">RSS</a>
    <a href="/editions/feed.json">JSON Feed</a>
    </nav>
    <details class="about">
    <summary>关于本期</summary>
    <dl>
    <dt>修订</dt><dd>1</dd>
    <dt>校验值</dt><dd><code>5d8fa5200580792a</code></dd>
    </dl>
    </details>
    <p class="maker">Almanack</p>
    </footer>
    </body>
    </html>
    "#);
}

#[tokio::test]
async fn ed_34_a_page_names_its_language_and_lets_nothing_run_or_load() {
    let stand = Newsstand::published().await;
    let page = stand.world.get(PAGE).await;
    assert!(
        page.body.starts_with(
            "<!DOCTYPE html>\n<html lang=\"zh-CN\">\n<head>\n<meta charset=\"utf-8\">"
        )
    );
    assert!(
        page.body
            .contains("<title>HackerNews Daily · 2026-01-05</title>")
    );
    let policy = page.header("content-security-policy").unwrap();
    assert!(
        policy.starts_with("default-src 'none'; style-src 'sha256-"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"));
    assert!(!page.body.contains("style=") && !page.body.contains("<script"));
}

#[tokio::test]
async fn ed_34_pages_speak_the_edition_s_language_or_english() {
    let stand = Stand {
        stories: 1,
        language: "de",
        ..Stand::default()
    }
    .open()
    .await;
    stand.world.post(SYNC, "").await;
    let page = stand.world.get(PAGE).await.body;
    assert!(page.contains("<html lang=\"de\">") && page.contains("<h3>What readers say</h3>"));
}

#[tokio::test]
async fn ed_34_only_what_was_published_is_shown() {
    let stand = Newsstand::open().await;
    stand.step().await;
    stand.step().await;
    let none = stand.world.get(PAGE).await;
    assert_eq!(none.status, 404);
    assert_eq!(
        none.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    assert!(
        none.body
            .contains("No edition was published on 2026-01-05."),
        "{}",
        none.body
    );
    assert!(!stand.world.get("/editions").await.body.contains(TODAY));
    assert!(!stand.world.get(FEED).await.body.contains("<entry"));
    for path in ["/editions/2026-01-01", "/editions/2027-01-01"] {
        assert_eq!(stand.world.get(path).await.status, 404, "{path}");
    }
    for path in [
        "/editions/<script>",
        "/editions/today",
        "/editions?before=x",
        "/editions?x=1",
    ] {
        let path = path.replace('<', "%3C").replace('>', "%3E");
        let page = stand.world.get(&path).await;
        assert_eq!(page.status, 422, "{path}");
        assert!(page.body.starts_with("<!DOCTYPE html>") && !page.body.contains("<script"));
    }
}

#[tokio::test]
async fn ed_34_an_edition_made_anew_is_shown_as_published_until_it_is_published_again() {
    let stand = Newsstand::published().await;
    let first = stand.world.get(PAGE).await;
    assert!(
        first.body.contains("<dt>修订</dt><dd>1</dd>"),
        "{}",
        first.body
    );
    stand.world.clock.set(at(60));
    stand.refuse_at("github");
    stand.world.post("/reset-task", "").await;
    assert_eq!(
        stand.world.get(PAGE).await.body,
        first.body,
        "it is worked on"
    );
    let seen_text = stand.world.post(SYNC, "").await.json();
    assert_eq!(seen_text["status"], "aggregating");
    assert_eq!(
        stand.world.get(PAGE).await.body,
        first.body,
        "it is on its way"
    );
    stand.news.heal();
    stand.world.clock.set(at(3600));
    stand.world.post(SYNC, "").await;
    let second = stand.world.get(PAGE).await;
    assert!(
        second.body.contains("<dt>修订</dt><dd>2</dd>"),
        "{}",
        second.body
    );
    assert_ne!(first.header("etag"), second.header("etag"));
}

#[tokio::test]
async fn ed_34_what_others_wrote_stays_text() {
    let stand = Stand {
        outside: hostile,
        ..Stand::default()
    }
    .open()
    .await;
    assert_eq!(
        stand.world.post(SYNC, "").await.json()["completedArticles"],
        2
    );
    let page = stand.world.get(PAGE).await.body;
    assert!(
        page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(2)&gt;")
    );
    for live in [
        "<script",
        "<img",
        "href=\"javascript",
        "href=\"JaVa",
        "href=\"data:",
        "\"onmouseover=",
    ] {
        assert!(!page.contains(live), "{live} in {page}");
    }
    assert!(page.contains(
        "href=\"https://a.example/&quot;onmouseover=&quot;alert(5)\" rel=\"noopener noreferrer\""
    ));
    let feed = stand.world.get(FEED).await.body;
    for live in ["<script", "<img", "\u{8}", "]]>"] {
        assert!(!feed.contains(live), "{live} in {feed}");
    }
}

#[tokio::test]
async fn ed_34_the_index_lists_published_editions_newest_first() {
    let stand = Stand {
        stories: 1,
        ..Stand::default()
    }
    .open()
    .await;
    let empty = stand.world.get("/editions").await;
    assert!(empty.body.contains("暂无已发布的日报。"));
    for day in ["2026-01-03", "2026-01-04"] {
        stand.world.post(&format!("{SYNC}?date={day}"), "").await;
    }
    stand.world.post("/trigger-export", "").await;
    let index = stand.world.get("/editions").await;
    let (_, list) = index.body.split_once("<ol class=\"index\">").unwrap();
    let (list, _) = list.split_once("</ol>").unwrap();
    assert_snapshot!(list.replace("<li>", "\n<li>"), @r#"
    <li><h2><a href="/editions/2026-01-04"><time datetime="2026-01-04">2026年1月4日 星期日</time></a></h2><p>译：Story 1 — 摘要：article 1</p><p class="meta"><span>共 1 篇</span> <span>约 1 分钟读完</span></p></li>
    <li><h2><a href="/editions/2026-01-03"><time datetime="2026-01-03">2026年1月3日 星期六</time></a></h2><p>译：Story 1 — 摘要：article 1</p><p class="meta"><span>共 1 篇</span> <span>约 1 分钟读完</span></p></li>
    "#);
    assert_ne!(empty.header("etag"), index.header("etag"));
    let older = stand.world.get("/editions?before=2026-01-04").await.body;
    assert!(older.contains("2026-01-03") && !older.contains("2026-01-04"));
}

#[tokio::test]
async fn ed_34_the_feed_is_read_by_our_own_reader() {
    let stand = Stand {
        outside: hostile,
        ..Stand::default()
    }
    .open()
    .await;
    for day in ["2026-01-04", TODAY] {
        stand.world.post(&format!("{SYNC}?date={day}"), "").await;
    }
    let feed = stand.world.get(FEED).await;
    assert_eq!(
        feed.header("content-type"),
        Some("application/atom+xml; charset=utf-8")
    );
    let address = "http://localhost:8080/editions/feed.xml".parse().unwrap();
    let read = almanack_adapters::feed::read(
        &Reading::Feed,
        feed.body.as_bytes(),
        feed.header("content-type"),
        &address,
        START,
    )
    .unwrap();
    assert_eq!(read.title.as_deref(), Some("HackerNews Daily"));
    let links: Vec<_> = read
        .entries
        .iter()
        .map(|entry| entry.link.as_deref().unwrap())
        .collect();
    assert_eq!(
        links,
        [
            format!("http://localhost:8080{PAGE}"),
            "http://localhost:8080/editions/2026-01-04".to_owned()
        ]
    );
    let first = &read.entries[0];
    assert_eq!(first.title, "HackerNews Daily · 2026-01-05");
    assert!(first.id.as_deref().unwrap().starts_with("urn:uuid:"));
    let (head, _) = feed.body.split_once("<content").unwrap();
    assert_snapshot!(head, @r#"
    <?xml version="1.0" encoding="utf-8"?>
    <feed xmlns="http://www.w3.org/2005/Atom" xml:lang="zh-CN">
    <id>urn:uuid:ff424bd2-f7ff-8274-9dba-eaccb57cf3ee</id>
    <title>HackerNews Daily</title>
    <updated>2026-01-05T08:00:00Z</updated>
    <author><name>HackerNews Daily</name></author>
    <generator>Almanack</generator>
    <link rel="self" type="application/atom+xml" href="http://localhost:8080/editions/feed.xml"/>
    <link rel="alternate" type="text/html" href="http://localhost:8080/editions"/>
    <entry xml:lang="zh-CN">
    <id>urn:uuid:d460313b-ecb0-8ea9-9ee3-917cf928e2c5</id>
    <title>HackerNews Daily · 2026-01-05</title>
    <updated>2026-01-05T08:00:00Z</updated>
    <link rel="alternate" type="text/html" href="http://localhost:8080/editions/2026-01-05"/>
    <summary>译：&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(2)&gt;&quot;'&amp;]]&gt;1 — 摘要：&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(2)&gt;&quot;'&amp;]]&gt; 译：&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(2)&gt;&quot;'&amp;]]&gt;2 —…</summary>
    "#);
}

#[tokio::test]
async fn ed_34_an_entry_keeps_its_id_by_whatever_name_the_node_is_reached() {
    let stand = Newsstand::published().await;
    let feed = async |host: &str, proto: &str| {
        let headers = [("x-forwarded-proto", proto)];
        let mut request = with(Method::GET, FEED, "", &headers);
        request.headers_mut().insert("host", host.parse().unwrap());
        stand.world.send(request).await.body
    };
    let (one, other) = (
        feed("localhost", "http").await,
        feed("news.example", "https").await,
    );
    assert!(other.contains("<link rel=\"self\" type=\"application/atom+xml\" href=\"https://news.example/editions/feed.xml\"/>"));
    let ids = |feed: &str| -> Vec<String> {
        let ids = feed.split("<id>").skip(1);
        ids.map(|rest| rest.split("</id>").next().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids(&one).len(), 2);
    assert_eq!(ids(&one), ids(&other));
}

#[tokio::test]
async fn ed_34_what_is_known_is_not_sent_again() {
    let stand = Newsstand::published().await;
    for path in [PAGE, "/editions", FEED] {
        let full = stand.world.get(path).await;
        let tag = full.header("etag").unwrap().to_owned();
        assert_eq!(
            full.header("cache-control"),
            Some("public, no-cache"),
            "{path}"
        );
        let head = known(&stand, Method::HEAD, path, "\"other\"").await;
        assert_eq!((head.status, head.body.as_str()), (200, ""), "{path}");
        assert_eq!(head.header("etag"), Some(tag.as_str()));
        for shown in [
            tag.clone(),
            tag.replace("W/", ""),
            format!("\"x\", {tag}"),
            "*".to_owned(),
        ] {
            let same = known(&stand, Method::GET, path, &shown).await;
            assert_eq!(
                (same.status, same.body.as_str()),
                (304, ""),
                "{path} {shown}"
            );
            assert_eq!(same.header("etag"), Some(tag.as_str()));
            // A browser gives the page that it kept the headers of this answer.
            for header in ["content-security-policy", "cache-control"] {
                assert_eq!(same.header(header), full.header(header), "{path}");
            }
        }
    }
}

#[tokio::test]
async fn ed_34_pages_are_open_to_everybody_unless_the_configuration_says_otherwise() {
    for (public, status) in [(true, 200), (false, 401)] {
        let access = Access::Tokens;
        let stand = Stand {
            access,
            public,
            ..Stand::default()
        }
        .open()
        .await;
        assert_eq!(
            stand.ask(Method::POST, SYNC, Some("operate")).await.status,
            200
        );
        for path in [PAGE, "/editions", FEED] {
            assert_eq!(stand.world.get(path).await.status, status, "{path}");
            let shown = stand.ask(Method::GET, path, Some("read")).await;
            assert_eq!(shown.status, 200, "{path}");
            let kept = if public {
                "public, no-cache"
            } else {
                "private, no-cache"
            };
            assert_eq!(shown.header("cache-control"), Some(kept));
        }
    }
}

/// Written by a hand or a newer version; two days are published, and the first of them is damaged.
#[tokio::test]
async fn sf_06_an_unreadable_edition_takes_no_page_from_the_others() {
    for damage in [
        "update edition set state = 'dreaming'",
        "update story set status = 'dreaming'",
        "update delivery set state = 'dreaming'",
        "update edition_document set inputs = '{'",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("almanack.db");
        let ours = Connection::open(&file).unwrap();
        let stand = Stand {
            stories: 1,
            store: Some(SqliteStore::inline(ours).unwrap()),
            ..Stand::default()
        };
        let stand = stand.open().await;
        stand.world.post(SYNC, "").await;
        stand.world.clock.advance(SignedDuration::from_hours(24));
        stand.world.post(SYNC, "").await;
        let other = Connection::open(&file).unwrap();
        let statement = format!("{damage} where edition_on = '{TODAY}'");
        other.execute_batch(&statement).unwrap();
        for path in ["/ui", "/ui/editions", "/editions", FEED] {
            let page = stand.world.get(path).await;
            assert_eq!(page.status, 200, "{path}, {damage}: {}", page.body);
            assert!(page.body.contains("2026-01-06"), "{path}, {damage}");
        }
        let own = stand.world.get(&format!("/ui{PAGE}")).await;
        assert_eq!(own.status, 500, "{damage}");
    }
}

const FEEDS: [(&str, &str); 3] = [
    (FEED, "application/atom+xml; charset=utf-8"),
    ("/editions/rss.xml", "application/rss+xml; charset=utf-8"),
    (
        "/editions/feed.json",
        "application/feed+json; charset=utf-8",
    ),
];

/// Every feed has the same entries, with the same ids, and is read without a remark.
#[tokio::test]
async fn ed_34_every_feed_is_read_by_our_own_reader() {
    let stand = Stand {
        outside: hostile,
        ..Stand::default()
    }
    .open()
    .await;
    for day in ["2026-01-04", TODAY] {
        stand.world.post(&format!("{SYNC}?date={day}"), "").await;
    }
    let mut seen = Vec::new();
    for (path, content_type) in FEEDS {
        let feed = stand.world.get(path).await;
        assert_eq!(feed.header("content-type"), Some(content_type), "{path}");
        let address = format!("http://localhost:8080{path}").parse().unwrap();
        let read = almanack_adapters::feed::read(
            &Reading::Feed,
            feed.body.as_bytes(),
            feed.header("content-type"),
            &address,
            START,
        );
        let read = read.unwrap_or_else(|why| panic!("{path}: {why:?}\n{}", feed.body));
        assert_eq!(read.title.as_deref(), Some("HackerNews Daily"), "{path}");
        let entries: Vec<_> = read
            .entries
            .iter()
            .map(|it| {
                (
                    it.id.clone(),
                    it.link.clone(),
                    it.title.clone(),
                    it.published_at.is_some() || path == FEED,
                )
            })
            .collect();
        assert_eq!(entries.len(), 2, "{path}");
        seen.push(entries);
        // Titles of a JSON feed are plain text; only its HTML is escaped.
        let html = match path {
            "/editions/feed.json" => feed.json()["items"][0]["content_html"].to_string(),
            _ => feed.body,
        };
        assert!(!html.contains("<script"), "{path}");
    }
    assert_eq!(seen[0], seen[1], "RSS");
    assert_eq!(seen[0], seen[2], "JSON Feed");
}

#[tokio::test]
async fn ed_34_rss_and_json_feed_say_what_their_formats_ask_for() {
    let stand = Newsstand::published().await;
    let rss = stand.world.get("/editions/rss.xml").await.body;
    let (head, _) = rss.split_once("<content:encoded>").unwrap();
    assert_snapshot!(head, @r#"
    <?xml version="1.0" encoding="utf-8"?>
    <rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:content="http://purl.org/rss/1.0/modules/content/">
    <channel>
    <title>HackerNews Daily</title>
    <link>http://localhost:8080/editions</link>
    <description>HackerNews Daily</description>
    <language>zh-CN</language>
    <lastBuildDate>Mon, 05 Jan 2026 08:00:00 GMT</lastBuildDate>
    <generator>Almanack</generator>
    <atom:link rel="self" type="application/rss+xml" href="http://localhost:8080/editions/rss.xml"/>
    <item>
    <title>HackerNews Daily · 2026-01-05</title>
    <link>http://localhost:8080/editions/2026-01-05</link>
    <guid isPermaLink="false">urn:uuid:d460313b-ecb0-8ea9-9ee3-917cf928e2c5</guid>
    <pubDate>Mon, 05 Jan 2026 08:00:00 GMT</pubDate>
    <description>译：Story 1 — 摘要：article 1 译：Story 2 — 摘要：article 2 译：Story 3 — 摘要：article 3</description>
    "#);
    let json = stand.world.get("/editions/feed.json").await.json();
    assert_eq!(json["version"], "https://jsonfeed.org/version/1.1");
    assert_eq!(json["feed_url"], "http://localhost:8080/editions/feed.json");
    assert_eq!(
        json["items"][0]["url"],
        format!("http://localhost:8080{PAGE}")
    );
    assert_eq!(json["items"][0]["date_published"], "2026-01-05T08:00:00Z");
    let content = json["items"][0]["content_html"].as_str().unwrap();
    assert!(
        content.contains("999 分") && content.contains("3 条评论"),
        "{content}"
    );
}

#[tokio::test]
async fn ed_34_editions_lead_to_each_other_and_to_their_stories() {
    let stand = Stand {
        stories: 4,
        ..Stand::default()
    }
    .open()
    .await;
    for day in ["2026-01-02", "2026-01-04", TODAY] {
        stand.world.post(&format!("{SYNC}?date={day}"), "").await;
    }
    let middle = stand.world.get("/editions/2026-01-04").await;
    let page = &middle.body;
    assert!(
        page.contains("<a rel=\"prev\" href=\"/editions/2026-01-02\">"),
        "{page}"
    );
    assert!(page.contains("<a rel=\"next\" href=\"/editions/2026-01-05\">"));
    assert!(
        page.contains(
            "<link rel=\"canonical\" href=\"http://localhost:8080/editions/2026-01-04\">"
        )
    );
    for story in 1..=4 {
        assert!(page.contains(&format!("<article id=\"s-hn-{story}\">")));
        assert!(page.contains(&format!("<a href=\"#s-hn-{story}\">")));
    }
    let newest = stand.world.get(PAGE).await;
    assert!(!newest.body.contains("rel=\"next\""));
    // A copy is no longer the page once another edition follows.
    stand.world.clock.advance(SignedDuration::from_hours(24));
    stand.world.post(SYNC, "").await;
    let after = stand.world.get(PAGE).await;
    assert!(after.body.contains("rel=\"next\""));
    assert_ne!(newest.header("etag"), after.header("etag"));
}

#[tokio::test]
async fn ed_34_the_archive_is_searched_by_words() {
    let stand = Stand {
        stories: 12,
        ..Stand::default()
    }
    .open()
    .await;
    for day in ["2026-01-04", TODAY] {
        stand.world.post(&format!("{SYNC}?date={day}"), "").await;
    }
    stand.world.post("/reset-task", "").await;
    let search = async |query: &str| stand.world.get(&format!("/editions/search{query}")).await;
    let found = search("?q=STORY+12").await.body;
    for day in ["2026-01-04", TODAY] {
        assert!(
            found.contains(&format!("href=\"/editions/{day}#s-hn-12\"")),
            "{found}"
        );
    }
    assert!(!found.contains("#s-hn-11\""), "every word");
    let older = search("?q=story&before=2026-01-05").await.body;
    assert!(older.contains("/editions/2026-01-04#") && !older.contains("/editions/2026-01-05#"));
    assert!(
        search("?q=nowhere")
            .await
            .body
            .contains("没有找到相关内容。")
    );
    assert!(
        search("?q=%25").await.body.contains("没有找到相关内容。"),
        "no words"
    );
    assert_eq!(search("").await.status, 200);
    let odd = search("?q=%3Cscript%3E%22").await.body;
    assert!(odd.contains("value=\"&lt;script&gt;&quot;\""), "{odd}");
    for wrong in [
        format!("?q={}", "x".repeat(101)),
        "?q=x&before=y".to_owned(),
        "?z=1".to_owned(),
    ] {
        assert_eq!(search(&wrong).await.status, 422, "{wrong}");
    }
}

#[tokio::test]
async fn ed_34_a_sitemap_names_what_is_published() {
    let stand = Newsstand::published().await;
    let map = stand.world.get("/editions/sitemap.xml").await;
    assert_eq!(
        map.header("content-type"),
        Some("application/xml; charset=utf-8")
    );
    assert_snapshot!(map.body, @r#"
    <?xml version="1.0" encoding="utf-8"?>
    <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
    <url><loc>http://localhost:8080/editions</loc></url>
    <url><loc>http://localhost:8080/editions/2026-01-05</loc><lastmod>2026-01-05T08:00:00Z</lastmod></url>
    </urlset>
    "#);
    let robots = stand.world.get("/robots.txt").await.body;
    assert_snapshot!(robots, @r#"
    User-agent: *
    Disallow: /ui
    Disallow: /api
    Sitemap: http://localhost:8080/editions/sitemap.xml
    "#);
}

#[tokio::test]
async fn ed_34_another_template_of_pages_is_tried_and_shown_without_a_trace() {
    let stand = Newsstand::published().await;
    let path = "/api/v1/editions/2026-01-05/rebuild";
    let ask = async |body: serde_json::Value| stand.world.post(path, &body.to_string()).await;
    let own = "<h1>{{ title }}</h1>\n";
    let shown = ask(serde_json::json!({ "page_template": own })).await;
    assert_eq!(
        shown.json()["body"],
        "<h1>HackerNews Daily</h1>\n",
        "{}",
        shown.body
    );
    assert_eq!(shown.json()["identical"], false);
    assert!(
        shown.json()["kept"]
            .as_str()
            .unwrap()
            .starts_with("<!DOCTYPE html>")
    );
    let wrong = ask(serde_json::json!({ "page_template": "\n{{ nothing }}" })).await;
    assert_eq!(wrong.status, 422);
    assert!(
        wrong.body.contains("page template, line 2"),
        "{}",
        wrong.body
    );
    let both = ask(serde_json::json!({ "page_template": own, "template": "x" })).await;
    assert_eq!(both.status, 422);
    assert!(
        stand.world.get(PAGE).await.body.contains("<article"),
        "as before"
    );
}
