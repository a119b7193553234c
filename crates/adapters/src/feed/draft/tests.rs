use almanack_core::source::{Definition, Source, identity::recognise};

use super::*;

const NOW: Timestamp = Timestamp::constant(1_767_600_000, 0);

fn read(drafts: Vec<Draft>) -> Document {
    read_against(drafts, &Against::nothing(NOW))
}

fn read_against(drafts: Vec<Draft>, against: &Against) -> Document {
    let base = Url::parse("https://site.example/blog/").unwrap();
    document(None, drafts, &base, against)
}

fn draft(id: &str, day: Option<i64>) -> Draft {
    Draft {
        id: Some(id.to_owned()),
        published_at: day.map(|day| Timestamp::from_second(1_700_000_000 + day * 86_400).unwrap()),
        ..Draft::default()
    }
}

fn ids(document: &Document) -> Vec<usize> {
    let id = |found: &FoundEntry| found.id.as_deref()?.parse().ok();
    document.entries.iter().filter_map(id).collect()
}

/// Reads no more than so many entries.
fn at_most(entries_max: usize) -> Against {
    Against {
        entries_max,
        ..Against::nothing(NOW)
    }
}

#[test]
fn ss_17_of_too_many_items_the_newest_are_kept_in_the_order_shown() {
    let oldest_first = (0..50_000)
        .map(|at| draft(&at.to_string(), Some(at / 100)))
        .collect();
    let document = read(oldest_first);
    assert_eq!(ids(&document), (48_000..50_000).collect::<Vec<_>>());
    assert_eq!(document.left_out, 48_000);

    let undated: Vec<Draft> = (0..300).map(|at| draft(&at.to_string(), None)).collect();
    let document = read_against(undated.clone(), &at_most(300));
    assert_eq!((ids(&document).len(), document.left_out), (300, 0));
    let document = read_against(undated, &at_most(201));
    let both_ends: Vec<usize> = (0..101).chain(200..300).collect();
    assert_eq!(ids(&document), both_ends);
    assert_eq!(document.left_out, 99);

    let half_dated = (0..300)
        .map(|at| draft(&at.to_string(), (at % 2 == 0).then_some(at)))
        .collect();
    let document = read_against(half_dated, &at_most(200));
    assert_eq!(ids(&document), (100..300).collect::<Vec<_>>());
}

/// What the source's row would remember of a document.
fn remembered(document: &Document) -> Against {
    let mut source = Source::new(Definition::default(), NOW);
    let recognised = recognise(&source, document, &[], NOW);
    source.memory.shown = recognised.remembered.shown;
    source.memory.prints = recognised.remembered.prints;
    Against {
        known: Arc::new(Known::of(&source.memory)),
        ..Against::nothing(NOW)
    }
}

#[test]
fn ss_17_only_what_is_unfamiliar_or_edited_is_cleaned() {
    let described = |id: usize, words: &str| Draft {
        summary: Some(Markup::Html(format!("<p>{words}"))),
        ..draft(&id.to_string(), Some(1))
    };
    let first = read((0..3000).map(|id| described(id, "x")).collect());
    assert_eq!(first.entries.len(), 2000);
    let against = remembered(&first);
    let mut again: Vec<Draft> = (0..1500).map(|id| described(id, "x")).collect();
    again[7] = described(7, "other");
    again.push(described(9999, "x"));
    let second = read_against(again, &against);
    assert_eq!(ids(&second), [7, 9999]);
    assert_eq!(second.familiar.len(), 1499);
    assert_eq!(second.entries[0].summary.as_deref(), Some("<p>other</p>"));
    assert!(second.familiar.iter().all(|it| it.published_at.is_some()));

    let all_edited = (0..1500).map(|id| described(id, "y")).collect();
    let edited = read_against(all_edited, &against);
    assert_eq!(edited.entries.len(), EDITS_MAX, "so many at once");
    assert_eq!(edited.familiar.len(), 1500 - EDITS_MAX);
}

