//! The control API: the same as the handle, for other processes.

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
async fn faults_and_inspection_of_a_feed_work_over_http() {
    let world = World::quiet().await;
    let limited = json!({ "limited": { "status": 429, "retry_after_s": 60 } });
    for (matching, effect) in [
        (json!({ "feed": 3 }), json!({ "status": 500 })),
        (json!({ "host": 0 }), limited),
        (json!({ "feed": 3 }), json!({ "serve": "not-a-feed.txt" })),
    ] {
        let rule = json!({ "matching": matching, "when": { "next": 1 }, "effect": effect });
        send(&world, Method::POST, "/faults", Some(rule)).await;
    }
    let statuses = [world.look(3).await.status, world.look(3).await.status];
    assert_eq!(statuses, [500, 429]);
    send(&world, Method::DELETE, "/faults", None).await;
    assert_eq!(world.look(3).await.status, 200);
    let seen = send(&world, Method::GET, "/requests", None).await;
    assert_eq!(
        (&seen["total"], &seen["newest"][1]["status"]),
        (&json!(3), &json!(429))
    );
    send(&world, Method::DELETE, "/requests", None).await;
    let seen = send(&world, Method::GET, "/requests", None).await;
    assert_eq!(seen["total"], 0);
}

#[tokio::test]
async fn an_entry_is_published_from_outside() {
    let world = World::quiet().await;
    send(
        &world,
        Method::POST,
        "/feeds/8/entries",
        Some(json!({ "title": "From outside" })),
    )
    .await;
    let entries = send(&world, Method::GET, "/feeds/8/entries", None).await;
    assert_eq!(entries[0]["title"], "From outside");
}

#[tokio::test]
async fn cards_show_the_properties_of_each_feed() {
    let world = World::quiet().await;
    let cards = send(&world, Method::GET, "/feeds?first=395&count=10", None).await;
    let numbers: Vec<_> = cards
        .as_array()
        .unwrap()
        .iter()
        .map(|card| card["feed"].as_u64())
        .collect();
    assert_eq!(numbers, (395..400).map(Some).collect::<Vec<_>>());
    assert!(cards[0]["rhythm"].is_string() && cards[0]["document"].is_string());
}
