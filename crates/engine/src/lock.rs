//! Locks on slots in the store: the row of an identity that may exist once.
//!
//! The marker is a task that is born CANCELLED: no node ever runs it, and that there is one current
//! row per identity makes its creation atomic (RS-01). The planner has no use for this, its
//! DISPATCH tasks are unique by themselves; hosts that decide for themselves what is due have. A
//! removed marker is no longer current, and retention forgets it like everything that has ended; so
//! retention must keep markers at least as long as slots may be late.

use std::sync::{Arc, Mutex};

use almanack_core::{
    lock::{Acquired, Doubts, Error, LockKey, SlotLock},
    locked,
    reschedule::{Amend, Change, Rule},
    store::{Applied, TaskFilter, TaskStore},
    task::{
        Expiry, Identity, Invalid, Kind, NewTask, PAYLOAD_BYTES_MAX, Payload, Priority, Revision,
        Status, Tags, Task,
    },
    time::{Clock, Entropy},
};
use async_trait::async_trait;
use jiff::Timestamp;

/// The kind of every marker.
pub const SLOT_LOCK: &str = "SLOT_LOCK";
/// What its subject begins with.
const SUBJECT_PREFIX: &str = "lock:";
/// The requester, in the history.
const ORIGIN: &str = "lock";
/// Rows looked at in one go.
const PAGE: usize = 500;

/// Locks in the store.
pub struct StoreLock {
    store: Arc<dyn TaskStore>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    doubts: Mutex<Doubts<u64>>,
}

impl StoreLock {
    /// Locks in `store`.
    pub fn new(
        store: Arc<dyn TaskStore>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        Self {
            store,
            clock,
            entropy,
            doubts: Mutex::default(),
        }
    }

    async fn create(&self, key: &LockKey, receipt: u64) -> Result<Applied, Error> {
        let now = self.clock.now();
        let change = Change {
            rule: Rule::Cancelled,
            origin: ORIGIN.to_owned(),
            decided_at: now,
            requested: None,
            amend: None,
            insert: Some(lock_task(key, receipt, now)?),
        };
        let applied = self.store.apply(vec![change]).await?;
        applied.first().copied().ok_or_else(silent)
    }

    /// Whether the marker is the one that this caller tried to write.
    async fn is_own(&self, key: &LockKey, receipt: u64) -> Result<bool, Error> {
        let identity = identity(key)?;
        let payload = payload(receipt)?;
        let rows = self.store.load_current(&[identity]).await?;
        Ok(rows.into_iter().flatten().any(|row| row.payload == payload))
    }

    async fn settle(&self, key: &LockKey, receipt: u64, in_doubt: bool) -> Result<Acquired, Error> {
        let won = match self.create(key, receipt).await? {
            Applied::Done { .. } | Applied::Repeated { .. } => true,
            Applied::Lost => in_doubt && self.is_own(key, receipt).await?,
        };
        Ok(if won { Acquired::Won } else { Acquired::Lost })
    }
}

#[async_trait]
impl SlotLock for StoreLock {
    async fn acquire(&self, key: &LockKey) -> Result<Acquired, Error> {
        let doubted = locked(&self.doubts).take(key);
        let receipt = doubted.unwrap_or_else(|| self.entropy.next_u64());
        let settled = self.settle(key, receipt, doubted.is_some()).await;
        if settled.is_err() {
            locked(&self.doubts).put(*key, receipt);
        }
        settled
    }

    async fn list(&self) -> Result<Vec<LockKey>, Error> {
        let mut keys = Vec::new();
        let mut filter = TaskFilter {
            kind: Some(Kind::parse(SLOT_LOCK)?),
            limit: PAGE,
            ..TaskFilter::default()
        };
        loop {
            let page = self.store.list_tasks(&filter).await?;
            let current = page.rows.iter().filter(|row| row.current);
            keys.extend(current.filter_map(|row| key_of(&row.identity)));
            filter.before = page.next;
            if filter.before.is_none() {
                return Ok(keys);
            }
        }
    }

    async fn clean(&self, expired: &[LockKey]) -> Result<(), Error> {
        for keys in expired.chunks(PAGE) {
            let identities: Result<Vec<Identity>, Invalid> = keys.iter().map(identity).collect();
            let rows = self.store.load_current(&identities?).await?;
            let now = self.clock.now();
            let changes = rows.iter().flatten().map(|row| retire(row, now)).collect();
            // A lost one was retired by another caller, who wanted the same.
            self.store.apply(changes).await?;
        }
        Ok(())
    }
}

fn identity(key: &LockKey) -> Result<Identity, Invalid> {
    Identity::parse(&format!("{SUBJECT_PREFIX}{key}"), SLOT_LOCK)
}

fn key_of(identity: &Identity) -> Option<LockKey> {
    LockKey::parse(identity.subject.as_str().strip_prefix(SUBJECT_PREFIX)?)
}

fn payload(receipt: u64) -> Result<Payload, Invalid> {
    Payload::parse(
        &format!(r#"{{"mark":"{receipt:016x}"}}"#),
        PAYLOAD_BYTES_MAX,
    )
}

fn lock_task(key: &LockKey, receipt: u64, now: Timestamp) -> Result<NewTask, Invalid> {
    Ok(NewTask {
        identity: identity(key)?,
        status: Status::Cancelled,
        execute_at: now,
        payload: payload(receipt)?,
        callback_url: None,
        call_options: None,
        share_key: None,
        expiry: Expiry::NEVER,
        priority: Priority::DEFAULT,
        max_retry: 0,
        revision: Revision::NONE,
        tags: Tags::NONE,
        origin: ORIGIN.to_owned(),
        replaces: None,
    })
}

/// Makes room for another row of the identity.
fn retire(row: &Task, now: Timestamp) -> Change {
    Change {
        rule: Rule::Cancelled,
        origin: ORIGIN.to_owned(),
        decided_at: now,
        requested: None,
        amend: Some(Amend {
            current: false,
            waits: false,
            ..Amend::of(row)
        }),
        insert: None,
    }
}

fn silent() -> Error {
    Error::unavailable("the store returned no answer")
}

#[cfg(test)]
mod tests {
    use almanack_store::sqlite::SqliteStore;
    use almanack_testkit::{clock::ManualClock, entropy::SeededEntropy, fixture::START, lock::key};

    use super::*;

    #[tokio::test]
    async fn dp_06_a_creation_whose_answer_was_lost_is_recognised_once() {
        let store = Arc::new(SqliteStore::in_memory().unwrap());
        let clock = Arc::new(ManualClock::at(START));
        let lock = StoreLock::new(store, clock, Arc::new(SeededEntropy::new(1)));
        let (ours, theirs) = (key(1, 60), key(1, 70));
        for key in [ours, theirs] {
            lock.create(&key, 7).await.unwrap();
        }
        locked(&lock.doubts).put(ours, 7);
        locked(&lock.doubts).put(theirs, 8);
        assert_eq!(lock.acquire(&ours).await, Ok(Acquired::Won));
        assert_eq!(lock.acquire(&ours).await, Ok(Acquired::Lost), "once");
        assert_eq!(lock.acquire(&theirs).await, Ok(Acquired::Lost), "not ours");
    }
}
