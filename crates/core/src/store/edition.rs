//! The store port of editions.

use async_trait::async_trait;
use jiff::{Timestamp, civil::Date};
use serde::{Deserialize, Serialize};

use super::Result;
use crate::edition::{Account, Counts, Edition, State, account::Change, document::Document};

/// Which editions to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EditionFilter {
    /// Only those in one of these states; all when empty.
    pub states: Vec<State>,
    /// Only those that were published at some time.
    pub published: bool,
    /// Only those that changed at or after this.
    pub changed_from: Option<Timestamp>,
    /// Only days before this: the cursor of the page before.
    pub before: Option<Date>,
    /// How many at most.
    pub limit: usize,
}

/// The result of a [`Change`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditionWritten {
    /// Everything was written; the edition's version is one more.
    Done,
    /// The edition is no longer the version that was seen, or does not exist. Nothing was written:
    /// read and decide again.
    Lost,
}

/// An edition in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EditionLine {
    /// The edition.
    #[serde(flatten)]
    pub edition: Edition,
    /// Its stories, counted; all 0 once retention has taken them.
    pub counts: Counts,
    /// Batches that ended.
    #[serde(rename = "batches_ended")]
    pub batches: u32,
}

/// The result of one step of pruning editions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PrunedStories {
    /// Stories deleted.
    pub stories: usize,
    /// Batches deleted.
    pub batches: usize,
}

/// Editions and all their rows.
#[async_trait]
pub trait EditionStore: Send + Sync {
    /// The edition of a day, created in `init` if there is none; `true` if this call created it.
    /// Two calls at once create one.
    async fn open_edition(&self, date: Date, now: Timestamp) -> Result<(Edition, bool)>;

    /// An edition with all its rows, of one moment. Of deliveries only those of the newest
    /// document.
    async fn load_account(&self, date: Date) -> Result<Option<Account>>;

    /// Editions without their rows, newest day first.
    async fn list_editions(&self, filter: &EditionFilter) -> Result<Vec<EditionLine>>;

    /// Writes a change, whole, if the edition is still the version that was seen: rows that are
    /// known by their keys are replaced, others inserted. Where a new document comes, deliveries of
    /// older ones that are not settled become `skipped`. Never inserts an edition.
    async fn write_edition(&self, change: Change) -> Result<EditionWritten>;

    /// A document: the newest, or that of a revision.
    async fn load_document(&self, date: Date, revision: Option<u32>) -> Result<Option<Document>>;

    /// Deletes stories and batches of up to `limit` archived editions of days before `before`
    /// (ED-31). The editions themselves, their documents and deliveries stay. Raises their
    /// versions: a caller that saw them with their stories decides again.
    async fn prune_stories(&self, before: Date, limit: usize) -> Result<PrunedStories>;
}
