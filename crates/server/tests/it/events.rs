//! `CloudEvents` over HTTP (RS-10).

use axum::http::Method;
use serde_json::{Value, json};

use crate::harness::{Answer, World, with};

const EVENTS: &str = "/api/v1/events";
const ONE: &str = "application/cloudevents+json";
const MANY: &str = "application/cloudevents-batch+json";

fn event(subject: &str, revision: i64, hour: u8) -> Value {
    json!({
        "specversion": "1.0", "id": format!("{subject}/{revision}"), "source": "/articles",
        "type": "almanack.task.put.v1", "subject": subject,
        "data": {
            "kind": "ARTICLE_PUBLISH", "revision": revision,
            "execute_at": format!("2026-01-05T{hour:02}:00:00Z"),
        },
    })
}

async fn post(world: &World, media_type: &str, body: &Value) -> Answer {
    let headers = [("content-type", media_type)];
    world
        .send(with(Method::POST, EVENTS, &body.to_string(), &headers))
        .await
}

#[tokio::test]
async fn rs_10_redelivered_and_reordered_events_are_harmless() {
    let world = World::open();
    for (revision, hour, status, rule) in [
        (1, 9, 201, "created"),
        (3, 11, 200, "updated"),
        (2, 10, 200, "ignored_stale"),
        (3, 11, 200, "unchanged"),
    ] {
        let answer = post(&world, ONE, &event("article:42", revision, hour)).await;
        assert_eq!(
            (answer.status, answer.json()["rule"].as_str()),
            (status, Some(rule))
        );
    }
    let task = world
        .get("/api/v1/tasks/ARTICLE_PUBLISH/article:42")
        .await
        .json();
    assert_eq!(task["execute_at"], "2026-01-05T11:00:00Z");
    assert_eq!(task["origin"], "event:/articles");
}

#[tokio::test]
async fn the_same_event_means_the_same_in_every_mode() {
    let whole = event("article:42", 1, 9);
    let data = whole["data"].to_string();
    let binary = [
        ("content-type", "application/json"),
        ("ce-specversion", "1.0"),
        ("ce-id", "1"),
        ("ce-source", "/articles"),
        ("ce-type", "almanack.task.put.v1"),
        ("ce-subject", "article%3A42"),
    ];
    let mut receipts = Vec::new();
    for media_type in [ONE, "application/json"] {
        receipts.push(post(&World::open(), media_type, &whole).await.json());
    }
    let answer = World::open()
        .send(with(Method::POST, EVENTS, &data, &binary))
        .await;
    receipts.push(answer.json());
    let many = post(&World::open(), MANY, &json!([whole])).await.json();
    receipts.push(many["receipts"][0].clone());
    for receipt in &receipts {
        assert_eq!(receipt["rule"], "created", "{receipt}");
        assert_eq!(receipt, &receipts[0]);
    }
}

#[tokio::test]
async fn a_batch_keeps_its_order_and_a_bad_event_stops_no_other() {
    let world = World::open();
    let mut foreign = event("article:1", 3, 12);
    foreign["source"] = json!("/other");
    let mut unknown = event("article:2", 1, 9);
    unknown["type"] = json!("article.renamed.v1");
    let batch = json!([
        event("article:1", 1, 9),
        unknown,
        foreign,
        event("article:1", 2, 10)
    ]);
    let answer = post(&world, MANY, &batch).await;
    assert_eq!(answer.status, 200);
    let receipts = answer.json()["receipts"].clone();
    assert_eq!(receipts[0]["rule"], "created");
    assert_eq!(receipts[1]["error"]["code"], "invalid_event");
    assert_eq!(receipts[2]["rule"], "updated");
    assert_eq!(receipts[3]["rule"], "ignored_stale");
    let path = "/api/v1/tasks/ARTICLE_PUBLISH/article:1/history";
    let history = world.get(path).await.json();
    let origins: Vec<_> = history["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|h| h["origin"].clone())
        .collect();
    assert_eq!(
        origins,
        ["event:/articles", "event:/other", "event:/articles"]
    );
}

#[tokio::test]
async fn rs_14_idempotency_makes_a_batch_of_events_all_or_nothing() {
    let world = World::open();
    let headers = [("content-type", MANY), ("idempotency-key", "k")];
    let keyed = |body: Value| with(Method::POST, EVENTS, &body.to_string(), &headers);
    let mut foreign = event("article:2", 1, 9);
    foreign["source"] = json!("/other");
    for bad in [foreign, json!({}), event("article:1", 2, 10)] {
        let answer = world
            .send(keyed(json!([event("article:1", 1, 9), bad])))
            .await;
        assert_eq!(answer.status, 422, "{}", answer.body);
        assert!(world.rows().await.is_empty());
    }
    let good = json!([event("article:1", 1, 9), event("article:2", 1, 9)]);
    let first = world.send(keyed(good.clone())).await;
    assert_eq!(first.status, 200);
    assert_eq!(world.send(keyed(good)).await.body, first.body);
}

#[tokio::test]
async fn rs_14_idempotency_covers_what_travels_in_headers() {
    let world = World::open();
    let data = event("article:42", 1, 9)["data"].to_string();
    let send = |subject: &'static str| {
        let headers = [
            ("content-type", "application/json"),
            ("idempotency-key", "k"),
            ("ce-specversion", "1.0"),
            ("ce-id", "1"),
            ("ce-source", "/articles"),
            ("ce-type", "almanack.task.put.v1"),
            ("ce-subject", subject),
        ];
        world.send(with(Method::POST, EVENTS, &data, &headers))
    };
    assert_eq!(send("article:1").await.status, 201);
    assert_eq!(send("article:1").await.status, 201);
    assert_eq!(send("article:2").await.code(), "idempotency_key_reused");
}

