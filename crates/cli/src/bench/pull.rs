//! Measures how many tasks workers pull and finish per second, over HTTP on loopback.

use std::{sync::Arc, time::Duration};

use almanack_adapters::clock::Stopwatch;
use almanack_core::{
    task::{TaskId, Term},
    work::{ReportResult, ReportedTasks, WorkClaim},
};
use serde::Deserialize;
use serde_json::json;
use tokio::task::JoinSet;

use super::{KIND, Measured, Memory, Result, wrong};
use crate::client::{Call, Client};

/// Workers, each with one request at a time.
const WORKERS: usize = 8;
/// Tasks per claim.
const BATCH: i64 = 500;

/// What a worker reads of a task.
#[derive(Deserialize)]
struct Taken {
    task_id: TaskId,
    term: Term,
}

#[derive(Deserialize)]
struct TakenTasks {
    tasks: Vec<Taken>,
}

/// Has workers take all due tasks of a node and report them done.
pub(crate) async fn pull(client: Arc<Client>, cap: Duration) -> Result<Measured> {
    let mut workers = JoinSet::new();
    let watch = Stopwatch::start();
    for _ in 0..WORKERS {
        workers.spawn(work(Arc::clone(&client), cap));
    }
    let mut n = 0;
    while let Some(ended) = workers.join_next().await {
        n += ended.map_err(wrong)??;
    }
    Ok(Measured {
        n,
        seconds: Some(watch.seconds()),
        memory: Memory::now(),
        late_ms: None,
        how: format!("{WORKERS} workers over loopback HTTP, {BATCH} tasks per claim and report"),
    })
}

/// One worker, until nothing is left; how many tasks it ended.
async fn work(client: Arc<Client>, cap: Duration) -> Result<usize> {
    let watch = Stopwatch::start();
    let claim = WorkClaim {
        kinds: vec![KIND.to_owned()],
        max: Some(BATCH),
        ..WorkClaim::default()
    };
    let mut done = 0;
    while watch.seconds() < cap.as_secs_f64() {
        let call = Call::post(&["work", "claim"]).json(&claim);
        let answer = client.call(call).await.map_err(|it| wrong(it.text()))?;
        let taken: TakenTasks = serde_json::from_str(answer.text()).map_err(wrong)?;
        if taken.tasks.is_empty() {
            break;
        }
        let reports = taken
            .tasks
            .iter()
            .map(|task| json!({ "task_id": task.task_id, "term": task.term, "outcome": "done" }));
        let reports: Vec<_> = reports.collect();
        let call = Call::post(&["work", "finish"]).json(&json!({ "tasks": reports }));
        let answer = client.call(call).await.map_err(|it| wrong(it.text()))?;
        let reported: ReportedTasks = serde_json::from_str(answer.text()).map_err(wrong)?;
        let results = reported.tasks.iter().map(|task| task.result);
        done += results.filter(|it| *it == ReportResult::Applied).count();
    }
    Ok(done)
}
