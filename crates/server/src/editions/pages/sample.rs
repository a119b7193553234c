//! Pages that templates are tried on before a real one is: what can be missing is missing somewhere.

use almanack_core::edition::{
    EditionName,
    document::{Document, Inputs, Printed},
    ladder::Cause,
    story::{CommentNote, Note, StoryKey},
};
use jiff::{Timestamp, civil::date};

use super::view::{Around, PageView};

/// A full one and an empty one, in both languages.
pub(super) fn all() -> Vec<PageView> {
    let around = Around {
        base: "https://news.example".to_owned(),
        previous: Some(date(2026, 1, 9).into()),
        next: Some(date(2026, 1, 11).into()),
        images: true,
        form: Some("/editions/subscribe".to_owned()),
    };
    let bare = vec![bare(None), bare(Some(Note::TitleOnly))];
    vec![
        PageView::of(
            &document("zh-CN", vec![full("“磁盘不慢。” — ada")]),
            &around,
        ),
        PageView::of(&document("en", vec![degraded()]), &around),
        PageView::of(&document("en", bare), &Around::default()),
        PageView::of(&document("zh-CN", Vec::new()), &Around::default()),
    ]
}

fn document(language: &str, stories: Vec<Printed>) -> Document {
    let overview = stories
        .first()
        .and_then(|story| story.content_summary.clone());
    Document {
        inputs: Inputs {
            name: EditionName::default(),
            date: date(2026, 1, 10),
            revision: 1,
            title: "HackerNews Daily".to_owned(),
            language: language.to_owned(),
            overview,
            left_out: u32::from(stories.is_empty()),
            stories,
        },
        template: String::new(),
        body: String::new(),
        inputs_digest: "0".repeat(64),
        body_digest: "0".repeat(64),
        made_at: Timestamp::UNIX_EPOCH,
        revised: None,
    }
}

fn full(comments: &str) -> Printed {
    Printed {
        rank: 1,
        key: StoryKey("hn:42".to_owned()),
        title: "数据库为什么慢".to_owned(),
        original_title: "Why databases are slow".to_owned(),
        url: "https://example.org/slow".to_owned(),
        discussion_url: Some("https://news.ycombinator.com/item?id=42".to_owned()),
        score: Some(321),
        comment_count: Some(57),
        source_name: Some("Hacker News".to_owned()),
        topic: Some("数据库".to_owned()),
        published_at: Timestamp::from_second(1_767_961_000).ok(),
        content_summary: Some("数据库慢，因为磁盘慢。".to_owned()),
        comment_summary: Some(comments.to_owned()),
        note: None,
        degraded_by: None,
        comment_note: None,
        image_url: Some("https://example.org/slow.png".to_owned()),
        reading_minutes: Some(4),
    }
}

fn degraded() -> Printed {
    Printed {
        note: Some(Note::ShortSummary),
        degraded_by: Some(Cause::Time),
        ..full("Readers disagree.")
    }
}

fn bare(note: Option<Note>) -> Printed {
    Printed {
        title: "Postgres".to_owned(),
        original_title: "Postgres".to_owned(),
        discussion_url: None,
        score: None,
        comment_count: None,
        source_name: None,
        topic: None,
        published_at: None,
        content_summary: None,
        comment_summary: None,
        comment_note: note.map(|_| CommentNote::Unread),
        note,
        image_url: None,
        reading_minutes: None,
        ..full("")
    }
}
