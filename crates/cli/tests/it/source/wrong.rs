//! Mistakes, by name: each is answered with what, why and what to do.

use super::add;
use crate::harness::Home;

#[test]
fn a_mistake_is_told_with_what_to_write_and_stores_nothing() {
    let home = Home::new().file("rules.json", "{\"how\":\"html\",\"itme\":\"x\"}");
    let mut told = String::new();
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
            "posts",
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
        told += &ran.notes;
    }
    insta::assert_snapshot!(told, @"");
    insta::assert_snapshot!(home.run(&["source", "list"]), @"
    no sources
    exit 0
    ");
}

#[test]
fn what_names_no_source_is_told_so() {
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
    error: a source is asked about without a time: its answer is about its next check
    hint: almanack why source:1
    exit 2
    ");
    insta::assert_snapshot!(home.run(&["why", "paper"]), @r#"
    error: at what time should paper have fired?
    hint: for example almanack why paper "2026-01-05 08:00"
    exit 2
    "#);
    insta::assert_snapshot!(home.run_with_input(&["source", "import", "-"], "<html>"), @"");
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
