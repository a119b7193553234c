//! Nodes under `kill -9` in the middle of checks: no source is forgotten, no entry is there twice
//! (SS-13).

use std::collections::BTreeSet;

use almanack_testkit::postgres::Schema;
use reqwest::Method;
use serde_json::{Value, json};

use super::live::{home, import, lines_of, world};
use crate::{
    harness::Home,
    process::{Process, eventually, free_address},
};

const FEEDS: usize = 24;
/// How long every answer takes at first, so that a kill meets checks on their way.
const SLOW_MS: u64 = 1_500;
const KILLS: usize = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ss_13_a_killed_node_on_sqlite_loses_no_source_and_doubles_no_entry() {
    run("sqlite:almanack.db", 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ss_13_two_killed_nodes_on_postgres_lose_no_source_and_double_no_entry() {
    let schema = Schema::create().await;
    run(schema.url(), 2).await;
}

async fn run(database: &str, nodes: usize) {
    let home = home(database);
    let world = world(&home, FEEDS).await;
    be_slow(&world).await;
    let start = |_| Process::node(&home, free_address(), &[]);
    let mut nodes: Vec<Process> = (0..nodes).map(start).collect();
    let sources = import(&home, &world).await;
    for kill in 0..KILLS {
        let which = kill % nodes.len();
        let before = arrivals(&world).await;
        eventually("a check is on its way", async || {
            (arrivals(&world).await > before).then_some(())
        })
        .await;
        nodes[which].kill().await;
        let address = nodes[which].address;
        nodes[which] = Process::node(&home, address, &[]);
    }
    eventually("every source was looked at", async || {
        let sources = lines_of(&home, &["source", "list", "--all"]);
        let looked = sources.iter().filter(|it| it["check_count"] != 0);
        (looked.count() == sources.len()).then_some(())
    })
    .await;
    check(&home, sources, &world).await;
}

/// Every host answers slowly.
async fn be_slow(world: &Process) {
    let body = json!({ "when": "always", "effect": { "slow": { "wait_ms": SLOW_MS } } });
    let api = world.api();
    api.insist(Method::POST, "/_world/faults", Some(&body))
        .await;
}

async fn arrivals(world: &Process) -> u64 {
    let count = world.api().get("/_world/requests").await.json;
    count["total"].as_u64().unwrap()
}

async fn check(home: &Home, sources: usize, world: &Process) {
    let listed = lines_of(home, &["source", "list", "--all"]);
    assert_eq!(listed.len(), sources);
    for source in &listed {
        assert_eq!(source["state"], "active", "{source}");
        assert_ne!(source["next_due_at"], Value::Null, "{source}");
        let id = source["source_id"].to_string();
        let entries = lines_of(home, &["source", "entries", &id, "--all"]);
        let keys: BTreeSet<&str> = entries
            .iter()
            .map(|it| it["key"].as_str().unwrap())
            .collect();
        assert_eq!(keys.len(), entries.len(), "doubled: {source}");
        let address = source["address"].as_str().unwrap();
        let number = address.split('/').nth(4).unwrap();
        let path = format!("/_world/feeds/{number}/entries");
        let shown = world.api().get(&path).await.json;
        // The world goes on publishing, so it may show more than was there at the last look.
        let has = |key: &str| {
            let texts = entries.iter().flat_map(|it| [&it["key"], &it["link"]]);
            texts
                .filter_map(Value::as_str)
                .any(|text| text.contains(key))
        };
        let missing = shown.as_array().unwrap().iter();
        let missing: Vec<&Value> = missing
            .filter(|it| !has(it["key"].as_str().unwrap()))
            .collect();
        assert!(
            missing.len() <= 1,
            "lost {missing:?} of {source}: {entries:?}"
        );
        let task = home.run(&[
            "task",
            "get",
            "SOURCE_CHECK",
            &format!("source:{id}"),
            "--json",
        ]);
        assert_eq!(task.expect_json()["live"], true, "{source}");
    }
}
