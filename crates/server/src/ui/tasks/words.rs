//! What rules, receipts and attempts are called on pages.

use almanack_core::history::Kept;
use almanack_core::reschedule::Rule;
use almanack_core::task::Status;

use crate::ui::prelude::*;

/// Which rule applied, as a sentence.
pub(crate) fn rule(lang: Lang, rule: Rule) -> &'static str {
    match rule {
        Rule::Created => lang.pick(
            "Nothing was there: a task was created.",
            "原先没有任务：已新建。",
        ),
        Rule::Updated => lang.pick(
            "It waited: its time was changed in place.",
            "任务在等待：已直接更改时间。",
        ),
        Rule::CancelledAndInserted => pick!(lang;
            "It was running: it was cancelled and a new task took its place. A call already on its way is not recalled.",
            "任务正在运行：已取消，并由新任务接替。已经发出的调用不会撤回。"),
        Rule::Reinserted => pick!(lang;
            "It was cancelled or out of retries: a new task took its place.",
            "任务已取消或重试已用尽：由新任务接替。"),
        Rule::Cancelled => lang.pick("It was cancelled.", "任务已取消。"),
        Rule::IgnoredDone => lang.pick(
            "It is already done: nothing changed.",
            "任务已经成功：未作任何更改。",
        ),
        Rule::IgnoredStale => pick!(lang; "A newer revision is already known: nothing changed.",
            "已有更新的修订：未作任何更改。"),
        Rule::Unchanged => lang.pick(
            "It already was as wished: nothing changed.",
            "任务本已如此：未作任何更改。",
        ),
    }
}

/// The rule's heading in a table.
pub(crate) fn rule_name(lang: Lang, rule: Rule) -> &'static str {
    match rule {
        Rule::Created => lang.pick("created", "新建"),
        Rule::Updated => lang.pick("time changed", "改期"),
        Rule::CancelledAndInserted => lang.pick("cancelled and replaced", "取消并接替"),
        Rule::Reinserted => lang.pick("put again", "重新插入"),
        Rule::Cancelled => lang.pick("cancelled", "取消"),
        Rule::IgnoredDone => lang.pick("ignored: already done", "忽略：已成功"),
        Rule::IgnoredStale => lang.pick("ignored: older revision", "忽略：修订较旧"),
        Rule::Unchanged => lang.pick("unchanged", "未变"),
    }
}

/// How many of several tasks fell under a rule.
pub(crate) fn counted(lang: Lang, rule: Rule, n: u64) -> String {
    match rule {
        Rule::Created => say!(lang, "{n} created", "{n} 个新建"),
        Rule::Updated => say!(lang, "{n} moved", "{n} 个已改期"),
        Rule::CancelledAndInserted => say!(lang; "{n} running: cancelled and replaced",
            "{n} 个正在运行：已取消并由新任务接替"),
        Rule::Reinserted => say!(lang, "{n} put again", "{n} 个重新插入"),
        Rule::Cancelled => say!(lang, "{n} cancelled", "{n} 个已取消"),
        Rule::IgnoredDone => say!(lang, "{n} already done", "{n} 个早已成功"),
        Rule::IgnoredStale => say!(lang; "{n} with a newer revision, left alone",
            "{n} 个已有更新的修订，未改动"),
        Rule::Unchanged => say!(lang, "{n} unchanged", "{n} 个未变"),
    }
}

/// Whether a decision was kept.
pub(crate) fn kept(lang: Lang, kept: Kept) -> Markup {
    let (class, name, sentence) = match kept {
        Kept::Stands => (
            "planned",
            lang.pick("stands", "有效"),
            pick!(lang; "Its time has not come, or it is being tried.",
                "时间未到，或正在尝试。"),
        ),
        Kept::Superseded => (
            "skipped",
            lang.pick("superseded", "已被取代"),
            lang.pick("A later decision took its place.", "后来的决定取代了它。"),
        ),
        Kept::Done => (
            "done",
            lang.pick("done", "已完成"),
            lang.pick("It was carried out.", "已按此执行。"),
        ),
        Kept::Failed => (
            "failed",
            lang.pick("failed", "失败"),
            pick!(lang; "It was tried as often as allowed, and failed.",
                "已尝试到上限，仍然失败。"),
        ),
        Kept::Withdrawn => (
            "cancelled",
            lang.pick("withdrawn", "已撤回"),
            lang.pick("It was cancelled, and it stays so.", "已取消，至今未变。"),
        ),
        Kept::ChangedNothing => (
            "skipped",
            lang.pick("changed nothing", "未作更改"),
            pick!(lang; "It changed nothing, and said so.",
                "它没有作出更改，并已如实告知。"),
        ),
    };
    html! { (badge(class, name)) " " (sentence) }
}

/// How an attempt ended. The history keeps the names of outcomes.
pub(crate) fn outcome(lang: Lang, name: &str) -> Markup {
    let (class, word) = match name {
        "done" => ("done", lang.pick("done", "成功")),
        "again" => ("done", lang.pick("done, comes again", "完成，将再次执行")),
        "retry" => (
            "retrying",
            lang.pick("failed, to be retried", "失败，将重试"),
        ),
        "failed" => ("failed", lang.pick("failed", "失败")),
        "give_up" => ("failed", lang.pick("refused for good", "被永久拒绝")),
        "lease_expired" => ("unknown", lang.pick("its node vanished", "节点失联")),
        "handed_back" => ("cancelled", lang.pick("handed back", "已交还")),
        "running" => ("running", lang.pick("runs", "运行中")),
        "cancelled" => ("cancelled", lang.pick("cancelled", "已取消")),
        "taken_away" => ("cancelled", lang.pick("taken away meanwhile", "期间被收回")),
        // Written by a newer version than this one.
        _ => return html! { (badge("unknown", name)) },
    };
    badge(class, word)
}

/// A status as a filter names it.
pub(crate) fn status(lang: Lang, status: Status) -> &'static str {
    match status {
        Status::Init => lang.pick("waiting", "等待"),
        Status::Running => lang.pick("running", "运行中"),
        Status::Success => lang.pick("done", "成功"),
        Status::Fail => lang.pick("failed", "失败"),
        Status::Cancelled => lang.pick("cancelled", "已取消"),
    }
}
