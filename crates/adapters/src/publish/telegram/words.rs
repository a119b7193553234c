//! The text around the stories, in the edition's language.

use jiff::civil::Date;

use crate::language::Language;

impl Language {
    pub(super) fn link(self) -> &'static str {
        self.choose("Read the article", "原文链接")
    }

    pub(super) fn page(self) -> &'static str {
        self.choose("Read the edition", "阅读全文")
    }

    pub(super) fn nothing(self) -> &'static str {
        self.choose("Nothing today.", "今日暂无内容。")
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
