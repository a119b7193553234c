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

fn files(found: &FoundEntry) -> Vec<(&str, Option<&str>, Option<u64>)> {
    let files = found.enclosures.iter();
    files
        .map(|file| (&*file.url, file.media_type.as_deref(), file.length))
        .collect()
}

/// One entry of an RSS feed with every vocabulary that podcasts use.
fn episode(fields: &str) -> FoundEntry {
    let text = format!(
        "<rss version='2.0' xmlns:itunes='http://www.itunes.com/dtds/podcast-1.0.dtd' xmlns:media='http://search.yahoo.com/mrss/' xmlns:atom='http://www.w3.org/2005/Atom' xmlns:dc='http://purl.org/dc/elements/1.1/'><channel><title>x</title><item><guid isPermaLink='false'>1</guid>{fields}</item></channel></rss>"
    );
    read(&text).entries.remove(0)
}

#[test]
fn ss_20_files_of_every_format_are_kept() {
    let one = ("https://cdn.example/1.mp3", Some("audio/mpeg"), Some(5));
    let picture = ("https://cdn.example/1.jpg", None, None);
    let rss = "<enclosure url='https://cdn.example/1.mp3' type='audio/mpeg' length='5'/>";
    let media = "<media:content url='https://cdn.example/1.jpg'/>";
    for (fields, expected, why) in [
        (rss.to_owned(), vec![one], "RSS"),
        (format!("{media}{rss}"), vec![one, picture], "both, the file first"),
        (format!("<media:group>{media}</media:group>{rss}"), vec![one, picture], "a group"),
        (format!("{rss}{rss}"), vec![one], "each once"),
        (
            "<atom:link rel='Enclosure' href='https://cdn.example/1.mp3' type='audio/mpeg' length='5'/>".to_owned(),
            vec![one],
            "Atom's in RSS",
        ),
        (
            "<media:content url='a.mp4?b=1&amp;c=2' fileSize='9'><media:thumbnail url='x'/></media:content>".to_owned(),
            vec![("https://site.example/blog/a.mp4?b=1&c=2", None, Some(9))],
            "relative",
        ),
        (
            "<enclosure url='' length='5'/><enclosure url='javascript:x'/><enclosure/>".to_owned(),
            vec![],
            "none",
        ),
        (
            "<enclosure url='https://cdn.example/1.jpg' length='a lot' type=' '/>".to_owned(),
            vec![picture],
            "as far as it can be read",
        ),
    ] {
        assert_eq!(files(&episode(&fields)), expected, "{why}");
    }
    let atom = entry(
        "<id>1</id><link rel='enclosure' type='audio/mpeg' length='5' href='https://cdn.example/1.mp3'/>",
    );
    assert_eq!(files(&atom), [one]);
    let based = read(
        "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='https://cdn.example/x/'><entry xml:base='../'><id>1</id><link rel='enclosure' type='audio/mpeg' length='5' href='1.mp3'/></entry><entry><id>2</id><link rel='enclosure' href='2.mp3'/></entry></feed>",
    );
    assert_eq!(files(&based.entries[0]), [one]);
    assert_eq!(
        files(&based.entries[1])[0].0,
        "https://cdn.example/x/2.mp3",
        "a base ends with its element"
    );
    let json = read(
        r#"{"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1", "attachments": [{"url": "https://cdn.example/1.mp3", "mime_type": "audio/mpeg", "size_in_bytes": 5}, {"mime_type": "x"}, "y"]}]}"#,
    );
    assert_eq!(files(&json.entries[0]), [one]);
    let rdf = read(
        "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/' xmlns:enc='http://purl.oclc.org/net/rss_2.0/enc#'><item rdf:about='/1'><title>t</title><enc:enclosure rdf:resource='https://cdn.example/1.mp3' enc:type='audio/mpeg' enc:length='5'/></item></rdf:RDF>",
    );
    assert_eq!(files(&rdf.entries[0]), [one]);
}

#[test]
fn ss_20_an_entry_without_a_link_keeps_its_files() {
    let found = episode("<media:content url='/a.jpg'/><enclosure url='/a.mp3'/><title>t</title>");
    assert_eq!(found.link.as_deref(), Some("https://site.example/a.mp3"));
    let linked = episode("<enclosure url='/a.mp3'/><link>/page</link>");
    assert_eq!(linked.link.as_deref(), Some("https://site.example/page"));
}

#[test]
fn ss_20_a_summary_is_where_there_is_one() {
    for (fields, expected, why) in [
        (
            "<description>own</description><itunes:summary>x</itunes:summary>",
            Some("own"),
            "its own",
        ),
        (
            "<itunes:summary>a &amp;amp; b</itunes:summary>",
            Some("a &amp; b"),
            "a podcast's",
        ),
        (
            "<description> </description><itunes:summary>x</itunes:summary>",
            Some("x"),
            "blank",
        ),
        (
            "<media:description>x</media:description>",
            Some("x"),
            "without a file",
        ),
        (
            "<media:group><media:content url='/a'><media:description type='html'>&lt;b&gt;x&lt;/b&gt;&lt;script&gt;</media:description></media:content></media:group>",
            Some("<b>x</b>"),
            "in a file's description, sanitised",
        ),
        (
            "<media:description/><media:title/>",
            None,
            "an empty one costs nothing",
        ),
        (
            "<media:description type='strange'>x</media:description>",
            Some("x"),
            "an unknown type",
        ),
        ("<title>t</title>", None, "none"),
    ] {
        assert_eq!(episode(fields).summary.as_deref(), expected, "{why}");
    }
    let video = read(
        "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:media='http://search.yahoo.com/mrss/'><entry><id>1</id><title>t</title><media:group><media:description>one &lt; two\nthree</media:description></media:group></entry></feed>",
    );
    assert_eq!(
        video.entries[0].summary.as_deref(),
        Some("one &lt; two\nthree")
    );
    let prefixed = read(
        "<rss version='2.0' xmlns:m='http://search.yahoo.com/mrss/'><channel><item><guid>1</guid><m:content url='/a.mp4'/><m:description>x</m:description></item></channel></rss>",
    );
    assert_eq!(prefixed.entries[0].summary.as_deref(), Some("x"));
    assert_eq!(
        prefixed.entries[0].enclosures.len(),
        1,
        "a prefix means what it is declared as"
    );
    let described = item("<guid>1</guid><description>only this</description>");
    assert_eq!(described.summary.as_deref(), Some("only this"));
}

