use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::*;
use crate::{
    source::{
        Definition, Source,
        check::{Document, Familiar},
        entry::key_hash,
    },
    store::{EntryChange, KnownEntry},
};

const NOW: Timestamp = Timestamp::constant(1_767_600_000, 0);

fn hours(hours: i64) -> SignedDuration {
    SignedDuration::from_hours(hours)
}

/// An entry by id, link and title; its words are its title.
fn entry(id: &str, link: &str, title: &str) -> FoundEntry {
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    FoundEntry {
        id: given(id),
        link: given(link),
        title: title.to_owned(),
        print: fingerprint([Words::Plain(title)]),
        ..FoundEntry::default()
    }
}

/// Numbered entries whose ids begin so.
fn entries(ids: &str, numbers: std::ops::Range<u32>) -> Vec<FoundEntry> {
    let one = |n| entry(&format!("{ids}{n}"), &link(n), &format!("Title {n}"));
    numbers.map(one).collect()
}

fn link(n: u32) -> String {
    format!("https://a.example/{n}")
}

/// A publisher over several checks, with the rows that the store would have.
struct Life {
    source: Source,
    rows: Vec<(KnownEntry, FoundEntry)>,
    now: Timestamp,
}

/// What one check did: new entries, edits, renewed keys.
type Did = (usize, usize, usize);

impl Life {
    fn new() -> Self {
        let mut source = Source::new(Definition::default(), NOW);
        source.learned = b"something".to_vec();
        Self {
            source,
            rows: Vec::new(),
            now: NOW,
        }
    }

    /// Reads a document as the reader does, asks for what the store knows, and writes.
    fn check(&mut self, shown: Vec<FoundEntry>) -> Did {
        self.now += hours(1);
        let known = Known::of(&self.source.memory);
        let mut named: Vec<_> = shown.into_iter().map(|found| (found, ())).collect();
        let mut document = Document {
            ids_shared: distrust_ids(&mut named, known.ids_useless),
            ..Document::default()
        };
        let mut seen = BTreeSet::new();
        for (found, ()) in named {
            let key = key_hash(&found.key().unwrap());
            match known.sighting(key, found.print) {
                _ if !seen.insert(key) => {}
                Sighting::Same => document.familiar.push(Familiar {
                    key,
                    print: short(found.print),
                    published_at: None,
                }),
                _ => document.entries.push(found),
            }
        }
        self.settle(&document)
    }

    fn settle(&mut self, document: &Document) -> Did {
        let asked = question(&self.source, document);
        let is_asked = |row: &KnownEntry| {
            asked.keys.contains(&row.key) || row.link_hash.is_some_and(|l| asked.links.contains(&l))
        };
        let rows = self.rows.iter().map(|(row, _)| row.clone());
        let rows: Vec<KnownEntry> = rows.filter(is_asked).collect();
        let recognised = recognise(&self.source, document, &rows, self.now);
        let edits = recognised
            .edited
            .iter()
            .filter(|it| it.edit.is_some())
            .count();
        let did = (
            recognised.fresh.len(),
            edits,
            recognised.edited.len() - edits,
        );
        recognised
            .edited
            .into_iter()
            .for_each(|change| self.write(change));
        for (key, found) in recognised.fresh {
            self.insert(key, found);
        }
        let memory = &mut self.source.memory;
        memory.shown = recognised.remembered.shown;
        memory.prints = recognised.remembered.prints;
        memory.publisher.ids_useless = recognised.remembered.ids_useless;
        memory.publisher.ids_changed = recognised.remembered.ids_changed;
        did
    }

    fn write(&mut self, change: EntryChange) {
        let now = self.now;
        let (row, kept) = self
            .rows
            .iter_mut()
            .find(|(row, _)| row.row == change.row)
            .unwrap();
        row.key = change.key;
        if let Some(edit) = change.edit {
            row.revision += 1;
            row.updated_at = Some(now);
            row.title.clone_from(&edit.found.title);
            assert_eq!(row.revision, edit.revision);
            *kept = edit.found;
        }
    }

