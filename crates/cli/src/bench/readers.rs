//! Measures what aborted list requests cost everything else (SF-01).
//!
//! A whole node, its API included, on a store with many tasks. Clients request lists and pages of
//! every kind over HTTP and abort, many at once. Meanwhile tasks become due, and a client makes one
//! change after another: how late do tasks start, how long does a change take, and is a lease lost?

use std::{net::SocketAddr, sync::Arc, time::Duration};

use almanack_adapters::clock::{Stopwatch, SystemClock, pause};
use almanack_core::{
    reschedule::{Put, Request},
    store::Store,
    task::{Identity, Status, Task},
};
use almanack_lab::{figures::half_most_all, hooks};
use futures_util::{StreamExt as _, stream};
use serde::Serialize;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_util::sync::CancellationToken;

use super::{Error, Result, identity, instants, later, rescheduler};
use crate::args::ReaderLoadArguments;

/// The kind of the tasks that become due.
pub(crate) const KIND: &str = "BENCH_DUE";
/// How long a client waits before it hangs up.
const ABANDONED_AFTER: Duration = Duration::from_millis(20);
const CHANGE_EVERY: Duration = Duration::from_millis(20);
/// From the start of the requests to the first due task.
const LEAD: Duration = Duration::from_millis(500);
/// How long to wait for late tasks after the last instant.
const WAIT_MAX: Duration = Duration::from_secs(30);
/// Interval between two checks whether everything is done.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Every list, search and page, with filters that match nothing.
const PATHS: [&str; 19] = [
    "/api/v1/tasks?kind=NOWHERE",
    "/api/v1/tasks?status=FAIL",
    "/api/v1/tasks?subject_prefix=nowhere",
    "/api/v1/tasks?kind=NOWHERE&status=FAIL&subject_prefix=nowhere",
    "/api/v1/tasks?limit=500",
    "/api/v1/schedules?state=parked",
    "/api/v1/sources?q=nowhere",
    "/api/v1/sources?failure=any",
    "/api/v1/sources/stats",
    "/api/v1/entries?since=2000-01-01T00:00:00Z",
    "/api/v1/nodes",
    "/metrics",
    "/ui",
    "/ui/tasks?q=nowhere&status=FAIL",
    "/ui/tasks?said=nowhere",
    "/ui/activity?q=nowhere&by=nobody",
    "/ui/schedules?q=nowhere",
    "/ui/sources?q=nowhere",
    "/ui/nodes",
];

/// The results.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ReaderFigures {
    /// Lists and pages that were requested and aborted.
    pub(crate) abandoned: usize,
    pub(crate) abandoned_s: f64,
    /// Tasks that became due.
    pub(crate) due: usize,
    pub(crate) done: usize,
    /// Start minus due: half of them, 99 %, all.
    pub(crate) late_ms: [f64; 3],
    /// Changes that were made.
    pub(crate) changes: usize,
    /// Of these, not answered with 201.
    pub(crate) refused: usize,
    /// How long one took: half of them, 99 %, all.
    pub(crate) change_ms: [f64; 3],
    /// Tasks that were claimed more than once: each is a lost lease.
    pub(crate) leases_lost: usize,
    /// Calls that the business service received.
    pub(crate) calls: u64,
}

