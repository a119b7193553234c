//! Known kinds of bad input, and random input.

use std::fmt::Write as _;

use almanack_core::source::{
    entry::{
        CONTENT_BYTES_MAX, ENTRIES_PER_DOCUMENT, LINK_BYTES_MAX, SUMMARY_BYTES_MAX, TITLE_BYTES_MAX,
    },
    reading::{HtmlRules, JsonRules, SitemapRules},
};
use proptest::prelude::*;

use super::*;

const NOW: Timestamp = Timestamp::constant(1_767_600_000, 0);

fn base() -> Url {
    Url::parse("https://site.example/feed").unwrap()
}

fn feed(bytes: &[u8]) -> Result<Document, Failure> {
    read(&Reading::Feed, bytes, None, &base(), NOW)
}

fn class(bytes: &[u8]) -> Option<FailureClass> {
    feed(bytes).err().map(|failure| failure.class)
}

fn rss(items: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>News</title>{items}</channel></rss>"
    )
}

#[test]
fn ss_12_not_a_feed() {
    assert_eq!(class(b"hello"), Some(FailureClass::NotAFeed));
    assert_eq!(class(b"<html><body>hello"), Some(FailureClass::NotAFeed));
}

#[test]
fn ss_12_truncated_feed() {
    let whole = rss("<item><title>One</title></item><item><title>Two</title></item>");
    assert!(feed(whole.as_bytes()).is_ok());
    // The root's name must be there for it to be a feed at all.
    for cut in 45..whole.len() {
        assert_eq!(
            class(&whole.as_bytes()[..cut]),
            Some(FailureClass::Malformed),
            "cut at {cut}"
        );
    }
    let json = br#"{"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1"}"#;
    assert_eq!(class(json), Some(FailureClass::Malformed));
}

#[test]
fn ss_12_xml_entity_bomb() {
    let mut bomb = String::from("<?xml version=\"1.0\"?><!DOCTYPE rss [<!ENTITY lol0 \"lol\">");
    for level in 1..=9 {
        let inner = format!("&lol{};", level - 1).repeat(10);
        let _ = write!(bomb, "<!ENTITY lol{level} \"{inner}\">");
    }
    let item = "<item><title>&lol9;</title><guid>1</guid><description>&lol9;</description></item>";
    let _ = write!(bomb, "]>{}", &rss(item)[21..]);
    let document = feed(bomb.as_bytes()).unwrap();
    assert_eq!(document.entries[0].title, "&lol9;", "it is not expanded");
    let outside = "<!DOCTYPE rss [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>".to_owned()
        + &rss("<item><title>&x;</title></item>")[21..];
    assert_eq!(feed(outside.as_bytes()).unwrap().entries[0].title, "&x;");
}

#[test]
fn ss_12_deep_nesting() {
    let deep = rss(&("<item>".repeat(200_000) + &"</item>".repeat(200_000)));
    let failure = feed(deep.as_bytes()).unwrap_err();
    assert_eq!(failure.class, FailureClass::Malformed);
    insta::assert_snapshot!(failure.detail, @"the document is nested more than 512 deep");
    let json = format!(
        "{{\"version\": \"https://jsonfeed.org/version/1\", \"items\": {}",
        "[".repeat(200_000)
    );
    assert_eq!(class(json.as_bytes()), Some(FailureClass::Malformed));
    let content = format!(
        "<item><guid>1</guid><description><![CDATA[{}]]></description></item>",
        "<b>".repeat(200_000)
    );
    assert!(
        feed(rss(&content).as_bytes()).is_ok(),
        "nesting inside an entry costs that entry only"
    );
}

#[test]
fn ss_12_a_feed_of_too_many_entries_is_refused_before_it_fills_the_memory() {
    let failure = feed(rss(&"<item/>".repeat(100_001)).as_bytes()).unwrap_err();
    assert_eq!(failure.class, FailureClass::TooLarge);
    insta::assert_snapshot!(failure.detail, @"the feed has more than 100000 entries");
}

#[test]
fn ss_20_the_files_of_a_long_feed_are_read() {
    let item = |at: usize| {
        format!("<item><guid>{at}</guid><enclosure url='/{at}.mp3'></enclosure></item>")
    };
    let items: String = (0..10_001).map(item).collect();
    let document = feed(rss(&items).as_bytes()).unwrap();
    let file = |at: usize| document.entries[at].enclosures[0].url.as_str();
    assert_eq!(file(199), "https://site.example/199.mp3");
}

