//! Editions below `/api/v1`: lists, all of one, its documents, acts; and who may do what.

use axum::http::Method;
use insta::assert_json_snapshot;
use serde_json::{Value, json};

use super::{Newsstand, SYNC, Stand, TODAY};
use crate::{
    access::made,
    harness::{World, with},
};
use almanack_server::access::Access;

const EDITION: &str = "/api/v1/editions/2026-01-05";

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one snapshot of everything")]
async fn ed_25_an_edition_shows_its_stories_batches_deliveries_and_alerts() {
    let stand = Stand {
        stories: 2,
        ..Stand::default()
    }
    .open()
    .await;
    stand.lose_titles();
    stand.world.post(SYNC, "").await;
    let edition = stand.world.get(EDITION).await;
    assert_eq!(edition.status, 200, "{}", edition.body);
    assert_json_snapshot!(edition.json(), @r#"
    {
      "alerts": [],
      "batches": [
        {
          "duration_ms": 0,
          "error": "the translation of its title is missing",
          "index": 1,
          "node": "node-a",
          "requests": 9,
          "started_at": "2026-01-05T08:00:00Z",
          "status": "partial",
          "story_count": 2,
          "tokens_in": 420,
          "tokens_out": 90
        }
      ],
      "batches_ended": 1,
      "counts": {
        "completed": 1,
        "failed": 1,
        "pending": 0,
        "processing": 0,
        "total": 2
      },
      "created_at": "2026-01-05T08:00:00Z",
      "date": "2026-01-05",
      "degraded": {},
      "deliveries": [
        {
          "attempts": 1,
          "destination": "github",
          "detail": null,
          "part": 1,
          "receipt": "edition:2026-01-05/1/github/1",
          "requests": 1,
          "retry_at": null,
          "revision": 1,
          "state": "confirmed",
          "updated_at": "2026-01-05T08:00:00Z"
        },
        {
          "attempts": 1,
          "destination": "telegram",
          "detail": null,
          "part": 1,
          "receipt": "edition:2026-01-05/1/telegram/1",
          "requests": 1,
          "retry_at": null,
          "revision": 1,
          "state": "confirmed",
          "updated_at": "2026-01-05T08:00:00Z"
        },
        {
          "attempts": 1,
          "destination": "telegram",
          "detail": null,
          "part": 2,
          "receipt": "edition:2026-01-05/1/telegram/2",
          "requests": 1,
          "retry_at": null,
          "revision": 1,
          "state": "confirmed",
          "updated_at": "2026-01-05T08:00:00Z"
        }
      ],
      "due_at": null,
      "name": "default",
      "plan": {
        "batches_done": 1,
        "batches_planned": 1,
        "expected_finish_at": null
      },
      "published_at": "2026-01-05T08:00:00Z",
      "reason": null,
      "requests": 13,
      "revision": 1,
      "started_at": "2026-01-05T08:00:00Z",
      "state": "published",
      "stories": [
        {
          "batch": 1,
          "comment_count": 3,
          "comment_summary": null,
          "content_summary": null,
          "degraded_by": null,
          "discussion_url": "https://news.ycombinator.com/item?id=1",
          "error": "the translation of its title is missing",
          "key": "hn:1",
          "note": null,
          "original_title": "Story 1",
          "published_at": "1970-01-01T00:00:00Z",
          "rank": 1,
          "retry_at": "2026-01-05T08:02:00Z",
          "retry_count": 0,
          "score": 999,
          "status": "failed",
          "title": null,
          "url": "https://pages.test/1"
        },
        {
          "batch": 1,
          "comment_count": 3,
          "comment_summary": "摘要：comment on 2",
          "content_summary": "摘要：article 2",
          "degraded_by": null,
          "discussion_url": "https://news.ycombinator.com/item?id=2",
          "error": null,
          "key": "hn:2",
          "note": null,
          "original_title": "Story 2",
          "prompts": {
            "comments": "4e5768d7",
            "summary": "ef0b9188",
            "titles": "27278551"
          },
          "published_at": "1970-01-01T00:00:00Z",
          "rank": 2,
          "reading_minutes": 1,
          "retry_at": null,
          "retry_count": 0,
          "score": 998,
          "status": "completed",
          "title": "译：Story 2",
          "url": "https://pages.test/2"
        }
      ],
      "story_source": "harness",
      "updated_at": "2026-01-05T08:00:00Z"
    }
    "#);
    let unknown = stand.world.get("/api/v1/editions/2026-01-01").await;
    assert_eq!(
        (unknown.status, unknown.code().as_str()),
        (404, "no_such_edition")
    );
    let unread = stand.world.get("/api/v1/editions/tomorrow").await;
    assert_eq!(
        (unread.status, unread.code().as_str()),
        (422, "invalid_value")
    );
}

fn dates(page: &Value) -> Vec<&str> {
    let editions = page["editions"].as_array().unwrap().iter();
    editions
        .map(|edition| edition["date"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn editions_are_listed_newest_day_first_page_by_page() {
    let stand = Stand {
        stories: 1,
        ..Stand::default()
    }
    .open()
    .await;
    for day in ["2026-01-01", "2026-01-03", "2026-01-02"] {
        stand.world.post(&format!("{SYNC}?date={day}"), "").await;
    }
    stand.world.post("/trigger-export", "").await;
    let first = stand.world.get("/api/v1/editions?limit=2").await.json();
    assert_eq!(dates(&first), [TODAY, "2026-01-03"]);
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = stand
        .world
        .get(&format!("/api/v1/editions?limit=2&cursor={cursor}"))
        .await
        .json();
    assert_eq!(dates(&rest), ["2026-01-02", "2026-01-01"]);
    assert_eq!(rest["next_cursor"], Value::Null);
    let published = stand
        .world
        .get("/api/v1/editions?published=true&limit=1")
        .await
        .json();
    assert_eq!(dates(&published), ["2026-01-03"]);
    let init = stand.world.get("/api/v1/editions?state=init").await.json();
    assert_eq!(dates(&init), [TODAY]);
    assert_json_snapshot!(init["editions"][0], @r#"
    {
      "batches_ended": 0,
      "counts": {
        "completed": 0,
        "failed": 0,
        "pending": 0,
        "processing": 0,
        "total": 0
      },
      "created_at": "2026-01-05T08:00:00Z",
      "date": "2026-01-05",
      "due_at": null,
      "name": "default",
      "published_at": null,
      "reason": null,
      "revision": 0,
      "started_at": "2026-01-05T08:00:00Z",
      "state": "init",
      "story_source": null,
      "updated_at": "2026-01-05T08:00:00Z"
    }
    "#);
    for query in [
        "limit=0",
        "limit=501",
        "state=done",
        "cursor=x",
        "published=yes",
        "before=2026-01-01",
    ] {
        let refused = stand.world.get(&format!("/api/v1/editions?{query}")).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (422, "invalid_query"),
            "{query}"
        );
    }
}

#[tokio::test]
async fn a_document_is_markdown_or_json_with_all_it_was_made_from() {
    let stand = Stand {
        stories: 1,
        ..Stand::default()
    }
    .open()
    .await;
    let path = format!("{EDITION}/document");
    assert_eq!(stand.world.get(&path).await.code(), "no_such_document");
    stand.step().await;
    let preview = stand.world.get(&format!("{EDITION}/preview")).await;
    assert_eq!(
        preview.body, "plain 2026-01-05 r1\n",
        "no story is completed yet"
    );
    assert_eq!(
        stand.world.get(&path).await.code(),
        "no_such_document",
        "nothing was kept"
    );
    stand.world.post(SYNC, "").await;
    let markdown = stand.world.get(&path).await;
    assert_eq!(
        markdown.header("content-type"),
        Some("text/markdown; charset=utf-8")
    );
    assert_eq!(
        markdown.body,
        "plain 2026-01-05 r1\n1 译：Story 1 摘要：article 1\n"
    );
    let accept = |kinds| with(Method::GET, &path, "", &[("accept", kinds)]);
    let json = stand.world.send(accept("application/json;q=0.9")).await;
    assert_json_snapshot!(json.json(), @r#"
    {
      "body": "plain 2026-01-05 r1\n1 译：Story 1 摘要：article 1\n",
      "body_digest": "5d8fa5200580792a",
      "date": "2026-01-05",
      "inputs_digest": "db65f447244387cd",
      "language": "zh-CN",
      "left_out": 0,
      "made_at": "2026-01-05T08:00:00Z",
      "overview": "译：Story 1 — 摘要：article 1",
      "revision": 1,
      "stories": [
        {
          "comment_count": 3,
          "comment_summary": "摘要：comment on 1",
          "content_summary": "摘要：article 1",
          "discussion_url": "https://news.ycombinator.com/item?id=1",
          "key": "hn:1",
          "note": null,
          "original_title": "Story 1",
          "published_at": "1970-01-01T00:00:00Z",
          "rank": 1,
          "reading_minutes": 1,
          "score": 999,
          "title": "译：Story 1",
          "url": "https://pages.test/1"
        }
      ],
      "template": "plain",
      "title": "HackerNews Daily"
    }
    "#);
    for kinds in [
        "*/*",
        "text/markdown, application/json",
        "text/html,application/json",
    ] {
        assert_eq!(
            stand.world.send(accept(kinds)).await.body,
            markdown.body,
            "{kinds}"
        );
    }
    let first = stand.world.get(&format!("{path}?revision=1")).await;
    assert_eq!(first.body, markdown.body);
    assert_eq!(
        stand.world.get(&format!("{path}?revision=2")).await.code(),
        "no_such_document"
    );
    assert_eq!(
        stand.world.get(&format!("{path}?revision=x")).await.code(),
        "invalid_query"
    );
}

#[tokio::test]
async fn ed_21_ed_22_a_run_is_queued_or_waited_for() {
    let stand = Stand {
        stories: 1,
        ..Stand::default()
    }
    .open()
    .await;
    let run = format!("{EDITION}/run");
    let queued = stand.world.post(&run, "").await;
    assert_eq!(queued.status, 202, "{}", queued.body);
    assert_eq!(queued.json()["receipt"]["subject"], "edition:2026-01-05");
    assert_eq!(queued.json()["published"], Value::Null);
    let waited = stand.world.post(&run, r#"{"wait":true}"#).await;
    assert_eq!(waited.status, 200, "{}", waited.body);
    let shown = waited.json();
    assert_eq!(
        (&shown["published"], &shown["edition"]["state"]),
        (&json!(true), &json!("published"))
    );
    assert_eq!(shown["requests"], 9, "the list, one batch, three messages");
    let late = stand.world.post(&run, "").await.json();
    assert_eq!(
        (&late["receipt"], &late["edition"]["state"]),
        (&Value::Null, &json!("published"))
    );
    for (path, code) in [
        ("/api/v1/editions/2026-01-06/run", "invalid_value"),
        ("/api/v1/editions/2026-01-32/run", "invalid_value"),
    ] {
        assert_eq!(stand.world.post(path, "").await.code(), code, "{path}");
    }
    assert_eq!(
        stand.world.post(&run, r#"{"sync":true}"#).await.code(),
        "invalid_body"
    );
}

#[tokio::test]
async fn ed_23_ed_24_publish_retry_and_reset_answer_the_edition_afterwards() {
    let stand = Newsstand::open().await;
    stand.lose_titles();
    stand.step().await;
    stand.step().await;
    let published = stand
        .world
        .post(&format!("{EDITION}/publish"), "")
        .await
        .json();
    assert_eq!(
        (&published["left_out"], &published["edition"]["state"]),
        (&json!(3), &json!("published"))
    );
    let retried = stand
        .world
        .post(&format!("{EDITION}/retry"), r#"{"retries_max":5}"#)
        .await
        .json();
    assert_eq!(
        (&retried["stories"], &retried["edition"]["state"]),
        (&json!(1), &json!("processing"))
    );
    for body in [r#"{"retries_max":0}"#, r#"{"retries_max":6}"#] {
        assert_eq!(
            stand
                .world
                .post(&format!("{EDITION}/retry"), body)
                .await
                .code(),
            "invalid_value"
        );
    }
    let reset = stand
        .world
        .post(&format!("{EDITION}/reset"), "")
        .await
        .json();
    assert_eq!(
        (&reset["state"], &reset["counts"]["pending"]),
        (&json!("list_fetched"), &json!(8))
    );
    let keyed = with(
        Method::POST,
        &format!("{EDITION}/reset"),
        "",
        &[("idempotency-key", "a")],
    );
    assert_eq!(
        stand.world.send(keyed).await.code(),
        "idempotency_key_unsupported"
    );
}

/// Undelivered parts are sent again or skipped with scope `operate`; repeating the call is
/// harmless.
#[tokio::test]
async fn ed_41_a_delivery_is_sent_again_or_skipped_by_a_person() {
    let stand = Newsstand::open().await;
    stand.refuse_at("telegram");
    let built = stand.world.post(SYNC, "").await.json();
    assert_eq!(built["success"], false, "{built:#}");
    let message = built["message"].as_str().unwrap();
    assert!(message.contains("telegram refused it"), "{message}");
    let path = format!("{EDITION}/resend");
    let post = async |path: &str, body: Value| stand.world.post(path, &body.to_string()).await;
    let resent = post(&path, json!({ "destination": "telegram" })).await;
    assert_eq!(resent.status, 200, "{}", resent.body);
    assert_eq!(
        resent.json()["parts"],
        json!([1]),
        "the second is not due yet"
    );
    let twice = post(&path, json!({ "destination": "telegram" })).await;
    assert_eq!(twice.json()["parts"], json!([]));
    for (body, code) in [
        (json!({}), "invalid_body"),
        (
            json!({ "destination": "telegram", "piece": 1 }),
            "invalid_body",
        ),
        (json!({ "destination": "teletext" }), "wrong_state"),
        (
            json!({ "destination": "telegram", "part": 9 }),
            "wrong_state",
        ),
        (json!({ "destination": "github" }), "wrong_state"),
    ] {
        let refused = post(&path, body.clone()).await;
        assert!(refused.status >= 400, "{body}: {}", refused.body);
        assert_eq!(refused.code(), code, "{body}");
    }
    let skip = format!("{EDITION}/skip");
    let skipped = post(&skip, json!({ "destination": "telegram", "part": 2 })).await;
    assert_eq!(skipped.json()["parts"], json!([2]), "{}", skipped.body);
    stand.news.heal();
    let built = stand.world.post(SYNC, "").await.json();
    assert_eq!(built["success"], true, "{built:#}");
    assert_eq!(stand.news.received("telegram").len(), 1);
    assert_eq!(stand.news.received("github").len(), 1, "nothing twice");
}

const LOOKING: [&str; 5] = [
    "/task-status",
    "/api/v1/editions",
    EDITION,
    "/api/v1/editions/2026-01-05/document",
    "/api/v1/editions/2026-01-05/preview",
];
const CHANGING: [&str; 11] = [
    SYNC,
    "/trigger-export",
    "/force-publish",
    "/retry-failed-tasks",
    "/reset-task",
    "/api/v1/editions/2026-01-05/run",
    "/api/v1/editions/2026-01-05/publish",
    "/api/v1/editions/2026-01-05/retry",
    "/api/v1/editions/2026-01-05/reset",
    "/api/v1/editions/2026-01-05/resend",
    "/api/v1/editions/2026-01-05/skip",
];

#[tokio::test]
async fn looking_at_editions_needs_read_and_changing_them_needs_operate() {
    let stand = Stand {
        access: Access::Tokens,
        ..Stand::default()
    }
    .open()
    .await;
    for path in LOOKING {
        assert_eq!(
            stand.ask(Method::GET, path, None).await.code(),
            "unauthenticated",
            "{path}"
        );
        let looked = stand.ask(Method::GET, path, Some("read")).await;
        assert!(
            [200, 404].contains(&looked.status),
            "{path}: {}",
            looked.body
        );
    }
    for path in CHANGING {
        assert_eq!(
            stand.ask(Method::POST, path, None).await.code(),
            "unauthenticated",
            "{path}"
        );
        let refused = stand.ask(Method::POST, path, Some("read")).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (403, "scope_too_small"),
            "{path}"
        );
        assert_eq!(refused.json()["scope"], "operate");
    }
    assert_eq!(stand.news.calls(), [], "nothing was done");
    for path in CHANGING {
        let done = stand.ask(Method::POST, path, Some("operate")).await;
        assert!(
            ![401, 403, 404].contains(&done.status),
            "{path}: {}",
            done.body
        );
    }
    let (_, text) = made("operate", almanack_core::token::Scope::Operate);
    assert!(!stand.world.rows().await.is_empty() && text.starts_with("alm_"));
}

#[tokio::test]
async fn where_editions_are_not_configured_every_call_says_so() {
    let world = World::open();
    for (method, path) in LOOKING
        .map(|path| (Method::GET, path))
        .into_iter()
        .chain(CHANGING.map(|path| (Method::POST, path)))
    {
        let answer = world.send(with(method, path, "", &[])).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (404, "not_configured"),
            "{path}"
        );
        assert!(
            answer.json()["detail"]
                .as_str()
                .unwrap()
                .contains("[edition]")
        );
    }
    for path in ["/editions", "/editions/2026-01-05", "/editions/feed.xml"] {
        let page = world.get(path).await;
        assert_eq!(page.status, 404, "{path}");
        assert_eq!(
            page.header("content-type"),
            Some("text/html; charset=utf-8")
        );
    }
}
