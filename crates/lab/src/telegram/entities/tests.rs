//! What Telegram makes of HTML, as tables, and laws that hold for any text.

use proptest::prelude::*;

use super::*;

fn strict(html: &str) -> Result<Formatted, Error> {
    parse_html(html, Ampersands::Refused)
}

/// `kind@offset+length`, and where a link leads.
fn shown(html: &str) -> (String, Vec<String>) {
    let read = strict(html).unwrap();
    let entity = |it: &Entity| {
        let more = it.url.as_ref().or(it.language.as_ref());
        let more = more.map(|more| format!(" {more}")).unwrap_or_default();
        format!("{}@{}+{}{more}", it.kind, it.offset, it.length)
    };
    (read.text, read.entities.iter().map(entity).collect())
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[test]
fn known_tags_become_entities() {
    for (html, text, entities) in [
        ("plain > text", "plain > text", &[][..]),
        (
            "<b>a</b><STRONG>b</STRONG>",
            "ab",
            &["bold@0+1", "bold@1+1"],
        ),
        ("<i>a</i><em>b</em>", "ab", &["italic@0+1", "italic@1+1"]),
        (
            "<u>a</u><ins>b</ins>",
            "ab",
            &["underline@0+1", "underline@1+1"],
        ),
        (
            "<s>a</s><strike>b</strike><del>c</del>",
            "abc",
            &[
                "strikethrough@0+1",
                "strikethrough@1+1",
                "strikethrough@2+1",
            ],
        ),
        (
            "<tg-spoiler>a</tg-spoiler><span class=\"tg-spoiler\">b</span>",
            "ab",
            &["spoiler@0+1", "spoiler@1+1"],
        ),
        (
            "<blockquote>a</blockquote>\n<blockquote expandable>b</blockquote>",
            "a\nb",
            &["blockquote@0+1", "expandable_blockquote@2+1"],
        ),
        ("<b>a <i>b</i></b>", "a b", &["bold@0+3", "italic@2+1"]),
        ("<b>a</b >", "a", &["bold@0+1"]),
        ("<b>a</>", "a", &["bold@0+1"]),
        ("x<b></b>", "x", &[]),
    ] {
        let entities = entities.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(shown(html), (text.to_owned(), entities), "{html}");
    }
}

#[test]
fn links_lead_somewhere_or_are_text() {
    for (html, entities) in [
        (
            "<a href=\"https://a.example/?x=1&amp;y=2\">a</a>",
            vec!["text_link@0+1 https://a.example/?x=1&y=2"],
        ),
        (
            "<a href=\"https://a.example/?x=1&y=2\">a</a>",
            vec!["text_link@0+1 https://a.example/?x=1&y=2"],
        ),
        (
            "<a href='a.example/b'>a</a>",
            vec!["text_link@0+1 http://a.example/b"],
        ),
        ("<a href=\"javascript:x\">a</a>", vec![]),
        ("<a>a</a>", vec![]),
    ] {
        let (text, found) = shown(html);
        assert_eq!(
            (text.as_str(), found),
            ("a", entities.into_iter().map(str::to_owned).collect()),
            "{html}"
        );
    }
}

#[test]
fn code_in_a_block_has_a_language_and_code_alone_has_none() {
    for (html, entities) in [
        (
            "<pre><code class=\"language-rust\">x</code></pre>",
            vec!["pre@0+1 rust"],
        ),
        ("<pre>x</pre>", vec!["pre@0+1"]),
        ("<code class=\"language-rust\">x</code>", vec!["code@0+1"]),
        (
            "<pre>y<code class=\"language-rust\">x</code></pre>",
            vec!["pre@0+2", "code@1+1"],
        ),
    ] {
        let entities: Vec<String> = entities.into_iter().map(str::to_owned).collect();
        assert_eq!(shown(html).1, entities, "{html}");
    }
}

#[test]
fn character_references_are_few() {
    for (html, text) in [
        ("&lt;b&gt; &amp; &quot;", "<b> & \""),
        ("&#65;&#x42;&#x1F600;", "AB😀"),
        ("&lt", "<"),
        ("&amp;lt;", "&lt;"),
    ] {
        assert_eq!(strict(html).unwrap().text, text, "{html}");
    }
    for html in [
        "AT&T", "&nbsp;", "a & b", "&", "&#;", "&#0;", "&#xd800;", "&ltx",
    ] {
        let at = html.find('&').unwrap();
        assert_eq!(strict(html), Err(Error::BareAmpersand { at }), "{html}");
        assert_eq!(parse_html(html, Ampersands::Kept).unwrap().text, html);
    }
}

#[test]
fn offsets_are_utf16_and_white_space_at_the_ends_is_gone() {
    assert_eq!(shown("😀<b>粗体</b>").1, ["bold@2+2"]);
    assert_eq!(
        shown(" \n<b> a </b>\n"),
        ("a".to_owned(), vec!["bold@0+1".to_owned()])
    );
    assert_eq!(shown("<b> </b>"), (String::new(), vec![]));
    assert_eq!(strict("😀粗").unwrap().units(), 3);
    assert_eq!(Formatted::plain(" a<b> ").text, "a<b>");
}

#[test]
fn what_telegram_refuses_is_refused_in_its_words() {
    for (html, message) in [
        ("<p>a</p>", "Unsupported start tag \"p\" at byte offset 0"),
        ("粗<br/>", "Unsupported start tag \"br/\" at byte offset 3"),
        ("1 < 2 > 1", "Unsupported start tag \"\" at byte offset 2"),
        ("a <3> b", "Unsupported start tag \"3\" at byte offset 2"),
        ("a <b", "Unclosed start tag at byte offset 2"),
        ("a <b ", "Unclosed start tag at byte offset 2"),
        ("<a href=\"x>a</a>", "Unclosed start tag at byte offset 0"),
        (
            "<b>a",
            "Can't find end tag corresponding to start tag \"b\"",
        ),
        (
            "<b><i>a</b></i>",
            "Unmatched end tag at byte offset 7, expected \"</i>\", found \"</b>\"",
        ),
        ("a</b>", "Unexpected end tag at byte offset 1"),
        ("<b>a</b", "Unclosed end tag at byte offset 4"),
        ("<b>a</b x>", "Unclosed end tag at byte offset 4"),
        (
            "<span>a</span>",
            "Tag \"span\" must have class \"tg-spoiler\" at byte offset 0",
        ),
        (
            "<b =1>a</b>",
            "Empty attribute name in the tag \"b\" at byte offset 0",
        ),
        (
            "<a href=http://x>a</a>",
            "Unexpected end of name token at byte offset 8",
        ),
    ] {
        let refused = strict(html).unwrap_err().to_string();
        assert_eq!(refused, message, "{html}");
    }
}

proptest! {
    #[test]
    fn an_escaped_text_comes_back_as_it_was(text in "\\PC{0,200}") {
        let read = strict(&escape(&text)).unwrap();
        prop_assert_eq!(read.text, text.trim());
        prop_assert!(read.entities.is_empty());
    }

    #[test]
    fn no_entity_reaches_beyond_its_text(html in "(<b>|</b>|<i>|</i>|<a href=\"x.y\">|</a>|&amp;|[ a粗😀]){0,40}") {
        if let Ok(read) = strict(&html) {
            let units = read.units();
            for entity in read.entities {
                prop_assert!(entity.length > 0 && entity.offset + entity.length <= units);
            }
        }
    }

    #[test]
    fn nothing_makes_it_fall_over(html in "[<>/&;=\"'a-c# x粗]{0,60}") {
        let _ = strict(&html);
        let _ = parse_html(&html, Ampersands::Kept);
    }
}
