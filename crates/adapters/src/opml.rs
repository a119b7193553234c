//! OPML: lists of feeds, as readers exchange them (SS-16).
//!
//! Every outline with an `xmlUrl` is a feed, every other one with something inside is a folder.
//! Files come from many programs, old ones included. So broken entries are reported with their
//! lines while the rest is imported. Nothing is expanded, and size, depth and number have limits.
//! INVARIANT: what is exported reads back equal.

mod export;
mod import;

pub use export::export;
pub use import::import;

/// Largest file, in bytes.
pub const BYTES_MAX: usize = 10 * 1024 * 1024;
/// Deepest nesting of folders.
pub const DEPTH_MAX: usize = 32;
/// Most feeds of one file.
pub const FEEDS_MAX: usize = 100_000;
/// Most problems that are reported.
pub const PROBLEMS_MAX: usize = 1000;

/// One feed of a list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Subscription {
    pub address: String,
    /// What it is called; empty when it is not called anything.
    pub title: String,
    /// Its folders, joined as in [`almanack_core::source::category`]; empty at the top.
    pub category: String,
    /// The page that people read it at (`htmlUrl`).
    pub site: Option<String>,
}

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Imported {
    /// The feeds, each once, in the order of the file.
    pub subscriptions: Vec<Subscription>,
    /// How many were in it again.
    pub repeated: usize,
    /// What could not be imported.
    pub problems: Vec<Problem>,
    /// How much more could not be imported, beyond the limits.
    pub left_out: usize,
}

/// What could not be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct Problem {
    /// Where in the file.
    pub line: usize,
    pub reason: String,
}

/// Why nothing could be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Not an OPML file.
    #[error("this is not an OPML file: {what}")]
    NotOpml { what: String },
    /// Larger than [`BYTES_MAX`].
    #[error("the file has more than {BYTES_MAX} bytes")]
    TooLarge,
}

#[cfg(test)]
mod tests;
