use proptest::prelude::*;

use super::*;

fn comment(author: &str, text: &str) -> Comment {
    Comment {
        author: Some(author.to_owned()),
        text: text.to_owned(),
    }
}

fn said(quotes: &[Quote]) -> Vec<(&str, &str)> {
    let named = |quote: &Quote| quote.author.is_some();
    assert!(quotes.iter().all(named));
    quotes
        .iter()
        .map(|quote| (quote.author.as_deref().unwrap_or_default(), &*quote.text))
        .collect()
}

#[test]
fn ed_36_two_people_are_quoted_apart_and_by_name() {
    let long = "It took us three years to leave that database behind. I would not do it again.";
    for (comments, expected, why) in [
        (
            vec![
                comment("ada", long),
                comment(
                    "bob",
                    "We run it in production, and it has never lost a row so far.",
                ),
            ],
            vec![
                ("ada", long),
                (
                    "bob",
                    "We run it in production, and it has never lost a row so far.",
                ),
            ],
            "as they were written",
        ),
        (
            vec![
                comment("ada", "This."),
                comment("bob", long),
                comment("eve", long),
                comment(
                    "cat",
                    "Nobody measured it on a disk that is nearly full, did they?",
                ),
            ],
            vec![
                ("bob", long),
                (
                    "cat",
                    "Nobody measured it on a disk that is nearly full, did they?",
                ),
            ],
            "short ones wait, and nothing is said twice",
        ),
        (
            vec![
                comment("ada", long),
                comment(
                    "ada",
                    "And another thing that I have wanted to say for years.",
                ),
            ],
            vec![("ada", long)],
            "one person, one quote",
        ),
        (
            vec![comment(
                "ada",
                "> Is it fast?\nIt is faster than anything else we tried.\nhttps://x.example/y\nlet x = f(y);",
            )],
            vec![("ada", "It is faster than anything else we tried.")],
            "what others said, addresses and code are left out",
        ),
        (
            vec![comment("ada", "> Is it?")],
            vec![],
            "nothing of their own",
        ),
        (
            vec![comment("ada", "First.")],
            vec![("ada", "First.")],
            "all there is",
        ),
    ] {
        assert_eq!(said(&quotes(&comments, 300)), expected, "{why}");
    }
}

#[test]
fn ed_36_a_quote_ends_with_a_sentence() {
    let text = "The disk was slow. ".repeat(40);
    let quotes = quotes(&[comment("ada", &text)], 300);
    assert_eq!(quotes[0].text, "The disk was slow. ".repeat(7).trim());
    assert!(quotes[0].text.chars().count() <= 150);
}

#[test]
fn quotes_are_read_back_and_nothing_else_is_taken_for_one() {
    for (text, count) in [
        ("“It is fast.” — ada\n\n“It is not.” — bob", 2),
        ("“It is fast.”", 1),
        ("“He said ” — and left.” — ada", 1),
        ("Readers agree: “it is fast.” — all of them", 0),
        ("“It is fast.” — ada\n\nOthers differ.", 0),
        ("“It is fast,” they say.", 0),
        ("“” — ada", 0),
        ("", 0),
    ] {
        assert_eq!(parse(text).len(), count, "{text}");
    }
}

proptest! {
    #[test]
    fn what_is_quoted_comes_back(comments in proptest::collection::vec(("[a-z“” —]{0,12}", "[a-zA-Z。.!“” —\n>]{0,80}"), 0..6), chars_max in 2_usize..200) {
        let comments: Vec<Comment> = comments.iter().map(|(author, text)| comment(author, text)).collect();
        let quotes = quotes(&comments, chars_max);
        let chars: usize = quotes.iter().map(|quote| quote.text.chars().count()).sum();
        prop_assert!(chars <= chars_max && quotes.len() <= QUOTES_MAX);
        let named = |quote: &&Quote| quote.author.is_some();
        let kept: Vec<Quote> = quotes.iter().filter(named).cloned().collect();
        prop_assert_eq!(parse(&to_text(&kept)), kept);
    }
}
