//! What became of the entries that a document shows: new, edited, renamed, or known as they are.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::{EDITS_MAX, Known, Sighting, distrust_ids, short};
use crate::{
    source::{
        Source,
        check::Document,
        entry::{FoundEntry, key_hash, link_hash},
    },
    store::{EntryChange, EntryEdit, EntryQuestion, KnownEntry},
};

/// How often most ids must have changed before they are not used any more: a site may change all of
/// them once, when it changes its software.
const CHANGES_MIN: u32 = 2;
/// So many edits of an entry are kept as they are found.
const EDITS_FREE: u32 = 3;
/// Further ones are kept once in so long: a counter inside a text would be edited for ever.
const EDIT_AGAIN: SignedDuration = SignedDuration::from_hours(24);

/// The entries of a look, separated.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recognised {
    /// Entries that were never seen, by key.
    pub fresh: Vec<(String, FoundEntry)>,
    /// What changes about those that were.
    pub edited: Vec<EntryChange>,
    /// What the source's row remembers of the document.
    pub remembered: Remembered,
}

/// What a source's row remembers of a document's entries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Remembered {
    /// Hashes of the keys, each once.
    pub shown: Vec<u64>,
    /// The fingerprints that belong to them.
    pub prints: Vec<u32>,
    /// Whether ids identify nothing.
    pub ids_useless: bool,
    /// How often most ids have changed.
    pub ids_changed: u32,
}

/// What the store is asked about a document before its entries can be separated; nothing of a
/// source that has no entries yet.
pub fn question(source: &Source, document: &Document) -> EntryQuestion {
    let mut asked = EntryQuestion::default();
    if source.is_unread() {
        return asked;
    }
    for found in &document.entries {
        let Some(key) = found.key() else { continue };
        asked.keys.extend(other_scheme(&key));
        asked.keys.push(key);
        asked.links.extend(found.link.as_deref().map(link_hash));
    }
    asked.keys.sort_unstable();
    asked.keys.dedup();
    asked.links.sort_unstable();
    asked.links.dedup();
    asked
}

/// The key of the same id in a world of http, or https. A link needs none: it has its hash.
fn other_scheme(key: &str) -> Option<String> {
    let id = key.strip_prefix("id:")?;
    let other = |from: &str, to: &str| Some(format!("id:{to}{}", id.strip_prefix(from)?));
    other("https://", "http://").or_else(|| other("http://", "https://"))
}

/// Separates the entries of a document, by what its source remembers and by the `rows` that
/// [`question`] found. Where that shows that ids identify nothing, it is done again without them.
pub fn recognise(
    source: &Source,
    document: &Document,
    rows: &[KnownEntry],
    now: Timestamp,
) -> Recognised {
    let publisher = &source.memory.publisher;
    let distrusted = publisher.ids_useless || document.ids_shared;
    let mut pass = Pass::new(source, rows, distrusted, now);
    pass.run(document, &document.entries);
    let all = document.entries.len() + document.familiar.len();
    let is_most = |count: usize| count > 1 && count * 2 > all;
    let ids_changed = if is_most(pass.renamed) {
        publisher.ids_changed.saturating_add(1)
    } else if pass.recognised.fresh.is_empty() {
        publisher.ids_changed
    } else {
        0
    };
    // Where one entry is all there is, it is the whole evidence.
    let is_reused = is_most(pass.reused) || (all == 1 && pass.reused == 1);
    let turned_out = is_reused || ids_changed >= CHANGES_MIN;
    if turned_out && !publisher.ids_useless {
        let entries = document.entries.iter().cloned();
        let mut entries: Vec<_> = entries.map(|found| (found, ())).collect();
        distrust_ids(&mut entries, true);
        let entries: Vec<_> = entries.into_iter().map(|(found, ())| found).collect();
        pass = Pass::new(source, rows, true, now);
        pass.run(document, &entries);
    }
    let mut recognised = pass.recognised;
    recognised.remembered.ids_useless = distrusted || turned_out;
    recognised.remembered.ids_changed = ids_changed;
    recognised
}

/// One way through a document.
struct Pass<'a> {
    source: &'a Source,
    now: Timestamp,
    known: Known,
    by_key: BTreeMap<&'a str, &'a KnownEntry>,
    by_link: BTreeMap<i64, Vec<&'a KnownEntry>>,
    /// Fingerprints by which an entry without a link is known; none while ids are used.
    words: BTreeSet<u32>,
    /// Hashes of all keys that the document shows.
    shown: BTreeSet<u64>,
    /// Rows that are some entry's.
    taken: BTreeSet<i64>,
    recognised: Recognised,
    /// Entries that were found by their links, under other ids.
    renamed: usize,
    /// Entries whose id was that of another one.
    reused: usize,
}

impl<'a> Pass<'a> {
    fn new(source: &'a Source, rows: &'a [KnownEntry], ids_useless: bool, now: Timestamp) -> Self {
        let prints = source.memory.prints.iter().copied();
        let mut by_link: BTreeMap<i64, Vec<&KnownEntry>> = BTreeMap::new();
        for row in rows {
            if let Some(link) = row.link_hash {
                by_link.entry(link).or_default().push(row);
            }
        }
        Self {
            source,
            now,
            known: Known::of(&source.memory),
            by_key: rows.iter().map(|row| (row.key.as_str(), row)).collect(),
            by_link,
            words: prints.filter(|_| ids_useless).collect(),
            shown: BTreeSet::new(),
            taken: BTreeSet::new(),
            recognised: Recognised::default(),
            renamed: 0,
            reused: 0,
        }
    }

