//! Sources that are repaired in place, stay paused, or belong to the configuration file.

use serde_json::json;

use super::add;
use crate::harness::Home;

#[test]
fn ss_21_a_source_is_repaired_by_flags_and_an_empty_text_resets() {
    let home = Home::new();
    add(
        &home,
        "https://example.org/feed.xml",
        &["--bearer", "env:A"],
    )
    .expect_data();
    let set = |further: &[&str]| {
        let words = [&["source", "set", "1", "--json"], further].concat();
        home.run(&words).expect_json()
    };
    let changed = set(&[
        "--address",
        "feed:https://example.org/page",
        "--as",
        "html",
        "--item",
        "li",
        "--title",
        "a",
        "--header",
        "Accept-Language: de",
        "--filter",
        "block title is x",
        "--filter",
        "block title is y",
        "--full-text",
        "on",
        "--robots",
        "off",
    ]);
    assert_eq!(changed["address"], "https://example.org/page");
    let rules = json!({"how": "html", "item": "li", "title": "a"});
    assert_eq!(changed["reading"], rules);
    let expected = json!({
        "fetch": {"headers": {"Accept-Language": "de"}, "bearer": "env:A", "robots": false},
        "filters": ["block title is x", "block title is y"],
        "full_text": true,
    });
    assert_eq!(changed["options"], expected);
    let changed = set(&["--date", "time", "--basic", "ada:env:B", "--bearer", ""]);
    assert_eq!(changed["reading"]["date"], "time");
    assert_eq!(changed["reading"]["item"], "li", "what is left out stays");
    assert_eq!(changed["options"]["fetch"]["password"], "env:B");
    let shown = home.run(&["source", "show", "1"]).expect_data();
    assert!(
        shown.contains("header Accept-Language: de; user ada; password env:B"),
        "{shown}"
    );
    let reset = [
        "--header",
        "Accept-Language:",
        "--basic",
        "",
        "--filter",
        "",
    ];
    let further = ["--robots", "auto", "--full-text", "off", "--as", "feed"];
    let changed = set(&[&reset[..], &further].concat());
    assert_eq!(changed["options"], json!({}));
    assert_eq!(changed["reading"], json!({"how": "feed"}));
}

#[test]
fn ss_21_what_cannot_be_stored_is_refused_and_not_repeated() {
    let home = Home::new();
    add(&home, "https://example.org/feed.xml", &[]).expect_data();
    for (further, code) in [
        (&["--bearer", "hunter2"][..], 2),
        (&["--header", "Accept-Language"], 2),
        (&["--basic", "ada"], 2),
        (&["--containing", "x"], 2),
        (&["--address", "ftp://example.org/"], 2),
        (&[], 2),
    ] {
        let ran = home.run(&[&["source", "set", "1"], further].concat());
        assert_eq!(ran.code, code, "{further:?}: {ran}");
        assert!(!ran.to_string().contains("hunter2"), "{ran}");
    }
    add(&home, "https://example.org/other", &[]).expect_data();
    let taken = home.run(&[
        "source",
        "set",
        "1",
        "--address",
        "https://example.org/other",
    ]);
    insta::assert_snapshot!(taken, @"
    error: source 2 already has this address
    exit 1
    ");
}

#[test]
fn ss_22_a_paused_source_is_refused_a_check_with_a_hint() {
    let home = Home::new();
    add(&home, "https://example.org/feed.xml", &[]).expect_data();
    home.run(&["source", "pause", "1", "--note", "too loud"])
        .expect_data();
    insta::assert_snapshot!(home.run(&["source", "check", "1"]), @"
    error: source 1 is paused, so it is not checked; resume it first
    hint: resume it: `almanack source resume SOURCE`
    exit 1
    ");
    home.run(&["source", "set", "1", "--cadence", "P1"])
        .expect_data();
    add(&home, "https://example.org/feed.xml", &[]).expect_data();
    let shown = home.run(&["source", "show", "1", "--json"]).expect_json();
    assert_eq!(shown["paused"]["note"], "too loud");
}

#[test]
fn ss_21_the_file_defines_sources_and_owns_them() {
    // With P7 nothing is asked of the network.
    let table = |name: &str| {
        format!(
            "[[source]]\naddress = \"https://a.example/feed\"\nname = \"{name}\"\ncadence = \"P7\"\n"
        )
    };
    let home = Home::with(&table("First"));
    home.run(&["tick"]).expect_data();
    let show = || home.run(&["source", "show", "1", "--json"]).expect_json();
    assert_eq!(
        (&show()["name"], &show()["options"]["from_file"]),
        (&json!("First"), &json!(true))
    );
    insta::assert_snapshot!(home.run(&["source", "set", "1", "--name", "Mine"]), @"
    error: source 1 belongs to [[source]] of the configuration file; change it there
    hint: change or remove it under [[source]] in its file
    exit 1
    ");
    assert_eq!(home.run(&["source", "remove", "1", "--yes"]).code, 1);
    let home = home.file("almanack.toml", &table("Second"));
    home.run(&["tick"]).expect_data();
    let show = || home.run(&["source", "show", "1", "--json"]).expect_json();
    assert_eq!(show()["name"], "Second");
    // A mistake changes nothing, and is counted by `check`.
    let broken = format!("{}policy = \"sometimes\"\n", table("Third"));
    let home = home.file("almanack.toml", &broken);
    let checked = home.run(&["check"]);
    assert_eq!(checked.code, 2, "{checked}");
    assert!(
        checked.to_string().contains("almanack.toml:5:10"),
        "{checked}"
    );
    home.run(&["tick"]).expect_data();
    let show = || home.run(&["source", "show", "1", "--json"]).expect_json();
    assert_eq!(show()["name"], "Second");
    let home = home.file("almanack.toml", "");
    home.run(&["tick"]).expect_data();
    let show = home.run(&["source", "show", "1", "--json"]).expect_json();
    assert_eq!(
        (&show["state"], &show["options"]),
        (&json!("paused"), &json!({}))
    );
    home.run(&["source", "remove", "1", "--yes"]).expect_data();
}
