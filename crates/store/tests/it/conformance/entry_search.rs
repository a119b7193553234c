//! Entries found by words and by categories; whole texts; both databases answer the same (SS-24).

use std::sync::Arc;

use almanack_core::{
    source::{
        Source, SourceId,
        category::folder,
        entry::{Entry, FoundEntry, key_hash},
        search::{Query, words_of},
    },
    store::{EntryFilter, EntryRetention, SourceFilter, Store, UnreadEntry, Written},
};
use almanack_testkit::fixture::{at, next_look, source};
use jiff::Timestamp;

use super::{entries_of, followed, looked, source_of};

/// A source in a category.
async fn in_category(store: &dyn Store, name: &str, category: &str) -> SourceId {
    let mut new: Source = source(name);
    category.clone_into(&mut new.definition.category);
    followed(store, new).await.id
}

fn entry(title: &str) -> FoundEntry {
    FoundEntry {
        link: Some(format!("https://site.example/{}", key_hash(title))),
        title: title.to_owned(),
        ..FoundEntry::default()
    }
}

/// A look at `now` that finds these; its document shows something else by now.
async fn finds(store: &dyn Store, id: SourceId, now: Timestamp, found: Vec<FoundEntry>) {
    let seen = source_of(store, id).await;
    let mut write = next_look(&seen, now, |after| {
        after.memory.shown = vec![key_hash("id:elsewhere")];
    });
    let keyed = |found: FoundEntry| (found.key().unwrap(), found);
    write.entries = found.into_iter().map(keyed).collect();
    assert_eq!(looked(store, write).await, Written::Done);
}

fn search(text: &str) -> EntryFilter {
    EntryFilter {
        search: Query::parse(text),
        limit: 2,
        ..EntryFilter::default()
    }
}

/// Everything that a filter lists, by pages.
async fn all(store: &dyn Store, filter: &EntryFilter) -> Vec<Entry> {
    let mut filter = filter.clone();
    let mut found = Vec::new();
    loop {
        let page = store.list_entries(&filter).await.unwrap();
        assert!(page.rows.len() <= filter.limit);
        found.extend(page.rows);
        filter.before = page.next;
        if filter.before.is_none() {
            return found;
        }
    }
}

async fn titles(store: &dyn Store, filter: &EntryFilter) -> Vec<String> {
    let found = all(store, filter).await.into_iter();
    found.map(|entry| entry.found.title).collect()
}

/// What is typed finds what it says, newest first, in pages of any size.
pub(crate) async fn ss_24_a_search_finds_words_phrases_and_what_is_without(store: Arc<dyn Store>) {
    let id = followed(&*store, source("a")).await.id;
    let all = [
        "The night ferry to Calais",
        "A day ferry, a NIGHT train",
        "渡轮今日停航",
        "Übung macht den Meister",
        "Прибытие поезда в 22:15",
        "Nothing at all",
        "night ferry again, no. 1e5",
    ];
    for (n, title) in (0..).zip(all) {
        finds(&*store, id, at(n), vec![entry(title)]).await;
    }
    for (query, expected) in [
        ("ferry", &[6, 1, 0][..]),
        ("FERRY night", &[6, 1, 0]),
        ("\"night ferry\"", &[6, 0]),
        ("ferry -calais", &[6, 1]),
        ("ferry -\"night ferry\"", &[1]),
        ("ferr", &[]),
        ("停航", &[2]),
        ("今", &[2]),
        ("航", &[2]),
        ("渡轮停航", &[]),
        ("übung", &[3]),
        ("поезда \"22:15\"", &[4]),
        ("15 22", &[4]),
        ("1e5", &[6]),
        ("-ferry", &[]),
        ("!?", &[]),
        ("it's 100% \"; drop table entry; --", &[]),
        ("ferry OR NOT NEAR( * : ^ & | ' \\", &[]),
        ("ferry * ( \" & | ! :* '", &[6, 1, 0]),
    ] {
        let expected: Vec<&str> = expected.iter().map(|at| all[*at]).collect();
        for limit in [1, 2, 100] {
            let filter = EntryFilter {
                limit,
                ..search(query)
            };
            assert_eq!(
                titles(&*store, &filter).await,
                expected,
                "{query} by {limit}"
            );
        }
    }
}

