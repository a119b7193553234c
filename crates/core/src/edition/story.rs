//! Stories: the items of an edition.
//!
//! A story is known by where it comes from (`hn:42`, `entry:7`), once per edition. It completes
//! when it has everything its edition publishes; what is missing for good is named in a note and
//! published as such (ED-09).

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Longest error kept with a story, in bytes.
pub const ERROR_BYTES_MAX: usize = 500;

/// What a story is known by, across all editions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct StoryKey(pub String);

impl fmt::Display for StoryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A story as its source lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = StoryListing))]
pub struct Listed {
    /// Its key.
    pub key: StoryKey,
    /// Its address; for a text post its discussion.
    pub url: String,
    /// The address of its discussion.
    pub discussion_url: Option<String>,
    /// Its title, in its own language.
    #[serde(rename = "original_title")]
    pub title: String,
    /// Its readers' votes; none where votes are not counted.
    pub score: Option<i64>,
    /// When it was published.
    pub published_at: Option<Timestamp>,
    /// Its text, where the list contains it and there is no page to fetch.
    #[serde(skip)]
    pub text: Option<String>,
}

names! {
    /// The state of a story.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[cfg_attr(feature = "schema", schema(as = StoryStatus))]
    pub enum Status {
        /// It waits for a batch.
        Pending = "pending",
        /// A batch works on it.
        Processing = "processing",
        /// It has everything that is published.
        Completed = "completed",
        /// It could not be completed.
        Failed = "failed",
    }
}

/// The parts of a story that are published.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = StoryText))]
pub struct Written {
    /// Its title in the edition's language; none where there is no translator and the original is
    /// used.
    pub title: Option<String>,
    /// A summary of its page.
    pub content_summary: Option<String>,
    /// A summary of its discussion.
    pub comment_summary: Option<String>,
    /// Why there is no summary of its page.
    pub note: Option<Note>,
}

names! {
    /// Why a completed story lacks something; shown in the edition's language.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[cfg_attr(feature = "schema", schema(as = StoryNote))]
    pub enum Note {
        /// Its page could not be read: only the title is kept.
        TitleOnly = "title_only",
        /// Its page was read, but could not be summarised.
        NotSummarised = "not_summarised",
    }
}

/// One item of an edition, as the store keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Story {
    /// Its data from the list.
    #[serde(flatten)]
    pub listed: Listed,
    /// Its rank, from 1.
    pub rank: u32,
    pub status: Status,
    /// The batch that works on it or worked on it last.
    pub batch: Option<u32>,
    /// Its published parts.
    #[serde(flatten)]
    pub written: Written,
    /// Why it could not be completed.
    #[serde(rename = "error")]
    pub error_message: Option<String>,
    /// How often it was put back after it had failed.
    pub retry_count: u32,
    /// When a failed one may be put back by itself.
    pub retry_at: Option<Timestamp>,
    /// When its row last changed.
    #[serde(skip)]
    pub updated_at: Timestamp,
}

impl Story {
    /// A story that waits for its first batch.
    pub fn new(listed: Listed, rank: u32, now: Timestamp) -> Self {
        Self {
            listed,
            rank,
            status: Status::Pending,
            batch: None,
            written: Written::default(),
            error_message: None,
            retry_count: 0,
            retry_at: None,
            updated_at: now,
        }
    }
}
