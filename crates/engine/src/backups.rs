//! Scheduled backups: one at a time, each proven, the oldest removed after the newest is there.
//!
//! A backup that fails is tried again soon, and noted with the node's troubles, from where it
//! becomes an alert; the trouble is over with the next one that succeeds. Nothing waits for a
//! backup, and a node that is asked to stop does not either: what was begun never gets a name.

use std::sync::Arc;

use almanack_core::{
    alert::Rule,
    backup::{Vault, next_at, outdated},
    time::{Clock, Sleeper},
};
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::{health::Health, wake::later};

/// The longest wait after a failure.
const AGAIN_AFTER: SignedDuration = SignedDuration::from_mins(5);

/// Makes backups.
pub struct Backups {
    pub vault: Arc<dyn Vault>,
    /// From one to the next.
    pub every: SignedDuration,
    /// How many are kept.
    pub keep: usize,
    pub clock: Arc<dyn Clock>,
}

impl Backups {
    /// Makes them until `stop`.
    pub(crate) async fn run(
        self,
        health: &Health,
        sleeper: &dyn Sleeper,
        stop: &CancellationToken,
    ) {
        while let Some(next_at) = stop.run_until_cancelled(self.pass(health)).await {
            stop.run_until_cancelled(sleeper.until(next_at)).await;
        }
    }

    /// Makes one if it is due; answers when to look again.
    async fn pass(&self, health: &Health) -> Timestamp {
        let now = self.clock.now();
        let trouble = (Rule::Backup, "backup");
        match self.make(now).await {
            Ok(Some(due_at)) => due_at,
            Ok(None) => {
                health.note(trouble, now, Ok(()));
                later(now, self.every)
            }
            Err(why) => {
                tracing::error!(error = why, "scheduled backup failed; will retry soon");
                count("failed");
                health.note(trouble, now, Err(why));
                later(self.clock.now(), self.every.min(AGAIN_AFTER))
            }
        }
    }

    /// Answers when the next one is due, if none is now.
    async fn make(&self, now: Timestamp) -> Result<Option<Timestamp>, String> {
        let made = self.vault.list().await?;
        let due_at = next_at(&made, self.every, now);
        show_newest(&made, now);
        if now < due_at {
            return Ok(Some(due_at));
        }
        let bytes = self.vault.save(now).await?;
        tracing::info!(backup.bytes = bytes, "scheduled backup written");
        count("made");
        show_size(bytes);
        let made = self.vault.list().await?;
        show_newest(&made, now);
        for made_at in outdated(&made, self.keep, now) {
            self.vault.remove(made_at).await?;
        }
        Ok(None)
    }
}

fn count(outcome: &'static str) {
    metrics::counter!("almanack_backups_total", "outcome" => outcome).increment(1);
}

#[expect(clippy::cast_precision_loss, reason = "a gauge of bytes")]
fn show_size(bytes: u64) {
    metrics::gauge!("almanack_backup_size_bytes").set(bytes as f64);
}

fn show_newest(made: &[Timestamp], now: Timestamp) {
    if let Some(newest) = made.iter().filter(|at| **at <= now).max() {
        let since_epoch = newest.duration_since(Timestamp::UNIX_EPOCH);
        metrics::gauge!("almanack_backup_last_success_timestamp_seconds")
            .set(since_epoch.as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, sync::Mutex};

    use almanack_testkit::{clock::ManualClock, fixture::at};
    use async_trait::async_trait;

    use super::*;
    use crate::health::Readiness;

    #[derive(Default)]
    struct Shelf {
        made: Mutex<BTreeSet<Timestamp>>,
        full: Mutex<bool>,
    }

    #[async_trait]
    impl Vault for Shelf {
        async fn list(&self) -> Result<Vec<Timestamp>, String> {
            Ok(self.made.lock().unwrap().iter().copied().collect())
        }

        async fn save(&self, now: Timestamp) -> Result<u64, String> {
            if *self.full.lock().unwrap() {
                return Err("no space left".to_owned());
            }
            self.made.lock().unwrap().insert(now);
            Ok(4096)
        }

        async fn remove(&self, made_at: Timestamp) -> Result<(), String> {
            self.made.lock().unwrap().remove(&made_at);
            Ok(())
        }
    }

    #[tokio::test]
    async fn backups_are_made_in_their_rhythm_and_the_oldest_go() {
        let (shelf, clock) = (Arc::new(Shelf::default()), Arc::new(ManualClock::at(at(0))));
        let health = Health::default();
        let backups = Backups {
            vault: shelf.clone(),
            every: SignedDuration::from_secs(60),
            keep: 2,
            clock: clock.clone(),
        };
        let kept = || -> Vec<Timestamp> { shelf.made.lock().unwrap().iter().copied().collect() };
        for number in 0..4 {
            clock.set(at(60 * number));
            assert_eq!(backups.pass(&health).await, at(60 * number + 60));
        }
        assert_eq!(kept(), [at(120), at(180)]);
        clock.set(at(200));
        assert_eq!(backups.pass(&health).await, at(240), "not due");
        assert_eq!(kept().len(), 2);
        // One that fails removes nothing, is a trouble, and is tried again.
        *shelf.full.lock().unwrap() = true;
        clock.set(at(240));
        assert_eq!(backups.pass(&health).await, at(300));
        assert_eq!(kept(), [at(120), at(180)]);
        assert_eq!(health.troubles()[0].detail, "backup: no space left");
        *shelf.full.lock().unwrap() = false;
        clock.set(at(300));
        backups.pass(&health).await;
        assert_eq!(kept(), [at(180), at(300)]);
        let degraded = Vec::new();
        assert_eq!(health.readiness(at(300)), Readiness::Ready { degraded });
    }
}
