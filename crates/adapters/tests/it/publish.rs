//! Publishers against destinations that take, refuse and forget to answer (ED-12, ED-34).

mod github;
mod local;
mod post;
mod telegram;
mod webhook;

use std::sync::Arc;

use almanack_core::{
    budget::Budget,
    edition::{
        EditionName,
        document::{Document, Inputs, Printed},
        port::{Failure, FailureClass, Message, Sent},
        story::StoryKey,
    },
};
use jiff::{Timestamp, civil::date};

fn story(rank: u32) -> Printed {
    Printed {
        rank,
        key: StoryKey(format!("hn:{rank}")),
        title: format!("标题 {rank}"),
        original_title: format!("Title {rank}"),
        url: format!("https://example.com/{rank}"),
        discussion_url: None,
        score: Some(100),
        comment_count: None,
        source_name: None,
        topic: None,
        comment_note: None,
        image_url: None,
        reading_minutes: None,
        published_at: None,
        content_summary: Some("摘要 & <more>".to_owned()),
        comment_summary: None,
        note: None,
        degraded_by: None,
    }
}

/// The edition of 2026-01-10 with so many stories, whose Markdown is `body`.
pub(crate) fn document(stories: u32, body: &str) -> Document {
    Document {
        inputs: Inputs {
            name: EditionName::default(),
            date: date(2026, 1, 10),
            revision: 1,
            title: "HackerNews Daily".to_owned(),
            language: "zh-CN".to_owned(),
            overview: None,
            stories: (1..=stories).map(story).collect(),
            left_out: 0,
        },
        template: "t".to_owned(),
        body: body.to_owned(),
        inputs_digest: "i".to_owned(),
        body_digest: "b".to_owned(),
        made_at: Timestamp::from_second(1_767_600_000).unwrap(),
        revised: None,
    }
}

/// The document itself, as its first part.
fn message(document: &Document) -> Message<'_> {
    Message {
        document,
        part: 1,
        body: &document.body,
        key: "edition:2026-01-10/1/there/1".to_owned(),
    }
}

fn request_budget() -> Arc<Budget> {
    Budget::new(45)
}

fn receipt(sent: Sent) -> String {
    let Sent::Confirmed { receipt } = sent else {
        panic!("{sent:?}");
    };
    receipt.unwrap()
}

fn failed(sent: Sent) -> Failure {
    let Sent::Failed(failure) = sent else {
        panic!("{sent:?}");
    };
    failure
}

fn unknown(sent: Sent) -> Failure {
    let Sent::Unknown(failure) = sent else {
        panic!("{sent:?}");
    };
    failure
}

/// A failure by its class and its wait in seconds, for tables.
fn brief(failure: &Failure) -> (FailureClass, Option<i64>) {
    let wait = failure.retry_after.map(|wait| wait.as_secs());
    (failure.class, wait)
}
