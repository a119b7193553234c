//! Schedules written, looked at, explained and taken away.

use almanack_core::plan::{Definition, Edited, Origin, ScheduleName};
use almanack_core::store::ScheduleStore;
use almanack_testkit::fixture::{at, next_write};
use axum::http::Method;
use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::{Value, json};

use crate::harness::{World, with};

pub(crate) const NIGHTLY: &str = "/api/v1/schedules/nightly";
pub(crate) const HOURLY: &str =
    r#"{"expression":"0 * * * *","target":{"type":"webhook","url":"https://example.org/hook"}}"#;

fn daily(expression: &str) -> String {
    format!(
        r#"{{"expression":"{expression}","tz":"Europe/Berlin","target":{{"type":"workflow","repository":"o/r","workflow":"w.yml"}}}}"#
    )
}

pub(crate) async fn in_file(world: &World, name: &str, origin: Origin) {
    let name = ScheduleName::parse(name).unwrap();
    let definition = Definition::from_json(HOURLY).unwrap();
    let put = world.schedules.put(&name, definition, origin, "file");
    assert_eq!(put.await.unwrap().edited, Some(Edited::Created));
}

#[tokio::test]
async fn a_schedule_is_created_changed_and_found_unchanged() {
    let world = World::open();
    let created = world.put(NIGHTLY, HOURLY).await;
    assert_eq!(created.status, 201, "{}", created.body);
    assert_eq!(created.header("location"), Some(NIGHTLY));
    assert_eq!(created.header("etag"), Some("\"1\""));
    assert_json_snapshot!(created.json(), @r#"
    {
      "changed_at": "2026-01-05T08:00:00Z",
      "created_at": "2026-01-05T08:00:00Z",
      "definition": {
        "catch_up": "latest",
        "catch_up_pace": "1s",
        "expression": "0 * * * *",
        "max_catch_up": 100,
        "on_resume": "skip",
        "overlap": "skip",
        "priority": 5,
        "splay": "0s",
        "target": {
          "type": "webhook",
          "url": "https://example.org/hook"
        },
        "tz": "UTC"
      },
      "name": "nightly",
      "next_at": "2026-01-05T09:00:00Z",
      "origin": "api",
      "revision": 1,
      "state": "active",
      "warnings": []
    }
    "#);
    let again = world.put(NIGHTLY, HOURLY).await;
    assert_eq!((again.status, again.header("etag")), (200, Some("\"1\"")));
    let changed = world.put(NIGHTLY, &daily("0 8 * * 1-5")).await;
    assert_eq!(
        (changed.status, changed.header("etag")),
        (200, Some("\"2\""))
    );
    assert_eq!(changed.json()["next_at"], "2026-01-06T07:00:00Z");
}

#[tokio::test]
async fn a_schedule_is_shown_with_its_meaning_and_its_last_slots() {
    let world = World::open();
    world.put(NIGHTLY, &daily("30 2 31 * *")).await;
    let shown = world.get(&format!("{NIGHTLY}?next=2")).await;
    assert_eq!(shown.header("content-language"), Some("en"));
    assert_eq!(shown.header("etag"), Some("\"1\""));
    let shown = shown.json();
    assert_eq!(shown["definition"]["target"]["ref"], "main");
    assert_eq!(shown["slots"], json!([]));
    assert_json_snapshot!(shown["timetable"], @r#"
    {
      "exhausted": false,
      "next": [
        {
          "at": "2026-01-31T01:30:00Z",
          "local": "2026-01-31T02:30:00+01:00"
        },
        {
          "at": "2026-03-31T00:30:00Z",
          "local": "2026-03-31T02:30:00+02:00"
        }
      ],
      "warnings": [
        {
          "code": "skips_months",
          "message": "months without a day 31 are skipped (`L` is a month's last day)",
          "path": "expression",
          "span": [
            5,
            7
          ]
        }
      ],
      "words": "at 02:30 on day 31 of the month"
    }
    "#);
    let languages = [("accept-language", "zh-CN,zh;q=0.9,en;q=0.8")];
    let chinese = world.send(with(Method::GET, NIGHTLY, "", &languages)).await;
    assert_eq!(chinese.header("content-language"), Some("zh-CN"));
    assert_snapshot!(chinese.json()["timetable"]["words"].as_str().unwrap(), @"每月 31 日 02:30");
    let too_many = world.get(&format!("{NIGHTLY}?next=101")).await;
    assert_eq!(
        (too_many.status, too_many.code().as_str()),
        (422, "invalid_query")
    );
}

#[tokio::test]
async fn an_unfit_expression_is_refused_with_its_place_and_a_repair() {
    let world = World::open();
    let refused = world.put(NIGHTLY, &daily("0 8 * * MONDAY")).await;
    assert_eq!(refused.status, 422);
    assert_json_snapshot!(refused.json(), @r#"
    {
      "code": "invalid_expression",
      "detail": "expression `0 8 * * MONDAY`: day of week: names have three letters, `MONDAY` has more",
      "expression": {
        "hint": "write `MON`",
        "message": "day of week: names have three letters, `MONDAY` has more",
        "repaired": "0 8 * * MON",
        "span": [
          8,
          14
        ]
      },
      "path": "expression",
      "status": 422,
      "title": "Invalid expression",
      "type": "/problems/invalid_expression"
    }
    "#);
    let never = world.put(NIGHTLY, &daily("0 8 30 2 *")).await;
    assert_eq!(never.code(), "invalid_expression");
    assert_eq!(never.json()["path"], "expression");
    assert_eq!(world.get(NIGHTLY).await.code(), "no_such_schedule");
}

#[tokio::test]
async fn every_unfit_field_is_named() {
    let world = World::open();
    let hook = json!({"type": "webhook", "url": "https://example.org/"});
    for (field, value, path) in [
        ("tz", json!("Europe/Atlantis"), "tz"),
        ("grace", json!("9000h"), "grace"),
        ("grace", json!("soon"), "grace"),
        ("splay", json!("-1s"), "splay"),
        ("priority", json!(10), "priority"),
        ("max_catch_up", json!(0), "max_catch_up"),
        ("overlap", json!("never"), "overlap"),
        (
            "target",
            json!({"type": "webhook", "url": "ftp://x"}),
            "target.url",
        ),
        (
            "target",
            json!({"type": "webhook", "url": "http://10.0.0.1/"}),
            "target.url",
        ),
        (
            "target",
            json!({"type": "command", "argv": []}),
            "target.argv",
        ),
        (
            "target",
            json!({"type": "task", "kind": "no kind", "subject": "x"}),
            "target.kind",
        ),
        ("target", json!({"type": "smoke"}), "target.type"),
    ] {
        let mut body = json!({"expression": "@daily", "target": hook});
        body[field] = value;
        let refused = world.put(NIGHTLY, &body.to_string()).await;
        assert_eq!(
            (refused.status, &refused.json()["path"]),
            (422, &json!(path)),
            "{}",
            refused.body
        );
    }
    for (path, body, code) in [
        (NIGHTLY, "", "malformed_json"),
        (NIGHTLY, "[]", "invalid_body"),
        (NIGHTLY, r#"{"expression":"@daily"}"#, "invalid_body"),
        (
            NIGHTLY,
            r#"{"expression":"@daily","surprise":1}"#,
            "invalid_body",
        ),
        ("/api/v1/schedules/-x", HOURLY, "invalid_value"),
        ("/api/v1/schedules/a%2Fb", HOURLY, "invalid_value"),
    ] {
        assert_eq!(world.put(path, body).await.code(), code, "{path} {body}");
    }
    let long = format!(
        r#"{{"expression":"@daily","target":{{"type":"webhook","url":"https://a.example","body":"{}"}}}}"#,
        "x".repeat(1024)
    );
    assert_eq!(world.put(NIGHTLY, &long).await.code(), "invalid_value");
    assert_eq!(
        world.get("/api/v1/schedules").await.json()["schedules"],
        json!([])
    );
}

#[tokio::test]
async fn a_change_may_depend_on_what_was_seen() {
    let world = World::open();
    let put = async |header: (&str, &str), body: &str| {
        let headers = [("content-type", "application/json"), header];
        world.send(with(Method::PUT, NIGHTLY, body, &headers)).await
    };
    assert_eq!(
        put(("if-match", "*"), HOURLY).await.code(),
        "revision_mismatch"
    );
    assert_eq!(put(("if-none-match", "*"), HOURLY).await.status, 201);
    let other = daily("0 8 * * *");
    let late = put(("if-none-match", "*"), &other).await;
    assert_eq!(
        (late.status, late.code().as_str()),
        (412, "revision_mismatch")
    );
    assert_eq!(
        late.json()["detail"],
        "schedule `nightly` is at revision 1; it was expected to be absent"
    );
    assert_eq!(
        put(("if-match", "\"2\""), &other).await.code(),
        "revision_mismatch"
    );
    assert_eq!(put(("if-match", "\"1\""), &other).await.status, 200);
    assert_eq!(
        put(("if-match", "\"1\""), HOURLY).await.code(),
        "revision_mismatch"
    );
    assert_eq!(put(("if-match", "2"), HOURLY).await.code(), "bad_request");
    assert_eq!(
        put(("if-none-match", "\"1\""), HOURLY).await.code(),
        "bad_request"
    );
    let key = put(("idempotency-key", "k"), HOURLY).await;
    assert_eq!(
        (key.status, key.code().as_str()),
        (422, "idempotency_key_unsupported")
    );
    let gone = with(Method::DELETE, NIGHTLY, "", &[("if-match", "\"1\"")]);
    assert_eq!(world.send(gone).await.code(), "revision_mismatch");
    assert_eq!(world.get(NIGHTLY).await.json()["revision"], 2);
}

#[tokio::test]
async fn a_removed_schedule_keeps_its_history_and_comes_back() {
    let world = World::open();
    world.put(NIGHTLY, HOURLY).await;
    let removed = world.delete(NIGHTLY).await;
    assert_eq!(
        (removed.status, &removed.json()["state"]),
        (200, &json!("removed"))
    );
    assert_eq!(world.delete(NIGHTLY).await.code(), "no_such_schedule");
    assert_eq!(
        world.post(&format!("{NIGHTLY}/pause"), "").await.code(),
        "no_such_schedule"
    );
    let shown = world.get(NIGHTLY).await.json();
    assert_eq!(shown["removed_at"], "2026-01-05T08:00:00Z");
    assert_eq!(world.put(NIGHTLY, HOURLY).await.status, 201);
    let edits = world.get(&format!("{NIGHTLY}/edits")).await.json();
    let shown: Vec<&str> = edits["edits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["edited"].as_str().unwrap())
        .collect();
    assert_eq!(shown, ["created", "removed", "created"]);
    assert_eq!(edits["edits"][0]["by"], "anonymous");
    let newest = world.get(&format!("{NIGHTLY}/edits?limit=1")).await.json();
    assert_eq!(newest["edits"][0]["revision"], 3);
}

#[tokio::test]
async fn what_belongs_to_a_file_is_not_changed_here() {
    let world = World::open();
    for (name, origin) in [("filed", Origin::File), ("dispatched", Origin::Dispatch)] {
        in_file(&world, name, origin).await;
        let path = format!("/api/v1/schedules/{name}");
        for refused in [
            world.put(&path, &daily("@daily")).await,
            world.delete(&path).await,
        ] {
            assert_eq!(
                (refused.status, refused.code().as_str()),
                (409, "managed_schedule")
            );
        }
        assert_eq!(world.post(&format!("{path}/pause"), "{}").await.status, 200);
        assert_eq!(world.post(&format!("{path}/resume"), "").await.status, 200);
        assert_eq!(world.post(&format!("{path}/fire"), "").await.status, 201);
        assert_eq!(world.get(&path).await.json()["origin"], origin.as_str());
    }
    let shown = world.delete("/api/v1/schedules/filed").await.json();
    assert_eq!(
        shown["detail"],
        "schedule `filed` belongs to the configuration file; change it there"
    );
}

fn names(list: &Value) -> Vec<&str> {
    let schedules = list["schedules"].as_array().unwrap();
    schedules
        .iter()
        .map(|s| s["name"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn lists_are_filtered_and_paged_by_name() {
    let world = World::open();
    for name in ["c", "a", "e", "b"] {
        world
            .put(&format!("/api/v1/schedules/{name}"), HOURLY)
            .await;
    }
    in_file(&world, "d", Origin::File).await;
    world.post("/api/v1/schedules/b/pause", "{}").await;
    world.delete("/api/v1/schedules/e").await;
    for (query, expected) in [
        ("", &["a", "b", "c", "d"][..]),
        ("?removed=true", &["a", "b", "c", "d", "e"]),
        ("?origin=file", &["d"]),
        ("?origin=api&state=paused", &["b"]),
        ("?state=removed", &["e"]),
        ("?state=parked", &[]),
    ] {
        let list = world.get(&format!("/api/v1/schedules{query}")).await.json();
        assert_eq!(
            (names(&list), &list["next_cursor"]),
            (expected.to_vec(), &Value::Null),
            "{query}"
        );
    }
    let mut cursor = String::new();
    let mut seen = Vec::new();
    for _ in 0..2 {
        let page = world
            .get(&format!("/api/v1/schedules?limit=2{cursor}"))
            .await
            .json();
        seen.push(names(&page).join(" "));
        cursor = format!(
            "&cursor={}",
            page["next_cursor"].as_str().unwrap_or_default()
        );
    }
    assert_eq!(seen, ["a b", "c d"]);
    for bad in [
        "limit=0",
        "limit=501",
        "origin=me",
        "state=odd",
        "cursor=_",
        "removed=x",
        "nope=1",
    ] {
        let refused = world.get(&format!("/api/v1/schedules?{bad}")).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (422, "invalid_query"),
            "{bad}"
        );
    }
}

#[tokio::test]
async fn dp_18_a_schedule_that_cannot_be_computed_is_shown_with_its_reason() {
    let world = World::open();
    world.put(NIGHTLY, HOURLY).await;
    let name = [ScheduleName::parse("nightly").unwrap()];
    let stored = world
        .store
        .load_schedules(&name)
        .await
        .unwrap()
        .pop()
        .flatten()
        .unwrap();
    let broken = next_write(&stored, |schedule| {
        let text = schedule.definition.replace("UTC", "Europe/Atlantis");
        schedule.definition = text.into();
    });
    world.store.write_schedules(vec![broken]).await.unwrap();
    world.plan_at(at(3_600)).await;
    let shown = world.get(NIGHTLY).await;
    assert_eq!(shown.status, 200);
    let shown = shown.json();
    assert_eq!(shown["state"], "parked");
    assert!(
        shown["parked"]["reason"]
            .as_str()
            .unwrap()
            .contains("unknown time zone"),
        "{shown}"
    );
    assert!(shown.get("timetable").is_none());
    let paused = world.post(&format!("{NIGHTLY}/pause"), "{}").await;
    assert_eq!(
        (paused.status, paused.code().as_str()),
        (409, "wrong_state")
    );
    assert_eq!(world.put(NIGHTLY, HOURLY).await.json()["state"], "active");
}

#[tokio::test]
async fn an_expression_is_explained_or_refused_where_it_is_wrong() {
    let world = World::open();
    let explain = async |body: &str| world.post("/api/v1/schedules:explain", body).await;
    let shown = explain(r#"{"expression":"0 8 * * 1-5","tz":"Asia/Shanghai","count":1}"#).await;
    assert_json_snapshot!(shown.json(), @r#"
    {
      "exhausted": false,
      "next": [
        {
          "at": "2026-01-06T00:00:00Z",
          "local": "2026-01-06T08:00:00+08:00"
        }
      ],
      "warnings": [],
      "words": "at 08:00 on weekdays"
    }
    "#);
    let once = explain(r#"{"expression":"0 0 8 1 1 * 2030","count":3}"#)
        .await
        .json();
    assert_eq!(
        (&once["exhausted"], once["next"].as_array().unwrap().len()),
        (&json!(true), 1)
    );
    let refused = explain(r#"{"expression":"0 25 * * *"}"#).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (422, "invalid_expression")
    );
    assert_eq!(refused.json()["expression"]["span"], json!([2, 4]));
    let long = format!(r#"{{"expression":"{}"}}"#, "0".repeat(1001));
    for (body, path) in [
        (r#"{"expression":"@daily","tz":"Nowhere"}"#, "tz"),
        (r#"{"expression":"@daily","count":101}"#, "count"),
        (r#"{"expression":"@daily","name":"a b"}"#, "name"),
        (&long, "expression"),
    ] {
        let refused = explain(body).await;
        assert_eq!(
            (refused.code().as_str(), &refused.json()["path"]),
            ("invalid_value", &json!(path))
        );
    }
}