/// With a source, a category and a time; nothing typed is no search.
pub(crate) async fn ss_24_a_search_is_narrowed(store: Arc<dyn Store>) {
    let coast = in_category(&*store, "a", "news/coast").await;
    let papers = in_category(&*store, "b", "newspapers").await;
    for n in 0..3 {
        finds(
            &*store,
            coast,
            at(10 * n),
            vec![entry(&format!("ferry c{n}"))],
        )
        .await;
        finds(
            &*store,
            papers,
            at(10 * n),
            vec![entry(&format!("ferry p{n}"))],
        )
        .await;
    }
    let base = search("ferry");
    let of = |id| EntryFilter {
        source: Some(id),
        ..base.clone()
    };
    let within = |text: &str| EntryFilter {
        category: folder(text),
        ..base.clone()
    };
    let rows: [(EntryFilter, &[&str]); 6] = [
        (of(papers), &["ferry p2", "ferry p1", "ferry p0"]),
        (within("news"), &["ferry c2", "ferry c1", "ferry c0"]),
        (
            within("/news/coast/"),
            &["ferry c2", "ferry c1", "ferry c0"],
        ),
        (within("new"), &[]),
        (
            EntryFilter {
                seen_from: Some(at(20)),
                ..base.clone()
            },
            &["ferry p2", "ferry c2"],
        ),
        (
            EntryFilter {
                seen_from: Some(at(99)),
                ..within("news")
            },
            &[],
        ),
    ];
    for (filter, expected) in rows {
        assert_eq!(titles(&*store, &filter).await, expected, "{filter:?}");
    }
    assert_eq!(Query::parse(" "), None);
}

/// A page walks so far and says where to go on; what is rare is found however far down it is.
pub(crate) async fn ss_24_a_search_examines_so_many_and_goes_on(store: Arc<dyn Store>) {
    let id = followed(&*store, source("a")).await.id;
    finds(&*store, id, at(0), vec![entry("rare ferry one two")]).await;
    for n in 1..70 {
        finds(&*store, id, at(n), vec![entry(&format!("two one {n}"))]).await;
    }
    let few = |text: &str| EntryFilter {
        among: Some(1),
        ..search(text)
    };
    assert_eq!(titles(&*store, &few("rare")).await, ["rare ferry one two"]);
    // Every row has both words, but in the other order.
    let first = store.list_entries(&few("\"one two\"")).await.unwrap();
    assert_eq!(first.rows, []);
    assert!(first.next.is_some(), "there is more to examine");
    let found = titles(&*store, &few("\"one two\"")).await;
    assert_eq!(found, ["rare ferry one two"]);
}

/// What is deleted is found no more: by retention, with its source, and when it comes again.
pub(crate) async fn ss_24_what_is_deleted_is_found_no_more(store: Arc<dyn Store>) {
    let a = followed(&*store, source("a")).await.id;
    let b = followed(&*store, source("b")).await.id;
    finds(
        &*store,
        a,
        at(1),
        vec![entry("ferry one"), entry("ferry two")],
    )
    .await;
    finds(&*store, b, at(2), vec![entry("ferry three")]).await;
    let retention = EntryRetention {
        seen_before: None,
        per_source: 1,
    };
    let pruned = store.prune_entries(retention, SourceId(0), 9).await;
    assert_eq!(pruned.unwrap().rows, 1);
    assert_eq!(
        titles(&*store, &search("ferry")).await,
        ["ferry three", "ferry two"]
    );
    assert!(store.remove_source(b).await.unwrap());
    assert_eq!(titles(&*store, &search("ferry")).await, ["ferry two"]);
    assert_eq!(titles(&*store, &search("three")).await, [""; 0]);
}

