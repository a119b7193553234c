//! Measures how late workers that wait for work get it, over HTTP on loopback.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use almanack_adapters::clock::{Stopwatch, SystemClock, pause};
use almanack_core::{
    locked,
    task::{TaskId, Term},
    time::Clock,
    work::{WAIT_MAX_S, WorkClaim},
};
use almanack_lab::figures::rounded;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::json;
use tokio::task::JoinSet;

use super::{Bench, KIND, Measured, Result, instants, later, request, wrong};
use crate::client::{Call, Client};

/// Workers, each with one request at a time.
const WORKERS: usize = 8;
/// How long to wait for late tasks after the last instant.
const WAIT_MAX: Duration = Duration::from_secs(8);
/// Interval between two checks whether everything is done.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What a worker reads of a task.
#[derive(Deserialize)]
struct Taken {
    task_id: TaskId,
    term: Term,
    execute_at: Timestamp,
}

#[derive(Deserialize)]
struct TakenTasks {
    tasks: Vec<Taken>,
}

/// Tasks at distinct instants, with the workers already waiting.
pub(crate) async fn long_poll(bench: &Bench, client: Arc<Client>) -> Result<Measured> {
    let load = &bench.load;
    let late_ms = Arc::new(Mutex::new(Vec::new()));
    let mut workers = JoinSet::new();
    for _ in 0..WORKERS {
        workers.spawn(wait(Arc::clone(&client), Arc::clone(&late_ms)));
    }
    let [ahead, spread] = [load.late_lead_ms, load.late_spread_ms].map(Duration::from_millis);
    let times = instants(later(&SystemClock, ahead), spread, load.late_tasks).enumerate();
    let requests = times.map(|(n, at)| request(&format!("poll:{n}"), at));
    let requests = requests.collect::<Result<Vec<_>, _>>()?;
    bench.rescheduler().ask_all(requests, "bench").await?;
    let watch = Stopwatch::start();
    let limit = (ahead + spread + WAIT_MAX).as_secs_f64();
    let all_here = async {
        while locked(&late_ms).len() < load.late_tasks && watch.seconds() < limit {
            pause(LOOK_EVERY).await;
        }
    };
    tokio::select! {
        () = all_here => {}
        // A worker ends only when something is wrong.
        Some(ended) = workers.join_next() => ended.map_err(wrong)??,
    }
    workers.shutdown().await;
    let late_ms: Vec<f64> = locked(&late_ms).iter().map(|ms| rounded(*ms, 2)).collect();
    Ok(Measured {
        n: late_ms.len(),
        late_ms: Some(late_ms),
        how: format!("{WORKERS} workers wait over loopback HTTP, one task per claim"),
        ..Measured::default()
    })
}

/// One worker: waits for a task, notes how late its answer is, and reports the task done.
async fn wait(client: Arc<Client>, late_ms: Arc<Mutex<Vec<f64>>>) -> Result<()> {
    let claim = WorkClaim {
        kinds: vec![KIND.to_owned()],
        wait_s: Some(WAIT_MAX_S),
        ..WorkClaim::default()
    };
    loop {
        let call = Call::post(&["work", "claim"]).json(&claim);
        let answer = client.call(call).await.map_err(|it| wrong(it.text()))?;
        let now = SystemClock.now();
        let taken: TakenTasks = serde_json::from_str(answer.text()).map_err(wrong)?;
        for task in taken.tasks {
            let late = now.duration_since(task.execute_at);
            locked(&late_ms).push(late.as_millis_f64());
            let report = json!({
                "task_id": task.task_id,
                "term": task.term,
                "outcome": "done",
            });
            let call = Call::post(&["work", "finish"]).json(&json!({ "tasks": [report] }));
            client.call(call).await.map_err(|it| wrong(it.text()))?;
        }
    }
}