    fn insert(&mut self, key: String, found: FoundEntry) {
        assert!(self.rows.iter().all(|(row, _)| row.key != key), "{key}");
        let row = KnownEntry {
            row: i64::try_from(self.rows.len()).unwrap(),
            key,
            link_hash: found.link.as_deref().map(link_hash),
            title: found.title.clone(),
            published_at: found.published_at,
            revision: 1,
            updated_at: None,
        };
        self.rows.push((row, found));
    }

    fn ids_useless(&self) -> bool {
        self.source.memory.publisher.ids_useless
    }
}

#[test]
fn ss_18_28_entries_that_move_to_https_stay_28() {
    let moved = |mut found: FoundEntry, from: &str, to: &str| {
        let swap = |text: Option<String>| text.map(|text| text.replace(from, to));
        (found.id, found.link) = (swap(found.id), swap(found.link));
        found
    };
    // By ids that are addresses, by links alone, and by ids that stay.
    for ids in ["https://a.example/?p=", "", "tag:"] {
        let shown = || {
            let all = entries(ids, 0..28).into_iter();
            all.map(|mut found| {
                found.id = found.id.filter(|_| !ids.is_empty());
                found
            })
        };
        let http = shown().map(|found| moved(found, "https://", "http://www."));
        let mut life = Life::new();
        assert_eq!(life.check(http.collect()), (28, 0, 0));
        assert_eq!(life.check(shown().collect()), (0, 0, 0), "{ids}");
        // Nor if what was shown is forgotten: then the store is asked.
        let http = shown().map(|found| moved(found, "https://", "http://"));
        life.source.memory.shown.clear();
        let (fresh, edits, _) = life.check(http.collect());
        assert_eq!((fresh, edits, life.rows.len()), (0, 0, 28), "{ids}");
        assert!(!life.ids_useless());
    }
}

#[test]
fn ss_18_ids_that_change_with_every_fetch_double_nothing() {
    let mut life = Life::new();
    assert_eq!(life.check(entries("a", 0..10)), (10, 0, 0));
    assert_eq!(life.check(entries("b", 0..10)), (0, 0, 10));
    assert!(!life.ids_useless(), "a site may change all ids once");
    assert_eq!(life.check(entries("c", 0..10)), (0, 0, 10));
    assert!(life.ids_useless());
    assert_eq!(life.check(entries("d", 0..10)), (0, 0, 0), "by their links");
    assert_eq!(life.check(entries("e", 1..12)), (2, 0, 0));
    assert_eq!(life.rows.len(), 12);
}

#[test]
fn ss_18_ids_that_changed_once_are_used_on() {
    let mut life = Life::new();
    life.check(entries("a", 0..10));
    life.check(entries("b", 0..10));
    assert_eq!(life.check(entries("b", 1..11)), (1, 0, 0));
    assert_eq!(life.check(entries("c", 1..11)), (0, 0, 10));
    assert!(!life.ids_useless(), "new entries came under stable ids");
}

#[test]
fn ss_18_one_id_for_all_collapses_nothing() {
    let same = |numbers: std::ops::Range<u32>| -> Vec<FoundEntry> {
        let all = entries("", numbers).into_iter();
        all.map(|found| FoundEntry {
            id: Some("0".to_owned()),
            ..found
        })
        .collect()
    };
    let mut life = Life::new();
    assert_eq!(life.check(same(0..5)), (5, 0, 0));
    assert!(life.ids_useless());
    assert_eq!(life.check(same(1..6)), (1, 0, 0));
    assert_eq!(life.check(same(6..7)), (1, 0, 0), "alone with its id");
    assert_eq!(life.check(same(0..7)), (0, 0, 0), "all of them are known");
}

