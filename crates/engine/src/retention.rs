//! Retention: what ended long ago is forgotten, a few rows at a time.
//!
//! A walk over the rows by number, in small steps with pauses: no step takes long, however large
//! the table and however little there is to forget, and the heartbeat never waits for one. Numbers
//! are given in the order of creation, and nothing ends before it was created: where rows begin
//! that are younger than what is forgotten, the walk is over. Where there is much to forget it
//! keeps up with what is created: it rests for as long as it works, and no longer.

use almanack_core::{
    edition::day::day_of,
    store::{self, Pruned, PrunedStories},
    task::TaskId,
    time::Clock,
};
use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use tokio_util::sync::CancellationToken;

use crate::{editions::shared::KEPT_FOR, node::Ports, wake::later};

/// Rows looked at in one step.
pub const STEP: usize = 500;
/// Pieces of run logs in one step; a piece is as large as many rows.
const PIECES: usize = 50;
/// Steps over the ledger, and over keys, beside each step over the tasks.
const SLOT_STEPS: usize = 100;
/// Between two steps of a walk that finds nothing.
const STEP_EVERY: SignedDuration = SignedDuration::from_millis(50);
/// The shortest rest after a step.
const REST_MIN: SignedDuration = SignedDuration::from_millis(1);
/// The longest, so that a clock that was set meanwhile does not count for hours.
const REST_MAX: SignedDuration = SignedDuration::from_secs(1);
/// From the end of one walk to the start of the next.
const WALK_EVERY: SignedDuration = SignedDuration::from_mins(10);
/// Archived editions whose stories go in one step.
const EDITIONS: usize = 10;
/// Steps over editions in one walk; a day adds one edition.
const EDITION_STEPS: usize = 100;
/// A host limit unused for so long is forgotten: longer than any lease.
const LANE_FORGOTTEN_AFTER: SignedDuration = SignedDuration::from_hours(2);

/// How long ended tasks, used keys and ledger rows are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retention {
    Keep,
    /// So long after they ended.
    After(SignedDuration),
}

/// What is kept for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// Ended tasks, used keys and ledger rows.
    pub tasks: Retention,
    /// Stories and batches of archived editions (ED-31).
    pub stories: Retention,
    /// What runs printed; never longer than their tasks.
    pub run_logs: Retention,
}

/// Forgets until `stop`.
pub async fn run(ports: &Ports, keep: Keep, stop: &CancellationToken) {
    let mut after = TaskId(0);
    while !stop.is_cancelled() {
        let began_at = ports.clock.now();
        let wait = match step(ports, keep, after).await {
            Ok(Step {
                rows,
                next,
                is_behind,
            }) if next.is_some() || is_behind => {
                after = next.unwrap_or(TaskId(0));
                let done = rows + usize::from(is_behind);
                rest(done, ports.clock.now().duration_since(began_at))
            }
            Ok(_) => {
                after = TaskId(0);
                WALK_EVERY
            }
            Err(error) => {
                tracing::warn!(
                    error = error.chain(),
                    "could not delete old tasks; will retry later"
                );
                WALK_EVERY
            }
        };
        let waiting = ports.sleeper.until(later(ports.clock.now(), wait));
        stop.run_until_cancelled(waiting).await;
    }
}

/// How long to rest after a step that forgot so many rows and took so long.
fn rest(rows: usize, took: SignedDuration) -> SignedDuration {
    if rows == 0 {
        STEP_EVERY
    } else {
        took.clamp(REST_MIN, REST_MAX)
    }
}

/// What one step did.
#[derive(Debug, Default)]
struct Step {
    rows: usize,
    /// Where to go on; `None` at the end of the walk.
    next: Option<TaskId>,
    /// Whether ledger rows or keys are left that are old: they come faster than the walk.
    is_behind: bool,
}

/// One step of the walk.
async fn step(ports: &Ports, keep: Keep, after: TaskId) -> Result<Step, store::Error> {
    // Age is a matter of the clock, and what is deleted cannot be taken back (DP-24).
    if !ports.clock.standing().may_delete() {
        return Ok(Step::default());
    }
    if after == TaskId(0) {
        forget_silent_nodes(ports).await?;
        forget_empty_lanes(ports).await?;
        forget_stories(ports, keep.stories).await?;
        forget_shared_texts(ports).await?;
    }
    let pieces = forget_run_logs(ports, keep).await?;
    let Some(before) = ended_before(ports, keep.tasks) else {
        return Ok(Step {
            rows: pieces,
            is_behind: pieces >= PIECES,
            ..Step::default()
        });
    };
    let pruned = ports.store.prune(before, after, STEP).await?;
    let Pruned { rows, next, oldest } = pruned;
    // The ledger has no separate walk: what is old is found by an index, a few rows at each step.
    let slots = forget(|| ports.store.prune_slots(before, STEP)).await?;
    let keys = forget(|| ports.store.prune_keys(before, STEP)).await?;
    forget(|| ports.store.prune_followed(before, STEP)).await?;
    let asked = forget(|| ports.store.prune_inbox(before, STEP)).await?;
    forget(|| ports.store.prune_bulks(before, STEP)).await?;
    if rows + slots + keys > 0 {
        tracing::debug!(rows, slots, keys, "deleted old tasks, slots and keys");
    }
    let young = oldest.is_some_and(|oldest| is_young(oldest, before, ports.clock.now()));
    Ok(Step {
        rows: rows + pieces,
        next: next.filter(|_| !young),
        is_behind: slots.max(keys).max(asked) >= SLOT_STEPS * STEP || pieces >= PIECES,
    })
}

