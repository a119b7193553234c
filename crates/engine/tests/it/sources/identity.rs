//! What a source shows again is not new, whatever its publisher calls it (SS-17, SS-18): from the
//! document to the rows and the events, on both databases.

use std::{
    collections::BTreeSet,
    ops::Range,
    sync::{Arc, Mutex},
};

use almanack_core::{
    event::outgoing,
    source::{
        Attention, SourceId,
        check::{Ask, Candidate, Checker, Document, Failure, Familiar, Look},
        entry::{Entry, FoundEntry, key_hash},
        identity::{Sighting, Words, distrust_ids, fingerprint, short},
        options::Options,
        reading::Reading,
    },
    store::{EntryFilter, TaskFilter},
};
use almanack_engine::sources::keeper::KeepEntries;
use almanack_testkit::fixture::{START, at, kind};
use async_trait::async_trait;
use jiff::Timestamp;

use super::SourceHarness;
use crate::{
    event_delivery::everything,
    fixture::{Fixture, HOUR, on_both},
};

on_both!(
    ss_17_every_key_of_a_long_document_is_known,
    ss_18_a_feed_that_moves_to_https_keeps_its_entries,
    ss_18_ids_that_change_with_every_fetch_double_nothing,
    ss_18_one_id_for_all_collapses_nothing,
    ss_18_an_edit_is_a_revision_with_an_event,
    ss_18_a_first_look_is_marked_in_its_event,
);

/// A feed that is read against what is known, as a reader does it.
#[derive(Default)]
struct Feed(Mutex<Vec<FoundEntry>>);

#[async_trait]
impl Checker for Feed {
    async fn look(&self, ask: &Ask, _now: Timestamp) -> Look {
        let shown = self.0.lock().unwrap().clone();
        let mut named: Vec<_> = shown.into_iter().map(|found| (found, ())).collect();
        let mut document = Document {
            ids_shared: distrust_ids(&mut named, ask.known.ids_useless),
            ..Document::default()
        };
        let mut seen = BTreeSet::new();
        for (found, ()) in named {
            let key = key_hash(&found.key().unwrap());
            match ask.known.sighting(key, found.print) {
                _ if !seen.insert(key) => {}
                Sighting::Same => document.familiar.push(Familiar {
                    key,
                    print: short(found.print),
                    published_at: found.published_at,
                }),
                _ => document.entries.push(found),
            }
        }
        Look::Document(Box::new(document))
    }

    async fn discover(
        &self,
        _address: &str,
        _options: &Options,
        _now: Timestamp,
    ) -> Result<Vec<Candidate>, Failure> {
        Ok(Vec::new())
    }

    fn problem(&self, _address: &str, _reading: &Reading) -> Option<String> {
        None
    }
}

/// A source at this feed, and the time of its next check in hours.
struct Followed {
    room: SourceHarness,
    feed: Arc<Feed>,
    id: SourceId,
    hour: i64,
}

impl Followed {
    async fn at(fixture: Fixture) -> Self {
        let mut room = SourceHarness::at(fixture);
        let feed = Arc::new(Feed::default());
        room.handler.checker = feed.clone();
        room.handler.subscriptions = everything();
        let id = room.add("https://example.com/feed").await;
        Self {
            room,
            feed,
            id,
            hour: 0,
        }
    }

    /// The entries after a check that is shown these.
    async fn check(&mut self, shown: Vec<FoundEntry>) -> Vec<Entry> {
        *self.feed.0.lock().unwrap() = shown;
        self.room.clock.set(at(self.hour * HOUR));
        self.hour += 1;
        self.room.run_due().await;
        let checks = self.room.source(self.id).await.stats.check_count;
        assert_eq!(checks, self.hour.unsigned_abs(), "it is due every hour");
        self.entries().await
    }

    async fn entries(&self) -> Vec<Entry> {
        let filter = EntryFilter {
            limit: 5000,
            ..EntryFilter::default()
        };
        self.room.store.list_entries(&filter).await.unwrap().rows
    }

    async fn attention(&self) -> Option<Attention> {
        self.room.source(self.id).await.attention
    }

    /// All events so far, oldest first: type and data.
    async fn events(&self) -> Vec<(String, serde_json::Value)> {
        let filter = TaskFilter {
            kind: Some(kind(outgoing::KIND)),
            limit: 100,
            ..TaskFilter::default()
        };
        let mut rows = self.room.store.list_tasks(&filter).await.unwrap().rows;
        rows.reverse();
        let event = |payload: &str| -> serde_json::Value { serde_json::from_str(payload).unwrap() };
        let events = rows.iter().map(|row| event(row.payload.as_str()));
        let events = events.map(|event| {
            let name = event["type"].as_str().unwrap();
            let name = name.trim_start_matches("almanack.source.");
            (name.to_owned(), event["data"].clone())
        });
        events.collect()
    }
}

fn entry(id: &str, link: String, title: String) -> FoundEntry {
    FoundEntry {
        id: (!id.is_empty()).then(|| id.to_owned()),
        link: Some(link),
        print: fingerprint([Words::Plain(&title)]),
        title,
        ..FoundEntry::default()
    }
}

/// Numbered entries of a site.
fn entries(site: &str, ids: &str, numbers: Range<u32>) -> Vec<FoundEntry> {
    let one = |n| {
        let id = if ids.is_empty() {
            String::new()
        } else {
            format!("{ids}{n}")
        };
        entry(&id, format!("{site}/{n}"), format!("Title {n}"))
    };
    numbers.map(one).collect()
}

