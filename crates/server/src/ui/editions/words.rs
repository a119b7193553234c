//! What is said about editions, in both languages.

use almanack_core::edition::delivery::{self, Delivery};
use almanack_core::edition::story::{self, Note};
use almanack_core::edition::{State, batch};

use crate::picture::outcome::Outcome;
use crate::ui::prelude::*;

/// Where an edition stands.
pub(super) fn state(lang: Lang, state: State) -> &'static str {
    words! { lang, state;
        State::Init => "init", "初始";
        State::ListFetched => "list fetched", "已取列表";
        State::Processing => "processing", "处理中";
        State::Aggregating => "aggregating", "汇总投递";
        State::Published => "published", "已发布";
        State::Empty => "empty", "空";
        State::Archived => "archived", "已归档";
    }
}

/// The same with a shape.
pub(super) fn state_badge(lang: Lang, of: State) -> Markup {
    let class = match of {
        State::Init | State::ListFetched => "planned",
        State::Processing | State::Aggregating => "running",
        State::Published => "done",
        State::Empty => "failed",
        State::Archived => "cancelled",
    };
    badge(class, state(lang, of))
}

/// Where a story stands.
pub(super) fn story(lang: Lang, status: story::Status) -> Markup {
    let word = words! { lang, status;
        story::Status::Pending => "pending", "等待";
        story::Status::Processing => "processing", "处理中";
        story::Status::Completed => "completed", "已完成";
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

/// Why a story has no summary of its page.
pub(super) fn note(lang: Lang, note: Note) -> &'static str {
    words! { lang, note;
        Note::TitleOnly => "its page could not be read; title only", "页面无法读取，仅保留标题";
        Note::NotSummarised => "its page could not be summed up", "页面无法摘要";
    }
}

/// How a batch ended.
pub(super) fn batch(lang: Lang, status: batch::Status) -> Markup {
    badges! { lang, status;
        batch::Status::Running => "running", "runs", "运行中";
        batch::Status::Success => "done", "all completed", "全部完成";
        batch::Status::Partial => "retrying", "some completed", "部分完成";
        batch::Status::Failed => "failed", "none completed", "全部失败";
    }
}

/// Where a delivery stands, and whether it waits for a person.
pub(super) fn of_delivery(lang: Lang, of: &Delivery) -> Markup {
    if of.is_held() {
        return badge("failed", lang.pick("needs attention", "需要处理"));
    }
    delivery(lang, of.state)
}

/// Where a delivery stands.
pub(super) fn delivery(lang: Lang, state: delivery::State) -> Markup {
    badges! { lang, state;
        delivery::State::Intended => "planned", "intended", "待发送";
        delivery::State::Sent => "running", "being sent", "发送中";
        delivery::State::Confirmed => "done", "confirmed", "已确认";
        delivery::State::Unknown => "unknown", "unknown", "未知";
        delivery::State::Failed => "retrying", "failed, tried again", "失败，将重试";
        delivery::State::Skipped => "skipped", "skipped", "已跳过";
    }
}

/// What that means, where it is not plain.
pub(super) fn delivery_reported(lang: Lang, state: delivery::State) -> Option<&'static str> {
    words! { lang, state?;
        delivery::State::Unknown =>
            "It left and was not answered: it may have arrived. It is never just sent again; Almanack looks whether it is there. Where nobody can look, `on_unknown` of the destination decides: skip (better missing than twice) or repeat.",
            "已发出但没有收到回应，可能已送达。不会直接重发，而是先查询是否已送达；无法查询时由发布目的地的 `on_unknown` 决定：skip（宁缺勿重）或 repeat（宁重勿缺）。";
        delivery::State::Skipped =>
            "It is not sent: somebody skipped it, or nobody knows whether it arrived and it must not arrive twice, or a newer document took its place, or its destination wants no second one.",
            "不再发送：已被人为跳过，或无法确认是否送达且不允许重复，或已有更新的文档，或该目的地不接受第二份。";
    }
}
