//! Counts, days and what is said where something is missing, in the edition's language.

use almanack_core::edition::{
    document::Printed,
    remark::remark,
    story::{CommentNote, Note},
};
use jiff::civil::Date;

use crate::prelude::*;
use almanack_core::{lang::Lang, say, words};

pub(in crate::editions::pages) fn story_count(lang: Lang, count: usize) -> String {
    let noun = if count == 1 { "story" } else { "stories" };
    say!(lang, "{count} {noun}", "共 {count} 篇")
}

pub(in crate::editions::pages) fn reading_time(lang: Lang, minutes: u32) -> String {
    say!(lang, "{minutes} min read", "约 {minutes} 分钟读完")
}

pub(super) fn points_of(lang: Lang, points: i64) -> String {
    let noun = if points == 1 { "point" } else { "points" };
    say!(lang, "{points} {noun}", "{points} 分")
}

/// The number of comments, or the name of a discussion whose comments are not counted.
pub(super) fn discussion(story: &Printed, lang: Lang) -> Option<String> {
    let counted = story.comment_count.map(|count| {
        let noun = if count == 1 { "comment" } else { "comments" };
        say!(lang, "{count} {noun}", "{count} 条评论")
    });
    let named = || lang.pick("Discussion", "讨论").to_owned();
    counted.or_else(|| story.discussion_url.as_ref().map(|_| named()))
}

/// A day in words.
pub(in crate::editions::pages) fn day(lang: Lang, date: Date) -> String {
    let weekdays = ["一", "二", "三", "四", "五", "六", "日"];
    let place = usize::try_from(date.weekday().to_monday_zero_offset()).unwrap_or_default();
    let weekday = weekdays.get(place).copied().unwrap_or_default();
    match lang {
        Lang::English => date.strftime("%A, %-d %B %Y").to_string(),
        Lang::Chinese => format!(
            "{}年{}月{}日 星期{weekday}",
            date.year(),
            date.month(),
            date.day()
        ),
    }
}

pub(super) fn instant(lang: Lang, at: Timestamp) -> String {
    let form = lang.pick("%-d %b %Y", "%Y年%-m月%-d日");
    at.strftime(form).to_string()
}

/// What readers should know about the summary of an article.
pub(super) fn remark_on(lang: Lang, story: &Printed) -> Option<&'static str> {
    let (english, chinese) = remark(story.note, story.degraded_by)?;
    Some(lang.pick(english, chinese))
}

/// Shown if an article has no summary.
pub(super) fn instead(lang: Lang, story: &Printed) -> &'static str {
    if let Some(remark) = remark_on(lang, story) {
        return remark;
    }
    words! { lang, story.note;
        Some(Note::TitleOnly) => "No description (the page could not be read; only its title is kept)",
            "暂无描述（未能读取原文，仅保留标题）";
        Some(Note::NotSummarised) => "No summary (the page could not be summarised)",
            "暂无摘要（摘要生成失败）";
        _ => "No description", "暂无描述";
    }
}

/// Shown if a discussion has no summary.
pub(super) fn instead_of_comments(lang: Lang, note: Option<CommentNote>) -> &'static str {
    words! { lang, note;
        Some(CommentNote::Unread) => "The comments could not be read.", "评论未能读取。";
        Some(CommentNote::NotSummarised) => "The comments could not be summarised.",
            "评论未能生成摘要。";
        None => "No comments yet.", "暂无评论。";
    }
}
