//! The store's side of sources.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{Page, Result};
use crate::source::{
    Attention, Source, SourceId, SourceType,
    check::FailureClass,
    entry::{Entry, FoundEntry},
    policy::cadence::Cadence,
    search::Query,
};
use crate::task::NewTask;

/// Most sources that share a site and are found by it.
pub const FOUND_MAX: usize = 20;

/// The result of adding a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// It has this number.
    New(SourceId),
    /// Its address is taken by this one.
    Exists(SourceId),
}

/// A source as it is to be written, with the entries that came with the look.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceWrite {
    /// The row; its `version` is the one that was seen.
    pub source: Source,
    /// Entries to keep, by key.
    pub entries: Vec<(String, FoundEntry)>,
    /// What changes about entries that are there already.
    pub edited: Vec<EntryChange>,
    /// When: the row's `updated_at`, and when the entries were first seen.
    pub at: Timestamp,
    /// Its event deliveries: written with the row, or not at all.
    pub event_tasks: Vec<NewTask>,
}

/// What changes about an entry that is there already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryChange {
    /// Number of its row.
    pub row: i64,
    /// Its key: from now on, where it was renewed.
    pub key: String,
    /// What was edited; none where only its key is renewed, because its publisher calls it
    /// something else now.
    pub edit: Option<EntryEdit>,
}

/// An edit of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryEdit {
    /// Its data, in place of the row's. When it was published stays, and so does its text where
    /// the document shows none.
    pub found: FoundEntry,
    /// The revision that this makes; the row's is raised by one.
    pub revision: u32,
}

/// Which entries of a source to find again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntryQuestion {
    /// Those with these keys.
    pub keys: Vec<String>,
    /// Those whose links hash to these ([`crate::source::entry::link_hash`]).
    pub links: Vec<i64>,
}

impl EntryQuestion {
    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.links.is_empty()
    }
}

/// Most entries that are found by one link: there are feeds whose entries all have the same.
pub const KNOWN_PER_LINK_MAX: usize = 8;

/// An entry that was found again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownEntry {
    /// Number of its row.
    pub row: i64,
    pub key: String,
    pub link_hash: Option<i64>,
    pub title: String,
    pub published_at: Option<Timestamp>,
    pub revision: u32,
    /// When its last edit was seen.
    pub updated_at: Option<Timestamp>,
}

/// The result of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    Done,
    /// The row was no longer the version that was seen, or is gone. Read and decide again.
    Lost,
    /// Its new address is taken by this other source; nothing was written.
    Taken(SourceId),
}

/// Which sources to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceFilter {
    /// Only of this type.
    pub source_type: Option<SourceType>,
    /// Only in this state, by its name.
    pub state: Option<String>,
    /// Only with this cadence.
    pub cadence: Option<Cadence>,
    /// Only those that need this attention.
    pub attention: Option<Attention>,
    /// Only those that need any attention.
    pub needs_attention: bool,
    /// Only those whose last look failed like this.
    pub failure: Option<FailureClass>,
    /// Only those whose last look failed, however.
    pub failed: bool,
    /// Only those in this folder, as [`crate::source::category::folder`] writes it.
    pub category: Option<String>,
    /// Only those whose name or address contains this, in any case of ASCII letters.
    pub containing: Option<String>,
    /// Only numbers above this: the cursor of the page before.
    pub after: Option<SourceId>,
    /// How many are examined at most; [`super::EXAMINED_MAX`] where nothing is said.
    pub among: Option<usize>,
    /// How many at most.
    pub limit: usize,
}

/// Which entries to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntryFilter {
    /// Only of this source.
    pub source: Option<SourceId>,
    /// Only of sources in this folder, as [`crate::source::category::folder`] writes it.
    pub category: Option<String>,
    /// Only those that a search finds. Then a page has what was found in the rows it examined,
    /// which may be more than [`super::EXAMINED_MAX`]: an index knows most of them.
    pub search: Option<Query>,
    /// Only first seen at or after this.
    pub seen_from: Option<Timestamp>,
    /// Only rows numbered below this: the cursor of the page before.
    pub before: Option<i64>,
    /// How many rows are examined at most; [`super::EXAMINED_MAX`] where nothing is said.
    pub among: Option<usize>,
    /// How many at most, newest row first.
    pub limit: usize,
}

/// An entry whose whole text is to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadEntry {
    pub id: i64,
    /// Where it can be read.
    pub link: String,
}

/// Sources counted, under the founding documents' names (SS-09).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SourceNumbers {
    /// Sources of any state.
    pub total_sources: u64,
    /// Those that were looked at.
    pub total_with_stats: u64,
    /// How many have which cadence.
    pub cadence_distribution: Vec<(Cadence, u64)>,
    /// How many are in which state.
    pub states: Vec<(String, u64)>,
    /// How many need which attention.
    pub attention: Vec<(Attention, u64)>,
    /// How many failed like this when they were last looked at.
    pub failures: Vec<(FailureClass, u64)>,
    /// Active ones whose time has come.
    pub due_now: u64,
    /// Active ones that failures keep waiting.
    pub in_backoff: u64,
    /// Mean over sources of their hit rates, 0 to 1; 0 when none was looked at.
    pub avg_hit_rate: f64,
}

/// The fleet's price of a check, and how many were made since it was last set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fleet {
    /// Hours of delay that one check is worth.
    pub price: f64,
    /// Since when checks are counted.
    pub counted_from: Timestamp,
    pub checks: u64,
    /// Counts every change of the price; part of the compare-and-set.
    pub version: i64,
}

