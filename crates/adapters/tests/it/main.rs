//! The adapters against real sockets on loopback.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set itself up has failed"
)]

mod callback;
mod fixture;
mod webhook;
