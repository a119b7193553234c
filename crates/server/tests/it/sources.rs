//! Sources as they are looked at: one, lists, what is due, numbers, entries, why.

use almanack_core::source::{SourceId, check::FailureClass};
use almanack_testkit::fixture::{START, at as instant};
use insta::assert_json_snapshot;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::{
    harness::World,
    scripted::{document, failed},
};

const FEED: &str = r#"{"address":"https://a.example/feed","policy":"fixed:1h"}"#;
const PAGE: &str = r#"{"address":"https://b.example/","name":"Page","category":"News/Local",
    "reading":{"how":"html","item":"article","title":"h2"}}"#;

async fn numbers(world: &World, path: &str) -> (Vec<i64>, Option<String>) {
    let answer = world.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    let page = answer.json();
    let sources = page["sources"].as_array().unwrap();
    let ids = sources.iter().map(|s| s["source_id"].as_i64().unwrap());
    (
        ids.collect(),
        page["next_cursor"].as_str().map(ToOwned::to_owned),
    )
}

/// A feed with two entries, a page that failed once, a feed that is paused.
async fn filled() -> World {
    let world = World::open();
    let feed = world.add(FEED).await;
    let page = world.add(PAGE).await;
    let other = world
        .add(r#"{"address":"https://c.example/feed","cadence":"P6"}"#)
        .await;
    assert_eq!([feed, page, other], [1, 2, 3]);
    world.fixture.script.say(
        "https://a.example/feed",
        document(&[("1", "2026-01-04T09:00:00Z"), ("2", "2026-01-05T07:30:00Z")]),
    );
    let failure = failed(FailureClass::NotFound, "404 Not Found");
    world.fixture.script.say("https://b.example/", failure);
    world.post("/api/v1/sources/3/pause", "").await;
    world.check(1).await;
    world.check(2).await;
    world
}

/// The names of SS-01.
const STATISTICS: [&str; 16] = [
    "source_id",
    "source_type",
    "frequency_type",
    "cadence",
    "avg_publish_hour",
    "std_publish_hour",
    "next_due_at",
    "last_check_at",
    "last_article_at",
    "fail_count",
    "backoff_until",
    "last_error",
    "check_count",
    "hit_count",
    "created_at",
    "updated_at",
];

#[tokio::test]
async fn ss_01_a_source_shows_every_statistic_under_its_name() {
    let world = filled().await;
    let source = world.get("/api/v1/sources/1").await.json();
    for name in STATISTICS {
        assert!(source.get(name).is_some(), "{name} is missing: {source}");
    }
    assert_json_snapshot!(source, @r#"
    {
      "address": "https://a.example/feed",
      "attention": null,
      "avg_publish_hour": null,
      "backoff_until": null,
      "cadence": "P2",
      "cadence_by_hand": null,
      "category": "",
      "check_count": 1,
      "created_at": "2026-01-05T08:00:00Z",
      "fail_count": 0,
      "frequency_type": "daily",
      "hit_count": 1,
      "hit_rate": 100.0,
      "last_article_at": "2026-01-05T07:30:00Z",
      "last_check_at": "2026-01-05T08:00:00Z",
      "last_error": null,
      "last_error_class": null,
      "name": "A Weblog",
      "next_due_at": "2026-01-05T09:00:00Z",
      "options": {},
      "policy": "fixed:1h",
      "reading": {
        "how": "feed"
      },
      "reason": "every hour",
      "recent": [
        {
          "at": "2026-01-05T08:00:00Z",
          "entries": 2,
          "outcome": "new",
          "took_ms": 0
        }
      ],
      "source_id": 1,
      "source_type": "rss",
      "state": "active",
      "std_publish_hour": null,
      "updated_at": "2026-01-05T08:00:00Z"
    }
    "#);
}

#[tokio::test]
async fn a_source_that_failed_says_so_and_until_when_it_waits() {
    let world = filled().await;
    assert_json_snapshot!(world.get("/api/v1/sources/2").await.json(), @r#"
    {
      "address": "https://b.example/",
      "attention": null,
      "avg_publish_hour": null,
      "backoff_until": "2026-01-05T08:15:00Z",
      "cadence": null,
      "cadence_by_hand": null,
      "category": "News/Local",
      "check_count": 1,
      "created_at": "2026-01-05T08:00:00Z",
      "fail_count": 1,
      "frequency_type": null,
      "hit_count": 0,
      "hit_rate": 0.0,
      "last_article_at": null,
      "last_check_at": "2026-01-05T08:00:00Z",
      "last_error": "404 Not Found",
      "last_error_class": "not_found",
      "name": "Page",
      "next_due_at": "2026-01-05T08:15:41.188672Z",
      "options": {},
      "policy": null,
      "reading": {
        "how": "html",
        "item": "article",
        "title": "h2"
      },
      "reason": "the last check failed",
      "recent": [
        {
          "at": "2026-01-05T08:00:00Z",
          "outcome": "not_found",
          "took_ms": 0
        }
      ],
      "source_id": 2,
      "source_type": "custom",
      "state": "active",
      "std_publish_hour": null,
      "updated_at": "2026-01-05T08:00:00Z"
    }
    "#);
    assert_eq!(
        world.get("/api/v1/sources/3").await.json()["state"],
        "paused"
    );
}

#[tokio::test]
async fn the_next_check_is_when_its_task_says() {
    let world = filled().await;
    let before = world.get("/api/v1/sources/1").await.json();
    let moved_to = instant(7200);
    assert_ne!(before["next_due_at"], moved_to.to_string());
    let due = vec![(SourceId(1), moved_to)];
    world.fixture.sources.put(due, "test").await.unwrap();
    for path in ["/api/v1/sources/1", "/api/v1/sources/1/why"] {
        let shown = world.get(path).await.json();
        assert_eq!(shown["next_due_at"], moved_to.to_string(), "{path}");
    }
    let listed = world.get("/api/v1/sources?q=a.example").await.json();
    assert_eq!(listed["sources"][0]["next_due_at"], moved_to.to_string());
    let why = world.get("/api/v1/sources/1/why").await.json();
    let sentence = why["sentence"].as_str().unwrap();
    assert!(sentence.contains("its task was moved"), "{sentence}");
    let paused = world.get("/api/v1/sources/3").await.json();
    assert_eq!(paused["next_due_at"], Value::Null);
}

#[tokio::test]
async fn filters_narrow_the_list() {
    let world = filled().await;
    for (query, expected) in [
        ("", &[1, 2, 3][..]),
        ("?type=rss", &[1, 3]),
        ("?type=custom", &[2]),
        ("?state=paused", &[3]),
        ("?state=active&type=rss", &[1]),
        ("?cadence=p6", &[]),
        ("?attention=any", &[]),
        ("?failure=not_found", &[2]),
        ("?failure=dns", &[]),
        ("?failure=any", &[2]),
        ("?attention=failing", &[]),
        ("?q=B.EXAMPLE", &[2]),
        ("?q=page", &[2]),
        ("?q=%25", &[]),
    ] {
        let (ids, _) = numbers(&world, &format!("/api/v1/sources{query}")).await;
        assert_eq!(ids, expected, "{query}");
    }
}

#[tokio::test]
async fn pages_follow_each_other_and_end() {
    let world = filled().await;
    let (ids, next) = numbers(&world, "/api/v1/sources?limit=2").await;
    assert_eq!(ids, [1, 2]);
    let path = format!("/api/v1/sources?limit=2&cursor={}", next.unwrap());
    assert_eq!(numbers(&world, &path).await, (vec![3], None));
    let (_, next) = numbers(&world, "/api/v1/sources?limit=3").await;
    assert_eq!(next, None, "a page that is exactly full is the last one");
}

#[tokio::test]
async fn ss_08_due_sources_are_listed_longest_first_by_type_and_limited() {
    let world = World::open();
    for (address, reading) in [
        ("https://a.example/", "feed"),
        ("https://b.example/", "sitemap"),
        ("https://c.example/", "feed"),
    ] {
        let body = format!(r#"{{"address":"{address}","reading":{{"how":"{reading}"}}}}"#);
        world.add(&body).await;
        world.clock.advance(SignedDuration::from_secs(1));
    }
    world.post("/api/v1/sources/3/pause", "").await;
    let c = r#"{"address":"https://d.example/"}"#;
    world.add(c).await;
    let due = |query: &str| {
        let path = format!("/api/v1/sources/due{query}");
        let world = &world;
        async move { numbers(world, &path).await.0 }
    };
    assert_eq!(due("").await, [1, 2, 4], "a paused one is not due");
    assert_eq!(due("?type=custom").await, [2]);
    assert_eq!(due("?type=rss&limit=1").await, [1]);
    // A failure keeps the first one waiting; those behind it do not notice.
    let failure = failed(FailureClass::Server, "500");
    world.fixture.script.say("https://a.example/", failure);
    world.check(1).await;
    assert_eq!(due("").await, [2, 4]);
    world.clock.set(START);
    assert_eq!(
        due("").await,
        Vec::<i64>::new(),
        "before its time nothing is due"
    );
}

#[tokio::test]
async fn ss_09_the_numbers_are_reported_overall_and_by_type() {
    let world = filled().await;
    let all = world.get("/api/v1/sources/stats").await.json();
    let mut overall = all.clone();
    overall.as_object_mut().unwrap().remove("by_type");
    assert_json_snapshot!(overall, @r#"
    {
      "attention": {
        "credentials": 0,
        "duplicate": 0,
        "failing": 0,
        "gone": 0,
        "identity": 0,
        "silent": 0,
        "truncated": 0
      },
      "avg_hit_rate": 50.0,
      "cadence_distribution": {
        "P0": 0,
        "P1": 0,
        "P2": 1,
        "P3": 0,
        "P4": 0,
        "P5": 0,
        "P6": 0,
        "P7": 0
      },
      "due_now": 0,
      "failures": {
        "not_found": 1
      },
      "in_backoff": 1,
      "price_hours": null,
      "states": {
        "active": 2,
        "ended": 0,
        "paused": 1
      },
      "total_sources": 3,
      "total_with_stats": 2
    }
    "#);
    for (of_type, total, hit_rate) in [("rss", 2, 100.0), ("custom", 1, 0.0)] {
        let numbers = &all["by_type"][of_type];
        assert_eq!(numbers["total_sources"], total, "{of_type}");
        assert_eq!(numbers["total_with_stats"], 1, "{of_type}");
        assert_eq!(numbers["avg_hit_rate"], hit_rate, "{of_type}");
    }
    for of_type in ["rss", "custom"] {
        let path = format!("/api/v1/sources/stats?type={of_type}");
        let mut alone = world.get(&path).await.json();
        alone.as_object_mut().unwrap().remove("price_hours");
        assert_eq!(alone, all["by_type"][of_type], "{of_type}");
    }
}

#[tokio::test]
async fn entries_are_listed_newest_first_with_their_text_on_request() {
    let world = filled().await;
    let page = world.get("/api/v1/sources/1/entries?limit=1").await.json();
    assert_json_snapshot!(page, @r#"
    {
      "entries": [
        {
          "author": null,
          "entry_id": 2,
          "key": "id:2",
          "link": "https://a.example/2",
          "published_at": "2026-01-05T07:30:00Z",
          "revision": 1,
          "seen_at": "2026-01-05T08:00:00Z",
          "source_id": 1,
          "summary": null,
          "title": "Entry 2",
          "updated_at": null
        }
      ],
      "next_cursor": "Mg"
    }
    "#);
    let next = page["next_cursor"].as_str().unwrap();
    let path = format!("/api/v1/entries?limit=1&content=true&cursor={next}");
    let last = world.get(&path).await.json();
    assert_eq!(last["entries"][0]["content"], "<p>All of it</p>");
    assert_eq!(last["next_cursor"], Value::Null);
    for (query, count) in [
        ("/api/v1/entries", 2),
        ("/api/v1/entries?since=2026-01-05T08:00:00Z", 2),
        ("/api/v1/entries?since=2026-01-05T08:00:01Z", 0),
        ("/api/v1/sources/2/entries", 0),
    ] {
        let page = world.get(query).await.json();
        assert_eq!(page["entries"].as_array().unwrap().len(), count, "{query}");
    }
}

#[tokio::test]
async fn why_reports_what_is_believed_and_what_went_wrong() {
    let world = filled().await;
    let why = world.get("/api/v1/sources/1/why").await.json();
    assert_eq!(why["week"].as_array().unwrap().len(), 168);
    assert_eq!(why["policy"], "fixed:1h");
    let of_the_node = world.get("/api/v1/sources/2/why").await.json();
    assert_eq!(of_the_node["policy"], "adaptive");
    assert_eq!(
        (&why["frequency_type"], &why["cadence"]),
        (&json!("daily"), &json!("P2"))
    );
    assert_eq!(why["damaged"], false);
    assert!(why["entries_per_day"].as_f64().unwrap() > 0.0, "{why}");
    let sentence = why["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("Next check at "), "{sentence}");
    assert_eq!(why.get("last_error"), None, "nothing went wrong");
    let why = world.get("/api/v1/sources/2/why").await.json();
    assert_json_snapshot!(why["last_error"], @r#"
    {
      "class": "not_found",
      "detail": "404 Not Found",
      "meaning": "there is nothing at its address for now",
      "times": 1
    }
    "#);
    let paused = world.get("/api/v1/sources/3/why").await.json();
    assert_eq!(paused["entries_per_day"], Value::Null, "never checked");
    let week = paused["week"].as_array().unwrap();
    assert!(week.iter().all(|expected| expected.as_f64() == Some(0.0)));
    assert_eq!(paused["cadence"], "P6", "set by hand");
    let sentence = paused["sentence"].as_str().unwrap();
    assert!(sentence.contains("paused since"), "{sentence}");
}

#[tokio::test]
async fn ss_25_a_clock_that_is_off_is_shown() {
    let world = World::open();
    world.add(FEED).await;
    let (half, ahead) = (SignedDuration::from_mins(30), SignedDuration::from_hours(8));
    for hour in 0..4 {
        let now = instant(hour * 3_600);
        let (id, stamp) = (hour.to_string(), (now - half + ahead).to_string());
        let shown = document(&[(&id, &stamp)]);
        world.fixture.script.say("https://a.example/feed", shown);
        world.clock.set(now);
        world.check(hour + 1).await;
    }
    for path in ["/api/v1/sources/1", "/api/v1/sources/1/why"] {
        let answer = world.get(path).await.json();
        assert_eq!(answer["clock_ahead_s"], 8 * 3_600, "{path}");
    }
    let page = world.get("/ui/sources/1").await;
    assert!(page.body.contains("<dd>8 h ahead "), "{}", page.body);
}

#[tokio::test]
async fn the_week_is_a_picture_that_may_use_its_own_style_only() {
    let world = filled().await;
    let answer = world.get("/api/v1/sources/1/week.svg").await;
    assert_eq!(answer.header("content-type"), Some("image/svg+xml"));
    let policy = answer.header("content-security-policy").unwrap();
    assert!(
        policy.starts_with("default-src 'none'; style-src 'sha256-"),
        "{policy}"
    );
    assert!(answer.body.contains("role=\"img\""));
    assert!(
        answer
            .body
            .contains("<title>checked 2026-01-05T08:00:00Z</title>")
    );
    assert!(
        answer
            .body
            .contains("<title>published 2026-01-05T07:30:00Z</title>")
    );
    assert!(
        answer.body.contains(">A Weblog</text>"),
        "by the name it has"
    );
    let unknown = world.get("/api/v1/sources/9/week.svg").await;
    assert_eq!(
        (unknown.status, unknown.code().as_str()),
        (404, "no_such_source")
    );
}

/// A path that is refused, how, and what the answer names.
const BAD: &[(&str, u16, &str, &str)] = &[
    (
        "/api/v1/sources?type=atom",
        422,
        "invalid_query",
        "rss or custom",
    ),
    (
        "/api/v1/sources?state=gone",
        422,
        "invalid_query",
        "active, paused or ended",
    ),
    (
        "/api/v1/sources?cadence=P9",
        422,
        "invalid_query",
        "P0 to P7",
    ),
    (
        "/api/v1/sources?attention=some",
        422,
        "invalid_query",
        "silent",
    ),
    (
        "/api/v1/sources?q=a%00b",
        422,
        "invalid_query",
        "control characters",
    ),
    ("/api/v1/sources?limit=0", 422, "invalid_query", "1 to 500"),
    (
        "/api/v1/sources?limit=501",
        422,
        "invalid_query",
        "1 to 500",
    ),
    (
        "/api/v1/sources?cursor=eA",
        422,
        "invalid_query",
        "next_cursor",
    ),
    ("/api/v1/sources?kind=rss", 422, "invalid_query", "kind"),
    (
        "/api/v1/sources/due?type=atom",
        422,
        "invalid_query",
        "rss or custom",
    ),
    (
        "/api/v1/sources/due?limit=501",
        422,
        "invalid_query",
        "1 to 500",
    ),
    (
        "/api/v1/sources/stats?type=",
        422,
        "invalid_query",
        "rss or custom",
    ),
    (
        "/api/v1/entries?since=yesterday",
        422,
        "invalid_time",
        "since",
    ),
    (
        "/api/v1/entries?content=true&limit=51",
        422,
        "invalid_query",
        "1 to 50",
    ),
    ("/api/v1/entries?limit=0", 422, "invalid_query", "1 to 500"),
    (
        "/api/v1/entries?cursor=!",
        422,
        "invalid_query",
        "next_cursor",
    ),
    ("/api/v1/sources/9", 404, "no_such_source", "9"),
    ("/api/v1/sources/9/entries", 404, "no_such_source", "9"),
    ("/api/v1/sources/9/why", 404, "no_such_source", "9"),
    (
        "/api/v1/sources/first",
        404,
        "no_such_source",
        "whole number",
    ),
    ("/api/v1/sources/1/entries?w=a", 422, "invalid_query", "w"),
];

#[tokio::test]
async fn bad_queries_are_refused_by_name() {
    let world = filled().await;
    let long = format!("/api/v1/sources?q={}", "x".repeat(201));
    let rows = BAD.iter().copied();
    let rows = rows.chain([(long.as_str(), 422, "invalid_query", "200 bytes")]);
    for (path, status, code, names) in rows {
        let answer = world.get(path).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (status, code),
            "{path}"
        );
        assert!(answer.body.contains(names), "{path}: {}", answer.body);
    }
}