/// Whether rows of which the oldest was created at `oldest` show that only younger ones follow. A
/// row from the future shows nothing: a clock was wrong once, and what follows may be old.
fn is_young(oldest: Timestamp, before: Timestamp, now: Timestamp) -> bool {
    (before..=now).contains(&oldest)
}

/// What ended before this is forgotten; `None` if nothing is.
fn ended_before(ports: &Ports, retention: Retention) -> Option<Timestamp> {
    let Retention::After(age) = retention else {
        return None;
    };
    let before = ports.clock.now().saturating_sub(age);
    Some(before.unwrap_or(Timestamp::MIN))
}

/// A log without its task would be found by nobody.
async fn forget_run_logs(ports: &Ports, keep: Keep) -> Result<usize, store::Error> {
    let limits = [keep.run_logs, keep.tasks].map(|retention| ended_before(ports, retention));
    let Some(before) = limits.into_iter().flatten().max() else {
        return Ok(0);
    };
    ports.store.prune_run_logs(before, PIECES).await
}

/// Days are counted in UTC here, whatever the edition's own zone: half a day does not matter after
/// weeks.
async fn forget_stories(ports: &Ports, retention: Retention) -> Result<(), store::Error> {
    let Some(before) = ended_before(ports, retention) else {
        return Ok(());
    };
    let before = day_of(before, &TimeZone::UTC);
    for _ in 0..EDITION_STEPS {
        let gone = ports.store.prune_stories(before, EDITIONS).await?;
        if gone == PrunedStories::default() {
            break;
        }
        let PrunedStories { stories, batches } = gone;
        tracing::debug!(stories, batches, "deleted stories of archived editions");
    }
    Ok(())
}

/// Texts that editions share are used for some days, whatever is kept of the editions.
async fn forget_shared_texts(ports: &Ports) -> Result<(), store::Error> {
    let Some(before) = ended_before(ports, Retention::After(KEPT_FOR)) else {
        return Ok(());
    };
    forget(|| ports.store.prune_shared(before, STEP)).await?;
    Ok(())
}

/// Forgets step by step. Keys are used as fast as requests come, whatever the number of tasks they
/// are about, and slots pass as fast.
async fn forget<F>(step: impl Fn() -> F) -> Result<usize, store::Error>
where
    F: Future<Output = Result<usize, store::Error>>,
{
    let mut gone = 0;
    for _ in 0..SLOT_STEPS {
        let rows = step().await?;
        gone += rows;
        if rows < STEP {
            break;
        }
    }
    Ok(gone)
}

async fn forget_silent_nodes(ports: &Ports) -> Result<(), store::Error> {
    let now = ports.clock.now();
    for node in ports.store.load_nodes().await? {
        if now.duration_since(node.seen_at) > store::NODE_FORGOTTEN_AFTER {
            ports.store.forget_node(&node.session).await?;
        }
    }
    Ok(())
}

async fn forget_empty_lanes(ports: &Ports) -> Result<(), store::Error> {
    let now = ports.clock.now();
    let before = now.saturating_sub(LANE_FORGOTTEN_AFTER);
    let before = before.unwrap_or(Timestamp::MIN);
    ports.store.prune_permits(before, now).await?;
    ports.store.prune_buckets(now).await.map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_forgot_rests_as_long_as_it_worked() {
        let ms = SignedDuration::from_millis;
        for (rows, took, rests) in [
            (0, 7, 50),
            (0, 900, 50),
            (500, 7, 7),
            (1, 0, 1),
            (500, 900, 900),
            (500, 7_200_000, 1_000),
            (500, -3, 1),
        ] {
            assert_eq!(rest(rows, ms(took)), ms(rests), "{rows} rows in {took} ms");
        }
    }

    #[test]
    fn the_walk_ends_where_rows_are_younger_than_what_goes() {
        let at = |second| Timestamp::from_second(second).unwrap();
        for (oldest, young) in [
            (99, false),
            (100, true),
            (150, true),
            (200, true),
            (201, false),
        ] {
            assert_eq!(is_young(at(oldest), at(100), at(200)), young, "{oldest}");
        }
    }
}
