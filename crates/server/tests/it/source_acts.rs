//! What people do with sources: add, discover, change, check, pause, resume, remove, import,
//! export.

use axum::http::Method;
use insta::assert_json_snapshot;
use serde_json::{Value, json};

use crate::harness::{LIMITS, World, request, with};

const SOURCES: &str = "/api/v1/sources";
const FEED: &str = r#"{"address":"https://a.example/feed"}"#;

#[tokio::test]
async fn a_source_is_added_once_and_due_at_once() {
    let world = World::open();
    let body = r#"{"address":"https://a.example/api","name":"A","category":"News","policy":"fixed:1h",
        "cadence":"p3","reading":{"how":"json","items":"$.posts[*]","title":"$.title"}}"#;
    let added = world.post(SOURCES, body).await;
    assert_eq!(added.status, 201, "{}", added.body);
    assert_eq!(added.header("location"), Some("/api/v1/sources/1"));
    assert_json_snapshot!(added.json(), @r#"
    {
      "address": "https://a.example/api",
      "attention": null,
      "avg_publish_hour": null,
      "backoff_until": null,
      "cadence": null,
      "cadence_by_hand": "P3",
      "category": "News",
      "check_count": 0,
      "created_at": "2026-01-05T08:00:00Z",
      "fail_count": 0,
      "frequency_type": null,
      "hit_count": 0,
      "hit_rate": null,
      "last_article_at": null,
      "last_check_at": null,
      "last_error": null,
      "last_error_class": null,
      "name": "A",
      "next_due_at": "2026-01-05T08:00:00Z",
      "options": {},
      "policy": "fixed:1h",
      "reading": {
        "how": "json",
        "items": "$.posts[*]",
        "title": "$.title"
      },
      "reason": null,
      "source_id": 1,
      "source_type": "custom",
      "state": "active",
      "std_publish_hour": null,
      "updated_at": "2026-01-05T08:00:00Z"
    }
    "#);
    let again = world
        .post(SOURCES, r#"{"address":"https://a.example/api","name":"B"}"#)
        .await;
    assert_eq!(again.status, 200, "its address is taken");
    assert_eq!(again.header("location"), Some("/api/v1/sources/1"));
    assert_eq!(again.json()["name"], "A", "it is unchanged");
    let task = world
        .get("/api/v1/tasks/SOURCE_CHECK/source:1")
        .await
        .json();
    assert_eq!(task["execute_at"], added.json()["next_due_at"]);
    assert_eq!(task["origin"], "api:anonymous");
}

#[tokio::test]
async fn a_list_is_added_item_by_item() {
    let world = World::open();
    world.add(FEED).await;
    let body = r#"[{"address":"https://b.example/"},{"address":"https://a.example/feed"},
        {"address":"ftp://c.example/"},{"address":"https://10.0.0.1/"},{"adress":"https://d.example/"}]"#;
    let answer = world.post(SOURCES, body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let items = answer.json()["sources"].clone();
    assert_eq!(items[0], json!({"source_id": 2, "added": true}));
    assert_eq!(items[1], json!({"source_id": 1, "added": false}));
    for (item, names) in [(2, "http or https"), (3, "private"), (4, "adress")] {
        let detail = items[item]["error"]["detail"].as_str().unwrap();
        assert!(detail.contains(names), "{item}: {detail}");
    }
    let items = [FEED; LIMITS.batch_items_max + 1].join(",");
    let many = world.post(SOURCES, &format!("[{items}]")).await;
    assert_eq!((many.status, many.code().as_str()), (413, "too_many_items"));
}

/// A body that is refused, with which code, where in it, and what the answer names.
type Refused<'a> = (&'a str, &'a str, Option<&'a str>, &'a str);

const BAD: &[Refused<'_>] = &[
    ("{}", "invalid_body", None, "address"),
    (
        r#"{"address":"a.example"}"#,
        "invalid_value",
        Some("address"),
        "http or https",
    ),
    (
        r#"{"address":"https://10.0.0.1/"}"#,
        "invalid_value",
        None,
        "private",
    ),
    (
        r#"{"address":"https://editor:hunter2@a.example/"}"#,
        "invalid_value",
        Some("address"),
        "password",
    ),
    (
        r#"{"address":"https://a.example/","policy":"adaptve"}"#,
        "invalid_value",
        Some("policy"),
        "adaptve",
    ),
    (
        r#"{"address":"https://a.example/","policy":"fixed:soon"}"#,
        "invalid_value",
        Some("policy"),
        "fixed:1h",
    ),
    (
        r#"{"address":"https://a.example/","policy":"0 25 * * *"}"#,
        "invalid_value",
        Some("policy"),
        "\"span\":[2,4]",
    ),
    (
        r#"{"address":"https://a.example/","cadence":"P9"}"#,
        "invalid_value",
        Some("cadence"),
        "P0 to P7",
    ),
    (
        r#"{"address":"https://a.example/","reading":{"how":"xml"}}"#,
        "invalid_body",
        Some("reading.how"),
        "sitemap",
    ),
    (
        r#"{"address":"https://a.example/","reading":{"how":"html","item":"a"}}"#,
        "invalid_body",
        Some("reading"),
        "title",
    ),
    (
        r#"{"address":"https://a.example/","reading":{"how":"feed","item":"a"}}"#,
        "invalid_body",
        Some("reading"),
        "item",
    ),
    (
        r#"{"address":"https://a.example/","reading":{"how":"html","item":">>","title":"a"}}"#,
        "invalid_value",
        None,
        "no selector",
    ),
    (
        r#"{"address":"https://a.example/","name":"a\nb"}"#,
        "invalid_value",
        Some("name"),
        "control characters",
    ),
    (
        "\"https://a.example/\"",
        "invalid_body",
        None,
        "JSON object",
    ),
    (
        r#"{"address":"#,
        "malformed_json",
        Some("address"),
        "ends too early",
    ),
    (
        r#"{"address":"https://a.example/","url":"x"}"#,
        "invalid_body",
        Some("url"),
        "unknown field",
    ),
];

#[tokio::test]
async fn bad_definitions_are_refused_by_name_and_store_nothing() {
    let world = World::open();
    let long = "x".repeat(501);
    let long_name = format!(r#"{{"address":"https://a.example/","name":"{long}"}}"#);
    let long_policy = format!(r#"{{"address":"https://a.example/","policy":"{long}"}}"#);
    let rules = "x".repeat(2500);
    let long_rules = format!(
        r#"{{"address":"https://a.example/","reading":{{"how":"html","item":"{rules}","title":"{rules}"}}}}"#
    );
    let rows = BAD.iter().copied();
    let rows = rows.chain([
        (
            long_name.as_str(),
            "invalid_value",
            Some("name"),
            "500 bytes",
        ),
        (
            long_policy.as_str(),
            "invalid_value",
            Some("policy"),
            "300 bytes",
        ),
        (
            long_rules.as_str(),
            "invalid_value",
            Some("reading"),
            "4096",
        ),
    ]);
    for (body, code, path, names) in rows {
        let answer = world.post(SOURCES, body).await;
        assert_eq!(answer.code(), code, "{body}: {}", answer.body);
        assert_eq!(
            answer.json()["path"].as_str(),
            path,
            "{body}: {}",
            answer.body
        );
        assert!(answer.body.contains(names), "{body}: {}", answer.body);
        assert!(!answer.body.contains("hunter2"), "secrets are never echoed");
    }
    let listed = world.get(SOURCES).await.json();
    assert_eq!(listed["sources"], json!([]));
    assert!(world.rows().await.is_empty(), "no task either");
}

#[tokio::test]
async fn discovery_names_candidates_and_which_are_there() {
    let world = World::open();
    let discover = "/api/v1/sources/discover";
    let found = world
        .post(discover, r#"{"address":"https://site.example/"}"#)
        .await;
    assert_json_snapshot!(found.json(), @r#"
    {
      "candidates": [
        {
          "address": "https://SITE.example/feed",
          "format": "atom",
          "title": "Site"
        }
      ]
    }
    "#);
    world
        .add(r#"{"address":"https://site.example/feed"}"#)
        .await;
    let found = world
        .post(discover, r#"{"address":"https://site.example/"}"#)
        .await;
    assert_eq!(found.json()["candidates"][0]["source_id"], 1);
    for (body, status, code) in [
        (
            r#"{"address":"https://nowhere.example/"}"#,
            502,
            "unreachable",
        ),
        (r#"{"address":"http://10.0.0.1/"}"#, 422, "invalid_value"),
        (r#"{"address":"a\u0000b"}"#, 422, "invalid_value"),
        (r#"{"url":"https://site.example/"}"#, 422, "invalid_body"),
    ] {
        let answer = world.post(discover, body).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (status, code),
            "{body}"
        );
    }
}

#[tokio::test]
async fn what_is_left_out_stays_and_null_takes_back() {
    let world = World::open();
    let body =
        r#"{"address":"https://a.example/feed","name":"A","category":"News","policy":"classic"}"#;
    world.add(body).await;
    world.check(1).await;
    let one = "/api/v1/sources/1";
    let unchanged = world.patch(one, "{}").await.json();
    assert_eq!(
        (&unchanged["name"], &unchanged["policy"]),
        (&json!("A"), &json!("classic"))
    );
    let changed = world
        .patch(one, r#"{"cadence":"P6","policy":null,"category":null}"#)
        .await;
    assert_eq!(changed.status, 200, "{}", changed.body);
    let changed = changed.json();
    assert_eq!(changed["name"], "A");
    assert_eq!(changed["policy"], Value::Null);
    assert_eq!(changed["category"], "");
    assert_eq!(changed["cadence_by_hand"], "P6");
    assert_eq!(
        changed["next_due_at"], "2026-01-06T08:00:00Z",
        "chosen anew"
    );
    let task = world
        .get("/api/v1/tasks/SOURCE_CHECK/source:1")
        .await
        .json();
    assert_eq!(task["execute_at"], changed["next_due_at"]);
    let back = world.patch(one, r#"{"cadence":null}"#).await.json();
    assert_eq!(back["cadence_by_hand"], Value::Null);
    for (path, body, status, code) in [
        (one, r#"{"url":"https://b.example/"}"#, 422, "invalid_body"),
        (one, r#"{"policy":"never"}"#, 422, "invalid_value"),
        (one, r#"{"cadence":"P8"}"#, 422, "invalid_value"),
        (one, r#"{"cadence":3}"#, 422, "invalid_body"),
        (one, "[]", 422, "invalid_body"),
        ("/api/v1/sources/9", "{}", 404, "no_such_source"),
    ] {
        let answer = world.patch(path, body).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (status, code),
            "{body}"
        );
    }
}

#[tokio::test]
async fn a_paused_source_is_left_alone_until_it_is_resumed() {
    let world = World::open();
    world.add(FEED).await;
    let paused = world
        .post("/api/v1/sources/1/pause", r#"{"note":"on holiday"}"#)
        .await
        .json();
    assert_eq!(paused["state"], "paused");
    assert_eq!(paused["paused"]["note"], "on holiday");
    assert_eq!(paused["next_due_at"], Value::Null);
    let task = world
        .get("/api/v1/tasks/SOURCE_CHECK/source:1")
        .await
        .json();
    assert_eq!(task["status"], "CANCELLED");
    let resumed = world.post("/api/v1/sources/1/resume", "").await.json();
    assert_eq!(resumed["state"], "active");
    assert_eq!(resumed["next_due_at"], "2026-01-05T08:00:00Z");
    let long = format!(r#"{{"note":"{}"}}"#, "x".repeat(501));
    for (path, body, status, code) in [
        (
            "/api/v1/sources/1/pause",
            long.as_str(),
            422,
            "invalid_value",
        ),
        (
            "/api/v1/sources/1/pause",
            r#"{"until":"x"}"#,
            422,
            "invalid_body",
        ),
        ("/api/v1/sources/9/pause", "", 404, "no_such_source"),
        ("/api/v1/sources/9/resume", "", 404, "no_such_source"),
        ("/api/v1/sources/9/check", "", 404, "no_such_source"),
    ] {
        let answer = world.post(path, body).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (status, code),
            "{path} {body}"
        );
    }
}

#[tokio::test]
async fn check_now_is_a_reschedule_and_answers_its_receipt() {
    let world = World::open();
    world.add(FEED).await;
    world.check(1).await;
    let before = world.get("/api/v1/sources/1").await.json();
    assert_ne!(before["next_due_at"], "2026-01-05T08:00:00Z");
    let receipt = world.post("/api/v1/sources/1/check", "").await.json();
    assert_eq!(receipt["rule"], "updated");
    assert_eq!(receipt["subject"], "source:1");
    let after = world.get("/api/v1/sources/1").await.json();
    assert_eq!(after["next_due_at"], "2026-01-05T08:00:00Z");
    assert_eq!(after["reason"], "api:anonymous requested it");
}

#[tokio::test]
async fn a_removed_source_is_gone_with_its_task() {
    let world = World::open();
    world.add(FEED).await;
    let gone = world.delete("/api/v1/sources/1").await;
    assert_eq!((gone.status, gone.body.as_str()), (204, ""));
    let again = world.delete("/api/v1/sources/1").await;
    assert_eq!(
        (again.status, again.code().as_str()),
        (404, "no_such_source")
    );
    let task = world
        .get("/api/v1/tasks/SOURCE_CHECK/source:1")
        .await
        .json();
    assert_eq!(task["status"], "CANCELLED");
}

#[tokio::test]
async fn ss_16_lists_of_sources_come_and_go() {
    let world = World::open();
    let opml = "/api/v1/sources/opml";
    let send = |text: &str, media_type: &str| {
        let request = with(Method::POST, opml, text, &[("content-type", media_type)]);
        let world = &world;
        async move { world.send(request).await }
    };
    world.add(FEED).await;
    let list = "A https://a.example/feed\nB https://b.example/feed\nbroken\n\
                C https://editor:hunter2@c.example/";
    let imported = send(list, "text/x-opml; charset=utf-8").await;
    assert!(
        !imported.body.contains("hunter2"),
        "secrets are never echoed"
    );
    assert_json_snapshot!(imported.json(), @r#"
    {
      "added": 1,
      "existing": 1,
      "problems": [
        "`broken` has no address",
        "`C`: address must be an http or https URL without user name or password, on a web port, at most 2000 bytes long"
      ],
      "refused": 2
    }
    "#);
    let exported = world.get(opml).await;
    assert_eq!(
        exported.header("content-type"),
        Some("text/x-opml; charset=utf-8")
    );
    assert_eq!(
        exported.body,
        " https://a.example/feed\nB https://b.example/feed\n"
    );
    let wrong = send(list, "application/json").await;
    assert_eq!(
        (wrong.status, wrong.code().as_str()),
        (415, "unsupported_media_type")
    );
    let many = ["A https://a.example/"; LIMITS.batch_items_max + 1].join("\n");
    let many = send(&many, "text/xml").await;
    assert_eq!((many.status, many.code().as_str()), (413, "too_many_items"));
}

#[tokio::test]
async fn changes_of_sources_take_no_idempotency_key() {
    let world = World::open();
    world.add(FEED).await;
    for (method, path) in [
        (Method::POST, SOURCES),
        (Method::POST, "/api/v1/sources/discover"),
        (Method::POST, "/api/v1/sources/opml"),
        (Method::PATCH, "/api/v1/sources/1"),
        (Method::DELETE, "/api/v1/sources/1"),
        (Method::POST, "/api/v1/sources/1/check"),
        (Method::POST, "/api/v1/sources/1/pause"),
        (Method::POST, "/api/v1/sources/1/resume"),
    ] {
        let mut request = request(method.clone(), path, FEED);
        let headers = request.headers_mut();
        headers.insert("idempotency-key", "once".parse().unwrap());
        let answer = world.send(request).await;
        assert_eq!(
            answer.code(),
            "idempotency_key_unsupported",
            "{method} {path}"
        );
        assert!(
            answer.body.contains("repeating the call is harmless"),
            "{}",
            answer.body
        );
    }
}
