use proptest::prelude::*;

use super::*;

/// A text, its sentences, and why they end there.
const SENTENCES: &[(&str, &str, &str)] = &[
    ("", "", "nothing"),
    ("  \n\n ", "", "nothing but space"),
    ("One. Two! Three?", "One.|Two!|Three?", "each stop"),
    ("No end", "No end", "needs none"),
    (
        "SQLite 3.50 is out. Good.",
        "SQLite 3.50 is out.|Good.",
        "decimals",
    ),
    (
        "Dr. Who met J. Smith. Bye.",
        "Dr. Who met J. Smith.|Bye.",
        "titles, initials",
    ),
    (
        "Like it, e.g. Here. Done.",
        "Like it, e.g. Here.|Done.",
        "abbreviations",
    ),
    (
        "It was I. He knew.",
        "It was I.|He knew.",
        "I is no initial",
    ),
    (
        "v1. then more. End.",
        "v1. then more.|End.",
        "a small letter",
    ),
    (
        "Say \"no.\" She left.",
        "Say \"no.\"|She left.",
        "closing quotes",
    ),
    (
        "Really?! Yes... Fine.",
        "Really?!|Yes...|Fine.",
        "several stops",
    ),
    (
        "example.com is down. Sad.",
        "example.com is down.|Sad.",
        "names of the web",
    ),
    (
        "A heading\n\nThe text.",
        "A heading|The text.",
        "an empty line",
    ),
    (
        "One line\ngoes on. Two.",
        "One line\ngoes on.|Two.",
        "a single break",
    ),
    (
        "第一句。第二句！真的？",
        "第一句。|第二句！|真的？",
        "without spaces",
    ),
    (
        "他说：“走吧。”然后离开了。",
        "他说：“走吧。”|然后离开了。",
        "wide quotes",
    ),
    (
        "SQLite 3.50。很快。",
        "SQLite 3.50。|很快。",
        "both scripts",
    ),
    ("日本語です。テスト。", "日本語です。|テスト。", "Japanese"),
];

#[test]
fn ed_36_sentences_end_where_readers_see_them_end() {
    for (text, expected, why) in SENTENCES {
        assert_eq!(sentences(text).join("|"), *expected, "{why}: {text}");
    }
}

#[test]
fn ed_36_the_sentences_that_say_the_most_are_kept_in_order() {
    let about = "The new compiler makes the database engine faster. I had coffee this morning with friends. \
        The database engine now runs queries twice as fast with the new compiler. Weather was nice yesterday \
        afternoon everywhere. Engine and compiler were written by the database team.";
    for (text, chars_max, expected, why) in [
        (
            about,
            140,
            "The new compiler makes the database engine faster. The database engine now runs queries twice as fast with the new compiler.",
            "what it is about",
        ),
        (
            about,
            60,
            "The new compiler makes the database engine faster.",
            "the first counts for more",
        ),
        ("Short one.", 300, "Short one.", "all there is"),
        (
            "Home\n\nAbout us\n\nThe quick brown foxes jumped across lazy dogs.",
            300,
            "The quick brown foxes jumped across lazy dogs.",
            "crumbs are no sentences",
        ),
        (
            "Same words appear here again today. Same words appear here again today.",
            300,
            "Same words appear here again today.",
            "said twice, kept once",
        ),
        (
            "数据库引擎变快了。今天天气很好啊。新的数据库引擎支持事务。",
            30,
            "数据库引擎变快了。新的数据库引擎支持事务。",
            "Chinese without spaces",
        ),
        (
            "Loooooooooooooooooooooooooooooooooong words only here.",
            13,
            "Looooooooooo…",
            "nothing fits",
        ),
        ("?! ...", 300, "", "no letter at all"),
        ("", 300, "", "nothing"),
        ("One two three four five six.", 0, "", "no room at all"),
    ] {
        assert_eq!(extract(text, chars_max), expected, "{why}");
    }
}

