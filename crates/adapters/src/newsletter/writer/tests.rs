use almanack_core::edition::{EditionName, document::Inputs, story::StoryKey};
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
