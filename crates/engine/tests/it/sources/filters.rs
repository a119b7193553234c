//! Which entries a check keeps, and whole texts of those (SS-24).

use almanack_core::source::{filter::Filters, options::Options, search::Query};

use super::*;

on_both!(
    ss_24_what_a_rule_drops_is_neither_kept_nor_reported_nor_looked_at_again,
    ss_24_rules_of_the_node_hold_for_all_sources,
    ss_24_a_bad_rule_is_refused_with_its_place,
    ss_24_a_preview_says_what_would_be_dropped,
    ss_24_full_texts_are_read_a_few_at_a_time,
    ss_24_a_busy_host_or_a_failure_leaves_entries_as_they_are,
    ss_24_one_full_text_is_read_on_demand,
);

fn with(options: Options) -> Definition {
    Definition {
        options,
        ..definition("https://example.com/feed")
    }
}

fn filtered(rules: &[&str]) -> Definition {
    let filters = rules.iter().map(|&rule| rule.to_owned()).collect();
    with(Options {
        filters,
        ..Options::default()
    })
}

impl SourceHarness {
    async fn add_as(&self, definition: Definition) -> SourceId {
        let added = self.sources.add(vec![definition], "ada").await.unwrap();
        only_new(&added).unwrap()
    }

    /// Checks what is due after so many hours; deliveries of events may be due, too.
    async fn check_later(&self, hours: i64) {
        self.clock.set(at(hours * HOUR));
        assert!(!self.run_due().await.is_empty());
    }

    async fn found(&self, query: &str) -> Vec<String> {
        let filter = EntryFilter {
            search: Query::parse(query),
            limit: 9,
            ..EntryFilter::default()
        };
        let found = self.store.list_entries(&filter).await.unwrap().rows;
        found.into_iter().map(|entry| entry.found.title).collect()
    }
}

async fn ss_24_what_a_rule_drops_is_neither_kept_nor_reported_nor_looked_at_again(
    fixture: Fixture,
) {
    let mut room = SourceHarness::at(fixture);
    room.handler.subscriptions = everything();
    let rules = ["block title contains ad", "keep title starts with k"];
    let id = room.add_as(filtered(&rules)).await;
    room.world.will_answer([
        document(&["kept", "k-ad", "other"]),
        document(&["kept", "k-ad", "other"]),
        document(&["K2", "kept", "k-ad", "other"]),
    ]);
    room.check_later(0).await;
    assert_eq!(room.titles().await, ["kept"]);
    let source = room.source(id).await;
    assert_eq!(source.memory.shown.len(), 3, "all of it is remembered");
    room.check_later(1).await;
    assert_eq!(room.source(id).await.stats.hit_count, 1, "nothing new");
    room.check_later(2).await;
    assert_eq!(room.titles().await, ["K2", "kept"]);
    let events = published(&*room.store).await;
    assert_eq!(events.len(), 2, "{events:?}");
}

async fn ss_24_rules_of_the_node_hold_for_all_sources(fixture: Fixture) {
    let mut room = SourceHarness::at(fixture);
    let settings = FleetSettings {
        filters: Filters::parse(&["block title contains spam"]).unwrap(),
        ..FleetSettings::default()
    };
    room.handler.fleet = Arc::new(Fleet::new(settings));
    room.add_as(filtered(&["block title contains ad"])).await;
    room.world.will_answer([document(&["ad", "spam", "fine"])]);
    room.check_later(0).await;
    assert_eq!(room.titles().await, ["fine"]);
}

async fn ss_24_a_bad_rule_is_refused_with_its_place(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let bad = filtered(&["keep title is x", "block titel is x"]);
    let refused = room.sources.add(vec![bad], "ada").await.unwrap_err();
    let place = match &refused {
        Error::Filter(bad) => Some((bad.number, bad.column())),
        _ => None,
    };
    assert_eq!(place, Some((2, 7)));
    assert_eq!(
        refused.to_string(),
        "filters: rule 2, column 7: `titel` is not a field; use title, author, category, link or text"
    );
}

