//! The attempts that are running now.
//!
//! Each attempt is a separate task of the runtime: a handler that panics or blocks harms nothing
//! else. What is known about a running attempt is kept here, outside it, so that nothing is lost
//! with it.

use std::{collections::BTreeMap, sync::Arc};

use almanack_core::{
    finish::Outcome,
    store::ClaimId,
    task::{ClaimedTask, Kind},
    time::CorrectedClock,
};
use jiff::Timestamp;
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};

use super::{
    finisher::{Backlog, FinisherHandle},
    measures::Measures,
    shares::{Long, Shares},
};
use crate::{
    counters::Counters,
    endings::{Ending, expired},
    handlers::Handlers,
    node::{Holdings, Ports},
    permits::Permits,
    reloadable::Reloadable,
};

/// What is known about a running attempt.
struct Attempt {
    claim_id: ClaimId,
    task: Arc<ClaimedTask>,
    stop: AbortHandle,
    /// Whether it has given its slot to others.
    is_long: bool,
}

/// All of a node's running attempts.
pub(super) struct Running {
    handlers: Reloadable<Handlers>,
    clock: Arc<CorrectedClock>,
    finisher: FinisherHandle,
    tasks: JoinSet<Outcome>,
    attempts: BTreeMap<Id, Attempt>,
    counts: BTreeMap<Kind, usize>,
    long: Long,
    measures: Measures,
    counters: Arc<Counters>,
    permits: Arc<Permits>,
}

