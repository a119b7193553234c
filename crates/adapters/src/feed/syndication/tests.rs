mod extras;

use almanack_core::source::{check::Document, entry::FoundEntry, reading::Reading};
use jiff::Timestamp;
use url::Url;

const NOW: Timestamp = Timestamp::constant(1_767_600_000, 0);

fn read(text: &str) -> Document {
    let base = Url::parse("https://site.example/blog/feed.xml").unwrap();
    crate::feed::read(&Reading::Feed, text.as_bytes(), None, &base, NOW)
        .unwrap_or_else(|failure| panic!("{failure:?}\n{text}"))
}

/// One entry of an RSS feed.
fn item(fields: &str) -> FoundEntry {
    let text = format!(
        "<rss version='2.0' xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:content='http://purl.org/rss/1.0/modules/content/'><channel><title>x</title><item>{fields}</item></channel></rss>"
    );
    read(&text).entries.remove(0)
}

/// One entry of an Atom feed.
fn entry(fields: &str) -> FoundEntry {
    let text = format!(
        "<feed xmlns='http://www.w3.org/2005/Atom'><title>x</title><entry>{fields}</entry></feed>"
    );
    read(&text).entries.remove(0)
}

#[test]
fn ss_12_every_version_of_rss_and_atom_is_read() {
    let item = "<item><title>One</title><link>https://site.example/1</link></item>";
    let entry = "<entry><id>1</id><title>One</title><link href='https://site.example/1'/></entry>";
    let rss = |open: &str| {
        format!("<?xml version='1.0'?>\n<{open}><channel><title>News</title>{item}</channel></rss>")
    };
    let rdf = |name: &str| {
        format!(
            "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='{name}'><channel><title>News</title></channel>{item}</rdf:RDF>"
        )
    };
    for (text, why) in [
        (rdf("http://my.netscape.com/rdf/simple/0.9/"), "RSS 0.90"),
        (rss("rss version='0.91'"), "RSS 0.91"),
        (rss("rss version='0.92'"), "RSS 0.92"),
        (rss("rss version='0.93'"), "RSS 0.93"),
        (rss("rss version='0.94'"), "RSS 0.94"),
        (rdf("http://purl.org/rss/1.0/"), "RSS 1.0"),
        (rss("rss version='2.0'"), "RSS 2.0"),
        (rss("rss version='2.0.1'"), "a version that does not exist"),
        (rss("rss"), "no version"),
        (
            rss("rss version='2.0' xmlns='http://backend.userland.com/rss2'"),
            "an old namespace",
        ),
        (
            format!("<feed xmlns='http://www.w3.org/2005/Atom'><title>News</title>{entry}</feed>"),
            "Atom 1.0",
        ),
        (
            format!("<feed><title>News</title>{entry}</feed>"),
            "Atom without namespace",
        ),
        (
            "<a:feed xmlns:a='http://www.w3.org/2005/Atom'><a:title>News</a:title><a:entry><a:title>One</a:title><a:link href='https://site.example/1'/></a:entry></a:feed>".to_owned(),
            "Atom with a prefix",
        ),
        (
            format!(
                "<feed version='0.3' xmlns='http://purl.org/atom/ns#'><title>News</title>{entry}</feed>"
            ),
            "Atom 0.3",
        ),
    ] {
        let document = read(&text);
        assert_eq!(document.title.as_deref(), Some("News"), "{why}");
        assert_eq!(document.entries.len(), 1, "{why}");
        assert_eq!(document.entries[0].title, "One", "{why}");
        assert_eq!(
            document.entries[0].link.as_deref(),
            Some("https://site.example/1"),
            "{why}"
        );
    }
}

#[test]
fn ss_13_an_id_is_the_publishers_or_none() {
    assert_eq!(
        item("<guid> a-1 </guid><title>t</title>").id.as_deref(),
        Some("a-1")
    );
    assert_eq!(
        entry("<id>tag:x,2026:1</id><title>t</title>").id.as_deref(),
        Some("tag:x,2026:1")
    );
    let unnamed = item("<title>t</title><link>/1</link>");
    assert_eq!(unnamed.id, None, "an invented one would be new each time");
    assert_eq!(
        unnamed.key().as_deref(),
        Some("link:https://site.example/1")
    );
    let permalink = item("<guid>https://site.example/2</guid><title>t</title>");
    assert_eq!(permalink.link.as_deref(), Some("https://site.example/2"));
}

