//! Measures how many tasks are written, run, and deleted per second.

use std::{sync::Arc, time::Duration};

use almanack_adapters::clock::{Stopwatch, pause};
use almanack_core::{task::TaskId, time::Clock};
use almanack_engine::retention;
use futures_util::{StreamExt, TryStreamExt, stream};
use jiff::Timestamp;

use super::{Bench, Counting, Error, Measured, Memory, Result, later, request};

/// Batches in flight.
const IN_FLIGHT: usize = 2;
/// Concurrent attempts of the draining nodes.
const SLOTS: usize = 4_000;
/// Interval between two checks whether everything is done.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Writes the tasks, due at once, with the batch call.
pub(crate) async fn enqueue(bench: &Bench) -> Result<Measured> {
    let rescheduler = bench.rescheduler();
    let now = bench.clock.now();
    // Distinct from those of an earlier round in the same store.
    let round = now.as_microsecond();
    let subjects: Vec<String> = (0..bench.load.tasks)
        .map(|n| format!("b{round}:{n}"))
        .collect();
    let watch = Stopwatch::start();
    stream::iter(subjects.chunks(bench.load.batch))
        .map(|chunk| {
            let rescheduler = Arc::clone(&rescheduler);
            async move {
                let requests = chunk.iter().map(|subject| request(subject, now));
                let requests = requests.collect::<Result<Vec<_>, _>>()?;
                let answers = rescheduler.ask_all(requests, "bench").await?;
                answers.into_iter().collect::<Result<Vec<_>, _>>()?;
                Ok::<_, Error>(())
            }
        })
        .buffer_unordered(IN_FLIGHT)
        .try_collect::<Vec<()>>()
        .await?;
    Ok(Measured {
        n: bench.load.tasks,
        seconds: Some(watch.seconds()),
        how: format!(
            "batch call, {} tasks per call, {IN_FLIGHT} calls in flight",
            bench.load.batch
        ),
        ..Measured::default()
    })
}

/// Has the nodes run all `tasks` that are due, until the store shows them done.
pub(crate) async fn drain(bench: &Bench, tasks: usize) -> Result<Measured> {
    // An event delivery is a task too; count only the measured tasks.
    let each = 1 + bench.load.subscriptions;
    let target = tasks * each;
    let handler = Arc::new(Counting::default());
    let watch = Stopwatch::start();
    let nodes = bench.start_nodes(&handler, SLOTS).await?;
    let (done, seconds) = loop {
        let over = watch.seconds() > Duration::from_secs(bench.load.cap_s).as_secs_f64();
        // The query costs the store work, so wait until all have been attempted.
        if over || handler.count() >= target {
            let left = running(bench).await?;
            if left == 0 || over {
                break (handler.count().saturating_sub(left), watch.seconds());
            }
        }
        pause(LOOK_EVERY).await;
    };
    let memory = Memory::now();
    for node in nodes {
        node.stop().await?;
    }
    Ok(Measured {
        n: done / each,
        seconds: Some(seconds),
        memory,
        late_ms: None,
        how: format!(
            "{} node(s) with {SLOTS} slots in total, half of a node's slots per claim, \
             outcomes in groups, {} subscription(s)",
            bench.load.nodes, bench.load.subscriptions
        ),
    })
}

/// Deletes finished tasks, in retention's steps.
pub(crate) async fn prune(bench: &Bench) -> Result<Measured> {
    let before = later(&*bench.clock, Duration::from_secs(1));
    let (mut n, mut after) = (0, Some(TaskId(0)));
    let watch = Stopwatch::start();
    while let Some(from) = after {
        let step = bench.store.prune(before, from, retention::STEP).await?;
        n += step.rows;
        after = step.next;
    }
    Ok(Measured {
        n,
        seconds: Some(watch.seconds()),
        memory: Memory::now(),
        late_ms: None,
        how: format!("one pass, {} rows per step, no pauses", retention::STEP),
    })
}

/// Claimed and unfinished tasks, whether or not their lease has expired.
async fn running(bench: &Bench) -> Result<usize> {
    let claims = bench.store.load_expired(Timestamp::MAX, usize::MAX).await?;
    Ok(claims.iter().map(|claim| claim.tasks.len()).sum())
}
