//! Entries: written once, found again, and forgotten without coming back.

use std::sync::Arc;

use almanack_core::{
    source::{
        Source, SourceId,
        entry::{CONTENT_BYTES_MAX, Enclosure, Entry, FoundEntry, KEY_BYTES_MAX, key_hash},
    },
    store::{EntryFilter, EntryRetention, Error, Store, Written},
};
use almanack_testkit::fixture::{START, at, found, next_look, source};
use jiff::{SignedDuration, Timestamp};

use super::{
    entries_of, followed,
    identity::{keys_of, known, question},
    looked, source_of,
};

/// A look at `now` that finds entries with these names, published at these times; the row after
/// it. Its document shows something else by now, so that nothing of it has to stay.
pub(super) async fn finds(
    store: &dyn Store,
    id: SourceId,
    now: Timestamp,
    new: &[(&str, Option<Timestamp>)],
) -> Source {
    let seen = source_of(store, id).await;
    let mut write = next_look(&seen, now, |after| {
        after.memory.shown = vec![key_hash("id:elsewhere")];
    });
    write.entries = new.iter().map(|(id, at)| found(id, *at)).collect();
    assert_eq!(looked(store, write).await, Written::Done);
    source_of(store, id).await
}

fn titles(entries: &[Entry]) -> Vec<&str> {
    entries
        .iter()
        .map(|entry| entry.found.title.trim_start_matches("Entry "))
        .collect()
}

/// In one batch, in a later look, and from another writer: an entry that is there stays as it is.
pub(crate) async fn ss_13_an_entry_is_never_doubled(store: Arc<dyn Store>) {
    let a = followed(&*store, source("a")).await.id;
    let b = followed(&*store, source("b")).await.id;
    finds(
        &*store,
        a,
        at(1),
        &[("1", None), ("2", None), ("1", Some(START))],
    )
    .await;
    let first = entries_of(&*store, a).await;
    assert_eq!(titles(&first), ["2", "1"]);
    assert_eq!(first[1].found.published_at, None, "the first of the two");
    finds(&*store, a, at(2), &[("2", Some(START)), ("3", None)]).await;
    finds(&*store, b, at(3), &[("1", None)]).await;
    let then = entries_of(&*store, a).await;
    assert_eq!(titles(&then), ["3", "2", "1"]);
    assert_eq!(then[1..], first);
    assert_eq!(titles(&entries_of(&*store, b).await), ["1"], "each its own");
}

/// Everything at its limit, in any script, and nothing at all.
pub(crate) async fn ss_13_every_field_of_an_entry_survives(store: Arc<dyn Store>) {
    let seen = followed(&*store, source("a")).await;
    let odd = START + SignedDuration::from_micros(-123_457);
    let full = FoundEntry {
        id: Some("标识 'n\" \\ 🦀".to_owned()),
        link: Some("https://a.example/?q='\"%00".to_owned()),
        title: "Ünïcode\n\t\"".to_owned(),
        published_at: Some(odd),
        author: Some("O'Neil".to_owned()),
        summary: Some(String::new()),
        content: Some("é".repeat(CONTENT_BYTES_MAX / 2)),
        enclosures: vec![Enclosure {
            url: "https://a.example/1.mp3".to_owned(),
            media_type: Some("audio/mpeg".to_owned()),
            length: Some(u64::MAX),
        }],
        categories: vec!["科学 'n\" \\".to_owned()],
        ..FoundEntry::default()
    };
    let by_link = FoundEntry {
        id: None,
        ..full.clone()
    };
    let by_title = FoundEntry {
        title: "x".repeat(2 * KEY_BYTES_MAX),
        ..FoundEntry::default()
    };
    let all = [full, by_link, by_title];
    let mut write = next_look(&seen, odd, |_| ());
    write.entries = all.iter().map(|f| (f.key().unwrap(), f.clone())).collect();
    assert_eq!(write.entries[2].0.len(), KEY_BYTES_MAX);
    let keys: Vec<String> = write.entries.iter().map(|entry| entry.0.clone()).collect();
    assert_eq!(looked(&*store, write).await, Written::Done);
    let mut read = entries_of(&*store, seen.id).await;
    read.reverse();
    for (entry, (found, key)) in read.iter().zip(all.iter().zip(&keys)) {
        assert_eq!((&entry.found, &entry.key), (found, key));
        assert_eq!((entry.source, entry.seen_at), (seen.id, odd));
    }
    assert_eq!(read.len(), 3);
}

