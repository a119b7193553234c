//! Stories: the items of an edition.
//!
//! A story is known by where it comes from (`hn:42`, `entry:7`), once per edition. It completes
//! when it has everything its edition publishes; what is missing for good is named in a note and
//! published as such (ED-09).

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    ladder::{Cause, Rung},
    prompts::Versions,
};

/// Longest error kept with a story, in bytes.
pub const ERROR_BYTES_MAX: usize = 500;

/// What a story is known by, across all editions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct StoryKey(pub String);

impl fmt::Display for StoryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A story as its source lists it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
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
    /// How many comments it had when it was listed; none where they are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment_count: Option<u32>,
    /// When it was published.
    pub published_at: Option<Timestamp>,
    /// The name of the source that lists it, or the names of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_name: Option<String>,
    /// Its topic, by the rules of its edition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
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
    /// Why there is no full summary of its page.
    pub note: Option<Note>,
    /// Why it has less than it could, if a later revision may improve it.
    pub degraded_by: Option<Cause>,
    /// Why there is no summary of its discussion although there may be one to sum up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment_note: Option<CommentNote>,
    /// The address of the picture that its page names for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_url: Option<String>,
    /// How long its page takes to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading_minutes: Option<u32>,
    /// The versions of the prompts that a model wrote it by.
    #[serde(default, skip_serializing_if = "Versions::is_empty")]
    #[cfg_attr(feature = "schema", schema(value_type = BTreeMap<String, String>, example = json!({ "titles": "1f0c2a34" })))]
    pub prompts: Versions,
}

impl Written {
    /// How much is written, on the ladder.
    pub fn rung(&self) -> Rung {
        match self.note {
            None => Rung::Full,
            Some(Note::ShortSummary) => Rung::Short,
            Some(Note::Extractive) => Rung::Extractive,
            Some(Note::TitleOnly | Note::NotSummarised) => Rung::Title,
        }
    }

    /// The better of what is written now and what readers have had with less than it could have.
    pub(super) fn or_better(self, before: &Self) -> Self {
        let worth = |written: &Self| (written.rung(), written.title.is_none());
        if before.degraded_by.is_some() && worth(before) < worth(&self) {
            return before.clone();
        }
        self
    }
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
        /// There was time for a short summary only.
        ShortSummary = "short_summary",
        /// Sentences of its page stand in for a summary.
        Extractive = "extractive",
    }
}

names! {
    /// Why a story lacks a summary of its discussion; without one, nobody has said anything.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[cfg_attr(feature = "schema", schema(as = StoryCommentNote))]
    pub enum CommentNote {
        /// Its comments could not be read.
        Unread = "unread",
        /// They were read, but could not be summarised.
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

    /// Whether readers have it, or will have, with less than it could have: a later revision may
    /// improve it.
    pub fn is_improvable(&self) -> bool {
        self.status == Status::Completed && self.written.degraded_by.is_some()
    }
}
