//! The store port of editions.

use async_trait::async_trait;
use jiff::{Timestamp, civil::Date};
use serde::{Deserialize, Serialize};

use super::Result;
use crate::edition::{
    Account, Counts, Edition, EditionId, EditionName, State,
    account::Change,
    allowance::{Caps, Period, Spending, Usage},
    document::Document,
    revision::RevisionLine,
};

/// Which editions to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EditionFilter {
    /// Only those in one of these states; all when empty.
    pub states: Vec<State>,
    /// Only those that were published at some time.
    pub published: bool,
    /// Only those that changed at or after this.
    pub changed_from: Option<Timestamp>,
    /// Only those of this name.
    pub name: Option<EditionName>,
    /// Only days before this.
    pub before: Option<Date>,
    /// Only those that come after this one in the list: the cursor of the page before.
    pub after: Option<EditionId>,
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
    /// The edition of a name and a day, created in `init` if there is none; `true` if this call created it.
    /// Two calls at once create one.
    async fn open_edition(&self, id: EditionId, now: Timestamp) -> Result<(Edition, bool)>;

    /// An edition with all its rows, of one moment. Of deliveries only those of the newest
    /// document.
    async fn load_account(&self, id: EditionId) -> Result<Option<Account>>;

    /// Editions without their rows, newest day first; of one day the default one first, then the
    /// others by their texts.
    async fn list_editions(&self, filter: &EditionFilter) -> Result<Vec<EditionLine>>;

    /// Writes a change, whole, if the edition is still the version that was seen: rows that are
    /// known by their keys are replaced, others inserted. Where a new document comes, deliveries of
    /// older ones that are not settled become `skipped`. Never inserts an edition.
    async fn write_edition(&self, change: Change) -> Result<EditionWritten>;

    /// A document: the newest, or that of a revision.
    async fn load_document(&self, id: EditionId, revision: Option<u32>)
    -> Result<Option<Document>>;

    /// The revisions of an edition, newest first, at most `limit`.
    async fn load_revisions(&self, id: EditionId, limit: usize) -> Result<Vec<RevisionLine>>;

    /// A text that editions share, if it was kept at or after `from`.
    async fn load_shared(&self, key: String, from: Timestamp) -> Result<Option<String>>;

    /// Keeps a text that editions share, in the place of an older one.
    async fn keep_shared(&self, key: String, text: String, now: Timestamp) -> Result<()>;

    /// Deletes up to `limit` shared texts that were kept before `before`, the oldest first.
    async fn prune_shared(&self, before: Timestamp, limit: usize) -> Result<usize>;

    /// Counts a request to a model for its day and its month, if no cap refuses it; otherwise which
    /// period's does, and nothing is counted. Callers of all nodes pass one after the other, so
    /// that together they exceed no cap. Who dies after it leaves it counted (ED-44).
    async fn reserve_spend(
        &self,
        name: EditionName,
        on: Date,
        most: Usage,
        caps: Caps,
        now: Timestamp,
    ) -> Result<Option<Period>>;

    /// Replaces what was counted for a request by what it cost. Not idempotent: called once for
    /// each that was reserved, or for one that was not with a `reserved` of nothing.
    async fn settle_spend(
        &self,
        name: EditionName,
        on: Date,
        reserved: Usage,
        actual: Usage,
        now: Timestamp,
    ) -> Result<()>;

    /// What the models of a name's editions cost in the month of a day.
    async fn load_spending(&self, name: EditionName, month_of: Date) -> Result<Spending>;

    /// The first edition of the same name after this one that was published at some time.
    async fn published_after(&self, id: EditionId) -> Result<Option<EditionId>>;

    /// Published editions of a name with a document whose inputs contain `text`, newest first, only
    /// those before `before`. `text` is in small letters, and letters and digits alone: the inputs
    /// are searched as they are kept.
    async fn search_editions(
        &self,
        name: EditionName,
        text: &str,
        before: Option<Date>,
        limit: usize,
    ) -> Result<Vec<EditionId>>;

    /// Deletes stories and batches of up to `limit` archived editions of days before `before`
    /// (ED-31). The editions themselves, their documents and deliveries stay. Raises their
    /// versions: a caller that saw them with their stories decides again.
    async fn prune_stories(&self, before: Date, limit: usize) -> Result<PrunedStories>;
}
