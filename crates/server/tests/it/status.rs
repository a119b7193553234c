//! The public status page: what unknown clients see of a guarded node.

use almanack_core::{edition::EditionName, finish::Outcome, plan::ScheduleName};
use almanack_core::{store::TokenStore as _, token::Scope};
use almanack_engine::editions::EditionSet;
use almanack_server::{StatusPage, Tick, access::Access};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::fixture::at;
use axum::http::Method;
use serde_json::{Value, json};

use crate::access::made;
use crate::editions::Stand;
use crate::harness::{Answer, World, with};
use crate::ui::reading::{all, check_structure, in_chinese, words};

const HOUR: i64 = 3_600;
const WEBHOOK: &str = r#"{"expression":"0 * * * *","target":{"type":"webhook","url":"https://internal.example/hook?key=hunter2"}}"#;
const DAILY: &str = r#"{"expression":"0 9 * * *","target":{"type":"webhook","url":"https://internal.example/hook"}}"#;
const TAGGED: &str = r#"{"expression":"0 * * * *","tags":["public"],"target":{"type":"webhook","url":"https://internal.example/hook"}}"#;
const MONITOR: &str =
    r#"{"expression":"@every 1h","grace":"10m","target":{"type":"ping","note":"db1"}}"#;

fn showing(schedules: &[&str]) -> StatusPage {
    let name = |name: &&str| ScheduleName::parse(name).unwrap();
    StatusPage {
        schedules: schedules.iter().map(name).collect(),
        ..StatusPage::default()
    }
}

/// A node that wants a token for everything else.
async fn world(page: Option<StatusPage>) -> World {
    let store = SqliteStore::in_memory().unwrap();
    let (token, _) = made("admin", Scope::Admin);
    store.save_token(&token).await.unwrap();
    match page {
        Some(page) => World::showing(page, store, Access::Tokens, |_, _| {
            (Tick::default(), EditionSet::default())
        }),
        None => World::with(store, Access::Tokens),
    }
}

/// As somebody with a token.
async fn ask(world: &World, method: Method, path: &str, body: &str) -> Answer {
    let headers = [
        ("content-type", "application/json"),
        ("authorization", "Bearer alm_admin"),
    ];
    let answer = world.send(with(method, path, body, &headers)).await;
    assert!(answer.status < 300, "{}", answer.body);
    answer
}

async fn put(world: &World, name: &str, definition: &str) {
    let path = format!("/api/v1/schedules/{name}");
    ask(world, Method::PUT, &path, definition).await;
}

/// The slot of this hour fires, and ends a minute later.
async fn fire(world: &World, hour: i64, outcome: &Outcome) {
    world.plan_at(at(hour * HOUR)).await;
    let task = world.claim(hour).await;
    world.clock.set(at(hour * HOUR + 90));
    world.end(&task, outcome).await;
}

const DONE: Outcome = Outcome::Done { detail: None };

fn failed() -> Outcome {
    Outcome::GiveUp {
        error: "password is hunter2".to_owned(),
    }
}

