//! By what an entry is the same as one that was seen before (SS-17, SS-18).
//!
//! An entry has a key: its publisher's id, else its link, else its title, else its words
//! ([`super::entry`]). Publishers break every one of these: sites move from http to https, ids
//! change with every fetch, or one id stands for all entries. So keys are compared without what a
//! site changes about all of its addresses at once, an entry whose key is unknown is looked for by
//! its link ([`recognise`]), and ids that identify nothing are not used any more.
//!
//! ```text
//! reader:  ids that are shared, or known to be useless, are dropped ─► keys of the whole document
//!          keys shown last time, with the same words ─► familiar: not cleaned, not asked for
//! engine:  everything else ─► what the store knows by key or link ─► new · edited · renamed · known
//! ```
//!
//! What must stay true: a document that shows what it showed before brings nothing new, whatever
//! its publisher calls it; and two entries that a document shows beside each other stay two.

mod recognise;

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Memory,
    entry::{CONTENT_BYTES_MAX, FoundEntry, link_hash, text_hash},
};

pub use recognise::{Recognised, Remembered, question, recognise};

/// Most edits that one check keeps; the others wait for the next.
pub const EDITS_MAX: usize = 200;

/// What a source's last document showed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Known {
    /// Hashes of keys, in order, each with its fingerprint if that was kept.
    shown: Vec<(u64, Option<u32>)>,
    /// Whether the publisher's ids identify nothing.
    pub ids_useless: bool,
}

/// How an entry compares with the last document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sighting {
    /// It was not shown.
    Unfamiliar,
    /// It was shown in other words, of this fingerprint.
    Edited(u32),
    /// It was shown so.
    Same,
}

impl Known {
    /// What a source's row remembers.
    pub fn of(memory: &Memory) -> Self {
        let prints = memory.prints.iter().copied().map(Some);
        let prints = prints.chain(std::iter::repeat(None));
        let mut shown: Vec<_> = memory.shown.iter().copied().zip(prints).collect();
        shown.sort_unstable_by_key(|(key, _)| *key);
        Self {
            shown,
            ids_useless: memory.publisher.ids_useless,
        }
    }

    /// How an entry with this hash of its key and this fingerprint compares.
    pub fn sighting(&self, key: u64, print: u64) -> Sighting {
        let found = self.shown.binary_search_by_key(&key, |(key, _)| *key);
        match found.ok().and_then(|at| self.shown.get(at)) {
            None => Sighting::Unfamiliar,
            Some((_, Some(before))) if *before != short(print) => Sighting::Edited(*before),
            Some(_) => Sighting::Same,
        }
    }
}

/// The part of a fingerprint that is remembered.
#[expect(clippy::cast_possible_truncation, reason = "that is what it is for")]
pub fn short(print: u64) -> u32 {
    print as u32
}

/// A text of an entry, as its publisher wrote it.
#[derive(Debug, Clone, Copy)]
pub enum Words<'a> {
    Plain(&'a str),
    /// Without its tags: what changes in an attribute (a nonce, a counter, an address) is no edit.
    Html(&'a str),
}

/// 64 bits of an entry's words: what is shown to people, without markup and space. Zero of nothing.
/// Cheap, because it is taken of every entry of every document; of a long text the start counts.
pub fn fingerprint<'a>(texts: impl IntoIterator<Item = Words<'a>>) -> u64 {
    let mut hash: u64 = 0;
    for (nth, text) in (1..).zip(texts) {
        let (text, is_html) = match text {
            Words::Plain(text) => (text, false),
            Words::Html(text) => (text, true),
        };
        let bytes = &text.as_bytes()[..text.len().min(CONTENT_BYTES_MAX)];
        let mut in_tag = false;
        let mut words: u64 = 0;
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                b'<' if is_html && opens_tag(bytes.get(at + 1)) => in_tag = true,
                b'>' if in_tag => in_tag = false,
                _ if in_tag || byte.is_ascii_whitespace() || byte.is_ascii_control() => {}
                _ => words = (words ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3) | 1,
            }
        }
        // Texts are separated by their place, and one that is missing is one that is empty.
        hash ^= (words ^ (words >> 29)).wrapping_mul(0xd6e8_feb8_6659_fd93_u64.rotate_left(nth));
    }
    hash ^ (hash >> 32)
}

fn opens_tag(next: Option<&u8>) -> bool {
    next.is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'/' | b'!' | b'?'))
}

/// Takes ids from the entries of one document that are not identified by them: all of them if ids
/// are `useless`, else those whose id several different entries share. Answers whether there were
/// such. What then has neither a separate link nor a separate title keeps its id.
pub fn distrust_ids<T>(entries: &mut [(FoundEntry, T)], useless: bool) -> bool {
    let shared = shared_ids(entries);
    let mut demoted = Vec::new();
    for (at, (found, _)) in entries.iter_mut().enumerate() {
        let distrusted = found
            .id
            .as_ref()
            .is_some_and(|id| useless || shared.contains(id));
        if distrusted && found.key_without_id().is_some() {
            found.id = None;
            demoted.push(at);
        }
    }
    part_by_title(entries, &demoted);
    !shared.is_empty()
}

fn shared_ids<T>(entries: &[(FoundEntry, T)]) -> BTreeSet<String> {
    let mut first: BTreeMap<&str, u64> = BTreeMap::new();
    let mut shared = BTreeSet::new();
    for (found, _) in entries {
        let (Some(id), Some(rest)) = (&found.id, found.key_without_id()) else {
            continue;
        };
        let rest = super::entry::key_hash(&rest);
        if *first.entry(id).or_insert(rest) != rest {
            shared.insert(id.clone());
        }
    }
    shared
}

/// Entries that lost their ids and share one link, a front page, are known by link and title.
/// Entries that never had ids are not: a page often links to one thing in several words.
fn part_by_title<T>(entries: &mut [(FoundEntry, T)], demoted: &[usize]) {
    let mut titles: BTreeMap<i64, BTreeSet<u64>> = BTreeMap::new();
    let named = |found: &FoundEntry| {
        let link = link_hash(found.link.as_deref()?);
        (!found.title.is_empty()).then(|| (link, text_hash(&found.title)))
    };
    for (link, title) in demoted.iter().filter_map(|at| named(&entries.get(*at)?.0)) {
        titles.entry(link).or_default().insert(title);
    }
    for at in demoted {
        let Some((found, _)) = entries.get_mut(*at) else {
            continue;
        };
        if let Some((link, title)) = named(found)
            && titles.get(&link).is_some_and(|titles| titles.len() > 1)
        {
            found.id = Some(format!("link:{link:x}/title:{title:x}"));
        }
    }
}

#[cfg(test)]
mod tests;
