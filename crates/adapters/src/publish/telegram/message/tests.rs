//! Messages as a reader of Telegram's HTML sees them, which knows nothing of how they were written.

use almanack_core::edition::EditionName;
use almanack_core::edition::story::{CommentNote, Note, StoryKey};
use almanack_lab::telegram::html::plain_text;
use jiff::civil::date;
use proptest::prelude::*;

use super::*;

fn story(rank: u32, title: &str) -> Printed {
    Printed {
        rank,
        key: StoryKey(format!("hn:{rank}")),
        title: title.to_owned(),
        original_title: format!("Original {rank}"),
        url: format!("https://example.com/{rank}?a=1&b=2"),
        discussion_url: None,
        score: Some(10),
        comment_count: None,
        source_name: None,
        topic: None,
        comment_note: None,
        image_url: None,
        reading_minutes: None,
        published_at: None,
        content_summary: Some("摘要".to_owned()),
        comment_summary: None,
        note: None,
        degraded_by: None,
    }
}

fn inputs(language: &str, stories: Vec<Printed>) -> Inputs {
    Inputs {
        name: EditionName::default(),
        date: date(2026, 1, 10),
        revision: 1,
        title: "HackerNews Daily".to_owned(),
        language: language.to_owned(),
        overview: None,
        stories,
        left_out: 0,
    }
}

/// What a reader of a message sees.
#[derive(Debug, Default, PartialEq)]
struct Read {
    text: String,
    bold: Vec<String>,
    links: Vec<(String, String)>,
}

/// Reads Telegram's HTML strictly: the two tags used here, four entities, nothing open, nothing
/// nested.
fn read(raw: &str) -> Result<Read, String> {
    let mut read = Read::default();
    let mut open: Option<(Option<String>, usize)> = None;
    let mut rest = raw;
    while let Some(c) = rest.chars().next() {
        if c == '>' || c == '"' {
            return Err(format!("a bare {c}"));
        }
        if c != '<' {
            let (c, left) = one(rest)?;
            read.text.push(c);
            rest = left;
            continue;
        }
        let (tag, left) = rest[1..].split_once('>').ok_or("a tag without end")?;
        rest = left;
        open = match (tag, open) {
            ("b", None) => Some((None, read.text.len())),
            ("/b", Some((None, from))) => {
                read.bold.push(read.text[from..].to_owned());
                None
            }
            ("/a", Some((Some(url), from))) => {
                read.links.push((url, read.text[from..].to_owned()));
                None
            }
            (tag, None) => Some((Some(href(tag)?), read.text.len())),
            (tag, Some(_)) => return Err(format!("<{tag}> inside")),
        };
    }
    match open {
        None => Ok(read),
        Some(_) => Err("a tag is open".to_owned()),
    }
}

fn one(rest: &str) -> Result<(char, &str), String> {
    for (entity, c) in [
        ("&amp;", '&'),
        ("&lt;", '<'),
        ("&gt;", '>'),
        ("&quot;", '"'),
    ] {
        if let Some(left) = rest.strip_prefix(entity) {
            return Ok((c, left));
        }
    }
    match rest.chars().next() {
        Some(c) if c != '&' => Ok((c, &rest[c.len_utf8()..])),
        _ => Err("a bare &".to_owned()),
    }
}

fn href(tag: &str) -> Result<String, String> {
    let quoted = tag
        .strip_prefix("a href=\"")
        .and_then(|tag| tag.strip_suffix('"'));
    let mut rest = quoted.ok_or_else(|| format!("<{tag}>"))?;
    let mut url = String::new();
    while !rest.is_empty() {
        let (c, left) = one(rest)?;
        url.push(c);
        rest = left;
    }
    Ok(url)
}

