//! Smart sources: look when there is something to see.
//!
//! A source is an address that publishes entries. Each active source is one task (`source:17`,
//! [`SOURCE_CHECK`]) that comes again: at every check the address is looked at ([`check`]), what is new is kept
//! ([`entry`]), and the source learns when to come next. "Check now", pause, resume and a cadence by hand
//! are reschedules of that task; there is no second clock.

pub mod check;
pub mod entry;
pub mod hints;
pub mod reading;

use std::fmt;

use serde::{Deserialize, Serialize};

/// The kind of the tasks that check sources.
pub const SOURCE_CHECK: &str = "SOURCE_CHECK";

/// Number of a source, given by the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SourceId(pub i64);

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What the founding documents tell apart: feeds, and sources read by rules of one's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceType {
    /// RSS, Atom, JSON Feed.
    Rss,
    /// A page, JSON or a sitemap.
    Custom,
}

impl SourceType {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Rss, Self::Custom];

    /// The name used in the store and the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rss => "rss",
            Self::Custom => "custom",
        }
    }

    /// Reads a name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|named| named.as_str() == text)
    }
}

impl fmt::Display for SourceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
