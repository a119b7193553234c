use proptest::prelude::*;
use serde_json::json;

use super::*;

/// A reply about three titles, what it says (`-` for nothing), and why.
const REPLIES: &[(&str, &str, &str)] = &[
    (
        r#"[{"index":0,"title":"甲"},{"index":1,"title":"乙"},{"index":2,"title":"丙"}]"#,
        "甲|乙|丙",
        "as asked",
    ),
    (
        r#"[{"index":2,"title":"丙"},{"index":0,"title":"甲"},{"index":1,"title":"乙"}]"#,
        "甲|乙|丙",
        "another order",
    ),
    (
        r#"[{"title":"甲","index":0},{"title":"乙","index":1},{"title":"丙","index":2}]"#,
        "甲|乙|丙",
        "fields the other way",
    ),
    (
        r#"[{"index":"0","title":"甲"},{"index":"1","title":"乙"},{"index":"2","title":"丙"}]"#,
        "甲|乙|丙",
        "digits in quotes",
    ),
    (
        r#"[{"id":0,"translation":"甲"},{"id":1,"text":"乙"},{"id":2,"translated_title":"丙"}]"#,
        "甲|乙|丙",
        "other names",
    ),
    (r#"["甲","乙","丙"]"#, "甲|乙|丙", "plain texts"),
    (
        r#"["\u0000甲","乙\u0007\u001b","\u0000"]"#,
        "甲|乙|-",
        "what no database takes",
    ),
    (
        r#"[{"title":"甲"},{"title":"乙"},{"title":"丙"}]"#,
        "甲|乙|丙",
        "objects without index",
    ),
    (
        "```json\n[\"甲\",\"乙\",\"丙\"]\n```",
        "甲|乙|丙",
        "a fence",
    ),
    (
        "```\n[\"甲\",\"乙\",\"丙\"]\n```\n",
        "甲|乙|丙",
        "a fence without a name",
    ),
    (
        "Sure! Here you go:\n[\"甲\",\"乙\",\"丙\"]\nHope this helps.",
        "甲|乙|丙",
        "prose around",
    ),
    (
        "Note [1] and {so on}: [\"甲\",\"乙\",\"丙\"] [end]",
        "甲|乙|丙",
        "brackets in the prose",
    ),
    (
        "See [1, 2, 3]: [\"甲\",\"乙\",\"丙\"]",
        "甲|乙|丙",
        "an array of something else",
    ),
    (
        "\u{feff}  [\"甲\",\"乙\",\"丙\"]",
        "甲|乙|丙",
        "a mark of byte order",
    ),
    (r#"["甲","乙","丙",]"#, "甲|乙|丙", "a comma too many"),
    (
        "[{\"index\":0,\"title\":\"甲\",},\n{\"index\":1,\"title\":\"乙\"},{\"index\":2,\"title\":\"丙\"},\n]",
        "甲|乙|丙",
        "more of them",
    ),
    ("[“甲”,“乙”,“丙”]", "甲|乙|丙", "typographic quotes"),
    (
        "“[\"甲\",\"乙\",\"丙\"]”",
        "甲|乙|丙",
        "typographic quotes around it all",
    ),
    ("[\"甲\"，\"乙\"，\"丙\"]", "甲|乙|丙", "wide commas"),
    (
        "[{“index”：0，“title”：“甲”}，{“index”：1，“title”：“乙”}]",
        "甲|乙|-",
        "wide everything",
    ),
    (r#"{"titles":["甲","乙","丙"]}"#, "甲|乙|丙", "a wrapper"),
    (
        r#"{"titles":[{"index":1,"title":"乙"},{"index":0,"title":"甲"},{"index":2,"title":"丙"}]}"#,
        "甲|乙|丙",
        "a wrapper around objects",
    ),
    (
        r#"{"count":3,"result":["甲","乙","丙"]}"#,
        "甲|乙|丙",
        "a wrapper of another name",
    ),
    (
        r#"{"0":"甲","1":"乙","2":"丙"}"#,
        "甲|乙|丙",
        "an object by index",
    ),
    (
        "{\"index\":0,\"title\":\"甲\"}\n{\"index\":1,\"title\":\"乙\"}\n{\"index\":2,\"title\":\"丙\"}",
        "甲|乙|丙",
        "one object a line",
    ),
    (
        "<think>maybe [\"a\",\"b\",\"c\"]</think>[\"甲\",\"乙\",\"丙\"]",
        "甲|乙|丙",
        "the last word counts",
    ),
    (
        "[\"甲\n上\",\"乙\",\"丙\"]",
        "甲 上|乙|丙",
        "a line break within",
    ),
    (
        "[\" 甲\\n \\t上 \",\"乙\",\"丙\"]",
        "甲 上|乙|丙",
        "titles are one line",
    ),
    (
        r#"[{"index":0,"title":"说 "甲" 者"},{"index":1,"title":"乙"},{"index":2,"title":"丙"}]"#,
        "说 \"甲\" 者|乙|丙",
        "quotes not escaped",
    ),
    (
        r#"["说 "甲" 者","乙","丙"]"#,
        "-|-|-",
        "quotes not escaped, and no index to hold on to",
    ),
    (
        r#"["甲 \"上\"","乙","丙"]"#,
        "甲 \"上\"|乙|丙",
        "quotes escaped",
    ),
    (r#"["甲","乙"]"#, "-|-|-", "one too few, and unknown which"),
    (r#"["甲","乙","丙","丁"]"#, "-|-|-", "one too many"),
    (
        r#"[{"title":"甲"},{"title":"乙"}]"#,
        "-|-|-",
        "one object too few, without index",
    ),
    (r#"["甲","","丙"]"#, "甲|-|丙", "an empty one"),
    (r#"["甲",null,"丙"]"#, "甲|-|丙", "none"),
    (r#"["甲",7,"丙"]"#, "甲|-|丙", "not a text"),
    (r#"["甲","  \n ","丙"]"#, "甲|-|丙", "nothing but space"),
    (
        r#"[{"index":0,"title":"甲"},{"index":1,"title":null},{"index":2,"title":""}]"#,
        "甲|-|-",
        "objects without title",
    ),
    (
        r#"[{"index":0,"title":"甲"},{"index":2,"title":"丙"}]"#,
        "甲|-|丙",
        "one missing, and clear which",
    ),
    (
        r#"[{"index":0,"title":"甲"},{"index":9,"title":"乙"},{"index":2,"title":"丙"}]"#,
        "甲|-|丙",
        "an index outside the list",
    ),
    (
        r#"[{"index":-1,"title":"甲"},{"index":0,"title":"乙"},{"index":1.5,"title":"丙"}]"#,
        "乙|-|-",
        "indices that are none",
    ),
    (
        r#"[{"index":0,"title":"甲"},{"index":0,"title":"乙"},{"index":2,"title":"丙"}]"#,
        "-|-|丙",
        "two claim one index",
    ),
    (
        r#"[{"index":0,"title":"甲"},{"index":0,"title":"甲"},{"index":2,"title":"丙"}]"#,
        "甲|-|丙",
        "the same twice",
    ),
    (
        r#"[{"index":0,"title":"甲"},{"index":0,"title":null}]"#,
        "-|-|-",
        "a claim and its denial",
    ),
    (
        r#"[{"index":1,"title":"甲"},{"index":2,"title":"乙"},{"index":3,"title":"丙"}]"#,
        "甲|乙|丙",
        "counted from one",
    ),
    (
        r#"[{"index":1,"title":"甲"},{"index":2,"title":"乙"}]"#,
        "-|-|-",
        "from one with the last missing, or from zero with the first missing",
    ),
    (
        r#"[{"index":0,"title":"甲"},"乙","丙"]"#,
        "甲|-|-",
        "only one says where it belongs",
    ),
    (
        r#"[{"index":0,"title":"甲"},{"index":1,"title":"乙"},{"index":2,"ti"#,
        "甲|乙|-",
        "cut off: what was whole counts",
    ),
    (r#"["甲","乙","#, "-|-|-", "cut off without indices"),
    (r#"[["甲","乙","丙"]]"#, "-|-|-", "an array too many"),
    ("[]", "-|-|-", "an empty array"),
    ("{}", "-|-|-", "an empty object"),
    ("", "-|-|-", "nothing"),
    ("null", "-|-|-", "null"),
    ("\"甲\"", "-|-|-", "a text"),
    (
        "I'm sorry, but I can't help with that.",
        "-|-|-",
        "an excuse",
    ),
    ("1. 甲\n2. 乙\n3. 丙", "-|-|-", "a list of another kind"),
    (
        "<html><body>[object Object]</body></html>",
        "-|-|-",
        "a page",
    ),
    ("[[[[[[[[", "-|-|-", "nothing but brackets"),
];

#[test]
fn ed_09_a_reply_is_read_as_written_and_no_index_is_guessed() {
    assert!(REPLIES.len() >= 40);
    for (reply, expected, why) in REPLIES {
        let placed = titles(reply, 3);
        let shown: Vec<&str> = placed
            .iter()
            .map(|it| it.as_deref().unwrap_or("-"))
            .collect();
        assert_eq!(shown.join("|"), *expected, "{why}: {reply}");
    }
    assert_eq!(
        titles(r#"[{"index":0,"title":"甲"}]"#, 1),
        [Some("甲".to_owned())]
    );
    assert_eq!(
        titles(r#"{"index":0,"title":"甲"}"#, 1),
        [Some("甲".to_owned())]
    );
    assert_eq!(titles(r#"["甲"]"#, 0), [] as [Option<String>; 0]);
    let page = json!([
        "甲".repeat(TITLE_CHARS_MAX),
        "乙".repeat(TITLE_CHARS_MAX + 1)
    ]);
    let placed = titles(&page.to_string(), 2);
    assert!(
        placed[0].is_some() && placed[1].is_none(),
        "no page is a title"
    );
}

#[test]
fn a_judgement_counts_only_if_every_title_is_judged() {
    for (reply, expected, why) in [
        (
            r#"[{"index":0,"classification":"SAFE"},{"index":1,"classification":"SENSITIVE"}]"#,
            Some([true, false]),
            "as asked",
        ),
        (
            r#"[{"index":1,"classification":"SENSITIVE"},{"index":0,"classification":"safe"}]"#,
            Some([true, false]),
            "another order, small letters",
        ),
        (r#"["SAFE","SENSITIVE"]"#, Some([true, false]), "plain"),
        (
            "```json\n{\"results\":[{\"index\":0,\"classification\":\"SAFE\"},{\"index\":1,\"classification\":\"SAFE\"}]}\n```",
            Some([true, true]),
            "wrapped",
        ),
        (
            r#"[{"index":0,"classification":"SAFE"}]"#,
            None,
            "one too few",
        ),
        (
            r#"[{"index":0,"classification":"SAFE"},{"index":1,"classification":"MAYBE"}]"#,
            None,
            "another word",
        ),
        (
            r#"[{"index":0,"classification":"SAFE"},{"index":0,"classification":"SAFE"}]"#,
            None,
            "one twice",
        ),
        ("All of them are SAFE.", None, "prose"),
        ("", None, "nothing"),
    ] {
        assert_eq!(verdicts(reply, 2), expected.map(Vec::from), "{why}");
    }
    assert_eq!(verdicts("anything", 0), Some(Vec::new()));
}

#[test]
fn a_reply_of_nothing_but_brackets_is_read_in_passing() {
    for strange in ["[", "[{", "{\"a\":[", "[\"", "[1,", "“", ",]", "\\\""] {
        assert_eq!(titles(&strange.repeat(100_000), 2), [None, None]);
    }
}

/// Titles at shuffled indices.
fn shuffled() -> impl Strategy<Value = (Vec<String>, Vec<usize>)> {
    proptest::collection::vec("[a-z数据\"\\\\,\\[\\]{}:“” ]{0,12}x", 0..12).prop_flat_map(
        |titles| {
            let places: Vec<usize> = (0..titles.len()).collect();
            (Just(titles), Just(places).prop_shuffle())
        },
    )
}

proptest! {
    #[test]
    fn ed_09_every_order_of_indexed_titles_is_put_right((titles_in, order) in shuffled()) {
        let objects: Vec<Value> = order.iter()
            .map(|index| json!({"index": index, "title": titles_in[*index]}))
            .collect();
        let expected: Vec<Option<String>> = titles_in.iter().map(|it| title(it)).collect();
        let reply = json!(objects).to_string();
        for reply in [reply.clone(), format!("```json\n{reply}\n```"), format!("Here [it] is: {reply}. Bye!")] {
            prop_assert_eq!(titles(&reply, titles_in.len()), expected.clone());
        }
        let trailing = format!("{},]", reply.trim_end_matches(']'));
        if !titles_in.is_empty() && !trailing.contains("\\\"") && !trailing.contains(['“', '”', '[', ']']) {
            prop_assert_eq!(titles(&trailing, titles_in.len()), expected);
        }
    }

    #[test]
    fn ed_09_no_reply_is_too_strange(reply in any::<String>(), count in 0_usize..9) {
        prop_assert_eq!(titles(&reply, count).len(), count);
        prop_assert!(verdicts(&reply, count).is_none_or(|it| it.len() == count));
    }

    #[test]
    fn ed_09_no_reply_of_json_parts_is_too_strange(
        parts in proptest::collection::vec(
            prop::sample::select(vec!["[", "]", "{", "}", "\"", ",", ":", "\"index\"", "\"title\"", "0", "1", "甲", "\\", "“", "”", "\n", "null"]),
            0..40,
        ),
        count in 0_usize..4,
    ) {
        let reply = parts.concat();
        prop_assert_eq!(titles(&reply, count).len(), count);
        let _ = verdicts(&reply, count);
    }
}
