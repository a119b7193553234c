//! The outside: the system's clock and randomness, and HTTP.
//!
//! Each thing the rest of Almanack must not touch by itself is touched in exactly one file here.

pub mod callback;
pub mod clock;
pub mod entropy;
pub mod signature;
