//! The machine itself: its clocks, waiting by them, and its randomness.
//!
//! Apart from the other adapters, so that a program that embeds Almanack needs no HTTP client.

pub mod clock;
pub mod entropy;
