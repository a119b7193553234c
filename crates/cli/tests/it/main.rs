//! The binary as its users meet it: real arguments, real files, real exit codes.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "what fails here fails its test, in helpers as in tests"
)]

mod api;
mod business;
mod chain;
mod chaos;
mod check;
mod cluster;
mod demo;
mod drain;
mod edition;
mod failures;
mod firing;
mod harness;
mod import;
mod kill;
mod next;
mod process;
mod put;
mod schedule;
mod simulate;
mod source;
mod source_replay;
mod surface;
mod task;
mod token;
mod user;
mod world;
mod written;