#[test]
fn ss_18_two_entries_that_share_an_id_are_both_kept_and_the_others_stay_known() {
    let mut life = Life::new();
    life.check(entries("a", 0..5));
    let mut shown = entries("a", 0..6);
    shown[5].id = Some("a4".to_owned());
    assert_eq!(life.check(shown.clone()).0, 1);
    assert!(life.ids_useless());
    // By their links from now on, so their keys are renewed once.
    assert_eq!(life.check(shown.clone()).0, 0);
    assert_eq!(life.check(shown), (0, 0, 0));
    assert_eq!(life.rows.len(), 6);
}

#[test]
fn ss_18_the_same_entry_twice_is_one() {
    let mut life = Life::new();
    let twice = [entries("a", 0..2), entries("a", 0..1)].concat();
    assert_eq!(life.check(twice), (2, 0, 0));
    assert!(!life.ids_useless());
}

#[test]
fn ss_18_ids_that_are_positions_are_found_out() {
    let places = |newest: u32| -> Vec<FoundEntry> {
        let all = (0..5).map(|place| (place, newest - place));
        all.map(|(place, n)| entry(&place.to_string(), &link(n), &format!("Title {n}")))
            .collect()
    };
    let mut life = Life::new();
    assert_eq!(life.check(places(10)), (5, 0, 0));
    assert_eq!(life.check(places(11)), (1, 0, 4), "no entry is overwritten");
    assert!(life.ids_useless());
    assert_eq!(life.check(places(12)), (1, 0, 0));
    assert_eq!(life.rows.len(), 7);
}

#[test]
fn ss_18_entries_that_all_link_to_one_page_stay_apart() {
    let home = "https://a.example/";
    let shown = |ids: &str, numbers: std::ops::Range<u32>| -> Vec<FoundEntry> {
        let one = |n| entry(&format!("{ids}{n}"), home, &format!("Version {n}"));
        numbers.map(one).collect()
    };
    let mut life = Life::new();
    assert_eq!(life.check(shown("v", 0..3)), (3, 0, 0));
    assert_eq!(life.check(shown("v", 1..4)), (1, 0, 0));
    // One at a time: another id and another title is another entry.
    assert_eq!(life.check(shown("v", 4..5)), (1, 0, 0));
    // Even where ids are useless, by their titles.
    assert_eq!(life.check(shown("w", 1..5)), (0, 0, 4));
    assert_eq!(life.check(shown("x", 1..5)), (0, 0, 4));
    assert!(life.ids_useless());
    assert_eq!(life.check(shown("y", 2..6)), (1, 0, 0));
}

#[test]
fn ss_18_without_links_useless_ids_are_replaced_by_titles() {
    let shown = |ids: &[&str]| -> Vec<FoundEntry> {
        let named = ids.iter().zip(0..);
        named
            .map(|(id, n)| entry(id, "", &format!("Title {n}")))
            .collect()
    };
    let mut life = Life::new();
    assert_eq!(life.check(shown(&["a", "b", "c"])), (3, 0, 0));
    // Two of them share an id now. The third has its own until ids are not used any more.
    for _ in 0..3 {
        assert_eq!(life.check(shown(&["a", "a", "c"])), (0, 0, 0));
    }
    assert_eq!(life.check(shown(&["x", "y", "z", "new"])), (1, 0, 0));
}

#[test]
fn ss_18_an_edit_is_a_revision_and_not_new() {
    let mut life = Life::new();
    life.check(entries("a", 0..3));
    let mut shown = entries("a", 0..3);
    shown[1] = entry("a1", &link(1), "Corrected");
    assert_eq!(life.check(shown.clone()), (0, 1, 0));
    assert_eq!(life.check(shown.clone()), (0, 0, 0), "once");
    shown[1] = entry("a1", "https://a.example/other", "Corrected, and moved");
    assert_eq!(life.check(shown), (0, 1, 0), "one alone is no other entry");
    let (row, found) = &life.rows[1];
    assert_eq!(
        (row.revision, found.title.as_str()),
        (3, "Corrected, and moved")
    );
}

