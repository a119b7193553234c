//! Ranks: which stories make an edition, and in which order (ADR 0061).
//!
//! ```text
//!   score     = recency (halves with every length of the window) x standing in its list x weight
//!   diversity = each further story of one publisher counts half of what it would
//! ```
//!
//! Standing is what the readers of a list think of a story; entries have no votes, so all that is
//! known of them is who published what and when. A source that publishes all day must not fill the
//! edition, and one that publishes once a day must not be missed: sources that publish within one
//! window and weigh the same take turns, the one with the newest entry first (ED-33).
//!
//! An entry belongs to the time it was first seen at, because that is when it could first be
//! published: whatever time its publisher claims, no entry falls between two editions and none is
//! in both. Only what was old already when it was seen is left out: a source that is new here comes
//! with its archive.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque},
};

use jiff::{SignedDuration, Timestamp};

use super::weight::Weight;
use crate::source::{SourceId, entry::Entry};

/// How long before a window an entry may have been published and still be news in it: sources that
/// seldom publish are looked at once a day.
pub const LATE_MAX: SignedDuration = SignedDuration::from_hours(24);

/// The standing of a story of which nobody has said what it is worth.
pub const UNKNOWN_STANDING: u64 = 500;
/// The standing of the best of a list.
pub const STANDING_MAX: u64 = 1_000;
/// What the standing is counted from: the best of a list is worth three times the last.
const STANDING_BASE: u64 = 500;
/// The recency of what is published now.
const NOW: u64 = 1 << 32;

/// A stretch of time: from its first instant to the first that is no longer part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub from: Timestamp,
    /// The first instant after it.
    pub until: Timestamp,
}

impl Window {
    /// What a story is worth in an edition of this window. Of one that is published at an unknown
    /// time it is assumed that half of the window has passed.
    pub fn score(self, published_at: Option<Timestamp>, standing: u64, weight: Weight) -> u64 {
        let length = self.until.duration_since(self.from);
        let age = published_at.map_or(length / 2, |at| self.until.duration_since(at));
        let worth = STANDING_BASE + standing.min(STANDING_MAX);
        recency(age, length) * worth * weight.hundredths()
    }
}

/// Halves with every `half_life`, in a straight line between.
fn recency(age: SignedDuration, half_life: SignedDuration) -> u64 {
    let seconds = |time: SignedDuration| u64::try_from(time.as_secs()).unwrap_or(0);
    let (age, half_life) = (seconds(age), seconds(half_life).max(1));
    let halvings = u32::try_from(age / half_life).unwrap_or(u32::MAX);
    let begins = NOW.checked_shr(halvings).unwrap_or(0);
    // A window is never long enough for this to pass the largest number.
    begins - (begins / 2).saturating_mul(age % half_life) / half_life
}

/// A story with what its place is decided by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scored<P, T> {
    pub score: u64,
    pub publisher: P,
    pub item: T,
}

/// The best first, at most `limit` of those that `is_taken` accepts: each further story of a
/// publisher counts half. Among equals the one whose publisher has had fewer, then the first given.
pub fn spread<P: Ord, T>(
    all: Vec<Scored<P, T>>,
    limit: usize,
    mut is_taken: impl FnMut(&T) -> bool,
) -> Vec<T> {
    let mut queues: BTreeMap<P, VecDeque<(u64, Reverse<usize>, T)>> = BTreeMap::new();
    for (given, scored) in all.into_iter().enumerate() {
        let queue = queues.entry(scored.publisher).or_default();
        queue.push_back((scored.score, Reverse(given), scored.item));
    }
    let mut queues: Vec<_> = queues.into_values().collect();
    for queue in &mut queues {
        queue
            .make_contiguous()
            .sort_by_key(|(score, given, _)| Reverse((*score, *given)));
    }
    // The next of each publisher: what it counts, how many there were before it, when it was given.
    let mut next = BinaryHeap::new();
    let offer = |queue: &VecDeque<(u64, Reverse<usize>, T)>, had: u32, place: usize| {
        queue.front().map(|(score, given, _)| {
            let counts = score.checked_shr(had).unwrap_or(0);
            (counts, Reverse(had), *given, place)
        })
    };
    next.extend(
        queues
            .iter()
            .enumerate()
            .filter_map(|(place, queue)| offer(queue, 0, place)),
    );
    let mut taken = Vec::new();
    while let Some((_, Reverse(had), _, place)) = next.pop() {
        if taken.len() == limit {
            break;
        }
        let Some((_, _, item)) = queues[place].pop_front() else {
            continue;
        };
        let counts = is_taken(&item);
        if counts {
            taken.push(item);
        }
        next.extend(offer(&queues[place], had + u32::from(counts), place));
    }
    taken
}