/// Floods the node that answers at `address` and works on `store`.
pub(crate) async fn readers(
    store: &Arc<dyn Store>,
    address: SocketAddr,
    service: &hooks::Handle,
    load: &ReaderLoadArguments,
) -> Result<ReaderFigures> {
    let due = put_due(store, load).await?;
    let over = CancellationToken::new();
    let (abandoned_s, changes, tasks) = tokio::join!(
        abandon(address, load),
        change(address, over.clone()),
        async {
            let tasks = wait_for(store, &due, load).await;
            over.cancel();
            tasks
        }
    );
    let (changes, tasks) = (changes?, tasks?);
    let done = |task: &&Task| task.status == Status::Success;
    let late = tasks.iter().filter_map(|task| {
        let started_at = task.started_at?;
        Some(started_at.duration_since(task.execute_at).as_millis_f64())
    });
    Ok(ReaderFigures {
        abandoned: load.lists,
        abandoned_s,
        due: due.len(),
        done: tasks.iter().filter(done).count(),
        late_ms: half_most_all(late.collect(), 1),
        changes: changes.len(),
        refused: changes.iter().filter(|(status, _)| *status != 201).count(),
        change_ms: half_most_all(changes.iter().map(|(_, ms)| *ms).collect(), 1),
        leases_lost: tasks.iter().filter(|task| task.term.0 > 1).count(),
        calls: service.total(),
    })
}

/// Tasks at distinct instants from soon on.
async fn put_due(store: &Arc<dyn Store>, load: &ReaderLoadArguments) -> Result<Vec<Identity>> {
    let spread = Duration::from_secs(load.seconds);
    let times = instants(later(&SystemClock, LEAD), spread, load.due).enumerate();
    let mut identities = Vec::new();
    let mut requests = Vec::new();
    for (n, at) in times {
        let identity = identity(&format!("due:{n}"), KIND)?;
        requests.push(Request::Put(Put::at(identity.clone(), at)));
        identities.push(identity);
    }
    let rescheduler = rescheduler(store, Arc::new(SystemClock));
    rescheduler.ask_all(requests, "bench").await?;
    Ok(identities)
}

/// Requests one list after another without waiting for a response; returns the duration.
async fn abandon(address: SocketAddr, load: &ReaderLoadArguments) -> f64 {
    let watch = Stopwatch::start();
    let paths = PATHS.iter().cycle().take(load.lists);
    stream::iter(paths)
        .map(|path| async move {
            let Ok(mut client) = TcpStream::connect(address).await else {
                return;
            };
            let head = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n");
            if client.write_all(head.as_bytes()).await.is_ok() {
                pause(ABANDONED_AFTER).await;
            }
        })
        .buffer_unordered(load.at_once)
        .collect::<Vec<()>>()
        .await;
    watch.seconds()
}

/// Creates one task after another, none of them due, until `over`; returns each status and
/// duration.
async fn change(address: SocketAddr, over: CancellationToken) -> Result<Vec<(u16, f64)>> {
    let mut changes = Vec::new();
    while !over.is_cancelled() {
        let watch = Stopwatch::start();
        let status = put(address, changes.len()).await;
        let status = status.map_err(|error| Error::Wrong(format!("create a task: {error}")))?;
        changes.push((status, watch.seconds() * 1_000.0));
        pause(CHANGE_EVERY).await;
    }
    Ok(changes)
}

async fn put(address: SocketAddr, number: usize) -> std::io::Result<u16> {
    let body = r#"{"execute_at":"2200-01-01T00:00:00Z"}"#;
    let request = format!(
        "PUT /api/v1/tasks/{KIND}/change:{number} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut client = TcpStream::connect(address).await?;
    client.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    client.read_to_string(&mut answer).await?;
    let status = answer.split(' ').nth(1).and_then(|it| it.parse().ok());
    status.ok_or_else(|| std::io::Error::other(format!("not a response: {answer:?}")))
}

/// The rows once all have finished, or unfinished at the longest wait.
async fn wait_for(
    store: &Arc<dyn Store>,
    due: &[Identity],
    load: &ReaderLoadArguments,
) -> Result<Vec<Task>> {
    pause(LEAD + Duration::from_secs(load.seconds)).await;
    let watch = Stopwatch::start();
    loop {
        let rows = store.load_current(due).await?;
        let rows: Vec<Task> = rows.into_iter().flatten().collect();
        let ended = rows.iter().all(|task| task.status == Status::Success);
        if ended || watch.seconds() > WAIT_MAX.as_secs_f64() {
            return Ok(rows);
        }
        pause(LOOK_EVERY).await;
    }
}
