//! What `almanack chaos` is made of, as far as it knows Almanack only as a process and over HTTP.
//!
//! - [`plan`]: which fault hits which node when, drawn from a seed;
//! - [`fleet`]: real nodes as processes, killed, frozen, cut off and put back in time;
//! - [`wire`]: a connection to the database that can be cut;
//! - [`report`]: what came of it, held against what was promised.

pub mod fleet;
pub mod plan;
pub mod report;
pub mod wire;
