use almanack_core::edition::{
    EditionName,
    document::Inputs,
    ladder::Cause,
    story::{CommentNote, Note, StoryKey},
};
use jiff::{Timestamp, civil::date};

use super::*;

fn story(rank: u32) -> Printed {
    Printed {
        rank,
        key: StoryKey(format!("hn:{rank}")),
        title: format!("Story {rank} <script>alert(1)</script>"),
        original_title: format!("Original {rank}"),
        url: format!("https://www.site.example/{rank}?a=1&b=2"),
        discussion_url: Some(format!("https://news.example/{rank}")),
        score: Some(i64::from(rank)),
        published_at: None,
        content_summary: Some("First \"part\".\n\nSecond & last.".to_owned()),
        comment_summary: Some("They say <b>no</b>.".to_owned()),
        note: None,
        degraded_by: None,
        comment_count: None,
        source_name: None,
        topic: None,
        comment_note: None,
        image_url: None,
        reading_minutes: None,
    }
}

fn document(stories: Vec<Printed>) -> Document {
    Document {
        inputs: Inputs {
            name: EditionName::default(),
            date: date(2026, 1, 10),
            revision: 1,
            title: "The Daily".to_owned(),
            language: "en".to_owned(),
            overview: None,
            stories,
            left_out: 1,
        },
        template: String::new(),
        revised: None,
        body: String::new(),
        inputs_digest: String::new(),
        body_digest: String::new(),
        made_at: Timestamp::UNIX_EPOCH,
    }
}

fn around() -> Around {
    Around {
        language: "en".to_owned(),
        page_url: Some("https://daily.example/editions/2026-01-10".to_owned()),
        unsubscribe_url: "https://daily.example/editions/unsubscribe/1.2.abc".to_owned(),
        footer: Some("The Daily, 1 High Street".to_owned()),
    }
}

#[test]
fn ed_43_both_parts_hold_every_story_and_the_way_out() {
    let document = document(vec![story(1), story(2)]);
    let written = BuiltIn.edition(&document, &around()).unwrap();
    assert_eq!(written.subject, "The Daily · 2026-01-10");
    for part in [&written.html, &written.text] {
        for expected in [
            "Story 2",
            "Original 2",
            "https://daily.example/editions/unsubscribe/1.2.abc",
            "You get this mail because you subscribed to The Daily.",
            "1 story was left out.",
            "1 High Street",
        ] {
            assert!(
                part.replace("&#x2f;", "/").contains(expected),
                "{expected}: {part}"
            );
        }
    }
    // Mail programs load nothing and drop style sheets, so there is neither.
    for absent in [
        "<script>alert",
        "<b>no",
        "<style",
        "<img",
        "<link",
        "src=",
        "class=",
    ] {
        assert!(!written.html.contains(absent), "{absent}: {}", written.html);
    }
    assert!(
        written.text.contains("They say <b>no</b>."),
        "{}",
        written.text
    );
}

/// The words around the stories are the reader's; those inside are of the stories' language.
#[test]
fn ed_43_a_reader_of_another_language_gets_stories_in_one_language() {
    let around = Around {
        language: "zh-CN".to_owned(),
        ..around()
    };
    let written = BuiltIn.edition(&rich_document(), &around).unwrap();
    for part in [&written.html, &written.text] {
        for (text, is_there) in [
            ("What readers say", true),
            ("57 comments", true),
            ("退订", true),
            ("共 3 篇", true),
            ("评论", false),
            ("Unsubscribe", false),
        ] {
            assert_eq!(part.contains(text), is_there, "{text}: {part}");
        }
    }
}

/// A story whose comments are quoted, and one of which there is little more than its title.
fn rich_document() -> Document {
    let mut quoted = story(2);
    quoted.comment_summary = Some("“I like it” — ada\n\n“So do I” — bob".to_owned());
    quoted.note = Some(Note::Extractive);
    quoted.degraded_by = Some(Cause::Time);
    let mut bare = story(3);
    bare.content_summary = None;
    bare.comment_summary = None;
    bare.note = Some(Note::TitleOnly);
    bare.comment_note = Some(CommentNote::Unread);
    bare.discussion_url = None;
    for story in [&mut quoted, &mut bare] {
        story.comment_count = Some(57);
        story.reading_minutes = Some(4);
    }
    let mut first = story(1);
    first.source_name = Some("A blog".to_owned());
    first.topic = Some("Disks".to_owned());
    let mut document = document(vec![first, quoted, bare]);
    document.inputs.overview = Some("Disks — slow.\nTapes — slower.".to_owned());
    document
}

