//! Texts about rules, receipts and attempts.

use almanack_core::{history::Kept, reschedule::Rule};

use crate::ui::prelude::*;

/// A rule as a sentence.
pub(crate) fn rule(lang: Lang, rule: Rule) -> &'static str {
    words! { lang, rule;
        Rule::Created => "Created: there was no such task.", "已新建：原先没有该任务。";
        Rule::Updated => "Rescheduled: the task was waiting.", "已改期：任务处于等待状态。";
        Rule::CancelledAndInserted =>
            "Replaced: the task was running, so it was cancelled and a new task created. A call already sent is not recalled.",
            "已接替：任务正在运行，已取消并新建任务。已经发出的调用不会撤回。";
        Rule::Reinserted => "Created again: the previous task was cancelled or out of retries.",
            "已重新创建：原任务已取消或已用尽重试次数。";
        Rule::Cancelled => "Cancelled.", "已取消。";
        Rule::IgnoredDone => "No change: the task is already done.", "未作更改：任务已经成功。";
        Rule::IgnoredStale => "No change: a newer revision is already known.",
            "未作更改：已有更新的修订。";
        Rule::Unchanged => "No change: already in that state.", "未作更改：已处于该状态。";
    }
}

/// A rule in a table.
pub(crate) fn rule_name(lang: Lang, rule: Rule) -> &'static str {
    words! { lang, rule;
        Rule::Created => "created", "新建";
        Rule::Updated => "rescheduled", "改期";
        Rule::CancelledAndInserted => "cancelled and replaced", "取消并接替";
        Rule::Reinserted => "created again", "重新创建";
        Rule::Cancelled => "cancelled", "取消";
        Rule::IgnoredDone => "ignored: already done", "忽略：已成功";
        Rule::IgnoredStale => "ignored: older revision", "忽略：修订较旧";
        Rule::Unchanged => "unchanged", "未变";
    }
}

/// What came of a decision.
pub(crate) fn kept(lang: Lang, kept: Kept) -> Markup {
    let badge = badges! { lang, kept;
        Kept::Stands => "planned", "Valid", "有效";
        Kept::Superseded => "skipped", "Superseded", "已被取代";
        Kept::Done => "done", "Done", "已完成";
        Kept::Failed => "failed", "Failed", "失败";
        Kept::Withdrawn => "cancelled", "Withdrawn", "已撤回";
        Kept::ChangedNothing => "skipped", "No change", "未作更改";
    };
    let sentence = words! { lang, kept;
        Kept::Stands => "The task is waiting or running.", "任务在等待或正在运行。";
        Kept::Superseded => "A later decision replaced it.", "已被后来的决定取代。";
        Kept::Done => "The task ran as decided.", "已按此执行。";
        Kept::Failed => "The task failed and has no retries left.", "任务失败，且已用尽重试次数。";
        Kept::Withdrawn => "The task is cancelled.", "任务已取消。";
        Kept::ChangedNothing => "The request changed nothing.", "该请求没有产生更改。";
    };
    html! { (badge) " " (sentence) }
}

/// The result of an attempt. The history stores the names of outcomes.
pub(crate) fn outcome(lang: Lang, name: &str) -> Markup {
    badges! { lang, name;
        "done" => "done", "Done", "成功";
        "again" => "done", "Done, repeats", "完成，将再次执行";
        "working" => "done", "Handed over, work goes on", "已移交，工作进行中";
        "retry" => "retrying", "Failed, will retry", "失败，将重试";
        "failed" => "failed", "Failed", "失败";
        "give_up" => "failed", "Failed, not retried", "失败，不再重试";
        "lease_expired" => "unknown", "Node lost", "节点失联";
        "handed_back" => "cancelled", "Handed back", "已交还";
        "expired" => "failed", "Expired, not tried", "已过期，未尝试";
        "running" => "running", "Running", "运行中";
        "cancelled" => "cancelled", "Cancelled", "已取消";
        "taken_away" => "cancelled", "Claim lost", "领取权已失效";
        // Written by a newer version than this one.
        other => "unknown", other, other;
    }
}

/// A status as a filter names it.
pub(crate) fn status(lang: Lang, status: Status) -> &'static str {
    words! { lang, status;
        Status::Init => "Waiting", "等待";
        Status::Running => "Running", "运行中";
        Status::Success => "Done", "成功";
        Status::Fail => "Failed", "失败";
        Status::Cancelled => "Cancelled", "已取消";
    }
}
