//! Sources repaired over the API, tried before they are changed, and left paused.

use axum::http::Method;
use serde_json::{Value, json};

use almanack_core::source::check::{FailureClass, Look};

use crate::{
    harness::{World, with},
    scripted::{document, failed},
};

const FEED: &str = r#"{"address":"https://a.example/feed"}"#;
const ONE: &str = "/api/v1/sources/1";

#[tokio::test]
async fn ss_22_a_paused_source_is_not_checked_and_says_what_to_do() {
    let world = World::open();
    world.add(FEED).await;
    let note = r#"{"note":"on holiday"}"#;
    world.post("/api/v1/sources/1/pause", note).await;
    let refused = world.post("/api/v1/sources/1/check", "").await;
    let expected = (409, "source_not_active");
    assert_eq!((refused.status, refused.code().as_str()), expected);
    assert!(refused.body.contains("resume it first"), "{}", refused.body);
    let list = "Again https://a.example/feed\n";
    let media = [("content-type", "text/x-opml")];
    let opml = with(Method::POST, "/api/v1/sources/opml", list, &media);
    assert_eq!(world.send(opml).await.json()["existing"], 1);
    assert_eq!(world.post("/api/v1/sources", FEED).await.status, 200);
    let changes = r#"{"name":"B","category":"c","policy":"fixed:1h","cadence":"P1",
        "address":"https://b.example/feed","options":{"fetch":{"robots":true}}}"#;
    world.patch(ONE, changes).await;
    let source = world.get(ONE).await.json();
    assert_eq!(
        (&source["state"], &source["name"]),
        (&json!("paused"), &json!("B"))
    );
    assert_eq!(source["paused"]["note"], "on holiday");
    assert_eq!(source["next_due_at"], Value::Null);
    let resumed = world.post("/api/v1/sources/1/resume", "").await.json();
    assert_eq!(resumed["state"], "active");
}

#[tokio::test]
async fn ss_21_address_rules_and_options_change_in_place_and_null_resets() {
    let world = World::open();
    world.add(FEED).await;
    let failure = failed(FailureClass::NotFound, "404 Not Found");
    world.fixture.script.say("https://a.example/feed", failure);
    world.check(1).await;
    let before = world.get(ONE).await.json();
    assert_eq!(before["fail_count"], 1);
    let request = r#"{"address":"feed://b.example/page","reading":{"how":"html","item":"li","title":"a"},
        "options":{"fetch":{"headers":{"X-A":"1","X-B":"2"},"bearer":"env:TOKEN"},"filters":["block title is x"]}}"#;
    let answer = world.patch(ONE, request).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let changed = answer.json();
    assert_eq!(changed["address"], "http://b.example/page");
    assert_eq!(changed["reading"]["how"], "html");
    assert_eq!(
        (&changed["fail_count"], &changed["check_count"]),
        (&json!(0), &json!(1))
    );
    assert_eq!(changed["next_due_at"], "2026-01-05T08:00:00Z", "at once");
    assert_eq!(changed["reason"], "api:anonymous changed it");
    let resets = r#"{"reading":null,"options":{"fetch":{"headers":{"X-B":null}},"filters":null}}"#;
    let changed = world.patch(ONE, resets).await.json();
    assert_eq!(changed["reading"], json!({"how": "feed"}));
    let expected = json!({"fetch": {"headers": {"X-A": "1"}, "bearer": "env:TOKEN"}});
    assert_eq!(changed["options"], expected);
    let changed = world.patch(ONE, r#"{"options":null}"#).await.json();
    assert_eq!(changed["options"], json!({}));
}

#[tokio::test]
async fn ss_21_what_does_not_fit_is_refused_where_it_stands() {
    let world = World::open();
    world.add(FEED).await;
    world
        .add(r#"{"address":"https://taken.example/feed"}"#)
        .await;
    for (body, status, code, place) in [
        (
            r#"{"address":"https://taken.example/feed"}"#,
            409,
            "address_taken",
            None,
        ),
        (
            r#"{"address":"ftp://b.example/"}"#,
            422,
            "invalid_value",
            Some("address"),
        ),
        (
            r#"{"reading":{"how":"html","item":"li"}}"#,
            422,
            "invalid_body",
            Some("reading"),
        ),
        (
            r#"{"options":{"filter":["x"]}}"#,
            422,
            "invalid_value",
            Some("options.filter"),
        ),
        (
            r#"{"options":{"fetch":{"bearer":"hunter2"}}}"#,
            422,
            "invalid_value",
            Some("options.fetch.bearer"),
        ),
        (
            r#"{"options":{"fetch":{"headers":{"Cookie":"hunter2"}}}}"#,
            422,
            "invalid_value",
            Some("options.fetch.headers.Cookie"),
        ),
    ] {
        let answer = world.patch(ONE, body).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (status, code),
            "{body}"
        );
        assert_eq!(answer.json()["path"].as_str(), place, "{body}");
        assert!(!answer.body.contains("hunter2"), "{}", answer.body);
    }
}