impl Running {
    pub(super) fn new(ports: &Ports, finisher: FinisherHandle, holdings: &Holdings) -> Self {
        Self {
            handlers: ports.handlers.clone(),
            clock: Arc::clone(&ports.clock),
            finisher,
            tasks: JoinSet::new(),
            attempts: BTreeMap::new(),
            counts: BTreeMap::new(),
            long: Long::default(),
            measures: Measures::default(),
            counters: Arc::clone(&holdings.counters),
            permits: Arc::clone(&holdings.permits),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.attempts.len()
    }

    /// How many slots are taken: by all attempts but the long ones.
    pub(super) fn busy(&self) -> usize {
        self.attempts.len() - self.long.total()
    }

    /// When the next attempt may give its slot to others.
    pub(super) fn next_long_at(&self) -> Timestamp {
        self.long.next_at().unwrap_or(Timestamp::MAX)
    }

    /// Attempts that have been under way for long give their slots to others, as far as there is
    /// room.
    pub(super) fn count_long(&mut self, shares: &Shares, now: Timestamp) {
        while let Some(id) = self.long.take_due(now) {
            if let Some(attempt) = self.attempts.get_mut(&id) {
                let kind = &attempt.task.identity.kind;
                attempt.is_long = self.long.admit(id, kind, shares, now);
            }
        }
    }

    /// How many more of each kind that has its own share, or something running, may begin.
    pub(super) fn shares(&self, shares: &Shares, slots: usize) -> BTreeMap<Kind, usize> {
        if !shares.bound_kinds() {
            return BTreeMap::new();
        }
        let running = self.counts.iter().filter(|(_, count)| **count > 0);
        let kinds = running.map(|(kind, _)| kind).chain(shares.of_kind.keys());
        let busy_of = |kind: &Kind| self.count_of(kind) - self.long.count_of(kind);
        let room = kinds.map(|kind| {
            let busy = busy_of(kind);
            let share = shares.of(kind, slots, self.busy() - busy);
            (kind.clone(), share.saturating_sub(busy))
        });
        room.collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.attempts.is_empty()
    }

    /// What has ended and is not written yet.
    pub(super) fn backlog(&self) -> &Backlog {
        &self.finisher.backlog
    }

    pub(super) fn count_of(&self, kind: &Kind) -> usize {
        self.counts.get(kind).copied().unwrap_or(0)
    }

    /// Starts an attempt for each task of a claim.
    pub(super) fn start(&mut self, claim_id: ClaimId, tasks: Vec<ClaimedTask>, now: Timestamp) {
        self.counters.started(tasks.len());
        self.long.forget_ended(|id| self.attempts.contains_key(id));
        let handlers = self.handlers.get();
        for task in tasks {
            let measures = self.measures.of(&task.identity.kind);
            if !task.expiry.is_over(now) {
                let lateness = now.duration_since(task.execute_at).as_secs_f64();
                measures.wait.record(lateness);
            }
            measures.running.increment(1.0);
            match self.counts.get_mut(&task.identity.kind) {
                Some(count) => *count += 1,
                None => {
                    self.counts.insert(task.identity.kind.clone(), 1);
                }
            }
            let handler = handlers.of(&task.identity.kind);
            let task = Arc::new(task);
            let attempted = Arc::clone(&task);
            let clock = Arc::clone(&self.clock);
            let spawned = self.tasks.spawn(async move {
                // Asked last of all: the claim's answer and the runtime take their time (WK-06).
                if let Some(unstarted) = expired(&attempted, &clock) {
                    return unstarted;
                }
                handler.attempt(&attempted).await
            });
            let (id, stop) = (spawned.id(), spawned);
            self.attempts.insert(
                id,
                Attempt {
                    claim_id,
                    task,
                    stop,
                    is_long: false,
                },
            );
            self.long.begun(id, now);
        }
    }

    /// Waits until an attempt ends, and passes its ending on. Waits for ever if none is running.
    pub(super) async fn next_ended(&mut self) {
        match self.tasks.join_next_with_id().await {
            Some(joined) => self.ended(joined),
            None => std::future::pending().await,
        }
    }

    /// Passes on every ending that is already there.
    pub(super) fn collect_ended(&mut self) {
        while let Some(joined) = self.tasks.try_join_next_with_id() {
            self.ended(joined);
        }
    }

    fn ended(&mut self, joined: Result<(Id, Outcome), JoinError>) {
        let (id, outcome) = match joined {
            Ok((id, outcome)) => (id, outcome),
            Err(error) if error.is_panic() => {
                let retry = Outcome::retry("the handler panicked; see the log");
                (error.id(), retry)
            }
            // Dropped by us; the code that dropped it has decided about it.
            Err(error) => {
                self.forget(error.id());
                return;
            }
        };
        if let Some(attempt) = self.forget(id) {
            self.finisher.end(Ending {
                claim_id: attempt.claim_id,
                task: attempt.task,
                outcome,
            });
        }
    }

    fn forget(&mut self, id: Id) -> Option<Attempt> {
        let attempt = self.attempts.remove(&id)?;
        let kind = &attempt.task.identity.kind;
        if let Some(count) = self.counts.get_mut(kind) {
            *count -= 1;
        }
        if attempt.is_long {
            self.long.ended(kind);
        }
        self.measures.of(kind).running.decrement(1.0);
        self.permits.give_back(kind, 1);
        Some(attempt)
    }

    /// Reports tasks as never started.
    pub(super) fn hand_back(&self, claim_id: ClaimId, tasks: Vec<ClaimedTask>) {
        let ends = tasks.into_iter().map(|task| (task, Outcome::HandedBack));
        self.end_untried(claim_id, ends);
    }

    /// Reports tasks as ended so, without an attempt.
    pub(super) fn end_untried(
        &self,
        claim_id: ClaimId,
        ends: impl ExactSizeIterator<Item = (ClaimedTask, Outcome)>,
    ) {
        self.counters.started(ends.len());
        for (task, outcome) in ends {
            let task = Arc::new(task);
            self.finisher.end(Ending {
                claim_id,
                task,
                outcome,
            });
        }
    }

    /// Stops all attempts and reports each as ended so; those that had ended by themselves are
    /// reported as they ended. Answers how many were stopped.
    pub(super) fn end_all(&mut self, outcome: &Outcome) -> usize {
        self.end_where(|_| true, outcome)
    }

    /// The same for the attempts of some claims.
    pub(super) fn end_claims(&mut self, claims: &[ClaimId], outcome: &Outcome) -> usize {
        if claims.is_empty() {
            0
        } else {
            self.end_where(|claim| claims.contains(&claim), outcome)
        }
    }

    fn end_where(&mut self, ends: impl Fn(ClaimId) -> bool, outcome: &Outcome) -> usize {
        self.collect_ended();
        let chosen = self
            .attempts
            .iter()
            .filter(|(_, attempt)| ends(attempt.claim_id));
        let chosen: Vec<Id> = chosen.map(|(id, _)| *id).collect();
        for id in &chosen {
            if let Some(attempt) = self.forget(*id) {
                attempt.stop.abort();
                let (claim_id, task) = (attempt.claim_id, attempt.task);
                self.finisher.end(Ending {
                    claim_id,
                    task,
                    outcome: outcome.clone(),
                });
            }
        }
        chosen.len()
    }
}
