//! What is read of `[[source]]`, and what is said about mistakes.

use almanack_core::source::{policy::cadence::Cadence, reading::Reading};

use super::super::{
    file,
    report::{Report, Severity},
    source::Source,
};

/// The sources of a text, and its problems as they are shown.
fn read(text: &str) -> (super::FileSources, String) {
    let mut source = Source::new("almanack.toml".to_owned(), text.to_owned());
    let document = file::read(&mut source);
    assert_eq!(document.problems, [], "{text}");
    let report = Report {
        source: Some(source),
        problems: document.sources.problems.clone(),
    };
    (document.sources, report.render(Severity::Error))
}

#[test]
fn every_key_of_a_source_can_be_written() {
    let (found, problems) = read(
        r#"
        [[source]]
        address = "feed://Example.org/feed.xml"
        [[source]]
        address = "https://town.example/notices"
        name = "Town"
        category = 'News/TV\/Radio'
        policy = "fixed:1h"
        cadence = "P3"
        reading = { how = "html", item = "ul > li", title = "a" }
        headers = { Accept-Language = "de", Cookie = "env:COOKIE" }
        user = "reader"
        password = "file:/run/password"
        proxy = "http://proxy.example:3128"
        user_agent = "Reader/1"
        robots = false
        filters = ["block title contains ad"]
        error_texts = ["Too many requests"]
        full_text = true
        site = "https://town.example/"
        "#,
    );
    assert_eq!(problems, "");
    let [plain, whole] = found.wanted.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(plain.address, "http://example.org/feed.xml");
    assert_eq!(plain.reading, Reading::Feed);
    assert_eq!(whole.category, r"News/TV\/Radio");
    assert_eq!(whole.cadence, Some(Cadence::P3));
    assert!(matches!(&whole.reading, Reading::Html(rules) if rules.item == "ul > li"));
    let expected = serde_json::json!({
        "fetch": {
            "headers": {"Accept-Language": "de", "Cookie": "env:COOKIE"},
            "user": "reader",
            "password": "file:/run/password",
            "proxy": "http://proxy.example:3128",
            "user_agent": "Reader/1",
            "robots": false,
        },
        "filters": ["block title contains ad"],
        "error_texts": ["Too many requests"],
        "full_text": true,
        "site": "https://town.example/",
    });
    assert_eq!(serde_json::to_value(&whole.options).unwrap(), expected);
}

/// Everything that can be wrong, and one source that is right.
const WRONG: &str = r#"
[[source]]
adress = "https://a.example/"
[[source]]
address = "https://b.example/"
cadence = "P9"
bearer = "hunter2"
[[source]]
address = "https://c.example/"
reading = { how = "html", item = "li" }
[[source]]
address = "https://d.example/"
headers = { Cookie = "session=hunter2" }
policy = "sometimes"
[[source]]
address = "https://ok.example/"
[[source]]
address = "https://OK.example"
"#;

#[test]
fn all_mistakes_are_reported_where_they_are_and_no_secret_is_shown() {
    let (found, problems) = read(WRONG);
    let wanted: Vec<&str> = found.wanted.iter().map(|it| it.address.as_str()).collect();
    assert_eq!(wanted, ["https://ok.example/"]);
    let keep: Vec<&str> = found.keep.iter().map(String::as_str).collect();
    let expected = [
        "https://b.example/",
        "https://c.example/",
        "https://d.example/",
    ];
    assert_eq!(keep, expected, "not released for a mistake");
    assert!(!problems.contains("hunter2"), "{problems}");
    insta::assert_snapshot!(problems, @r##"
    error: source #1: unknown key `adress`
     --> almanack.toml:3:1
      |
    3 | adress = ***
      | ^^^^^^
      = hint: did you mean `address`?

    error: source #1: address: is missing
     --> almanack.toml:2:1
      |
    2 | [[source]]
      | ^^^^^^^^^^
      = hint: for example address = "https://example.org/feed.xml"

    error: source `https://b.example/`: bearer: must say where the secret is kept
     --> almanack.toml:7:10
      |
    7 | bearer = ***
      |          ^^^
      = hint: write "env:NAME" or "file:/path"

    error: source `https://b.example/`: cadence: `P9` is not one of "P0" or "P1" or "P2" or "P3" or "P4" or "P5" or "P6" or "P7"
     --> almanack.toml:6:11
      |
    6 | cadence = "P9"
      |           ^^^^
      = hint: did you mean "P0"?

    error: source `https://c.example/`: reading.title: is missing
      --> almanack.toml:10:11
       |
    10 | reading = { how = "html", item = "li" }
       |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       = hint: for example title = "h2"

    error: source `https://d.example/`: policy: `sometimes` is not a policy
      --> almanack.toml:14:10
       |
    14 | policy = "sometimes"
       |          ^^^^^^^^^^^
       = hint: write adaptive, classic, miniflux, fixed:1h or a schedule

    error: source `https://d.example/`: headers.Cookie must say where the secret is kept, as env:NAME or file:PATH
      --> almanack.toml:13:11
       |
    13 | headers = { Cookie = *** }
       |           ^^^^^^^^^^^^^^^^

    error: source `https://ok.example/`: address: an earlier source has the same address
      --> almanack.toml:18:11
       |
    18 | address = "https://OK.example"
       |           ^^^^^^^^^^^^^^^^^^^^
       = hint: remove one of them
    "##);
}
