//! Which sources are due, which are listed, and how they are counted.

use std::sync::Arc;

use almanack_core::{
    reschedule::{Cancel, Put, Request},
    source::{
        Attention, SOURCE_CHECK, Source, SourceType, State,
        check::FailureClass,
        policy::cadence::Cadence,
        reading::{Reading, SitemapRules},
    },
    store::{SourceFilter, SourceNumbers, Store, Written},
};
use almanack_testkit::fixture::{START, at, claim_request, next_look, put, source};
use jiff::Timestamp;

use super::{ask, claimed, end, failed, followed, looked, plant, refused, source_of};

fn due_at(name: &str, next_due_at: Option<Timestamp>) -> Source {
    let mut new = source(name);
    new.stats.next_due_at = next_due_at;
    new
}

fn custom(name: &str, next_due_at: Timestamp) -> Source {
    let mut new = due_at(name, Some(next_due_at));
    new.definition.reading = Reading::Sitemap(SitemapRules::default());
    new
}

fn paused(mut new: Source) -> Source {
    new.state = State::Paused {
        since: START,
        note: None,
    };
    new.stats.next_due_at = None;
    new
}

async fn due(
    store: &dyn Store,
    of: Option<SourceType>,
    now: Timestamp,
    limit: usize,
) -> Vec<String> {
    let due = store.load_due_sources(of, now, limit).await.unwrap();
    due.into_iter()
        .map(|source| source.definition.name)
        .collect()
}

/// Longest first, of one type or of any, at most so many; ties by number.
pub(crate) async fn ss_08_due_sources_come_longest_first(store: Arc<dyn Store>) {
    let new = vec![
        due_at("b", Some(at(20))),
        due_at("a", Some(at(10))),
        custom("x", at(15)),
        due_at("c", Some(at(20))),
        custom("y", at(5)),
        due_at("later", Some(at(31))),
    ];
    store.add_sources(new).await.unwrap();
    let store = &*store;
    assert_eq!(due(store, None, at(4), 9).await, [""; 0]);
    assert_eq!(due(store, None, at(5), 9).await, ["y"]);
    assert_eq!(due(store, None, at(30), 9).await, ["y", "a", "x", "b", "c"]);
    assert_eq!(due(store, None, at(30), 3).await, ["y", "a", "x"]);
    assert_eq!(due(store, None, at(30), 0).await, [""; 0]);
    let (rss, custom) = (Some(SourceType::Rss), Some(SourceType::Custom));
    assert_eq!(due(store, rss, at(30), 2).await, ["a", "b"]);
    assert_eq!(due(store, custom, at(30), 9).await, ["y", "x"]);
    assert_eq!(due(store, custom, at(4), 9).await, [""; 0]);
}

/// By the whole text of either; several may share a site.
pub(crate) async fn ss_23_a_source_is_found_by_its_address_or_its_site(store: Arc<dyn Store>) {
    let with_site = |name: &str, site: Option<&str>| {
        let mut new = source(name);
        new.definition.options.site = site.map(str::to_owned);
        new
    };
    let site = "https://blog.example/";
    let [a, b, c] = [("a", Some(site)), ("b", Some(site)), ("c", None)];
    let mut ids = Vec::new();
    for (name, site) in [a, b, c] {
        ids.push(followed(&*store, with_site(name, site)).await.id);
    }
    let address = source("c").definition.address;
    for (asked, expected) in [
        (site, &ids[..2]),
        (address.as_str(), &ids[2..]),
        ("https://blog.example/x", &[]),
        ("", &[]),
    ] {
        let found = store.find_sources(asked).await.unwrap();
        assert_eq!(found, expected, "{asked}");
    }
}

/// Paused, ended and never: none of them is due; each may be again.
pub(crate) async fn ss_08_a_resting_source_is_never_due(store: Arc<dyn Store>) {
    let mut ended = due_at("ended", None);
    ended.state = State::Ended {
        since: START,
        reason: "410".to_owned(),
    };
    let new = vec![paused(source("paused")), ended, due_at("never", None)];
    let added = store.add_sources(new).await.unwrap();
    assert_eq!(added.len(), 3);
    assert_eq!(due(&*store, None, at(999), 9).await, [""; 0]);
    let all = store.list_sources(&page(9)).await.unwrap();
    for seen in &all.rows {
        let write = next_look(seen, at(1), |after| {
            after.state = State::Active;
            after.stats.next_due_at = Some(at(5));
        });
        assert_eq!(looked(&*store, write).await, Written::Done);
    }
    let back = due(&*store, None, at(5), 9).await;
    assert_eq!(back, ["paused", "ended", "never"]);
}

