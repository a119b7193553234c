//! Texts about schedules, in both languages: states, verdicts, targets, warnings.

use almanack_core::follow::{CourseOutcome, RUN_TIMEOUT_DEFAULT};
use almanack_core::plan::{
    self, CatchUp, Definition, Edited, OnResume, Origin, Overlap, Reason, State, Trigger, Verdict,
    pings::Phase,
};
use almanack_core::schedule::{ClockChange, Effect, Lint};
use almanack_core::target::Target;

use crate::ui::prelude::*;

/// A state as a badge.
pub(crate) fn state(lang: Lang, state: &State) -> Markup {
    let class = match state {
        State::Active => "active",
        State::Done { .. } => "done",
        State::Paused(_) => "paused",
        State::Parked { .. } => "failed",
        State::Removed { .. } => "cancelled",
    };
    badge(class, state_name(lang, state.as_str()))
}

/// A state by its stored name.
pub(crate) fn state_name(lang: Lang, name: &str) -> &'static str {
    words! { lang, name;
        "active" => "active", "启用";
        "paused" => "paused", "已暂停";
        "parked" => "parked", "已搁置";
        "done" => "Done", "已完成";
        _ => "removed", "已移除";
    }
}

/// A state in a list, with its end and note.
pub(crate) fn state_in_brief(viewer: &Viewer, it: &State) -> Markup {
    let lang = viewer.lang;
    html! {
        (state(lang, it))
        @match it {
            State::Active | State::Removed { .. } | State::Done { .. } => {},
            State::Paused(pause) => {
                @if let Some(until) = pause.until { div { (lang.pick("until ", "直到 ")) (viewer.instant(until)) } }
                (note(pause.note.as_deref()))
            },
            State::Parked { reason, .. } => { div class="hint" { (said(lang, reason)) } },
        }
    }
}

/// A note written by a person.
pub(crate) fn note(note: Option<&str>) -> Markup {
    html! { @if let Some(note) = note { div class="hint" { "“" (note) "”" } } }
}

/// A state with all details.
pub(crate) fn state_in_full(viewer: &Viewer, it: &State) -> Markup {
    let lang = viewer.lang;
    html! {
        (state(lang, it))
        @match it {
            State::Active => {},
            State::Paused(pause) => {
                @let by = &pause.by;
                div { (say!(lang, "by {by}, since ", "由 {by} 暂停，始于 ")) (viewer.at(pause.since)) }
                div {
                    @if let Some(until) = pause.until { (lang.pick("until ", "直到 ")) (viewer.at(until)) }
                    @else { (lang.pick("until it is resumed", "直到恢复")) }
                }
                (note(pause.note.as_deref()))
            },
            State::Parked { since, reason } => {
                div { (lang.pick("since ", "始于 ")) (viewer.at(*since)) }
                div class="wrong" { (said(lang, reason)) }
            },
            State::Removed { since } | State::Done { since } => { div { (lang.pick("since ", "始于 ")) (viewer.at(*since)) } },
        }
    }
}

/// Who manages a schedule.
pub(crate) fn origin(lang: Lang, origin: Origin) -> &'static str {
    match origin {
        Origin::File => lang.pick("configuration file", "配置文件"),
        Origin::Dispatch => "DISPATCH",
        Origin::Api => lang.pick("API and dashboard", "API 与控制台"),
    }
}

/// Why it cannot be changed here, if so.
pub(crate) fn managed(lang: Lang, origin: Origin) -> Option<&'static str> {
    match origin {
        Origin::Api => None,
        Origin::File => Some(pick!(lang;
            "Managed by the configuration file; change it there. You can pause and fire it here.",
            "该日程由配置文件管理，请在文件中修改。您可以在这里暂停和触发它。")),
        Origin::Dispatch => Some(pick!(lang;
            "Managed by DISPATCH; change it there. You can pause and fire it here.",
            "该日程由 DISPATCH 管理，请在那里修改。您可以在这里暂停和触发它。")),
    }
}

/// The verdict on a slot.
pub(crate) fn verdict(lang: Lang, verdict: Verdict) -> &'static str {
    words! { lang, verdict;
        Verdict::Fired => "fired", "已触发";
        Verdict::CaughtUp => "fired late", "补触发";
        Verdict::Pinged => "pinged", "已收到通知";
        Verdict::Skipped(Reason::NoPing) => "missed", "错过";
        Verdict::Skipped(_) => "skipped", "跳过";
    }
}

