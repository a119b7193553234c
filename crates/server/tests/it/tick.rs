//! Ticks from outside: by token, by signature, once.

use std::sync::Arc;

use almanack_adapters::signature::SigningKey;
use almanack_core::{store::TokenStore, time::Sleeper, token::Scope};
use almanack_engine::reloadable::Reloadable;
use almanack_server::{Tick, access::Access};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::{clock::ManualClock, fixture::at};
use async_trait::async_trait;
use axum::http::Method;
use insta::assert_json_snapshot;
use jiff::Timestamp;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::{
    access::made,
    harness::{Answer, World, send, ticker, with},
    schedules::{HOURLY, NIGHTLY},
};

const HOUR: i64 = 3_600;
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn key() -> SigningKey {
    SigningKey::parse(SECRET).unwrap()
}

/// Waits until the test lets it go on; then the clock has moved.
struct Held(Arc<Semaphore>, Arc<ManualClock>);

#[async_trait]
impl Sleeper for Held {
    async fn until(&self, at: Timestamp) {
        self.0.acquire().await.unwrap().forget();
        self.1.set(at);
    }
}

/// A node that knows the secret and asks everybody else for a token. Its ticks wait for `held`.
async fn signed_world(held: &Arc<Semaphore>) -> World {
    let store = SqliteStore::in_memory().unwrap();
    for scope in Scope::ALL {
        store
            .save_token(&made(scope.as_str(), scope).0)
            .await
            .unwrap();
    }
    World::ticking(store, Access::Tokens, |store, clock| Tick {
        ticker: Some(ticker(
            store,
            clock,
            Arc::new(Held(held.clone(), clock.clone())),
        )),
        verifier: Reloadable::new(Some(Arc::new(key()))),
    })
}

async fn signed() -> World {
    signed_world(&Arc::new(Semaphore::new(0))).await
}

/// A call as the worker in `deploy/cloudflare` makes it.
async fn call(world: &World, id: &str, time: Timestamp, signature: &str, body: &str) -> Answer {
    let time = time.as_second().to_string();
    let headers = [
        ("content-type", "application/json"),
        ("webhook-id", id),
        ("webhook-timestamp", &time),
        ("webhook-signature", signature),
    ];
    send(&world.app, with(Method::POST, "/tick", body, &headers)).await
}

async fn sign(world: &World, id: &str, time: Timestamp, body: &str) -> Answer {
    let signature = key().sign(id, time, body.as_bytes());
    call(world, id, time, &signature, body).await
}