/// A source that failures keep waiting never delays others: not even when there are
/// more of its kind than are asked for, and longer there.
pub(crate) async fn ss_08_a_source_in_backoff_is_stepped_over(store: Arc<dyn Store>) {
    let mut new = Vec::new();
    for n in 0..20 {
        let until = Some(at(500 + n));
        let mut failing = due_at(&format!("failing-{n}"), until);
        failing.stats.backoff_until = until;
        new.push(failing);
    }
    new.push(due_at("fine", Some(at(100))));
    store.add_sources(new).await.unwrap();
    assert_eq!(due(&*store, None, at(100), 5).await, ["fine"]);
    let (rss, now) = (Some(SourceType::Rss), at(501));
    let expected = ["fine", "failing-0", "failing-1"];
    assert_eq!(due(&*store, None, now, 9).await, expected);
    assert_eq!(due(&*store, rss, now, 9).await, expected);
}

/// A look moves a source in the list; a change of type moves it to the other.
pub(crate) async fn ss_08_a_look_moves_a_source_in_the_list(store: Arc<dyn Store>) {
    let seen = followed(&*store, source("a")).await;
    let write = next_look(&seen, at(1), |after| after.stats.next_due_at = Some(at(60)));
    assert_eq!(looked(&*store, write).await, Written::Done);
    assert_eq!(due(&*store, None, at(59), 9).await, [""; 0]);
    assert_eq!(due(&*store, None, at(60), 9).await, ["a"]);
    let seen = source_of(&*store, seen.id).await;
    let write = next_look(&seen, at(2), |after| {
        after.definition.reading = Reading::Sitemap(SitemapRules::default());
    });
    assert_eq!(looked(&*store, write).await, Written::Done);
    assert_eq!(
        due(&*store, Some(SourceType::Rss), at(60), 9).await,
        [""; 0]
    );
    assert_eq!(
        due(&*store, Some(SourceType::Custom), at(60), 9).await,
        ["a"]
    );
}

/// A source is astray when its time has passed and no task of it runs, waits, or waits to be
/// retried; however its task was lost.
pub(crate) async fn an_overdue_source_without_a_living_task_is_astray(store: Arc<dyn Store>) {
    let store = &*store;
    let mut ids = Vec::new();
    for (n, name) in (0..).zip(["never", "cancelled", "spent", "waits", "runs", "retried"]) {
        ids.push(followed(store, due_at(name, Some(at(n)))).await.id);
    }
    let request = |n: usize, now| Put {
        identity: ids[n].identity().unwrap(),
        ..put("source", SOURCE_CHECK, now)
    };
    for n in 1..6 {
        plant(store, request(n, START), START).await;
    }
    let cancel = Request::Cancel(Cancel {
        identity: request(1, START).identity,
        revision: None,
    });
    ask(store, &cancel, START).await;
    ask(store, &Request::Put(request(3, at(50))), START).await;
    let running = claimed(store, claim_request(1, START, 9)).await;
    assert_eq!(running.len(), 3);
    for (n, outcome) in [(2, refused()), (5, failed())] {
        let identity = request(n, START).identity;
        let task = running.iter().find(|task| task.identity == identity);
        end(store, task.unwrap(), &outcome, START).await;
    }
    followed(store, paused(source("resting"))).await;
    followed(store, due_at("later", Some(at(10)))).await;
    let strays = |overdue, limit| store.load_stray_sources(overdue, limit);
    assert_eq!(strays(at(10), 9).await.unwrap(), ids[..3]);
    assert_eq!(strays(at(10), 2).await.unwrap(), ids[..2]);
    assert_eq!(
        strays(at(1), 9).await.unwrap(),
        ids[..1],
        "not before its time"
    );
    plant(store, request(0, at(60)), at(60)).await;
    assert_eq!(strays(at(10), 9).await.unwrap(), ids[1..3]);
}

fn page(limit: usize) -> SourceFilter {
    SourceFilter {
        limit,
        ..SourceFilter::default()
    }
}

