//! What tests of several crates share: time that stops, chance that repeats itself,
//! ready-made requests, servers to talk to, and a layer that meddles with a store's calls.
//!
//! Only ever a dev-dependency. A broken expectation here is a failed test, so it panics, and the
//! panic names what was expected.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "test code: a panic is how a test fails"
)]

pub mod authority;
pub mod clock;
pub mod edition_harness;
pub mod entropy;
pub mod fixture;
pub mod golden;
pub mod hubs;
pub mod kafka;
pub mod layer;
pub mod lock;
pub mod nats;
pub mod postgres;
