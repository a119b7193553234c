//! When to look next.

pub mod cadence;
