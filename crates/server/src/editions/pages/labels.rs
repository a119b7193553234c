//! The words around the stories, in the edition's language.

use almanack_core::edition::story::Note;

pub(super) struct Labels {
    pub(super) all: &'static str,
    pub(super) older: &'static str,
    pub(super) none_yet: &'static str,
    pub(super) subscribe: &'static str,
    pub(super) published: &'static str,
    pub(super) points: &'static str,
    pub(super) description: &'static str,
    pub(super) comments: &'static str,
    pub(super) discussion: &'static str,
    pub(super) left_out: &'static str,
    pub(super) revision: &'static str,
    pub(super) digest: &'static str,
    no_description: &'static str,
    title_only: &'static str,
    not_summarised: &'static str,
    pub(super) no_comments: &'static str,
}

const CHINESE: Labels = Labels {
    all: "全部日报",
    older: "更早",
    none_yet: "暂无已发布的日报。",
    subscribe: "Atom 订阅",
    published: "发布时间",
    points: "分",
    description: "描述",
    comments: "评论要点",
    discussion: "讨论",
    left_out: "未收录的文章数",
    revision: "版本",
    digest: "校验值",
    no_description: "暂无描述",
    title_only: "暂无描述（未能读取原文，仅保留标题）",
    not_summarised: "暂无摘要（摘要生成失败）",
    no_comments: "暂无评论",
};

const ENGLISH: Labels = Labels {
    all: "All editions",
    older: "Older",
    none_yet: "No edition is published yet.",
    subscribe: "Atom feed",
    published: "Published",
    points: "points",
    description: "Description",
    comments: "Comments",
    discussion: "Discussion",
    left_out: "Stories left out",
    revision: "Revision",
    digest: "Digest",
    no_description: "No description",
    title_only: "No description (the page could not be read; only its title is kept)",
    not_summarised: "No summary (the page could not be summarised)",
    no_comments: "No comments",
};

impl Labels {
    /// The words of a language; English where we have none.
    pub(super) fn of(language: &str) -> &'static Self {
        let main = language.split(['-', '_']).next().unwrap_or_default();
        if main.eq_ignore_ascii_case("zh") {
            &CHINESE
        } else {
            &ENGLISH
        }
    }

    /// What stands where there is no summary of a page.
    pub(super) fn instead(&self, note: Option<Note>) -> &'static str {
        match note {
            Some(Note::TitleOnly) => self.title_only,
            Some(Note::NotSummarised) => self.not_summarised,
            None => self.no_description,
        }
    }
}