/// What readers find on the edition's page, they find in their mail.
#[test]
fn ed_43_a_mail_says_as_much_as_the_page() {
    let document = rich_document();
    let written = BuiltIn.edition(&document, &around()).unwrap();
    insta::assert_snapshot!(written.text, @r#"
    The Daily
    2026-01-10 · 3 stories · 1 min read

    Disks — slow.

    Tapes — slower.

    1. Story 1 <script>alert(1)</script>
       Original 1
       Disks · A blog · site.example · 1 point
       https://www.site.example/1?a=1&b=2

    First "part".

    Second & last.

    What readers say:
    They say <b>no</b>.

    Discussion: https://news.example/1

    2. Story 2 <script>alert(1)</script>
       Original 2
       site.example · 2 points · 4 min read
       https://www.site.example/2?a=1&b=2

    First "part".

    Second & last.

    Excerpt from the page: a summary was not available in time.

    What readers say:
    > I like it — ada
    > So do I — bob

    57 comments: https://news.example/2

    3. Story 3 <script>alert(1)</script>
       Original 3
       site.example · 3 points · 57 comments · 4 min read
       https://www.site.example/3?a=1&b=2

    The page could not be read; only its title is kept.

    The comments could not be read.

    1 story was left out.
    -- 
    You get this mail because you subscribed to The Daily.
    Unsubscribe: https://daily.example/editions/unsubscribe/1.2.abc
    Read in the browser: https://daily.example/editions/2026-01-10
    The Daily, 1 High Street
    "#);
    for expected in [
        ">Disks — slow.</p>",
        ">Tapes — slower.</p>",
        "2026-01-10 · 3 stories · 1 min read",
        "Disks · A blog · site.example · 1 point · <a href=",
        "site.example · 2 points · 4 min read · <a href=",
        ">57 comments</a>",
        "<em>Excerpt from the page: a summary was not available in time.</em>",
        "I like it <span",
        "— ada</span>",
        "site.example · 3 points · 57 comments · 4 min read</p>",
        "The comments could not be read.",
    ] {
        assert!(
            written.html.contains(expected),
            "{expected}: {}",
            written.html
        );
    }
}

#[test]
fn ed_43_only_web_addresses_become_links() {
    let mut odd = story(1);
    odd.url = "javascript:alert(1)".to_owned();
    odd.discussion_url = Some("data:text/html,x".to_owned());
    let written = BuiltIn.edition(&document(vec![odd]), &around()).unwrap();
    assert!(!written.html.contains("javascript:"), "{}", written.html);
    assert!(!written.html.contains("data:text"), "{}", written.html);
}

#[test]
fn ed_43_no_mail_program_cuts_the_way_out_off() {
    let long = |rank| Printed {
        content_summary: Some("words ".repeat(160)),
        comment_summary: Some("words ".repeat(500)),
        ..story(rank)
    };
    let document = document((1..=30).map(long).collect());
    let written = BuiltIn.edition(&document, &around()).unwrap();
    assert!(
        written.html.len() < HTML_BYTES_MAX,
        "{}",
        written.html.len()
    );
    assert!(written.html.contains("Story 30"));
    assert!(written.html.contains("What readers say is on the edition"));
}

#[test]
fn ed_43_a_confirmation_mail_says_what_it_is_about_in_both_languages() {
    for (language, expected) in [
        ("en", "Someone, probably you"),
        ("zh-CN", "有人（可能是您）"),
    ] {
        let written = BuiltIn.confirmation(&Confirmation {
            title: "The Daily".to_owned(),
            language: language.to_owned(),
            confirm_url: "https://daily.example/editions/confirm/1.2.abc".to_owned(),
            footer: None,
        });
        let written = written.unwrap();
        assert!(written.html.contains(expected) && written.text.contains(expected));
        assert!(
            written.text.contains("/editions/confirm/1.2.abc"),
            "{}",
            written.text
        );
    }
}
