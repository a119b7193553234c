//! Entries on their way from a document to [`FoundEntry`].
//!
//! Every reader returns drafts; here they are identified, chosen and cleaned, so that all readings
//! keep to the same limits. Cleaning comes last and costs most: only what is unfamiliar or edited is
//! worth it, and most documents show what they showed last time.

use std::{collections::BTreeSet, sync::Arc};

use almanack_core::source::{
    NAME_BYTES_MAX,
    check::{Document, Familiar},
    entry::{
        CONTENT_BYTES_MAX, ENTRIES_PER_DOCUMENT, Enclosure, FoundEntry, SUMMARY_BYTES_MAX,
        TITLE_BYTES_MAX, believable, canonical_link, key_hash, text_hash,
    },
    identity::{EDITS_MAX, Known, Sighting, Words, distrust_ids, fingerprint, short},
};
use jiff::Timestamp;
use url::Url;

use super::{
    attached,
    markup::{Markup, Sanitiser},
    text,
};

/// Longest id that is kept unchanged, in bytes; less than a key, which adds a few.
const ID_BYTES_MAX: usize = 480;
/// Longest name of an author, in bytes.
const AUTHOR_BYTES_MAX: usize = 200;

/// An entry as a document shows it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draft {
    pub(crate) id: Option<String>,
    /// As written; made absolute and canonical here.
    pub(crate) link: Option<String>,
    /// Plain text already: what is markup in a title depends on the format.
    pub(crate) title: String,
    pub(crate) published_at: Option<Timestamp>,
    pub(crate) author: Option<String>,
    pub(crate) summary: Option<Markup>,
    pub(crate) content: Option<Markup>,
    /// Addresses as written, or absolute already.
    pub(crate) enclosures: Vec<Enclosure>,
    pub(crate) categories: Vec<String>,
    /// What addresses inside it are relative to, if not to the entry itself.
    pub(crate) base: Option<Url>,
}

/// What a document is read against.
#[derive(Debug, Clone)]
pub(crate) struct Against {
    /// When it is read.
    pub(crate) now: Timestamp,
    /// What the last one showed.
    pub(crate) known: Arc<Known>,
    /// How many entries are read of it.
    pub(crate) entries_max: usize,
}

impl Against {
    /// A document of which nothing is known.
    pub(crate) fn nothing(now: Timestamp) -> Self {
        Self {
            now,
            known: Arc::default(),
            entries_max: ENTRIES_PER_DOCUMENT,
        }
    }
}

/// Makes a document of drafts: one for each key, the newest of too many, in the order shown.
pub(crate) fn document(
    title: Option<String>,
    drafts: Vec<Draft>,
    base: &Url,
    against: &Against,
) -> Document {
    let named = drafts.into_iter();
    let named = named.map(|draft| (name(&draft, base, against.now), draft));
    let mut named: Vec<(FoundEntry, Draft)> = named.collect();
    let ids_shared = distrust_ids(&mut named, against.known.ids_useless);
    let mut seen = BTreeSet::new();
    let keyed = named.into_iter().filter_map(|(found, draft)| {
        // An entry without a key could not be recognised again.
        let key = key_hash(&found.key()?);
        seen.insert(key).then_some(Keyed { key, found, draft })
    });
    let keyed: Vec<Keyed> = keyed.collect();
    let shown = keyed.len();
    let chosen = choose(keyed, against.entries_max);
    let title = title
        .map(|title| text::short_line(&title, NAME_BYTES_MAX))
        .filter(|title| !title.is_empty());
    let mut document = Document {
        title,
        left_out: shown - chosen.len(),
        ids_shared,
        ..Document::default()
    };
    clean_unfamiliar(chosen, base, &against.known, &mut document);
    document
}

/// A draft by its key.
struct Keyed {
    key: u64,
    found: FoundEntry,
    draft: Draft,
}

/// Cleans what is unfamiliar or edited. Of more edits than one check keeps the others are familiar,
/// under their old fingerprints, so that they are found next time.
fn clean_unfamiliar(chosen: Vec<Keyed>, base: &Url, known: &Known, document: &mut Document) {
    let mut sanitiser = Sanitiser::new();
    let mut edits = 0;
    for Keyed { key, found, draft } in chosen {
        let published_at = found.published_at;
        let print = match known.sighting(key, found.print) {
            Sighting::Same => short(found.print),
            Sighting::Edited(before) if edits >= EDITS_MAX => before,
            sighting => {
                edits += usize::from(sighting != Sighting::Unfamiliar);
                let entry = fill(found, &draft, base, &mut sanitiser);
                document.entries.push(entry);
                continue;
            }
        };
        document.familiar.push(Familiar {
            key,
            print,
            published_at,
        });
    }
}

