//! The simulator's teeth: take a safeguard away, and it must notice.
//!
//! Each test sabotages the store under test from below, where neither the engine nor the witness
//! can see, and counts the seeds until a promise breaks.

use std::sync::Arc;

use almanack_core::{
    finish::Finish,
    reschedule::Change,
    store::{Applied, ClaimId, ClaimRequest, Claimed, Finished, Result, Store},
    task::{ClaimedTask, Expiry, Status, TaskId},
};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::layer::{Layer, Layered};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;

use super::open;
use crate::simulator::{Options, simulate};

/// Seeds within which every missing safeguard must be noticed.
const NOTICED_WITHIN: u64 = 200;

/// The seed that noticed must say why in words that name the missing safeguard's promise.
#[track_caller]
fn assert_noticed(open: impl Fn(u64) -> Arc<dyn Store>, words: &[&str]) {
    let found = (0..NOTICED_WITHIN)
        .find_map(|seed| simulate(seed, &Options::default(), || open(seed)).err());
    let broken = found.expect("a seed must notice");
    let named = words.iter().any(|words| broken.what.contains(words));
    assert!(named, "expected one of {words:?}:\n{broken}");
}

/// An ending is written whatever its term, as long as the task runs.
struct NoTermCheck;

#[async_trait]
impl Layer for NoTermCheck {
    async fn finish(&self, below: &dyn Store, mut finishes: Vec<Finish>) -> Result<Vec<Finished>> {
        for finish in &mut finishes {
            let row = below.load_task(finish.task_id).await?;
            if let Some(row) = row.filter(|row| row.status == Status::Running) {
                finish.term = row.term;
            }
        }
        below.finish(finishes).await
    }
}

#[test]
fn a_missing_term_check_is_noticed() {
    let open = |_| Layered::over(open(), NoTermCheck);
    assert_noticed(open, &["an ending under term"]);
}

/// The event of an outcome is forgotten.
struct NoOutbox;

#[async_trait]
impl Layer for NoOutbox {
    async fn finish(&self, below: &dyn Store, mut finishes: Vec<Finish>) -> Result<Vec<Finished>> {
        for finish in &mut finishes {
            finish.event_tasks.clear();
            finish.loose_events.clear();
        }
        below.finish(finishes).await
    }
}

#[test]
fn a_missing_outbox_is_noticed() {
    let open = |_| Layered::over(open(), NoOutbox);
    assert_noticed(open, &["was to be written with an ending"]);
}

/// A lost race is taken for a success.
struct NoDecideAgain;

#[async_trait]
impl Layer for NoDecideAgain {
    async fn apply(&self, below: &dyn Store, changes: Vec<Change>) -> Result<Vec<Applied>> {
        let applied = below.apply(changes.clone()).await?;
        let claim_success = |(change, applied): (&Change, Applied)| match applied {
            Applied::Lost => Applied::Done {
                inserted: change.insert.as_ref().map(|_| TaskId(i64::MAX)),
            },
            done => done,
        };
        Ok(changes.iter().zip(applied).map(claim_success).collect())
    }
}

#[test]
fn a_missing_decide_again_loop_is_noticed() {
    let open = |_| Layered::over(open(), NoDecideAgain);
    assert_noticed(
        open,
        &[
            "was accepted, but the row had moved on",
            "was applied to a row",
        ],
    );
}

/// A database that lets a second row of an identity in. The index itself cannot simply be dropped:
/// the statement that inserts names it and would be refused. So a trigger pushes the first row out
/// of its way, which leaves what a missing index would leave: two live tasks.
const NO_UNIQUE_INDEX: &str = "create trigger second before insert on task when new.is_current begin \
     update task set is_current = 0 \
     where subject = new.subject and kind = new.kind and is_current; end";

fn without_unique_index(seed: u64) -> Arc<dyn Store> {
    let shared = || {
        let uri = format!("file:no-unique-index-{seed}?mode=memory&cache=shared");
        Connection::open(uri).expect("memory is always there")
    };
    let (first, second) = (shared(), shared());
    let store = SqliteStore::inline(first).expect("an empty database can be migrated");
    second
        .execute_batch(NO_UNIQUE_INDEX)
        .expect("the table exists by now");
    Arc::new(store)
}

#[test]
fn a_missing_unique_index_is_noticed() {
    assert_noticed(
        without_unique_index,
        &["live rows", "rule Created was applied"],
    );
}

/// A heartbeat keeps every claim alive, also those that no node knows to hold.
struct HeartbeatForAll;

#[async_trait]
impl Layer for HeartbeatForAll {
    async fn extend_claims(
        &self,
        below: &dyn Store,
        _claims: &[ClaimId],
        now: Timestamp,
        lease_until: Timestamp,
    ) -> Result<Vec<ClaimId>> {
        let all = below.load_expired(Timestamp::MAX, usize::MAX).await?;
        let all: Vec<ClaimId> = all.iter().map(|claim| claim.claim_id).collect();
        below.extend_claims(&all, now, lease_until).await
    }
}

#[test]
fn a_heartbeat_for_claims_without_a_holder_is_noticed() {
    let open = |_| Layered::over(open(), HeartbeatForAll);
    assert_noticed(open, &["never came to rest"]);
}

/// Tasks are handed out a little before their time.
struct Hasty;

#[async_trait]
impl Layer for Hasty {
    async fn claim(&self, below: &dyn Store, mut request: ClaimRequest) -> Result<Claimed> {
        request.now += SignedDuration::from_millis(500);
        below.claim(request).await
    }
}

#[test]
fn an_early_start_is_noticed() {
    let open = |_| Layered::over(open(), Hasty);
    assert_noticed(open, &["before its time"]);
}

/// Claims hand tasks out without their expiry.
struct Timeless;

#[async_trait]
impl Layer for Timeless {
    async fn claim(&self, below: &dyn Store, request: ClaimRequest) -> Result<Claimed> {
        let mut claimed = below.claim(request).await?;
        for task in &mut claimed.tasks {
            task.expiry = Expiry::NEVER;
        }
        Ok(claimed)
    }
}

#[test]
fn wk_06_a_late_start_is_noticed() {
    let open = |_| Layered::over(open(), Timeless);
    assert_noticed(open, &["although it expired", "expires None, not"]);
}

/// Every expired task ends a little too early.
struct Impatient;

#[async_trait]
impl Layer for Impatient {
    async fn claim_expired(
        &self,
        below: &dyn Store,
        mut request: ClaimRequest,
    ) -> Result<Vec<ClaimedTask>> {
        request.now += SignedDuration::from_secs(10);
        below.claim_expired(request).await
    }
}

#[test]
fn wk_06_an_early_expiry_is_noticed() {
    let open = |_| Layered::over(open(), Impatient);
    assert_noticed(open, &["before its time", "expired by"]);
}