#[tokio::test]
async fn ss_21_a_preview_shows_what_would_be_read_and_changes_nothing() {
    let world = World::open();
    world.add(FEED).await;
    let shown = document(&[("1", "2026-01-04T09:00:00Z"), ("2", "2026-01-05T07:30:00Z")]);
    world.fixture.script.say("https://b.example/feed", shown);
    let preview = "/api/v1/sources/preview";
    let tried = world
        .post(
            preview,
            r#"{"source_id":1,"address":"feed:https://b.example/feed"}"#,
        )
        .await;
    assert_eq!(tried.status, 200, "{}", tried.body);
    let tried = tried.json();
    assert_eq!(tried["address"], "https://b.example/feed");
    assert_eq!(tried["entries"].as_array().unwrap().len(), 2);
    assert_eq!(tried["entries"][0]["content"], Value::Null);
    let source = world.get(ONE).await.json();
    assert_eq!(source["address"], "https://a.example/feed");
    assert_eq!(source["check_count"], 0);
    let Look::Document(mut odd) = document(&[("1", "2026-01-04T09:00:00Z")]) else {
        unreachable!()
    };
    odd.entries[0].published_at = None;
    odd.left_out = 7;
    odd.moved_to = Some("https://c.example/".to_owned());
    world
        .fixture
        .script
        .say("https://b.example/feed", Look::Document(odd));
    let tried = world
        .post(preview, r#"{"address":"https://b.example/feed"}"#)
        .await;
    let warnings = tried.json()["warnings"].clone();
    let expected = [
        "it has moved for good, to https://c.example/",
        "1 of 1 entries have no publication time",
        "7 entries are not read",
    ];
    for warning in expected {
        assert!(
            warnings.as_array().unwrap().contains(&json!(warning)),
            "{warnings}"
        );
    }
    for (body, status, code) in [
        ("{}", 422, "invalid_value"),
        (r#"{"source_id":9}"#, 404, "no_such_source"),
        (
            r#"{"source_id":1,"options":{"fetch":{"bearer":"hunter2"}}}"#,
            422,
            "invalid_value",
        ),
        (r#"{"source_id":1}"#, 502, "unreachable"),
    ] {
        let answer = world.post(preview, body).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (status, code),
            "{body}"
        );
    }
}

#[tokio::test]
async fn ss_21_a_source_of_the_file_is_changed_in_the_file_only() {
    let world = World::open();
    let wanted = almanack_core::source::Definition {
        address: "https://a.example/feed".to_owned(),
        ..Default::default()
    };
    let none = std::collections::BTreeSet::new();
    let sources = &world.fixture.sources;
    sources.sync(vec![wanted], &none, "file").await.unwrap();
    let source = world.get(ONE).await.json();
    assert_eq!(source["options"], json!({"from_file": true}));
    for answer in [
        world.patch(ONE, r#"{"name":"B"}"#).await,
        world.delete(ONE).await,
    ] {
        let expected = (409, "managed_source");
        assert_eq!((answer.status, answer.code().as_str()), expected);
        assert!(
            answer.body.contains("configuration file"),
            "{}",
            answer.body
        );
    }
    for act in ["check", "pause", "resume"] {
        let answer = world.post(&format!("{ONE}/{act}"), "").await;
        assert!(answer.status < 300, "{act}: {}", answer.body);
    }
    let page = world.look("/ui/sources/1").await;
    assert!(
        page.body
            .contains("The configuration file defines this source")
    );
    assert_eq!(page.texts("form[action$='/change']"), [""; 0]);
    // Nobody makes a source the file's over the API.
    let claimed = r#"{"address":"https://b.example/feed","options":{"from_file":true}}"#;
    world.add(claimed).await;
    let claimed = world.get("/api/v1/sources/2").await.json();
    assert_eq!(claimed["options"], json!({}));
}
