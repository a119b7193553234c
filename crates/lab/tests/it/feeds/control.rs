//! The control API: what a handle does, from another process.

use reqwest::Method;
use serde_json::{Value, json};

use super::{World, received};

async fn send(world: &World, method: Method, path: &str, body: Option<Value>) -> Value {
    let url = format!("{}/_world{path}", world.running.url());
    let mut request = world.client.request(method, url);
    if let Some(body) = body {
        request = request.json(&body);
    }
    let answer = received(request).await;
    assert!(answer.status < 300, "{path}: {answer:?}");
    serde_json::from_slice(&answer.body).unwrap_or(Value::Null)
}

#[tokio::test]
async fn a_feed_is_disturbed_and_looked_at_from_outside() {
    let world = World::calm().await;
    for fault in [
        json!({ "fault": { "status": 500 }, "next": 1 }),
        json!({ "fault": { "limited": { "status": 429, "retry_after_s": 60 } }, "next": 1 }),
        json!({ "fault": { "moved": { "status": 301 } }, "next": 1 }),
        json!({ "fault": { "serve": "not-a-feed.txt" }, "next": 1 }),
        json!({ "fault": "cut_mid_body" }),
    ] {
        send(&world, Method::POST, "/feeds/3/faults", Some(fault)).await;
    }
    let statuses = [world.look(3).await.status, world.look(3).await.status];
    assert_eq!(statuses, [500, 429]);
    let shown = send(&world, Method::GET, "/feeds/3", None).await;
    assert_eq!(shown["count"]["requests"], 2);
    assert_eq!(shown["faults"].as_array().unwrap().len(), 5);
    assert_eq!(shown["feed"]["url"], world.handle().feed_url(3));
    send(&world, Method::DELETE, "/feeds/3/faults", None).await;
    assert_eq!(world.look(3).await.status, 200);
    let seen = send(&world, Method::GET, "/feeds/3/requests", None).await;
    assert_eq!(seen[2]["too_early"], true);
}

#[tokio::test]
async fn an_entry_is_published_from_outside_and_its_time_is_told() {
    let world = World::calm().await;
    send(
        &world,
        Method::POST,
        "/feeds/8/entries",
        Some(json!({ "title": "From outside" })),
    )
    .await;
    let entries = send(&world, Method::GET, "/feeds/8/entries", None).await;
    assert_eq!(entries[0]["title"], "From outside");
    let path = "/feeds/8/published?from=2026-01-05T08:00:00Z&until=2026-01-05T08:00:01Z";
    let published = send(&world, Method::GET, path, None).await;
    assert_eq!(published, json!(["2026-01-05T08:00:00Z"]));
}

#[tokio::test]
async fn hosts_and_totals_are_told_and_forgotten() {
    let world = World::calm().await;
    let fault = json!({ "fault": { "status": 503 } });
    send(&world, Method::POST, "/hosts/0/faults", Some(fault)).await;
    assert_eq!(world.look(1).await.status, 503);
    send(&world, Method::DELETE, "/hosts/0/faults", None).await;
    assert_eq!(world.look(1).await.status, 200);
    let host = send(&world, Method::GET, "/hosts/0", None).await;
    assert_eq!(
        (&host["count"]["requests"], &host["character"]),
        (&json!(2), &json!("steady"))
    );
    let all = send(&world, Method::GET, "/requests", None).await;
    assert_eq!(
        (&all["total"]["failed"], &all["total"]["full"]),
        (&json!(1), &json!(1))
    );
    send(&world, Method::DELETE, "/requests", None).await;
    let all = send(&world, Method::GET, "/requests", None).await;
    assert_eq!(all["total"]["requests"], 0);
}

#[tokio::test]
async fn cards_tell_what_each_feed_is_like() {
    let world = World::calm().await;
    let cards = send(&world, Method::GET, "/feeds?first=395&count=10", None).await;
    let numbers: Vec<_> = cards
        .as_array()
        .unwrap()
        .iter()
        .map(|card| card["feed"].as_u64())
        .collect();
    assert_eq!(numbers, (395..400).map(Some).collect::<Vec<_>>());
    assert!(cards[0]["rhythm"]["kind"].is_string() && cards[0]["zone"].is_string());
}
