use std::collections::{BTreeMap, BTreeSet};

use super::*;

fn fleet() -> Fleet {
    Fleet::new(11, 4000)
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn the_same_seed_is_the_same_fleet_and_another_is_not() {
    let look = |seed: u64| {
        let fleet = Fleet::new(seed, 300);
        let feeds = (0..300).filter_map(|number| fleet.feed(number));
        let shown = feeds.map(|feed| format!("{feed:?}"));
        shown.collect::<Vec<_>>()
    };
    assert_eq!(look(1), look(1));
    assert_ne!(look(1), look(2));
}

#[test]
fn a_larger_fleet_begins_with_the_smaller_one() {
    let (small, large) = (Fleet::new(1, 10), Fleet::new(1, 100_000));
    for number in 0..10 {
        assert_eq!(small.feed_url(number, 80), large.feed_url(number, 80));
    }
    assert!(small.feed(10).is_none());
}

#[test]
fn feeds_share_hosts_and_every_host_knows_its_own() {
    let fleet = Fleet::new(1, 10);
    assert_eq!(fleet.hosts(), 3);
    assert_eq!(fleet.feeds_on(2), 8..10);
    assert_eq!(fleet.feeds_on(9), 10..10);
    for host in 0..fleet.hosts() {
        assert!(
            fleet
                .feeds_on(host)
                .all(|number| fleet.host_of(number) == host)
        );
    }
    let hosts: BTreeSet<String> = (0..10).map(|number| fleet.base_url(number, 80)).collect();
    assert_eq!(hosts.len(), 3);
    assert!(
        fleet
            .feed_url(0, 8092)
            .starts_with("http://127.1.1.1:8092/feeds/0/")
    );
}

#[test]
fn all_rhythms_forms_zones_and_charsets_occur() {
    let fleet = fleet();
    let feeds: Vec<Feed> = (0..fleet.feeds)
        .filter_map(|number| fleet.feed(number))
        .collect();
    let mut rhythms = BTreeMap::<&str, usize>::new();
    for feed in &feeds {
        *rhythms.entry(feed.habit.rhythm.name).or_default() += 1;
    }
    assert!(
        rhythms.len() == 7 && rhythms.values().all(|count| *count > 300),
        "{rhythms:?}"
    );
    let forms: BTreeSet<Document> = feeds.iter().map(|feed| feed.document).collect();
    assert_eq!(forms.len(), Document::ALL.len());
    let zones = feeds.iter().filter_map(|feed| feed.habit.zone.iana_name());
    let zones: BTreeSet<&str> = zones.collect();
    assert_eq!(zones.len(), 12);
    for charset in [
        encoding_rs::GB18030,
        encoding_rs::WINDOWS_1251,
        encoding_rs::SHIFT_JIS,
    ] {
        assert!(
            feeds.iter().any(|feed| feed.charset == charset),
            "{charset:?}"
        );
    }
    let dead = feeds
        .iter()
        .filter(|feed| feed.habit.last_at.is_some())
        .count();
    assert!((180..320).contains(&dead), "6 % of 4000, but {dead}");
}

#[test]
fn no_feed_publishes_at_times_it_asks_to_skip() {
    let fleet = fleet();
    for feed in (0..fleet.feeds).filter_map(|number| fleet.feed(number)) {
        let hints = &feed.hints;
        if hints.skip_hours.is_empty() && hints.skip_days.is_empty() {
            continue;
        }
        for it in feed
            .habit
            .published(at("2025-01-01T00:00:00Z"), at("2026-01-01T00:00:00Z"))
        {
            let gmt = it.to_zoned(TimeZone::UTC);
            let hour = u8::try_from(gmt.hour()).unwrap();
            assert!(!hints.skip_hours.contains(&hour), "{feed:?} at {gmt}");
            let weekend = gmt.weekday().to_monday_zero_offset() >= 5;
            assert!(hints.skip_days.is_empty() || !weekend, "{feed:?} at {gmt}");
        }
    }
}

#[test]
fn a_few_hosts_and_feeds_misbehave_and_always_the_same() {
    let fleet = fleet();
    let faults = fleet.usual_faults();
    assert_eq!(faults, fleet.usual_faults());
    let of_hosts = faults.iter().filter(|rule| rule.matching.host.is_some());
    assert!((60..140).contains(&of_hosts.count()), "9.5 % of 1000");
    let gone = faults
        .iter()
        .filter(|rule| rule.effect == Fault::Status(410));
    assert!((20..70).contains(&gone.count()), "1 % of 4000");
}

#[test]
fn every_title_fits_every_feed() {
    let fleet = fleet();
    let titles: BTreeSet<String> = (0..1000)
        .filter_map(|n| fleet.feed(n))
        .map(|it| it.title())
        .collect();
    assert_eq!(titles.len(), 1000, "names of feeds are distinct");
}
