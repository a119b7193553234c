use almanack_core::edition::{
    EditionName,
    document::Printed,
    story::{Note, StoryKey},
};
use jiff::{Timestamp, civil::date};
use proptest::prelude::*;

use super::*;

fn print(template: &str, inputs: &Inputs) -> String {
    Template::built_in().print(template, inputs).unwrap()
}

fn edition(language: &str) -> Inputs {
    let inputs = sample::all().into_iter();
    let mut inputs = inputs.filter(|inputs| inputs.language == language);
    inputs.next().unwrap()
}

#[test]
fn ed_11_the_built_in_template_renders_the_markdown_of_the_founding_documents() {
    let mut inputs = edition("zh-CN");
    inputs.stories.truncate(2);
    insta::assert_snapshot!(print(BUILT_IN, &inputs), @r#"
    ---
    layout: post
    title: "HackerNews Daily - 2026-01-10"
    date: 2026-01-10
    ---

    数据库慢。

    磁盘也慢。

    ---

    ## 数据库为什么慢

    Why databases are slow

    **主题**: 数据库

    **发布时间**: 2026-01-09 12:16 UTC

    **链接**: [https://example.org/slow](https://example.org/slow) · 约 4 分钟读完

    **描述**:

    数据库慢，因为磁盘慢。

    **评论要点**:

    读者认为磁盘不慢。

    *[HackerNews](https://news.ycombinator.com/item?id=42) · 321 分 · 57 条评论*

    ---

    ## Postgres

    **链接**: [https://example.org/](https://example.org/)

    **描述**:

    暂无描述

    **评论要点**:

    暂无评论

    ---
    "#);
}

#[test]
fn ed_11_it_speaks_the_editions_language_and_says_what_is_missing() {
    for (language, words) in [
        (
            "zh-CN",
            ["发布时间", "暂无描述（未能", "暂无摘要", "暂无评论"],
        ),
        (
            "en",
            [
                "Published",
                "only its title is kept",
                "No summary",
                "No comments",
            ],
        ),
    ] {
        let printed = print(BUILT_IN, &edition(language));
        for word in words {
            assert!(printed.contains(word), "{word} in {printed}");
        }
    }
    let mut french = edition("en");
    french.language = "fr".to_owned();
    assert!(
        print(BUILT_IN, &french).contains("**Published**"),
        "words we do not have are English"
    );
}

#[test]
fn ed_11_untrusted_text_breaks_nothing() {
    let mut inputs = edition("zh-CN");
    inputs.title = "News: \"the\" {{ best }}\n---".to_owned();
    inputs.stories = vec![Printed {
        title: "标题\n## 假的\n---".to_owned(),
        original_title: "1. <b>[x](javascript:y)</b> {% include %}".to_owned(),
        url: "https://example.org/a b)(c".to_owned(),
        content_summary: Some("# 一\n\n---\n<script>x</script>\n{{ x }}".to_owned()),
        comment_summary: Some("```\n**x**".to_owned()),
        ..inputs.stories[0].clone()
    }];
    insta::assert_snapshot!(print(BUILT_IN, &inputs), @r#"
    ---
    layout: post
    title: "News: \"the\" {{ best }}\n--- - 2026-01-10"
    date: 2026-01-10
    ---

    数据库慢。

    磁盘也慢。

    ---

    ## 标题 ## 假的 ---

    1\. \<b\>\[x\](javascript:y)\</b\> \{% include %\}

    **主题**: 数据库

    **发布时间**: 2026-01-09 12:16 UTC

    **链接**: [https://example.org/a b)(c](https://example.org/a%20b%29%28c) · 约 4 分钟读完

    **描述**:

    \# 一

    \---

    \<script\>x\</script\>

    \{\{ x \}\}

    **评论要点**:

    \`\`\`

    \*\*x\*\*

    *[HackerNews](https://news.ycombinator.com/item?id=42) · 321 分 · 57 条评论*

    ---
    "#);
}

#[test]
fn a_custom_template_finds_everything_and_ends_in_one_line_break() {
    let template = "{{ title }} {{ date }} r{{ revision }} {{ language }} -{{ left_out }}\n\
        {% for story in stories %}\n\
        {{ story.rank }} {{ story.key }} {{ story.score }} {{ story.note }} {{ story.content_summary or 'x' }}\n\
        {% endfor %}\n\n\n";
    let renderer = Template::new(template).unwrap();
    insta::assert_snapshot!(print(renderer.template(), &edition("en")), @r#"
    HackerNews Daily 2026-01-10 r1 en -1
    1 hn:42 321 None 数据库慢，因为磁盘慢。
    2 entry:7 None None x
    2 entry:7 None title_only x
    2 entry:7 None not_summarised x
    "#);
    for (template, printed) in [
        ("", "\n"),
        ("a", "a\n"),
        ("a\n\n\n", "a\n"),
        ("\n\na", "\n\na\n"),
    ] {
        assert_eq!(print(template, &edition("en")), printed, "{template:?}");
    }
}

#[test]
fn a_bad_template_is_refused_with_line_and_reason() {
    let refused = |text: &str| Template::new(text).unwrap_err().to_string();
    insta::assert_snapshot!(refused("a\nb {{ titel }}"), @"template, line 2: undefined value: `titel` is undefined");
    insta::assert_snapshot!(refused("{% for story in stories %}\n{{ story.headline }}{% endfor %}"), @"template, line 2: undefined value: `story.headline` is undefined");
    insta::assert_snapshot!(refused("a\n{% for x in stories %}"), @"template, line 2: syntax error: unexpected end of input, expected end of block");
    insta::assert_snapshot!(refused("{{ title | shout }}"), @"template, line 1: unknown filter: filter shout is unknown");
    insta::assert_snapshot!(refused("{% include 'other' %}"), @"template, line 1: template not found: tried to include non-existing template 'other'");
    let endless = "{% for a in range(90000) %}{% for b in range(90000) %}x{% endfor %}{% endfor %}";
    insta::assert_snapshot!(refused(endless), @"template, line 1: takes more than 1000000 steps");
    let huge = "{% for a in range(900) %}{{ 'xxxxxxxxxx' * 1000 }}{% endfor %}";
    insta::assert_snapshot!(refused(huge), @"template: prints more than 8388608 bytes");
}

#[test]
fn a_digest_is_sha_256_in_hexadecimal() {
    let digest = Template::built_in().digest(b"abc");
    assert_eq!(
        digest,
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
}

/// Stories full of what Markdown, YAML and Jinja care about.
fn strange() -> impl Strategy<Value = Inputs> {
    let text = || "[a-z数据#*_>|{}<\\-=\n`&;.0-9 \"%]{0,30}";
    let note = prop::sample::select(vec![None, Some(Note::TitleOnly), Some(Note::NotSummarised)]);
    let story = (
        text(),
        text(),
        proptest::option::of(text()),
        proptest::option::of(text()),
        note,
        any::<bool>(),
    );
    let story =
        story.prop_map(
            |(title, original_title, content, comments, note, talked)| Printed {
                rank: 1,
                key: StoryKey("hn:1".to_owned()),
                title,
                original_title,
                url: "https://example.org/".to_owned(),
                discussion_url: talked.then(|| "https://news.ycombinator.com/item?id=1".to_owned()),
                score: None,
                comment_count: None,
                source_name: None,
                topic: None,
                comment_note: None,
                image_url: None,
                reading_minutes: None,
                published_at: talked.then_some(Timestamp::UNIX_EPOCH),
                content_summary: content,
                comment_summary: comments,
                note,
                degraded_by: None,
            },
        );
    let stories = proptest::collection::vec(story, 0..5);
    (stories, text()).prop_map(|(stories, title)| Inputs {
        name: EditionName::default(),
        date: date(2026, 1, 10),
        revision: 1,
        title,
        language: "zh-CN".to_owned(),
        overview: None,
        stories,
        left_out: 0,
    })
}

proptest! {
    #[test]
    fn ed_11_the_same_inputs_print_the_same_bytes_and_keep_their_structure(inputs in strange()) {
        let printed = print(BUILT_IN, &inputs);
        prop_assert_eq!(&printed, &print(BUILT_IN, &inputs.clone()));
        let stories = inputs.stories.len();
        let lines = |wanted: &str| printed.lines().filter(|line| line.starts_with(wanted)).count();
        prop_assert_eq!(lines("## "), stories);
        prop_assert_eq!(lines("---"), stories + 2, "{}", printed);
        prop_assert_eq!(lines("**评论要点**:"), stories);
        prop_assert!(printed.ends_with('\n') && !printed.ends_with("\n\n"));
        prop_assert!(!printed.contains("\n\n\n"), "one empty line between parts: {}", printed);
    }
}