/// A key is never longer than it may be, or the write is refused and leaves nothing.
pub(crate) async fn a_key_that_is_too_long_is_refused(store: Arc<dyn Store>) {
    let seen = followed(&*store, source("a")).await;
    let mut write = next_look(&seen, at(1), |after| after.stats.check_count = 1);
    write.entries = vec![
        found("1", None),
        ("k".repeat(KEY_BYTES_MAX + 1), FoundEntry::default()),
    ];
    let refused = store.write_sources(vec![write]).await;
    assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
    assert_eq!(source_of(&*store, seen.id).await, seen);
    assert_eq!(entries_of(&*store, seen.id).await, []);
}

/// Odd keys, none, and those of another source.
pub(crate) async fn ss_13_known_keys_are_the_sources_own(store: Arc<dyn Store>) {
    let seen = followed(&*store, source("a")).await;
    let other = followed(&*store, source("b")).await;
    let odd = [
        "",
        "'",
        "\"; drop table entry; --",
        "标 🦀",
        "%",
        "_",
        "\\",
        " a ",
        "A",
        "a,b",
        "{}",
    ];
    let mut keys: Vec<String> = odd.map(str::to_owned).to_vec();
    keys.push("k".repeat(KEY_BYTES_MAX));
    let mut write = next_look(&seen, at(1), |_| ());
    write.entries = keys
        .iter()
        .map(|key| (key.clone(), FoundEntry::default()))
        .collect();
    assert_eq!(looked(&*store, write).await, Written::Done);
    let asked = |more: &str| question(&[keys.clone(), vec![more.to_owned()]].concat(), &[]);
    let found = known(&*store, seen.id, asked("a")).await;
    assert_eq!(keys_of(&found), keys, "by number, without `a`");
    assert_eq!(known(&*store, seen.id, question(&[], &[])).await, []);
    assert_eq!(known(&*store, other.id, asked("a")).await, []);
    let unknown = ["a ", "k", "标"].map(str::to_owned);
    assert_eq!(known(&*store, seen.id, question(&unknown, &[])).await, []);
}

/// Newest row first; of one source, since a time, and both.
pub(crate) async fn entries_are_listed_newest_first_in_pages(store: Arc<dyn Store>) {
    let a = followed(&*store, source("a")).await.id;
    let b = followed(&*store, source("b")).await.id;
    for n in 0..6 {
        // One node's clock is behind: times do not quite rise with the numbers.
        let now = at(if n == 3 { 15 } else { 10 * n });
        let name = format!("{n}");
        finds(
            &*store,
            if n % 2 == 0 { a } else { b },
            now,
            &[(&name, None)],
        )
        .await;
    }
    let rows: [(Option<SourceId>, Option<Timestamp>, &str); 7] = [
        (None, None, "543210"),
        (Some(a), None, "420"),
        (None, Some(at(20)), "542"),
        (None, Some(at(15)), "5432"),
        (None, Some(at(51)), ""),
        (Some(b), Some(at(20)), "5"),
        (Some(SourceId(999)), None, ""),
    ];
    for (source, seen_from, expected) in rows {
        for limit in [1, 2, 100] {
            let mut filter = EntryFilter {
                source,
                seen_from,
                limit,
                ..EntryFilter::default()
            };
            let mut listed = String::new();
            loop {
                let page = store.list_entries(&filter).await.unwrap();
                assert!(page.rows.len() <= limit);
                listed.extend(titles(&page.rows));
                filter.before = page.next;
                if filter.before.is_none() {
                    break;
                }
            }
            assert_eq!(listed, expected, "{filter:?}");
        }
    }
}

