//! The binary as its users meet it: real arguments, real files, real exit codes.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "what fails here fails its test, in helpers as in tests"
)]

mod addresses;
mod alert;
mod api;
mod bulk;
mod buses;
mod business;
mod chain;
mod chaos;
mod check;
mod clients;
mod clock;
mod cluster;
mod demo;
mod deploy;
mod documents;
mod drain;
mod edition;
mod event_delivery;
mod faces;
mod failures;
mod firing;
mod first_minute;
mod harness;
mod import;
mod kill;
mod next;
mod operations;
mod operators;
mod orphan;
mod process;
mod put;
mod radar;
mod reload;
mod reports;
mod run_log;
mod schedule;
mod schema;
mod simulate;
mod source;
mod source_replay;
mod supervised;
mod surface;
mod task;
mod telemetry;
mod token;
mod user;
mod work;
mod workflow;
mod world;
mod written;
