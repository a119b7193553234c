use proptest::prelude::*;

use super::{BadRule, Filters, FoundEntry, RULE_BYTES_MAX, RULES_MAX};

fn entry() -> FoundEntry {
    FoundEntry {
        title: "Sponsored: a NEW ferry".to_owned(),
        author: Some("Ada Lovelace".to_owned()),
        link: Some("https://shop.example/ferry?id=7".to_owned()),
        categories: vec!["Science".to_owned(), "Sea life".to_owned()],
        summary: Some("<p>Tickets &amp; <b>times</b></p>".to_owned()),
        content: Some("<p>The Übersetzer sails</p>".to_owned()),
        ..FoundEntry::default()
    }
}

fn dropped(rules: &[&str], entry: &FoundEntry) -> Option<String> {
    let filters = Filters::parse(rules).unwrap_or_else(|bad| panic!("{bad}"));
    filters.dropped_by(entry).map(str::to_owned)
}

#[test]
fn ss_24_a_test_compares_one_field_without_case() {
    for (test, expected) in [
        ("title contains sponsored", true),
        ("title contains \"a new\"", true),
        ("title contains 'a new'", true),
        ("title contains offer", false),
        ("title is sponsored", false),
        ("title is \"sponsored: a new ferry\"", true),
        ("title starts with Sponsored:", true),
        ("title starts with ferry", false),
        ("title matches \"^sponsored.*ferry$\"", true),
        ("title matches \\bnew\\b", true),
        ("title matches ^new", false),
        ("author contains LOVE", true),
        ("category is science", true),
        ("category is \"sea life\"", true),
        ("category is sea", false),
        ("category contains sea", true),
        ("link starts with https://shop.", true),
        ("text contains \"tickets & times\"", true),
        ("text contains übersetzer", true),
        ("text contains <b>", false),
        ("title contains ferry and author contains ada", true),
        ("title contains ferry and author contains bob", false),
    ] {
        let rule = format!("block {test}");
        let by = dropped(&[&rule], &entry());
        assert_eq!(by.is_some(), expected, "{test}");
    }
}

#[test]
fn ss_24_a_block_drops_and_one_keep_must_match() {
    for (rules, expected, why) in [
        (&[][..], None, "no rules"),
        (&["", "  "], None, "empty lines"),
        (&["keep title contains ferry"], None, "kept"),
        (
            &["keep title contains train"],
            Some("keep title contains train"),
            "not kept",
        ),
        (
            &["keep title contains train", "keep author contains ada"],
            None,
            "one of two",
        ),
        (
            &["keep title contains ferry", " block author contains ada "],
            Some("block author contains ada"),
            "a block wins",
        ),
    ] {
        assert_eq!(dropped(rules, &entry()).as_deref(), expected, "{why}");
    }
}

#[test]
fn ss_24_what_an_entry_does_not_have_matches_nothing() {
    let bare = FoundEntry::default();
    for field in ["author", "category", "link", "text"] {
        assert_eq!(
            dropped(&[&format!("block {field} matches .*")], &bare),
            None
        );
        assert!(dropped(&[&format!("keep {field} matches .*")], &bare).is_some());
    }
}

fn bad(rule: &str) -> BadRule {
    let parsed = Filters::parse(&["block title contains fine", rule]);
    parsed.expect_err(rule)
}

#[test]
fn ss_24_a_mistake_is_shown_where_it_is() {
    for (rule, at, what) in [
        (
            "drop title contains x",
            "drop",
            "`drop` is neither `keep` nor `block`",
        ),
        ("block", "", "a field is missing"),
        ("block titel contains x", "titel", "`titel` is not a field"),
        ("block title", "", "a comparison is missing"),
        (
            "block title constains x",
            "constains",
            "`constains` is not a comparison",
        ),
        ("block title starts x", "x", "`x` must be `with`"),
        (
            "block title contains",
            "",
            "a text to compare with is missing",
        ),
        ("block title contains \"\"", "", "`` is empty"),
        ("block title contains a b", "b", "`b` is not expected here"),
        (
            "block title contains \"a b",
            "\"a b",
            "this quote is not closed",
        ),
        (
            "block title matches (a",
            "(a",
            "`(a` is not an expression that can be used",
        ),
        (
            "block title matches (?=a)",
            "(?=a)",
            "`(?=a)` is not an expression that can be used",
        ),
        (
            "block title matches (\\w{999}){999}",
            "(\\w{999}){999}",
            "`(\\w{999}){999}` is not an expression that can be used",
        ),
        ("block title contains a and", "", "a field is missing"),
        (
            "keep title contains 中 und",
            "und",
            "`und` is not expected here",
        ),
    ] {
        let bad = bad(rule);
        assert_eq!(&bad.rule[bad.span.start..bad.span.end], at, "{rule}");
        if what.ends_with("is missing") {
            assert_eq!(bad.span.start, rule.len(), "{rule}: at its end");
        }
        assert_eq!(
            (bad.what.to_string().as_str(), bad.number),
            (what, 2),
            "{rule}"
        );
    }
    insta::assert_snapshot!(bad("keep title contains 中 und"), @"rule 2, column 23: `und` is not expected here; join tests with `and`; put texts with blanks in quotes");
}

#[test]
fn ss_24_rules_are_bounded() {
    let long = format!("block title contains {}", "x".repeat(RULE_BYTES_MAX));
    assert!(Filters::parse(&[long]).is_err());
    let many = vec!["block title contains x"; RULES_MAX + 1];
    assert!(Filters::parse(&many[1..]).is_ok());
    assert_eq!(Filters::parse(&many).unwrap_err().number, RULES_MAX + 1);
    assert!(Filters::parse(&["block title contains a\nkeep title is b"]).is_err());
}

proptest! {
    #[test]
    fn ss_24_any_line_is_a_rule_or_a_mistake_inside_it(line in "\\PC{0,60}|(keep|block|title|text|contains|is|starts with|matches|and|\"|'| |x|\\(|\\*){0,12}") {
        match Filters::parse(&[&line]) {
            Ok(filters) => { filters.dropped_by(&entry()); }
            Err(bad) => {
                prop_assert!(line.get(bad.span.start..bad.span.end).is_some());
                prop_assert!(bad.column() >= 1);
            }
        }
    }
}