/// Whole texts: asked for once, kept with their words, without a revision.
pub(crate) async fn ss_24_a_full_text_is_kept_and_found(store: Arc<dyn Store>) {
    let id = followed(&*store, source("a")).await.id;
    let linkless = FoundEntry {
        link: None,
        ..entry("linkless")
    };
    finds(&*store, id, at(1), vec![entry("old")]).await;
    finds(
        &*store,
        id,
        at(9),
        vec![entry("one"), linkless, entry("two")],
    )
    .await;
    let unread = |limit| store.load_unread_entries(id, at(5), limit);
    let first = unread(9).await.unwrap();
    let rows = entries_of(&*store, id).await;
    let expected = [&rows[0], &rows[2]].map(|row| UnreadEntry {
        id: row.id,
        link: row.found.link.clone().unwrap(),
    });
    assert_eq!(first, expected, "newest first, with links, since then");
    assert_eq!(unread(1).await.unwrap(), expected[..1]);
    let text = Some("<p>The ferry sails".to_owned());
    store
        .save_full_text(first[0].id, text.clone(), at(10))
        .await
        .unwrap();
    store
        .save_full_text(first[1].id, None, at(10))
        .await
        .unwrap();
    store
        .save_full_text(9_999, text.clone(), at(10))
        .await
        .unwrap();
    assert_eq!(unread(9).await.unwrap(), []);
    let read = store.load_entry(first[0].id).await.unwrap().unwrap();
    assert_eq!(
        (read.found.content, read.revision, read.updated_at),
        (text, 1, None)
    );
    let failed = store.load_entry(first[1].id).await.unwrap().unwrap();
    assert_eq!(failed, rows[2], "a failure leaves an entry as it is");
    assert_eq!(store.load_entry(9_999).await.unwrap(), None);
    assert_eq!(titles(&*store, &search("sails")).await, ["two"]);
    assert_eq!(titles(&*store, &search("two")).await, ["two"], "once");
    assert_eq!(store.index_entries(9).await.unwrap(), 0, "all have words");
    assert!(words_of(&failed.found).contains("one"));
}

/// Lists by category: the folder and what is below it, however many others there are.
pub(crate) async fn ss_24_categories_filter_sources_and_entries(store: Arc<dyn Store>) {
    let categories = [
        "",
        "news",
        "news/coast",
        "newsletters",
        "新闻/本地",
        "a%_b",
        "News",
    ];
    for (n, category) in (0..).zip(categories) {
        let id = in_category(&*store, &format!("s{n}"), category).await;
        finds(&*store, id, at(n), vec![entry(category)]).await;
    }
    for (asked, expected) in [
        ("news", &["news", "news/coast"][..]),
        ("news/coast", &["news/coast"]),
        ("新闻", &["新闻/本地"]),
        ("a%_b", &["a%_b"]),
        ("a%", &[]),
        ("n", &[]),
        ("'", &[]),
    ] {
        let category = folder(asked);
        for limit in [1, 100] {
            let filter = EntryFilter {
                category: category.clone(),
                among: Some(2),
                limit,
                ..EntryFilter::default()
            };
            let mut entries = titles(&*store, &filter).await;
            entries.reverse();
            assert_eq!(entries, expected, "entries in {asked}");
        }
        let filter = SourceFilter {
            category: category.clone(),
            limit: 100,
            ..SourceFilter::default()
        };
        let sources = store.list_sources(&filter).await.unwrap().rows.into_iter();
        let sources: Vec<String> = sources.map(|source| source.definition.category).collect();
        assert_eq!(sources, expected, "sources in {asked}");
    }
    let of_one = |text: &str| EntryFilter {
        source: Some(SourceId(3)),
        category: folder(text),
        limit: 9,
        ..EntryFilter::default()
    };
    assert_eq!(titles(&*store, &of_one("news")).await, ["news/coast"]);
    assert_eq!(titles(&*store, &of_one("newsletters")).await, [""; 0]);
}

/// One entry, as an earlier version wrote it once `forget` took its words away: found again after
/// all words were written, a few at a time.
pub(crate) async fn check_wordless(store: &dyn Store, forget: impl AsyncFnOnce(&'static str)) {
    let id = followed(store, source("a")).await.id;
    let entries = ["ferry one", "ferry two", "ferry three"].map(entry);
    finds(store, id, at(1), entries.to_vec()).await;
    forget("update entry set words = null").await;
    assert_eq!(titles(store, &search("ferry")).await, [""; 0]);
    assert_eq!(store.index_entries(2).await.unwrap(), 2);
    assert_eq!(
        titles(store, &search("ferry")).await,
        ["ferry three", "ferry two"],
        "the newest first"
    );
    assert_eq!(store.index_entries(2).await.unwrap(), 1);
    assert_eq!(store.index_entries(2).await.unwrap(), 0);
    assert_eq!(titles(store, &search("one")).await, ["ferry one"]);
}
