//! Entries found again by key or link, edited and renamed (SS-17, SS-18).

use std::sync::Arc;

use almanack_core::{
    source::{
        Source, SourceId,
        entry::{Entry, FoundEntry, key_hash, link_hash},
    },
    store::{
        EntryChange, EntryEdit, EntryQuestion, KNOWN_PER_LINK_MAX, KnownEntry, Store, Written,
    },
};
use almanack_testkit::fixture::{at, found, next_look, source};

use super::{
    entries_of,
    entry::{finds, pruned},
    followed, looked, source_of,
};

pub(super) fn question(keys: &[String], links: &[&str]) -> EntryQuestion {
    EntryQuestion {
        keys: keys.to_vec(),
        links: links.iter().map(|link| link_hash(link)).collect(),
    }
}

pub(super) async fn known(
    store: &dyn Store,
    id: SourceId,
    asked: EntryQuestion,
) -> Vec<KnownEntry> {
    store.known_entries(id, &asked).await.unwrap()
}

pub(super) fn keys_of(known: &[KnownEntry]) -> Vec<&str> {
    known.iter().map(|entry| entry.key.as_str()).collect()
}

/// An entry at this address.
fn linked(id: &str, link: &str) -> (String, FoundEntry) {
    let (key, mut found) = found(id, Some(at(1)));
    found.link = Some(link.to_owned());
    (key, found)
}

/// By link without scheme and `www.`, each once, and of one link the newest few.
pub(crate) async fn ss_18_entries_are_known_by_key_or_link(store: Arc<dyn Store>) {
    let seen = followed(&*store, source("a")).await;
    let other = followed(&*store, source("b")).await;
    let home = "https://a.example/";
    let mut write = next_look(&seen, at(1), |_| ());
    write.entries = vec![linked("1", "http://www.a.example/1"), linked("2", home)];
    let more = (0..KNOWN_PER_LINK_MAX).map(|n| linked(&format!("h{n}"), home));
    write.entries.extend(more);
    write.entries.push(found("none", None));
    assert_eq!(looked(&*store, write).await, Written::Done);
    let one = "https://a.example/1";
    let by_link = known(&*store, seen.id, question(&[], &[one])).await;
    assert_eq!(keys_of(&by_link), ["id:1"]);
    let first = &by_link[0];
    assert_eq!(
        (first.link_hash, first.title.as_str(), first.published_at),
        (Some(link_hash(one)), "Entry 1", Some(at(1)))
    );
    assert_eq!((first.revision, first.updated_at), (1, None));
    let both = question(&["id:1".to_owned(), "id:none".to_owned()], &[one]);
    let both = known(&*store, seen.id, both).await;
    assert_eq!(keys_of(&both), ["id:1", "id:none"], "each once");
    let many = known(&*store, seen.id, question(&[], &[home])).await;
    assert_eq!(many.len(), KNOWN_PER_LINK_MAX);
    assert_eq!(many[0].key, "id:h0", "the newest, by number");
    assert_eq!(known(&*store, other.id, question(&[], &[one])).await, []);
}