/// A candidate entry: what its rank is decided by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Number of the entry's row.
    pub entry: i64,
    pub source: SourceId,
    /// When it was published, or first seen where that is earlier or nothing else is known.
    pub published_at: Timestamp,
    /// Where it can be read, in its canonical form.
    pub link: String,
    /// Its title.
    pub title: String,
    /// How much its source counts.
    pub weight: Weight,
}

impl Candidate {
    /// The candidate that an entry is in an edition of this window; none without title or link.
    pub fn of(entry: &Entry, window: Window) -> Option<Self> {
        let title = entry.found.title.trim();
        let link = entry.found.link.as_deref().unwrap_or_default().trim();
        let published_at = entry.found.published_at.unwrap_or(entry.seen_at);
        // What is announced for tomorrow is not newer than what is there.
        let published_at = published_at.min(entry.seen_at);
        let is_seen = window.from <= entry.seen_at && entry.seen_at < window.until;
        let is_new = window.from.duration_since(published_at) <= LATE_MAX;
        (is_seen && is_new && !title.is_empty() && !link.is_empty()).then(|| Self {
            entry: entry.id,
            source: entry.source,
            published_at,
            link: link.to_owned(),
            title: title.to_owned(),
            weight: Weight::default(),
        })
    }
}

/// The best of them, best first, at most `limit`, no link twice. The order they come in does not
/// matter.
pub fn rank(mut candidates: Vec<Candidate>, window: Window, limit: usize) -> Vec<Candidate> {
    candidates.sort_unstable_by_key(|it| Reverse((it.published_at, it.entry)));
    let scored = candidates.into_iter().map(|it| Scored {
        score: window.score(Some(it.published_at), UNKNOWN_STANDING, it.weight),
        publisher: it.source,
        item: it,
    });
    let mut links = BTreeSet::new();
    spread(scored.collect(), limit, |it| links.insert(it.link.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::entry::FoundEntry;
    use proptest::prelude::*;

    const WINDOW: Window = Window {
        from: Timestamp::constant(1_767_571_200, 0),
        until: Timestamp::constant(1_767_657_600, 0),
    };

    /// So many hours after the window began.
    fn hour(hour: i64) -> Timestamp {
        WINDOW.from + SignedDuration::from_hours(hour)
    }

    fn entry(seen_at: Timestamp, published_at: Option<Timestamp>) -> Entry {
        Entry {
            id: 1,
            source: SourceId(1),
            key: "id:1".to_owned(),
            seen_at,
            revision: 1,
            updated_at: None,
            found: FoundEntry {
                link: Some("https://site.example/1".to_owned()),
                title: "One".to_owned(),
                published_at,
                ..FoundEntry::default()
            },
        }
    }

    fn candidate(entry: i64, source: i64, published_at: Timestamp, link: &str) -> Candidate {
        Candidate {
            entry,
            source: SourceId(source),
            published_at,
            link: link.to_owned(),
            title: format!("Entry {entry}"),
            weight: Weight::default(),
        }
    }

    #[test]
    fn ed_33_entries_belong_to_the_window_they_were_seen_in() {
        let second = SignedDuration::from_secs(1);
        for (seen_at, published_at, expected, why) in [
            (hour(3), Some(hour(2)), Some(hour(2)), "plain"),
            (hour(3), None, Some(hour(3)), "no time but ours"),
            (hour(0), None, Some(hour(0)), "the first instant"),
            (
                hour(24) - second,
                None,
                Some(hour(24) - second),
                "the last second",
            ),
            (hour(24), Some(hour(23)), None, "the next window's"),
            (hour(0) - second, None, None, "the last window's"),
            (hour(3), Some(hour(20)), Some(hour(3)), "announced ahead"),
            (hour(3), Some(hour(-24)), Some(hour(-24)), "found late"),
            (hour(3), Some(hour(-24) - second), None, "an archive"),
        ] {
            let came = Candidate::of(&entry(seen_at, published_at), WINDOW);
            assert_eq!(came.map(|came| came.published_at), expected, "{why}");
        }
    }

    #[test]
    fn ed_33_entries_without_title_or_link_are_no_stories() {
        let whole = entry(hour(3), None);
        let mut untitled = whole.clone();
        untitled.found.title = " ".to_owned();
        let mut nowhere = whole.clone();
        nowhere.found.link = None;
        assert!(Candidate::of(&whole, WINDOW).is_some());
        assert_eq!(Candidate::of(&untitled, WINDOW), None);
        assert_eq!(Candidate::of(&nowhere, WINDOW), None);
    }

    #[test]
    fn ed_33_sources_take_turns() {
        let busy = |entry: i64| candidate(entry, 1, hour(entry), &format!("busy/{entry}"));
        let mut candidates: Vec<Candidate> = (1..=9).map(busy).collect();
        candidates.push(candidate(10, 2, hour(4), "quiet/1"));
        candidates.push(candidate(11, 3, hour(8), "other/1"));
        candidates.push(candidate(12, 3, hour(2), "other/2"));
        for (limit, expected, why) in [
            (0, vec![], "none wanted"),
            (1, vec![9], "the newest"),
            (3, vec![9, 11, 10], "each source once, by its newest"),
            (6, vec![9, 11, 10, 8, 12, 7], "turn after turn"),
            (
                99,
                vec![9, 11, 10, 8, 12, 7, 6, 5, 4, 3, 2, 1],
                "all there are",
            ),
        ] {
            let ranked = rank(candidates.clone(), WINDOW, limit);
            let ranked: Vec<i64> = ranked.iter().map(|one| one.entry).collect();
            assert_eq!(ranked, expected, "{why}");
        }
    }

    #[test]
    fn ed_33_a_link_is_printed_once() {
        let ranked = rank(
            vec![
                candidate(1, 1, hour(9), "same"),
                candidate(2, 2, hour(8), "same"),
                candidate(3, 2, hour(7), "own"),
                candidate(4, 3, hour(6), "same"),
                candidate(5, 1, hour(9), "twin"),
            ],
            WINDOW,
            10,
        );
        let ranked: Vec<i64> = ranked.iter().map(|one| one.entry).collect();
        assert_eq!(ranked, [5, 2, 3], "who lost a link gives the next one");
    }

    #[test]
    fn ed_33_recency_and_weight_decide_beside_turns() {
        let of = |weight: &str, mut one: Candidate| {
            one.weight = weight.parse().unwrap();
            one
        };
        let fresh = |entry, source| candidate(entry, source, hour(24), &entry.to_string());
        let old = |entry, source| candidate(entry, source, hour(-10), &entry.to_string());
        let ranked = |candidates: Vec<Candidate>| -> Vec<i64> {
            let ranked = rank(candidates, WINDOW, 9);
            ranked.iter().map(|one| one.entry).collect()
        };
        let three = vec![fresh(1, 1), fresh(2, 1), old(3, 2)];
        assert_eq!(
            ranked(three),
            [2, 1, 3],
            "a fresh second before an old first"
        );
        let heavy = vec![fresh(1, 1), of("3", fresh(2, 2)), of("3", fresh(3, 2))];
        assert_eq!(
            ranked(heavy),
            [3, 2, 1],
            "two of a source that counts three times"
        );
        let light = vec![of("0.2", fresh(1, 1)), fresh(2, 2), fresh(3, 2)];
        assert_eq!(
            ranked(light),
            [3, 2, 1],
            "a source that counts little comes last"
        );
    }

    #[test]
    fn recency_halves_with_every_length_of_the_window() {
        let day = SignedDuration::from_hours(24);
        for (hours, expected) in [
            (-5, NOW),
            (0, NOW),
            (12, NOW / 4 * 3),
            (24, NOW / 2),
            (48, NOW / 4),
        ] {
            assert_eq!(
                recency(SignedDuration::from_hours(hours), day),
                expected,
                "{hours}"
            );
        }
        assert_eq!(recency(SignedDuration::MAX, day), 0);
    }

    fn any_candidates() -> impl Strategy<Value = Vec<Candidate>> {
        let one = (1_i64..6, 0_i64..24, 0_u8..30);
        proptest::collection::vec(one, 0..60).prop_map(|drawn| {
            let numbered = drawn.into_iter().zip(1..);
            let make = |((source, at, link), id): ((i64, i64, u8), i64)| {
                candidate(id, source, hour(at), &link.to_string())
            };
            numbered.map(make).collect()
        })
    }

    proptest! {
        #[test]
        fn the_order_of_arrival_does_not_matter(candidates in any_candidates(), limit in 0_usize..40) {
            let mut reversed = candidates.clone();
            reversed.reverse();
            prop_assert_eq!(rank(candidates, WINDOW, limit), rank(reversed, WINDOW, limit));
        }

        #[test]
        fn nothing_is_lost_doubled_or_made_up(candidates in any_candidates(), limit in 0_usize..70) {
            let links: BTreeSet<String> = candidates.iter().map(|one| one.link.clone()).collect();
            let ranked = rank(candidates.clone(), WINDOW, limit);
            let printed: BTreeSet<String> = ranked.iter().map(|one| one.link.clone()).collect();
            prop_assert_eq!(printed.len(), ranked.len());
            prop_assert_eq!(ranked.len(), limit.min(links.len()));
            prop_assert!(ranked.iter().all(|one| candidates.contains(one)));
        }

        #[test]
        fn a_smaller_edition_is_the_start_of_a_larger_one(candidates in any_candidates(), limit in 0_usize..40) {
            let larger = rank(candidates.clone(), WINDOW, limit + 5);
            let smaller = rank(candidates, WINDOW, limit);
            prop_assert!(larger.starts_with(&smaller));
        }

        #[test]
        fn no_source_is_ahead_by_more_than_its_turn(sizes in proptest::collection::vec(1_i64..20, 1..6), limit in 0_usize..60) {
            let mut candidates = Vec::new();
            for (source, size) in (1_i64..).zip(&sizes) {
                for at in 0..*size {
                    let id = source * 100 + at;
                    candidates.push(candidate(id, source, hour(at), &id.to_string()));
                }
            }
            let ranked = rank(candidates, WINDOW, limit);
            let count = |source: i64| ranked.iter().filter(|one| one.source == SourceId(source)).count();
            let counts: Vec<(usize, usize)> = (1_i64..)
                .zip(&sizes)
                .map(|(source, size)| (count(source), usize::try_from(*size).unwrap_or(0)))
                .collect();
            let most = counts.iter().map(|(printed, _)| *printed).max().unwrap_or(0);
            for (printed, size) in counts {
                prop_assert!(printed + 1 >= most || printed == size, "{printed} of {size}, others {most}");
            }
        }
    }
}
