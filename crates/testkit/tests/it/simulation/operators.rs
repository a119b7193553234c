//! Pauses and bulk changes under everything that goes wrong (WK-04, WK-07), and the teeth of that:
//! what is taken away must be noticed.

use almanack_core::{
    bulk::Bulk,
    reschedule::Change,
    store::{Applied, ClaimRequest, Claimed, Page, PausedKind, Reading, Result, Store, TaskFilter},
    task::{Task, TaskId},
};
use almanack_testkit::layer::{Layer, Layered};
use async_trait::async_trait;

use super::{SEEDS, no_seed_breaks, open, seeds};
use crate::simulator::{Options, simulate};

/// Seeds within which every missing safeguard must be noticed.
const NOTICED_WITHIN: u64 = 60;

/// What goes wrong, by a piece of the line that says so.
const TROUBLES: [&str; 9] = [
    "pauses AUDIT",
    "resumes AUDIT",
    "begins bulk 2: cancel",
    ": retry",
    ": move",
    "stops bulk",
    "is not at step",
    "advance_bulk: reply lost",
    "advance_bulk: refused",
];

fn house() -> Options {
    Options {
        operators: 2,
        ..Options::default()
    }
}

/// No claim takes what is paused; a bulk change looks at every row of its kind once, changes none
/// twice, counts what it did, and comes to its end, whichever nodes die on it.
#[test]
fn wk_04_wk_07_no_seed_breaks_a_pause_or_a_bulk_change() {
    no_seed_breaks(&seeds("tasks", SEEDS / 20), &TROUBLES, |seed| {
        simulate(seed, &house(), open).map(|story| story.log)
    });
}

#[track_caller]
fn assert_noticed<L: Layer + 'static>(layer: impl Fn() -> L, words: &str) {
    let sabotaged = || Layered::over(open(), layer());
    let found = (0..NOTICED_WITHIN).find_map(|seed| simulate(seed, &house(), sabotaged).err());
    let broken = found.expect("a seed must notice");
    assert!(broken.what.contains(words), "expected `{words}`:\n{broken}");
}

/// A claim that reads no pauses.
struct Unpaused;

#[async_trait]
impl Layer for Unpaused {
    async fn claim(&self, below: &dyn Store, request: ClaimRequest) -> Result<Claimed> {
        let now = request.now;
        let paused = below.load_paused_kinds(now).await?;
        for it in &paused {
            below.resume_kind(&it.kind, now).await?;
        }
        let claimed = below.claim(request).await;
        for it in &paused {
            below.pause_kind(it).await?;
        }
        claimed
    }
}

#[test]
fn wk_04_a_claim_that_reads_no_pauses_is_noticed() {
    assert_noticed(|| Unpaused, "of a paused kind");
}

/// A pause that is answered and not written.
struct Forgetful;

#[async_trait]
impl Layer for Forgetful {
    async fn pause_kind(&self, _: &dyn Store, _: &PausedKind) -> Result<()> {
        Ok(())
    }
}

#[test]
fn wk_04_a_pause_that_is_not_written_is_noticed() {
    assert_noticed(|| Forgetful, "of a paused kind");
}

/// Changes that are written without their step.
struct HalfStep;

#[async_trait]
impl Layer for HalfStep {
    async fn advance_bulk(
        &self,
        below: &dyn Store,
        _: &Bulk,
        changes: Vec<Change>,
    ) -> Result<Option<(Bulk, Vec<Applied>)>> {
        below.apply(changes).await?;
        Ok(None)
    }
}

#[test]
fn wk_07_changes_without_their_step_are_noticed() {
    assert_noticed(|| HalfStep, "the row had moved on");
}

/// The last row of every page is left out.
struct LeavesOne;

#[async_trait]
impl Layer for LeavesOne {
    async fn list_tasks(
        &self,
        below: &dyn Store,
        filter: &TaskFilter,
    ) -> Result<Page<Task, TaskId>> {
        let mut page = below.list_tasks(filter).await?;
        if filter.reading == Reading::Changed {
            page.rows.pop();
        }
        Ok(page)
    }
}

#[test]
fn wk_07_a_row_that_is_left_out_is_noticed() {
    assert_noticed(|| LeavesOne, "a bulk change counted");
}
