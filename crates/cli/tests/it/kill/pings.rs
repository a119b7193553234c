//! Pings under `kill -9`: whatever was answered is kept (DP-23).

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use almanack_testkit::postgres::Schema;
use reqwest::Method;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{
    api::client,
    harness::Home,
    process::{Process, eventually, free_address},
};

const KEY: &str = "31365bce-8da9-4729-8ff3-aaa71d56b712";
const KILLS: usize = 6;
/// Answers between two kills.
const ANSWERS: usize = 7;
/// Of a hundred pings that are kept, those that were surely answered.
const LOOKED_FOR: usize = 60;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_23_an_answered_ping_survives_a_kill_on_sqlite() {
    run("sqlite:almanack.db").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_23_an_answered_ping_survives_a_kill_on_postgres() {
    let schema = Schema::create().await;
    run(schema.url()).await;
}

async fn run(database: &str) {
    let home = Home::with(&format!("[database]\nurl = \"{database}\"\n"));
    let address = free_address();
    let mut node = Process::node(&home, address, &[]).ready().await;
    let target = json!({ "type": "ping" });
    let definition = json!({ "expression": "@every 1h", "target": target });
    node.api()
        .put("/api/v1/schedules/backup", &definition)
        .await;
    let key = json!({ "key": KEY });
    let path = "/api/v1/monitors/backup/ping-key";
    node.api().insist(Method::POST, path, Some(&key)).await;
    let answered = Arc::new(Mutex::new(Vec::new()));
    let stop = CancellationToken::new();
    let job = tokio::spawn(job(address, Arc::clone(&answered), stop.clone()));
    for _ in 0..KILLS {
        let enough = answered.lock().unwrap().len() + ANSWERS;
        eventually("more answers", async || {
            (answered.lock().unwrap().len() >= enough).then_some(())
        })
        .await;
        node.kill().await;
        node = Process::node(&home, address, &[]).ready().await;
    }
    stop.cancel();
    job.await.unwrap();
    let kept = node
        .api()
        .get("/api/v1/monitors/backup/pings?limit=100")
        .await;
    let kept: BTreeSet<&str> = kept.json["pings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|ping| ping["body"].as_str())
        .collect();
    let answered = answered.lock().unwrap();
    let newest = answered.iter().rev().take(LOOKED_FOR);
    let lost: Vec<&String> = newest.filter(|id| !kept.contains(id.as_str())).collect();
    assert!(lost.is_empty(), "answered and not kept: {lost:?}");
}

/// Pings one after the other and notes which were answered.
async fn job(address: SocketAddr, answered: Arc<Mutex<Vec<String>>>, stop: CancellationToken) {
    let (client, url) = (client(), format!("http://{address}/ping/{KEY}"));
    for number in 0.. {
        if stop.is_cancelled() {
            return;
        }
        let id = format!("ping-{number}");
        let answer = client.post(&url).body(id.clone()).send().await;
        match answer {
            Ok(answer) if answer.status() == 200 => answered.lock().unwrap().push(id),
            // Killed, or too many for one minute: both are no answer.
            _ => almanack_adapters::clock::pause(std::time::Duration::from_millis(20)).await,
        }
    }
}
