//! Schedules paused, resumed, fired and backfilled, and what their ledgers record.

use almanack_testkit::fixture::at;
use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::json;

use crate::{
    harness::World,
    schedules::{HOURLY, NIGHTLY},
};

const HOUR: i64 = 3_600;

async fn world() -> World {
    let world = World::open();
    assert_eq!(world.put(NIGHTLY, HOURLY).await.status, 201);
    world
}

async fn act(world: &World, what: &str, body: &str) -> crate::harness::Answer {
    world.post(&format!("{NIGHTLY}/{what}"), body).await
}

#[tokio::test]
async fn dp_17_a_pause_says_who_why_and_until_when() {
    let world = world().await;
    let body = r#"{"until":"2026-01-05T12:00:00Z","note":"holiday"}"#;
    let paused = act(&world, "pause", body).await;
    assert_eq!((paused.status, paused.header("etag")), (200, Some("\"2\"")));
    assert_json_snapshot!(paused.json()["paused"], @r#"
    {
      "by": "anonymous",
      "note": "holiday",
      "since": "2026-01-05T08:00:00Z",
      "until": "2026-01-05T12:00:00Z"
    }
    "#);
    assert_eq!(
        act(&world, "pause", body).await.header("etag"),
        Some("\"2\""),
        "already so"
    );
    assert_eq!(
        paused.json()["next_at"],
        "2026-01-05T12:00:00Z",
        "none fires in the pause"
    );
    let shown = world.get(NIGHTLY).await.json();
    let first = &shown["timetable"]["next"][0]["at"];
    assert_eq!(first.as_str().unwrap(), "2026-01-05T12:00:00Z", "{shown}");
    world.clock.set(at(2 * HOUR + 60));
    let resumed = act(&world, "resume", "").await.json();
    assert_eq!(
        (&resumed["state"], &resumed["next_at"]),
        (&json!("active"), &json!("2026-01-05T11:00:00Z"))
    );
    let ledger = world.get(&format!("{NIGHTLY}/slots")).await.json();
    assert_json_snapshot!(ledger, @r#"
    {
      "next_cursor": null,
      "slots": [
        {
          "decided_at": "2026-01-05T10:01:00Z",
          "detail": "by anonymous: holiday",
          "last_at": "2026-01-05T10:00:00Z",
          "reason": "paused",
          "revision": 2,
          "slot_at": "2026-01-05T09:00:00Z",
          "slots": 2,
          "verdict": "skipped"
        }
      ]
    }
    "#);
    let why = world
        .get(&format!("{NIGHTLY}/why?at=2026-01-05T10:00:00Z"))
        .await
        .json();
    assert_snapshot!(why["sentence"].as_str().unwrap(), @"2026-01-05T10:00:00Z was skipped: the schedule was paused by anonymous: holiday (one of 2 in a row, 2026-01-05T09:00:00Z to 2026-01-05T10:00:00Z).");
}

#[tokio::test]
async fn a_pause_that_cannot_be_is_refused() {
    let world = world().await;
    let long = format!(r#"{{"note":"{}"}}"#, "x".repeat(501));
    for (body, path) in [
        (r#"{"until":"2026-01-05T08:00:00Z"}"#, "until"),
        (r#"{"until":"tomorrow"}"#, "until"),
        (r#"{"note":"a\u0000b"}"#, "note"),
        (&long, "note"),
    ] {
        let refused = act(&world, "pause", body).await;
        assert_eq!(
            (refused.status, &refused.json()["path"]),
            (422, &json!(path)),
            "{body}"
        );
    }
    assert_eq!(
        act(&world, "pause", r#"{"why":"x"}"#).await.code(),
        "invalid_body"
    );
    assert_eq!(world.get(NIGHTLY).await.json()["state"], "active");
    let unknown = world.post("/api/v1/schedules/unknown/pause", "").await;
    assert_eq!(
        (unknown.status, unknown.code().as_str()),
        (404, "no_such_schedule")
    );
}

#[tokio::test]
async fn firing_by_hand_is_a_task_and_does_not_overlap_unless_forced() {
    let world = world().await;
    let fired = act(&world, "fire", "").await;
    assert_eq!(fired.status, 201, "{}", fired.body);
    let task = world.get(fired.header("location").unwrap()).await.json();
    assert_eq!(
        (&task["kind"], &task["origin"]),
        (&json!("DISPATCH"), &json!("api:anonymous"))
    );
    assert_eq!(task["subject"], fired.json()["subject"]);
    world.clock.set(at(1));
    let again = act(&world, "fire", "{}").await;
    assert_eq!(
        (again.status, again.code().as_str()),
        (409, "still_running")
    );
    assert_eq!(act(&world, "fire", r#"{"force":true}"#).await.status, 201);
    assert_eq!(
        act(&world, "fire", r#"{"force":1}"#).await.code(),
        "invalid_body"
    );
    assert_eq!(
        world.get(NIGHTLY).await.json()["next_at"],
        "2026-01-05T09:00:00Z"
    );
    assert_eq!(world.rows().await.len(), 2);
}

#[tokio::test]
async fn a_backfill_reports_first_and_fires_once() {
    let world = world().await;
    world.plan_at(at(4 * HOUR + 60)).await;
    let range = r#""from":"2026-01-05T09:00:00Z","to":"2026-01-05T12:00:01Z","pace":"10s""#;
    let dry = act(
        &world,
        "backfill",
        &format!(r#"{{{range},"dry_run":true}}"#),
    )
    .await
    .json();
    assert_eq!((&dry["fires"], &dry["dry_run"]), (&json!(3), &json!(true)));
    assert_eq!(
        world.rows().await.len(),
        1,
        "only the slot that was caught up"
    );
    let done = act(&world, "backfill", &format!("{{{range}}}"))
        .await
        .json();
    assert_eq!(
        (&done["slots"], &done["dry_run"]),
        (&dry["slots"], &json!(false))
    );
    assert_json_snapshot!(done["slots"][1], @r#"
    {
      "execute_at": "2026-01-05T12:01:10Z",
      "firing": "schedule:nightly@2026-01-05T10:00:00Z",
      "slot_at": "2026-01-05T10:00:00Z"
    }
    "#);
    assert_json_snapshot!(done["slots"][3], @r#"
    {
      "firing": "schedule:nightly@2026-01-05T12:00:00Z",
      "found": "INIT",
      "slot_at": "2026-01-05T12:00:00Z"
    }
    "#);
    let again = act(&world, "backfill", &format!("{{{range}}}"))
        .await
        .json();
    assert_eq!(again["fires"], 0);
    assert_eq!(world.rows().await.len(), 4);
}

#[tokio::test]
async fn a_backfill_of_no_past_range_is_refused() {
    let world = world().await;
    for (body, code) in [
        (
            r#"{"from":"2026-01-05T07:00:00Z","to":"2026-01-05T07:00:00Z"}"#,
            "invalid_value",
        ),
        (
            r#"{"from":"2026-01-05T07:00:00Z","to":"2026-01-06T07:00:00Z"}"#,
            "invalid_value",
        ),
        (
            r#"{"from":"2026-01-05T07:00:00Z","to":"2026-01-05T07:30:00Z","pace":"-1s"}"#,
            "invalid_value",
        ),
        (
            r#"{"from":"then","to":"2026-01-05T07:00:00Z"}"#,
            "invalid_time",
        ),
        (r#"{"from":"2026-01-05T07:00:00Z"}"#, "invalid_body"),
    ] {
        let refused = act(&world, "backfill", body).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (422, code),
            "{body}"
        );
    }
    assert!(world.rows().await.is_empty());
}

#[tokio::test]
async fn dp_16_the_ledger_covers_every_slot_and_is_paged() {
    let world = world().await;
    for hour in 1..=5 {
        world.plan_at(at(hour * HOUR)).await;
        let task = world.claim(hour).await;
        world.done(&task).await;
    }
    world.plan_at(at(9 * HOUR + 60)).await;
    let mut seen_text = Vec::new();
    let mut path = format!("{NIGHTLY}/slots?limit=3");
    loop {
        let page = world.get(&path).await.json();
        for slot in page["slots"].as_array().unwrap() {
            let reason = slot["reason"].as_str().unwrap_or("");
            let text = format!(
                "{} x{} {} {reason}",
                slot["slot_at"], slot["slots"], slot["verdict"]
            );
            seen_text.push(text.trim_end().to_owned());
        }
        let Some(cursor) = page["next_cursor"].as_str() else {
            break;
        };
        path = format!("{NIGHTLY}/slots?limit=3&cursor={cursor}");
    }
    assert_snapshot!(seen_text.join("\n"), @r#"
    "2026-01-05T17:00:00Z" x1 "caught_up"
    "2026-01-05T14:00:00Z" x3 "skipped" too_late
    "2026-01-05T13:00:00Z" x1 "fired"
    "2026-01-05T12:00:00Z" x1 "fired"
    "2026-01-05T11:00:00Z" x1 "fired"
    "2026-01-05T10:00:00Z" x1 "fired"
    "2026-01-05T09:00:00Z" x1 "fired"
    "#);
    let last = world.get(NIGHTLY).await.json();
    assert_eq!(last["slots"].as_array().unwrap().len(), 7);
    let firing = last["slots"][0]["firing"].as_str().unwrap();
    assert_eq!(
        world
            .get(&format!("/api/v1/tasks/DISPATCH/{firing}"))
            .await
            .status,
        200
    );
    for bad in [
        "slots?cursor=x",
        "slots?limit=0",
        "edits?limit=0",
        "edits?cursor=x",
        "why",
        "why?when=1",
    ] {
        let refused = world.get(&format!("{NIGHTLY}/{bad}")).await;
        assert_eq!(refused.code(), "invalid_query", "{bad}");
    }
}

#[tokio::test]
async fn dp_16_why_is_answered_from_the_ledger() {
    let world = world().await;
    world.plan_at(at(HOUR)).await;
    let why = async |at: &str| world.get(&format!("{NIGHTLY}/why?at={at}")).await;
    let fired = why("2026-01-05T09:00:00Z").await.json();
    assert_eq!(
        (&fired["is_slot"], &fired["slot"]["verdict"]),
        (&json!(true), &json!("fired"))
    );
    assert_eq!(fired["firing"]["status"], "INIT");
    let between = why("2026-01-05T17:30:00%2B08:00").await.json();
    assert_eq!(between["is_slot"], false);
    assert!(
        between.get("slot").is_none() && between.get("firing").is_none(),
        "{between}"
    );
    assert_eq!(why("noon").await.code(), "invalid_time");
    for what in ["", "/slots", "/edits", "/why?at=2026-01-05T09:00:00Z"] {
        let unknown = world.get(&format!("/api/v1/schedules/unknown{what}")).await;
        assert_eq!(
            (unknown.status, unknown.code().as_str()),
            (404, "no_such_schedule"),
            "{what}"
        );
    }
}
