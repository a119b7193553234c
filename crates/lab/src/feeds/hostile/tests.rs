//! Each document is what its name claims; a test of a reader is worth no more than its input.

use std::{collections::BTreeSet, io::Read as _};

use super::*;
use crate::reply::{Body, Piece};

fn place() -> Place<'static> {
    Place {
        base_url: "http://127.0.0.1:8092",
        now: "2026-01-05T08:00:00Z".parse().unwrap(),
    }
}

fn reply(name: &str) -> Reply {
    match answer(name, &place()) {
        Some(Answer::Reply(reply)) => reply,
        other => panic!("{name}: {other:?}"),
    }
}

fn bytes(name: &str) -> Vec<u8> {
    let (bytes, cut) = reply(name).body.collect();
    assert!(!cut, "{name} ends by itself");
    bytes
}

fn text(name: &str) -> String {
    String::from_utf8(bytes(name)).unwrap()
}

fn location(name: &str) -> String {
    let reply = reply(name);
    assert!((300..400).contains(&reply.status), "{name}");
    reply.header("location").unwrap_or_default().to_owned()
}

/// Counts what a reader yields, without keeping it.
fn unpacked(mut reader: impl std::io::Read) -> std::io::Result<u64> {
    std::io::copy(&mut reader, &mut std::io::sink())
}

#[test]
fn names_are_unique_and_each_says_what_is_wrong() {
    let names: BTreeSet<_> = all().map(|it| it.name).collect();
    assert_eq!(names.len(), all().count());
    assert!(all().all(|it| it.what.len() > 2));
    assert!(all().all(|it| answer(it.name, &place()).is_some()));
    assert!(answer("no-such-name", &place()).is_none());
}

#[test]
fn what_is_not_a_feed_is_none() {
    for name in [
        "not-a-feed.html",
        "not-a-feed.txt",
        "login.html",
        "html-as-feed.xml",
    ] {
        let text = text(name);
        assert!(!text.contains("<rss") && !text.contains("<feed"), "{name}");
    }
    assert!(bytes("not-a-feed.png").starts_with(b"\x89PNG\r\n"));
    assert_eq!(bytes("image-as-feed.xml"), bytes("not-a-feed.png"));
    assert_eq!(reply("image-as-feed.xml").header("content-type"), Some(RSS));
    assert!(text("login.html").contains("type=\"password\""));
    assert_eq!(bytes("empty-body.xml"), b"");
    let empty = text("empty-feed.xml");
    assert!(empty.contains("</channel>") && !empty.contains("<item"));
}

#[test]
fn truncated_documents_end_inside_an_entry() {
    let text = text("truncated.xml");
    assert!(text.matches("<item>").count() == 20 && text.matches("</item>").count() == 19);
    let json = bytes("truncated.json");
    let error = serde_json::from_slice::<serde_json::Value>(&json).unwrap_err();
    assert!(error.is_eof());
}

#[test]
fn the_huge_body_is_200_mib_of_whole_entries_with_a_known_length() {
    for name in ["huge.xml", "huge-declared.xml"] {
        let reply = reply(name);
        let declared = reply
            .header("content-length")
            .map(|it| it.parse::<usize>().unwrap());
        let Body::Pieces(pieces) = reply.body else {
            panic!("{name} is made while it is sent");
        };
        let length = |piece: Piece| match piece {
            Piece::Bytes(bytes) => bytes.len(),
            other => panic!("{other:?}"),
        };
        let sum: usize = pieces.map(length).sum();
        assert!(sum >= content::HUGE_BYTES);
        let expected = (name == "huge-declared.xml").then_some(sum);
        assert_eq!(declared, expected, "{name}");
    }
}

#[test]
fn many_items_are_fifty_thousand_different_ones() {
    let text = text("many-items.xml");
    let ids: BTreeSet<_> = text
        .split("entry-")
        .skip(1)
        .map(|it| it.split('<').next())
        .collect();
    assert_eq!(ids.len(), content::MANY_ITEMS);
    assert!(text.trim_end().ends_with("</channel></rss>"));
}

