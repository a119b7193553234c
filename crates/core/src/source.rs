//! Sources: what is collected, and when to look at it.

pub mod policy;
pub mod replay;
