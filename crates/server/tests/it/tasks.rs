//! One task through its life.

use almanack_core::finish::Outcome;
use almanack_testkit::fixture::at as instant;
use insta::assert_json_snapshot;
use serde_json::json;

use crate::harness::{ARTICLE, World, at};

#[tokio::test]
async fn rs_05_a_first_request_creates_a_task_and_says_where() {
    let world = World::open();
    let answer = world
        .put("/api/v1/tasks/ARTICLE_PUBLISH/a%2Fb%20c", &at(0))
        .await;
    assert_eq!(answer.status, 201);
    let location = answer.header("location").unwrap();
    assert_eq!(location, "/api/v1/tasks/ARTICLE_PUBLISH/a%2Fb%20c");
    assert_json_snapshot!(answer.json(), @r#"
    {
      "execute_at": "2026-01-05T09:00:00Z",
      "kind": "ARTICLE_PUBLISH",
      "receipt": "1.0",
      "revision": 0,
      "rule": "created",
      "subject": "a/b c",
      "task_id": 1
    }
    "#);
    let task = world.get(location).await;
    assert_eq!(task.status, 200);
    assert_eq!(task.json()["subject"], "a/b c");
}

#[tokio::test]
async fn a_task_shows_what_it_was_given_byte_for_byte() {
    let world = World::open();
    let body = r#"{"execute_at":"2026-01-05T17:00:00+08:00","payload":{"n": 12345678901234567890123, "x":1.10},
        "callback":{"url":"https://articles.example/publish"},"max_retry":0,"priority":9,"revision":7}"#;
    assert_eq!(world.put(ARTICLE, body).await.status, 201);
    let answer = world.get(ARTICLE).await;
    assert!(
        answer
            .body
            .contains(r#""payload":{"n": 12345678901234567890123, "x":1.10}"#)
    );
    let mut task = answer.json();
    task["payload"].take();
    assert_json_snapshot!(task, @r#"
    {
      "attempt": 0,
      "callback": {
        "url": "https://articles.example/publish"
      },
      "created_at": "2026-01-05T08:00:00Z",
      "execute_at": "2026-01-05T09:00:00Z",
      "kind": "ARTICLE_PUBLISH",
      "live": true,
      "max_retry": 0,
      "origin": "api:anonymous",
      "payload": null,
      "priority": 9,
      "revision": 7,
      "status": "INIT",
      "subject": "article:42",
      "task_id": 1
    }
    "#);
}

#[tokio::test]
async fn rs_02_a_waiting_task_is_changed_in_place() {
    let world = World::open();
    let first = world.put(ARTICLE, &at(0)).await.json();
    let answer = world.put(ARTICLE, &at(30)).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["task_id"], first["task_id"]);
    assert_json_snapshot!(answer.json(), @r#"
    {
      "execute_at": "2026-01-05T09:30:00Z",
      "kind": "ARTICLE_PUBLISH",
      "old_execute_at": "2026-01-05T09:00:00Z",
      "receipt": "1.1",
      "revision": 0,
      "rule": "updated",
      "subject": "article:42",
      "task_id": 1
    }
    "#);
}

#[tokio::test]
async fn rs_03_a_running_task_is_cancelled_and_a_new_one_inserted() {
    let world = World::open();
    world.put(ARTICLE, &at(0)).await;
    world.clock.set(instant(3600));
    world.claim(1).await;
    let answer = world.put(ARTICLE, &at(30)).await;
    assert_eq!(answer.status, 201);
    assert_json_snapshot!(answer.json(), @r#"
    {
      "cancelled_task_id": 1,
      "execute_at": "2026-01-05T09:30:00Z",
      "kind": "ARTICLE_PUBLISH",
      "old_execute_at": "2026-01-05T09:00:00Z",
      "receipt": "1.1",
      "revision": 0,
      "rule": "cancelled_and_inserted",
      "subject": "article:42",
      "task_id": 2
    }
    "#);
}

#[tokio::test]
async fn rs_04_a_task_that_is_done_stays_done_and_the_answer_says_so() {
    let world = World::open();
    world.put(ARTICLE, &at(0)).await;
    world.clock.set(instant(3600));
    let task = world.claim(1).await;
    world.done(&task).await;
    for answer in [
        world.put(ARTICLE, &at(30)).await,
        world.delete(ARTICLE).await,
        world.post(&format!("{ARTICLE}/retry"), "").await,
    ] {
        assert_eq!(answer.status, 200);
        assert_eq!(answer.json()["rule"], "ignored_done");
        assert_eq!(answer.json()["execute_at"], "2026-01-05T09:00:00Z");
    }
    assert_eq!(world.get(ARTICLE).await.json()["status"], "SUCCESS");
}

#[tokio::test]
async fn rs_11_a_time_in_the_past_means_now() {
    let world = World::open();
    let answer = world
        .put(ARTICLE, r#"{"execute_at":"0001-01-01T00:00:00Z"}"#)
        .await;
    assert_eq!(answer.status, 201);
    assert_eq!(answer.json()["execute_at"], "2026-01-05T08:00:00Z");
}

#[tokio::test]
async fn a_withdrawn_task_is_cancelled_and_can_come_back() {
    let world = World::open();
    world.put(ARTICLE, &at(0)).await;
    let answer = world.delete(ARTICLE).await;
    assert_eq!(
        (answer.status, answer.json()["rule"].as_str()),
        (200, Some("cancelled"))
    );
    assert_eq!(world.get(ARTICLE).await.json()["status"], "CANCELLED");
    let answer = world.put(ARTICLE, &at(10)).await;
    assert_eq!(
        (answer.status, answer.json()["rule"].as_str()),
        (201, Some("reinserted"))
    );
}

#[tokio::test]
async fn rs_10_a_withdrawal_with_a_revision_outruns_the_creation_it_belongs_to() {
    let world = World::open();
    let answer = world.delete(&format!("{ARTICLE}?revision=2")).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let late = r#"{"execute_at":"2026-01-05T09:00:00Z","revision":1}"#;
    let answer = world.put(ARTICLE, late).await;
    assert_eq!(
        (answer.status, answer.json()["rule"].as_str()),
        (200, Some("ignored_stale"))
    );
}

#[tokio::test]
async fn a_task_that_failed_for_good_is_tried_again_now_with_its_payload() {
    let world = World::open();
    world
        .put(
            ARTICLE,
            r#"{"execute_at":"2026-01-05T08:00:00Z","payload":[1]}"#,
        )
        .await;
    let task = world.claim(1).await;
    world
        .end(
            &task,
            &Outcome::GiveUp {
                error: "410 Gone".to_owned(),
            },
        )
        .await;
    world.clock.set(instant(60));
    let answer = world.post(&format!("{ARTICLE}/retry"), "").await;
    assert_eq!(
        (answer.status, answer.json()["rule"].as_str()),
        (201, Some("reinserted"))
    );
    let task = world.claim(2).await;
    assert_eq!(task.payload.as_str(), "[1]");
}

#[tokio::test]
async fn what_does_not_exist_is_a_problem_that_names_it() {
    let world = World::open();
    let history = format!("{ARTICLE}/history");
    let retry = format!("{ARTICLE}/retry");
    for answer in [
        world.get(ARTICLE).await,
        world.delete(ARTICLE).await,
        world.get(&history).await,
        world.post(&retry, "").await,
    ] {
        assert_eq!(answer.code(), "no_such_task");
        assert_eq!(answer.status, 404);
    }
    assert_json_snapshot!(world.get(ARTICLE).await.json(), @r#"
    {
      "code": "no_such_task",
      "detail": "no task (article:42, ARTICLE_PUBLISH)",
      "status": 404,
      "title": "No such task",
      "type": "/problems/no_such_task"
    }
    "#);
    assert!(world.rows().await.is_empty());
}

/// "Which change to nine o'clock was dropped, and who asked?"
#[tokio::test]
async fn rs_13_the_history_reports_what_was_asked_for_in_vain() {
    let world = World::open();
    let body = |time: &str, revision: i64| {
        json!({ "execute_at": format!("2026-01-05T{time}:00Z"), "revision": revision }).to_string()
    };
    world.put(ARTICLE, &body("10:00", 5)).await;
    for _ in 0..30 {
        let ignored = world.put(ARTICLE, &body("09:00", 4)).await.json();
        assert_eq!(
            (&ignored["rule"], &ignored["receipt"]),
            (&json!("ignored_stale"), &json!("1.1"))
        );
    }
    let history = world.get(&format!("{ARTICLE}/history")).await.json();
    let entry = &history["events"][1];
    let requested = json!({ "what": "put", "execute_at": "2026-01-05T09:00:00Z", "revision": 4 });
    assert_eq!(entry["requested"], requested);
    assert_eq!(
        (&entry["times"], &entry["origin"]),
        (&json!(30), &json!("api:anonymous"))
    );
    assert_eq!(history["events"].as_array().unwrap().len(), 2, "{history}");
    let page = world.get("/ui/tasks/ARTICLE_PUBLISH/article:42").await.body;
    assert!(page.contains("30 times, last"), "{page}");
    let receipt = world.get("/api/v1/receipts/1.1").await.json();
    assert_eq!(receipt["requested"], requested, "{receipt}");
}

#[tokio::test]
async fn sf_02_a_history_comes_in_pages() {
    let world = World::open();
    for minute in 10..50 {
        let body = json!({ "execute_at": format!("2026-01-05T09:{minute}:00Z") });
        world.put(ARTICLE, &body.to_string()).await;
    }
    let (mut text, mut cursor) = (Vec::new(), String::new());
    // No page is empty, so there are no more.
    for _ in 0..=40 {
        let path = format!("{ARTICLE}/history?limit=7{cursor}");
        let page = world.get(&path).await.json();
        let events = page["events"].as_array().unwrap();
        assert!(events.len() <= 7, "{page}");
        let times = events.iter().map(|text| text["execute_at"].to_string());
        text.splice(0..0, times.collect::<Vec<_>>());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    let expected = (10..50).map(|minute| format!("\"2026-01-05T09:{minute}:00Z\""));
    assert_eq!(text, expected.collect::<Vec<_>>());
    for query in ["limit=0", "limit=501", "cursor=x", "cursor=MS4y", "from=1"] {
        let answer = world.get(&format!("{ARTICLE}/history?{query}")).await;
        assert_eq!(answer.code(), "invalid_query", "{query}");
    }
}

#[tokio::test]
async fn rs_13_the_history_reports_decisions_and_attempts_in_order() {
    let world = World::open();
    world.put(ARTICLE, &at(0)).await;
    world.clock.set(instant(60));
    world
        .put(ARTICLE, r#"{"execute_at":"2026-01-05T08:02:00Z"}"#)
        .await;
    world.clock.set(instant(120));
    let task = world.claim(1).await;
    world.clock.set(instant(121));
    world.done(&task).await;
    let answer = world.get(&format!("{ARTICLE}/history")).await;
    assert_eq!(answer.status, 200);
    assert_json_snapshot!(answer.json(), @r#"
    {
      "events": [
        {
          "decided_at": "2026-01-05T08:00:00Z",
          "execute_at": "2026-01-05T09:00:00Z",
          "origin": "api:anonymous",
          "receipt": "1.0",
          "rule": "created",
          "task_id": 1,
          "what": "decision"
        },
        {
          "decided_at": "2026-01-05T08:01:00Z",
          "execute_at": "2026-01-05T08:02:00Z",
          "old_execute_at": "2026-01-05T09:00:00Z",
          "origin": "api:anonymous",
          "receipt": "1.1",
          "rule": "updated",
          "task_id": 1,
          "what": "decision"
        },
        {
          "attempt": 1,
          "detail": "200 OK",
          "due_at": "2026-01-05T08:02:00Z",
          "finished_at": "2026-01-05T08:02:01Z",
          "node": "node-a",
          "outcome": "done",
          "started_at": "2026-01-05T08:02:00Z",
          "task_id": 1,
          "term": 1,
          "what": "attempt"
        }
      ],
      "kind": "ARTICLE_PUBLISH",
      "next_cursor": null,
      "subject": "article:42"
    }
    "#);
}
