//! Collected entries as a source of stories: what Almanack's own sources published (ED-33).
//!
//! Which of them make the edition is [`rank`]'s decision. Here they are read, page by page, and
//! only what the decision needs is kept of each: a busy fleet publishes more in a day than a node
//! wants to hold. The texts are read of those that were chosen. No request leaves.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use almanack_core::{
    budget::Budget,
    edition::{
        plain::plain_text,
        port::{Failure, FailureClass, StorySource, Wanted},
        quote::Comment,
        rank::{Candidate, Window, rank},
        selection::Selection,
        story::{Listed, StoryKey},
        weight::Weight,
    },
    source::{SourceId, entry::Entry},
    store::{self, EntryFilter, SourceFilter, Store},
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

/// A day: a longer or shorter window than this is counted back from its end.
pub const DAY: SignedDuration = SignedDuration::from_hours(24);
/// Sources of one name that are looked for.
const NAMESAKES_MAX: usize = 100;
/// Rows of one page. A row has some kilobytes, and 50 at the very most.
const PAGE: usize = 200;
/// Most pages that are read for one edition; what is older than their rows is not looked at.
const PAGES_MAX: usize = 1000;
/// Numbers and times of entries rise together but for moments; no node's clock is that wrong for
/// long.
const SLACK: SignedDuration = SignedDuration::from_hours(1);
/// Longest text that is passed on, in characters.
const TEXT_CHARS_MAX: usize = 20_000;
/// A shorter text is what feeds show to make people come: then the page itself is read.
const TEXT_CHARS_MIN: usize = 500;

/// The entries of all sources, or of those in one folder.
pub struct EntryStories {
    pub store: Arc<dyn Store>,
    /// Only of sources in this folder.
    pub category: Option<String>,
    /// Only of sources of these names; of all if none is named.
    pub sources: Vec<String>,
    /// Only with one of these tags of their publishers; with any if none is named.
    pub tags: Vec<String>,
    /// How far back an edition looks.
    pub window: SignedDuration,
    /// Which of them it takes, what they are about, and how much their sources count.
    pub selection: Arc<Selection>,
}

impl EntryStories {
    /// The sources that are meant; nothing if all are. A name that no source has means none.
    async fn chosen(&self) -> store::Result<Option<BTreeSet<SourceId>>> {
        if self.sources.is_empty() {
            return Ok(None);
        }
        let mut chosen = BTreeSet::new();
        for name in &self.sources {
            let own = self.namesakes(name).await?;
            if own.is_empty() {
                tracing::warn!(
                    source.name = name,
                    "no source has this name; the edition has no stories of it"
                );
            }
            chosen.extend(own);
        }
        Ok(Some(chosen))
    }

    /// The sources of a name.
    async fn namesakes(&self, name: &str) -> store::Result<Vec<SourceId>> {
        let filter = SourceFilter {
            containing: Some(name.to_owned()),
            limit: NAMESAKES_MAX,
            ..SourceFilter::default()
        };
        let found = self.store.list_sources(&filter).await?.rows;
        let own = found
            .iter()
            .filter(|source| source.definition.name == *name);
        Ok(own.map(|source| source.id).collect())
    }

    /// How much sources count, where that is set.
    async fn weights(&self) -> store::Result<BTreeMap<SourceId, Weight>> {
        let mut weights = BTreeMap::new();
        for (name, weight) in self.selection.weights.set() {
            let own = self.namesakes(name).await?;
            weights.extend(own.into_iter().map(|source| (source, weight)));
        }
        Ok(weights)
    }

    /// The names of the sources of these entries.
    async fn names(&self, ranked: &[Candidate]) -> store::Result<BTreeMap<SourceId, String>> {
        let ids: BTreeSet<SourceId> = ranked.iter().map(|candidate| candidate.source).collect();
        let ids: Vec<SourceId> = ids.into_iter().collect();
        let found = self.store.load_sources(&ids).await?;
        let named = found.into_iter().flatten();
        let named = named.map(|source| (source.id, source.definition.name));
        Ok(named.filter(|(_, name)| !name.trim().is_empty()).collect())
    }

    fn has_tag(&self, entry: &Entry) -> bool {
        let tags = &entry.found.categories;
        let has = |tag: &String| tags.iter().any(|own| own.eq_ignore_ascii_case(tag));
        self.tags.is_empty() || self.tags.iter().any(has)
    }

    async fn candidates(
        &self,
        window: Window,
        mut before: Option<i64>,
    ) -> store::Result<Vec<Candidate>> {
        let (chosen, weights) = (self.chosen().await?, self.weights().await?);
        let is_meant = |entry: &&Entry| {
            chosen
                .as_ref()
                .is_none_or(|chosen| chosen.contains(&entry.source))
                && self.has_tag(entry)
                && self.selection.rules.dropped_by(&entry.found).is_none()
        };
        let weighed = |candidate: Candidate| Candidate {
            weight: weights.get(&candidate.source).copied().unwrap_or_default(),
            ..candidate
        };
        let mut candidates = Vec::new();
        for _ in 0..PAGES_MAX {
            let filter = EntryFilter {
                category: self.category.clone(),
                seen_from: Some(window.from),
                before,
                limit: PAGE,
                ..EntryFilter::default()
            };
            let page = self.store.list_entries(&filter).await?;
            let found = page
                .rows
                .iter()
                .filter(is_meant)
                .filter_map(|entry| Candidate::of(entry, window));
            candidates.extend(found.map(weighed));
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        Ok(candidates)
    }

    /// A number that no entry seen before `until` has or exceeds, found by halving: a day long past
    /// is not reached through everything that came since.
    async fn cursor(&self, until: Timestamp) -> store::Result<Option<i64>> {
        let until = until.saturating_add(SLACK).unwrap_or(Timestamp::MAX);
        let Some(newest) = self.newest_below(None).await? else {
            return Ok(None);
        };
        let (mut low, mut high) = (0, newest.id.saturating_add(1));
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            match self.newest_below(Some(middle)).await? {
                Some(entry) if entry.seen_at >= until => high = entry.id,
                _ => low = middle,
            }
        }
        Ok(Some(high))
    }

