//! The simulator: several nodes on one virtual clock over a real store, with everything that can go
//! wrong going wrong, and the promises checked all the while.
//!
//! What runs is the product's own engine, on a runtime whose clock is paused: when all tasks wait,
//! time jumps to the next timer, so minutes of trouble take milliseconds. The store does its work
//! on the caller's thread and completes at the first poll, so that nothing races the virtual clock.
//! All chance comes from one seed, and one seed gives one story, event by event; a test holds us to
//! it.
//!
//! ```text
//!   authors, queues ──► process: Rescheduler ─┐
//!                                             ├─► FaultyStore ─► Witness ─► the store under test
//!   service ◄────────── process: engine ──────┘   (one each)     (model)
//! ```
//!
//! - `faults`: slow, refused and stuck calls, lost replies, calls that outlive their sender;
//! - `node`: processes that crash at any await, freeze past their lease, restart, drain; clocks
//!   wrong by up to an hour and drifting;
//! - `workers`: pull, die, freeze and report late, in the seeds that have some;
//! - `authors`: changes of mind, duplicated and reordered streams, repeated and abandoned calls;
//! - `operators`: pause and resume kinds, change many tasks at once, in the seeds that have some;
//! - `service`: succeeds, fails, refuses, panics, takes longer than a lease;
//! - `ear`: is notified of every task that ends, in every eighth seed, and often has no time;
//! - `witness`, `model` and `operations`: hold every write against what is allowed, at the write;
//! - `checks`: read the whole story from its end.
//!
//! Checkers only observe. Safety is checked under faults; then the faults stop (in half of the
//! seeds with every process started afresh), and within bounded time all work must have come to an
//! end (liveness).

mod authors;
mod checks;
mod dice;
mod ear;
pub(crate) mod editions;
mod faults;
mod model;
mod node;
mod operations;
mod operators;
mod record;
pub(crate) mod schedules;
mod service;
mod stage;
mod time;
mod witness;
mod workers;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
    time::Duration,
};

use almanack_core::{store::Store, task::Kind};
use almanack_engine::pace::Paces;
use jiff::SignedDuration;

use self::{stage::Stage, time::on_virtual_time};

/// How much of the log a failure shows.
const TAIL: usize = 60;

/// How large a simulation is.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// How long things go wrong.
    pub(crate) trouble: SignedDuration,
    /// Most nodes; at least two.
    pub(crate) nodes_max: u64,
    /// Identities the authors fight over at any time.
    pub(crate) contested: u64,
    /// Identities with a stream of events each.
    pub(crate) streamed: usize,
    pub(crate) authors: usize,
    /// Who pause kinds and change many tasks at once.
    pub(crate) operators: usize,
    /// Attempts at once on a node.
    pub(crate) slots: usize,
    /// Attempts at once of single kinds, in all nodes together.
    pub(crate) limits_in_all: BTreeMap<Kind, usize>,
    /// Workers that pull, and the kinds they take.
    pub(crate) workers: usize,
    pub(crate) pulled: BTreeSet<Kind>,
    /// How fast single kinds may start, in all nodes together.
    pub(crate) paces: Paces,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            trouble: SignedDuration::from_secs(100),
            nodes_max: 4,
            contested: 7,
            streamed: 6,
            authors: 3,
            operators: 0,
            slots: 6,
            limits_in_all: BTreeMap::new(),
            workers: 0,
            pulled: BTreeSet::new(),
            paces: Paces::default(),
        }
    }
}

/// What a simulation that held its promises went through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// Every event, in order.
    pub(crate) log: Vec<String>,
    pub(crate) tasks: usize,
    /// Changes of intent carried out.
    pub(crate) changes: usize,
    pub(crate) claims: usize,
    /// Calls the service got.
    pub(crate) calls: usize,
    /// How long it took, in virtual time.
    pub(crate) lasted: Duration,
}

/// A promise that was broken, with what led to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Broken {
    /// The seed that repeats it.
    pub(crate) seed: u64,
    /// Which promise, and how.
    pub(crate) what: String,
    /// Every event before it.
    pub(crate) log: Vec<String>,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}: {}", self.seed, self.what)?;
        // `{:#}` shows the whole story.
        let shown = if f.alternate() { usize::MAX } else { TAIL };
        for line in &self.log[self.log.len().saturating_sub(shown)..] {
            writeln!(f, "  {line}")?;
        }
        let seed = self.seed;
        write!(
            f,
            "reproduce: ALMANACK_SIM_SEED={seed} cargo test -p almanack-testkit simulation"
        )
    }
}

impl std::error::Error for Broken {}

/// Runs the story of `seed` over the store that `open` gives, and says which promise it broke.
///
/// The store must do its work on the calling thread (as `SqliteStore::in_memory` does), be empty,
/// and belong to this simulation alone.
pub(crate) fn simulate(
    seed: u64,
    options: &Options,
    open: impl FnOnce() -> Arc<dyn Store>,
) -> Result<Summary, Broken> {
    on_virtual_time(async {
        let stage = Stage::set(seed, options, open());
        stage.play().await
    })
}
