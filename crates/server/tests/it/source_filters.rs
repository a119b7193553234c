//! Categories, keep and block rules, full texts and search over the API and on pages (SS-24).

use almanack_core::source::check::Look;
use serde_json::{Value, json};

use crate::{browser::check_page, harness::World, scripted::document};

/// Two sources in different categories, with two entries each.
async fn filled() -> World {
    let world = World::open();
    for (address, category) in [
        ("https://a.example/feed", "news/coast"),
        ("https://b.example/feed", "newsletters"),
    ] {
        let body = json!({ "address": address, "category": category, "name": category });
        world.add(&body.to_string()).await;
        let look = document(&[("1", "2026-01-04T09:00:00Z"), ("2", "2026-01-05T07:30:00Z")]);
        let Look::Document(mut shown) = look else {
            panic!("a document");
        };
        for found in &mut shown.entries {
            found.link = Some(format!(
                "{}/{}",
                address.trim_end_matches("/feed"),
                &found.title[6..]
            ));
            found.title = format!("{} 渡轮 {category}", found.title);
        }
        world.fixture.script.say(address, Look::Document(shown));
    }
    world.check(1).await;
    world.check(2).await;
    world
}

fn ids(page: &Value) -> Vec<i64> {
    let entries = page["entries"].as_array().unwrap().iter();
    entries
        .map(|entry| entry["entry_id"].as_i64().unwrap())
        .collect()
}

#[tokio::test]
async fn ss_24_entries_are_searched_and_filtered_by_category() {
    let world = filled().await;
    for (query, expected) in [
        ("?q=entry", &[4, 3, 2, 1][..]),
        ("?q=ENTRY+2", &[4, 2]),
        ("?q=%22entry+2%22", &[4, 2]),
        ("?q=entry+-2", &[3, 1]),
        ("?q=%E6%B8%A1%E8%BD%AE", &[4, 3, 2, 1]),
        ("?q=nothing", &[]),
        ("?q=%22%27%3B--%28%29*", &[]),
        ("?q=", &[4, 3, 2, 1]),
        ("?category=news", &[2, 1]),
        ("?category=news%2Fcoast&q=2", &[2]),
        ("?category=news&q=newsletters", &[]),
        ("?category=", &[4, 3, 2, 1]),
        ("?q=entry&since=2026-01-06T00:00:00Z", &[]),
    ] {
        let page = world.get(&format!("/api/v1/entries{query}")).await;
        assert_eq!(page.status, 200, "{query}: {}", page.body);
        assert_eq!(ids(&page.json()), expected, "{query}");
    }
    let one = world
        .get("/api/v1/sources/2/entries?q=entry&limit=1")
        .await
        .json();
    assert_eq!(ids(&one), [4]);
    let next = one["next_cursor"].as_str().unwrap();
    let path = format!("/api/v1/sources/2/entries?q=entry&limit=1&cursor={next}");
    let two = world.get(&path).await.json();
    assert_eq!((ids(&two), &two["next_cursor"]), (vec![3], &Value::Null));
    let sources = world.get("/api/v1/sources?category=news").await.json();
    assert_eq!(sources["sources"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn ss_24_bad_rules_are_refused_with_their_place_and_previews_say_what_is_dropped() {
    let world = filled().await;
    let body = |rule: &str| {
        let options = json!({ "filters": ["keep title contains entry", rule] });
        json!({ "address": "https://a.example/feed", "options": options }).to_string()
    };
    for path in ["/api/v1/sources", "/api/v1/sources/preview"] {
        let refused = world.post(path, &body("block titel is x")).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (422, "invalid_value")
        );
        let problem = refused.json();
        assert_eq!(problem["path"], "options.filters[1]", "{}", refused.body);
        assert_eq!(problem["expression"]["span"], json!([6, 11]));
    }
    let rule = "block title starts with \"entry 1\"";
    let shown = world
        .post("/api/v1/sources/preview", &body(rule))
        .await
        .json();
    let dropped = shown["entries"].as_array().unwrap().iter();
    let dropped: Vec<&Value> = dropped.map(|entry| &entry["dropped_by"]).collect();
    assert_eq!(dropped, [&json!(rule), &Value::Null]);
}

#[tokio::test]
async fn ss_24_a_full_text_is_fetched_on_demand() {
    let world = filled().await;
    let read = world.post("/api/v1/entries/2/full-text", "").await;
    assert_eq!(read.status, 200, "{}", read.body);
    assert_eq!(
        read.json()["content"],
        "<p>Read as a whole.</p><p>It sails.</p>"
    );
    let found = world.get("/api/v1/entries?q=sails").await.json();
    assert_eq!(ids(&found), [2]);
    for (path, status, code) in [
        ("/api/v1/entries/1/full-text", 502, "unreachable"),
        ("/api/v1/entries/99/full-text", 404, "no_such_entry"),
        ("/api/v1/entries/first/full-text", 404, "no_such_entry"),
    ] {
        let answer = world.post(path, "").await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (status, code),
            "{path}"
        );
    }
}

#[tokio::test]
async fn ss_24_pages_find_entries_and_sources() {
    let world = filled().await;
    for (path, rows) in [
        ("/ui/entries", 4),
        ("/ui/entries?q=entry+2", 2),
        ("/ui/entries?q=entry&category=news", 2),
        ("/ui/entries?q=%22%3Cscript%3E", 0),
        ("/ui/sources/2/entries?q=1", 1),
        ("/ui/sources?category=news", 1),
    ] {
        for answer in [world.look(path).await, world.look_in_chinese(path).await] {
            assert_eq!(answer.status, 200, "{path}: {}", answer.body);
            check_page(&answer);
            assert_eq!(answer.texts("tr[data-row]").len(), rows, "{path}");
        }
    }
    let page = world
        .look("/ui/entries?q=%22night+train%22&category=news")
        .await;
    let command = "almanack source entries '--search=\"night train\"' --category=news";
    assert!(
        page.texts(".command code").contains(&command.to_owned()),
        "{}",
        page.body
    );
}