    async fn newest_below(&self, before: Option<i64>) -> store::Result<Option<Entry>> {
        let filter = EntryFilter {
            before,
            limit: 1,
            ..EntryFilter::default()
        };
        Ok(self.store.list_entries(&filter).await?.rows.pop())
    }

    async fn listed(
        &self,
        candidate: Candidate,
        source_name: Option<String>,
    ) -> store::Result<Listed> {
        let entry = self.newest_below(candidate.entry.checked_add(1)).await?;
        // It may be gone by now; then its page is still there.
        let entry = entry.filter(|entry| entry.id == candidate.entry);
        let topics = &self.selection.topics;
        let topic = entry.as_ref().and_then(|entry| topics.of(&entry.found));
        Ok(Listed {
            key: StoryKey(format!("entry:{}", candidate.entry)),
            url: candidate.link,
            title: candidate.title,
            source_name,
            topic: topic.map(str::to_owned),
            published_at: Some(candidate.published_at),
            text: entry.as_ref().and_then(text_of),
            ..Listed::default()
        })
    }

    async fn stories(&self, wanted: &Wanted) -> store::Result<Vec<Listed>> {
        let window = window_of(wanted, self.window);
        let cursor = if wanted.is_today {
            None
        } else {
            self.cursor(window.until).await?
        };
        let candidates = self.candidates(window, cursor).await?;
        let ranked = rank(candidates, window, wanted.limit);
        let names = self.names(&ranked).await?;
        let mut stories = Vec::new();
        for candidate in ranked {
            let name = names.get(&candidate.source).cloned();
            stories.push(self.listed(candidate, name).await?);
        }
        Ok(stories)
    }
}

#[async_trait]
impl StorySource for EntryStories {
    fn name(&self) -> &'static str {
        "entries"
    }

    async fn list(&self, wanted: &Wanted, _budget: &Arc<Budget>) -> Result<Vec<Listed>, Failure> {
        let unread = |error: store::Error| {
            let detail = format!("could not read the collected entries: {error}");
            Failure::new(FailureClass::Transient, detail)
        };
        self.stories(wanted).await.map_err(unread)
    }

    async fn comments(
        &self,
        _key: &StoryKey,
        _budget: &Arc<Budget>,
    ) -> Result<Vec<Comment>, Failure> {
        Ok(Vec::new())
    }
}

/// Today's edition is of the hours before now, any other of those before the end of the day that it
/// covers; a day is as long as its zone makes it.
pub(super) fn window_of(wanted: &Wanted, length: SignedDuration) -> Window {
    let back_from = |until: Timestamp| Window {
        from: until.saturating_sub(length).unwrap_or(Timestamp::MIN),
        until,
    };
    if wanted.is_today {
        back_from(wanted.now)
    } else if length == DAY {
        Window {
            from: wanted.day_start,
            until: wanted.day_end,
        }
    } else {
        back_from(wanted.day_end)
    }
}

/// The whole text of an entry, if that is what it shows.
fn text_of(entry: &Entry) -> Option<String> {
    let markup = entry
        .found
        .content
        .as_ref()
        .or(entry.found.summary.as_ref())?;
    let text = plain_text(markup, TEXT_CHARS_MAX);
    text.chars().nth(TEXT_CHARS_MIN - 1).map(|_| text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use almanack_core::source::entry::FoundEntry;

    #[test]
    fn ed_33_teasers_are_no_texts() {
        let long = "word ".repeat(200);
        let teaser = Some("<p>Read more on our site".to_owned());
        for (content, summary, expected, why) in [
            (None, None, None, "nothing"),
            (None, teaser.clone(), None, "a teaser"),
            (
                teaser.clone(),
                Some(long.clone()),
                None,
                "the content is what is shown",
            ),
            (Some(format!("<p>{long}</p>")), teaser, Some(999), "a text"),
            (None, Some(long.clone()), Some(999), "a long summary"),
            (Some(long.repeat(40)), None, Some(19_999), "a book"),
        ] {
            let entry = Entry {
                id: 1,
                source: SourceId(1),
                key: "id:1".to_owned(),
                seen_at: Timestamp::UNIX_EPOCH,
                revision: 1,
                updated_at: None,
                found: FoundEntry {
                    content,
                    summary,
                    ..FoundEntry::default()
                },
            };
            let text = text_of(&entry).map(|text| text.len());
            assert_eq!(text, expected, "{why}");
        }
    }
}