/// How much of old entries to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryRetention {
    /// Entries first seen before this may go, however few there are.
    pub seen_before: Option<Timestamp>,
    /// Beyond so many newest ones of a source, entries may go, however recently they were seen.
    /// Newest by the time they were published, or first seen where no time is given.
    pub per_source: usize,
}

/// What one step of pruning entries did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrunedEntries {
    pub rows: usize,
    /// Where to continue; `None` at the end.
    pub next: Option<SourceId>,
}

/// Sources and their entries.
#[async_trait]
pub trait SourceStore: Send + Sync {
    /// Adds sources, in the order given, each unless its address is taken; numbers and versions are
    /// given here. One transaction.
    async fn add_sources(&self, sources: Vec<Source>) -> Result<Vec<Added>>;

    /// Sources by number, in the order asked.
    async fn load_sources(&self, ids: &[SourceId]) -> Result<Vec<Option<Source>>>;

    /// The source that is looked at here.
    async fn load_source_at(&self, address: &str) -> Result<Option<Source>>;

    /// Sources numbered above `after` that the configuration file defines, by number. Walks over all
    /// sources: for a start or a changed file, not for a page.
    async fn load_file_sources(&self, after: SourceId, limit: usize) -> Result<Vec<Source>>;

    /// A page of sources, by number. The cost is that of those examined, never that of all there
    /// are.
    async fn list_sources(&self, filter: &SourceFilter) -> Result<Page<Source, SourceId>>;

    /// Sources at this address, or with this site ([`crate::source::options::Options::site`]); the
    /// first [`FOUND_MAX`] by number.
    async fn find_sources(&self, address: &str) -> Result<Vec<SourceId>>;

    /// Active sources whose time has come and whom no failure keeps waiting, longest first (SS-08):
    /// both are said by `next_due_at` alone. The cost grows with what it answers.
    async fn load_due_sources(
        &self,
        source_type: Option<SourceType>,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<Source>>;

    /// Active sources whose time was before `overdue` and whose task is not live: it was never put,
    /// was withdrawn or ran out of retries.
    async fn load_stray_sources(&self, overdue: Timestamp, limit: usize) -> Result<Vec<SourceId>>;

    /// Writes sources, each for itself and whole: the row, its new entries, and what changes about
    /// others. A write whose row moved on is `Lost`. An entry whose key the source has already is
    /// left as it is, and a key that another entry has is not renewed to. Concurrent callers share
    /// a commit.
    async fn write_sources(&self, writes: Vec<SourceWrite>) -> Result<Vec<Written>>;

    /// Deletes a source with its entries; returns whether it existed.
    async fn remove_source(&self, id: SourceId) -> Result<bool>;

    /// Entries of a source that have one of these keys or links; each once, by number. Of one link
    /// at most the newest [`KNOWN_PER_LINK_MAX`].
    async fn known_entries(&self, id: SourceId, asked: &EntryQuestion) -> Result<Vec<KnownEntry>>;

    /// A page of entries, newest row first. The cost is that of the rows examined, never that of
    /// all there are.
    async fn list_entries(&self, filter: &EntryFilter) -> Result<Page<Entry, i64>>;

    /// An entry.
    async fn load_entry(&self, id: i64) -> Result<Option<Entry>>;

    /// Entries of a source, first seen at or after `seen_from`, whose whole text was not read yet;
    /// newest first. Only the source's newest few dozen are examined.
    async fn load_unread_entries(
        &self,
        id: SourceId,
        seen_from: Timestamp,
        limit: usize,
    ) -> Result<Vec<UnreadEntry>>;

    /// Notes that the whole text of an entry was read at `now`, and replaces its content where
    /// there is one. No revision: the publisher changed nothing. An entry that is gone stays gone.
    async fn save_full_text(&self, id: i64, content: Option<String>, now: Timestamp) -> Result<()>;

    /// Writes what searches find entries by ([`crate::source::search::words_of`]), for up to
    /// `limit` entries without it: rows of earlier versions. How many it wrote; 0 at the end.
    async fn index_entries(&self, limit: usize) -> Result<usize>;

    /// Sources counted; of one type, or all.
    async fn count_sources(
        &self,
        source_type: Option<SourceType>,
        now: Timestamp,
    ) -> Result<SourceNumbers>;

    /// The fleet's price; `None` before it was first set.
    async fn load_fleet(&self) -> Result<Option<Fleet>>;

    /// Adds checks to the count; nothing while no price was set. Not conditional: asked again after
    /// a lost reply it may count twice, which a price can bear.
    async fn count_checks(&self, checks: u64) -> Result<()>;

    /// Sets the price and begins a new count, if the fleet is still the version that was seen
    /// (`None`: there was none). Returns whether it was.
    async fn set_price(&self, seen: Option<i64>, price: f64, now: Timestamp) -> Result<bool>;

    /// Looks at the entries of up to `limit` sources numbered above `after` and deletes what may
    /// go, but nothing a source's last document still shows; notes in each source until when
    /// entries were deleted ([`crate::source::Memory::pruned_before`]) and raises its version, so
    /// that a look made before is `Lost` and decided again. A source that is written meanwhile is
    /// left for the next time.
    async fn prune_entries(
        &self,
        retention: EntryRetention,
        after: SourceId,
        limit: usize,
    ) -> Result<PrunedEntries>;
}
