use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use jiff::Timestamp;

use super::*;

const NOW: Timestamp = Timestamp::constant(1_767_600_000, 0);
const SITEMAP: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">
  <url><loc>https://site.example/blog/1?a=1&amp;b=2</loc><lastmod>2026-01-02</lastmod></url>
  <url><loc> https://site.example/about </loc></url>
  <url><loc>https://site.example/blog/2</loc><lastmod>2026-01-03</lastmod><news:news><news:publication_date>2026-01-02T03:04:05Z</news:publication_date><news:title>Two &amp; more</news:title></news:news></url>
  <url><lastmod>2026-01-02</lastmod></url>
</urlset>"#;

fn read_by(rules: &SitemapRules, bytes: &[u8]) -> Result<Document, Failure> {
    let base = Url::parse("https://site.example/sitemap.xml").unwrap();
    read(rules, bytes, None, &base, &Against::nothing(NOW))
}

fn containing(part: &str) -> SitemapRules {
    SitemapRules {
        containing: Some(part.to_owned()),
    }
}

fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

#[test]
fn ss_12_a_sitemaps_pages_are_entries() {
    for bytes in [SITEMAP.as_bytes().to_vec(), pack(SITEMAP.as_bytes())] {
        let document = read_by(&SitemapRules::default(), &bytes).unwrap();
        let [first, second, third] = document.entries.as_slice() else {
            panic!()
        };
        assert_eq!(
            first.link.as_deref(),
            Some("https://site.example/blog/1?a=1&b=2")
        );
        assert_eq!(
            first.published_at.unwrap().to_string(),
            "2026-01-02T00:00:00Z"
        );
        assert_eq!(second.published_at, None);
        assert_eq!(third.title, "Two & more");
        assert_eq!(
            third.published_at.unwrap().to_string(),
            "2026-01-02T03:04:05Z",
            "published, not changed"
        );
    }
    let blog = read_by(&containing("/blog/"), SITEMAP.as_bytes()).unwrap();
    assert_eq!(blog.entries.len(), 2);
    assert_eq!(
        read_by(&containing("x"), b"<urlset/>").unwrap().entries,
        [],
        "empty is no mistake"
    );
}

#[test]
fn a_part_that_cannot_be_shown_is_refused() {
    for (part, refused) in [
        ("", RulesError::Empty { name: "containing" }),
        ("a\nb", RulesError::Control { name: "containing" }),
        (&"a".repeat(301), RulesError::TooLong { name: "containing" }),
    ] {
        assert_eq!(validate(&containing(part)), Err(refused));
    }
}

#[test]
fn sentences_about_sitemaps() {
    let error = |rules: &SitemapRules, bytes: &[u8]| {
        let failure = read_by(rules, bytes).unwrap_err();
        format!("{}: {}", failure.class, failure.detail)
    };
    let all = SitemapRules::default();
    let children = |count: usize| {
        let child = |number| format!("<sitemap><loc>/s{number}.xml</loc></sitemap>");
        format!(
            "<sitemapindex>{}</sitemapindex>",
            (0..count).map(child).collect::<String>()
        )
    };
    insta::assert_snapshot!(error(&all, children(0).as_bytes()), @"not_a_feed: this is an index of sitemaps, and it is empty");
    insta::assert_snapshot!(error(&all, children(2).as_bytes()), @"not_a_feed: this is an index of sitemaps; choose one of https://site.example/s0.xml, https://site.example/s1.xml");
    insta::assert_snapshot!(error(&all, children(9).as_bytes()), @"not_a_feed: this is an index of sitemaps; choose one of https://site.example/s0.xml, https://site.example/s1.xml, https://site.example/s2.xml, https://site.example/s3.xml, https://site.example/s4.xml and 4 more");
    insta::assert_snapshot!(error(&containing("/news/"), SITEMAP.as_bytes()), @"rules: none of the sitemap's 3 pages has `/news/` in its address");
    insta::assert_snapshot!(error(&all, &SITEMAP.as_bytes()[..400]), @"malformed: the document breaks off in or after entry 3");
    insta::assert_snapshot!(error(&all, b"<rss/>"), @"not_a_feed: this is not a sitemap: it is a feed");
    insta::assert_snapshot!(error(&all, b"\x1f\x8bnot packed"), @"malformed: the compressed sitemap cannot be decompressed, or is truncated");
    insta::assert_snapshot!(error(&all, &pack(&vec![b' '; 17 * 1024 * 1024])), @"too_large: the sitemap decompresses to more than 16777216 bytes");
}
