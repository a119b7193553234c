//! Keeps sources honest: the price, sources that lost their task, entries that are old, entries that
//! no search finds yet.

use std::sync::Arc;

use almanack_core::{
    source::SourceId,
    store::{self, EntryRetention, Store},
    time::{Clock, Sleeper},
};
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use super::{Error, Sources, courtesy, fleet::Fleet};
use crate::wake::later;

/// From one round to the next.
const ROUND_EVERY: SignedDuration = SignedDuration::from_secs(30);
/// A source whose time is past by so much has either waited long or lost its task.
const STRAY_AFTER: SignedDuration = SignedDuration::from_mins(5);
/// Strays taken back in one round.
const STRAYS_MAX: usize = 500;
/// Sources whose entries are looked at in one step.
const PRUNE_STEP: usize = 200;
/// Steps of pruning in one round.
const PRUNE_STEPS: usize = 5;
/// Entries whose words are written in one step.
const INDEX_STEP: usize = 200;
/// Steps of that in one round.
const INDEX_STEPS: usize = 5;
/// From the end of one walk over all sources to the start of the next.
const WALK_EVERY: SignedDuration = SignedDuration::from_hours(1);
/// Who puts the tasks of strays.
const BY: &str = "keeper";

/// How long entries are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeepEntries {
    /// So long after they were first seen; `None` for ever.
    pub for_long: Option<SignedDuration>,
    /// So many newest ones of a source.
    pub per_source: usize,
}

impl Default for KeepEntries {
    fn default() -> Self {
        Self {
            for_long: Some(SignedDuration::from_hours(90 * 24)),
            per_source: 500,
        }
    }
}

/// How far the walk over all entries is.
#[derive(Debug)]
pub struct Walk {
    after: Option<SourceId>,
    rests_until: Option<Timestamp>,
    steps: usize,
}

impl Default for Walk {
    /// A few steps in every round.
    fn default() -> Self {
        Self {
            after: None,
            rests_until: None,
            steps: PRUNE_STEPS,
        }
    }
}

impl Walk {
    /// All of it in one round, for a caller that makes only one.
    pub fn whole() -> Self {
        Self {
            steps: usize::MAX,
            ..Self::default()
        }
    }
}

/// A node's care for sources.
pub struct SourceKeeper {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub sources: Arc<Sources>,
    pub fleet: Arc<Fleet>,
    pub keep: KeepEntries,
}

impl SourceKeeper {
    /// Goes round until `stop`. Trouble with the store is waited out.
    pub async fn run(self, sleeper: &dyn Sleeper, stop: &CancellationToken) {
        let mut walk = Walk::default();
        while !stop.is_cancelled() {
            if let Err(error) = self.round(&mut walk).await {
                tracing::warn!(error = %error, "the sources' round failed; will retry");
            }
            let next_at = later(self.clock.now(), ROUND_EVERY);
            stop.run_until_cancelled(sleeper.until(next_at)).await;
        }
        // What is counted after this, by checks that are still running, is lost with the node.
        if let Err(error) = self.fleet.report(self.store.as_ref()).await {
            tracing::warn!(error = error.chain(), "could not write the last counts");
        }
    }

    /// One round.
    pub async fn round(&self, walk: &mut Walk) -> Result<(), Error> {
        let now = self.clock.now();
        if let Err(error) = self.fleet.step(self.store.as_ref(), now).await {
            tracing::warn!(
                error = error.chain(),
                "could not update the price of checks"
            );
        }
        self.take_back_strays(now).await?;
        self.prune(now, walk).await?;
        self.index().await?;
        Ok(())
    }

    /// Writes what searches find entries by, where an earlier version did not.
    async fn index(&self) -> Result<(), store::Error> {
        for _ in 0..INDEX_STEPS {
            if self.store.index_entries(INDEX_STEP).await? < INDEX_STEP {
                break;
            }
        }
        Ok(())
    }

    /// Puts the tasks of sources whose time is long past and that have none: nothing dies silently.
    async fn take_back_strays(&self, now: Timestamp) -> Result<(), Error> {
        let overdue = now.saturating_sub(STRAY_AFTER).unwrap_or(now);
        let strays = self.store.load_stray_sources(overdue, STRAYS_MAX).await?;
        if strays.is_empty() {
            return Ok(());
        }
        tracing::warn!(
            sources = strays.len(),
            "sources without a task found; checking them now"
        );
        let dues = strays.into_iter().map(|id| (id, now)).collect();
        self.sources.put(dues, BY).await?;
        Ok(())
    }

    async fn prune(&self, now: Timestamp, walk: &mut Walk) -> Result<(), store::Error> {
        let trusted = self.clock.standing().may_delete();
        if !trusted || walk.rests_until.is_some_and(|until| now < until) {
            return Ok(());
        }
        let age = self.keep.for_long;
        let retention = EntryRetention {
            seen_before: age.map(|age| now.saturating_sub(age).unwrap_or(Timestamp::MIN)),
            per_source: self.keep.per_source,
        };
        for _ in 0..walk.steps {
            let after = walk.after.unwrap_or(SourceId(0));
            let step = self
                .store
                .prune_entries(retention, after, PRUNE_STEP)
                .await?;
            walk.after = step.next;
            if step.next.is_none() {
                courtesy::prune(self.store.as_ref(), now).await?;
                walk.rests_until = Some(later(now, WALK_EVERY));
                break;
            }
        }
        Ok(())
    }
}
