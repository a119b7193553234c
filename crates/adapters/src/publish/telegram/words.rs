//! The text around the stories, in the edition's language.

use almanack_core::edition::{
    document::Printed,
    remark::remark,
    story::{CommentNote, Note},
};
use jiff::civil::Date;

use crate::language::Language;

impl Language {
    pub(super) fn link(self) -> &'static str {
        self.choose("Read the article", "原文链接")
    }

    pub(super) fn page(self) -> &'static str {
        self.choose("Read the edition", "阅读全文")
    }

    pub(super) fn comments(self) -> &'static str {
        self.choose("What readers say", "评论要点")
    }

    /// The name of a discussion whose comments are not counted.
    pub(super) fn discussion(self) -> &'static str {
        self.choose("Discussion", "讨论")
    }

    /// In place of a summary of the comments.
    pub(super) fn instead_of_comments(self, note: Option<CommentNote>) -> &'static str {
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
    pub(super) fn remark(self, story: &Printed) -> Option<&'static str> {
        let (english, chinese) = remark(story.note, story.degraded_by)?;
        Some(self.choose(english, chinese))
    }

    /// In place of a summary.
    pub(super) fn no_summary(self, story: &Printed) -> &'static str {
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

    pub(super) fn nothing(self) -> &'static str {
        self.choose("Nothing today.", "今日暂无内容。")
    }

    pub(super) fn count(self, stories: usize) -> String {
        match (self, stories) {
            (Self::English, 1) => "1 story".to_owned(),
            (Self::English, _) => format!("{stories} stories"),
            (Self::Chinese, _) => format!("共 {stories} 篇"),
        }
    }

    pub(super) fn end(self, date: Date, left_out: u32) -> String {
        match (self, left_out) {
            (Self::English, 0) => format!("That was {date}."),
            (Self::English, _) => format!("That was {date}; {left_out} left out."),
            (Self::Chinese, 0) => format!("{date} 全部内容完。"),
            (Self::Chinese, _) => format!("{date} 全部内容完，另有 {left_out} 篇未收录。"),
        }
    }
}
