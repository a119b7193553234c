use proptest::prelude::*;

use super::*;

fn check(file: &str, rows: &[(&str, bool, &str)]) {
    let rules = Rules::parse(file.as_bytes());
    for (path, allowed, why) in rows {
        let forbidden = rules.forbids(path);
        assert_eq!(
            forbidden.is_none(),
            *allowed,
            "{why}: {path} by {forbidden:?}"
        );
    }
}

#[test]
fn ss_26_the_longest_rule_of_our_group_decides() {
    check(
        "User-agent: *\nDisallow: /\n\nUser-Agent: other\nUser-agent: Almanack/1.0 # us\n\
         Disallow: /private\nAllow: /private/open\nDisallow: /same\nAllow: /same\n\
         Crawl-delay: 2.5\n\nUser-agent: more\nDisallow: /more\n",
        &[
            ("/", true, "everybody's group is not ours"),
            ("/private", false, "our rule"),
            ("/private/x?y=1", false, "a rule is a prefix"),
            ("/private/open/x", true, "the longer one decides"),
            ("/same", true, "of two equal ones, the one that allows"),
            ("/more", true, "the group of another"),
            ("/Private", true, "case matters"),
        ],
    );
    let delay = Rules::parse(b"user-agent: *\ncrawl-delay: 2.5").delay_s;
    assert_eq!(delay, Some(3));
}

#[test]
fn ss_26_without_a_group_of_ours_everybodys_counts() {
    check(
        "\u{feff}user-agent: almanackbot\ndisallow: /\nUSER-AGENT: *\nsitemap: /x\nDISALLOW: /a\n",
        &[
            ("/a/b", false, "everybody's"),
            ("/b", true, "the other name only begins like ours"),
        ],
    );
    check("disallow: /", &[("/", true, "a rule before any agent")]);
    check(
        "user-agent: *\ndisallow:",
        &[("/x", true, "an empty rule is none")],
    );
    check("<html>no such page", &[("/", true, "not such a file")]);
    check(
        "user-agent: *\ndisallow: /",
        &[("/robots.txt", true, "the file itself")],
    );
}

#[test]
fn ss_26_two_groups_of_ours_are_one() {
    check(
        "user-agent: almanack\ndisallow: /a\nuser-agent: x\ndisallow: /\nuser-agent: ALMANACK\ndisallow: /b",
        &[
            ("/a", false, "first"),
            ("/b", false, "second"),
            ("/c", true, "neither"),
        ],
    );
}

#[test]
fn ss_26_stars_and_the_end_of_an_address() {
    check(
        "user-agent: *\ndisallow: /*.pdf$\ndisallow: /a*b*c\ndisallow: *secret\ndisallow: /exact$",
        &[
            ("/x/y.pdf", false, "ends so"),
            ("/x/y.pdf?z", true, "does not end so"),
            ("/a1b2c3", false, "in order"),
            ("/acb", true, "not in order"),
            ("/the/secret/x", false, "anywhere"),
            ("/exact", false, "exactly"),
            ("/exactly", true, "longer"),
        ],
    );
}

#[test]
fn ss_26_one_spelling_whatever_is_escaped() {
    check(
        "user-agent: *\ndisallow: /caf%c3%a9\ndisallow: /%7Euser\ndisallow: /a%2Fb\ndisallow: /新闻\ndisallow: /x%2a\ndisallow: /a$b",
        &[
            ("/caf%C3%A9", false, "capitals do not matter"),
            ("/~user", false, "needs no escape"),
            ("/a/b", true, "an escaped slash is no slash"),
            ("/a%2fb", false, "but is itself"),
            ("/%E6%96%B0%E9%97%BB/1", false, "written unescaped"),
            ("/x*", false, "an escaped star is a star"),
            ("/xy", true, "and nothing else"),
            ("/a$b", false, "a dollar sign that is not at the end"),
        ],
    );
}

#[test]
fn ss_26_a_large_file_is_bounded() {
    let file = format!("user-agent: *\n{}", "disallow: /a*b*c*d\n".repeat(60_000));
    let rules = Rules::parse(file.as_bytes());
    assert_eq!(rules.rules.len(), RULES_MAX);
    let long = format!(
        "user-agent: *\ndisallow: /{}",
        "a".repeat(PATTERN_BYTES_MAX)
    );
    assert_eq!(Rules::parse(long.as_bytes()).cost(), 0);
    for (text, expected) in [
        ("-1", None),
        ("inf", None),
        ("x", None),
        ("9e9", Some(86_400)),
    ] {
        let file = format!("user-agent: *\ncrawl-delay: {text}");
        assert_eq!(Rules::parse(file.as_bytes()).delay_s, expected, "{text}");
    }
}

proptest! {
    #[test]
    fn ss_26_whatever_a_file_holds_it_is_read(file in any::<Vec<u8>>(), path in "/\\PC{0,40}") {
        let _ = Rules::parse(&file).forbids(&path);
    }

    #[test]
    fn ss_26_a_rule_without_stars_is_a_prefix(rule in "/[a-z/]{0,6}", path in "/[a-z/]{0,9}") {
        let rules = Rules::parse(format!("user-agent: *\ndisallow: {rule}").as_bytes());
        prop_assert_eq!(rules.forbids(&path).is_some(), path.starts_with(&rule));
    }
}
