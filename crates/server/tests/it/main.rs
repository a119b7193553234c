//! The API as its callers meet it: requests in, answers out, a real store behind, no socket.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test code: a panic is how a test fails"
)]

mod access;
mod api_reference;
mod bad_input;
mod batch;
mod browser;
mod bulk;
mod description;
mod editions;
mod events;
mod faces;
mod failures;
mod harness;
mod idempotency;
mod language;
mod lists;
mod monitors;
mod observing;
mod receipts;
mod reports;
mod run_logs;
mod schedule_acts;
mod schedules;
mod scripted;
mod serve;
mod source_acts;
mod source_filters;
mod source_push;
mod source_repair;
mod sources;
mod stage;
mod status;
mod tasks;
mod tick;
mod ui;
mod work;
