//! Bulk changes, tags and counts over HTTP (WK-07).

use serde_json::json;

use crate::harness::World;

async fn filled() -> World {
    let world = World::open();
    for (subject, tags) in [("a:1", "\"x\""), ("a:2", "\"x\",\"y\""), ("a:3", "")] {
        let body = format!(r#"{{"execute_at":"2026-01-05T09:00:00Z","tags":[{tags}]}}"#);
        let path = format!("/api/v1/tasks/ARTICLE_PUBLISH/{subject}");
        assert_eq!(world.put(&path, &body).await.status, 201);
    }
    world
}

#[tokio::test]
async fn tags_are_shown_and_counted() {
    let world = filled().await;
    let task = world.get("/api/v1/tasks/ARTICLE_PUBLISH/a:2").await.json();
    assert_eq!(task["tags"], json!(["x", "y"]));
    let counts = world.get("/api/v1/tasks/counts?tag=x&by=tag").await.json();
    let groups = json!([{ "name": "x", "tasks": 2 }, { "name": "y", "tasks": 1 }]);
    assert_eq!(
        counts,
        json!({ "tasks": 2, "exact": true, "groups": groups })
    );
    let listed = world.get("/api/v1/tasks?tag=x,y&live=true").await.json();
    assert_eq!(listed["tasks"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn wk_07_a_dry_run_counts_and_changes_nothing() {
    let world = filled().await;
    let body = r#"{"action":"cancel","filter":{"tag":"x"},"dry_run":true}"#;
    let answer = world.post("/api/v1/tasks/bulk", body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let counted = answer.json();
    assert_eq!(
        (&counted["matched"], &counted["would_change"]),
        (&json!(2), &json!(2))
    );
    assert!(
        world
            .rows()
            .await
            .iter()
            .all(almanack_core::task::Task::is_live)
    );
    assert_eq!(world.get("/api/v1/bulk").await.json()["bulks"], json!([]));
}

#[tokio::test]
async fn wk_07_a_bulk_change_begins_is_shown_and_stopped_once() {
    let world = filled().await;
    let body = r#"{"action":"move","by_s":7200,"filter":{"tag":"x"}}"#;
    let answer = world.post("/api/v1/tasks/bulk", body).await;
    assert_eq!(answer.status, 202, "{}", answer.body);
    let id = answer.json()["bulk_id"].to_string();
    let shown = world.get(&format!("/api/v1/bulk/{id}")).await.json();
    assert_eq!(
        (&shown["state"], &shown["filter"]),
        (&json!("running"), &json!({ "tag": ["x"] }))
    );
    let stop = format!("/api/v1/bulk/{id}/cancel");
    assert_eq!(world.post(&stop, "").await.json()["state"], "cancelled");
    let again = world.post(&stop, "").await;
    assert_eq!((again.status, again.code().as_str()), (409, "bulk_ended"));
    let unknown = world.get("/api/v1/bulk/99").await;
    assert_eq!(
        (unknown.status, unknown.code().as_str()),
        (404, "no_such_bulk")
    );
}

#[tokio::test]
async fn wk_07_an_unclear_bulk_change_is_refused() {
    let world = filled().await;
    for (body, names) in [
        (r#"{"action":"cancel","filter":{}}"#, "needs a filter"),
        (r#"{"action":"cancel"}"#, "filter"),
        (r#"{"action":"explode","filter":{"tag":"x"}}"#, "explode"),
        (r#"{"action":"move","filter":{"tag":"x"}}"#, "by_s or to"),
        (
            r#"{"action":"move","by_s":0,"filter":{"tag":"x"}}"#,
            "must not be 0",
        ),
        (
            r#"{"action":"retry","by_s":1,"filter":{"tag":"x"}}"#,
            "only move",
        ),
        (
            r#"{"action":"move","to":"soon","filter":{"tag":"x"}}"#,
            "RFC 3339",
        ),
        (r#"{"action":"cancel","filter":{"tagg":"x"}}"#, "tagg"),
        (
            r#"{"action":"cancel","filter":{"tag":"two words"}}"#,
            "letters",
        ),
        (
            r#"{"action":"cancel","filter":{"from":"soon"}}"#,
            "RFC 3339",
        ),
    ] {
        let answer = world.post("/api/v1/tasks/bulk", body).await;
        assert_eq!(answer.status, 422, "{body}: {}", answer.body);
        assert!(answer.body.contains(names), "{body}: {}", answer.body);
    }
    assert_eq!(world.get("/api/v1/bulk").await.json()["bulks"], json!([]));
}
