use proptest::prelude::*;

use super::*;

fn link(text: &str) -> Option<String> {
    let base = Url::parse("https://example.com/blog/feed.xml").unwrap();
    canonical_link(Some(&base), text)
}

#[test]
fn ss_13_a_link_is_written_in_one_way() {
    let rows = [
        // (as found, canonical)
        ("https://Example.COM/a", Some("https://example.com/a")),
        ("HTTPS://example.com:443/a", Some("https://example.com/a")),
        ("/a#top", Some("https://example.com/a")),
        ("b", Some("https://example.com/blog/b")),
        ("//example.org/c", Some("https://example.org/c")),
        (
            "https://example.com/a?utm_source=x&UTM_Medium=y",
            Some("https://example.com/a"),
        ),
        (
            "https://example.com/a?b=1&fbclid=2&c=%20",
            Some("https://example.com/a?b=1&c=%20"),
        ),
        // Different pages: the founding list merged them.
        (
            "https://example.com/a?source=rss&ref=2",
            Some("https://example.com/a?source=rss&ref=2"),
        ),
        ("  https://example.com/a\n", Some("https://example.com/a")),
        ("mailto:someone@example.com", None),
        ("javascript:alert(1)", None),
        ("data:text/html,x", None),
        ("http://", None),
    ];
    for (found, canonical) in rows {
        assert_eq!(link(found).as_deref(), canonical, "{found}");
    }
    assert_eq!(
        canonical_link(None, "/a"),
        None,
        "nothing to resolve against"
    );
    let long = format!("https://example.com/{}", "a".repeat(LINK_BYTES_MAX));
    assert_eq!(link(&long), None, "a cut link would lead elsewhere");
}

#[test]
fn an_address_is_written_in_one_way() {
    let rows = [
        (
            "HTTPS://Example.COM:443/Feed#top",
            "https://example.com/Feed",
        ),
        (" https://example.com ", "https://example.com/"),
        (
            "https://example.com/?utm_source=x",
            "https://example.com/?utm_source=x",
        ),
        (
            "https://münchen.example/",
            "https://xn--mnchen-3ya.example/",
        ),
        ("not an address", "not an address"),
        // As browsers hand feeds to readers.
        ("feed://example.com/feed", "http://example.com/feed"),
        ("feed:https://example.com/feed", "https://example.com/feed"),
        ("Feed:HTTPS://Example.com/feed", "https://example.com/feed"),
        ("feed:", ""),
    ];
    for (given, written) in rows {
        assert_eq!(canonical_address(given), written);
    }
}

#[test]
fn ss_13_an_entry_is_known_by_id_then_link_then_title() {
    let found = |id: Option<&str>, link: Option<&str>, title: &str| {
        let found = FoundEntry {
            id: id.map(str::to_owned),
            link: link.map(str::to_owned),
            title: title.to_owned(),
            ..FoundEntry::default()
        };
        found.key()
    };
    let rows = [
        (found(Some("7"), Some("https://a/"), "T"), Some("id:7")),
        (
            found(Some(" "), Some("https://a/"), "T"),
            Some("link:https://a/"),
        ),
        (found(None, None, " T "), Some("title:T")),
        (found(None, None, "  "), None),
    ];
    for (key, expected) in rows {
        assert_eq!(key.as_deref(), expected);
    }
    let described = FoundEntry {
        print: 0xab,
        ..FoundEntry::default()
    };
    assert_eq!(described.key().as_deref(), Some("words:00000000000000ab"));
}

#[test]
fn ss_18_keys_and_links_do_not_depend_on_scheme_or_www() {
    let rows = [
        // (one, another, the same)
        ("id:http://a.example/1", "id:https://a.example/1", true),
        ("id:http://a.example/1", "id:https://www.a.example/1", true),
        (
            "link:https://a.example/1",
            "link:http://www.a.example/1",
            true,
        ),
        ("link:https://a.example/1", "id:https://a.example/1", false),
        (
            "link:https://a.example/1",
            "link:https://b.example/1",
            false,
        ),
        ("id:tag:a", "id:tag:b", false),
        ("title:http://a.example/", "title:https://a.example/", false),
    ];
    for (one, another, same) in rows {
        assert_eq!(key_hash(one) == key_hash(another), same, "{one} {another}");
    }
    let link = link_hash("https://a.example/1");
    assert_eq!(link, link_hash("http://www.a.example/1"));
    assert_ne!(link, link_hash("http://a.example/2"));
}

#[test]
fn ss_13_a_time_that_cannot_be_is_not_believed() {
    let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
    let rows = [
        ("2026-03-01T12:00:00Z", true),
        ("2026-03-02T12:00:00Z", true), // a day ahead: a zone mistaken
        ("2026-03-02T12:00:01Z", false), // further ahead: a mistake
        ("2038-01-19T03:14:07Z", false),
        ("1970-01-01T00:00:00Z", false), // a default of some program
        ("1999-03-15T00:00:00Z", true),
    ];
    for (text, believed) in rows {
        let at: Timestamp = text.parse().unwrap();
        assert_eq!(believable(at, now), believed.then_some(at), "{text}");
    }
}

proptest! {
    #[test]
    fn ss_13_a_canonical_link_is_its_own_canonical_link(path in "[a-z%0-9/?&=_#.]{0,60}") {
        if let Some(once) = link(&format!("https://example.com/{path}")) {
            prop_assert_eq!(link(&once), Some(once));
        }
    }

    #[test]
    fn ss_13_a_key_fits_and_long_ones_stay_apart(start in "[a-zü]{0,600}", a in "[a-z]{1,9}", b in "[a-z]{1,9}") {
        let key = |end: &str| FoundEntry { id: Some(format!("x{start}{end}")), ..FoundEntry::default() }.key().unwrap();
        prop_assert!(key(&a).len() <= KEY_BYTES_MAX);
        prop_assert_eq!(key(&a) == key(&b), a == b);
    }
}