#[test]
fn ss_18_a_counter_in_a_text_is_edited_three_times_and_then_once_a_day() {
    let mut life = Life::new();
    let shown = |views: u32| vec![entry("a", &link(1), &format!("{views} views"))];
    life.check(shown(0));
    let edits: Vec<usize> = (1..=60).map(|views| life.check(shown(views)).1).collect();
    assert_eq!(edits.iter().sum::<usize>(), 5, "{edits:?}");
    assert_eq!(edits[..3], [1, 1, 1]);
    assert_eq!(edits[26], 1, "a day after the third");
    // What is not kept is not forgotten: when it rests, the last words are kept.
    let rests: usize = (0..24).map(|_| life.check(shown(60)).1).sum();
    assert_eq!((rests, life.rows[0].1.title.as_str()), (1, "60 views"));
}

#[test]
fn ss_18_more_edits_than_a_check_keeps_follow_later() {
    let many = u32::try_from(EDITS_MAX).unwrap() + 50;
    let mut life = Life::new();
    life.check(entries("a", 0..many));
    let edited = || -> Vec<FoundEntry> {
        let one = |n| entry(&format!("a{n}"), &link(n), &format!("Edited {n}"));
        (0..many).map(one).collect()
    };
    assert_eq!(life.check(edited()), (0, EDITS_MAX, 0));
    assert_eq!(life.check(edited()), (0, 50, 0));
}

#[test]
fn ss_18_what_an_earlier_version_remembered_is_no_edit() {
    let mut life = Life::new();
    life.check(entries("a", 0..3));
    life.source.memory.prints.truncate(1);
    let edited = vec![entry("a2", &link(2), "Other words")];
    assert_eq!(life.check(edited), (0, 0, 0));
}

#[test]
fn a_fingerprint_is_of_words() {
    let html = |text: &'static str| fingerprint([Words::Html(text)]);
    let rows = [
        // (one, another, the same)
        ("<p>one two</p>", "<div class=x>one\n two</div>", true),
        (
            "<a href='http://a/'>x</a>",
            "<a href='https://a/'>x</a>",
            true,
        ),
        ("<!-- 12:03 -->x", "<!-- 12:04 -->x", true),
        ("1 < 2", "1 < 3", false),
        ("one", "two", false),
        ("ab", "ba", false),
    ];
    for (one, another, same) in rows {
        assert_eq!(html(one) == html(another), same, "{one} {another}");
    }
    assert_eq!(html("<p> </p>"), 0, "no words");
    let texts = |a, b| fingerprint([Words::Plain(a), Words::Plain(b)]);
    assert_ne!(texts("a", "b"), texts("b", "a"));
    assert_ne!(texts("ab", ""), texts("a", "b"));
    assert_ne!(texts("a", "a"), 0);
    assert_ne!(fingerprint([Words::Plain("<b>")]), 0, "text stays text");
}

proptest! {
    /// Whatever a publisher does to its ids, a document that shows the same again brings nothing
    /// new, and what stands side by side stays apart.
    #[test]
    fn ss_18_nothing_doubles_and_nothing_collapses(
        fetches in prop::collection::vec((0_u32..20, 1_u32..15, 0_u32..4), 1..12),
    ) {
        let mut life = Life::new();
        let mut stories = BTreeSet::new();
        for (fetch, (from, count, how)) in (0..).zip(fetches) {
            let shown = (from..from + count).map(|n| {
                let id = match how {
                    0 => format!("stable{n}"),
                    1 => format!("{fetch}-{n}"),
                    2 => "one for all".to_owned(),
                    _ => String::new(),
                };
                entry(&id, &link(n), &format!("Title {n}"))
            });
            stories.extend(from..from + count);
            let shown: Vec<FoundEntry> = shown.collect();
            life.check(shown.clone());
            prop_assert_eq!(life.rows.len(), stories.len(), "{}", how);
            life.check(shown);
            prop_assert_eq!(life.rows.len(), stories.len());
        }
    }
}