/// Data replaced, revision raised; when it was published and seen, its key and a text that is not
/// shown any more stay.
pub(crate) async fn ss_18_an_edit_replaces_an_entry_and_raises_its_revision(store: Arc<dyn Store>) {
    let seen = followed(&*store, source("a")).await;
    let mut write = next_look(&seen, at(1), |_| ());
    let (key, mut first) = linked("1", "https://a.example/1");
    first.content = Some("<p>all of it".to_owned());
    write.entries = vec![(key.clone(), first.clone()), found("2", None)];
    assert_eq!(looked(&*store, write).await, Written::Done);
    let before = entries_of(&*store, seen.id).await;
    let mut found = FoundEntry {
        link: Some("https://a.example/one".to_owned()),
        title: "Corrected 'é'".to_owned(),
        published_at: Some(at(9)),
        author: Some("Ada".to_owned()),
        summary: Some("short".to_owned()),
        content: None,
        ..first
    };
    let edit = |found: &FoundEntry| EntryChange {
        row: before[1].id,
        key: key.clone(),
        edit: Some(EntryEdit {
            found: found.clone(),
            revision: 2,
        }),
    };
    let mut write = next_look(&source_of(&*store, seen.id).await, at(5), |_| ());
    write.edited = vec![edit(&found)];
    assert_eq!(looked(&*store, write.clone()).await, Written::Done);
    let after = entries_of(&*store, seen.id).await;
    assert_eq!(after[0], before[0], "the other");
    (found.published_at, found.content) = (
        before[1].found.published_at,
        before[1].found.content.clone(),
    );
    let expected = Entry {
        revision: 2,
        updated_at: Some(at(5)),
        found,
        ..before[1].clone()
    };
    assert_eq!(after[1], expected);
    let by_link = question(&[], &["http://a.example/one"]);
    assert_eq!(keys_of(&known(&*store, seen.id, by_link).await), ["id:1"]);
    // A look that is lost edits nothing; nor does one edit the entry of another source.
    assert_eq!(looked(&*store, write).await, Written::Lost);
    let other = followed(&*store, source("b")).await;
    let mut foreign = next_look(&other, at(6), |_| ());
    foreign.edited = vec![edit(&FoundEntry::default())];
    assert_eq!(looked(&*store, foreign).await, Written::Done);
    assert_eq!(entries_of(&*store, seen.id).await, after);
}

/// A key is renewed in place and free for another entry of the same write; it is never doubled.
pub(crate) async fn ss_18_a_key_is_renewed_in_place(store: Arc<dyn Store>) {
    let seen = finds_two(&*store).await;
    let before = entries_of(&*store, seen.id).await;
    let renew = |row: &Entry, key: &str| EntryChange {
        row: row.id,
        key: key.to_owned(),
        edit: None,
    };
    let mut write = next_look(&seen, at(5), |_| ());
    write.edited = vec![renew(&before[1], "link:https://a.example/1")];
    write.entries = vec![found("1", None)];
    assert_eq!(looked(&*store, write).await, Written::Done);
    let after = entries_of(&*store, seen.id).await;
    assert_eq!(after.len(), 3);
    assert_eq!(after[2].key, "link:https://a.example/1");
    assert_eq!((after[2].id, after[2].revision), (before[1].id, 1));
    assert_eq!(after[2].updated_at, None, "that is no edit");
    let taken = source_of(&*store, seen.id).await;
    let mut write = next_look(&taken, at(6), |_| ());
    write.edited = vec![renew(&after[2], "id:2")];
    assert_eq!(looked(&*store, write).await, Written::Done);
    assert_eq!(entries_of(&*store, seen.id).await, after, "another has it");
}

async fn finds_two(store: &dyn Store) -> Source {
    let id = followed(store, source("a")).await.id;
    finds(store, id, at(1), &[("1", None), ("2", None)]).await
}

/// Whatever the number that is kept of a source, thousands that its document shows stay.
pub(crate) async fn ss_17_thousands_that_are_still_shown_stay(store: Arc<dyn Store>) {
    const MANY: usize = 3000;
    let seen = followed(&*store, source("a")).await;
    let all: Vec<(String, FoundEntry)> = (0..MANY).map(|n| found(&n.to_string(), None)).collect();
    let mut write = next_look(&seen, at(1), |after| {
        let gone = all.iter().skip(1).map(|(key, _)| key_hash(key));
        after.memory.shown = gone.collect();
        after.memory.prints = vec![7; MANY - 1];
    });
    write.entries = all;
    let shown = write.source.memory.clone();
    assert_eq!(looked(&*store, write).await, Written::Done);
    assert_eq!(source_of(&*store, seen.id).await.memory, shown);
    assert_eq!(pruned(&*store, Some(at(99)), 500).await, 1, "all but one");
    let keys: Vec<String> = (0..MANY).map(|n| format!("id:{n}")).collect();
    let left = known(&*store, seen.id, question(&keys, &[])).await;
    assert_eq!(left.len(), MANY - 1);
}
