use super::*;

fn page(hits: &str) -> Page {
    let body = format!(r#"{{"hits": {hits}, "nbHits": 1}}"#);
    stories(body.as_bytes(), 1000).unwrap()
}

/// A story of these fields beside what every story has.
fn story(fields: &str) -> Option<Listed> {
    let hit = format!(r#"[{{"objectID": "7", "title": "One", "created_at_i": 60, {fields}}}]"#);
    let story = page(&hit).stories.pop()?;
    Some(story.listed("https://hn.example/item?id="))
}

#[test]
fn ed_33_a_story_is_listed_with_its_page_and_its_discussion() {
    let fields = r#""url": "https://site.example/a?b#c", "points": 12, "num_comments": 7, "story_text": "<p>no""#;
    let listed = story(fields).unwrap();
    let expected = Listed {
        key: StoryKey("hn:7".to_owned()),
        url: "https://site.example/a?b#c".to_owned(),
        discussion_url: Some("https://hn.example/item?id=7".to_owned()),
        title: "One".to_owned(),
        score: Some(12),
        comment_count: Some(7),
        source_name: Some("Hacker News".to_owned()),
        topic: None,
        published_at: Some(Timestamp::from_second(60).unwrap()),
        text: None,
    };
    assert_eq!(listed, expected);
    assert_eq!(id_of(&listed.key), Some(7));
    for other in ["entry:7", "hn:", "hn:x", "7"] {
        assert_eq!(id_of(&StoryKey(other.to_owned())), None, "{other}");
    }
}

#[test]
fn ed_33_a_text_post_is_its_discussion() {
    let long = format!(r#""url": "https://site.example/{}""#, "x".repeat(3000));
    for (fields, text, why) in [
        (
            r#""story_text": "a<p>b &gt; c""#,
            Some("a\nb > c"),
            "its text",
        ),
        (r#""url": null, "story_text": " ""#, None, "no text either"),
        (r#""url": "", "story_text": null"#, None, "nothing"),
        (r#""url": "javascript:alert(1)""#, None, "no page"),
        (r#""url": "//site.example""#, None, "no whole address"),
        (r#""url": 7, "story_text": ["x"]"#, None, "odd"),
        (
            r#""url": "https://site.example/\u0000a", "story_text": "a\u0000b""#,
            Some("a b"),
            "what no database takes",
        ),
        (
            r#""url": "https://site.example/\na""#,
            None,
            "an address of two lines",
        ),
        (&long, None, "an address out of all proportion"),
    ] {
        let listed = story(fields).unwrap();
        assert_eq!(listed.url, "https://hn.example/item?id=7", "{why}");
        assert_eq!(listed.discussion_url, Some(listed.url), "{why}");
        assert_eq!(listed.text.as_deref(), text, "{why}");
    }
}

#[test]
fn ed_33_points_and_titles_are_read_however_they_are_written() {
    for (fields, expected) in [
        (r#""points": 5"#, 5),
        (r#""points": "5""#, 5),
        (r#""points": " 5.0 ""#, 5),
        (r#""points": 5.7"#, 5),
        (r#""points": -1"#, -1),
        (r#""points": null"#, 0),
        (r#""points": "many""#, 0),
        (r#""points": [5]"#, 0),
        (r#""author": "x""#, 0),
    ] {
        let listed = story(fields).unwrap_or_else(|| panic!("{fields}"));
        assert_eq!(listed.score, Some(expected), "{fields}");
    }
    let long = "é".repeat(1000);
    for (title, expected) in [
        (" Q&amp;A: &#x27;x&#x27; ", "Q&A: 'x'"),
        ("Vec<T>", "Vec<T>"),
        (long.as_str(), &long[..600]),
    ] {
        let hits = format!(r#"[{{"objectID": 7, "created_at_i": "60", "title": "{title}"}}]"#);
        assert_eq!(page(&hits).stories[0].title, expected);
    }
}

#[test]
fn ed_33_an_odd_item_costs_itself_only() {
    let good = r#"{"objectID": "1", "title": "x", "created_at": "1970-01-01T00:01:00Z"}"#;
    for (odd, why) in [
        ("null", "nothing"),
        ("5", "a number"),
        ("[]", "a list"),
        ("{}", "no fields"),
        (r#"{"objectID": "2", "created_at_i": 60}"#, "no title"),
        (
            r#"{"objectID": "2", "created_at_i": 60, "title": " "}"#,
            "no title",
        ),
        (
            r#"{"objectID": "2", "created_at_i": 60, "title": 4}"#,
            "no title",
        ),
        (
            r#"{"objectID": "x", "created_at_i": 60, "title": "y"}"#,
            "no id",
        ),
        (
            r#"{"objectID": "-2", "created_at_i": 60, "title": "y"}"#,
            "no id",
        ),
        (r#"{"objectID": "2", "title": "y"}"#, "no time"),
        (
            r#"{"objectID": "2", "created_at_i": 9e18, "title": "y"}"#,
            "no time",
        ),
    ] {
        let page = page(&format!("[{odd}, {good}, {odd}]"));
        let ids: Vec<u64> = page.stories.iter().map(|story| story.id).collect();
        assert_eq!(ids, [1], "{why}: {odd}");
    }
}

#[test]
fn ed_33_an_answer_says_whether_it_is_cut() {
    let hit = r#"{"created_at_i": 60}, {"created_at_i": 50}"#;
    for (body, expected, why) in [
        (
            format!(r#"{{"hits": [{hit}], "nbHits": 2}}"#),
            Some(false),
            "all",
        ),
        (
            format!(r#"{{"hits": [{hit}], "nbHits": 3}}"#),
            Some(true),
            "more",
        ),
        (
            format!(r#"{{"hits": [{hit}]}}"#),
            Some(true),
            "full, and silent",
        ),
        (
            format!(r#"{{"hits": [{hit}], "nbHits": "?"}}"#),
            Some(true),
            "full",
        ),
        (r#"{"hits": [{}]}"#.to_owned(), Some(false), "not full"),
        (r#"{"hits": null}"#.to_owned(), None, "no list"),
        (r#"{"nbHits": 0}"#.to_owned(), None, "no list"),
        (r#"{"hits": []}"#.to_owned(), Some(false), "nothing"),
        (r#"{"hits": "x"}"#.to_owned(), None, "no list"),
        ("[]".to_owned(), None, "another answer"),
        ("<html>".to_owned(), None, "no data"),
        (String::new(), None, "nothing at all"),
        ("[".repeat(100_000), None, "deep"),
    ] {
        let page = stories(body.as_bytes(), 2);
        assert_eq!(page.map(|page| page.is_cut), expected, "{why}");
    }
    let page = stories(format!(r#"{{"hits": [{hit}]}}"#).as_bytes(), 2);
    assert_eq!(page.unwrap().earliest, Some(50), "of untitled ones, too");
}

#[test]
fn ed_33_comments_are_plain_texts() {
    let body = r#"{"hits": [{"author": "ada", "comment_text": "It&#x27;s<p><i>fine</i>"}, {"comment_text": null}, 7,
        {"comment_text": "<p> </p>"}, {}, {"comment_text": "<a href=\"https:&#x2F;&#x2F;x\">link</a>"}]}"#;
    let read = comments(body.as_bytes()).unwrap();
    let texts: Vec<&str> = read.iter().map(|comment| comment.text.as_str()).collect();
    assert_eq!(texts, ["It's\nfine", "link"]);
    let authors: Vec<_> = read
        .iter()
        .map(|comment| comment.author.as_deref())
        .collect();
    assert_eq!(authors, [Some("ada"), None]);
    assert_eq!(comments(b"{\"hits\": null}").unwrap(), []);
    assert_eq!(comments(b"sorry"), None);
}
