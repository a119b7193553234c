//! One pass of everything due, on request.
//!
//! Where nothing can run all the time, something outside says when: a cron trigger, a timer. A tick
//! plans what is due, lets the node run it, and answers once nothing is due and nothing runs, or
//! once its budget is spent. What is left then is not lost: it is due at the next tick.

use std::{collections::BTreeMap, sync::Arc};

use almanack_core::{
    event::outgoing::Subscriptions,
    store::{self, Depth, PausedKind, Store},
    time::{Clock, Sleeper},
};
use jiff::{SignedDuration, Timestamp};

use crate::{
    counters::Counters, planner::Planner, reloadable::Reloadable, runner::RunnerSettings,
    zones::Zones,
};

/// How often it looks whether the work is done.
const LOOK_EVERY: SignedDuration = SignedDuration::from_millis(50);

/// What a tick did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticked {
    pub ticked_at: Timestamp,
    pub fired: u64,
    /// Slots that were skipped.
    pub skipped: u64,
    /// Attempts that ended on this node meanwhile, by outcome.
    pub attempts: BTreeMap<&'static str, u64>,
    /// Whether everything due was done before the budget was spent.
    pub complete: bool,
    /// When something is due next.
    pub next_due_at: Option<Timestamp>,
}

/// Ticks a node that is running.
pub struct Ticker {
    store: Arc<dyn Store>,
    planner: Planner,
    counters: Arc<Counters>,
    clock: Arc<dyn Clock>,
    sleeper: Arc<dyn Sleeper>,
    /// Which kinds workers take: no tick waits for them.
    settings: Reloadable<RunnerSettings>,
}

impl Ticker {
    /// Ticks the node whose counters these are. The node's own planner may be faster with a slot;
    /// both count, so that a tick reports it all the same.
    pub fn new(
        store: Arc<dyn Store>,
        counters: Arc<Counters>,
        clock: Arc<dyn Clock>,
        sleeper: Arc<dyn Sleeper>,
    ) -> Self {
        let zones = Arc::new(Zones::default());
        let planner = Planner::new(store.clone(), clock.clone(), zones);
        Self {
            planner: planner.counting(counters.clone()),
            store,
            counters,
            clock,
            sleeper,
            settings: Reloadable::default(),
        }
    }

    /// Has events delivered to these subscriptions.
    #[must_use]
    pub fn reporting_to(self, subscriptions: Reloadable<Subscriptions>) -> Self {
        let planner = self.planner.reporting_to(subscriptions);
        Self { planner, ..self }
    }

    /// Leaves what workers take to them.
    #[must_use]
    pub fn running(self, settings: Reloadable<RunnerSettings>) -> Self {
        Self { settings, ..self }
    }

    /// Plans what is due and waits until it has been run, at most for `budget`.
    pub async fn tick(&self, budget: SignedDuration) -> store::Result<Ticked> {
        let ticked_at = self.clock.now();
        let until = ticked_at.saturating_add(budget).unwrap_or(Timestamp::MAX);
        let before = self.counters.counts();
        let mut planned = self.planner.pass().await?;
        let mut waits_until = planned.waits_until;
        let complete = loop {
            if waits_until.is_none() && self.is_idle().await? {
                break true;
            }
            let now = self.clock.now();
            if now >= until {
                break false;
            }
            let next = now.saturating_add(LOOK_EVERY).unwrap_or(now);
            self.sleeper.until(next).await;
            planned = self.planner.pass().await?;
            // A slot that waits is looked at now and then; until that look it counts as waiting.
            let looked = waits_until.is_none_or(|at| at <= now);
            if looked || planned.waits_until.is_some() {
                waits_until = planned.waits_until;
            }
        };
        let after = self.counters.counts();
        Ok(Ticked {
            ticked_at,
            fired: after.fired - before.fired,
            skipped: after.skipped - before.skipped,
            attempts: since(&before.ended, after.ended),
            complete,
            next_due_at: self.next_due_at(planned.next_look_at).await?,
        })
    }

    /// Whether nothing is due and nothing runs here. An attempt that ends while the store is asked
    /// may have put something that is due, and a task that is being claimed is neither due nor
    /// under way: so the node must have stood still from before the question until after the
    /// answer.
    async fn is_idle(&self) -> store::Result<bool> {
        let before = self.counters.counts();
        if before.under_way > 0 || before.asking > 0 {
            return Ok(false);
        }
        let depths = self.own_depths().await?;
        let due: u64 = depths.iter().map(|depth| depth.due).sum();
        Ok(due == 0 && self.counters.counts() == before)
    }

    /// What waits for nodes; of a paused kind nothing is due before its pause is over.
    async fn own_depths(&self) -> store::Result<Vec<Depth>> {
        let (settings, now) = (self.settings.get(), self.clock.now());
        let mut depths = self.store.load_depths(now).await?;
        depths.retain(|depth| !settings.pulled.contains(&depth.kind));
        for PausedKind { kind, pause } in self.store.load_paused_kinds(now).await? {
            for depth in depths.iter_mut().filter(|depth| depth.kind == kind) {
                depth.due = 0;
                let first = depth.first_due_at.zip(pause.until);
                depth.first_due_at = first.map(|(due_at, until)| due_at.max(until));
            }
        }
        Ok(depths)
    }

    async fn next_due_at(&self, look_at: Option<Timestamp>) -> store::Result<Option<Timestamp>> {
        let depths = self.own_depths().await?;
        let next = depths.iter().filter_map(|depth| depth.first_due_at).min();
        Ok(match (next, look_at) {
            (Some(task), Some(look)) => Some(task.min(look)),
            (one, other) => one.or(other),
        })
    }
}

fn since(
    before: &BTreeMap<&'static str, u64>,
    mut after: BTreeMap<&'static str, u64>,
) -> BTreeMap<&'static str, u64> {
    for (outcome, count) in before {
        if let Some(ended) = after.get_mut(outcome) {
            *ended -= count;
        }
    }
    after.retain(|_, count| *count > 0);
    after
}