/// Ten sources, one thing or another about each.
async fn ten(store: &dyn Store) {
    let mut new: Vec<Source> = (0..10)
        .map(|n| due_at(&format!("s{n}"), Some(at(n))))
        .collect();
    for (n, source) in new.iter_mut().enumerate() {
        source.stats.cadence = [Some(Cadence::P0), Some(Cadence::P2), None][n % 3];
        source.stats.check_count = n as u64;
        source.stats.hit_count = u64::from(n == 9) * 9 + u64::from(n == 4) * 2;
    }
    new[1] = Source {
        definition: custom("s1", at(1)).definition,
        ..new[1].clone()
    };
    new[2].attention = Some(Attention::Silent);
    new[3].attention = Some(Attention::Credentials);
    new[4] = paused(new[4].clone());
    new[5] = paused(new[5].clone());
    new[5].attention = Some(Attention::Silent);
    new[6].stats.backoff_until = Some(at(1000));
    new[6].stats.next_due_at = Some(at(1000));
    new[6].stats.last_error_class = Some(FailureClass::Dns);
    new[8].stats.last_error_class = Some(FailureClass::Timeout);
    new[9].stats.last_error_class = Some(FailureClass::Dns);
    "100% Größe_\\".clone_into(&mut new[7].definition.name);
    store.add_sources(new).await.unwrap();
}

async fn listed(store: &dyn Store, filter: SourceFilter) -> String {
    let found = store.list_sources(&filter).await.unwrap().rows;
    let number = |source: &Source| source.definition.address[9..10].to_owned();
    found.iter().map(number).collect()
}

/// A page of all that `set` leaves.
fn only(set: impl FnOnce(&mut SourceFilter)) -> SourceFilter {
    let mut filter = page(99);
    set(&mut filter);
    filter
}

fn state(name: &str) -> SourceFilter {
    only(|f| f.state = Some(name.to_owned()))
}

/// Each filter alone, and together.
pub(crate) async fn filters_of_sources_narrow_alone_and_together(store: Arc<dyn Store>) {
    let store = &*store;
    ten(store).await;
    let (rss, custom) = (Some(SourceType::Rss), Some(SourceType::Custom));
    let paused_with = |set: fn(&mut SourceFilter)| {
        let mut filter = state("paused");
        set(&mut filter);
        filter
    };
    let together = paused_with(|f| {
        f.source_type = Some(SourceType::Rss);
        f.cadence = Some(Cadence::P2);
        f.containing = Some("S4".to_owned());
    });
    let failing = only(|f| {
        f.needs_attention = true;
        f.attention = Some(Attention::Failing);
    });
    let rows = [
        (page(99), "0123456789"),
        (page(3), "012"),
        (only(|f| f.source_type = custom), "1"),
        (only(|f| (f.source_type, f.limit) = (rss, 2)), "02"),
        (state("paused"), "45"),
        (state("active"), "01236789"),
        (state("nonsense"), ""),
        (only(|f| f.cadence = Some(Cadence::P2)), "147"),
        (only(|f| f.cadence = Some(Cadence::P7)), ""),
        (only(|f| f.attention = Some(Attention::Silent)), "25"),
        (only(|f| f.needs_attention = true), "235"),
        (only(|f| f.failure = Some(FailureClass::Dns)), "69"),
        (only(|f| f.failure = Some(FailureClass::Gone)), ""),
        (only(|f| f.failed = true), "689"),
        (failing, ""),
        (paused_with(|f| f.needs_attention = true), "5"),
        (together, "4"),
    ];
    for (filter, expected) in rows {
        assert_eq!(listed(store, filter.clone()).await, expected, "{filter:?}");
    }
}

/// Taken literally, in any case of ASCII letters, in the name and in the address.
pub(crate) async fn a_part_of_a_source_is_taken_literally(store: Arc<dyn Store>) {
    let store = &*store;
    ten(store).await;
    let rows = [
        ("", "0123456789"),
        ("%", "7"),
        ("_", "7"),
        ("\\", "7"),
        ("100% g", "7"),
        ("GRöSSE", ""),
        ("GRößE", "7"),
        ("GRÖßE", ""),
        ("S3.EXAMPLE", "3"),
        ("feed.xml", "0123456789"),
        ("'", ""),
    ];
    for (part, expected) in rows {
        let filter = SourceFilter {
            containing: Some(part.to_owned()),
            ..page(99)
        };
        assert_eq!(listed(store, filter).await, expected, "{part}");
    }
}

