use almanack_core::source::reading::Reading;
use jiff::Timestamp;

use super::*;

const NOW: Timestamp = Timestamp::constant(1_767_600_000, 0);

fn base() -> Url {
    Url::parse("https://site.example/api/list").unwrap()
}

fn rules(items: &str) -> JsonRules {
    JsonRules {
        items: items.to_owned(),
        title: "$.name".to_owned(),
        link: Some("$.where.url".to_owned()),
        id: None,
        date: Some("$.at".to_owned()),
        summary: None,
    }
}

fn read(rules: &JsonRules, text: &str) -> Result<Document, Failure> {
    crate::feed::read(
        &Reading::Json(rules.clone()),
        text.as_bytes(),
        None,
        &base(),
        NOW,
    )
}

const LIST: &str = r#"{"data": {"list": [
    {"name": "One", "where": {"url": "/1"}, "at": 1767323045, "key": 17},
    {"name": "Two &amp; <b>more</b>", "where": {"url": "https://other.example/2"}, "at": "2026-01-02T03:04:05Z"},
    {"name": "Three", "where": {"url": "/3"}, "at": 1767323045000}
]}, "empty": []}"#;

#[test]
fn ss_12_json_is_read_by_paths() {
    for items in ["$.data.list[*]", "$.data.list", "data.list", "$..list[*]"] {
        let document = read(&rules(items), LIST).unwrap();
        let entries: Vec<_> = document
            .entries
            .iter()
            .map(|found| (found.title.as_str(), found.link.as_deref().unwrap()))
            .collect();
        assert_eq!(
            entries,
            [
                ("One", "https://site.example/1"),
                ("Two & more", "https://other.example/2"),
                ("Three", "https://site.example/3"),
            ],
            "{items}"
        );
        let second = |found: &almanack_core::source::entry::FoundEntry| {
            found.published_at.unwrap().as_second()
        };
        assert!(
            document
                .entries
                .iter()
                .all(|found| second(found) == 1_767_323_045)
        );
    }
    let named = JsonRules {
        id: Some("key".to_owned()),
        ..rules("$.data.list")
    };
    assert_eq!(
        read(&named, LIST).unwrap().entries[0].id.as_deref(),
        Some("17")
    );
    for items in ["$.empty", "$.empty[*]", "$.empty.*"] {
        assert_eq!(
            read(&rules(items), LIST).unwrap().entries,
            [],
            "an empty list is no mistake"
        );
    }
}

#[test]
fn sentences_about_json() {
    let error = |rules: &JsonRules, text: &str| {
        let failure = read(rules, text).unwrap_err();
        format!("{}: {}", failure.class, failure.detail)
    };
    insta::assert_snapshot!(error(&rules("$.nothing[*]"), LIST), @"rules: the path `$.nothing[*]` for `items` finds nothing in this document");
    insta::assert_snapshot!(error(&JsonRules { title: "$.titel".to_owned(), ..rules("$.data.list") }, LIST), @"rules: the path `$.titel` for `title` finds nothing in any of the 3 items");
    insta::assert_snapshot!(error(&JsonRules { link: Some("$.href".to_owned()), ..rules("$.data.list") }, LIST), @"rules: the path `$.href` for `link` finds nothing in any of the 3 items");
    insta::assert_snapshot!(error(&rules("$.data.list"), &LIST[..100]), @"malformed: the JSON breaks off before its end");
    insta::assert_snapshot!(error(&rules("$.data.list"), "<html>"), @"malformed: this is not JSON at line 1, column 1");
    insta::assert_snapshot!(error(&rules("$[?"), LIST), @"rules: `items`: `$[?` is not a JSON path (RFC 9535): in long-hand segment, parser error");
    insta::assert_snapshot!(error(&rules("$..a..b"), LIST), @"rules: `items` uses `..` more than once; name the way to it instead");
    insta::assert_snapshot!(error(&rules(&"a".repeat(301)), LIST), @"rules: `items` is longer than 300 bytes");
    insta::assert_snapshot!(error(&rules("$"), &"[".repeat(100_000)), @"malformed: this is not JSON at line 1, column 128");
}

#[test]
fn ss_12_json_feed_is_read_with_its_liberties() {
    let read = |text: &str| {
        crate::feed::read(
            &Reading::Feed,
            text.as_bytes(),
            Some("application/feed+json"),
            &base(),
            NOW,
        )
        .unwrap()
    };
    let document = read(
        r#" {"version": "https://jsonfeed.org/version/1", "title": "News", "authors": [{"name": "Ann"}], "items": [
            {"id": 17, "url": "/1", "title": "<b> is text", "content_html": "<p onclick=x>a</p>", "date_published": "2026-01-02T05:04:05+02:00"},
            {"id": "b", "external_url": "https://other.example/", "content_text": "a < b", "author": {"name": "Bob"}, "summary": null},
            {"title": "only a title"}, {}, 7
        ]}"#,
    );
    assert_eq!(document.title.as_deref(), Some("News"));
    assert_eq!(document.entries.len(), 3);
    let [first, second, third] = document.entries.as_slice() else {
        panic!()
    };
    assert_eq!(first.id.as_deref(), Some("17"), "a number is an id, too");
    assert_eq!(first.title, "<b> is text");
    assert_eq!(first.content.as_deref(), Some("<p>a</p>"));
    assert_eq!(first.author.as_deref(), Some("Ann"), "the feed's");
    assert_eq!(
        first.published_at.unwrap().to_string(),
        "2026-01-02T03:04:05Z"
    );
    assert_eq!(second.author.as_deref(), Some("Bob"));
    assert_eq!(second.link.as_deref(), Some("https://other.example/"));
    assert!(second.content.as_deref().unwrap().contains("&lt;"));
    assert_eq!(third.key().as_deref(), Some("title:only a title"));
}

#[test]
fn a_path_that_cannot_be_shown_is_refused() {
    for path in ["$.a\r", "\n$.a", "$.\u{1b}"] {
        let refused = Paths::parse(&rules(path)).err();
        assert_eq!(refused, Some(RulesError::Control { name: "items" }));
    }
}