#[tokio::test]
async fn a_tick_fires_what_is_due_and_reports() {
    let world = World::open();
    world.put(NIGHTLY, HOURLY).await;
    let quiet = world.post("/tick", "").await;
    assert_json_snapshot!(quiet.json(), @r#"
    {
      "attempts": {},
      "complete": true,
      "fired": 0,
      "next_due_at": "2026-01-05T09:00:00Z",
      "skipped": 0,
      "ticked_at": "2026-01-05T08:00:00Z"
    }
    "#);
    world.clock.set(at(5 * HOUR + 60));
    let busy = world.post("/tick", r#"{"budget_ms":100}"#).await;
    assert_eq!(busy.status, 200);
    assert_json_snapshot!(busy.json(), @r#"
    {
      "attempts": {},
      "complete": false,
      "fired": 1,
      "next_due_at": "2026-01-05T13:01:00Z",
      "skipped": 4,
      "ticked_at": "2026-01-05T13:01:00Z"
    }
    "#);
    assert_eq!(
        world.get(NIGHTLY).await.json()["slots"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[tokio::test]
async fn a_budget_is_bounded() {
    let world = World::open();
    for budget in ["0", "300001"] {
        let refused = world
            .post("/tick", &format!(r#"{{"budget_ms":{budget}}}"#))
            .await;
        assert_eq!(
            (refused.status, &refused.json()["path"]),
            (422, &json!("budget_ms"))
        );
    }
    for (body, code) in [
        ("[]", "invalid_body"),
        (r#"{"x":1}"#, "invalid_body"),
        ("{", "malformed_json"),
    ] {
        assert_eq!(world.post("/tick", body).await.code(), code, "{body}");
    }
    assert_eq!(world.post("/tick", "{}").await.status, 200);
    assert_eq!(world.get("/tick").await.status, 405);
}

#[tokio::test]
async fn a_tick_needs_a_token_that_may_operate_or_a_signature() {
    let world = signed().await;
    for (shown, status) in [
        ("read", 403),
        ("operate", 200),
        ("admin", 200),
        ("nobody", 401),
    ] {
        let shown = format!("Bearer alm_{shown}");
        let headers = [("authorization", shown.as_str())];
        let answer = world.send(with(Method::POST, "/tick", "", &headers)).await;
        assert_eq!(answer.status, status, "{shown}");
    }
    assert_eq!(world.post("/tick", "{}").await.code(), "unauthenticated");
    let ticked = sign(&world, "tick-1", at(0), r#"{"budget_ms":20000}"#).await;
    assert_eq!(ticked.status, 200, "{}", ticked.body);
    assert_eq!(ticked.json()["ticked_at"], "2026-01-05T08:00:00Z");
}

#[tokio::test]
async fn a_signature_that_does_not_fit_is_refused() {
    let world = signed().await;
    let right = key().sign("a", at(0), b"{}");
    for (id, time, signature, body, why) in [
        ("b", at(0), right.as_str(), "{}", "another id"),
        ("a", at(1), &right, "{}", "another time"),
        ("a", at(0), &right, "{ }", "another body, byte for byte"),
        ("a", at(0), "v1,AAAA", "{}", "a made-up signature"),
        ("a", at(0), "", "{}", "none"),
        (
            "a",
            at(0),
            &right.replace("v1,", "v2,"),
            "{}",
            "another scheme",
        ),
        ("", at(0), &right, "{}", "no id"),
    ] {
        let refused = call(&world, id, time, signature, body).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (401, "bad_signature"),
            "{why}"
        );
    }
    for seconds in [-301, 301] {
        let stale = sign(&world, "a", at(seconds), "{}").await;
        assert_eq!(stale.code(), "bad_signature", "{seconds}");
        assert!(
            stale.body.contains("more than five minutes"),
            "{}",
            stale.body
        );
    }
    let two = format!("v1,AAAA {right}");
    assert_eq!(call(&world, "a", at(0), &two, "{}").await.status, 200);
    let large = "x".repeat(20_000);
    assert_eq!(sign(&world, "b", at(0), &large).await.status, 413);
}

#[tokio::test]
async fn a_signature_counts_only_where_a_secret_is_known() {
    let world = World::open();
    let refused = sign(&world, "a", at(0), "{}").await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (401, "bad_signature")
    );
    let elsewhere = World::ticking(SqliteStore::in_memory().unwrap(), Access::Tokens, |_, _| {
        Tick {
            ticker: None,
            verifier: Reloadable::new(Some(Arc::new(key()))),
        }
    });
    assert_eq!(
        sign(&elsewhere, "a", at(0), "{}").await.code(),
        "no_such_path"
    );
}

#[tokio::test]
async fn a_signature_allows_a_tick_and_nothing_else() {
    let world = signed().await;
    let time = at(0).as_second().to_string();
    let signature = key().sign("a", at(0), HOURLY.as_bytes());
    let headers = [
        ("content-type", "application/json"),
        ("webhook-id", "a"),
        ("webhook-timestamp", &time),
        ("webhook-signature", &signature),
    ];
    let put = world
        .send(with(Method::PUT, NIGHTLY, HOURLY, &headers))
        .await;
    assert_eq!(put.code(), "unauthenticated");
}

#[tokio::test]
async fn a_tick_that_succeeded_is_not_repeated() {
    let world = signed().await;
    assert_eq!(sign(&world, "a", at(0), "{}").await.status, 200);
    let played_back = sign(&world, "a", at(0), "{}").await;
    assert_eq!(
        (played_back.status, played_back.code().as_str()),
        (409, "already_received")
    );
    world.clock.set(at(60));
    assert_eq!(
        sign(&world, "a", at(60), "{}").await.code(),
        "already_received",
        "signed again"
    );
    assert_eq!(sign(&world, "b", at(60), "{}").await.status, 200);
    assert_eq!(
        sign(&world, "a", at(60), r#"{"budget_ms":0}"#).await.status,
        422
    );
}

#[tokio::test]
async fn a_tick_under_way_is_not_begun_again() {
    let held = Arc::new(Semaphore::new(0));
    let world = Arc::new(signed_world(&held).await);
    put_by_token(&world).await;
    world.clock.set(at(HOUR));
    let first = tokio::spawn({
        let world = world.clone();
        async move { sign(&world, "a", at(HOUR), r#"{"budget_ms":1}"#).await }
    });
    // The slot is in the ledger once the first tick has planned; then it waits for its firing to
    // run.
    while world.rows().await.is_empty() {
        tokio::task::yield_now().await;
    }
    let second = sign(&world, "a", at(HOUR), r#"{"budget_ms":1}"#).await;
    assert_eq!(
        (second.status, second.code().as_str()),
        (409, "already_received")
    );
    held.add_permits(100);
    let first = first.await.unwrap();
    assert_eq!((first.status, &first.json()["fired"]), (200, &json!(1)));
    assert_eq!(first.json()["complete"], false);
}

#[tokio::test]
async fn a_caller_that_went_away_may_call_again() {
    let held = Arc::new(Semaphore::new(0));
    let world = Arc::new(signed_world(&held).await);
    put_by_token(&world).await;
    world.clock.set(at(HOUR));
    let gone = tokio::spawn({
        let world = world.clone();
        async move { sign(&world, "a", at(HOUR), "{}").await }
    });
    while world.rows().await.is_empty() {
        tokio::task::yield_now().await;
    }
    gone.abort();
    assert!(gone.await.is_err());
    held.add_permits(100);
    world.clock.set(at(HOUR + 60));
    let again = sign(&world, "a", at(HOUR + 60), r#"{"budget_ms":1}"#).await;
    assert_eq!(again.status, 200, "{}", again.body);
}

async fn put_by_token(world: &World) {
    let headers = [
        ("content-type", "application/json"),
        ("authorization", "Bearer alm_operate"),
    ];
    let put = world
        .send(with(Method::PUT, NIGHTLY, HOURLY, &headers))
        .await;
    assert_eq!(put.status, 201);
}
