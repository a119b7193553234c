use almanack_core::source::hints::Hints;
use url::Url;

use super::{walk::Outline, *};

fn outline(text: &str) -> Result<Outline, Failure> {
    let base = Url::parse("https://site.example/blog/feed").unwrap();
    super::outline(text, &base)
}

fn hints(head: &str) -> Hints {
    outline(&format!("<rss><channel>{head}<item/></channel></rss>"))
        .unwrap()
        .hints
}

#[test]
fn ss_12_a_feed_says_when_to_poll_again() {
    let every = |seconds| Hints {
        every: Some(seconds),
        ..Hints::default()
    };
    let none = Hints::default();
    for (head, expected, why) in [
        ("", none, "nothing"),
        ("<ttl>60</ttl>", every(3600), "minutes"),
        ("<ttl> 5 </ttl>", every(300), "blanks"),
        ("<ttl><![CDATA[5]]></ttl>", every(300), "in a section"),
        ("<ttl>0</ttl>", none, "no request"),
        ("<ttl>soon</ttl>", none, "no number"),
        (
            "<ttl>4294967295</ttl>",
            every(u32::MAX),
            "held, and capped later",
        ),
        (
            "<sy:updatePeriod>hourly</sy:updatePeriod>",
            every(3600),
            "once",
        ),
        (
            "<sy:updatePeriod>\n\tdaily\n</sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency>",
            every(6 * 3600),
            "four times a day",
        ),
        (
            "<sy:updateFrequency>4</sy:updateFrequency>",
            none,
            "four times a what?",
        ),
        (
            "<sy:updatePeriod>hourly</sy:updatePeriod><sy:updateFrequency>0</sy:updateFrequency>",
            every(3600),
            "never is no frequency",
        ),
        (
            "<ttl>30</ttl><sy:updatePeriod>hourly</sy:updatePeriod>",
            every(3600),
            "the longer",
        ),
        (
            "<skipHours><hour>0</hour><hour>23</hour><hour>24</hour><hour>25</hour></skipHours>",
            Hints {
                skip_hours: 1 | 1 << 23,
                ..none
            },
            "hours",
        ),
        (
            "<skipDays><day>Monday</day><day>sunday</day><day>Holiday</day></skipDays>",
            Hints {
                skip_days: 1 | 1 << 6,
                ..none
            },
            "days",
        ),
        ("<item><ttl>60</ttl></item>", none, "an entry's own"),
        ("<image><ttl>60</ttl></image>", none, "a picture's own"),
    ] {
        assert_eq!(hints(head), expected, "{why}: {head}");
    }
    let atom = "<feed><sy:updatePeriod>daily</sy:updatePeriod><entry/></feed>";
    assert_eq!(outline(atom).unwrap().hints, every(86_400));
    let rdf = "<rdf:RDF><channel><ttl>1</ttl></channel><item/><item/></rdf:RDF>";
    let rdf = outline(rdf).unwrap();
    assert_eq!((rdf.hints, rdf.entries), (every(60), 2));
}

#[test]
fn ss_12_a_truncated_feed_is_noticed_wherever_it_breaks_off() {
    let whole = "<rss><channel><ttl>5</ttl><item><title>a &amp; b</title></item><item><![CDATA[x]]></item></channel></rss>";
    assert_eq!(outline(whole).unwrap().entries, 2);
    for cut in 1..whole.len() {
        let failure = outline(&mend(&whole[..cut])).expect_err(&whole[..cut]);
        assert_eq!(failure.class, FailureClass::Malformed);
        assert!(
            failure.detail.contains("breaks off"),
            "{} at {cut}",
            failure.detail
        );
    }
    assert!(
        outline(&format!("{whole}<p>an advertisement")).is_ok(),
        "what follows is not ours"
    );
}

#[test]
fn sentences_about_broken_documents() {
    let error = |text: &str| outline(text).unwrap_err().detail;
    insta::assert_snapshot!(error("<rss><channel><item>"), @"the document breaks off in its first entry");
    insta::assert_snapshot!(error("<rss><channel>\n<item></channel></rss>"), @"the document is not well-formed XML at line 2: expected `</item>`, but `</channel>` was found");
    insta::assert_snapshot!(error(&"<rss>".repeat(1000)), @"the document is nested more than 512 deep");
}

#[test]
fn text_is_mended_for_strict_parsers() {
    for (text, expected, why) in [
        ("<a>b</a>", "<a>b</a>", "nothing to do"),
        (
            "\u{feff}\n <?xml version='1.0' encoding='x'?><a/>",
            "\n<a/>",
            "already decoded",
        ),
        ("<a>AT&T</a>", "<a>AT&amp;T</a>", "bare"),
        (
            "<a>a & b &amp; c</a>",
            "<a>a &amp; b &amp; c</a>",
            "bare and not",
        ),
        (
            "<a h='?a=1&b=2'/>",
            "<a h='?a=1&amp;b=2'/>",
            "in an attribute",
        ),
        (
            "<a>&nbsp;&#8211;&#x2014;</a>",
            "<a>&nbsp;&#8211;&#x2014;</a>",
            "references",
        ),
        (
            "<a>&#0;&#8;&#xD83D;&#99999999;x</a>",
            "<a>\u{fffd}\u{fffd}x</a>",
            "no characters",
        ),
        ("<a>\0\u{8}x\r\n</a>", "<a>x\n</a>", "control characters"),
        (
            "<![CDATA[a & b]]>&",
            "<![CDATA[a & b]]>&amp;",
            "a section stays",
        ),
        ("<!-- a & b -->", "<!-- a & b -->", "a comment stays"),
        ("<![CDATA[a &", "<![CDATA[a &", "a section without end"),
        ("&;&é;&1a;", "&amp;;&amp;é;&amp;1a;", "no names"),
    ] {
        assert_eq!(mend(text), expected, "{why}");
    }
}

#[test]
fn roots_are_recognised() {
    let name = |text: &str| root(text).map(|tag| tag.name);
    assert_eq!(
        name("<!-- x --><!DOCTYPE a><x:RDF a='b'/>").as_deref(),
        Some("RDF")
    );
    assert_eq!(name("plain text <b>"), None);
    assert_eq!(name(""), None);
    let tag = root("<rss version='2.0' x=\"&amp;\">").unwrap();
    assert_eq!(tag.attribute("version"), Some("2.0"));
    assert_eq!(tag.attribute("x"), Some("&amp;"));
    assert_eq!(tag.end, 29);
}
