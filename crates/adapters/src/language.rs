//! The languages that Almanack itself speaks to people in, and what it says about stories.

use almanack_core::edition::{
    document::Printed,
    remark::remark,
    story::{CommentNote, Note},
};
use almanack_core::lang::Lang;

/// In which language something is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    #[default]
    English,
    Chinese,
}

impl Language {
    /// By a tag such as `zh-CN`; English for every other.
    pub fn of(tag: &str) -> Self {
        let first = tag.split(['-', '_']).next().unwrap_or_default();
        if first.eq_ignore_ascii_case("zh") {
            Self::Chinese
        } else {
            Self::English
        }
    }

    /// The same, for what core says.
    pub(crate) fn lang(self) -> Lang {
        self.choose(Lang::English, Lang::Chinese)
    }

    /// How long something takes to read.
    pub(crate) fn reading_time(self, minutes: u32) -> String {
        self.choose(
            format!("{minutes} min read"),
            format!("约 {minutes} 分钟读完"),
        )
    }

    /// Points and number of comments, as far as they are known.
    pub(crate) fn standing(self, points: Option<i64>, comments: Option<u32>) -> Option<String> {
        let points = points.map(|points| {
            let noun = if points == 1 { "point" } else { "points" };
            self.choose(format!("{points} {noun}"), format!("{points} 分"))
        });
        let known: Vec<String> = points
            .into_iter()
            .chain(comments.map(|it| self.comment_count(it)))
            .collect();
        (!known.is_empty()).then(|| known.join(" · "))
    }

    pub(crate) fn comment_count(self, comments: u32) -> String {
        let noun = if comments == 1 { "comment" } else { "comments" };
        self.choose(format!("{comments} {noun}"), format!("{comments} 条评论"))
    }

    pub(crate) fn comments(self) -> &'static str {
        self.choose("What readers say", "评论要点")
    }

    /// The name of a discussion whose comments are not counted.
    pub(crate) fn discussion(self) -> &'static str {
        self.choose("Discussion", "讨论")
    }

    /// In place of a summary of the comments.
    pub(crate) fn instead_of_comments(self, note: Option<CommentNote>) -> &'static str {
        match note {
            None => self.choose("No comments.", "暂无评论"),
            Some(CommentNote::Unread) => {
                self.choose("The comments could not be read.", "评论未能读取。")
            }
            Some(CommentNote::NotSummarised) => self.choose(
                "The comments could not be summarised.",
                "评论未能生成摘要。",
            ),
        }
    }

    /// What readers should know about a summary.
    pub(crate) fn remark(self, story: &Printed) -> Option<&'static str> {
        let (english, chinese) = remark(story.note, story.degraded_by)?;
        Some(self.choose(english, chinese))
    }

    /// In place of a summary.
    pub(crate) fn no_summary(self, story: &Printed) -> &'static str {
        match story.note {
            _ if self.remark(story).is_some() => self.remark(story).unwrap_or_default(),
            None | Some(Note::ShortSummary | Note::Extractive) => {
                self.choose("No summary.", "暂无摘要")
            }
            Some(Note::TitleOnly) => self.choose(
                "The page could not be read; only its title is kept.",
                "原文无法读取，仅保留标题。",
            ),
            Some(Note::NotSummarised) => {
                self.choose("The page could not be summarised.", "原文未能生成摘要。")
            }
        }
    }

    pub(crate) fn count(self, stories: usize) -> String {
        match (self, stories) {
            (Self::English, 1) => "1 story".to_owned(),
            (Self::English, _) => format!("{stories} stories"),
            (Self::Chinese, _) => format!("共 {stories} 篇"),
        }
    }

    /// The text in this language.
    pub fn choose<T>(self, english: T, chinese: T) -> T {
        match self {
            Self::English => english,
            Self::Chinese => chinese,
        }
    }
}
