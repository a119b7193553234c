use std::io::Read as _;

use super::*;
use crate::feeds::fleet::Fleet;

fn now() -> Timestamp {
    "2026-01-05T08:00:00Z".parse().unwrap()
}

fn feed(wanted: impl Fn(&Feed) -> bool) -> Feed {
    let fleet = Fleet::new(5, 20_000);
    let mut feeds = (0..fleet.feeds).filter_map(|number| fleet.feed(number));
    feeds
        .find(|feed| !feed.habit.newest(now(), 3).is_empty() && wanted(feed))
        .unwrap()
}

fn ask(feed: &Feed, announced: &[Announced], asked: &RequestHeaders) -> Reply {
    answer(
        feed,
        Document::Rss2,
        announced,
        asked,
        (now(), "http://127.1.1.1:1"),
    )
}

fn with_tag(tag: &str) -> RequestHeaders {
    RequestHeaders {
        if_none_match: Some(tag.to_owned()),
        ..RequestHeaders::default()
    }
}

fn since(date: &str) -> RequestHeaders {
    RequestHeaders {
        if_modified_since: Some(date.to_owned()),
        ..RequestHeaders::default()
    }
}

fn by_hand() -> Vec<Announced> {
    vec![Announced {
        published_at: now(),
        title: "Now".to_owned(),
    }]
}

#[test]
fn the_same_state_is_304_by_tag_and_by_time_and_a_new_entry_is_200() {
    let feed = feed(|feed| feed.etag && feed.last_modified);
    let first = ask(&feed, &[], &RequestHeaders::default());
    assert_eq!(first.status, 200);
    let tag = first.header("etag").unwrap().to_owned();
    let modified = first.header("last-modified").unwrap().to_owned();
    assert!(tag.starts_with('"'), "strong");
    for asked in [
        with_tag(&tag),
        with_tag(&format!("\"other\", W/{tag}")),
        with_tag("*"),
        since(&modified),
    ] {
        let again = ask(&feed, &[], &asked);
        assert_eq!(
            (again.status, again.header("etag")),
            (304, Some(&*tag)),
            "{asked:?}"
        );
        let (body, _) = again.body.collect();
        assert!(body.is_empty());
        if asked.if_none_match.as_deref() != Some("*") {
            assert_eq!(ask(&feed, &by_hand(), &asked).status, 200, "{asked:?}");
        }
    }
}

#[test]
fn a_tag_that_differs_outweighs_a_time_that_does_not() {
    let feed = feed(|feed| feed.etag && feed.last_modified);
    let first = ask(&feed, &[], &RequestHeaders::default());
    let asked = RequestHeaders {
        if_none_match: Some("\"older\"".to_owned()),
        ..since(first.header("last-modified").unwrap())
    };
    assert_eq!(ask(&feed, &[], &asked).status, 200);
}

#[test]
fn what_a_feed_does_not_give_it_does_not_honour() {
    let silent = feed(|feed| !feed.etag && !feed.last_modified);
    let first = ask(&silent, &[], &RequestHeaders::default());
    assert_eq!(
        (first.header("etag"), first.header("last-modified")),
        (None, None)
    );
    assert_eq!(ask(&silent, &[], &with_tag("*")).status, 200);
    let by_tag = feed(|feed| feed.etag && !feed.last_modified);
    assert_eq!(
        ask(&by_tag, &[], &since("Mon, 05 Jan 2026 08:00:00 GMT")).status,
        200
    );
    assert_eq!(
        ask(&by_tag, &[], &RequestHeaders::default()).header("last-modified"),
        None
    );
}

#[test]
fn bodies_are_compressed_on_request_and_their_tags_differ() {
    let feed = feed(|feed| feed.gzip && feed.brotli && feed.etag && feed.last_modified);
    let plain = ask(&feed, &[], &RequestHeaders::default());
    let gzip = RequestHeaders {
        gzip: true,
        ..RequestHeaders::default()
    };
    let both = RequestHeaders {
        brotli: true,
        ..gzip.clone()
    };
    let tags = [&RequestHeaders::default(), &gzip, &both]
        .map(|asked| ask(&feed, &[], asked).header("etag").unwrap().to_owned());
    assert!(
        tags[0] != tags[1] && tags[1] != tags[2],
        "strong tags name bytes"
    );
    for tag in &tags {
        assert_eq!(ask(&feed, &[], &with_tag(tag)).status, 304);
    }
    let (text, _) = plain.body.collect();
    let packed = ask(&feed, &[], &gzip);
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    let mut unpacked = Vec::new();
    let (body, _) = packed.body.collect();
    flate2::read::GzDecoder::new(&body[..])
        .read_to_end(&mut unpacked)
        .unwrap();
    assert_eq!(unpacked, text);
    let packed = ask(&feed, &[], &both);
    assert_eq!(packed.header("content-encoding"), Some("br"));
    let mut unpacked = Vec::new();
    let (body, _) = packed.body.collect();
    brotli::Decompressor::new(&body[..], 4096)
        .read_to_end(&mut unpacked)
        .unwrap();
    assert_eq!(unpacked, text);
}

#[test]
fn the_tag_changes_exactly_when_the_entries_do() {
    let feed = feed(|feed| feed.etag && feed.last_modified && feed.habit.rhythm.name == "news");
    let look = |minute: i64| {
        let at = now() + jiff::SignedDuration::from_mins(minute);
        let reply = answer(
            &feed,
            Document::Atom,
            &[],
            &RequestHeaders::default(),
            (at, ""),
        );
        (
            reply.header("etag").unwrap().to_owned(),
            feed.entries(&[], at, ""),
        )
    };
    for minute in 0..600 {
        let (one, two) = (look(minute), look(minute + 1));
        assert_eq!(one.0 == two.0, one.1 == two.1, "minute {minute}");
    }
}

#[test]
fn max_age_is_reported_with_200_and_304() {
    let feed = feed(|feed| feed.hints.max_age_s == Some(1800) && feed.etag && feed.last_modified);
    let first = ask(&feed, &[], &RequestHeaders::default());
    assert_eq!(first.header("cache-control"), Some("public, max-age=1800"));
    let again = ask(&feed, &[], &with_tag(first.header("etag").unwrap()));
    assert_eq!(again.header("cache-control"), Some("public, max-age=1800"));
}
