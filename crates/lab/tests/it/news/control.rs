//! The control API does the same as the handle.

use serde_json::json;

use super::{News, received};

#[tokio::test]
async fn another_process_can_add_inject_faults_and_inspect() {
    let news = News::quiet().await;
    let post = |path: &str, body: serde_json::Value| news.client.post(news.url(path)).json(&body);
    let story = json!({
        "created_at": news.an_hour_ago(), "title": "Tides", "points": 7, "comments": ["In &amp; out"],
    });
    let added = received(post("/_world/stories", story)).await.json();
    let id = added["id"].as_i64().unwrap();
    let shown = news.json(&format!("/_world/stories/{id}")).await;
    assert_eq!(shown["facts"]["story"]["title"], "Tides");
    assert_eq!(shown["comments"][0]["text"], "In & out");
    let page = news.client.put(news.url(&format!("/_world/pages/{id}")));
    assert_eq!(received(page.json(&json!("missing"))).await.status, 204);
    assert_eq!(news.get(&format!("/pages/{id}")).await.status, 404);
    let rule = json!({
        "matching": { "endpoint": "best_stories" }, "when": { "next": 1 }, "effect": { "status": 502 },
    });
    assert_eq!(received(post("/_world/faults", rule)).await.status, 204);
    assert_eq!(
        news.json("/_world/faults").await[0]["effect"]["status"],
        502
    );
    assert_eq!(news.get("/v0/beststories.json").await.status, 502);
    let seen = news.json("/_world/requests").await;
    assert_eq!(seen["total"], 2, "looking inside does not count");
    let forget = news.client.delete(news.url("/_world/requests"));
    assert_eq!(received(forget).await.status, 204);
    assert_eq!(news.handle().total(), 0);
}

#[tokio::test]
async fn a_browser_shows_the_welcome_text() {
    let news = News::quiet().await;
    let welcome = news.get("/_world").await.text();
    assert!(welcome.contains("/api/v1/search_by_date"));
    assert_eq!(news.get("/healthz").await.text(), "ok");
    let unknown = news.get("/_world/stories/5").await;
    assert_eq!(unknown.status, 404);
}