/// What an entry is known by.
fn name(draft: &Draft, base: &Url, now: Timestamp) -> FoundEntry {
    let id = draft.id.as_deref().map(short_id);
    let id = id.filter(|id| !id.is_empty());
    let link = draft.link.as_deref().map(text::one_line);
    // An empty link would lead to the document, and all entries without one would be the same.
    let link = link.filter(|link| !link.is_empty());
    let link = link.and_then(|link| canonical_link(Some(base), &link));
    // RSS says that an id is the entry's address unless it says otherwise.
    let link = link.or_else(|| canonical_link(None, id.as_deref()?));
    // A recording without a page is where its file is.
    let mut files = draft.enclosures.iter();
    let mut file = || files.find_map(|file| attached::web_address(&file.url, base));
    let link = link.or_else(|| canonical_link(None, &file()?));
    let title = text::short_line(&draft.title, TITLE_BYTES_MAX);
    let texts = [&draft.summary, &draft.content];
    let texts = texts.map(|text| text.as_ref().map_or(Words::Plain(""), Markup::words));
    let print = fingerprint([Words::Plain(&title)].into_iter().chain(texts));
    FoundEntry {
        id,
        link,
        title,
        published_at: draft.published_at.and_then(|at| believable(at, now)),
        print,
        ..FoundEntry::default()
    }
}

/// An id that is too long keeps its start, for people, and a hash of all of it, to stay itself.
fn short_id(id: &str) -> String {
    let id = text::one_line(id);
    if id.len() <= ID_BYTES_MAX {
        return id;
    }
    let hash = text_hash(&id);
    format!("{}#{hash:016x}", text::cut(id, ID_BYTES_MAX - 17))
}

/// The newest, since new entries are what a source is looked at for, and some show the oldest
/// first. An entry without a time is taken for as old as its neighbour; if none has one, the first
/// and the last half count: a list grows at either end.
fn choose(entries: Vec<Keyed>, entries_max: usize) -> Vec<Keyed> {
    if entries.len() <= entries_max {
        return entries;
    }
    let mut latest = entries.iter().find_map(|entry| entry.found.published_at);
    let chosen: BTreeSet<usize> = if latest.is_none() {
        let last = entries.len() - entries_max / 2;
        let first = entries_max - entries_max / 2;
        (0..first).chain(last..entries.len()).collect()
    } else {
        let mut ages: Vec<(Option<Timestamp>, usize)> = Vec::with_capacity(entries.len());
        for (at, entry) in entries.iter().enumerate() {
            latest = entry.found.published_at.or(latest);
            ages.push((latest, at));
        }
        ages.sort_by_key(|(age, at)| (std::cmp::Reverse(*age), *at));
        ages.iter().take(entries_max).map(|(_, at)| *at).collect()
    };
    entries
        .into_iter()
        .enumerate()
        .filter_map(|(at, entry)| chosen.contains(&at).then_some(entry))
        .collect()
}

fn fill(mut found: FoundEntry, draft: &Draft, base: &Url, sanitiser: &mut Sanitiser) -> FoundEntry {
    found.enclosures = attached::enclosures(&draft.enclosures, base);
    found.categories = attached::categories(&draft.categories);
    let here = found.link.as_deref().and_then(|link| Url::parse(link).ok());
    let base = draft.base.as_ref().or(here.as_ref()).unwrap_or(base);
    let author = draft.author.as_deref();
    let author = author.map(|author| text::undecorated(author, AUTHOR_BYTES_MAX));
    found.author = author.filter(|author| !author.is_empty());
    found.summary = draft
        .summary
        .as_ref()
        .and_then(|summary| sanitiser.clean(summary, base, SUMMARY_BYTES_MAX));
    found.content = draft
        .content
        .as_ref()
        .and_then(|content| sanitiser.clean(content, base, CONTENT_BYTES_MAX));
    found
}

#[cfg(test)]
mod tests;
