//! The parts of `almanack chaos` that know Almanack only as a process and over HTTP.
//!
//! - [`plan`]: which fault hits which node when, drawn from a seed;
//! - [`fleet`]: real nodes as processes: killed, frozen, disconnected, with wrong clocks;
//! - [`wire`]: a connection to the database that can be cut;
//! - [`report`]: the results, checked against what was promised.

pub mod fleet;
pub mod plan;
pub mod report;
pub mod wire;