/// However much was seen since then, a page examines so many and says where to go on (SF-01).
pub(crate) async fn sf_01_a_list_of_entries_examines_so_many_and_goes_on(store: Arc<dyn Store>) {
    let id = followed(&*store, source("a")).await.id;
    // The newest rows were seen earliest: a clock was ahead and has been set back.
    for n in 0..6 {
        finds(&*store, id, at(60 - 10 * n), &[(&format!("{n}"), None)]).await;
    }
    for source in [None, Some(id)] {
        let mut filter = EntryFilter {
            source,
            seen_from: Some(at(60)),
            among: Some(4),
            limit: 9,
            ..EntryFilter::default()
        };
        let first = store.list_entries(&filter).await.unwrap();
        assert_eq!(first.rows, []);
        filter.before = first.next;
        assert!(filter.before.is_some(), "there is more to examine");
        let last = store.list_entries(&filter).await.unwrap();
        assert_eq!((titles(&last.rows), last.next), (vec!["0"], None));
    }
}

/// Walks to the end; answers how many entries went.
pub(super) async fn pruned(
    store: &dyn Store,
    seen_before: Option<Timestamp>,
    per_source: usize,
) -> usize {
    let retention = EntryRetention {
        seen_before,
        per_source,
    };
    let (mut rows, mut after) = (0, Some(SourceId(0)));
    while let Some(from) = after {
        let step = store.prune_entries(retention, from, 2).await.unwrap();
        rows += step.rows;
        after = step.next;
    }
    rows
}

/// What was first seen before the bound goes; of what is left, the newest stay.
pub(crate) async fn old_entries_and_those_beyond_the_newest_go(store: Arc<dyn Store>) {
    for name in ["a", "b", "c", "d"] {
        let id = followed(&*store, source(name)).await.id;
        finds(
            &*store,
            id,
            at(10),
            &[("1", Some(at(1))), ("2", Some(at(2)))],
        )
        .await;
        finds(
            &*store,
            id,
            at(20),
            &[("5", Some(at(5))), ("4", None), ("3", Some(at(3)))],
        )
        .await;
    }
    let ids: Vec<SourceId> = (1..=4).map(SourceId).collect();
    assert_eq!(pruned(&*store, None, 5).await, 0);
    assert_eq!(pruned(&*store, Some(at(10)), 5).await, 0, "not before");
    assert_eq!(
        source_of(&*store, ids[0]).await.version,
        3,
        "nothing was written"
    );
    assert_eq!(pruned(&*store, Some(at(11)), 5).await, 8);
    for id in &ids {
        assert_eq!(titles(&entries_of(&*store, *id).await), ["3", "4", "5"]);
    }
    // By the times publishers give: what has none counts from when it was seen.
    assert_eq!(pruned(&*store, None, 2).await, 4);
    for id in &ids {
        assert_eq!(titles(&entries_of(&*store, *id).await), ["4", "5"]);
    }
    assert_eq!(pruned(&*store, None, 0).await, 8);
}

/// What a source's last document still shows is never deleted: it would come back as new.
pub(crate) async fn ss_13_what_is_still_shown_stays(store: Arc<dyn Store>) {
    let id = followed(&*store, source("a")).await.id;
    let seen = finds(
        &*store,
        id,
        at(1),
        &[("1", Some(at(1))), ("2", None), ("3", Some(at(3)))],
    )
    .await;
    let shows = next_look(&seen, at(2), |after| {
        after.memory.shown = vec![key_hash("id:3"), key_hash("id:1"), key_hash("id:9")];
    });
    assert_eq!(looked(&*store, shows).await, Written::Done);
    assert_eq!(pruned(&*store, Some(at(99)), 0).await, 1);
    assert_eq!(titles(&entries_of(&*store, id).await), ["3", "1"]);
}

/// A document that shows nothing lets nothing go: what comes back after it, and has no time, would
/// be new.
pub(crate) async fn ss_13_nothing_goes_while_nothing_is_shown(store: Arc<dyn Store>) {
    let id = followed(&*store, source("a")).await.id;
    let seen = finds(&*store, id, at(1), &[("1", Some(at(1))), ("2", None)]).await;
    let empty = next_look(&seen, at(2), |after| after.memory.shown.clear());
    assert_eq!(looked(&*store, empty).await, Written::Done);
    assert_eq!(pruned(&*store, Some(at(99)), 0).await, 0);
    assert_eq!(titles(&entries_of(&*store, id).await), ["2", "1"]);
    finds(&*store, id, at(3), &[]).await;
    assert_eq!(pruned(&*store, Some(at(99)), 0).await, 2, "shows again");
}

