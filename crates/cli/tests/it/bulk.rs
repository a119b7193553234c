//! Bulk changes whose node is killed in the middle of them.

use almanack_testkit::postgres::Schema;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    api::Api,
    harness::Home,
    process::{Process, eventually, free_address},
};

const TASKS: usize = 4_000;
const BATCH: usize = 500;
const BEFORE: &str = "2031-01-01T09:00:00Z";
const AFTER: &str = "2031-01-01T11:00:00Z";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wk_07_a_killed_bulk_move_moves_each_task_once_on_sqlite() {
    moved_once("sqlite:almanack.db").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wk_07_a_killed_bulk_move_moves_each_task_once_on_postgres() {
    let schema = Schema::create().await;
    moved_once(schema.url()).await;
}

/// What the dry run counted is what was changed, whatever became of the node in between.
async fn moved_once(database: &str) {
    let home = Home::with(&format!(
        "[database]\nurl = \"{database}\"\n[kinds.SEND]\nurl = \"http://127.0.0.1:9999/\"\n"
    ));
    let address = free_address();
    let mut node = Process::node(&home, address, &[]).ready().await;
    let api = node.api();
    fill(&api).await;
    let filter = json!({ "kind": "SEND", "tag": "nightly" });
    let request = |dry_run: bool| json!({ "action": "move", "by_s": 7_200, "filter": filter, "dry_run": dry_run });
    let path = "/api/v1/tasks/bulk";
    let counted = api.insist(Method::POST, path, Some(&request(true))).await;
    assert_eq!(counted.json["would_change"], TASKS, "{counted:?}");
    let begun = api.insist(Method::POST, path, Some(&request(false))).await;
    assert_eq!(begun.status, 202, "{begun:?}");
    let bulk = format!("/api/v1/bulk/{}", begun.json["bulk_id"]);
    for kills in 1..=2 {
        until(&api, &bulk, |now| changed(now) >= kills * BATCH as u64).await;
        node.kill().await;
        node = Process::node(&home, address, &[]).ready().await;
    }
    let ended = until(&api, &bulk, |now| now["state"] != "running").await;
    assert_eq!(ended["state"], "done", "{ended}");
    assert_eq!(changed(&ended), TASKS as u64, "{ended}");
    let at_once = |at: &str| format!("/api/v1/tasks/counts?kind=SEND&from={at}&to={}", later(at));
    for (at, expected) in [(BEFORE, 0), (AFTER, TASKS)] {
        let found = api.get(&at_once(at)).await;
        assert_eq!(found.json["tasks"], expected, "at {at}: {found:?}");
    }
}

fn later(at: &str) -> String {
    at.replace(":00Z", ":01Z")
}

fn changed(bulk: &Value) -> u64 {
    bulk["changed"].as_u64().unwrap_or(0)
}

async fn fill(api: &Api) {
    for first in (0..TASKS).step_by(BATCH) {
        let task = |number: usize| {
            json!({
                "kind": "SEND", "subject": format!("letter:{number}"), "execute_at": BEFORE,
                "tags": ["nightly"],
            })
        };
        let tasks: Vec<Value> = (first..first + BATCH).map(task).collect();
        let body = json!({ "tasks": tasks });
        let put = api
            .insist(Method::POST, "/api/v1/tasks:batch", Some(&body))
            .await;
        assert_eq!(put.status, 200, "{put:?}");
    }
}

/// Waits until the bulk change is as it should be, or has ended.
async fn until(api: &Api, bulk: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    eventually("the bulk change gets on", async || {
        let now = api.ask(Method::GET, bulk, None).await.ok()?.json;
        (is_so(&now) || now["state"] != "running").then_some(now)
    })
    .await
}