#[test]
fn ss_12_wrong_charset() {
    let declared = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><rss version=\"2.0\"><channel><item><title>Ünï – 日本</title></item></channel></rss>";
    assert_eq!(
        feed(declared.as_bytes()).unwrap().entries[0].title,
        "Ünï – 日本"
    );
    let (bytes, _, _) = encoding_rs::WINDOWS_1252
        .encode("<rss version=\"2.0\"><channel><item><title>Ünï</title></item></channel></rss>");
    let document = read(
        &Reading::Feed,
        &bytes,
        Some("text/xml; charset=utf-8"),
        &base(),
        NOW,
    )
    .unwrap();
    assert_eq!(document.entries[0].title, "Ünï");
}

#[test]
fn ss_12_feed_with_50_000_items() {
    let mut items = String::new();
    for number in 0..50_000 {
        let _ = write!(
            items,
            "<item><guid>{number}</guid><title>Entry {number}</title></item>"
        );
    }
    let document = feed(rss(&items).as_bytes()).unwrap();
    assert_eq!(document.entries.len(), ENTRIES_PER_DOCUMENT);
    assert_eq!(document.left_out, 50_000 - ENTRIES_PER_DOCUMENT);
}

#[test]
fn ss_12_duplicate_ids() {
    let item = |title: &str| format!("<item><guid>1</guid><title>{title}</title></item>");
    let entries = |items: String| feed(rss(&items).as_bytes()).unwrap().entries;
    assert_eq!(entries(item("a") + &item("a")).len(), 1);
    assert_eq!(entries(item("a") + &item("b")).len(), 2, "no word is lost");
}

#[test]
fn ss_12_entries_in_an_unknown_namespace_are_not_an_empty_feed() {
    let foreign =
        "<rss version='2.0' xmlns='urn:x'><channel><item><title>a</title></item></channel></rss>";
    let failure = feed(foreign.as_bytes()).unwrap_err();
    insta::assert_snapshot!(failure.detail, @"the feed shows entries (1), but in a namespace that is not a feed's");
}

#[test]
fn ss_12_control_characters_are_nowhere() {
    let text = rss(
        "<item><guid>a\u{1}b&#1;</guid><title>c\0d\u{85}</title><author>e\u{7}f</author><description>g\u{8}h\u{9f}</description></item>",
    );
    let found = &feed(text.as_bytes()).unwrap().entries[0];
    let all = format!("{found:?}");
    assert!(!all.contains("\\u{") && !all.contains("\\0"), "{all}");
}

/// Every reading, for texts that could be any of them.
fn readings() -> [Reading; 4] {
    let some = |text: &str| Some(text.to_owned());
    [
        Reading::Feed,
        Reading::Html(HtmlRules {
            item: "li, item, p".to_owned(),
            title: "*".to_owned(),
            link: None,
            date: some("time, pubdate"),
            summary: some("*"),
        }),
        Reading::Json(JsonRules {
            items: "$..items[*]".to_owned(),
            title: "$.title".to_owned(),
            link: some("$.url"),
            id: some("$.id"),
            date: some("$.date_published"),
            summary: some("$..*"),
        }),
        Reading::Sitemap(SitemapRules::default()),
    ]
}