#[test]
fn what_is_too_long_is_cut_at_the_end_of_a_sentence() {
    for (text, chars_max, expected, why) in [
        ("Fits.", 10, "Fits.", "short enough"),
        (
            "One two. Three four. Five.",
            21,
            "One two. Three four.",
            "at the end of a sentence",
        ),
        ("One two three. Four", 6, "One…", "no sentence ends in time"),
        (
            "A. Very long sentence that goes on",
            20,
            "A. Very long…",
            "next to nothing would be left",
        ),
        (
            "第一句话。第二句话。第三句话",
            12,
            "第一句话。第二句话。",
            "Chinese",
        ),
        (
            "没有结尾的一长句话一直说下去",
            5,
            "没有结尾…",
            "cut anywhere",
        ),
        ("abc", 0, "", "nothing"),
        ("abc", 1, "…", "hardly anything"),
    ] {
        assert_eq!(shorten(text, chars_max), expected, "{why}");
    }
}

#[test]
fn ed_36_a_page_that_says_what_it_is_about_is_taken_at_its_word() {
    let text = "The ferry left at seven. Nobody had warned the captain that the harbour was closed. \
        He waited for two hours outside the pier.";
    let own =
        "How a closed harbour, a new radio and a tired captain kept forty people on the water";
    for (description, chars_max, expected, why) in [
        (
            Some(own),
            90,
            format!("{own}."),
            "a description, and its stop",
        ),
        (
            Some(own),
            150,
            format!("{own}."),
            "the text would say the same again",
        ),
        (
            Some(
                "Forty people spent a night on the water, and the reason is older than all of them.",
            ),
            150,
            "Forty people spent a night on the water, and the reason is older than all of them. \
             Nobody had warned the captain that the harbour was closed."
                .to_owned(),
            "as much of the text as fits",
        ),
        (Some("Harbour News"), 300, extract(text, 300), "a slogan"),
        (None, 300, extract(text, 300), "nothing said"),
        (
            Some(
                "The captain waited for two hours outside of the harbour that was closed. He was…",
            ),
            80,
            "The captain waited for two hours outside of the harbour that was closed.".to_owned(),
            "cut off by the site itself",
        ),
        (
            Some(
                "window.dataLayer = window.dataLayer || []; function gtag() { dataLayer.push(arguments); }",
            ),
            300,
            extract(text, 300),
            "code",
        ),
    ] {
        assert_eq!(describe(text, description, chars_max), expected, "{why}");
    }
    let chinese = "港口关闭、新的无线电和疲惫的船长如何让四十个人困在水上";
    assert_eq!(describe("", Some(chinese), 300), format!("{chinese}。"));
}

#[test]
fn ed_36_summaries_hold_no_code() {
    let page = "The parser reads one token at a time and never looks back.\n\n\
        let token = lexer.next().unwrap();\n\nparser.push(token); parser.reduce();\n\n\
        Home | Docs | Blog | About\n\nSubscribe to our newsletter\n\n\
        That is why the parser needs no more memory than the longest rule.";
    assert_eq!(
        extract(page, 300),
        "The parser reads one token at a time and never looks back. That is why the parser needs no more memory than the longest rule."
    );
}

proptest! {
    #[test]
    fn ed_36_a_summary_is_bounded_taken_from_the_text_and_always_the_same(
        text in "([A-Za-z数据库引擎很快了0-9]{0,12}[ .!?。！？\n\"”]{0,2}){0,60}",
        chars_max in 0_usize..200,
    ) {
        let summary = extract(&text, chars_max);
        prop_assert!(summary.chars().count() <= chars_max);
        prop_assert_eq!(&summary, &extract(&text, chars_max));
        let has_letters = text.chars().any(char::is_alphanumeric);
        prop_assert_eq!(summary.is_empty(), !has_letters || chars_max == 0);
        if !summary.ends_with('…') {
            let flat: String = text.split_whitespace().collect();
            let mut rest = flat.chars();
            for c in summary.chars().filter(|c| !c.is_whitespace()) {
                prop_assert!(rest.any(|other| other == c), "nothing new, nothing moved: {summary}");
            }
        }
    }

    #[test]
    fn no_text_is_too_strange(text in any::<String>(), chars_max in 0_usize..50) {
        prop_assert!(extract(&text, chars_max).chars().count() <= chars_max);
        prop_assert!(shorten(&text, chars_max).chars().count() <= chars_max);
        prop_assert!(describe("", Some(&text), chars_max).chars().count() <= chars_max);
        let whole: usize = sentences(&text).iter().map(|it| it.len()).sum();
        prop_assert!(whole <= text.len());
    }
}