const SITE: &str = "https://a.example";

async fn ss_17_every_key_of_a_long_document_is_known(fixture: Fixture) {
    let mut followed = Followed::at(fixture).await;
    assert_eq!(followed.check(entries(SITE, "", 0..1000)).await.len(), 1000);
    let grown = followed.check(entries(SITE, "", 0..1001)).await;
    assert_eq!(grown.len(), 1001);
    assert_eq!(grown[0].found.title, "Title 1000");
    // More than are kept of a source; but they are shown, and would come back as new.
    let keep = KeepEntries {
        for_long: None,
        per_source: 500,
    };
    followed.room.round_at(at(HOUR + 1), keep).await;
    assert_eq!(followed.entries().await.len(), 1001);
    followed.check(entries(SITE, "", 0..1001)).await;
    let source = followed.room.source(followed.id).await;
    assert_eq!((source.stats.check_count, source.stats.hit_count), (3, 2));
    assert_eq!(source.memory.shown.len(), 1001);
}

async fn ss_18_a_feed_that_moves_to_https_keeps_its_entries(fixture: Fixture) {
    let mut followed = Followed::at(fixture).await;
    for ids in ["http://www.a.example/?p=", "https://a.example/?p="] {
        let site = if ids.starts_with("https") {
            SITE
        } else {
            "http://www.a.example"
        };
        assert_eq!(followed.check(entries(site, ids, 0..28)).await.len(), 28);
    }
    // A rebuilt site has other ids, too.
    assert_eq!(followed.check(entries(SITE, "tag:", 0..28)).await.len(), 28);
    assert_eq!(followed.check(entries(SITE, "tag:", 0..29)).await.len(), 29);
    assert_eq!(followed.room.source(followed.id).await.stats.hit_count, 2);
    let names: Vec<String> = followed.events().await.into_iter().map(|it| it.0).collect();
    assert_eq!(names, ["entries.v1", "entries.v1"]);
    assert_eq!(followed.attention().await, None);
}

async fn ss_18_ids_that_change_with_every_fetch_double_nothing(fixture: Fixture) {
    let mut followed = Followed::at(fixture).await;
    for fetch in 0..6 {
        let ids = format!("{fetch}-");
        assert_eq!(followed.check(entries(SITE, &ids, 0..10)).await.len(), 10);
    }
    assert_eq!(followed.attention().await, Some(Attention::Identity));
    let kept = followed.check(entries(SITE, "7-", 0..11)).await;
    assert_eq!(kept.len(), 11);
    let renewed = kept.iter().all(|entry| entry.key.starts_with("link:"));
    assert!(
        renewed,
        "so that the next check is quick, and none is deleted"
    );
    assert_eq!(followed.room.source(followed.id).await.stats.hit_count, 2);
}

async fn ss_18_one_id_for_all_collapses_nothing(fixture: Fixture) {
    let mut followed = Followed::at(fixture).await;
    for numbers in [0..5, 1..6, 6..7, 0..7] {
        let mut shown = entries(SITE, "x", numbers.clone());
        for found in &mut shown {
            found.id = Some("0".to_owned());
        }
        let kept = followed.check(shown).await.len();
        assert_eq!(kept, usize::try_from(numbers.end).unwrap());
    }
    assert_eq!(followed.attention().await, Some(Attention::Identity));
}

async fn ss_18_an_edit_is_a_revision_with_an_event(fixture: Fixture) {
    let mut followed = Followed::at(fixture).await;
    followed.check(entries(SITE, "a", 0..3)).await;
    let before = followed.room.source(followed.id).await;
    let mut shown = entries(SITE, "a", 0..3);
    shown[1] = entry("a1", format!("{SITE}/1"), "Corrected".to_owned());
    let kept = followed.check(shown.clone()).await;
    assert_eq!(followed.check(shown).await, kept, "once");
    let edited: Vec<&Entry> = kept.iter().filter(|entry| entry.revision > 1).collect();
    assert_eq!((kept.len(), edited.len()), (3, 1));
    let edited = edited[0];
    assert_eq!(
        (
            edited.found.title.as_str(),
            edited.revision,
            edited.updated_at
        ),
        ("Corrected", 2, Some(at(HOUR)))
    );
    assert_eq!(edited.seen_at, START, "it is not new");
    let after = followed.room.source(followed.id).await;
    assert_eq!(after.stats.hit_count, before.stats.hit_count);
    assert_eq!(after.stats.last_article_at, before.stats.last_article_at);
    let events = followed.events().await;
    assert_eq!(events.len(), 2);
    let (name, data) = &events[1];
    assert_eq!(name, "entry_updated.v1");
    let expected = serde_json::json!({
        "source_id": followed.id.0, "name": "", "more": 0,
        "entries": [{"id": "id:a1", "title": "Corrected", "url": "https://a.example/1", "revision": 2}],
    });
    assert_eq!(*data, expected);
}

async fn ss_18_a_first_look_is_marked_in_its_event(fixture: Fixture) {
    let mut followed = Followed::at(fixture).await;
    followed.check(entries(SITE, "a", 0..3)).await;
    followed.check(entries(SITE, "a", 0..4)).await;
    let events = followed.events().await;
    let marks: Vec<_> = events.iter().map(|(_, data)| data.get("initial")).collect();
    assert_eq!(marks, [Some(&serde_json::Value::Bool(true)), None]);
}