#[tokio::test]
async fn rs_11_bad_input_changes_nothing_as_an_event_either() {
    let world = World::open();
    let file = json!({"kind": "X", "revision": 1, "execute_at": "2026-01-05T09:00:00Z",
        "callback_url": "file:///etc/passwd"});
    let inside = json!({"kind": "X", "revision": 1, "execute_at": "2026-01-05T09:00:00Z",
        "callback_url": "http://169.254.169.254/"});
    for (at, value, code, names) in [
        ("/specversion", json!("0.3"), "invalid_event", "1.0"),
        ("/id", json!(""), "invalid_event", "`id` is empty"),
        ("/source", json!(" "), "invalid_event", "`source` is empty"),
        (
            "/type",
            json!("article.renamed.v1"),
            "invalid_event",
            "almanack.task.put.v1",
        ),
        ("/subject", json!(""), "invalid_value", "subject"),
        (
            "/data/execute_at",
            json!("soon"),
            "invalid_time",
            "2026-01-05T08:00:00Z",
        ),
        ("/data/revision", json!(0), "invalid_value", "revision"),
        ("/data/kind", json!("OTHER"), "unknown_kind", "OTHER"),
        ("/data", json!({"kinds": 1}), "invalid_event", "kinds"),
        ("/data", file, "invalid_value", "data.callback_url"),
        ("/data", inside, "invalid_value", "outbound.allow"),
        ("", json!({}), "invalid_event", "specversion"),
        ("", json!([]), "invalid_event", "expected a JSON object"),
        (
            "/data",
            json!([]),
            "invalid_event",
            "expected a JSON object",
        ),
        (
            "/data/revision",
            json!("1"),
            "invalid_event",
            "expected a whole number",
        ),
    ] {
        let mut body = event("article:42", 1, 9);
        *body.pointer_mut(at).unwrap() = value;
        let answer = post(&world, ONE, &body).await;
        let text = format!("{at}: {}", answer.body);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (422, code),
            "{text}"
        );
        assert!(answer.body.contains(names), "{text}");
    }
    assert!(world.rows().await.is_empty());
}

#[tokio::test]
async fn rs_11_bad_input_changes_nothing_where_it_is_no_event_at_all() {
    let world = World::open();
    let broken = with(Method::POST, EVENTS, "{", &[("content-type", ONE)]);
    assert_eq!(world.send(broken).await.code(), "malformed_json");
    let object = with(Method::POST, EVENTS, "{}", &[("content-type", MANY)]);
    assert_eq!(world.send(object).await.code(), "invalid_body");
    let headless = [
        ("content-type", "application/json"),
        ("ce-specversion", "1.0"),
    ];
    let answer = world
        .send(with(Method::POST, EVENTS, "{}", &headless))
        .await;
    assert!(answer.body.contains("ce-id"), "{}", answer.body);
    assert!(world.rows().await.is_empty());
}
