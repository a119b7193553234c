//! Retention: what ended long ago is forgotten, a few rows at a time.
//!
//! A walk over all rows by number, in small steps with pauses: no step takes long, however large the
//! table and however little there is to forget, and the heartbeat never waits for one.

use almanack_core::{
    store::{self, Pruned},
    task::TaskId,
    time::Clock,
};
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::node::Ports;

/// Rows looked at in one step.
const STEP: usize = 500;
/// Steps over the ledger beside each step over the tasks.
const SLOT_STEPS: usize = 100;
/// Between two steps of a walk.
const STEP_EVERY: SignedDuration = SignedDuration::from_millis(50);
/// From the end of one walk to the start of the next.
const WALK_EVERY: SignedDuration = SignedDuration::from_mins(10);
/// A run of a node that was not heard of for so long is forgotten.
const NODE_FORGOTTEN_AFTER: SignedDuration = SignedDuration::from_hours(24);

/// How long ended tasks, used keys and ledger rows are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retention {
    /// For ever.
    Keep,
    /// So long after they ended.
    After(SignedDuration),
}

/// Forgets until `stop`.
pub async fn run(ports: &Ports, retention: Retention, stop: &CancellationToken) {
    let mut after = TaskId(0);
    while !stop.is_cancelled() {
        let wait = match step(ports, retention, after).await {
            Ok(Some(next)) => {
                after = next;
                STEP_EVERY
            }
            Ok(None) => {
                after = TaskId(0);
                WALK_EVERY
            }
            Err(error) => {
                tracing::warn!(
                    error = error.chain(),
                    "could not forget old tasks; trying again later"
                );
                WALK_EVERY
            }
        };
        let next_at = ports
            .clock
            .now()
            .saturating_add(wait)
            .unwrap_or(Timestamp::MAX);
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = ports.sleeper.until(next_at) => {}
        }
    }
}

/// One step; answers where to go on, or `None` at the end of the walk.
async fn step(
    ports: &Ports,
    retention: Retention,
    after: TaskId,
) -> Result<Option<TaskId>, store::Error> {
    if after == TaskId(0) {
        forget_silent_nodes(ports).await?;
    }
    let Retention::After(age) = retention else {
        return Ok(None);
    };
    let before = ports
        .clock
        .now()
        .saturating_sub(age)
        .unwrap_or(Timestamp::MIN);
    let Pruned { rows, next } = ports.store.prune(before, after, STEP).await?;
    // The ledger has no walk of its own: what is old is found by an index, a few rows at each step.
    let slots = forget_slots(ports, before).await?;
    if rows + slots > 0 {
        tracing::debug!(rows, slots, "forgot what ended long ago");
    }
    Ok(next)
}

async fn forget_slots(ports: &Ports, before: Timestamp) -> Result<usize, store::Error> {
    let mut gone = 0;
    for _ in 0..SLOT_STEPS {
        let step = ports.store.prune_slots(before, STEP).await?;
        gone += step;
        if step < STEP {
            break;
        }
    }
    Ok(gone)
}

async fn forget_silent_nodes(ports: &Ports) -> Result<(), store::Error> {
    let now = ports.clock.now();
    for node in ports.store.load_nodes().await? {
        if now.duration_since(node.seen_at) > NODE_FORGOTTEN_AFTER {
            ports.store.forget_node(&node.session).await?;
        }
    }
    Ok(())
}
