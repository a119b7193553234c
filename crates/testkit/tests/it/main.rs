//! Tests of the testkit, and of the repository itself.
#![expect(
    clippy::expect_used,
    reason = "helpers of tests; clippy only exempts the tests themselves"
)]

mod simulation;
mod tidy;