/// A firing that a person asked for.
pub(crate) fn by_hand(lang: Lang, trigger: Trigger) -> &'static str {
    words! { lang, trigger;
        Trigger::Manual => "fired by hand", "手动触发";
        Trigger::Backfill => "backfilled", "回填";
        Trigger::Schedule => "fired", "已触发";
    }
}

/// Why a slot was skipped.
pub(crate) fn reason(lang: Lang, reason: Reason) -> &'static str {
    words! { lang, reason;
        Reason::Paused => "the schedule was paused", "日程处于暂停";
        Reason::TooLate => "later than its grace period", "超过宽限时间";
        Reason::NotCaughtUp => "missed; catch-up is off", "错过，且不补触发";
        Reason::OverCap => "over the catch-up limit", "错过的时点超过补触发上限";
        Reason::Overlap => "the previous firing had not ended", "上一次触发尚未结束";
        Reason::Changed => "the schedule changed while the slot waited", "等待期间日程被更改";
        Reason::Cancelled => "its firing was cancelled earlier", "触发事先已被取消";
        Reason::NoPing => "no ping within its grace period", "宽限时间内没有收到通知";
        Reason::NeverPinged => "no ping had ever come", "尚未收到过任何通知";
        Reason::Excluded => "left out by a calendar or quiet hours", "被日历或静默时段排除";
    }
}

/// A kind of change.
pub(crate) fn edited(lang: Lang, edited: Edited) -> &'static str {
    words! { lang, edited;
        Edited::Created => "created", "创建";
        Edited::Changed => "changed", "修改";
        Edited::Paused => "paused", "暂停";
        Edited::Resumed => "resumed", "恢复";
        Edited::Parked => "parked", "搁置";
        Edited::Unparked => "can be computed again", "解除搁置";
        Edited::Rewound => "moved back to the present", "重置到当前时间";
        Edited::Removed => "removed", "移除";
        Edited::Done => "done", "完成";
    }
}

/// Tags, each a link to the schedules that have it.
pub(crate) fn tags(tags: &[String]) -> Markup {
    html! {
        @for (index, tag) in tags.iter().enumerate() {
            @if index > 0 { " " }
            a class="tag" href=(crate::ui::query::address("/ui/schedules", [("tag", tag)])) { (tag) }
        }
    }
}

/// A target in one line.
pub(crate) fn target(lang: Lang, target: &Target) -> Markup {
    match target {
        Target::Webhook { url, method, .. } => html! { (method) " " code { (url) } },
        Target::Workflow {
            repository,
            workflow,
            git_ref,
            ..
        } => html! {
            (lang.pick("workflow ", "工作流 ")) code { (repository) "/" (workflow) }
            (lang.pick(" on ", "，分支 ")) code { (git_ref) }
        },
        Target::Command { argv, .. } => {
            html! { (lang.pick("command ", "命令 ")) code { (argv.join(" ")) } }
        }
        Target::Task { kind, subject, .. } => html! {
            (lang.pick("task ", "任务 ")) code { (kind) " " (subject) }
        },
        Target::Ping { note } => super::monitor::note(lang, note.as_deref()),
    }
}

/// A warning about a schedule.
pub(crate) fn advice(viewer: &Viewer, lint: &plan::Lint) -> Markup {
    // Instants in core's sentences are UTC; here they are in the reader's zone.
    if let plan::Lint::Expression(Lint::InGap { at, moved }) = lint {
        let text = words! { viewer.lang, *moved;
            true => "The clocks skip this time once a year; it moves to the end of the gap: ",
                "调整时钟时会跳过该时间一次，改在跳变结束时触发：";
            false => "The clocks skip some of these times; the gap ends ",
                "调整时钟时会跳过其中一些时间；跳变结束于 ";
        };
        return html! { (text) (viewer.at(*at)) };
    }
    html! { (lint.say(viewer.lang)) }
}

