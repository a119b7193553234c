//! Schedules in the simulation: months of slots, planned by several nodes with everything going
//! wrong, and every slot accounted for at the end.
//!
//! The planner, the way in for people and the store are the product's own. Nodes crash at any call,
//! freeze, are all gone for days, have clocks that differ; people pause, resume, change, remove,
//! restore, fire by hand and backfill, at the worst moments; firings take longer than the gap
//! between slots. Attempts are run by a light runner of the simulation: a keeper's heartbeats would
//! be a million events a month and are simulated elsewhere. Half of the schedules fire at tasks, and
//! those firings are the product's own: they put a task, follow it to its end, and their node dies
//! at any call in between (DP-19, `works`). So are calls of webhooks whose schedules limit them or
//! expect reports (`calls`).
//!
//! ```text
//!   people ──► Schedules ─┐
//!                         ├─► FaultyStore ─► Chronicle ─► the store under test
//!   nodes ───► Planner ───┘   (one each)        ▲
//!   runner ─────────────────────────────────────┘
//! ```
//!
//! All nodes are on one machine, whose clock is set ahead or back for some minutes, again
//! and again; retention comes by just then.
//!
//! The oracle is independent: `rule` lists the slots that each definition names while it is in
//! force, from the civil calendar, one by one; `chronicle` knows when things really happened; and
//! `checks` match each slot to exactly one row of the ledger, whose verdict must have a cause that
//! was injected.

mod calls;
mod checks;
mod chronicle;
mod people;
mod pings;
mod planners;
mod retention;
mod rule;
mod runner;
mod stage;
mod works;

use std::sync::Arc;

use almanack_core::store::Store;

pub(crate) use self::pings::simulate_pings;
use self::stage::Stage;
use super::{Broken, time::on_virtual_time};

/// How large a simulation of schedules is.
#[derive(Debug, Clone)]
pub(crate) struct ScheduleOptions {
    /// How long things go wrong.
    pub(crate) days: u32,
    /// Most nodes; at least two.
    pub(crate) nodes_max: u64,
    /// Most schedules; at least two.
    pub(crate) schedules_max: u64,
}

impl Default for ScheduleOptions {
    fn default() -> Self {
        Self {
            days: 90,
            nodes_max: 3,
            schedules_max: 4,
        }
    }
}

/// What a simulation that held its promises went through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ScheduleSummary {
    /// Every event, in order.
    pub(crate) log: Vec<String>,
    /// Slots that the oracle expected, each found exactly once.
    pub(crate) slots: usize,
    /// Rows of the ledgers, by verdict.
    pub(crate) rows: Vec<(String, usize)>,
}

/// Runs the story of `seed` over the store that `open` gives, and says which promise it broke. The
/// store must be as [`simulate`](super::simulate) wants it.
pub(crate) fn simulate_schedules(
    seed: u64,
    options: &ScheduleOptions,
    open: impl FnOnce() -> Arc<dyn Store>,
) -> Result<ScheduleSummary, Broken> {
    on_virtual_time(async {
        let stage = Stage::set(seed, options, open());
        stage.play().await
    })
}
