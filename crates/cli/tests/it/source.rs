//! `almanack source`: what people see and what programs see.

mod fetching;
mod killed;
mod live;
mod pushed;
mod repair;
mod wrong;

use serde_json::Value;

use crate::harness::{Home, Ran, settled};

/// Adds a feed that is not checked: another test uses the network.
fn add(home: &Home, address: &str, further: &[&str]) -> Ran {
    home.run(&[&["source", "add", address, "--no-discover"], further].concat())
}

#[test]
fn a_source_is_added_once_and_listed() {
    let home = Home::new();
    let added = add(
        &home,
        "https://example.org/feed.xml",
        &["--name", "Example"],
    );
    insta::assert_snapshot!(added, @"
    added source 1: Example
    a node checks it next; `almanack source check 1 --wait` waits for the result
    exit 0
    ");
    let rules = ["--as", "html", "--item", "article", "--title", "h2"];
    add(&home, "https://example.org/news", &rules).expect_data();
    let again = add(&home, "example.org/feed.xml", &[]);
    insta::assert_snapshot!(again, @"
    No change: source 1 already exists: Example
    exit 0
    ");
    insta::assert_snapshot!(settled(&home.run(&["source", "list"]).expect_data()), @"
    SOURCE  STATE  NAME  TYPE  CADENCE  NEXT  LAST  HITS  NEEDS
    1  active  Example  rss  AGO  never
    2  active  https://example.org/news  custom  AGO  never
    ");
    let custom = home.run(&["source", "list", "--type", "custom", "--json-lines"]);
    let custom = custom.expect_json();
    assert_eq!(custom["source_id"], 2);
    assert_eq!(custom["reading"]["item"], "article");
    for (filter, expected) in [
        (&["--containing", "EXAMPLE"][..], 2),
        (&["--containing", "news"], 1),
        (&["--state", "paused"], 0),
        (&["--cadence", "P3"], 0),
        (&["--attention"], 0),
        (&["--attention", "silent"], 0),
        (&["--due"], 2),
        (&["--due", "--type", "rss"], 1),
        (&["--limit", "1"], 1),
        (&["--all"], 2),
    ] {
        let listed = home.run(&[&["source", "list", "--json-lines"], filter].concat());
        assert_eq!(listed.expect_data().lines().count(), expected, "{filter:?}");
    }
}

#[test]
fn a_source_is_shown_and_changed() {
    let home = Home::new();
    add(&home, "https://example.org/feed.xml", &[]).expect_data();
    let set = [
        "source",
        "set",
        "1",
        "--name",
        "Example",
        "--category",
        "news/world",
        "--policy",
        "fixed:30m",
        "--cadence",
        "p1",
    ];
    let changed = home.run(&set).expect_data();
    insta::assert_snapshot!(settled(&changed), @"changed source 1: Example; next check TIME AGO");
    let same = home.run(&set).expect_data();
    insta::assert_snapshot!(same.trim_end(), @"No change: source 1 is already in that state");
    let shown = home.run(&["source", "show", "https://example.org/feed.xml"]);
    insta::assert_snapshot!(settled(&shown.expect_data()), @"
    Example
    source  1
    address  https://example.org/feed.xml
    read as  feed
    state  active
    category  news/world
    policy  fixed:30m (its own)
    publishes  not known yet; cadence P1 by hand
    last check  never
    added  TIME
    next check  TIME AGO
    ");
    let back = [
        "source",
        "set",
        "1",
        "--policy",
        "auto",
        "--cadence",
        "auto",
        "--json",
    ];
    let back = home.run(&back).expect_json();
    assert_eq!(
        (&back["policy"], &back["cadence_by_hand"]),
        (&Value::Null, &Value::Null)
    );
    let all = home
        .run(&["source", "show", "source:1", "--json"])
        .expect_json();
    assert_eq!(all["name"], "Example");
    assert_eq!(all["recent"], Value::from(vec![0; 0]));
}

#[test]
fn a_source_is_paused_resumed_and_removed() {
    let home = Home::new();
    add(
        &home,
        "https://example.org/feed.xml",
        &["--name", "Example"],
    )
    .expect_data();
    insta::assert_snapshot!(home.run(&["source", "pause", "1", "--note", "too loud"]), @"
    paused source 1: Example; no checks until you resume it
    exit 0
    ");
    let task = ["task", "get", "SOURCE_CHECK", "source:1", "--json"];
    assert_eq!(home.run(&task).expect_json()["status"], "CANCELLED");
    let why = home.run(&["why", "source:1"]).expect_data();
    let why = why.lines().nth(1).unwrap();
    assert!(why.ends_with(" (too loud)."), "{why}");
    insta::assert_snapshot!(home.run(&["source", "resume", "1"]), @"
    resumed source 1: Example; the next check starts as soon as a node has a free slot
    exit 0
    ");
    assert_eq!(home.run(&task).expect_json()["status"], "INIT");
    insta::assert_snapshot!(home.run(&["source", "resume", "1"]), @"
    No change: source 1 is active
    exit 0
    ");
    // A cadence of P7 means "do not check", as in the original design.
    let off = home.run(&["source", "set", "1", "--cadence", "P7", "--json"]);
    assert_eq!(off.expect_json()["state"], "paused");
    insta::assert_snapshot!(home.run(&["source", "remove", "1"]), @"
    error: remove source 1 and its entries?
    hint: confirm with --yes; `almanack source pause` keeps the entries
    exit 2
    ");
    insta::assert_snapshot!(home.run(&["source", "remove", "1", "--yes"]), @"
    removed source 1 and its entries: Example
    exit 0
    ");
    insta::assert_snapshot!(home.run(&["source", "list"]), @"
    no sources
    exit 0
    ");
}

#[test]
fn a_check_waits_only_so_long_for_a_node() {
    let home = Home::new();
    add(
        &home,
        "https://example.org/feed.xml",
        &["--name", "Example"],
    )
    .expect_data();
    insta::assert_snapshot!(home.run(&["source", "check", "1"]), @"
    source 1 is due: the check starts as soon as a node has a free slot: Example
    exit 0
    ");
    insta::assert_snapshot!(home.run(&["source", "check", "1", "--wait", "--timeout", "0s"]), @"
    error: no node checked source 1 within 0s; it stays due
    hint: check that a node runs on this database (`almanack serve`); the host may also be busy
    exit 1
    ");
    let receipt = home.run(&["source", "check", "1", "--json"]).expect_json();
    assert_eq!(receipt["subject"], "source:1");
}

#[test]
fn ss_09_sources_are_counted() {
    let home = Home::new();
    add(&home, "https://example.org/a", &[]).expect_data();
    add(&home, "https://example.org/b", &["--as", "sitemap"]).expect_data();
    home.run(&["source", "pause", "1"]).expect_data();
    insta::assert_snapshot!(home.run(&["source", "stats"]).expect_data(), @"
    sources                  2
                             1 active, 1 paused
    checked so far           0
    by cadence               none
    due now                  1
    waiting after failures   0
    need attention           none
    checks with new entries  0.0 %
    ");
    let custom = home
        .run(&["source", "stats", "--type", "custom", "--json"])
        .expect_json();
    assert_eq!(custom["total_sources"], 1);
}

const LIST: &str = r#"<?xml version="1.0"?>
<opml version="2.0"><head><title>Mine</title></head><body>
<outline text="News"><outline text="World">
<outline type="rss" text="One" xmlUrl="https://one.example/feed"/>
<outline type="rss" text="Broken" xmlUrl="not an address"/>
</outline></outline>
<outline type="rss" text="Two" xmlUrl="https://two.example/feed"/>
<outline type="rss" text="Home" xmlUrl="http://192.168.1.7/feed"/>
<outline type="rss" text="Two again" xmlUrl="https://two.example/feed"/>
</body></opml>"#;

#[test]
fn ss_16_a_list_is_imported_and_exported_and_a_broken_entry_stops_no_other() {
    let home = Home::new().file("mine.opml", LIST);
    let imported = home.run(&["source", "import", "mine.opml"]);
    insta::assert_snapshot!(imported, @r#"
    2 sources added, 0 existed, 2 refused
    error: line 5: “Broken”: this is not an address; write it like https://news.example.org/feed
    error: `Home`: 192.168.1.7 is a private network address, and only public addresses are called; if it is yours to be called, add it to `sources.allow`, like ["192.168.1.7/32"]
    exit 1
    "#);
    let again = home.run_with_input(&["source", "import", "-", "--json"], LIST);
    assert_eq!(again.code, 1, "{again}");
    let sum: Value = serde_json::from_str(again.data.lines().last().unwrap()).unwrap();
    assert_eq!(sum["added"], 0, "{again}");
    let first = home
        .run(&["source", "list", "--containing", "one", "--json-lines"])
        .expect_json();
    assert_eq!(
        (&first["name"], &first["category"]),
        (&"One".into(), &"News/World".into())
    );
    insta::assert_snapshot!(home.run(&["source", "export", "out.opml"]), @"
    2 feeds written to out.opml
    exit 0
    ");
    let other = Home::new();
    let exported = home.run(&["source", "export"]).expect_data();
    let taken = other.run_with_input(&["source", "import", "-"], &exported);
    insta::assert_snapshot!(taken, @"
    2 sources added, 0 existed, 0 refused
    exit 0
    ");
    let back = other
        .run(&["source", "list", "--containing", "one", "--json-lines"])
        .expect_json();
    assert_eq!(
        (&back["name"], &back["category"]),
        (&first["name"], &first["category"])
    );
}

#[test]
fn why_reports_when_and_by_which_policy_and_draws_the_week() {
    let home = Home::new();
    add(
        &home,
        "https://example.org/feed.xml",
        &["--name", "Example"],
    )
    .expect_data();
    let why = home
        .run(&["source", "why", "1", "--svg", "week.svg"])
        .expect_data();
    let lines: Vec<&str> = why.lines().collect();
    assert!(
        lines[1].ends_with(": it has not been checked yet."),
        "{why}"
    );
    assert_eq!(lines[2], "Its policy is the default: adaptive.");
    let svg = std::fs::read_to_string(home.path().join("week.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("Example"), "{svg}");
    home.run(&["source", "set", "1", "--cadence", "P2"])
        .expect_data();
    let why = home.run(&["why", "source:1", "--json"]).expect_json();
    assert_eq!(
        (&why["source_id"], &why["policy"]),
        (&1.into(), &"fixed:1h".into())
    );
    assert_eq!(why["week"].as_array().unwrap().len(), 168);
}