#[test]
fn compressed_bombs_unpack_without_error_to_256_mib() {
    let at_least = bomb::UNPACKED_MIB as u64 * 1024 * 1024;
    let gzip = bytes("gzip-bomb.xml");
    assert!(gzip.len() < 512 * 1024, "{} bytes", gzip.len());
    let sum = unpacked(flate2::read::GzDecoder::new(&gzip[..])).unwrap();
    assert!((at_least..at_least + 4096).contains(&sum), "{sum}");

    let brotli = bytes("brotli-bomb.xml");
    assert!(brotli.len() < 64 * 1024, "{} bytes", brotli.len());
    let sum = unpacked(brotli::Decompressor::new(&brotli[..], 65_536)).unwrap();
    assert!((at_least..at_least + 4096).contains(&sum), "{sum}");
}

#[test]
fn compressed_bombs_are_feeds_inside() {
    for (name, mut reader) in [
        (
            "gzip-bomb.xml",
            Box::new(flate2::read::GzDecoder::new(&bytes("gzip-bomb.xml")[..]))
                as Box<dyn std::io::Read>,
        ),
        (
            "brotli-bomb.xml",
            Box::new(brotli::Decompressor::new(
                &bytes("brotli-bomb.xml")[..],
                4096,
            )),
        ),
    ] {
        let mut head = [0; 200];
        reader.read_exact(&mut head).unwrap();
        assert!(String::from_utf8_lossy(&head).contains("<rss"), "{name}");
    }
}

#[test]
fn broken_gzip_is_broken_and_double_gzip_is_double() {
    for name in ["gzip-garbage.xml", "gzip-truncated.xml"] {
        assert_eq!(reply(name).header("content-encoding"), Some("gzip"));
        assert!(
            unpacked(flate2::read::GzDecoder::new(&bytes(name)[..])).is_err(),
            "{name}"
        );
    }
    let mut once = Vec::new();
    let twice = bytes("gzip-twice.xml");
    flate2::read::GzDecoder::new(&twice[..])
        .read_to_end(&mut once)
        .unwrap();
    assert!(once.starts_with(&[0x1F, 0x8B]));
}

#[test]
fn entity_bombs_would_grow_by_ten_at_every_level() {
    for name in ["entity-bomb.xml", "opml/entity-bomb.opml"] {
        let text = text(name);
        assert!(text.len() < 4096);
        for level in 1..10 {
            let ten = format!(
                "<!ENTITY l{level} \"{}\">",
                format!("&l{};", level - 1).repeat(10)
            );
            assert!(text.contains(&ten), "{name}");
        }
        assert!(text.contains("&l9;"), "a billion of them");
    }
    assert!(text("external-entity.xml").contains("SYSTEM \"file:///etc/passwd\""));
    assert!(text("external-dtd.xml").contains("<!DOCTYPE rss SYSTEM \"http://127.0.0.1:8092/"));
    assert_eq!(text("entity-quadratic.xml").matches("&a;").count(), 10_000);
}

#[test]
fn deep_documents_are_200_000_deep() {
    assert_eq!(text("deep.xml").matches("<a>").count(), bomb::DEPTH);
    assert_eq!(text("deep.xml").matches("</a>").count(), bomb::DEPTH);
    assert_eq!(
        text("deep-unclosed.xml").matches("<item>").count(),
        bomb::DEPTH
    );
    assert_eq!(text("deep.json").matches('[').count(), bomb::DEPTH);
    assert_eq!(text("deep.html").matches("<div>").count(), bomb::DEPTH);
    assert_eq!(
        text("opml/deep.opml").matches("</outline>").count(),
        opml::DEPTH
    );
}

#[test]
fn charsets_are_wrong_or_unknown_as_named() {
    assert!(String::from_utf8(bytes("wrong-charset.xml")).is_err());
    assert_eq!(reply("wrong-charset.xml").header("content-type"), Some(RSS));
    assert!(text("unknown-charset.xml").contains("encoding=\"x-klingon\""));
    assert!(bytes("utf-16.xml").starts_with(&[0xFF, 0xFE, b'<', 0]));
    assert!(text("control-letters.xml").contains('\u{0}'));
}

#[test]
fn ids_and_dates_are_as_named() {
    let ids: BTreeSet<String> = values(&text("duplicate-ids.xml"), "guid");
    assert_eq!(ids.len(), 2);
    assert!(!text("no-ids.xml").contains("<guid") && !text("no-ids.xml").contains("<item><link"));
    assert!(!text("no-dates.xml").contains("ubDate"));
    assert!(values(&text("dates.xml"), "pubDate").len() >= 12);
    assert!(values(&text("futures.xml"), "pubDate").contains("Fri, 31 Dec 9999 23:59:59 GMT"));
}