#[test]
fn links_lead_to_the_page_of_an_entry() {
    for (fields, expected, why) in [
        (
            "<link rel='self' href='/self'/><link href='/page'/>",
            Some("https://site.example/page"),
            "not itself",
        ),
        (
            "<link rel='enclosure' href='/a.mp3'/><link rel='alternate' href='page'/>",
            Some("https://site.example/blog/page"),
            "not a file",
        ),
        (
            "<link type='application/json' href='/j'/><link type='text/html' href='/page'/>",
            Some("https://site.example/page"),
            "a page first",
        ),
        (
            "<link type='application/pdf' href='/a.pdf'/>",
            Some("https://site.example/a.pdf"),
            "what there is",
        ),
        (
            "<link rel='edit' href='/edit'/>",
            None,
            "not where it is edited",
        ),
        (
            "<link href='/page?utm_source=feed#top'/>",
            Some("https://site.example/page"),
            "canonical",
        ),
    ] {
        let found = entry(&format!("<id>1</id><title>t</title>{fields}"));
        assert_eq!(found.link.as_deref(), expected, "{why}");
    }
    let based = read(
        "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='https://other.example/a/'><title>x</title><entry xml:base='b/'><title>t</title><link href='c'/></entry></feed>",
    );
    assert_eq!(
        based.entries[0].link.as_deref(),
        Some("https://other.example/a/b/c")
    );
    assert_eq!(item("<title>t</title><link/>").link, None);
    assert_eq!(
        item("<title>t</title><link>\n /1 \n</link>")
            .link
            .as_deref(),
        Some("https://site.example/1")
    );
}

#[test]
fn ss_13_times_are_the_publishers_or_none() {
    let at = |found: FoundEntry| found.published_at.map(|at| at.to_string());
    let rss = |date: &str| at(item(&format!("<title>t</title>{date}")));
    assert_eq!(
        rss("<pubDate>Fri, 02 Jan 2026 05:04:05 +0200</pubDate>").as_deref(),
        Some("2026-01-02T03:04:05Z")
    );
    assert_eq!(
        rss("<dc:date>2026-01-02</dc:date>").as_deref(),
        Some("2026-01-02T00:00:00Z")
    );
    assert_eq!(rss(""), None, "never the time of the check");
    assert_eq!(rss("<pubDate>yesterday</pubDate>"), None);
    assert_eq!(
        rss("<pubDate>Fri, 02 Jan 2037 05:04:05 GMT</pubDate>"),
        None,
        "not believed"
    );
    assert_eq!(
        rss("<pubDate>Thu, 01 Jan 1970 00:00:00 GMT</pubDate>"),
        None,
        "a program's default"
    );
    let atom = |dates: &str| at(entry(&format!("<title>t</title>{dates}")));
    assert_eq!(
        atom("<updated>2026-01-03T00:00:00Z</updated><published>2026-01-02T00:00:00Z</published>")
            .as_deref(),
        Some("2026-01-02T00:00:00Z"),
    );
    assert_eq!(
        atom("<updated>2026-01-03T00:00:00Z</updated>").as_deref(),
        Some("2026-01-03T00:00:00Z")
    );
}

#[test]
fn titles_and_contents_are_what_their_format_says() {
    assert_eq!(
        item("<title>A &amp;amp; B &lt;b&gt;c&lt;/b&gt;</title>").title,
        "A & B c"
    );
    assert_eq!(
        item("<title><![CDATA[A & <i>B</i>]]></title>").title,
        "A & B"
    );
    assert_eq!(
        entry("<title>1 &lt; 2 &lt;b&gt;</title><id>1</id>").title,
        "1 < 2 <b>",
        "Atom says text"
    );
    assert_eq!(
        entry("<title type='html'>A &lt;b&gt;c&lt;/b&gt;</title>").title,
        "A c"
    );
    assert_eq!(
        entry(
            "<title type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>A <b>c</b></div></title>"
        )
        .title,
        "A c"
    );
    assert_eq!(entry("<title/><id>1</id>").title, "");
    let found = item(
        "<title>t</title><link>/post/1</link><dc:creator>Ann</dc:creator><description>&lt;p onclick='x'&gt;short</description><content:encoded><![CDATA[<p>long<script>x</script><img src='a.png'></p>]]></content:encoded>",
    );
    assert_eq!(found.author.as_deref(), Some("Ann"));
    assert_eq!(found.summary.as_deref(), Some("<p>short</p>"));
    assert_eq!(
        found.content.as_deref(),
        Some(r#"<p>long<img src="https://site.example/post/a.png"></p>"#)
    );
    let text = entry(
        "<title>t</title><summary>a &lt; b</summary><content type='text'>x &amp; y</content>",
    );
    assert_eq!(text.summary.as_deref(), Some("a &lt; b"));
    let picture = entry("<title>t</title><content type='image/png'>iVBORw0KGgo=</content>");
    assert_eq!(picture.content, None);
}

#[test]
fn ss_12_an_empty_feed_is_a_feed() {
    for text in [
        "<rss version='2.0'><channel><title>x</title></channel></rss>",
        "<rss version='2.0'><channel/></rss>",
        "<feed xmlns='http://www.w3.org/2005/Atom'/>",
        "{\"version\": \"https://jsonfeed.org/version/1.1\", \"items\": []}",
    ] {
        assert_eq!(read(text).entries, [], "{text}");
    }
}
