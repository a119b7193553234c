//! What feed-rs leaves out, and is kept all the same (SS-20).

use almanack_core::source::entry::FoundEntry;

use super::{entry, item, read};

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
fn ss_20_an_entry_in_another_namespace_does_not_shift_what_belongs_to_the_others() {
    let document = read(
        "<rss version='2.0' xmlns:x='urn:x'><channel><x:item><category>no</category></x:item><item><guid>1</guid><title>t</title></item></channel></rss>",
    );
    assert_eq!(document.entries.len(), 1);
    assert!(document.entries[0].categories.is_empty());
}