#[test]
fn ed_34_an_edition_is_a_head_groups_of_stories_and_an_end() {
    let mut stories = vec![story(1, "一 & <二>"), story(2, "二"), story(11, "三")];
    stories[1].comment_summary = Some("好".to_owned());
    stories[1].content_summary = None;
    stories[1].note = Some(Note::TitleOnly);
    stories[1].discussion_url = Some("https://talk.example/2".to_owned());
    stories[1].comment_count = Some(57);
    stories[1].reading_minutes = Some(4);
    stories[2].comment_note = Some(CommentNote::Unread);
    let mut inputs = inputs("zh-CN", stories);
    inputs.left_out = 1;
    inputs.overview = Some("一。\n\n二。".to_owned());
    let text = messages(&inputs, 2).join("\n=== next message ===\n");
    insta::assert_snapshot!(text, @r#"
    <b>HackerNews Daily</b>
    2026-01-10
    共 3 篇

    一。

    二。
    === next message ===
    1️⃣ <b>一 &amp; &lt;二&gt;</b>
    <a href="https://example.com/1?a=1&amp;b=2">原文链接</a>
    10 分

    摘要

    <b>评论要点</b>
    暂无评论

    ━━━━━━━━━━━━━━━━━━━━

    2️⃣ <b>二</b>
    <a href="https://example.com/2?a=1&amp;b=2">原文链接</a> · 约 4 分钟读完
    10 分 · <a href="https://talk.example/2">57 条评论</a>

    原文无法读取，仅保留标题。

    <b>评论要点</b>
    好
    === next message ===
    11. <b>三</b>
    <a href="https://example.com/11?a=1&amp;b=2">原文链接</a>
    10 分

    摘要

    <b>评论要点</b>
    评论未能读取。

    ━━━━━━━━━━━━━━━━━━━━

    2026-01-10 全部内容完，另有 1 篇未收录。
    "#);
}

#[test]
fn ed_34_a_day_without_stories_is_one_message() {
    assert_eq!(
        messages(&inputs("en", Vec::new()), 2),
        ["<b>HackerNews Daily</b>\n2026-01-10\n\nNothing today."]
    );
}

#[test]
fn ed_34_stories_that_do_not_fit_together_are_separate_and_a_long_one_is_cut() {
    let mut stories = vec![story(1, "a"), story(2, "b"), story(3, "c")];
    stories[0].content_summary = Some("长".repeat(3_000));
    stories[1].content_summary = Some("\u{1F600}".repeat(1_000));
    stories[2].content_summary = Some("x & y ".repeat(2_000));
    stories[2].comment_summary = Some("short".to_owned());
    let messages = messages(&inputs("en", stories), 10);
    let seen: Vec<Read> = messages.iter().map(|raw| read(raw).unwrap()).collect();
    assert_eq!(seen.len(), 5, "head, three stories, end");
    assert!(!seen[1].text.contains('…') && !seen[2].text.contains('…'));
    assert!(
        seen[3].text.contains(
            "…

"
        ),
        "cut, with an ellipsis"
    );
    assert!(
        seen[3].text.ends_with("What readers say\nshort"),
        "{}",
        seen[3].text
    );
    let units = seen[3].text.encode_utf16().count();
    assert!(
        (4_080..=4_096).contains(&units),
        "as little as needed: {units}"
    );
}

fn anything() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        "[a-z &<>\"'/]{0,40}",
        "(<b>|</a>|&amp;|&#39;|<a href=\"x\">){0,4}",
        "(中|文|😀|👩‍👩‍👧|\u{0}|\u{7}|\r\n){0,30}",
    ];
    (piece, 0_usize..=4_000).prop_map(|(piece, times)| piece.repeat(times % 300))
}

prop_compose! {
    fn any_story()(
        title in anything(),
        url in prop_oneof!["https://[a-z]{1,9}/[a-z&<>\"]{0,40}", anything()],
        summary in proptest::option::of(anything()),
        comments in proptest::option::of(anything()),
    ) -> Printed {
        Printed {
            url,
            content_summary: summary,
            comment_summary: comments,
            ..story(1, &title)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn ed_34_whatever_the_stories_every_message_is_read_and_fits_and_none_is_lost(
        mut stories in proptest::collection::vec(any_story(), 0..12),
        title in anything(),
        per_message in 1_usize..=10,
        chinese in any::<bool>(),
    ) {
        for (rank, story) in (1..).zip(&mut stories) {
            story.rank = rank;
        }
        let mut inputs = inputs(if chinese { "zh" } else { "en" }, stories);
        inputs.title = title;
        let language = Language::of(&inputs.language);
        let mut expected = inputs.stories.iter();
        for raw in messages(&inputs, per_message) {
            let seen = read(&raw).map_err(TestCaseError::fail)?;
            let units = seen.text.encode_utf16().count();
            prop_assert!(units <= 4_096, "{} units", units);
            prop_assert!(raw.len() <= 20_000, "{} bytes", raw.len());
            prop_assert!(!seen.text.trim().is_empty());
            let telegrams = plain_text(&raw);
            let telegrams = telegrams.map_err(TestCaseError::fail)?;
            prop_assert_eq!(telegrams.trim(), seen.text.trim(), "as the world's Telegram reads it");
            let mut links = seen.links.iter();
            let mut bold = seen.bold.iter();
            let mut together = 0;
            // The head's own title is the one bold text without a label behind it.
            while let (Some(title), Some(label)) = (bold.next(), bold.next()) {
                let story = expected.next().ok_or_else(|| TestCaseError::fail("one too many"))?;
                together += 1;
                prop_assert_eq!(label, language.comments());
                prop_assert_eq!(title, &super::title(story));
                prop_assert!(seen.text.contains(&rank(story.rank)));
                if let Some(url) = url(story) {
                    prop_assert_eq!(links.next(), Some(&(url.to_owned(), language.link().to_owned())));
                }
            }
            prop_assert_eq!(links.next(), None);
            prop_assert!(together <= per_message, "{} stories", together);
        }
        prop_assert_eq!(expected.next(), None, "a story is missing");
    }
}