async fn board(world: &World) -> Value {
    let answer = world.get("/status.json").await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

/// State, uptime, and what was counted on the last day.
fn summary(item: &Value) -> Value {
    let today = item["days"].as_array().unwrap().last().unwrap();
    let counts = (&today["succeeded"], &today["failed"]);
    json!([
        item["name"],
        item["type"],
        item["state"],
        item["uptime_percent"],
        counts.0,
        counts.1
    ])
}

#[tokio::test]
async fn there_is_no_status_page_unless_it_is_configured() {
    let world = world(None).await;
    put(&world, "nightly", WEBHOOK).await;
    let nowhere = world.get("/no-such-path").await;
    for path in ["/status", "/status.json", "/status/badge/nightly.svg"] {
        let answer = world.get(path).await;
        assert_eq!(
            (answer.status, &answer.body),
            (404, &nowhere.body),
            "{path}"
        );
    }
}

#[tokio::test]
async fn the_status_page_counts_what_the_ledger_says() {
    let world = world(Some(showing(&["nightly", "backup"]))).await;
    put(&world, "nightly", WEBHOOK).await;
    put(&world, "backup", MONITOR).await;
    let nothing = board(&world).await;
    assert_eq!(
        summary(&nothing["items"][0]),
        json!(["nightly", "schedule", "unknown", null, 0, 0])
    );
    let key = ask(&world, Method::POST, "/api/v1/monitors/backup/ping-key", "").await;
    let ping = key.json()["path"].as_str().unwrap().to_owned();
    for (hour, outcome) in [(1, DONE), (2, failed()), (3, DONE)] {
        fire(&world, hour, &outcome).await;
        world.get(&ping).await;
    }
    // Skipped on purpose: it does not count.
    ask(&world, Method::POST, "/api/v1/schedules/nightly/pause", "").await;
    world.plan_at(at(4 * HOUR + 30 * 60)).await;
    ask(&world, Method::POST, "/api/v1/schedules/nightly/resume", "").await;
    let board = board(&world).await;
    assert_eq!(
        summary(&board["items"][0]),
        json!(["nightly", "schedule", "up", 66.66, 2, 1])
    );
    assert_eq!(
        summary(&board["items"][1]),
        json!(["backup", "monitor", "down", 75.0, 3, 1])
    );
    assert_eq!(board["items"][0]["days"].as_array().unwrap().len(), 90);
    let badge = world.get("/status/badge/nightly.svg").await;
    assert_eq!(badge.header("content-type"), Some("image/svg+xml"));
    assert!(
        badge.body.contains("<title>nightly: 66.66 %</title>"),
        "{}",
        badge.body
    );
    let shield = world.get("/status/badge/backup.json").await.json();
    assert_eq!(
        (&shield["message"], &shield["color"]),
        (&"75 %".into(), &"critical".into())
    );
}

/// Only today and yesterday are counted each time; earlier days are those of the board before.
#[tokio::test]
async fn a_day_that_is_over_keeps_its_numbers() {
    let world = world(Some(showing(&["daily"]))).await;
    put(&world, "daily", DAILY).await;
    fire(&world, 1, &DONE).await;
    let later = 3 * 24 + 1;
    // No node was there on the days between.
    fire(&world, later, &failed()).await;
    for minute in 2..5 {
        world.clock.set(at(later * HOUR + minute * 60));
        let board = board(&world).await;
        let days = board["items"][0]["days"].as_array().unwrap();
        let last: Vec<Value> = days[86..]
            .iter()
            .map(|day| json!([day["on"], day["succeeded"], day["failed"]]))
            .collect();
        let expected = json!([
            ["2026-01-05", 1, 0],
            ["2026-01-06", 0, 1],
            ["2026-01-07", 0, 1],
            ["2026-01-08", 0, 1]
        ]);
        assert_eq!(json!(last), expected, "{minute}");
    }
}

#[tokio::test]
async fn everybody_gets_the_same_board_for_a_minute() {
    let world = world(Some(showing(&["nightly"]))).await;
    put(&world, "nightly", WEBHOOK).await;
    fire(&world, 1, &DONE).await;
    let first = world.get("/status.json").await;
    assert_eq!(first.header("cache-control"), Some("public, max-age=60"));
    let task = {
        world.plan_at(at(2 * HOUR)).await;
        world.claim(2).await
    };
    world.clock.set(at(HOUR + 100));
    world.end(&task, &failed()).await;
    assert_eq!(world.get("/status.json").await.body, first.body);
    world.clock.set(at(HOUR + 90 + 60));
    assert_eq!(board(&world).await["items"][0]["state"], "down");
}

#[tokio::test]
async fn the_status_page_reveals_nothing_that_was_not_chosen() {
    let page = StatusPage {
        title: Some("Example's <services>".to_owned()),
        tags: vec!["public".to_owned()],
        ..showing(&["nightly", "gone", "never-there"])
    };
    let world = world(Some(page)).await;
    for name in ["nightly", "gone", "internal-export"] {
        put(&world, name, WEBHOOK).await;
    }
    put(&world, "tagged", TAGGED).await;
    ask(&world, Method::DELETE, "/api/v1/schedules/gone", "").await;
    world.plan_at(at(HOUR)).await;
    for number in 1..=3 {
        let task = world.claim(number).await;
        world.end(&task, &failed()).await;
    }
    let page = world.get("/status").await;
    assert_eq!(page.status, 200, "{}", page.body);
    check_structure(&page);
    assert_eq!(all(&page, "main h2"), ["nightly", "tagged"]);
    assert_eq!(all(&page, "h1"), ["Example's <services>"]);
    let chinese = in_chinese(&world, "/status").await;
    assert!(
        words(&chinese).contains("目前有 2 项故障"),
        "{}",
        words(&chinese)
    );
    for path in ["/status", "/status.json", "/status/badge/nightly.svg"] {
        let answer = world.get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        for secret in [
            "internal",
            "hunter2",
            "gone",
            "never-there",
            "0.0.0-test",
            "password",
        ] {
            assert!(
                !answer.body.contains(secret),
                "{secret} in {path}: {}",
                answer.body
            );
        }
    }
    let hidden = world.get("/status/badge/internal-export.svg").await;
    for name in [
        "gone.svg",
        "never-there.svg",
        "unknown.svg",
        "nightly.png",
        "edition/default.svg",
    ] {
        let unknown = world.get(&format!("/status/badge/{name}")).await;
        assert_eq!(
            (unknown.status, &unknown.body),
            (404, &hidden.body),
            "{name}"
        );
    }
}

#[tokio::test]
async fn editions_count_once_readers_have_them() {
    let stand = Stand {
        stories: 1,
        status_page: Some(StatusPage {
            editions: vec![EditionName::default()],
            ..StatusPage::default()
        }),
        ..Stand::default()
    };
    let stand = stand.open().await;
    for day in ["2026-01-03", "2026-01-04"] {
        stand
            .world
            .post(&format!("/trigger-export-sync?date={day}"), "")
            .await;
    }
    let board = board(&stand.world).await;
    let item = &board["items"][0];
    assert_eq!(
        summary(item),
        json!(["default", "edition", "up", 100.0, 0, 0])
    );
    let published = item["days"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|day| day["succeeded"] == 1);
    assert_eq!(published.count(), 2);
    let badge = stand.world.get("/status/badge/edition/default.svg").await;
    assert!(badge.body.contains("default: 100 %"), "{}", badge.body);
}
