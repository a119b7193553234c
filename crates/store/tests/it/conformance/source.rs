//! Adding, finding and removing sources; every value survives.

use std::sync::Arc;

use almanack_core::{
    source::{
        Attention, Memory, Moving, Source, SourceId, State, Stats,
        check::{FailureClass, Validators},
        entry::LINK_BYTES_MAX,
        hints::Hints,
        hub::Hub,
        options::{Fetch, Options, Publisher},
        policy::cadence::{Cadence, Frequency},
        reading::{HtmlRules, JsonRules, Reading, SitemapRules},
        recent::{CheckOutcome, PastLook},
    },
    store::{Added, Error, Store, Written},
    time::LATEST,
};
use almanack_testkit::fixture::{START, at, found, next_look, source};
use jiff::{SignedDuration, Timestamp};

use super::{entries_of, followed, looked, source_of};

/// Numbers are given, the version is 1, and what was added is what is read.
pub(crate) async fn ss_01_a_new_source_is_due_at_once(store: Arc<dyn Store>) {
    let new = source("a");
    let read = followed(&*store, new.clone()).await;
    let expected = Source {
        id: read.id,
        version: 1,
        ..new
    };
    assert_eq!(read, expected);
    let due = store.load_due_sources(None, START, 9).await.unwrap();
    assert_eq!(due, [read]);
}

/// In one batch and across: the first of an address is it, and answers come where they were asked
/// for.
pub(crate) async fn a_taken_address_names_who_has_it(store: Arc<dyn Store>) {
    let kept = followed(&*store, source("b")).await;
    let requests = ["c", "b", "a", "c", "b"].map(|name| Source {
        reason: Some("again".to_owned().into()),
        ..source(name)
    });
    let added = store.add_sources(requests.to_vec()).await.unwrap();
    let [
        Added::New(c),
        Added::Exists(b),
        Added::New(a),
        Added::Exists(c_again),
        _,
    ] = added[..]
    else {
        panic!("{added:?}");
    };
    assert_eq!((c, b), (c_again, kept.id));
    assert_eq!(added[4], Added::Exists(b));
    assert!(c < a, "numbers rise in the order given");
    assert_eq!(source_of(&*store, b).await, kept, "left unchanged");
    assert_eq!(source_of(&*store, a).await.definition.name, "a");
}

/// However many import one list at once, in whatever order, each address is one source.
pub(crate) async fn of_many_who_add_an_address_one_does(store: Arc<dyn Store>) {
    let names: Vec<String> = (0..20).map(|n| format!("s{n}")).collect();
    let mut importers = Vec::new();
    for turn in 0..6 {
        let mut list: Vec<Source> = names.iter().map(|name| source(name)).collect();
        list.rotate_left(turn * 3);
        if turn % 2 == 0 {
            list.reverse();
        }
        let store = Arc::clone(&store);
        importers.push(tokio::spawn(async move { store.add_sources(list).await }));
    }
    let mut new = 0;
    for importer in importers {
        let added = importer.await.expect("an importer").expect("add_sources");
        assert_eq!(added.len(), names.len());
        new += added.iter().filter(|a| matches!(a, Added::New(_))).count();
    }
    assert_eq!(new, names.len());
}

/// In the order asked, also for numbers that are unknown or asked for twice.
pub(crate) async fn sources_come_in_the_order_asked(store: Arc<dyn Store>) {
    let a = followed(&*store, source("a")).await;
    let b = followed(&*store, source("b")).await;
    let ids = [b.id, SourceId(999), a.id, b.id];
    let loaded = store.load_sources(&ids).await.unwrap();
    let expected = [Some(b.clone()), None, Some(a.clone()), Some(b.clone())];
    assert_eq!(loaded, expected);
    assert_eq!(store.load_sources(&[]).await.unwrap(), []);
    assert_eq!(store.add_sources(Vec::new()).await.unwrap(), []);
    let address = &b.definition.address;
    assert_eq!(
        store.load_source_at(address).await.unwrap(),
        Some(b.clone())
    );
    let other = address.to_uppercase();
    assert_eq!(store.load_source_at(&other).await.unwrap(), None);
}

/// Those of the file and no others, by number; also beside texts that look like its mark.
pub(crate) async fn ss_21_sources_of_the_file_are_found(store: Arc<dyn Store>) {
    let mut ids = Vec::new();
    for (name, from_file) in [("a", true), ("b", false), ("c", true), ("d", true)] {
        let mut new = source(name);
        new.definition.options.from_file = from_file;
        new.definition.options.filters = vec!["block title is \"from_file\":true".to_owned()];
        let read = followed(&*store, new.clone()).await;
        assert_eq!(read.definition, new.definition, "options survive");
        ids.push(read.id);
    }
    let load = |after, limit| {
        let store = Arc::clone(&store);
        async move {
            let found = store.load_file_sources(after, limit).await.unwrap();
            found.into_iter().map(|it| it.id).collect::<Vec<_>>()
        }
    };
    assert_eq!(load(SourceId(0), 9).await, [ids[0], ids[2], ids[3]]);
    assert_eq!(load(SourceId(0), 2).await, [ids[0], ids[2]]);
    assert_eq!(load(ids[2], 9).await, [ids[3]]);
}

