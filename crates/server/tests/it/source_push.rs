//! Hubs and publishers at the door: callbacks, pings, and what they must not learn (SS-23).

use std::sync::Arc;

use almanack_core::source::{
    SourceId, State,
    check::Look,
    hub::{NamedHub, Reach},
};
use almanack_core::time::Clock as _;
use almanack_testkit::hubs::{SIGNED, ScriptedHubs};
use axum::{
    body::Body,
    http::{Method, Request},
};
use jiff::SignedDuration;

use crate::{
    harness::{Answer, World},
    scripted::document,
};

const TOPIC: &str = "https://a.example/feed";

/// A world whose one source was asked for at its hub; and the path of its callback.
async fn pushed() -> (World, String) {
    let hubs = Arc::new(ScriptedHubs::new(Reach::Open));
    let world = World::pushed(&hubs);
    let Look::Document(mut read) = document(&[("1", "2026-01-05T07:00:00Z")]) else {
        unreachable!("a document");
    };
    read.hub = Some(NamedHub {
        hub: "https://hub.example/".to_owned(),
        topic: TOPIC.to_owned(),
    });
    world.fixture.script.say(TOPIC, Look::Document(read));
    let id = world.add(&format!(r#"{{"address":"{TOPIC}"}}"#)).await;
    world.check(1).await;
    let token = &hubs.asked()[0].1.token;
    let path = format!("/websub/{id}/at-{token}");
    (world, path)
}

fn intent(path: &str, mode: &str, topic: &str) -> String {
    let topic = topic.replace(':', "%3A").replace('/', "%2F");
    format!("{path}?hub.mode={mode}&hub.topic={topic}&hub.challenge=c-1&hub.lease_seconds=3600")
}

async fn push(world: &World, path: &str, signature: &str, body: &str) -> Answer {
    let request = Request::builder()
        .method(Method::POST)
        .uri(path)
        .header("x-hub-signature", signature)
        .header("content-type", "text/plain");
    let request = request.body(Body::from(body.to_owned())).unwrap();
    world.send(request).await
}

async fn titles(world: &World) -> usize {
    let entries = world.get("/api/v1/entries").await.json();
    entries["entries"].as_array().unwrap().len()
}

#[tokio::test]
async fn ss_23_a_challenge_is_echoed_only_for_what_was_requested() {
    let (world, path) = pushed().await;
    for (request, expected) in [
        (intent(&path, "subscribe", "https://other.example/"), 404),
        (intent(&path, "unsubscribe", TOPIC), 404),
        (intent(&path, "denied", "https://other.example/"), 404),
        (intent("/websub/1/at-guess", "subscribe", TOPIC), 410),
        (intent("/websub/99/at-token-0", "subscribe", TOPIC), 410),
    ] {
        assert_eq!(world.get(&request).await.status, expected, "{request}");
    }
    let source = world.get("/api/v1/sources/1").await.json();
    assert_eq!(source["hub"]["state"], "requested", "{source}");
    let answer = world.get(&intent(&path, "subscribe", TOPIC)).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "c-1"));
    assert!(
        answer
            .header("content-type")
            .unwrap()
            .starts_with("text/plain")
    );
    let source = world.get("/api/v1/sources/1").await;
    assert_eq!(source.json()["hub"]["state"], "subscribed");
    assert!(!source.body.contains("token-0"), "{}", source.body);
    let denied = world.get(&intent(&path, "denied", TOPIC)).await;
    assert_eq!(denied.status, 200);
    let why = world.get("/api/v1/sources/1/why").await.json();
    assert!(why["push"].as_str().unwrap().contains("refuses"), "{why}");
}

#[tokio::test]
async fn ss_23_a_push_is_kept_if_it_is_signed_and_answered_alike_if_not() {
    let (world, path) = pushed().await;
    world.get(&intent(&path, "subscribe", TOPIC)).await;
    let forged = push(&world, &path, "sha256=wrong", "forged").await;
    assert_eq!((forged.status, titles(&world).await), (202, 1));
    let genuine = push(&world, &path, SIGNED, "news").await;
    assert_eq!((genuine.status, titles(&world).await), (202, 2));
    assert_eq!(forged.body, genuine.body);
    let gone = push(&world, "/websub/1/at-guess", SIGNED, "x").await;
    assert_eq!((gone.status, gone.code().as_str()), (410, "not_subscribed"));
    let large = push(&world, &path, SIGNED, &"x".repeat(5_000)).await;
    assert_eq!(large.code(), "body_too_large");
}

