//! Collected entries as a source of stories, on both databases.

use std::sync::Arc;

use almanack_core::{
    budget::Budget,
    edition::{
        port::{StorySource, Wanted},
        selection::{Selection, Topics},
        story::{Listed, StoryKey},
        weight::Weights,
    },
    source::{Definition, Source, SourceId, entry::FoundEntry, filter::Filters},
    store::{Added, SourceWrite, Store, Written},
};
use almanack_engine::editions::entries::{DAY, EntryStories};
use almanack_testkit::fixture::START;
use jiff::{SignedDuration, Timestamp, civil::date};

use crate::fixture::{Fixture, on_both};

on_both!(
    ed_33_entries_of_the_last_day_make_an_edition_in_turns,
    ed_33_a_past_day_is_found_among_what_came_since,
    ed_33_texts_come_along_where_they_are_whole,
    ed_33_no_entries_are_no_stories,
    ss_24_an_edition_may_be_of_one_category,
    ed_33_an_edition_has_rules_topics_and_weights_of_its_own,
);

fn hours(hours: i64) -> SignedDuration {
    SignedDuration::from_hours(hours)
}

/// Lists the stories of today, or of the day that ended so long ago.
fn wanted(limit: usize, ended: Option<SignedDuration>) -> Wanted {
    let day_end = START - ended.unwrap_or_default();
    Wanted {
        date: date(2026, 1, 5),
        is_today: ended.is_none(),
        day_start: day_end - hours(24),
        day_end,
        now: START,
        limit,
    }
}

/// A source at this address.
async fn source(store: &dyn Store, address: &str) -> SourceId {
    named_source(store, address, "").await
}

/// The same of a name.
async fn named_source(store: &dyn Store, address: &str, name: &str) -> SourceId {
    let definition = Definition {
        name: name.to_owned(),
        address: address.to_owned(),
        ..Definition::default()
    };
    let source = Source::new(definition, START - hours(1000));
    let added = store.add_sources(vec![source]).await.unwrap();
    let new = |added: &Added| match added {
        Added::New(id) => Some(*id),
        Added::Exists(_) => None,
    };
    added.iter().find_map(new).unwrap()
}

/// A look at a source that found these titles.
async fn look(store: &dyn Store, id: SourceId, at: Timestamp, titles: &[String]) {
    let found = titles.iter().map(|title| FoundEntry {
        link: Some(format!("https://site.example/{title}")),
        title: title.clone(),
        ..FoundEntry::default()
    });
    find(store, id, at, found.collect()).await;
}

async fn find(store: &dyn Store, id: SourceId, at: Timestamp, found: Vec<FoundEntry>) {
    let source = store.load_sources(&[id]).await.unwrap().remove(0).unwrap();
    let keyed = |found: FoundEntry| (found.key().unwrap(), found);
    let write = SourceWrite {
        event_tasks: Vec::new(),
        source,
        entries: found.into_iter().map(keyed).collect(),
        edited: Vec::new(),
        at,
    };
    let written = store.write_sources(vec![write]).await.unwrap();
    assert_eq!(written, [Written::Done]);
}

/// What is listed; listing sends no request.
async fn listed(store: &Arc<dyn Store>, wanted: &Wanted) -> Vec<Listed> {
    listed_in(store, wanted, None).await
}

/// All entries of the last day.
fn entries(store: &Arc<dyn Store>) -> EntryStories {
    EntryStories {
        store: Arc::clone(store),
        category: None,
        sources: Vec::new(),
        tags: Vec::new(),
        window: DAY,
        selection: Arc::default(),
    }
}

/// The same of sources in a folder.
async fn listed_in(
    store: &Arc<dyn Store>,
    wanted: &Wanted,
    category: Option<String>,
) -> Vec<Listed> {
    let stories = EntryStories {
        category,
        ..entries(store)
    };
    let budget = Budget::new(0);
    let listed = stories.list(wanted, &budget).await.unwrap();
    let key = StoryKey("entry:1".to_owned());
    let said = stories.comments(&key, &budget).await.unwrap();
    assert_eq!(said, [], "entries have no comments");
    listed
}

fn titles(listed: &[Listed]) -> Vec<&str> {
    listed.iter().map(|story| story.title.as_str()).collect()
}

fn named(name: &str, numbers: std::ops::RangeInclusive<u32>) -> Vec<String> {
    numbers.map(|number| format!("{name}{number}")).collect()
}

async fn ed_33_entries_of_the_last_day_make_an_edition_in_turns(fixture: Fixture) {
    let store = fixture.store.as_ref();
    let busy = source(store, "https://busy.example/").await;
    let quiet = source(store, "https://quiet.example/").await;
    let old = source(store, "https://old.example/").await;
    look(store, old, START - hours(25), &named("old", 1..=3)).await;
    look(store, quiet, START - hours(20), &named("quiet", 1..=1)).await;
    look(store, busy, START - hours(9), &named("busy", 1..=3)).await;
    look(store, quiet, START, &named("later", 1..=1)).await;
    let found = listed(&fixture.store, &wanted(3, None)).await;
    assert_eq!(titles(&found), ["busy3", "quiet1", "busy2"]);
    let first = Listed {
        url: "https://site.example/busy3".to_owned(),
        title: "busy3".to_owned(),
        published_at: Some(START - hours(9)),
        key: found[0].key.clone(),
        ..Listed::default()
    };
    assert_eq!(found[0], first);
    assert!(first.key.0.starts_with("entry:"), "{}", first.key);
}

