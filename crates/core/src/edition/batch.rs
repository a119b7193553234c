//! Batches: bounded bites of an edition, and what each one spent.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::budget::Spend;

/// Requests for a story: its page, its comments, and a summary of each.
const REQUESTS_PER_STORY: u32 = 4;
/// Requests for a batch: its titles, all at once.
const REQUESTS_PER_BATCH: u32 = 1;

/// What a batch of `stories` is expected to spend when nothing has to be tried twice: 25 for 6
/// (ED-07).
pub fn estimate(stories: usize) -> u32 {
    let stories = u32::try_from(stories).unwrap_or(u32::MAX);
    stories
        .saturating_mul(REQUESTS_PER_STORY)
        .saturating_add(REQUESTS_PER_BATCH)
}

/// The most stories whose estimate is not over `requests`.
pub fn stories_within(requests: u32) -> usize {
    (requests.saturating_sub(REQUESTS_PER_BATCH) / REQUESTS_PER_STORY) as usize
}

names! {
    /// How a batch ended, if it has.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[cfg_attr(feature = "schema", schema(as = BatchStatus))]
    pub enum Status {
        /// A node works on it, until the lease passes.
        Running = "running",
        /// Every story was completed.
        Success = "success",
        /// Some were.
        Partial = "partial",
        /// None was.
        Failed = "failed",
    }
}

/// One bite (ED-26), as the store keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EditionBatch))]
pub struct Batch {
    /// Its number within the edition, from 1; never used twice.
    pub index: u32,
    /// How it ended, if it has.
    pub status: Status,
    /// Stories it took.
    pub story_count: u32,
    /// Who works on it, for people.
    pub node: String,
    /// What it spent; nothing while it runs.
    #[serde(flatten)]
    pub spend: Spend,
    /// What went wrong with the whole of it.
    #[serde(rename = "error")]
    pub error_message: Option<String>,
    /// When it began.
    pub started_at: Timestamp,
    /// Until when its stories are its own.
    #[serde(skip)]
    pub lease_until: Timestamp,
    /// When it ended.
    #[serde(skip)]
    pub ended_at: Option<Timestamp>,
}

/// The error of a batch whose lease has passed.
pub(super) const NEVER_ENDED: &str = "it never ended: its node stopped responding";

impl Batch {
    /// Whether it was begun in one wave with another: the batches of a wave begin with one write.
    pub(super) fn began_with(&self, other: &Self) -> bool {
        self.started_at == other.started_at
    }

    /// Whether it was given up because its node stopped responding.
    pub fn never_ended(&self) -> bool {
        self.error_message.as_deref() == Some(NEVER_ENDED)
    }

    /// How long it took; none while it runs.
    pub fn duration_ms(&self) -> Option<i64> {
        let ended_at = self.ended_at?;
        let took = ended_at.duration_since(self.started_at);
        Some(i64::try_from(took.as_millis()).unwrap_or(i64::MAX))
    }

    /// Whether a node may still be at work on it.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.status == Status::Running && now < self.lease_until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ed_10_a_batch_is_expected_to_spend_four_a_story_and_one() {
        for (stories, requests) in [(4, 17), (6, 25), (8, 33), (9, 37), (10, 41)] {
            assert_eq!(estimate(stories), requests);
            assert_eq!(stories_within(requests), stories);
            assert_eq!(stories_within(requests - 1), stories - 1);
        }
        assert_eq!(stories_within(0), 0);
    }
}
