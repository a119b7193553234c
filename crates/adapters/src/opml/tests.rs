use almanack_core::source::category;
use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::feed::text::one_line;

const NESTED: &str = r#"<?xml version="1.0" encoding="ISO-8859-1"?>
<opml version="1.0">
<head><title>Mine</title></head>
<body>
<outline text="News" title="News &amp; more">
  <outline text="World">
    <outline type="rss" text="A" title="Paper A" xmlUrl="https://a.example/feed" htmlUrl="https://a.example/"/>
    <outline text="Paper B &bogus; AT&T" xmlurl="HTTPS://B.example/feed?x=1&y=2"></outline>
  </outline>
  <outline text="A again" xmlUrl="https://a.example/feed"/>
  <outline text="No address"/>
  <outline text="A file" xmlUrl="file:///etc/passwd"/>
  <outline text="Nonsense" xmlUrl="not an address"/>
  <outline text="Login" xmlUrl="https://user:secret@b.example/"/>
</outline>
<outline text="C" xmlUrl="https://c.example/" category="/Tech/Rust,/Other"/>
<outline text="Empty folder"></outline>
</body>
</opml>"#;

#[test]
fn ss_16_folders_are_categories_and_broken_entries_are_reported() {
    let imported = import(NESTED.as_bytes()).unwrap();
    let errors: Vec<String> = imported
        .subscriptions
        .iter()
        .map(|feed| format!("{} | {} | {}", feed.category, feed.title, feed.address))
        .collect();
    insta::assert_snapshot!(errors.join("\n"), @"
    News & more/World | Paper A | https://a.example/feed
    News & more/World | Paper B &bogus; AT&T | https://b.example/feed?x=1&y=2
    Tech/Rust | C | https://c.example/
    ");
    let problems: Vec<String> = imported.problems.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(problems.join("\n"), @"
    line 11: “No address”: it has no `xmlUrl`
    line 12: “A file”: only addresses that begin with http:// or https:// are called
    line 13: “Nonsense”: this is not an address; write it like https://news.example.org/feed
    line 14: “Login”: the address contains a user name or a password; remove the part before the `@`
    line 17: “Empty folder”: it has no `xmlUrl`
    ");
    assert_eq!(imported.repeated, 1);
    assert!(!problems.join("").contains("secret"));
}

#[test]
fn ss_16_what_breaks_off_is_taken_as_far_as_it_goes() {
    let start = &NESTED[..NESTED.find("  <outline text=\"A again\"").unwrap()];
    let imported = import(start.as_bytes()).unwrap();
    assert_eq!(imported.subscriptions.len(), 2);
    insta::assert_snapshot!(imported.problems[0], @"line 10: the file breaks off here");
    let crossed =
        import(b"<opml><body>\n<outline xmlUrl='https://a.example/'/>\n</opml></body>").unwrap();
    assert_eq!(crossed.subscriptions.len(), 1);
    insta::assert_snapshot!(crossed.problems[0], @"line 3: from here on the file is not well-formed: ill-formed document: expected `</body>`, but `</opml>` was found");
}

#[test]
fn sentences_about_other_files() {
    let errors = |bytes: &[u8]| import(bytes).unwrap_err().to_string();
    insta::assert_snapshot!(errors(b""), @"this is not an OPML file: it is empty");
    insta::assert_snapshot!(errors(b"https://a.example/feed"), @"this is not an OPML file: it is not XML");
    insta::assert_snapshot!(errors(b"<rss/>"), @"this is not an OPML file: its root is <rss>, not <opml>");
    insta::assert_snapshot!(errors(&vec![b' '; BYTES_MAX + 1]), @"the file has more than 10485760 bytes");
}

#[test]
fn ss_16_files_that_mean_harm_are_harmless() {
    let deep = "<opml><body>".to_owned() + &"<outline text='x'>".repeat(100_000);
    let imported = import(deep.as_bytes()).unwrap();
    assert_eq!(imported.problems.len(), 1);
    let bomb = "<!DOCTYPE opml [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]><opml><body><outline text=\"&b;\" xmlUrl=\"https://a.example/\"/></body></opml>";
    assert_eq!(
        import(bomb.as_bytes()).unwrap().subscriptions[0].title,
        "&b;"
    );
    let many = "<opml><body>".to_owned() + &"<outline text='x'/>".repeat(5000) + "</body></opml>";
    let imported = import(many.as_bytes()).unwrap();
    assert_eq!(
        (imported.problems.len(), imported.left_out),
        (PROBLEMS_MAX, 4000)
    );
}

#[test]
fn ss_16_folders_sites_and_feed_addresses_are_kept() {
    let list = r#"<opml><body><outline text="TV/Radio"><outline text="A\B">
        <outline text="A" xmlUrl="feed:https://a.example/feed" htmlUrl="https://a.example/"/>
        <outline text="B" xmlUrl="feed://b.example/feed" htmlUrl="javascript:alert(1)"/>
        </outline></outline></body></opml>"#;
    let imported = import(list.as_bytes()).unwrap();
    assert_eq!(imported.problems, []);
    let [a, b] = imported.subscriptions.as_slice() else {
        panic!("{imported:?}");
    };
    assert_eq!(a.address, "https://a.example/feed");
    assert_eq!(b.address, "http://b.example/feed");
    assert_eq!(a.category, r"TV\/Radio/A\\B");
    assert_eq!(a.site.as_deref(), Some("https://a.example/"));
    assert_eq!(b.site, None, "not a page");
    let file = export("x", &imported.subscriptions, Timestamp::UNIX_EPOCH);
    assert_eq!(
        import(file.as_bytes()).unwrap().subscriptions,
        [a.clone(), b.clone()]
    );
}

#[test]
fn an_exported_file_is_readable() {
    let feeds = [
        Subscription {
            address: "https://a.example/?x=1&y=2".to_owned(),
            title: "\"A\" & <B>".to_owned(),
            category: r"News/TV\/Radio".to_owned(),
            site: Some("https://a.example/?home&x".to_owned()),
        },
        Subscription {
            address: "https://c.example/".to_owned(),
            ..Subscription::default()
        },
    ];
    insta::assert_snapshot!(export("Almanack's <sources>", &feeds, Timestamp::constant(1_767_600_000, 0)), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <opml version="2.0">
      <head>
        <title>Almanack&apos;s &lt;sources&gt;</title>
        <dateCreated>Mon, 5 Jan 2026 08:00:00 +0000</dateCreated>
      </head>
      <body>
        <outline text="News" title="News">
          <outline text="TV/Radio" title="TV/Radio">
            <outline type="rss" text="&quot;A&quot; &amp; &lt;B&gt;" title="&quot;A&quot; &amp; &lt;B&gt;" xmlUrl="https://a.example/?x=1&amp;y=2" htmlUrl="https://a.example/?home&amp;x"/>
          </outline>
        </outline>
        <outline type="rss" text="" title="" xmlUrl="https://c.example/"/>
      </body>
    </opml>
    "#);
}

fn subscription() -> impl Strategy<Value = Subscription> {
    let name = prop_oneof![".{0,20}", r"[a/\\]{0,8}"].prop_map(|name| one_line(&name));
    let category = prop::collection::vec(name, 0..4).prop_map(|path| {
        let names = path.iter().map(String::as_str);
        category::join(names.filter(|name| !name.is_empty()))
    });
    let site = prop::option::of("https://[a-z]{1,8}\\.example/[a-z&<'=%\"]{0,9}");
    ("[a-z]{1,8}", "[a-z&<'=%\"]{0,9}", ".{0,40}", category, site).prop_map(
        |(host, query, title, category, site)| Subscription {
            address: url::Url::parse(&format!("https://{host}.example/?{query}"))
                .unwrap()
                .into(),
            title: one_line(&title),
            category,
            site,
        },
    )
}

proptest! {
    #[test]
    fn ss_16_what_is_exported_reads_back_equal(feeds in prop::collection::btree_map("[a-z]{3}", subscription(), 0..12)) {
        let mut feeds: Vec<Subscription> = feeds.into_iter().map(|(key, feed)| Subscription { address: format!("{}&k={key}", feed.address), ..feed }).collect();
        let file = export("x", &feeds, Timestamp::UNIX_EPOCH);
        let imported = import(file.as_bytes()).unwrap();
        prop_assert_eq!(&imported.problems, &[]);
        let mut read = imported.subscriptions;
        read.sort();
        feeds.sort();
        prop_assert_eq!(read, feeds);
    }

    #[test]
    fn no_bytes_break_it(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = import(&bytes);
    }

    #[test]
    fn no_mutation_breaks_it(at in any::<prop::sample::Index>(), length in 0_usize..60, noise in ".{0,10}") {
        let from = at.index(NESTED.len());
        let to = (from + length).min(NESTED.len());
        let mut bytes = NESTED.as_bytes().to_vec();
        bytes.splice(from..to, noise.into_bytes());
        if let Ok(imported) = import(&bytes) {
            prop_assert!(imported.subscriptions.len() <= 20);
        }
    }
}

#[test]
fn ss_16_names_as_long_as_a_source_may_have_read_back_equal() {
    let long = |text: &str| text.repeat(almanack_core::source::NAME_BYTES_MAX / text.len());
    let feeds = [Subscription {
        address: "https://a.example/feed".to_owned(),
        title: long("Title"),
        category: long(&format!("{}/b", "a".repeat(248))),
        site: None,
    }];
    let file = export("x", &feeds, Timestamp::UNIX_EPOCH);
    assert_eq!(import(file.as_bytes()).unwrap().subscriptions, feeds);
}
