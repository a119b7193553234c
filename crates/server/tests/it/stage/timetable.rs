//! Schedules of every sort, and what becomes of their firings.

use almanack_core::{
    finish::Outcome,
    store::{RunId, RunLogStore as _, ScheduleStore},
    task::ClaimedTask,
};
use almanack_testkit::fixture::{next_write, schedule_name};
use serde_json::{Value, json};

use crate::harness::World;

/// Writes them, at the beginning of the day.
pub(super) async fn write(world: &World) {
    let hook = json!({ "type": "webhook", "url": "https://hooks.example/almanack" });
    let flow = json!({ "type": "workflow", "repository": "example/site", "workflow": "daily.yml" });
    let own = json!({ "type": "task", "kind": "NEWSLETTER_SEND", "subject": "digest" });
    for (name, definition) in [
        (
            "heartbeat",
            json!({ "expression": "*/15 * * * *", "target": hook }),
        ),
        (
            "nightly-export",
            json!({ "expression": "30 2 * * *", "tz": "Europe/Berlin", "target": flow }),
        ),
        (
            "morning-digest",
            json!({ "expression": "0 7 * * 1-5", "tz": "Asia/Shanghai", "target": own }),
        ),
        (
            "flaky-mirror",
            json!({ "expression": "10 * * * *", "tz": "America/New_York", "retry_for": "20m", "target": hook }),
        ),
        (
            "slow-import",
            json!({ "expression": "*/30 * * * *", "overlap": "skip", "target": flow }),
        ),
        (
            "holiday-greetings",
            json!({ "expression": "0 */2 * * *", "tz": "Europe/Berlin", "target": hook }),
        ),
        (
            "lost-zone",
            json!({ "expression": "0 6 * * *", "target": hook }),
        ),
        (
            "month-end",
            json!({ "expression": "0 18 L * *", "tz": "Asia/Shanghai", "target": hook }),
        ),
        (
            "db-backup",
            json!({ "expression": "@every 6h", "grace": "30m", "target": { "type": "ping", "note": "pg_dump of db1 <ops@example.org>" } }),
        ),
    ] {
        put(world, name, &definition).await;
    }
    lose_zone(world, "lost-zone").await;
    ping(world).await;
}

/// The key of the monitor, which only its job knows.
const PING_KEY: &str = "31365bce-8da9-4729-8ff3-aaa71d56b712";

/// A job elsewhere ends, and says how; its next ping does not come.
async fn ping(world: &World) {
    let key = json!({ "key": PING_KEY }).to_string();
    world
        .post("/api/v1/monitors/db-backup/ping-key", &key)
        .await;
    for (action, body) in [("start", ""), ("0", "dumped 3 databases\n1.2 GB")] {
        let path = format!("/ping/{PING_KEY}/{action}");
        assert_eq!(world.post(&path, body).await.status, 200);
    }
}

/// What people do to schedules, `minutes` before the end.
pub(super) async fn change_their_minds(world: &World, minutes: i64) {
    if minutes != -400 {
        return;
    }
    let note = json!({ "note": "No greetings before the holidays are over – ask 王小明 <wang@example.org>" });
    let path = "/api/v1/schedules/holiday-greetings/pause";
    let paused = world.post(path, &note.to_string()).await;
    assert_eq!(paused.status, 200, "{}", paused.body);
}

/// What becomes of a firing; nothing while it runs.
pub(super) fn outcome(subject: &str, attempt: u32) -> Option<Outcome> {
    let busy = subject.contains("slow-import@") && subject.contains("T06:30");
    if busy {
        return None;
    }
    let flaky = subject.contains("flaky-mirror@");
    let ended = match (flaky, attempt) {
        (true, 1) => Outcome::Retry {
            error: "502 Bad Gateway: the mirror does not answer".to_owned(),
            retry_after: None,
        },
        (true, _) if subject.contains("T0") => Outcome::GiveUp {
            error: "403 Forbidden: <token> was refused".to_owned(),
        },
        _ => Outcome::Done {
            detail: Some("204 No Content".to_owned()),
        },
    };
    Some(ended)
}

/// What the slow one says while it runs.
pub(super) async fn print(world: &World, task: &ClaimedTask, now: jiff::Timestamp) {
    if !task.identity.subject.as_str().contains("slow-import@") {
        return;
    }
    let text = "fetching the catalogue\n<b>12</b> of 4000 rows, 王小明 & co.\n\u{1b}[31mslow\u{1b}[0m answers\n";
    let kept = world
        .store
        .report_to_run_log(RunId::of(task), text.as_bytes(), 1_000, now);
    assert!(kept.await.unwrap());
}

async fn put(world: &World, name: &str, definition: &Value) {
    let path = format!("/api/v1/schedules/{name}");
    let answer = world.put(&path, &definition.to_string()).await;
    assert_eq!(answer.status, 201, "{name}: {}", answer.body);
}

/// A schedule whose zone is gone since it was written, as after an update of the zones.
async fn lose_zone(world: &World, name: &str) {
    let stored = world.store.load_schedules(&[schedule_name(name)]).await;
    let stored = stored.unwrap().pop().flatten().unwrap();
    let broken = next_write(&stored, |schedule| {
        let text = schedule.definition.replace("UTC", "Europe/Atlantis");
        schedule.definition = text.into();
        schedule.look_at = Some(world_now(world));
    });
    world.store.write_schedules(vec![broken]).await.unwrap();
}

fn world_now(world: &World) -> jiff::Timestamp {
    use almanack_core::time::Clock as _;
    world.clock.now()
}
