//! Entries on their way from a document to [`FoundEntry`].
//!
//! Every reader returns drafts; here they are deduplicated, chosen and cleaned, so that all
//! readings keep to the same limits. Cleaning comes last: of a document with 50,000 entries only
//! the chosen ones are worth it.

use std::collections::BTreeSet;

use almanack_core::source::{
    NAME_BYTES_MAX,
    check::Document,
    entry::{
        CONTENT_BYTES_MAX, ENTRIES_MAX, Enclosure, FoundEntry, SUMMARY_BYTES_MAX, TITLE_BYTES_MAX,
        believable, canonical_link, key_hash,
    },
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

/// Makes a document of drafts: one for each key, the newest of too many, in the order shown.
pub(crate) fn document(
    title: Option<String>,
    drafts: Vec<Draft>,
    base: &Url,
    now: Timestamp,
) -> Document {
    let mut seen = BTreeSet::new();
    let mut named = Vec::new();
    for draft in drafts {
        let mut found = name(&draft, base);
        found.published_at = draft.published_at.and_then(|at| believable(at, now));
        // An entry without a key could not be recognised again.
        if found.key().is_some_and(|key| seen.insert(key_hash(&key))) {
            named.push((found, draft));
        }
    }
    let shown = named.len();
    let chosen = newest(named);
    let left_out = shown - chosen.len();
    let mut sanitiser = Sanitiser::new();
    let entries = chosen
        .into_iter()
        .map(|(found, draft)| fill(found, &draft, base, &mut sanitiser))
        .collect();
    let title = title
        .map(|title| text::short_line(&title, NAME_BYTES_MAX))
        .filter(|title| !title.is_empty());
    Document {
        title,
        entries,
        left_out,
        ..Document::default()
    }
}

/// What an entry is known by.
fn name(draft: &Draft, base: &Url) -> FoundEntry {
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
    FoundEntry {
        id,
        link,
        title: text::short_line(&draft.title, TITLE_BYTES_MAX),
        ..FoundEntry::default()
    }
}

/// An id that is too long keeps its start, for people, and a hash of all of it, to stay itself.
fn short_id(id: &str) -> String {
    let id = text::one_line(id);
    if id.len() <= ID_BYTES_MAX {
        return id;
    }
    let hash = key_hash(&id);
    format!("{}#{hash:016x}", text::cut(id, ID_BYTES_MAX - 17))
}

/// The newest, since new entries are what a source is looked at for, and some show the oldest
/// first. An entry without a time is taken for as old as its neighbour; if none has one, the first
/// count, since most show the newest first.
fn newest(entries: Vec<(FoundEntry, Draft)>) -> Vec<(FoundEntry, Draft)> {
    if entries.len() <= ENTRIES_MAX {
        return entries;
    }
    let mut latest = entries.iter().find_map(|(found, _)| found.published_at);
    let mut ages: Vec<(Option<Timestamp>, usize)> = Vec::with_capacity(entries.len());
    for (at, (found, _)) in entries.iter().enumerate() {
        latest = found.published_at.or(latest);
        ages.push((latest, at));
    }
    ages.sort_by_key(|(age, at)| (std::cmp::Reverse(*age), *at));
    let chosen: BTreeSet<usize> = ages.iter().take(ENTRIES_MAX).map(|(_, at)| *at).collect();
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
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::constant(1_767_600_000, 0);

    fn read(drafts: Vec<Draft>) -> Document {
        let base = Url::parse("https://site.example/blog/").unwrap();
        document(None, drafts, &base, NOW)
    }

    fn draft(id: &str, day: Option<i64>) -> Draft {
        Draft {
            id: Some(id.to_owned()),
            published_at: day
                .map(|day| Timestamp::from_second(1_700_000_000 + day * 86_400).unwrap()),
            ..Draft::default()
        }
    }

    fn ids(document: &Document) -> Vec<usize> {
        let id = |found: &FoundEntry| found.id.as_deref()?.parse().ok();
        document.entries.iter().filter_map(id).collect()
    }

    #[test]
    fn ss_12_of_50_000_items_the_newest_are_kept_in_the_order_shown() {
        let oldest_first = (0..50_000)
            .map(|at| draft(&at.to_string(), Some(at / 100)))
            .collect();
        let document = read(oldest_first);
        assert_eq!(ids(&document), (49_800..50_000).collect::<Vec<_>>());
        assert_eq!(document.left_out, 49_800);

        let undated = (0..300).map(|at| draft(&at.to_string(), None)).collect();
        assert_eq!(ids(&read(undated)), (0..200).collect::<Vec<_>>());

        let half_dated = (0..300)
            .map(|at| draft(&at.to_string(), (at % 2 == 0).then_some(at)))
            .collect();
        assert_eq!(ids(&read(half_dated)), (100..300).collect::<Vec<_>>());
    }

    #[test]
    fn ss_12_duplicate_ids_are_one_entry() {
        let document = read(vec![
            draft("1", Some(2)),
            draft("2", None),
            draft(" 1 ", Some(1)),
        ]);
        assert_eq!(ids(&document), [1, 2]);
        assert_eq!(document.left_out, 0, "they are not more entries");
        let nameless = Draft {
            summary: Some(Markup::Text("x".to_owned())),
            ..Draft::default()
        };
        assert_eq!(
            read(vec![nameless]).entries,
            [],
            "could not be recognised again"
        );
    }

    #[test]
    fn entries_keep_to_their_limits() {
        let long = "é".repeat(100_000);
        let draft = |tail: &str| Draft {
            id: Some(format!("{long}{tail}")),
            link: Some(format!("https://site.example/{long}")),
            title: long.clone(),
            author: Some(long.clone()),
            summary: Some(Markup::Html(long.clone())),
            content: Some(Markup::Text(long.clone())),
            ..Draft::default()
        };
        let document = read(vec![draft("1"), draft("2")]);
        assert_eq!(document.entries.len(), 2, "distinguished by their ends");
        let found = &document.entries[0];
        assert!(found.id.as_deref().unwrap().len() <= ID_BYTES_MAX);
        assert_eq!(found.link, None, "a cut link leads elsewhere");
        assert_eq!(found.title.len(), TITLE_BYTES_MAX);
        assert_eq!(found.author.as_deref().unwrap().len(), AUTHOR_BYTES_MAX);
        assert_eq!(found.summary.as_deref().unwrap().len(), SUMMARY_BYTES_MAX);
        assert_eq!(found.content.as_deref().unwrap().len(), CONTENT_BYTES_MAX);
    }

    #[test]
    fn ss_13_links_are_absolute_and_an_id_may_be_one() {
        for (id, link, expected, why) in [
            (
                "x",
                "/a?utm_source=y#top",
                Some("https://site.example/a"),
                "canonical",
            ),
            ("x", "b", Some("https://site.example/blog/b"), "relative"),
            ("x", " ", None, "none, though it could be joined"),
            (
                "https://site.example/p",
                "mailto:a@b",
                Some("https://site.example/p"),
                "the id",
            ),
            ("tag:x", "javascript:alert(1)", None, "neither"),
        ] {
            let draft = Draft {
                id: Some(id.to_owned()),
                link: Some(link.to_owned()),
                ..Draft::default()
            };
            let document = read(vec![draft]);
            assert_eq!(document.entries[0].link.as_deref(), expected, "{why}");
        }
    }

    #[test]
    fn ss_13_a_time_that_cannot_be_believed_is_none() {
        let document = read(vec![draft("1", Some(10_000)), draft("2", Some(-10_000))]);
        let times: Vec<_> = document
            .entries
            .iter()
            .map(|found| found.published_at)
            .collect();
        assert_eq!(times[0], None, "in the year 2051");
        assert!(times[1].is_some(), "in 1996");
    }
}