/// The effect of a clock change on a time.
pub(crate) fn clock_change(lang: Lang, change: &ClockChange) -> String {
    let local = change.local.strftime("%F %H:%M");
    match change.effect {
        Effect::Moved => say!(lang; "The clocks skip {local}; it fires at the end of the gap.",
            "时钟跳过 {local}；跳变结束时触发。"),
        Effect::Skipped => say!(lang; "The clocks skip {local}; it does not fire.",
            "时钟跳过 {local}，该时间不触发。"),
        Effect::Once => say!(lang; "The clocks show {local} twice; it fires only the first time.",
            "时钟两次显示 {local}；只在第一次触发。"),
        Effect::Twice => say!(lang; "The clocks show {local} twice; it fires both times.",
            "时钟两次显示 {local}；两次都触发。"),
    }
}

/// The policies, each with a sentence.
pub(crate) fn policies(lang: Lang, of: &Definition) -> Markup {
    let level = of.priority;
    facts! { lang;
        "Missed slots", "错过的时点" { (catch_up(lang, of)) }
        "Grace", "宽限" { (grace(lang, of)) }
        "Overlap", "重叠" { (overlap(lang, of.overlap)) }
        "Time limit", "时限" { (run_timeout(lang, of)) }
        "After a pause", "暂停之后" { (on_resume(lang, of.on_resume)) }
        "Spread", "错峰" { (splay(lang, of.splay)) }
        "Retries", "重试" { (retry_for(lang, of)) " " (retry(lang, of.retry)) }
        "Timeout", "超时" if (let Some(timeout) = of.timeout) {
            @let timeout = compact(timeout);
            (say!(lang, "One attempt may take {timeout}.", "一次尝试最多 {timeout}。"))
        }
        "At once", "并发" if (let Some(most) = of.firings_max) {
            (say!(lang, "At most {most} firings run at once, in all nodes together; further ones wait.",
                "所有节点合计最多同时运行 {most} 次触发；其余等待。"))
        }
        "Headers", "请求头" if (let Some(names) = header_names(&of.target)) { code { (names) } }
        "Alerts", "告警" if (let Some(channels) = &of.alerts) {
            @if channels.is_empty() { (lang.pick("Nobody is notified.", "不通知任何人。")) }
            @else { code { (channels.join(", ")) } }
        }
        "Priority", "优先级" {
            (say!(lang, "{level} (0 to 9; 9 runs first).", "{level}（0 到 9，9 最先执行）。"))
        }
        "Pings", "通知" if (!of.pings.is_empty()) { (pings(of)) }
    }
}

/// Whom it calls, without what is secret about the addresses.
fn pings(definition: &Definition) -> Markup {
    let host = |address: &str| {
        let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
        let host = rest.split(['/', '?']).next().unwrap_or_default();
        format!("{scheme}://{host}/…")
    };
    let called = Phase::ALL.into_iter();
    let called = called.filter_map(|phase| Some((phase, definition.pings.address(phase)?)));
    html! { @for (phase, address) in called { div { (phase) ": " code { (host(address)) } } } }
}

fn catch_up(lang: Lang, definition: &Definition) -> String {
    let (most, pace) = (definition.max_catch_up, compact(definition.catch_up_pace));
    match definition.catch_up {
        CatchUp::None => say!(lang; "Missed slots are skipped.",
            "跳过错过的时点。"),
        CatchUp::Latest => say!(lang;
            "Only the latest missed slot fires, if it is within its grace period.",
            "错过的时点中，最后一个若在宽限时间内则补触发。"),
        CatchUp::All => say!(lang;
            "Missed slots within the grace period fire one by one, {pace} apart, up to the newest {most}.",
            "宽限时间内错过的时点依次补触发，间隔 {pace}，最多取最近的 {most} 个。"),
    }
}

fn grace(lang: Lang, definition: &Definition) -> String {
    match (definition.grace.map(compact), definition.catch_up) {
        (Some(grace), _) => say!(lang; "A slot can fire up to {grace} late.",
            "时点最多可迟到 {grace}。"),
        (None, CatchUp::All) => say!(lang; "A slot can fire up to 12h late.",
            "时点最多可迟到 12h。"),
        (None, CatchUp::None | CatchUp::Latest) => say!(lang;
            "A slot can fire late by half the gap to the next slot, at most 12h.",
            "时点最多可迟到“与下一时点间隔的一半”，且不超过 12h。"),
    }
}

