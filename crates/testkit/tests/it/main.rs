//! Tests of the testkit, and of the repository itself.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests; clippy only exempts the tests themselves"
)]

mod simulation;
mod simulator;
mod tidy;