fn values(text: &str, element: &str) -> BTreeSet<String> {
    let (open, close) = (format!("<{element}>"), format!("</{element}>"));
    let parts = text.split(&open).skip(1);
    parts
        .map(|it| it.split(&close).next().unwrap().to_owned())
        .collect()
}

#[test]
fn the_dates_that_say_their_offset_name_one_instant() {
    let instant: Timestamp = "2026-01-05T08:00:00Z".parse().unwrap();
    let parser = jiff::fmt::rfc2822::DateTimeParser::new();
    let read = |text: &str| {
        parser
            .parse_timestamp(text)
            .ok()
            .or_else(|| text.parse().ok())
    };
    let instants: Vec<Timestamp> = content::DATES
        .iter()
        .filter_map(|text| read(text))
        .collect();
    assert!(instants.len() >= 7, "{instants:?}");
    assert!(instants.iter().all(|it| *it == instant), "{instants:?}");
    let seconds: i64 = content::DATES
        .iter()
        .find_map(|text| text.parse().ok())
        .unwrap();
    assert_eq!(seconds, instant.as_second());
}

#[test]
fn redirects_lead_where_their_names_say() {
    let base = "http://127.0.0.1:8092/hostile";
    assert_eq!(location("redirect-loop"), format!("{base}/redirect-loop"));
    assert_eq!(location("redirect-ping"), format!("{base}/redirect-pong"));
    assert_eq!(location("redirect-pong"), format!("{base}/redirect-ping"));
    assert_eq!(
        location("redirect-forever/41"),
        format!("{base}/redirect-forever/42")
    );
    assert_eq!(location("hops/2"), format!("{base}/hops/1"));
    assert_eq!(location("redirect-nowhere"), "");
    assert_eq!(location("redirect-login"), format!("{base}/login.html"));
    assert!(text("hops/0").contains("<rss"));
    for (name, target) in private_targets() {
        assert_eq!(location(&format!("redirect-private/{name}")), *target);
    }
    assert!(answer("redirect-private/nowhere", &place()).is_none());
}

#[test]
fn bodies_that_do_not_arrive_are_cut_dripped_or_of_another_length() {
    let (half, cut) = reply("cut-mid-body.xml").body.collect();
    assert!(cut && !half.is_empty() && !half.ends_with(b"</rss>\n"));
    assert!(matches!(answer("hang.xml", &place()), Some(Answer::Hang)));
    assert!(matches!(answer("cut.xml", &place()), Some(Answer::Cut)));
    let Body::Pieces(mut drip) = reply("slow-loris.xml").body else {
        panic!("in pieces");
    };
    assert_eq!(drip.next(), Some(Piece::Bytes("<".into())));
    assert_eq!(
        drip.next(),
        Some(Piece::Wait(std::time::Duration::from_secs(1)))
    );
    let Body::Pieces(endless) = reply("endless.xml").body else {
        panic!("in pieces");
    };
    assert_eq!(endless.take(100_000).count(), 100_000);
    let claimed = |name: &str| {
        reply(name)
            .header("content-length")
            .unwrap()
            .parse::<usize>()
            .unwrap()
    };
    assert!(claimed("length-too-long.xml") > bytes("length-too-long.xml").len());
    assert!(claimed("length-too-short.xml") < bytes("length-too-short.xml").len());
}

#[test]
fn limits_have_a_retry_after_in_both_formats() {
    let after = |name: &str| reply(name).header("retry-after").unwrap().to_owned();
    assert_eq!(after("limited-seconds.xml"), "1800");
    assert_eq!(after("limited-date.xml"), "Mon, 05 Jan 2026 08:30:00 GMT");
    assert_eq!(reply("limited-date.xml").status, 503);
}

#[test]
fn lists_of_subscriptions_are_nested_broken_and_long_as_named() {
    let count = |name: &str, what: &str| text(name).matches(what).count();
    assert_eq!(count("opml/nested.opml", "xmlUrl"), 3);
    assert!(text("opml/nested.opml").contains("<outline text=\"Mornings\">"));
    assert_eq!(count("opml/broken.opml", "<outline"), 10);
    assert_eq!(count("opml/duplicates.opml", "<outline"), 5);
    assert_eq!(count("opml/many.opml", "<outline"), opml::MANY);
    assert_eq!(count("opml/empty.opml", "<outline"), 0);
    assert!(!text("opml/truncated.opml").contains("</opml>"));
    assert!(!text("opml/not-opml.opml").contains("<opml"));
}
