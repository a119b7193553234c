//! What a template finds: the edition as users know it (docs/guide/editions-template.md).
//!
//! A separate view: a change of the inputs must not change what users' templates see by accident.

pub(super) mod sample;

use almanack_core::edition::{
    document::{Inputs, Printed},
    quote, reading,
    remark::remark,
    story::{CommentNote, Note},
};
use serde::Serialize;

use super::filter;
use crate::language::Language;

/// Names of discussion sites.
const HACKER_NEWS: &str = "https://news.ycombinator.com/";

#[derive(Serialize)]
pub(super) struct Context<'a> {
    date: String,
    revision: u32,
    title: &'a str,
    language: &'a str,
    left_out: u32,
    overview: Option<&'a str>,
    /// How long the edition itself takes to read: `5 min read`.
    reading_time: Option<String>,
    labels: &'static Labels,
    stories: Vec<Story<'a>>,
}

#[derive(Serialize)]
struct Story<'a> {
    rank: u32,
    key: &'a str,
    title: &'a str,
    original_title: &'a str,
    url: &'a str,
    discussion_url: Option<&'a str>,
    /// The name of the discussion site.
    discussion_name: &'static str,
    score: Option<i64>,
    comment_count: Option<u32>,
    /// Points and comments, as people read them: `321 points · 57 comments`.
    standing: Option<String>,
    source_name: Option<&'a str>,
    topic: Option<&'a str>,
    image_url: Option<&'a str>,
    /// `4 min read`.
    reading_time: Option<String>,
    /// `2026-01-09 12:34 UTC`.
    published_at: Option<String>,
    content_summary: Option<&'a str>,
    comment_summary: Option<&'a str>,
    note: Option<&'static str>,
    /// What readers should know about the summary of the page.
    remark: Option<&'static str>,
    comment_note: Option<&'static str>,
    /// Comments in their authors' words, where the summary of the comments is nothing else.
    quotes: Vec<Quote>,
    /// The summary of the page, or a text in its place.
    description: &'a str,
    /// The summary of the comments, or a text in its place.
    comments: &'a str,
}

/// What one reader said.
#[derive(Serialize)]
struct Quote {
    author: Option<String>,
    text: String,
}

/// The words around the stories.
#[derive(Debug, Serialize, PartialEq, Eq)]
pub(super) struct Labels {
    published_at: &'static str,
    link: &'static str,
    source: &'static str,
    topic: &'static str,
    description: &'static str,
    comments: &'static str,
    discussion: &'static str,
    no_description: &'static str,
    title_only: &'static str,
    not_summarised: &'static str,
    no_comments: &'static str,
    comments_unread: &'static str,
    comments_not_summarised: &'static str,
}

const CHINESE: Labels = Labels {
    published_at: "发布时间",
    link: "链接",
    source: "来源",
    topic: "主题",
    description: "描述",
    comments: "评论要点",
    discussion: "讨论",
    no_description: "暂无描述",
    title_only: "暂无描述（未能读取原文，仅保留标题）",
    not_summarised: "暂无摘要（摘要生成失败）",
    no_comments: "暂无评论",
    comments_unread: "评论未能读取",
    comments_not_summarised: "评论摘要生成失败",
};

const ENGLISH: Labels = Labels {
    published_at: "Published",
    link: "Link",
    source: "Source",
    topic: "Topic",
    description: "Description",
    comments: "Comments",
    discussion: "Discussion",
    no_description: "No description",
    title_only: "No description (the page could not be read; only its title is kept)",
    not_summarised: "No summary (the page could not be summarised)",
    no_comments: "No comments",
    comments_unread: "The comments could not be read",
    comments_not_summarised: "The comments could not be summarised",
};

impl<'a> Context<'a> {
    pub(super) fn of(inputs: &'a Inputs) -> Self {
        let language = Language::of(&inputs.language);
        let labels = language.choose(&ENGLISH, &CHINESE);
        let stories = inputs.stories.iter();
        let texts = stories
            .clone()
            .flat_map(|story| [&story.content_summary, &story.comment_summary])
            .flatten();
        let minutes = reading::minutes(texts.chain(&inputs.overview).map(String::as_str));
        Self {
            date: inputs.date.to_string(),
            revision: inputs.revision,
            title: &inputs.title,
            language: &inputs.language,
            left_out: inputs.left_out,
            overview: visible(inputs.overview.as_deref()),
            reading_time: minutes.map(|minutes| language.reading_time(minutes)),
            labels,
            stories: stories
                .map(|story| Story::of(story, language, labels))
                .collect(),
        }
    }
}

impl<'a> Story<'a> {
    fn of(story: &'a Printed, language: Language, labels: &'static Labels) -> Self {
        let discussion_url = story.discussion_url.as_deref();
        let at_hacker_news = discussion_url.is_some_and(|url| url.starts_with(HACKER_NEWS));
        let own = visible(Some(&story.original_title)).unwrap_or(&story.url);
        let content_summary = visible(story.content_summary.as_deref());
        let comment_summary = visible(story.comment_summary.as_deref());
        let remark = remark(story.note, story.degraded_by);
        let remark =
            remark.map(|(english, chinese)| if labels == &CHINESE { chinese } else { english });
        let instead = match story.note {
            _ if remark.is_some() => remark.unwrap_or_default(),
            Some(Note::TitleOnly) => labels.title_only,
            Some(Note::NotSummarised) => labels.not_summarised,
            _ => labels.no_description,
        };
        let at = |at: &jiff::Timestamp| at.strftime("%Y-%m-%d %H:%M UTC").to_string();
        Self {
            rank: story.rank,
            key: &story.key.0,
            title: visible(Some(&story.title)).unwrap_or(own),
            original_title: own,
            url: &story.url,
            discussion_url,
            discussion_name: if at_hacker_news {
                "HackerNews"
            } else {
                labels.discussion
            },
            score: story.score,
            comment_count: story.comment_count,
            standing: language.standing(story.score, story.comment_count),
            source_name: visible(story.source_name.as_deref()),
            topic: visible(story.topic.as_deref()),
            image_url: story.image_url.as_deref(),
            reading_time: story.reading_minutes.map(|it| language.reading_time(it)),
            published_at: story.published_at.as_ref().map(at),
            content_summary,
            comment_summary,
            note: story.note.map(Note::as_str),
            remark: remark.filter(|_| content_summary.is_some()),
            comment_note: story.comment_note.map(CommentNote::as_str),
            quotes: quotes(comment_summary),
            description: content_summary.unwrap_or(instead),
            comments: comment_summary.unwrap_or(match story.comment_note {
                None => labels.no_comments,
                Some(CommentNote::Unread) => labels.comments_unread,
                Some(CommentNote::NotSummarised) => labels.comments_not_summarised,
            }),
        }
    }
}

fn quotes(comments: Option<&str>) -> Vec<Quote> {
    let quotes = quote::parse(comments.unwrap_or_default()).into_iter();
    quotes
        .map(|quote| Quote {
            author: quote.author,
            text: quote.text,
        })
        .collect()
}

/// A text that is not empty when rendered. A story always has a title: its own, or its address.
fn visible(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !filter::line(text).is_empty())
}
