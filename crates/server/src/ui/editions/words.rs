//! Texts about editions, in both languages.

use almanack_core::edition::delivery::{self, Delivery};
use almanack_core::edition::ladder::Cause;
use almanack_core::edition::story::{self, Note};
use almanack_core::edition::{State, batch};

use crate::ui::prelude::*;

/// The state as a badge.
pub(super) fn state_badge(lang: Lang, of: State) -> Markup {
    let class = match of {
        State::Init | State::ListFetched => "planned",
        State::Processing | State::Aggregating => "running",
        State::Published => "done",
        State::Empty => "failed",
        State::Archived => "cancelled",
    };
    badge(class, of.word(lang))
}

pub(super) fn story(lang: Lang, status: story::Status) -> Markup {
    let word = words! { lang, status;
        story::Status::Pending => "waiting", "等待";
        story::Status::Processing => "running", "运行中";
        story::Status::Completed => "done", "已完成";
        story::Status::Failed => "failed", "失败";
    };
    badge(story_outcome(status).class(), word)
}

/// The shape of a story.
pub(super) fn story_outcome(status: story::Status) -> Outcome {
    match status {
        story::Status::Pending => Outcome::Planned,
        story::Status::Processing => Outcome::Running,
        story::Status::Completed => Outcome::Done,
        story::Status::Failed => Outcome::Failed,
    }
}

/// Why a story has no summary.
pub(super) fn note(lang: Lang, note: Note) -> &'static str {
    words! { lang, note;
        Note::TitleOnly => "article could not be read; title only", "无法读取正文，仅保留标题";
        Note::NotSummarised => "article could not be summarised", "无法生成摘要";
        Note::ShortSummary => "short summary", "简短摘要";
        Note::Extractive => "excerpt instead of a summary", "以原文摘录代替摘要";
    }
}

/// Why a story has less than it could.
pub(super) fn cause(lang: Lang, cause: Cause) -> &'static str {
    words! { lang, cause;
        Cause::Time => "the edition was due", "已到截止时间";
        Cause::Model => "the model did not answer", "模型无响应";
        Cause::Page => "the page did not answer", "网页无响应";
        Cause::Cap => "the cap on model costs was reached", "已达到模型费用上限";
    }
}

pub(super) fn batch(lang: Lang, status: batch::Status) -> Markup {
    badges! { lang, status;
        batch::Status::Running => "running", "running", "运行中";
        batch::Status::Success => "done", "all done", "全部完成";
        batch::Status::Partial => "retrying", "partly done", "部分完成";
        batch::Status::Failed => "failed", "failed", "全部失败";
    }
}

/// The state of a delivery, and whether it needs attention.
pub(super) fn of_delivery(lang: Lang, of: &Delivery) -> Markup {
    if of.is_held() {
        return badge("failed", lang.pick("needs attention", "需要处理"));
    }
    delivery(lang, of.state)
}

pub(super) fn delivery(lang: Lang, state: delivery::State) -> Markup {
    badges! { lang, state;
        delivery::State::Intended => "planned", "waiting", "待发送";
        delivery::State::Sent => "running", "sending", "发送中";
        delivery::State::Confirmed => "done", "confirmed", "已确认";
        delivery::State::Unknown => "unknown", "unknown", "未知";
        delivery::State::Failed => "retrying", "failed, will retry", "失败，将重试";
        delivery::State::Skipped => "skipped", "skipped", "已跳过";
    }
}

/// An explanation, where one is needed.
pub(super) fn delivery_meaning(lang: Lang, state: delivery::State) -> Option<&'static str> {
    words! { lang, state?;
        delivery::State::Unknown =>
            "Sent, but no answer came: it may have arrived. Almanack checks before it sends again. If the destination cannot be checked, its `on_unknown` setting decides: skip (rather missing than twice) or repeat.",
            "已发出但没有收到回应，可能已送达。Almanack 会先查询再决定是否重发；无法查询时由发布目的地的 `on_unknown` 决定：skip（宁缺勿重）或 repeat（宁重勿缺）。";
        delivery::State::Skipped =>
            "Will not be sent: skipped by a person, delivery unconfirmed and duplicates not allowed, replaced by a newer document, or the destination accepts only one.",
            "不再发送：已被手动跳过；或无法确认是否送达且不允许重复；或已被更新的文档取代；或该目的地只接受一份。";
    }
}