fn splay(lang: Lang, splay: SignedDuration) -> String {
    let longest = compact(splay);
    if splay.is_zero() {
        return say!(lang; "Fires exactly at the slot.", "准时触发。");
    }
    say!(lang; "Fires after a fixed delay of up to {longest}, derived from its name.",
        "每个时点之后按名称固定延迟，最长 {longest}。")
}

fn retry_for(lang: Lang, definition: &Definition) -> String {
    match definition.retry_for.map(compact) {
        Some(retry_for) => say!(lang; "A failed firing is retried for {retry_for}.",
            "触发失败后在 {retry_for} 内重试。"),
        None => {
            say!(lang; "A failed firing is retried until the next slot (at least 10s, at most 1h).",
            "触发失败后重试到下一时点为止（至少 10s，至多 1h）。")
        }
    }
}

/// How a schedule's attempts follow each other, where it says so.
fn retry(lang: Lang, retry: plan::Retry) -> String {
    if retry == plan::Retry::default() {
        return String::new();
    }
    let waits = retry.waits();
    let (first, most) = (compact(waits.base), compact(waits.cap));
    match retry.count {
        Some(count) => say!(lang; "At most {count} retries; waits from {first} to {most}.",
            "最多重试 {count} 次；等待 {first} 至 {most}。"),
        None => say!(lang; "Waits from {first} to {most}.", "等待 {first} 至 {most}。"),
    }
}

/// The names of a webhook's headers; values are references or of no concern here.
fn header_names(target: &Target) -> Option<String> {
    match target {
        Target::Webhook { headers, .. } if !headers.is_empty() => {
            let names: Vec<&str> = headers.keys().map(String::as_str).collect();
            Some(names.join(", "))
        }
        _ => None,
    }
}

/// What happens to a slot while the previous firing runs.
fn overlap(lang: Lang, overlap: Overlap) -> &'static str {
    words! { lang, overlap;
        Overlap::Skip => "Skips the slot while the previous firing runs.",
            "上一次触发未结束时，跳过该时点。";
        Overlap::QueueOne => "The slot waits for the previous firing; further slots are skipped meanwhile.",
            "时点等待上一次触发结束；等待期间的其他时点跳过。";
        Overlap::Allow => "Fires even while the previous firing runs.",
            "即使上一次触发未结束也照常触发。";
        Overlap::CancelRunning => "Cancels the previous firing, then fires.",
            "取消上一次触发，然后触发。";
    }
}

/// The state of a firing, to the end of its work.
pub(crate) fn course(lang: Lang, outcome: CourseOutcome) -> Markup {
    let (class, word) = match outcome {
        CourseOutcome::Waiting => ("planned", lang.pick("Waiting", "等待中")),
        CourseOutcome::Running => ("running", lang.pick("Running", "运行中")),
        CourseOutcome::Retrying => ("failed", lang.pick("Will retry", "将重试")),
        CourseOutcome::Done => ("done", lang.pick("Done", "已完成")),
        CourseOutcome::Failed => ("failed", lang.pick("Failed", "失败")),
        CourseOutcome::Cancelled => ("cancelled", lang.pick("Cancelled", "已取消")),
    };
    badge(class, word)
}

/// How long a firing's work may take.
fn run_timeout(lang: Lang, definition: &Definition) -> String {
    let longest = compact(definition.run_timeout.unwrap_or(RUN_TIMEOUT_DEFAULT));
    say!(lang; "Work that has not ended after {longest} counts as failed.",
        "{longest} 后仍未结束的工作视为失败。")
}

/// What happens to slots during a pause.
fn on_resume(lang: Lang, on_resume: OnResume) -> &'static str {
    words! { lang, on_resume;
        OnResume::Skip => "Slots during a pause are skipped.", "跳过暂停期间的时点。";
        OnResume::Latest => "When the pause ends, its latest slot fires if it is within its grace period.",
            "恢复时，暂停期间的最后一个时点若在宽限时间内则触发。";
    }
}

/// A duration as definitions write it: `1h 30m`.
fn compact(duration: SignedDuration) -> String {
    format!("{duration:#}")
}
