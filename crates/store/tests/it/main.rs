//! The stores against the one conformance suite.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set itself up has failed"
)]

mod postgres;
mod sqlite;
