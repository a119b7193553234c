//! Writing sources: each write whole or not at all, and only by a writer that saw the row as it is.

use std::sync::Arc;

use almanack_core::{
    source::{Source, SourceId, State},
    store::{EntryFilter, Store, Written},
};
use almanack_testkit::fixture::{START, at, found, next_look, source};

use super::{entries_of, followed, looked, source_of};

/// Who saw an older row writes nothing: no row, no entry.
pub(crate) async fn ss_06_a_stale_version_is_lost_and_changes_nothing(store: Arc<dyn Store>) {
    let seen = followed(&*store, source("a")).await;
    let first = next_look(&seen, at(1), |after| after.stats.check_count = 1);
    assert_eq!(looked(&*store, first.clone()).await, Written::Done);
    let after = source_of(&*store, seen.id).await;
    assert_eq!(looked(&*store, first).await, Written::Lost, "repeated");
    let mut stale = next_look(&seen, at(2), |stale| {
        stale.state = State::Paused {
            since: START,
            note: None,
        };
        "https://elsewhere.example/".clone_into(&mut stale.definition.address);
    });
    stale.entries = vec![found("1", None)];
    assert_eq!(looked(&*store, stale).await, Written::Lost);
    assert_eq!(source_of(&*store, seen.id).await, after);
    assert_eq!(entries_of(&*store, seen.id).await, []);
}

/// However many nodes look at a source at once, one of them is counted.
pub(crate) async fn ss_06_of_eight_concurrent_looks_one_is_written(store: Arc<dyn Store>) {
    for round in 0..5 {
        let seen = followed(&*store, source(&format!("race-{round}"))).await;
        let mut racers = Vec::new();
        for node in 0..8_u64 {
            let mut write = next_look(&seen, at(1), |after| after.stats.hit_count = node);
            write.entries = vec![found("same", None), found(&format!("node {node}"), None)];
            let store = Arc::clone(&store);
            racers.push(tokio::spawn(async move { looked(&*store, write).await }));
        }
        let mut winners = Vec::new();
        for (node, racer) in racers.into_iter().enumerate() {
            if racer.await.expect("a racer") == Written::Done {
                winners.push(node);
            }
        }
        let after = source_of(&*store, seen.id).await;
        assert_eq!(winners.len(), 1, "{winners:?}");
        let winner = u64::try_from(winners[0]).unwrap();
        assert_eq!((after.version, after.stats.hit_count), (2, winner));
        let entries = entries_of(&*store, seen.id).await;
        let own = format!("Entry node {winner}");
        let titles: Vec<&str> = entries.iter().map(|e| e.found.title.as_str()).collect();
        assert_eq!(titles, [own.as_str(), "Entry same"]);
    }
}

/// One that is lost affects no other, answers come in the order of requests, and a second
/// write may build on the first.
pub(crate) async fn a_batch_of_looks_is_answered_one_by_one(store: Arc<dyn Store>) {
    let mut kept = Vec::new();
    for n in 0..5 {
        kept.push(followed(&*store, source(&format!("s{n}"))).await);
    }
    let look = |seen: &Source| next_look(seen, at(1), |after| after.stats.check_count += 1);
    assert_eq!(looked(&*store, look(&kept[3])).await, Written::Done);
    let mut writes: Vec<_> = kept.iter().rev().map(look).collect();
    let mut again = writes[0].clone();
    again.source.version += 1;
    again.source.stats.check_count = 2;
    writes.push(again);
    writes.push(look(&kept[0]));
    let unknown = Source {
        id: SourceId(999),
        version: 1,
        ..source("unknown")
    };
    writes.push(look(&unknown));
    let answers = store.write_sources(writes).await.unwrap();
    let (done, lost) = (Written::Done, Written::Lost);
    assert_eq!(answers, [done, lost, done, done, done, done, lost, lost]);
    let counts = [1, 1, 1, 1, 2];
    for (seen, expected) in kept.iter().zip(counts) {
        let after = source_of(&*store, seen.id).await;
        assert_eq!(
            after.stats.check_count, expected,
            "{}",
            seen.definition.name
        );
    }
    assert_eq!(store.write_sources(Vec::new()).await.unwrap(), []);
}