async fn ed_33_a_past_day_is_found_among_what_came_since(fixture: Fixture) {
    let store = fixture.store.as_ref();
    let busy = source(store, "https://busy.example/").await;
    let other = source(store, "https://other.example/").await;
    for day in (0..=9_i64).rev() {
        // More than a page a day, and looks out of order, as two nodes write them.
        let at = START - hours(24 * day) - hours(12);
        look(store, busy, at, &named(&format!("d{day}-a"), 1..=150)).await;
        let earlier = at - SignedDuration::from_mins(20);
        look(store, other, earlier, &named(&format!("d{day}-b"), 1..=150)).await;
    }
    for day in [9, 4, 1] {
        let found = listed(&fixture.store, &wanted(400, Some(hours(24 * day)))).await;
        assert_eq!(found.len(), 300, "all of day {day}, and no other");
        let of_day = format!("d{day}-");
        assert!(
            titles(&found)
                .iter()
                .all(|title| title.starts_with(&of_day))
        );
    }
    let nothing = listed(&fixture.store, &wanted(10, Some(hours(24 * 20)))).await;
    assert_eq!(nothing, [], "a day before everything");
}

async fn ed_33_texts_come_along_where_they_are_whole(fixture: Fixture) {
    let store = fixture.store.as_ref();
    let id = source(store, "https://site.example/feed").await;
    let found = |title: &str, content: String| FoundEntry {
        link: Some(format!("https://site.example/{title}")),
        title: title.to_owned(),
        content: Some(content),
        ..FoundEntry::default()
    };
    let whole = "<p>one &amp; two</p>".repeat(100);
    let entries = vec![
        found("whole", whole),
        found("teaser", "<p>more…".to_owned()),
    ];
    find(store, id, START - hours(1), entries).await;
    let listed = listed(&fixture.store, &wanted(10, None)).await;
    assert_eq!(titles(&listed), ["teaser", "whole"]);
    assert_eq!(listed[0].text, None);
    let text = listed[1].text.as_deref().unwrap();
    assert!(text.starts_with("one & two\none & two\n"), "{text}");
}

async fn ed_33_no_entries_are_no_stories(fixture: Fixture) {
    for ended in [None, Some(hours(24))] {
        assert_eq!(listed(&fixture.store, &wanted(10, ended)).await, []);
    }
}

async fn ss_24_an_edition_may_be_of_one_category(fixture: Fixture) {
    let store = fixture.store.as_ref();
    for (address, category) in [
        ("https://coast.example/", "news/coast"),
        ("https://letters.example/", "newsletters"),
    ] {
        let id = source(store, address).await;
        let mut row = store.load_sources(&[id]).await.unwrap().remove(0).unwrap();
        category.clone_into(&mut row.definition.category);
        let write = SourceWrite {
            event_tasks: Vec::new(),
            source: row,
            entries: Vec::new(),
            edited: Vec::new(),
            at: START - hours(9),
        };
        store.write_sources(vec![write]).await.unwrap();
        look(store, id, START - hours(1), &named(category, 1..=2)).await;
    }
    let within = |folder: &str| Some(folder.to_owned());
    let found = listed_in(&fixture.store, &wanted(9, None), within("news")).await;
    assert_eq!(titles(&found), ["news/coast2", "news/coast1"]);
    let past = wanted(9, Some(SignedDuration::ZERO));
    let found = listed_in(&fixture.store, &past, within("news")).await;
    assert_eq!(found.len(), 2, "a past day, too");
    let nothing = listed_in(&fixture.store, &wanted(9, None), within("new")).await;
    assert_eq!(nothing, []);
}

/// Rules see all that publishers said of an entry; names of sources come along.
async fn ed_33_an_edition_has_rules_topics_and_weights_of_its_own(fixture: Fixture) {
    let store = fixture.store.as_ref();
    let blog = named_source(store, "https://blog.example/", "A blog").await;
    let news = named_source(store, "https://news.example/", "News").await;
    look(store, blog, START - hours(9), &named("blog", 1..=3)).await;
    look(store, news, START - hours(8), &named("news", 1..=3)).await;
    let tagged = FoundEntry {
        link: Some("https://site.example/tagged".to_owned()),
        title: "tagged".to_owned(),
        categories: vec!["Sponsored".to_owned()],
        ..FoundEntry::default()
    };
    find(store, news, START - hours(7), vec![tagged]).await;
    let selection = Selection {
        rules: Filters::parse(&["block category is sponsored"]).unwrap(),
        topics: Topics::parse(&["Blogs: title contains blog"]).unwrap(),
        weights: Weights::parse(&["A blog=3"]).unwrap(),
    };
    let stories = EntryStories {
        selection: Arc::new(selection),
        ..entries(&fixture.store)
    };
    let found = stories
        .list(&wanted(4, None), &Budget::new(0))
        .await
        .unwrap();
    assert_eq!(titles(&found), ["blog3", "blog2", "news3", "blog1"]);
    let about = |place: usize| {
        let listed: &Listed = &found[place];
        (listed.source_name.as_deref(), listed.topic.as_deref())
    };
    assert_eq!(about(0), (Some("A blog"), Some("Blogs")));
    assert_eq!(about(2), (Some("News"), None));
    let plain = listed(&fixture.store, &wanted(3, None)).await;
    assert_eq!(titles(&plain), ["tagged", "blog3", "news3"], "without any");
}