/// Pages of every filter cover every row once.
pub(crate) async fn pages_of_sources_cover_every_row_once(store: Arc<dyn Store>) {
    ten(&*store).await;
    let (rss, p0) = (Some(SourceType::Rss), Some(Cadence::P0));
    let filters = [
        page(3),
        SourceFilter {
            source_type: rss,
            ..page(3)
        },
        SourceFilter {
            cadence: p0,
            ..page(1)
        },
        SourceFilter {
            needs_attention: true,
            ..page(1)
        },
        SourceFilter {
            state: Some("paused".to_owned()),
            ..page(1)
        },
    ];
    for (mut filter, expected) in filters.into_iter().zip([10, 9, 4, 3, 2]) {
        let mut ids = Vec::new();
        loop {
            let page = store.list_sources(&filter).await.unwrap();
            ids.extend(page.rows.iter().map(|source| source.id));
            filter.after = page.next;
            if filter.after.is_none() {
                break;
            }
        }
        assert!(ids.is_sorted(), "by number");
        ids.dedup();
        assert_eq!(ids.len(), expected, "{filter:?}");
    }
}

/// A filter that fits few sources examines so many for a page, along whichever index, and says
/// where to go on (SF-01).
pub(crate) async fn sf_01_a_list_of_sources_examines_so_many_and_goes_on(store: Arc<dyn Store>) {
    ten(&*store).await;
    let nowhere = |set: fn(&mut SourceFilter)| {
        only(|filter| {
            filter.containing = Some("nowhere".to_owned());
            filter.among = Some(2);
            set(filter);
        })
    };
    let filters = [
        (nowhere(|_| ()), 5),
        (nowhere(|f| f.source_type = Some(SourceType::Rss)), 5),
        (nowhere(|f| f.cadence = Some(Cadence::P0)), 5),
        (nowhere(|f| f.needs_attention = true), 1),
        (nowhere(|f| f.state = Some("paused".to_owned())), 1),
    ];
    for (mut filter, full) in filters {
        let mut pages = 0;
        loop {
            let page = store.list_sources(&filter).await.unwrap();
            assert_eq!(page.rows, []);
            let Some(next) = page.next else { break };
            assert!(filter.after < Some(next), "{filter:?}");
            filter.after = Some(next);
            pages += 1;
        }
        assert_eq!(pages, full, "{filter:?}");
    }
}

/// Nothing is counted where nothing is, with a type and without.
pub(crate) async fn ss_09_an_empty_store_counts_nothing(store: Arc<dyn Store>) {
    let types = SourceType::ALL.map(Some);
    for of in types.into_iter().chain([None]) {
        let counted = store.count_sources(of, START).await.unwrap();
        assert_eq!(counted, SourceNumbers::default());
    }
    followed(&*store, source("new")).await;
    let counted = store.count_sources(None, START).await.unwrap();
    assert_eq!((counted.total_with_stats, counted.avg_hit_rate), (0, 0.0));
    let other = Some(SourceType::Custom);
    let counted = store.count_sources(other, START).await.unwrap();
    assert_eq!(counted, SourceNumbers::default());
}

/// The numbers of the founding documents, overall and by type.
pub(crate) async fn ss_09_sources_are_counted_overall_and_by_type(store: Arc<dyn Store>) {
    ten(&*store).await;
    let all = store.count_sources(None, at(7)).await.unwrap();
    let word = |word: &str, count: u64| (word.to_owned(), count);
    let expected = SourceNumbers {
        total_sources: 10,
        total_with_stats: 9,
        cadence_distribution: vec![(Cadence::P0, 4), (Cadence::P2, 3)],
        states: vec![word("active", 8), word("paused", 2)],
        attention: vec![(Attention::Silent, 2), (Attention::Credentials, 1)],
        failures: vec![(FailureClass::Dns, 2), (FailureClass::Timeout, 1)],
        due_now: 5,
        in_backoff: 1,
        avg_hit_rate: (0.5 + 1.0) / 9.0,
    };
    assert_eq!(all, expected);
    let custom = store
        .count_sources(Some(SourceType::Custom), at(7))
        .await
        .unwrap();
    let rss = store
        .count_sources(Some(SourceType::Rss), at(7))
        .await
        .unwrap();
    assert_eq!((custom.total_sources, custom.due_now), (1, 1));
    assert_eq!((rss.total_sources, rss.due_now, rss.in_backoff), (9, 4, 1));
    assert_eq!(custom.cadence_distribution, [(Cadence::P2, 1)]);
    let later = store.count_sources(None, at(1000)).await.unwrap();
    assert_eq!((later.due_now, later.in_backoff), (8, 0));
}