const WHOLE: [&str; 8] = [
    "<rss version=\"2.0\" xmlns:media=\"http://search.yahoo.com/mrss/\"><channel><item><enclosure url=\"a.mp3\" length=\"5\" type=\"audio/mpeg\"/><category>News</category><media:group><media:content url=\"//b.example/c.mp4\"/><media:description>about &amp; more</media:description></media:group><pubDate>14.11.2026 15:04</pubDate></item></channel></rss>",
    "<feed version=\"0.3\" xmlns=\"http://purl.org/atom/ns#\"><entry><title mode=\"escaped\" type=\"text/html\">a &lt;b&gt;</title><issued>2026-01-02T03:04:05Z</issued><content type=\"application/xhtml+xml\"><div>x</div></content></entry></feed>",
    "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns=\"http://purl.org/rss/1.0/\"><item rdf:about=\"/1\"><title>x</title><dc:subject>y</dc:subject></item></rdf:RDF>",
    "<?xml version=\"1.0\" encoding=\"utf-8\"?><rss version=\"2.0\"><channel><title>News &amp; more</title><ttl>5</ttl><skipHours><hour>3</hour></skipHours><item><guid>1</guid><title><![CDATA[One <b>x</b>]]></title><link>/1</link><pubDate>Fri, 02 Jan 2026 05:04:05 +0200</pubDate><description>&lt;p&gt;text</description></item></channel></rss>",
    "<feed xmlns=\"http://www.w3.org/2005/Atom\" xml:base=\"/a/\"><title type=\"html\">x</title><entry><id>1</id><title type=\"xhtml\"><div>y <b>z</b></div></title><link href=\"b\"/><updated>2026-01-02T03:04:05Z</updated><content type=\"html\">&lt;p&gt;</content></entry></feed>",
    "{\"version\": \"https://jsonfeed.org/version/1.1\", \"title\": \"x\", \"items\": [{\"id\": 1, \"url\": \"/1\", \"title\": \"t\", \"content_html\": \"<p>x\", \"date_published\": \"2026-01-02\"}]}",
    "<!DOCTYPE html><html><head><title>x</title><link rel=alternate type=application/rss+xml href=/f></head><body><ul><li><a href=\"1\">one</a><time datetime=\"2026-01-02\"></time></li><li>two</li></ul>",
    "<urlset><url><loc>https://site.example/1</loc><lastmod>2026-01-02</lastmod></url></urlset>",
];

fn check_limits(document: &Document) -> Result<(), TestCaseError> {
    prop_assert!(document.entries.len() <= ENTRIES_PER_DOCUMENT);
    for found in &document.entries {
        prop_assert!(found.key().is_some());
        prop_assert!(found.title.len() <= TITLE_BYTES_MAX);
        let texts = [
            &found.id,
            &found.link,
            &found.author,
            &Some(found.title.clone()),
        ];
        prop_assert!(
            !texts
                .into_iter()
                .flatten()
                .any(|text| text.contains(char::is_control))
        );
        let long = |text: &Option<String>, max| text.as_ref().is_some_and(|text| text.len() > max);
        prop_assert!(
            !long(&found.summary, SUMMARY_BYTES_MAX) && !long(&found.content, CONTENT_BYTES_MAX)
        );
        prop_assert!(found.enclosures.len() <= 10 && found.categories.len() <= 20);
        for file in &found.enclosures {
            prop_assert!(file.url.starts_with("http") && file.url.len() <= LINK_BYTES_MAX);
            prop_assert!(!file.url.contains(char::is_control));
        }
        for category in &found.categories {
            prop_assert!(category.len() <= 100 && !category.contains(char::is_control));
        }
        let markup = format!("{:?}{:?}", found.summary, found.content).to_ascii_lowercase();
        prop_assert!(!markup.contains("<script") && !markup.contains("href=\\\"javascript"));
    }
    Ok(())
}

fn read_all(bytes: &[u8]) -> Result<(), TestCaseError> {
    for reading in readings() {
        match read(&reading, bytes, Some("text/xml"), &base(), NOW) {
            Ok(document) => check_limits(&document)?,
            Err(failure) => {
                prop_assert!(
                    failure.detail.len() < 2000 && !failure.detail.contains(char::is_control)
                );
            }
        }
    }
    Ok(())
}

/// A whole document with pieces cut out, doubled and replaced.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let edit = (
        any::<prop::sample::Index>(),
        0_usize..40,
        prop::collection::vec(any::<u8>(), 0..8),
        0_usize..3,
    );
    (0..WHOLE.len(), prop::collection::vec(edit, 1..6)).prop_map(|(which, edits)| {
        let mut bytes = WHOLE[which].as_bytes().to_vec();
        for (at, length, noise, times) in edits {
            let from = at.index(bytes.len() + 1);
            let to = (from + length).min(bytes.len());
            let piece = bytes[from..to].repeat(times);
            bytes.splice(from..to, piece.into_iter().chain(noise));
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_break_nothing(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        read_all(&bytes)?;
    }

    #[test]
    fn mutated_documents_break_nothing(bytes in mutated()) {
        read_all(&bytes)?;
    }

    #[test]
    fn soups_of_tags_break_nothing(text in "(<(/?)(rss|channel|item|title|feed|entry|link|!\\[CDATA\\[|!--|url|loc|li|p|script|table|a href='javascript:x')( /)?>|]]>|-->|&[a-z#0-9]{1,6};|&|[a-z \u{0}é]{1,8}){0,60}") {
        read_all(text.as_bytes())?;
        read_all(format!("<rss version='2.0'><channel>{text}</channel></rss>").as_bytes())?;
    }
}
