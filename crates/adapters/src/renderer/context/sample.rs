//! Editions that templates are tried on before a real one is: what can be missing is missing
//! somewhere.

use almanack_core::edition::{
    EditionName,
    document::{Inputs, Printed},
    story::{Note, StoryKey},
};
use jiff::{Timestamp, civil::date};

/// A full one and an empty one, in both languages.
pub(in crate::renderer) fn all() -> Vec<Inputs> {
    let stories = || {
        vec![
            full(),
            bare(None),
            bare(Some(Note::TitleOnly)),
            bare(Some(Note::NotSummarised)),
        ]
    };
    let of = |language: &str, stories| Inputs {
        name: EditionName::default(),
        date: date(2026, 1, 10),
        revision: 1,
        title: "HackerNews Daily".to_owned(),
        language: language.to_owned(),
        overview: Some("数据库慢。\n磁盘也慢。".to_owned()),
        stories,
        left_out: 1,
    };
    vec![
        of("zh-CN", stories()),
        of("en", stories()),
        of("zh-CN", Vec::new()),
    ]
}

fn full() -> Printed {
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
        comment_note: None,
        image_url: Some("https://example.org/slow.png".to_owned()),
        reading_minutes: Some(4),
        published_at: Timestamp::from_second(1_767_961_000).ok(),
        content_summary: Some("数据库慢，因为磁盘慢。".to_owned()),
        comment_summary: Some("读者认为磁盘不慢。".to_owned()),
        note: None,
        degraded_by: None,
    }
}

fn bare(note: Option<Note>) -> Printed {
    Printed {
        rank: 2,
        key: StoryKey("entry:7".to_owned()),
        title: "Postgres".to_owned(),
        original_title: "Postgres".to_owned(),
        url: "https://example.org/".to_owned(),
        discussion_url: None,
        score: None,
        comment_count: None,
        source_name: None,
        topic: None,
        comment_note: None,
        image_url: None,
        reading_minutes: None,
        published_at: None,
        content_summary: None,
        comment_summary: None,
        note,
        degraded_by: None,
    }
}