async fn ss_24_a_preview_says_what_would_be_dropped(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let definition = filtered(&["block title is b"]);
    room.world.will_answer([document(&["a", "b"])]);
    let shown = room.sources.preview(&definition).await.unwrap().entries;
    let dropped = room.sources.dropped_by(&definition, &shown).unwrap();
    assert_eq!(dropped, [None, Some("block title is b".to_owned())]);
    assert_eq!(room.titles().await, [""; 0], "nothing is kept");
}

/// A document whose entries link to pages of their names.
fn linked(titles: &[&str]) -> Look {
    let mut look = document(titles);
    if let Look::Document(document) = &mut look {
        for found in &mut document.entries {
            found.link = Some(format!("https://example.com/{}", found.title));
        }
    }
    look
}

fn full_text() -> Definition {
    with(Options {
        full_text: true,
        ..Options::default()
    })
}

fn text(words: &str) -> Article {
    Article::Text(words.to_owned())
}

async fn ss_24_full_texts_are_read_a_few_at_a_time(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    room.add_as(full_text()).await;
    let titles = ["g", "f", "e", "d", "c", "b", "a"];
    room.world.will_answer([linked(&titles), linked(&titles)]);
    room.world
        .will_read((0..9).map(|n| text(&format!("sails {n}"))));
    room.check_later(0).await;
    let read = |room: &SourceHarness| room.world.read.lock().unwrap().clone();
    let newest = ["g", "f", "e", "d", "c"].map(|it| format!("https://example.com/{it}"));
    assert_eq!(read(&room), newest);
    assert_eq!(room.found("sails").await, ["g", "f", "e", "d", "c"]);
    room.check_later(1).await;
    assert_eq!(read(&room).len(), 7, "the others after the next check");
    room.check_later(2).await;
    assert_eq!(read(&room).len(), 7, "none twice");
    assert_eq!(room.found("\"sails 6\"").await, ["a"]);
}

async fn ss_24_a_busy_host_or_a_failure_leaves_entries_as_they_are(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    let id = room.add_as(full_text()).await;
    room.world.will_answer([linked(&["c", "b", "a"])]);
    let lasting = Failure::new(FailureClass::Malformed, "a page without an article");
    room.world.will_read([
        Article::Failed(lasting),
        Article::Wait(at(5)),
        text("late"),
        text("later"),
    ]);
    room.check_later(0).await;
    assert_eq!(room.world.read.lock().unwrap().len(), 2, "the host is busy");
    assert_eq!(room.source(id).await.stats.fail_count, 0);
    room.check_later(1).await;
    assert_eq!(room.found("late").await, ["b"]);
    assert_eq!(room.found("later").await, ["a"]);
    assert_eq!(room.world.read.lock().unwrap().len(), 4, "no failure twice");
    assert_eq!(room.found("c").await, ["c"]);
}

async fn ss_24_one_full_text_is_read_on_demand(fixture: Fixture) {
    let room = SourceHarness::at(fixture);
    room.add("https://example.com/feed").await;
    room.world.will_answer([linked(&["a"])]);
    room.check_later(0).await;
    assert_eq!(room.world.read.lock().unwrap().len(), 0, "not wanted");
    let filter = EntryFilter {
        limit: 1,
        ..EntryFilter::default()
    };
    let id = room.store.list_entries(&filter).await.unwrap().rows[0].id;
    room.world
        .will_read([Article::Wait(at(7)), text("one\ntwo")]);
    let busy = room.sources.read_full_text(id).await.unwrap_err();
    assert_eq!(busy.to_string(), "its host is busy; try again in 7 s");
    let read = room.sources.read_full_text(id).await.unwrap();
    assert_eq!(read.found.content.as_deref(), Some("<p>one</p><p>two</p>"));
    assert_eq!(read.revision, 1);
    let unknown = room.sources.read_full_text(999).await.unwrap_err();
    assert_eq!(unknown.to_string(), "there is no entry 999");
}