/// A move to a free address is a write like any other, and the old address is free.
pub(crate) async fn ss_12_a_source_moves_to_a_free_address(store: Arc<dyn Store>) {
    let seen = followed(&*store, source("a")).await;
    let new = "https://elsewhere.example/".to_owned();
    let mut write = next_look(&seen, at(1), |after| {
        after.definition.address.clone_from(&new);
    });
    write.entries = vec![found("1", None)];
    assert_eq!(looked(&*store, write).await, Written::Done);
    let moved = source_of(&*store, seen.id).await;
    assert_eq!((moved.version, &moved.definition.address), (2, &new));
    assert_eq!(store.load_source_at(&new).await.unwrap(), Some(moved));
    assert_eq!(entries_of(&*store, seen.id).await.len(), 1);
    let successor = followed(&*store, source("a")).await;
    assert_ne!(successor.id, seen.id);
}

/// A move to another source's address says whose it is, changes nothing, and spoils no other write.
pub(crate) async fn ss_12_a_move_to_a_taken_address_names_who_has_it(store: Arc<dyn Store>) {
    let a = followed(&*store, source("a")).await;
    let b = followed(&*store, source("b")).await;
    let c = followed(&*store, source("c")).await;
    let mut moves = next_look(&b, at(1), |after| {
        after.definition.address.clone_from(&a.definition.address);
    });
    moves.entries = vec![found("1", None)];
    let look = |seen: &Source| next_look(seen, at(1), |after| after.stats.check_count = 1);
    let writes = vec![look(&a), moves, look(&c)];
    let answers = store.write_sources(writes).await.unwrap();
    assert_eq!(
        answers,
        [Written::Done, Written::Taken(a.id), Written::Done]
    );
    assert_eq!(source_of(&*store, b.id).await, b);
    assert_eq!(entries_of(&*store, b.id).await, []);
    for id in [a.id, c.id] {
        assert_eq!(source_of(&*store, id).await.stats.check_count, 1);
    }
}

/// Two that move to one address at once, in one batch and from two nodes: one gets it.
pub(crate) async fn ss_12_of_two_who_move_to_one_address_one_does(store: Arc<dyn Store>) {
    let place = |n: usize| format!("https://place-{n}.example/");
    let goes = |seen: &Source, n: usize| {
        next_look(seen, at(1), |after| after.definition.address = place(n))
    };
    let a = followed(&*store, source("a")).await;
    let b = followed(&*store, source("b")).await;
    let answers = store
        .write_sources(vec![goes(&b, 0), goes(&a, 0)])
        .await
        .unwrap();
    assert_eq!(answers, [Written::Done, Written::Taken(b.id)]);
    for round in 1..6 {
        let mut racers = Vec::new();
        for name in ["x", "y"] {
            let seen = followed(&*store, source(&format!("{name}{round}"))).await;
            let (store, write) = (Arc::clone(&store), goes(&seen, round));
            racers.push(tokio::spawn(async move {
                (seen.id, looked(&*store, write).await)
            }));
        }
        let mut answers = Vec::new();
        for racer in racers {
            answers.push(racer.await.expect("a racer"));
        }
        let at_place = store.load_source_at(&place(round)).await.unwrap();
        let winner = at_place.expect("one of them moved").id;
        for (id, answer) in answers {
            let taken = Written::Taken(winner);
            assert_eq!(answer, if id == winner { Written::Done } else { taken });
        }
    }
}

/// A whole fleet in one call.
pub(crate) async fn a_large_batch_of_looks_is_answered_in_full(store: Arc<dyn Store>) {
    const COUNT: usize = 1_000;
    let new = (0..COUNT).map(|n| source(&format!("s{n}"))).collect();
    assert_eq!(store.add_sources(new).await.unwrap().len(), COUNT);
    let due = store.load_due_sources(None, START, COUNT).await.unwrap();
    let looks = due.iter().map(|seen| {
        let mut write = next_look(seen, at(1), |after| after.stats.next_due_at = Some(at(60)));
        write.entries = vec![found("1", Some(START)), found("2", None)];
        write
    });
    let answers = store.write_sources(looks.collect()).await.unwrap();
    assert_eq!(answers, [Written::Done; COUNT]);
    let due = store.load_due_sources(None, at(59), COUNT).await.unwrap();
    assert_eq!(due, []);
    let filter = EntryFilter {
        limit: 10_000,
        ..EntryFilter::default()
    };
    let entries = store.list_entries(&filter).await.unwrap().rows;
    assert_eq!(entries.len(), 2 * COUNT);
}