fn rpc(site: &str) -> String {
    format!(
        "<methodCall><methodName>weblogUpdates.ping</methodName><params><param><value>A</value>\
         </param><param><value>{site}</value></param></params></methodCall>"
    )
}

#[tokio::test]
async fn ss_23_pings_are_answered_alike_and_bounded() {
    let (world, _) = pushed().await;
    world
        .clock
        .set(world.clock.now() + SignedDuration::from_mins(5));
    let unknown = world.post("/ping", &rpc("https://unknown.example/")).await;
    let before = world.get("/api/v1/sources/1").await.json();
    let known = world.post("/ping", &rpc(TOPIC)).await;
    let after = world.get("/api/v1/sources/1").await.json();
    assert_eq!((known.status, &known.body), (200, &unknown.body));
    assert_ne!(before["next_due_at"], after["next_due_at"]);
    let other = world.post("/ping", "<methodName>x</methodName>").await;
    assert!(other.body.contains("faultCode"), "{}", other.body);
    let large = world.post("/ping", &"x".repeat(8_193)).await;
    assert_eq!(large.code(), "body_too_large");
    for _ in 0..60 {
        world.post("/ping", &rpc(TOPIC)).await;
    }
    let many = world.post("/ping", &rpc(TOPIC)).await;
    assert!(many.body.contains("Too many pings."), "{}", many.body);
    let closed = World::open().post("/ping", &rpc(TOPIC)).await;
    assert_eq!(closed.code(), "no_such_path", "off by default");
}

#[tokio::test]
async fn ss_23_a_ping_with_a_token_says_when_it_is_checked_and_no_pause_ends() {
    let (world, _) = pushed().await;
    let now = world.clock.now();
    let pinged = world.post("/api/v1/sources/1/ping", "").await;
    assert_eq!(pinged.status, 202, "{}", pinged.body);
    let next = (now + SignedDuration::from_mins(1)).to_string();
    assert_eq!(pinged.json()["next_due_at"], next, "one check a minute");
    world.post("/api/v1/sources/1/pause", "{}").await;
    let pinged = world.post("/api/v1/sources/1/ping", "").await;
    assert_eq!(pinged.json()["next_due_at"], serde_json::Value::Null);
    let source = world.fixture.sources.load(SourceId(1)).await.unwrap();
    assert!(matches!(source.state, State::Paused { .. }));
    let unknown = world.post("/api/v1/sources/99/ping", "").await;
    assert_eq!(unknown.code(), "no_such_source");
}

#[tokio::test]
async fn ss_08_due_list_and_show_say_one_time_after_a_hosts_429() {
    let world = World::open();
    let until = world.clock.now() + SignedDuration::from_hours(1);
    world.add(r#"{"address":"https://a.example/one"}"#).await;
    world
        .fixture
        .script
        .say("https://a.example/one", Look::Wait(until));
    let due = world.get("/api/v1/sources/due").await.json();
    assert_eq!(due["sources"].as_array().unwrap().len(), 1);
    world.check(1).await;
    let due = world.get("/api/v1/sources/due").await.json();
    assert_eq!(due["sources"].as_array().unwrap().len(), 0, "{due}");
    let shown = world.get("/api/v1/sources/1").await.json();
    let listed = world.get("/api/v1/sources").await.json();
    assert_eq!(shown["next_due_at"], until.to_string());
    assert_eq!(listed["sources"][0]["next_due_at"], shown["next_due_at"]);
    assert!(
        shown["reason"]
            .as_str()
            .unwrap()
            .contains("its host asked for a wait")
    );
    let stats = world.get("/api/v1/sources/stats").await.json();
    assert_eq!(stats["due_now"], 0);
}
