//! Chaos: a scratch copy of a configuration, run by real processes while things go wrong, and held against what was promised.
//!
//! ```text
//!   authors ──► article service ┐                    ┌─► node 1 ──wire──┐
//!   customer ───────────────────┴─ HTTP, tasks ──────┼─► node 2 ──wire──┼──► scratch database
//!   a copy of the schedules ─────────────────────────┴─► node 3 ──wire──┘
//!                ▲ calls and firings ────────────────────┘   ▲
//!                                        kill -9 · SIGSTOP · wire cut · clock stepped
//! ```
//!
//! Nothing outside this machine is touched: the database is a scratch one beside the configured one, every schedule of the copy fires
//! at a hook of ours. The oracles are not Almanack: the customer knows what was acknowledged and what arrived ([`almanack_lab::customer`]), the article
//! service has a table of its own, and the slot ledger is held against the schedule's own expression ([`ledger`]).
//!
//! Injections are drawn from a seed ([`almanack_lab::chaos::plan`]); which instant a process has reached when it is hit is not, so a seed repeats the injections and not the story.

pub(crate) mod configuration;
mod ledger;
mod outside;
pub(crate) mod picture;
pub(crate) mod stage;
