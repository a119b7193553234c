//! What rules, receipts and attempts are called on pages.

use almanack_core::{history::Kept, reschedule::Rule, task::Status};

use crate::ui::prelude::*;

/// Which rule applied, as a sentence.
pub(crate) fn rule(lang: Lang, rule: Rule) -> &'static str {
    words! { lang, rule;
        Rule::Created => "Nothing was there: a task was created.", "原先没有任务：已新建。";
        Rule::Updated => "It waited: its time was changed in place.", "任务在等待：已直接更改时间。";
        Rule::CancelledAndInserted =>
            "It was running: it was cancelled and a new task took its place. A call already on its way is not recalled.",
            "任务正在运行：已取消，并由新任务接替。已经发出的调用不会撤回。";
        Rule::Reinserted => "It was cancelled or out of retries: a new task took its place.",
            "任务已取消或重试已用尽：由新任务接替。";
        Rule::Cancelled => "It was cancelled.", "任务已取消。";
        Rule::IgnoredDone => "It is already done: nothing changed.", "任务已经成功：未作任何更改。";
        Rule::IgnoredStale => "A newer revision is already known: nothing changed.",
            "已有更新的修订：未作任何更改。";
        Rule::Unchanged => "It already was as requested: nothing changed.", "任务本已如此：未作任何更改。";
    }
}

/// The rule's heading in a table.
pub(crate) fn rule_name(lang: Lang, rule: Rule) -> &'static str {
    words! { lang, rule;
        Rule::Created => "created", "新建";
        Rule::Updated => "time changed", "改期";
        Rule::CancelledAndInserted => "cancelled and replaced", "取消并接替";
        Rule::Reinserted => "put again", "重新插入";
        Rule::Cancelled => "cancelled", "取消";
        Rule::IgnoredDone => "ignored: already done", "忽略：已成功";
        Rule::IgnoredStale => "ignored: older revision", "忽略：修订较旧";
        Rule::Unchanged => "unchanged", "未变";
    }
}

/// How many of several tasks fell under a rule.
pub(crate) fn counted(lang: Lang, rule: Rule, n: u64) -> String {
    let reported = words! { lang, rule;
        Rule::Created => " created", " 个新建";
        Rule::Updated => " moved", " 个已改期";
        Rule::CancelledAndInserted => " running: cancelled and replaced", " 个正在运行：已取消并由新任务接替";
        Rule::Reinserted => " put again", " 个重新插入";
        Rule::Cancelled => " cancelled", " 个已取消";
        Rule::IgnoredDone => " already done", " 个早已成功";
        Rule::IgnoredStale => " with a newer revision, left alone", " 个已有更新的修订，未改动";
        Rule::Unchanged => " unchanged", " 个未变";
    };
    format!("{n}{reported}")
}

/// Whether a decision was kept.
pub(crate) fn kept(lang: Lang, kept: Kept) -> Markup {
    let badge = badges! { lang, kept;
        Kept::Stands => "planned", "stands", "有效";
        Kept::Superseded => "skipped", "superseded", "已被取代";
        Kept::Done => "done", "done", "已完成";
        Kept::Failed => "failed", "failed", "失败";
        Kept::Withdrawn => "cancelled", "withdrawn", "已撤回";
        Kept::ChangedNothing => "skipped", "changed nothing", "未作更改";
    };
    let sentence = words! { lang, kept;
        Kept::Stands => "Its time has not come, or it is being tried.", "时间未到，或正在尝试。";
        Kept::Superseded => "A later decision took its place.", "后来的决定取代了它。";
        Kept::Done => "It was carried out.", "已按此执行。";
        Kept::Failed => "It was tried as often as allowed, and failed.", "已尝试到上限，仍然失败。";
        Kept::Withdrawn => "It was cancelled, and it stays so.", "已取消，至今未变。";
        Kept::ChangedNothing => "It changed nothing, and said so.", "它没有作出更改，并已如实告知。";
    };
    html! { (badge) " " (sentence) }
}

/// How an attempt ended. The history keeps the names of outcomes.
pub(crate) fn outcome(lang: Lang, name: &str) -> Markup {
    badges! { lang, name;
        "done" => "done", "done", "成功";
        "again" => "done", "done, comes again", "完成，将再次执行";
        "retry" => "retrying", "failed, to be retried", "失败，将重试";
        "failed" => "failed", "failed", "失败";
        "give_up" => "failed", "refused for good", "被永久拒绝";
        "lease_expired" => "unknown", "its node vanished", "节点失联";
        "handed_back" => "cancelled", "handed back", "已交还";
        "running" => "running", "runs", "运行中";
        "cancelled" => "cancelled", "cancelled", "已取消";
        "taken_away" => "cancelled", "taken away meanwhile", "期间被收回";
        // Written by a newer version than this one.
        other => "unknown", other, other;
    }
}

/// A status as a filter names it.
pub(crate) fn status(lang: Lang, status: Status) -> &'static str {
    words! { lang, status;
        Status::Init => "waiting", "等待";
        Status::Running => "running", "运行中";
        Status::Success => "done", "成功";
        Status::Fail => "failed", "失败";
        Status::Cancelled => "cancelled", "已取消";
    }
}
