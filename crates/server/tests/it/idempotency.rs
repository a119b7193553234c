//! `Idempotency-Key`: carried out at most once (RS-14).

use almanack_testkit::fixture::at as instant;
use axum::http::Method;

use crate::harness::{ARTICLE, Answer, World, at, with};

async fn keyed(world: &World, method: Method, path: &str, body: &str, key: &str) -> Answer {
    let headers = [
        ("content-type", "application/json"),
        ("idempotency-key", key),
    ];
    world.send(with(method, path, body, &headers)).await
}

#[tokio::test]
async fn rs_14_idempotency_keys_replay_the_first_answer() {
    let world = World::open();
    let first = keyed(&world, Method::PUT, ARTICLE, &at(0), "k1").await;
    assert_eq!(first.status, 201);
    world.put(ARTICLE, &at(30)).await;
    world.clock.set(instant(10));
    let again = keyed(&world, Method::PUT, ARTICLE, &at(0), "k1").await;
    assert_eq!((again.status, &again.body), (first.status, &first.body));
    assert_eq!(again.header("location"), first.header("location"));
    let now = world.get(ARTICLE).await.json();
    assert_eq!(
        now["execute_at"], "2026-01-05T09:30:00Z",
        "the replay changed nothing"
    );
}

#[tokio::test]
async fn rs_14_idempotency_keys_cover_withdrawals_and_retries() {
    let world = World::open();
    world.put(ARTICLE, &at(0)).await;
    let first = keyed(&world, Method::DELETE, ARTICLE, "", "d").await;
    assert_eq!(first.json()["rule"], "cancelled");
    let retry = format!("{ARTICLE}/retry");
    let retried = keyed(&world, Method::POST, &retry, "", "r").await;
    assert_eq!(retried.json()["rule"], "reinserted");
    for (method, path, key, body) in [
        (Method::DELETE, ARTICLE, "d", first.body),
        (Method::POST, retry.as_str(), "r", retried.body),
    ] {
        assert_eq!(keyed(&world, method, path, "", key).await.body, body);
    }
    assert_eq!(world.get(ARTICLE).await.json()["status"], "INIT");
}

#[tokio::test]
async fn rs_14_idempotency_keys_are_refused_on_a_different_request() {
    let world = World::open();
    keyed(&world, Method::PUT, ARTICLE, &at(0), "k").await;
    let before = world.rows().await;
    for (method, path, body) in [
        (Method::PUT, ARTICLE, at(1)),
        (Method::PUT, "/api/v1/tasks/ARTICLE_PUBLISH/other", at(0)),
        (Method::DELETE, ARTICLE, at(0)),
    ] {
        let answer = keyed(&world, method, path, &body, "k").await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (422, "idempotency_key_reused")
        );
    }
    assert_eq!(world.rows().await, before);
}

#[tokio::test]
async fn rs_14_idempotency_keys_of_failed_calls_can_be_used_again() {
    let world = World::open();
    let wrong = keyed(&world, Method::PUT, ARTICLE, "{}", "k").await;
    assert_eq!(wrong.status, 422);
    assert_eq!(
        keyed(&world, Method::PUT, ARTICLE, &at(0), "k")
            .await
            .status,
        201
    );
}

#[tokio::test]
async fn rs_14_idempotency_keys_have_a_form() {
    let world = World::open();
    for key in ["", "two words", "tab\tbed", &"k".repeat(201)] {
        let answer = keyed(&world, Method::PUT, ARTICLE, &at(0), key).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (422, "invalid_idempotency_key")
        );
    }
    assert!(world.rows().await.is_empty());
    assert_eq!(
        keyed(&world, Method::PUT, ARTICLE, &at(0), &"k".repeat(200))
            .await
            .status,
        201
    );
}
