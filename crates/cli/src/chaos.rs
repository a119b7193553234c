//! Chaos: runs a scratch copy of a configuration in real processes under injected faults, and
//! checks what was promised.
//!
//! ```text
//!   authors ──► article service ┐                    ┌─► node 1 ──wire──┐
//!   customer ───────────────────┴─ HTTP, tasks ──────┼─► node 2 ──wire──┼──► scratch database
//!   a copy of the schedules ─────────────────────────┴─► node 3 ──wire──┘
//!                ▲ calls and firings ────────────────────┘   ▲
//!                                        kill -9 · SIGSTOP · wire cut · clock stepped
//! ```
//!
//! Nothing outside this machine is touched: the database is a scratch one beside the configured
//! one, and every schedule of the copy calls a local hook. The oracles are independent of Almanack:
//! the customer knows what was acknowledged and what arrived ([`almanack_lab::customer`]), the
//! article service has its own table, and the slot ledger is compared with the schedule's
//! expression ([`ledger`]).
//!
//! Injections are drawn from a seed ([`almanack_lab::chaos::plan`]); the state a process is in when
//! it is hit is not, so a seed repeats the injections and not the whole run.

pub(crate) mod configuration;
mod ledger;
mod outside;
pub(crate) mod picture;
pub(crate) mod stage;
