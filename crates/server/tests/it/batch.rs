//! Many tasks in one call.

use axum::http::Method;
use insta::assert_json_snapshot;
use serde_json::{Value, json};

use crate::harness::{Answer, World, with};

const BATCH: &str = "/api/v1/tasks:batch";

fn item(subject: &str) -> Value {
    json!({"subject": subject, "kind": "ARTICLE_PUBLISH", "execute_at": "2026-01-05T09:00:00Z"})
}

async fn post(world: &World, items: &[Value]) -> Answer {
    world
        .post(BATCH, &json!({"tasks": items}).to_string())
        .await
}

async fn post_keyed(world: &World, items: &[Value], key: &str) -> Answer {
    let headers = [
        ("content-type", "application/json"),
        ("idempotency-key", key),
    ];
    let body = json!({"tasks": items}).to_string();
    world.send(with(Method::POST, BATCH, &body, &headers)).await
}

#[tokio::test]
async fn items_are_answered_in_order_and_a_bad_one_stops_no_other() {
    let world = World::open();
    let mut misspelt = item("article:2");
    misspelt["prioritty"] = json!(1);
    let mut unknown = item("article:3");
    unknown["kind"] = json!("OTHER");
    let answer = post(
        &world,
        &[item("article:1"), misspelt, unknown, item("article:4")],
    )
    .await;
    assert_eq!(answer.status, 200);
    assert_json_snapshot!(answer.json(), @r#"
    {
      "receipts": [
        {
          "execute_at": "2026-01-05T09:00:00Z",
          "kind": "ARTICLE_PUBLISH",
          "receipt": "1.0",
          "revision": 0,
          "rule": "created",
          "subject": "article:1",
          "task_id": 1
        },
        {
          "error": {
            "code": "invalid_body",
            "detail": "unknown field `prioritty`; known: `subject`, `kind`, `execute_at`, `payload`, `callback`, `max_retry`, `priority`, `expires_at`, `expires_after_s`, `revision`, `tags`",
            "path": "prioritty",
            "status": 422,
            "title": "Invalid body",
            "type": "/problems/invalid_body"
          }
        },
        {
          "error": {
            "code": "unknown_kind",
            "detail": "kind `OTHER` is not configured and the task has no callback.url",
            "known_kinds": [
              "ARTICLE_PUBLISH",
              "MAIL_SEND"
            ],
            "path": "kind",
            "status": 422,
            "title": "Unknown kind",
            "type": "/problems/unknown_kind"
          }
        },
        {
          "execute_at": "2026-01-05T09:00:00Z",
          "kind": "ARTICLE_PUBLISH",
          "receipt": "2.0",
          "revision": 0,
          "rule": "created",
          "subject": "article:4",
          "task_id": 2
        }
      ]
    }
    "#);
    assert_eq!(world.rows().await.len(), 2);
}

#[tokio::test]
async fn two_items_about_one_task_are_decided_one_after_the_other() {
    let world = World::open();
    let mut later = item("article:1");
    later["execute_at"] = json!("2026-01-05T10:00:00Z");
    let answer = post(&world, &[item("article:1"), later]).await.json();
    assert_eq!(answer["receipts"][0]["rule"], "created");
    assert_eq!(answer["receipts"][1]["rule"], "updated");
    assert_eq!(answer["receipts"][1]["execute_at"], "2026-01-05T10:00:00Z");
}

#[tokio::test]
async fn rs_14_idempotency_makes_a_batch_all_or_nothing() {
    let world = World::open();
    let mut unknown = item("article:3");
    unknown["kind"] = json!("OTHER");
    for (why, bad) in [
        ("unreadable", item("")),
        ("twice", item("article:1")),
        ("kind", unknown),
    ] {
        let answer = post_keyed(&world, &[item("article:1"), bad], "k").await;
        assert_eq!(answer.status, 422, "{why}: {}", answer.body);
        assert!(world.rows().await.is_empty(), "{why}");
    }
    let first = post_keyed(&world, &[item("article:1"), item("article:2")], "k").await;
    assert_eq!(first.status, 200, "{}", first.body);
    let again = post_keyed(&world, &[item("article:1"), item("article:2")], "k").await;
    assert_eq!(again.body, first.body);
    assert_eq!(world.rows().await.len(), 2);
}

#[tokio::test]
async fn rs_14_idempotency_refusals_name_the_items() {
    let world = World::open();
    let answer = post_keyed(&world, &[item("article:1"), item(" ")], "k").await;
    assert_json_snapshot!(answer.json(), @r#"
    {
      "code": "invalid_items",
      "detail": "invalid items: 1; with an Idempotency-Key the call is all or nothing, so nothing was stored",
      "errors": [
        {
          "error": {
            "code": "invalid_value",
            "detail": "subject must have 1 to 200 bytes, no control characters and no blank at either end; this one has 1 bytes",
            "path": "subject",
            "status": 422,
            "title": "Invalid value",
            "type": "/problems/invalid_value"
          },
          "index": 1
        }
      ],
      "status": 422,
      "title": "Invalid items",
      "type": "/problems/invalid_items"
    }
    "#);
}

#[tokio::test]
async fn a_batch_has_a_largest_size() {
    let world = World::open();
    let items: Vec<Value> = (0..6).map(|n| item(&format!("article:{n}"))).collect();
    let answer = post(&world, &items).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (413, "too_many_items")
    );
    assert!(world.rows().await.is_empty());
    assert_eq!(post(&world, &items[..5]).await.status, 200);
    assert_eq!(post(&world, &[]).await.json(), json!({"receipts": []}));
}

#[tokio::test]
async fn a_batch_of_the_wrong_form_is_refused_as_a_whole() {
    let world = World::open();
    for (body, code) in [
        ("", "malformed_json"),
        ("[]", "invalid_body"),
        ("{}", "invalid_body"),
        (r#"{"tasks":{}}"#, "invalid_body"),
        (r#"{"tasks":[],"extra":1}"#, "invalid_body"),
    ] {
        assert_eq!(world.post(BATCH, body).await.code(), code, "{body}");
    }
}
