//! Mistakes, by name: each is answered with what, why and what to do.

use std::fmt::Write as _;

use super::add;
use crate::harness::Home;

#[test]
fn a_mistake_is_reported_with_what_to_write_and_stores_nothing() {
    let home = Home::new().file("rules.json", "{\"how\":\"html\",\"itme\":\"x\"}");
    let mut reported = String::new();
    for arguments in [
        &["ftp://example.org/feed"][..],
        &["https://user:secret@example.org/feed"],
        &["http://127.0.0.1/feed"],
        &["http://[::ffff:10.0.0.1]/feed"],
        &["https://example.org/", "--cadence", "P9"],
        &["https://example.org/", "--policy", "clasic"],
        &["https://example.org/", "--policy", "fixed:0s"],
        &["https://example.org/", "--as", "html", "--item", "li"],
        &[
            "https://example.org/",
            "--as",
            "html",
            "--item",
            "li[",
            "--title",
            "a",
        ],
        &[
            "https://example.org/",
            "--as",
            "json",
            "--item",
            "$[",
            "--title",
            "$.a",
        ],
        &["https://example.org/", "--item", "li"],
        &["https://example.org/", "--as", "sitemap", "--date", "time"],
        &["https://example.org/", "--rules", "rules.json"],
        &["https://example.org/", "--rules", "none.json"],
        &["https://example.org/", "--name", "a\u{7}b"],
    ] {
        let ran = add(&home, arguments[0], &arguments[1..]);
        assert_eq!(ran.code, 2, "{arguments:?}: {ran}");
        assert!(!ran.notes.contains("secret"), "{ran}");
        reported += &ran.notes;
    }
    insta::assert_snapshot!(reported, @r#"
    error: address must be an http or https URL without user name or password, on a web port, at most 2000 bytes long
    error: address must be an http or https URL without user name or password, on a web port, at most 2000 bytes long
    error: 127.0.0.1 is a loopback address, and only public addresses are called; if it is yours to be called, add it to `sources.allow`, like ["127.0.0.1/32"]
    error: 10.0.0.1 is a private network address, and only public addresses are called; if it is yours to be called, add it to `sources.allow`, like ["10.0.0.1/32"]
    error: `P9` is not a cadence; write one of P0 to P7
    error: `clasic` is not a policy; write adaptive, classic, miniflux, fixed:1h or a schedule
    error: `0s` is not an interval; write it like fixed:30m, fixed:1h or fixed:2h30m
    error: --as html needs --title
    hint: for example --as html --item article --title h2
    error: `item`: `li[` is not a CSS selector we can read: it ends too early
    error: `items`: `$[` is not a JSON path (RFC 9535): parser error
    error: --item does not apply to a feed
    hint: it is for --as html or --as json
    error: --date does not apply to a sitemap
    hint: it is for --as html or --as json
    error: --rules: unknown field `itme`; known: `item`, `title`, `link`, `date`, `summary`
    hint: for example {"how":"html","item":"article","title":"h2"}; how is html, json or sitemap
    error: read rules from none.json: No such file or directory (os error 2)
    error: name must have no control characters
    "#);
    insta::assert_snapshot!(home.run(&["source", "list"]), @"
    no sources
    exit 0
    ");
}

#[test]
fn what_names_no_source_is_reported_so() {
    let home = Home::new();
    add(&home, "https://example.org/feed", &[]).expect_data();
    for (arguments, code) in [
        (&["show", "17"][..], 3),
        (&["show", "https://example.org/other"], 3),
        (&["show", "example"], 2),
        (&["check", "source:17"], 3),
        (&["pause", "17"], 3),
        (&["entries", "17"], 3),
        (&["remove", "17", "--yes"], 3),
        (&["set", "1"], 2),
        (&["set", "1", "--cadence", "P8"], 2),
        (&["entries", "--since", "soon"], 2),
        (&["import", "none.opml"], 2),
        (&["check", "1", "--timeout", "5s"], 2),
    ] {
        let ran = home.run(&[&["source"], arguments].concat());
        assert_eq!(
            (ran.code, ran.data.as_str()),
            (code, ""),
            "{arguments:?}: {ran}"
        );
    }
    insta::assert_snapshot!(home.run(&["source", "show", "17"]), @"
    error: there is no source 17
    hint: `almanack source list --containing TEXT` finds sources by name or address
    exit 3
    ");
    insta::assert_snapshot!(home.run(&["why", "source:1", "now"]), @"
    error: `why` takes no time for a source: it explains the next check
    hint: almanack why source:1
    exit 2
    ");
    insta::assert_snapshot!(home.run(&["why", "paper"]), @r#"
    error: pass the time of a slot of paper
    hint: for example almanack why paper "2026-01-05 08:00"
    exit 2
    "#);
    insta::assert_snapshot!(home.run_with_input(&["source", "import", "-"], "<html>"), @"
    error: -: this is not an OPML file: its root is <html>, not <opml>
    hint: export the list as OPML from your feed reader
    exit 2
    ");
}

#[test]
fn commands_that_only_look_leave_no_database_behind() {
    let home = Home::new();
    for arguments in [
        &["source", "list"][..],
        &["source", "show", "1"],
        &["source", "add", "http://127.0.0.1:1/", "--dry-run"],
    ] {
        assert_ne!(home.run(arguments).code, 0, "{arguments:?}");
    }
    assert!(!home.path().join("almanack.db").exists());
}

/// Documents made to hurt, and whether there is anything to read in them.
const HOSTILE: [(&str, i32); 16] = [
    ("plain.xml", 0),
    ("empty-feed.xml", 0),
    ("duplicate-ids.xml", 0),
    ("dates.xml", 0),
    ("entity-bomb.xml", 0),
    ("many-items.xml", 1),
    ("not-a-feed.html", 1),
    ("login.html", 1),
    ("truncated.xml", 1),
    ("huge.xml", 1),
    ("gzip-bomb.xml", 1),
    ("deep.xml", 1),
    ("cut-mid-body.xml", 1),
    ("redirect-loop", 1),
    ("limited-seconds.xml", 1),
    ("redirect-private/metadata", 1),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_documents_end_in_a_sentence_and_not_in_a_source() {
    let home = super::live::home("sqlite:almanack.db");
    let world = super::live::world(&home, 1).await;
    let mut reported = String::new();
    for (name, code) in HOSTILE {
        let address = format!("http://127.0.0.1:{}/hostile/{name}", world.address.port());
        let arguments = ["source", "add", &address, "--no-discover", "--dry-run"];
        let ran = tokio::task::block_in_place(|| home.run(&arguments));
        assert_eq!(ran.code, code, "{name}: {ran}");
        let first = if code == 0 { &ran.data } else { &ran.notes };
        let first = first.lines().next().unwrap_or_default();
        let _ = writeln!(reported, "{name}: {first}");
    }
    insta::assert_snapshot!(reported, @r#"
    plain.xml: A feed: 5 entries
    empty-feed.xml: A feed: 0 entries
    duplicate-ids.xml: A feed: 10 entries
    dates.xml: A feed: 20 entries
    entity-bomb.xml: A feed: 1 entry
    many-items.xml: error: the answer has more than 8388608 bytes
    not-a-feed.html: error: this is not a feed: it is a web page titled “A page”
    login.html: error: this is not a feed: it is a login page titled “A page”; without logging in there is nothing to read
    truncated.xml: error: the document breaks off in or after entry 20
    huge.xml: error: the answer has more than 8388608 bytes
    gzip-bomb.xml: error: the answer decompresses to more than 200 times its size
    deep.xml: error: the document is nested more than 512 deep
    cut-mid-body.xml: error: the answer ended early
    redirect-loop: error: the redirects lead in a circle
    limited-seconds.xml: error: the site asks us to come less often (HTTP 429)
    redirect-private/metadata: error: a redirect leads to a refused address: 169.254.169.254 is a link-local address, and only public addresses are called; if it is yours to be called, add it to `sources.allow`, like ["169.254.169.254/32"]
    "#);
    assert!(!home.path().join("almanack.db").exists());
}

#[test]
fn ss_16_an_address_finds_its_source_however_it_is_written() {
    let home = Home::new();
    add(&home, "https://example.org", &[]).expect_data();
    for written in [
        "https://example.org",
        "https://example.org/",
        "HTTPS://EXAMPLE.org:443/#top",
    ] {
        let shown = home.run(&["source", "show", written, "--json"]);
        assert_eq!(
            shown.expect_json()["address"],
            "https://example.org/",
            "{written}"
        );
    }
}

#[test]
fn ss_14_a_refused_address_is_reported_without_its_secrets() {
    let list = r#"<opml version="2.0"><body>
<outline type="rss" text="A" xmlUrl="http://192.168.1.7/feed?token=hunter2#hunter2"/>
<outline type="rss" text="B" xmlUrl="https://ada:hunter2@example.org/feed"/>
</body></opml>"#;
    let home = Home::new();
    for json in [&[][..], &["--json"]] {
        let ran = home.run_with_input(&[&["source", "import", "-"], json].concat(), list);
        assert_eq!(ran.code, 1, "{ran}");
        let reported = ran.to_string();
        assert!(
            reported.contains("`A`: 192.168.1.7 is a private network address"),
            "{reported}"
        );
        assert!(!reported.contains("hunter2"), "{reported}");
    }
}
