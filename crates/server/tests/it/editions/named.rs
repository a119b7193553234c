//! Several editions on one node: API, pages and feeds by name (ED-37).

use serde_json::json;

use super::{Newsstand, STATUS, SYNC, Stand, TODAY};

async fn two() -> Newsstand {
    let stand = Stand {
        beside: vec!["weekly"],
        ..Stand::default()
    };
    let stand = stand.open().await;
    stand.world.post(SYNC, "").await;
    let path = format!("/api/v1/editions/weekly@{TODAY}/run");
    let ran = stand.world.post(&path, r#"{"wait":true}"#).await;
    assert_eq!(ran.json()["published"], true, "{}", ran.body);
    stand
}

#[tokio::test]
async fn ed_37_editions_are_made_listed_and_shown_by_name() {
    let stand = two().await;
    let listed = stand.world.get("/api/v1/editions").await.json();
    let of = |place: usize| {
        (
            &listed["editions"][place]["name"],
            &listed["editions"][place]["date"],
        )
    };
    assert_eq!(of(0), (&json!("default"), &json!(TODAY)));
    assert_eq!(of(1), (&json!("weekly"), &json!(TODAY)));
    let only = stand.world.get("/api/v1/editions?name=weekly").await.json();
    assert_eq!(only["editions"].as_array().map(Vec::len), Some(1));
    let shown = stand
        .world
        .get(&format!("/api/v1/editions/weekly@{TODAY}"))
        .await
        .json();
    assert_eq!(shown["name"], "weekly");
    let today = stand
        .world
        .get("/api/v1/editions/today?name=weekly")
        .await
        .json();
    assert_eq!(today["edition"], format!("weekly@{TODAY}"));
    // The founding endpoints are about the default one, under the fields they had.
    let founding = stand.world.get(STATUS).await.json();
    assert_eq!(
        (&founding["taskDate"], &founding["status"]),
        (&json!(TODAY), &json!("published"))
    );
}

#[tokio::test]
async fn ed_37_every_edition_has_its_pages_and_its_feed() {
    let stand = two().await;
    for (path, has, lacks) in [
        ("/editions", "HackerNews Daily", "The weekly one"),
        ("/editions/", "HackerNews Daily", "The weekly one"),
        ("/editions/weekly", "The weekly one", "HackerNews Daily"),
        (
            "/editions/weekly@2026-01-05",
            "The weekly one",
            "HackerNews Daily",
        ),
        (
            "/editions/weekly/2026-01-05",
            "The weekly one",
            "HackerNews Daily",
        ),
        ("/editions/feed.xml", "/editions/2026-01-05", "weekly"),
        (
            "/editions/weekly/feed.xml",
            "/editions/weekly@2026-01-05",
            "HackerNews Daily",
        ),
        (
            "/editions/weekly/rss.xml",
            "/editions/weekly@2026-01-05",
            "HackerNews Daily",
        ),
        (
            "/editions/weekly/feed.json",
            "/editions/weekly@2026-01-05",
            "HackerNews Daily",
        ),
        (
            "/editions/weekly/search?q=story",
            "/editions/weekly@2026-01-05#s-",
            "HackerNews Daily",
        ),
        (
            "/editions/search?q=story",
            "/editions/2026-01-05#s-",
            "weekly",
        ),
        (
            "/editions/weekly/2026-01-05",
            "href=\"/editions/weekly/rss.xml\"",
            "href=\"/editions/rss.xml\"",
        ),
        (
            "/editions/sitemap.xml",
            "/editions/weekly@2026-01-05</loc>",
            "feed",
        ),
    ] {
        let answer = stand.world.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert!(answer.body.contains(has), "{path}: {}", answer.body);
        assert!(!answer.body.contains(lacks), "{path}: {}", answer.body);
    }
    let list = stand.world.get("/ui/editions").await;
    assert!(
        list.body.contains("/ui/editions/weekly@2026-01-05"),
        "{}",
        list.body
    );
    assert!(
        list.body.contains("href=\"/editions/weekly\""),
        "{}",
        list.body
    );
}

#[tokio::test]
async fn ed_37_an_edition_that_is_not_made_here_is_refused() {
    let stand = two().await;
    for path in [
        "/api/v1/editions/monthly@2026-01-05",
        "/editions/monthly",
        "/editions/monthly/feed.xml",
        "/editions/monthly/rss.xml",
        "/editions/monthly/search",
    ] {
        let answer = stand.world.get(path).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.body);
    }
    for path in [
        "/api/v1/editions/We@2026-01-05",
        "/api/v1/editions/weekly@2026-1-5",
    ] {
        let answer = stand.world.get(path).await;
        assert_eq!(answer.status, 422, "{path}: {}", answer.body);
    }
    let run = stand
        .world
        .post("/api/v1/editions/monthly@2026-01-05/run", "{}")
        .await;
    assert_eq!(run.status, 404, "{}", run.body);
    let listed = stand.world.get("/api/v1/editions").await.json();
    assert_eq!(
        listed["editions"].as_array().map(Vec::len),
        Some(2),
        "nothing is left"
    );
}
