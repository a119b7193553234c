//! Editions in the simulation: years of days, made by two nodes and others who have a say, with
//! everything going wrong, and every edition accounted for at the end.
//!
//! Ticks, runs and requests are the product's own. Nodes die at any await and come back, or stay
//! away for days; their clocks differ; the store refuses, loses replies and answers when a lease
//! has passed; the outside fails, hangs, loses answers and lacks things, destinations are down for
//! days; people reset, retry, force and take up old days while nodes are at work. The quiet part of
//! a day is jumped over: a day has only as many ticks as it needs, and a few.
//!
//! ```text
//!   people ─► Editions ─┐                 ┌─► EditionHarness: counts, and keeps what arrived
//!                       ├─► FaultyStore ──┴─► Witness ─► the store under test
//!   nodes ──► Editions ─┘    (one each)       (a copy of every edition)
//! ```
//!
//! Between a process and the harness is what the product has there (`between`): editions of one seed
//! share texts, some have caps on what the model costs, and lists repeat stories from day to day.
//!
//! Checkers only observe: `witness` holds every write against the picture of `core::edition`, at
//! the write; `deeds` holds what a call says it spent against what the harness counted; `checks`
//! reads the whole story from its end.

mod between;
mod cast;
mod checks;
mod climate;
mod deeds;
mod nodes;
mod people;
mod stage;
mod witness;

use std::sync::Arc;

use almanack_core::{alert::port::Notifier, store::Store};
use almanack_engine::editions::{Outside, Settings};
use almanack_testkit::edition_harness::EditionHarness;

use self::stage::Stage;
use super::{Broken, time::on_virtual_time};

/// How large a simulation of editions is, and what is wrong with it on purpose.
#[derive(Debug, Clone)]
pub(crate) struct EditionOptions {
    /// Whether a person has to approve every edition; otherwise the seed decides.
    pub(crate) approving: bool,
    /// How many days things go wrong.
    pub(crate) days: u32,
    /// What nodes go by; tests of the simulator sabotage it here.
    pub(crate) adjust: fn(&mut Settings),
    /// What is between nodes and the harness, likewise.
    pub(crate) meddle: fn(Outside) -> Outside,
    /// The notifier, likewise.
    pub(crate) notifier: fn(EditionHarness) -> Arc<dyn Notifier>,
}

impl Default for EditionOptions {
    fn default() -> Self {
        Self {
            approving: false,
            days: 365,
            adjust: |_| {},
            meddle: |outside| outside,
            notifier: |room| Arc::new(room),
        }
    }
}

/// What a simulation that held its promises went through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EditionSummary {
    /// Every event, in order.
    pub(crate) log: Vec<String>,
    /// Editions that were published.
    pub(crate) published: usize,
    /// Editions that were not, each with an alert.
    pub(crate) alerted: usize,
    /// Documents that were made, each of them again at the end.
    pub(crate) documents: usize,
    /// Letters that reached a destination.
    pub(crate) messages: usize,
}

/// Runs the story of `seed` over the store that `open` gives, and says which promise it broke. The
/// store must be as [`simulate`](super::simulate) wants it.
pub(crate) fn simulate_editions(
    seed: u64,
    options: &EditionOptions,
    open: impl FnOnce() -> Arc<dyn Store>,
) -> Result<EditionSummary, Broken> {
    on_virtual_time(async {
        let stage = Stage::set(seed, options, open());
        stage.play().await
    })
}
