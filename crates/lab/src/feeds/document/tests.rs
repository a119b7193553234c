use std::collections::BTreeSet;

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

fn written(document: Document, feed: &Feed) -> Written {
    let entries = feed.entries(&[], now(), "http://127.1.1.1:1");
    write(document, feed, &entries, "http://127.1.1.1:1")
}

fn text(document: Document, feed: &Feed) -> String {
    String::from_utf8(written(document, feed).bytes).unwrap()
}

/// Every opened element is closed in order: enough of XML for documents that we write ourselves.
fn assert_well_formed(xml: &str) {
    let mut open = Vec::new();
    let mut rest = xml;
    while let Some(start) = rest.find('<') {
        rest = &rest[start..];
        let (skip, end) = match () {
            () if rest.starts_with("<![CDATA[") => (true, rest.find("]]>").unwrap() + 3),
            () => (rest.starts_with("<?"), rest.find('>').unwrap() + 1),
        };
        let tag = &rest[1..end - 1];
        rest = &rest[end..];
        if skip || tag.ends_with('/') {
            continue;
        }
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None => open.push(tag.split(' ').next().unwrap()),
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
}

#[test]
fn every_form_shows_every_entry() {
    let feed = feed(|feed| feed.charset == encoding_rs::UTF_8 && feed.shown == 30);
    let entries = feed.entries(&[], now(), "http://127.1.1.1:1");
    for document in Document::ALL {
        let text = text(document, &feed);
        for entry in &entries {
            assert!(
                text.contains(&entry.key),
                "{document:?} lacks {}",
                entry.key
            );
        }
        assert_eq!(Document::named(document.file_name()), Some(document));
    }
}

#[test]
fn xml_is_well_formed_whatever_the_language() {
    let fleet = Fleet::new(5, 200);
    for feed in (0..200).filter_map(|number| fleet.feed(number)) {
        let feed = Feed {
            charset: encoding_rs::UTF_8,
            ..feed
        };
        for document in [
            Document::Rss2,
            Document::Rss1,
            Document::Rss091,
            Document::Atom,
            Document::Sitemap,
        ] {
            assert_well_formed(&text(document, &feed));
        }
        for document in [Document::JsonFeed, Document::Api] {
            serde_json::from_str::<serde_json::Value>(&text(document, &feed)).unwrap();
        }
    }
}

#[test]
fn dates_carry_the_offset_of_the_feeds_zone() {
    let feed = feed(|feed| {
        let zone = feed.habit.zone.iana_name();
        zone == Some("Asia/Shanghai") && feed.charset == encoding_rs::UTF_8
    });
    assert!(text(Document::Rss2, &feed).contains(" +0800</pubDate>"));
    assert!(text(Document::Atom, &feed).contains("+08:00</published>"));
    assert!(text(Document::JsonFeed, &feed).contains("+08:00\""));
    assert!(
        !text(Document::Rss091, &feed).contains("ate>"),
        "0.91 has no dates"
    );
    let at: Timestamp = "2026-01-05T08:00:00Z".parse().unwrap();
    assert_eq!(
        rfc_2822(at, feed.offset(at)),
        "Mon, 5 Jan 2026 16:00:00 +0800"
    );
    assert_eq!(rfc_3339(at, feed.offset(at)), "2026-01-05T16:00:00+08:00");
}

#[test]
fn charsets_are_declared_as_drawn_and_decode_to_the_same_text() {
    for charset in [
        encoding_rs::GB18030,
        encoding_rs::WINDOWS_1251,
        encoding_rs::SHIFT_JIS,
    ] {
        for declared in [Declared::Header, Declared::Inside, Declared::Both] {
            let feed = feed(|feed| feed.charset == charset && feed.declared == declared);
            let written = written(Document::Rss2, &feed);
            assert!(
                String::from_utf8(written.bytes.clone()).is_err(),
                "{charset:?}"
            );
            let (text, _, wrong) = charset.decode(&written.bytes);
            assert!(
                !wrong && text.contains(&escape(&feed.title())),
                "{charset:?}"
            );
            let in_header = written.content_type.contains(charset.name());
            let inside = text.contains(&format!("encoding=\"{}\"", charset.name()));
            assert_eq!(
                (in_header, inside),
                (declared != Declared::Inside, declared != Declared::Header)
            );
            assert_eq!(written_json_type(&feed), "application/feed+json");
        }
    }
}

fn written_json_type(feed: &Feed) -> String {
    let written = written(Document::JsonFeed, feed);
    assert!(
        String::from_utf8(written.bytes).is_ok(),
        "JSON is always UTF-8"
    );
    written.content_type
}

#[test]
fn rss_contains_the_hints() {
    let feed = feed(|feed| {
        let hints = &feed.hints;
        hints.ttl_min.is_some() && hints.update_period.is_some() && !hints.skip_hours.is_empty()
    });
    let bytes = written(Document::Rss2, &feed).bytes;
    let text = String::from_utf8_lossy(&bytes);
    for element in ["<ttl>", "<sy:updatePeriod>", "<skipHours><hour>"] {
        assert!(text.contains(element), "{element}");
    }
}

#[test]
fn some_summaries_attack_and_ids_come_in_all_kinds() {
    let fleet = Fleet::new(5, 300);
    let feeds: Vec<Feed> = (0..300).filter_map(|number| fleet.feed(number)).collect();
    let entries: Vec<Entry> = feeds
        .iter()
        .flat_map(|feed| feed.entries(&[], now(), ""))
        .collect();
    let attacks = entries
        .iter()
        .filter(|it| it.summary.contains("<script>"))
        .count();
    assert!(
        attacks * 20 > entries.len(),
        "{attacks} of {}",
        entries.len()
    );
    let kinds: BTreeSet<String> = feeds.iter().map(|feed| format!("{:?}", feed.ids)).collect();
    assert_eq!(kinds.len(), 4);
    assert!(entries.iter().any(|it| it.link.contains("?utm_source=")));
}

#[test]
fn the_front_page_leads_to_the_feed() {
    let feed = feed(|feed| feed.document == Document::Atom);
    let page = front_page(std::slice::from_ref(&feed), "http://127.1.1.1:1");
    let link = format!(
        "type=\"application/atom+xml\" title=\"{}\" href=\"/feeds/{}/atom.xml\"",
        escape(&feed.title()),
        feed.number
    );
    assert!(
        page.contains(&format!("<link rel=\"alternate\" {link}>")),
        "{page}"
    );
}

#[test]
fn a_list_in_html_has_what_selectors_look_for() {
    let feed = feed(|feed| feed.charset == encoding_rs::UTF_8);
    let text = text(Document::Page, &feed);
    let entries = feed.entries(&[], now(), "");
    assert_eq!(
        text.matches("<li class=\"post\"><a class=\"title\" href=\"/feeds/")
            .count(),
        entries.len()
    );
    assert_eq!(text.matches("<time datetime=\"").count(), entries.len());
}