    fn run(&mut self, document: &Document, entries: &[FoundEntry]) {
        for familiar in &document.familiar {
            self.shown.insert(familiar.key);
            self.remember(familiar.key, familiar.print);
        }
        let mut keyed = Vec::with_capacity(entries.len());
        for found in entries {
            let Some(key) = found.key() else { continue };
            let hash = key_hash(&key);
            if self.shown.insert(hash) {
                keyed.push((key, hash, found));
            }
        }
        for (key, hash, found) in keyed {
            let print = match self.known.sighting(hash, found.print) {
                Sighting::Same => short(found.print),
                Sighting::Edited(before) => self.edit(&key, found, before),
                Sighting::Unfamiliar => {
                    self.meet(key, found);
                    short(found.print)
                }
            };
            self.remember(hash, print);
        }
    }

    fn remember(&mut self, key: u64, print: u32) {
        self.recognised.remembered.shown.push(key);
        self.recognised.remembered.prints.push(print);
    }

    /// An entry that is shown in other words; the fingerprint to remember. That of an edit that is
    /// not kept is the old one, so that it is found again.
    fn edit(&mut self, key: &str, found: &FoundEntry, before: u32) -> u32 {
        let row = self.by_key.get(key).copied();
        let row = row.or_else(|| self.by_key.get(other_scheme(key)?.as_str()).copied());
        let Some(row) = row else {
            return short(found.print);
        };
        self.taken.insert(row.row);
        self.reused += usize::from(is_another(row, found));
        let edits = self
            .recognised
            .edited
            .iter()
            .filter(|change| change.edit.is_some());
        if edits.count() >= EDITS_MAX || !may_change(row, self.now) {
            return before;
        }
        self.recognised.edited.push(EntryChange {
            row: row.row,
            key: row.key.clone(),
            edit: Some(EntryEdit {
                found: found.clone(),
                revision: row.revision.saturating_add(1),
            }),
        });
        short(found.print)
    }

    /// An entry that was not shown last time.
    fn meet(&mut self, key: String, found: &FoundEntry) {
        if let Some(row) = self.by_key.get(key.as_str()) {
            self.taken.insert(row.row);
            self.reused += usize::from(is_another(row, found));
            return;
        }
        let other = other_scheme(&key).and_then(|key| self.by_key.get(key.as_str()).copied());
        let hash = key_hash(&key);
        let row = other.or_else(|| self.linked(found, hash));
        if let Some(row) = row {
            let has_another = found.id.is_some() && key_hash(&row.key) != hash;
            self.renamed += usize::from(has_another);
            self.taken.insert(row.row);
            let (row, edit) = (row.row, None);
            self.recognised.edited.push(EntryChange { row, key, edit });
        } else if !self.may_be_pruned(found) && !self.is_same_words(found) {
            self.recognised.fresh.push((key, found.clone()));
        }
    }

    /// The entry with this link, if the document does not show it otherwise. There are feeds whose
    /// entries all have one link, so one that has another id must have the title or the time.
    fn linked(&self, found: &FoundEntry, hash: u64) -> Option<&'a KnownEntry> {
        let rows = self.by_link.get(&link_hash(found.link.as_deref()?))?;
        let is_free = |row: &&&KnownEntry| {
            let key = key_hash(&row.key);
            !self.taken.contains(&row.row) && (key == hash || !self.shown.contains(&key))
        };
        let is_alike = |row: &&&KnownEntry| {
            let same_time = row.published_at.is_some() && row.published_at == found.published_at;
            row.title == found.title || same_time || key_hash(&row.key) == hash
        };
        // The newest comes last.
        let free = || rows.iter().rev().filter(is_free);
        let alike = free().find(is_alike);
        let any = || free().next().filter(|_| found.id.is_none());
        alike.or_else(any).copied()
    }

    /// Whether its row may have been deleted: then it would come back as new.
    fn may_be_pruned(&self, found: &FoundEntry) -> bool {
        let pruned = self.source.memory.pruned_before;
        matches!((found.published_at, pruned), (Some(at), Some(before)) if at < before)
    }

    /// Where ids are useless and there is no link either, the same words are the same entry.
    fn is_same_words(&self, found: &FoundEntry) -> bool {
        found.link.is_none() && found.print != 0 && self.words.contains(&short(found.print))
    }
}

/// Whether an id now stands for something else: both what it is called and where it is differ.
fn is_another(row: &KnownEntry, found: &FoundEntry) -> bool {
    let link = found.link.as_deref().map(link_hash);
    let moved = matches!((row.link_hash, link), (Some(was), Some(is)) if was != is);
    moved && row.title != found.title
}

/// Whether an edit of this entry is kept.
fn may_change(row: &KnownEntry, now: Timestamp) -> bool {
    let rested = |at: Timestamp| now.duration_since(at) >= EDIT_AGAIN;
    row.revision <= EDITS_FREE || row.updated_at.is_none_or(rested)
}