/// The source remembers until when entries were deleted, and forgets it never.
pub(crate) async fn ss_13_a_source_knows_until_when_entries_were_pruned(store: Arc<dyn Store>) {
    let id = followed(&*store, source("a")).await.id;
    let just_after = |second: i64| Some(at(second) + SignedDuration::from_micros(1));
    finds(
        &*store,
        id,
        at(10),
        &[("1", Some(at(1))), ("9", Some(at(9)))],
    )
    .await;
    assert_eq!(source_of(&*store, id).await.memory.pruned_before, None);
    assert_eq!(pruned(&*store, Some(at(11)), 9).await, 2);
    assert_eq!(
        source_of(&*store, id).await.memory.pruned_before,
        just_after(9)
    );
    // An older one, and one without a time, later: neither takes it back.
    finds(&*store, id, at(20), &[("5", Some(at(5)))]).await;
    assert_eq!(pruned(&*store, Some(at(21)), 9).await, 1);
    finds(&*store, id, at(22), &[("none", None)]).await;
    assert_eq!(pruned(&*store, Some(at(23)), 9).await, 1);
    assert_eq!(
        source_of(&*store, id).await.memory.pruned_before,
        just_after(9)
    );
    finds(&*store, id, at(30), &[("25", Some(at(25)))]).await;
    assert_eq!(pruned(&*store, None, 0).await, 1);
    assert_eq!(
        source_of(&*store, id).await.memory.pruned_before,
        just_after(25)
    );
}

/// A look that was made before entries were deleted must be decided again, with the bound in sight.
pub(crate) async fn ss_13_a_look_from_before_a_pruning_is_lost(store: Arc<dyn Store>) {
    let a = followed(&*store, source("a")).await.id;
    let b = followed(&*store, source("b")).await.id;
    let seen_a = finds(&*store, a, at(1), &[("1", Some(at(1)))]).await;
    let seen_b = source_of(&*store, b).await;
    assert_eq!(pruned(&*store, Some(at(2)), 9).await, 1);
    let mut late = next_look(&seen_a, at(3), |after| after.stats.check_count = 1);
    late.entries = vec![found("1", Some(at(1)))];
    assert_eq!(looked(&*store, late).await, Written::Lost);
    assert_eq!(entries_of(&*store, a).await, []);
    let untouched = next_look(&seen_b, at(3), |_| ());
    assert_eq!(looked(&*store, untouched).await, Written::Done);
}

/// Pruning beside looks: nothing that a look wrote gets lost, and nothing comes
/// twice.
pub(crate) async fn ss_13_pruning_does_not_disturb_looks(store: Arc<dyn Store>) {
    const LOOKS: i64 = 30;
    let id = followed(&*store, source("a")).await.id;
    let pruner = Arc::clone(&store);
    let pruner = tokio::spawn(async move {
        let mut gone = 0;
        for _ in 0..LOOKS {
            gone += pruned(&*pruner, None, 3).await;
        }
        gone
    });
    for n in 0..LOOKS {
        loop {
            let seen = source_of(&*store, id).await;
            let mut write = next_look(&seen, at(n), |after| {
                after.stats.check_count += 1;
                after.memory.shown = vec![key_hash("id:elsewhere")];
            });
            write.entries = vec![found(&n.to_string(), Some(at(n)))];
            if looked(&*store, write).await == Written::Done {
                break;
            }
        }
    }
    let gone = pruner.await.expect("a pruner") + pruned(&*store, None, 3).await;
    assert_eq!(gone, usize::try_from(LOOKS).unwrap() - 3);
    assert_eq!(titles(&entries_of(&*store, id).await), ["29", "28", "27"]);
    assert_eq!(source_of(&*store, id).await.stats.check_count, 30);
}