/// Gone with its entries, and its number is never another's: its task names it by that.
pub(crate) async fn a_removed_source_takes_its_entries_with_it(store: Arc<dyn Store>) {
    let a = followed(&*store, source("a")).await;
    let b = followed(&*store, source("b")).await;
    for kept in [&a, &b] {
        let mut write = next_look(kept, at(1), |_| ());
        write.entries = vec![found("1", None), found("2", None)];
        assert_eq!(looked(&*store, write).await, Written::Done);
    }
    let seen = source_of(&*store, b.id).await;
    assert!(store.remove_source(b.id).await.unwrap());
    assert!(!store.remove_source(b.id).await.unwrap());
    assert_eq!(store.load_sources(&[b.id]).await.unwrap(), [None]);
    assert_eq!(entries_of(&*store, b.id).await, []);
    assert_eq!(entries_of(&*store, a.id).await.len(), 2);
    let mut late = next_look(&seen, at(2), |_| ());
    late.entries = vec![found("3", None)];
    assert_eq!(looked(&*store, late).await, Written::Lost);
    assert_eq!(entries_of(&*store, b.id).await, []);
    let again = followed(&*store, source("b")).await;
    assert!(again.id > b.id);
}

fn publisher(odd: Timestamp) -> Publisher {
    Publisher {
        clock_ahead_s: Some(-28_800),
        ids_changed: 1,
        left_out: 7,
        ids_useless: true,
        hub: Some(Hub {
            hub: "https://hub.example/'".to_owned(),
            leased_until: Some(odd),
            ..Hub::default()
        }),
        ..Publisher::default()
    }
}

/// A source that has all there is to have.
fn full() -> Source {
    let odd = at(0) + SignedDuration::from_micros(123_457);
    let mut full = source("满 'n\" \\ %_ 🦀");
    "News/世界".clone_into(&mut full.definition.category);
    full.definition.policy = Some("fixed:1h".to_owned());
    full.definition.cadence = Some(Cadence::P7);
    full.definition.options = Options {
        fetch: Fetch {
            bearer: Some("env:SOURCE_TOKEN".to_owned()),
            ..Fetch::default()
        },
        filters: vec!["block title contains \"广告\"".to_owned()],
        full_text: true,
        ..Options::default()
    };
    full.attention = Some(Attention::Credentials);
    full.stats = Stats {
        frequency_type: Some(Frequency::DailyFixed),
        cadence: Some(Cadence::P3),
        avg_publish_hour: Some(0.1 + 0.2),
        std_publish_hour: Some(6.0),
        next_due_at: Some(odd),
        last_check_at: Some(LATEST),
        last_article_at: Some("1970-01-01T00:00:00.000001Z".parse().unwrap()),
        fail_count: 7,
        backoff_until: Some(odd),
        last_error: Some("403: \"не для нас\"".to_owned()),
        last_error_class: Some(FailureClass::Forbidden),
        check_count: u64::try_from(i64::MAX).unwrap(),
        hit_count: 3,
    };
    full.memory = Memory {
        validators: Validators {
            etag: Some("W/\"a'b\"".to_owned()),
            last_modified: Some("Mon, 05 Jan 2026 08:00:00 GMT".to_owned()),
        },
        hints: Hints {
            fresh_for: Some(60),
            every: Some(u32::MAX),
            skip_hours: 5,
            skip_days: 1,
        },
        moving: Some(Moving {
            address: "https://elsewhere.example/".to_owned(),
            times: 2,
        }),
        shown: vec![0, 1, u64::MAX, 0x8000_0000_0000_0000],
        prints: vec![0, 1, u32::MAX],
        publisher: publisher(odd),
        pruned_before: Some(odd),
    };
    for took_ms in 0..30 {
        full.recent.add(PastLook {
            at: odd,
            took_ms,
            outcome: CheckOutcome::New(200),
        });
    }
    full.learned = (0..=255).chain(0..=255).collect();
    full.reason = Some(almanack_core::both!("every Monday", "每周一"));
    full.updated_at = at(5);
    full
}