#[test]
fn ss_18_items_that_share_an_id_are_kept_and_useless_ids_dropped() {
    let item = |id: &str, link: &str| Draft {
        link: Some(link.to_owned()),
        ..draft(id, None)
    };
    let keys = |document: &Document| -> Vec<String> {
        let keys = document.entries.iter().filter_map(FoundEntry::key);
        keys.collect()
    };
    let shown = || {
        vec![
            item("0", "/a"),
            item("0", "/b"),
            item("c", "/c"),
            item("c", "/c"),
        ]
    };
    let document = read(shown());
    let expected = [
        "link:https://site.example/a",
        "link:https://site.example/b",
        "id:c",
    ];
    assert_eq!(
        (keys(&document), document.ids_shared),
        (expected.map(str::to_owned).to_vec(), true)
    );
    let mut memory = Source::new(Definition::default(), NOW).memory;
    memory.publisher.ids_useless = true;
    let against = Against {
        known: Arc::new(Known::of(&memory)),
        ..Against::nothing(NOW)
    };
    let useless = read_against(vec![item("c", "/c"), draft("d", None)], &against);
    assert_eq!(keys(&useless), ["link:https://site.example/c", "id:d"]);
}

#[test]
fn ss_18_an_item_of_words_alone_is_known_by_them() {
    let words = |words: &str| Draft {
        summary: Some(Markup::Html(words.to_owned())),
        ..Draft::default()
    };
    let document = read(vec![words("<p>one"), words("two"), words("one")]);
    assert_eq!(document.entries.len(), 2);
    assert!(document.entries[0].key().unwrap().starts_with("words:"));
}

#[test]
fn ss_12_duplicate_ids_are_one_entry() {
    let document = read(vec![
        draft("1", Some(2)),
        draft("2", None),
        draft(" 1 ", Some(1)),
    ]);
    assert_eq!(ids(&document), [1, 2]);
    assert_eq!(document.left_out, 0, "they are not more entries");
    let nameless = Draft {
        summary: Some(Markup::Html("<img src=x>".to_owned())),
        ..Draft::default()
    };
    assert_eq!(
        read(vec![nameless]).entries,
        [],
        "could not be recognised again"
    );
}

#[test]
fn entries_keep_to_their_limits() {
    let long = "é".repeat(100_000);
    let draft = |tail: &str| Draft {
        id: Some(format!("{long}{tail}")),
        link: Some(format!("https://site.example/{long}")),
        title: long.clone(),
        author: Some(long.clone()),
        summary: Some(Markup::Html(long.clone())),
        content: Some(Markup::Text(long.clone())),
        ..Draft::default()
    };
    let document = read(vec![draft("1"), draft("2")]);
    assert_eq!(document.entries.len(), 2, "distinguished by their ends");
    let found = &document.entries[0];
    assert!(found.id.as_deref().unwrap().len() <= ID_BYTES_MAX);
    assert_eq!(found.link, None, "a cut link leads elsewhere");
    assert_eq!(found.title.len(), TITLE_BYTES_MAX);
    assert_eq!(found.author.as_deref().unwrap().len(), AUTHOR_BYTES_MAX);
    assert_eq!(found.summary.as_deref().unwrap().len(), SUMMARY_BYTES_MAX);
    assert_eq!(found.content.as_deref().unwrap().len(), CONTENT_BYTES_MAX);
}

#[test]
fn ss_13_links_are_absolute_and_an_id_may_be_one() {
    for (id, link, expected, why) in [
        (
            "x",
            "/a?utm_source=y#top",
            Some("https://site.example/a"),
            "canonical",
        ),
        ("x", "b", Some("https://site.example/blog/b"), "relative"),
        ("x", " ", None, "none, though it could be joined"),
        (
            "https://site.example/p",
            "mailto:a@b",
            Some("https://site.example/p"),
            "the id",
        ),
        ("tag:x", "javascript:alert(1)", None, "neither"),
    ] {
        let draft = Draft {
            id: Some(id.to_owned()),
            link: Some(link.to_owned()),
            ..Draft::default()
        };
        let document = read(vec![draft]);
        assert_eq!(document.entries[0].link.as_deref(), expected, "{why}");
    }
}

#[test]
fn ss_13_a_time_that_cannot_be_believed_is_none() {
    let document = read(vec![draft("1", Some(10_000)), draft("2", Some(-10_000))]);
    let times: Vec<_> = document
        .entries
        .iter()
        .map(|found| found.published_at)
        .collect();
    assert_eq!(times[0], None, "in the year 2051");
    assert!(times[1].is_some(), "in 1996");
}
