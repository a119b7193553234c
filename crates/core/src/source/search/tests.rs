use proptest::prelude::*;

use super::{FoundEntry, QUERY_TOKENS_MAX, Query, TOKENS_MAX, words_of};

fn words(text: &str) -> String {
    words_of(&FoundEntry {
        title: text.to_owned(),
        ..FoundEntry::default()
    })
}

#[test]
fn ss_24_words_are_the_same_whatever_writes_them() {
    for (text, expected, why) in [
        ("", "", "nothing"),
        ("Ferries: on TIME!", "ferries on time", "case and signs"),
        ("don't e-mail", "don t e mail", "signs end words"),
        ("2026 3D x2", "n2026 n3d x2", "a token begins with a letter"),
        ("ＡＢＣ１２", "abc12", "wide letters"),
    ] {
        assert_eq!(words(text), expected, "{why}");
    }
    let hashed = words("Übung übung ÜBUNG Привет");
    let parts: Vec<&str> = hashed.split(' ').collect();
    assert_eq!((parts[0], parts[0]), (parts[1], parts[2]));
    assert_ne!(parts[0], parts[3]);
    assert!(
        parts
            .iter()
            .all(|part| part.len() == 11 && part.starts_with('v'))
    );
    let pairs = words("渡轮 a");
    let parts: Vec<&str> = pairs.split(' ').collect();
    assert_eq!(
        parts[0],
        format!("u{}{}", &words("渡")[1..], &parts[1][1..])
    );
    assert_eq!(parts[1..], [words("轮").as_str(), "a"]);
}

#[test]
fn ss_24_an_entry_is_found_by_all_that_is_said_of_it() {
    let entry = FoundEntry {
        title: "Harbour news".to_owned(),
        author: Some("Ada Lovelace".to_owned()),
        summary: Some("<p>The <b>ferry</b> is late &amp; full".to_owned()),
        content: Some("<script>track()</script><p>Tides".to_owned()),
        categories: vec!["Sea/Coast".to_owned()],
        ..FoundEntry::default()
    };
    let words = words_of(&entry);
    assert_eq!(
        words,
        "harbour news ada lovelace sea coast the ferry is late full tides"
    );
}

fn check(text: &str, query: &str, expected: bool) {
    let found = Query::parse(query).is_some_and(|query| query.finds(&words(text)));
    assert_eq!(found, expected, "`{query}` in `{text}`");
}

#[test]
fn ss_24_what_a_query_finds() {
    let english = "The night ferry to Calais leaves at 22:15, the day ferry does not.";
    for (query, expected) in [
        ("ferry", true),
        ("FERRY calais", true),
        ("ferry dover", false),
        ("ferr", false),
        ("\"night ferry\"", true),
        ("\"ferry night\"", false),
        ("\"day ferry\" \"night ferry\"", true),
        ("ferry -dover", true),
        ("ferry -calais", false),
        ("ferry -\"ferry night\"", true),
        ("ferry -\"day ferry\"", false),
        ("22:15", true),
        ("15:22", false),
        ("-dover", false),
        ("", false),
        ("\"", false),
        ("- -- \"\" !?", false),
        ("\"night ferry", true),
        ("ferry\"to calais\"", true),
        ("“night ferry”", true),
        ("ferry -", true),
    ] {
        check(english, query, expected);
    }
}

#[test]
fn ss_24_scripts_without_blanks_are_found_by_any_part() {
    let chinese = "渡轮今日停航，GDP增长";
    for (query, expected) in [
        ("渡轮", true),
        ("渡", true),
        ("航", true),
        ("今日停航", true),
        ("轮今", true),
        ("停今", false),
        ("渡轮 停航", true),
        ("渡轮停航", false),
        ("停航gdp", true),
        ("\"停航 GDP\"", true),
        ("gdp增长", true),
        ("gdp增", true),
        ("gdp长", false),
        ("航增", false),
        ("渡轮 -停航", false),
        ("渡轮 -开航", true),
    ] {
        check(chinese, query, expected);
    }
    check("ひらがなとカタカナ", "カタカナ", true);
    check("여객선이 결항했다", "여객선", true);
}

#[test]
fn ss_24_queries_and_words_are_bounded() {
    let long = "word ".repeat(10_000);
    assert_eq!(words(&long).split(' ').count(), TOKENS_MAX);
    assert_eq!(words(&"字".repeat(9_000)).split(' ').count(), TOKENS_MAX);
    assert!(words(&"x".repeat(90_000)).len() < 50);
    let query = Query::parse(&"a ".repeat(5_000)).unwrap();
    assert_eq!(query.tokens().count(), QUERY_TOKENS_MAX);
}

proptest! {
    /// Whatever is typed is read, and only tokens of safe characters reach a database.
    #[test]
    fn ss_24_no_query_is_a_mistake(text in "\\PC{0,60}") {
        if let Some(query) = Query::parse(&text) {
            for (token, _) in query.tokens() {
                prop_assert!(token.starts_with(|c: char| c.is_ascii_lowercase()), "{token}");
                prop_assert!(token.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()));
            }
        }
    }

    /// What the index answers is never less than what is found.
    #[test]
    fn ss_24_what_is_found_has_all_tokens(text in "[a-c 字词句]{0,40}", asked in "[a-c \"字词句-]{0,12}") {
        let stored = words(&text);
        if let Some(query) = Query::parse(&asked) && query.finds(&stored) {
            let has = |(token, goes_on): (&str, bool)| {
                stored.split(' ').any(|word| word == token || goes_on && word.starts_with(token))
            };
            prop_assert!(query.tokens().all(has), "{asked} in {text}");
        }
    }
}