/// Every column with a value and without, when added and when written.
pub(crate) async fn ss_01_every_column_survives(store: Arc<dyn Store>) {
    let mut kept = followed(&*store, full()).await;
    assert_eq!(
        kept,
        Source {
            id: kept.id,
            version: 1,
            ..full()
        }
    );
    let bare = next_look(&kept, at(6), |after| {
        let definition = after.definition.clone();
        *after = Source {
            id: after.id,
            version: after.version,
            stats: Stats::default(),
            ..Source::new(definition, START)
        };
        after.definition.policy = None;
        after.definition.cadence = None;
    });
    for write in [
        bare,
        next_look(
            &Source {
                id: kept.id,
                version: 2,
                ..full()
            },
            at(7),
            |_| (),
        ),
    ] {
        let expected = Source {
            version: kept.version + 1,
            updated_at: write.at,
            ..write.source.clone()
        };
        assert_eq!(looked(&*store, write).await, Written::Done);
        kept = source_of(&*store, kept.id).await;
        assert_eq!(kept, expected);
    }
}

/// Every state, attention, reading, cadence, frequency and class of failure.
pub(crate) async fn ss_01_every_word_survives(store: Arc<dyn Store>) {
    let html = HtmlRules {
        item: "div > a".to_owned(),
        title: "h2".to_owned(),
        link: Some("a".to_owned()),
        date: None,
        summary: Some("p".to_owned()),
    };
    let json = JsonRules {
        items: "$.items[*]".to_owned(),
        title: "$.title".to_owned(),
        link: None,
        id: Some("$.id".to_owned()),
        date: None,
        summary: None,
    };
    let readings = [
        Reading::Feed,
        Reading::Html(html),
        Reading::Json(json),
        Reading::Sitemap(SitemapRules {
            containing: Some("/blog/".to_owned()),
        }),
    ];
    let since = at(-1);
    let reason = "410: gone".to_owned();
    let note = Some("移库".to_owned());
    let states = [
        State::Paused { since, note },
        State::Paused { since, note: None },
        State::Ended { since, reason },
        State::Active,
    ];
    let mut kept = followed(&*store, source("a")).await;
    for turn in 0..FailureClass::ALL.len() {
        let write = next_look(&kept, at(1), |after| {
            after.definition.reading = readings[turn % readings.len()].clone();
            after.state = states[turn % states.len()].clone();
            after.attention = Attention::ALL.get(turn % 5).copied();
            after.stats.cadence = Cadence::ALL.get(turn % 9).copied();
            after.stats.frequency_type = Frequency::ALL.get(turn % 8).copied();
            after.stats.last_error_class = Some(FailureClass::ALL[turn]);
        });
        let expected = Source {
            version: kept.version + 1,
            ..write.source.clone()
        };
        assert_eq!(looked(&*store, write).await, Written::Done);
        kept = source_of(&*store, kept.id).await;
        assert_eq!(kept, expected);
    }
}

/// A text that a database cannot keep is refused for good or kept whole, and takes no neighbour
/// with it.
pub(crate) async fn a_null_byte_is_refused_or_kept(store: Arc<dyn Store>) {
    let seen = followed(&*store, source("a")).await;
    let write = next_look(&seen, at(1), |after| {
        after.stats.last_error = Some("a\0b".to_owned());
    });
    match store.write_sources(vec![write.clone()]).await {
        Ok(answers) => {
            assert_eq!(answers, [Written::Done]);
            let after = source_of(&*store, seen.id).await;
            assert_eq!(after.stats.last_error, write.source.stats.last_error);
        }
        Err(error) => {
            assert!(matches!(error, Error::Refused { .. }), "{}", error.chain());
            assert_eq!(source_of(&*store, seen.id).await, seen);
        }
    }
    let next = source_of(&*store, seen.id).await;
    let healthy = next_look(&next, at(2), |after| {
        after.reason = Some("b".to_owned().into());
    });
    assert_eq!(looked(&*store, healthy).await, Written::Done);
}

/// The longest address there may be is kept; a longer one is refused, when added and when moved to.
pub(crate) async fn an_address_that_is_too_long_is_refused(store: Arc<dyn Store>) {
    let named = |bytes: usize| {
        let mut long = source("a");
        long.definition.address = format!("https://{}", "é".repeat((bytes - 8) / 2));
        assert_eq!(long.definition.address.len(), bytes);
        long
    };
    let refused = store
        .add_sources(vec![named(LINK_BYTES_MAX + 2), source("b")])
        .await;
    assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
    let b = followed(&*store, source("b")).await;
    followed(&*store, named(LINK_BYTES_MAX)).await;
    let moves = next_look(&b, at(1), |after| {
        after.definition.address = named(LINK_BYTES_MAX + 2).definition.address;
    });
    let refused = store.write_sources(vec![moves]).await;
    assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
    assert_eq!(source_of(&*store, b.id).await, b);
}