#[test]
fn ss_20_categories_of_every_format_are_kept() {
    let rss = episode(
        "<category domain='x'>News &amp;amp; more</category><category><![CDATA[Ports]]></category><category/><dc:subject>Ports</dc:subject><dc:subject>Ferries</dc:subject><itunes:category text='no'/>",
    );
    assert_eq!(rss.categories, ["News & more", "Ports", "Ferries"]);
    let atom = entry(
        "<id>1</id><category term='n1' label='News'/><category term='ports' scheme='x'/><category/><source><category term='no'/></source>",
    );
    assert_eq!(atom.categories, ["News", "ports"]);
    let json = read(
        r#"{"version": "https://jsonfeed.org/version/1", "items": [{"id": "1", "tags": ["News", 5, null, " "]}]}"#,
    );
    assert_eq!(json.entries[0].categories, ["News", "5"]);
    let channel = read(
        "<rss version='2.0'><channel><category>no</category><item><guid>1</guid></item></channel></rss>",
    );
    assert!(channel.entries[0].categories.is_empty(), "not the feed's");
}

/// One entry of an Atom 0.3 feed.
fn old_entry(fields: &str) -> FoundEntry {
    let text = format!(
        "<?xml version='1.0'?><feed version='0.3' xmlns='http://purl.org/atom/ns#'><title mode='escaped' type='text/html'>x</title><modified>2026-01-01T00:00:00Z</modified><entry><id>1</id>{fields}</entry></feed>"
    );
    read(&text).entries.remove(0)
}

#[test]
fn ss_20_atom_0_3_is_read_with_its_dates_and_contents() {
    let at = |dates: &str| old_entry(dates).published_at.map(|at| at.to_string());
    let (issued, created, modified) = (
        "<issued>2026-01-02T00:00:00Z</issued>",
        "<created>2026-01-03T00:00:00Z</created>",
        "<modified>2026-01-04T00:00:00Z</modified>",
    );
    for (dates, expected) in [
        (
            format!("{modified}{created}{issued}"),
            Some("2026-01-02T00:00:00Z"),
        ),
        (format!("{created}{modified}"), Some("2026-01-03T00:00:00Z")),
        (modified.to_owned(), Some("2026-01-04T00:00:00Z")),
        (
            format!("<issued>soon</issued>{modified}"),
            Some("2026-01-04T00:00:00Z"),
        ),
        (String::new(), None),
    ] {
        assert_eq!(at(&dates).as_deref(), expected, "{dates}");
    }
    for (content, expected) in [
        (
            "<content type='text/html' mode='escaped'>&lt;p&gt;a",
            "<p>a</p>",
        ),
        ("<content type='text/plain'>1 &lt; 2", "1 &lt; 2"),
        (
            "<content type='application/xhtml+xml' mode='xml'><div xmlns='http://www.w3.org/1999/xhtml'><p>a</p></div>",
            "<p>a</p>",
        ),
        (
            "<content type='application/xhtml+xml' mode='escaped'>&lt;i&gt;a&lt;/i&gt;",
            "<i>a</i>",
        ),
        ("<content>plain", "plain"),
    ] {
        let found = old_entry(&format!("{content}</content>"));
        assert_eq!(found.content.as_deref(), Some(expected), "{content}");
    }
    let found = old_entry(
        "<title mode='escaped' type='text/html'>A &amp;amp; B</title><summary type='text/plain'>s</summary><link rel='alternate' type='text/html' href='/1'/>",
    );
    assert_eq!(
        (&*found.title, found.summary.as_deref()),
        ("A & B", Some("s"))
    );
    assert_eq!(found.link.as_deref(), Some("https://site.example/1"));
}

#[test]
fn ss_20_items_of_rss_1_without_a_link_are_kept() {
    let document = read(
        "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/' xmlns:dc='http://purl.org/dc/elements/1.1/'><channel><title>x</title></channel><item rdf:about='https://site.example/1'><title>one</title><dc:subject>a</dc:subject></item><item><title>two</title><dc:subject>b</dc:subject></item><item rdf:about='urn:x'><title>three</title><link>/3</link></item></rdf:RDF>",
    );
    let kept: Vec<_> = document
        .entries
        .iter()
        .map(|found| {
            (
                &*found.title,
                found.link.as_deref(),
                found.categories.join(","),
            )
        })
        .collect();
    assert_eq!(
        kept,
        [
            ("one", Some("https://site.example/1"), "a".to_owned()),
            ("two", None, "b".to_owned()),
            ("three", Some("https://site.example/3"), String::new()),
        ]
    );
}

#[test]
fn ss_20_an_entry_of_a_stranger_does_not_shift_what_belongs_to_the_others() {
    let document = read(
        "<rss version='2.0' xmlns:x='urn:x'><channel><x:item><category>no</category></x:item><item><guid>1</guid><title>t</title></item></channel></rss>",
    );
    assert_eq!(document.entries.len(), 1);
    assert!(document.entries[0].categories.is_empty());
}
