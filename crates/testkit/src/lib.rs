//! What tests share: time that stands still, chance that repeats itself, ready-made requests, and
//! the conformance suite that proves one store equal to another.
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
pub mod conformance;
pub mod entropy;
pub mod fixture;
pub mod kafka;
pub mod nats;
pub mod newsroom;
pub mod postgres;
pub mod simulator;
