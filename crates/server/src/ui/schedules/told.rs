//! Schedules in words, in both languages: states, verdicts, targets, warnings.

use almanack_core::plan::{Edited, Origin, Reason, State, Verdict};
use almanack_core::schedule::{ClockChange, Effect, Field, Language, Lint};
use almanack_core::target::Target;

use crate::ui::prelude::*;

/// In which language core describes an expression.
pub(crate) fn language(lang: Lang) -> Language {
    match lang {
        Lang::English => Language::English,
        Lang::Chinese => Language::Chinese,
    }
}

/// A state as a badge.
pub(crate) fn state(lang: Lang, state: &State) -> Markup {
    let class = match state {
        State::Active => "done",
        State::Paused(_) => "paused",
        State::Parked { .. } => "failed",
        State::Removed { .. } => "cancelled",
    };
    badge(class, state_name(lang, state.as_str()))
}

/// A state by its name in the store.
pub(crate) fn state_name(lang: Lang, name: &str) -> &'static str {
    match name {
        "active" => lang.pick("active", "启用"),
        "paused" => lang.pick("paused", "已暂停"),
        "parked" => lang.pick("parked", "已搁置"),
        _ => lang.pick("removed", "已移除"),
    }
}

/// A state in a list: what it is, until when, and what was said about it.
pub(crate) fn state_in_brief(viewer: &Viewer, it: &State) -> Markup {
    let lang = viewer.lang;
    html! {
        (state(lang, it))
        @match it {
            State::Active | State::Removed { .. } => {},
            State::Paused(pause) => {
                @if let Some(until) = pause.until { div { (lang.pick("until ", "直到 ")) (viewer.instant(until)) } }
                @if let Some(note) = &pause.note { div class="hint" { "“" (note) "”" } }
            },
            State::Parked { reason, .. } => { div class="hint" { (lang.english(reason)) } },
        }
    }
}

/// A state with everything that is known about it.
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
                @if let Some(note) = &pause.note { div class="hint" { "“" (note) "”" } }
            },
            State::Parked { since, reason } => {
                div { (lang.pick("since ", "始于 ")) (viewer.at(*since)) }
                div class="wrong" { (lang.english(reason)) }
            },
            State::Removed { since } => { div { (lang.pick("since ", "始于 ")) (viewer.at(*since)) } },
        }
    }
}

/// Who a schedule belongs to.
pub(crate) fn origin(lang: Lang, origin: Origin) -> &'static str {
    match origin {
        Origin::File => lang.pick("configuration file", "配置文件"),
        Origin::Dispatch => "DISPATCH",
        Origin::Api => lang.pick("API and pages", "API 与页面"),
    }
}

/// Why it cannot be changed here, if it cannot.
pub(crate) fn managed(lang: Lang, origin: Origin) -> Option<&'static str> {
    match origin {
        Origin::Api => None,
        Origin::File => Some(pick!(lang;
            "This schedule belongs to the configuration file; change it there. It can be paused and fired here.",
            "该日程属于配置文件，请在文件中修改。在这里可以暂停和触发它。")),
        Origin::Dispatch => Some(pick!(lang;
            "This schedule belongs to DISPATCH; change it there. It can be paused and fired here.",
            "该日程属于 DISPATCH，请在那里修改。在这里可以暂停和触发它。")),
    }
}

/// What the ledger says of a slot.
pub(crate) fn verdict(lang: Lang, verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Fired => lang.pick("fired", "已触发"),
        Verdict::CaughtUp => lang.pick("fired late", "补触发"),
        Verdict::Skipped(_) => lang.pick("skipped", "跳过"),
    }
}

/// Why a slot was skipped.
pub(crate) fn reason(lang: Lang, reason: Reason) -> &'static str {
    match reason {
        Reason::Paused => lang.pick("the schedule was paused", "日程处于暂停"),
        Reason::TooLate => lang.pick("later than its grace", "超过宽限时间"),
        Reason::NotCaughtUp => lang.pick("missed, and not caught up", "错过，且不补触发"),
        Reason::OverCap => pick!(lang; "more were missed than may be caught up",
            "错过的时点超过补触发上限"),
        Reason::Overlap => lang.pick("the firing before it had not ended", "上一次触发尚未结束"),
        Reason::Changed => pick!(lang; "the schedule was changed while it waited",
            "等待期间日程被更改"),
        Reason::Cancelled => lang.pick("its firing had been cancelled before", "触发事先已被取消"),
    }
}

/// What somebody did to a schedule.
pub(crate) fn edited(lang: Lang, edited: Edited) -> &'static str {
    match edited {
        Edited::Created => lang.pick("created", "创建"),
        Edited::Changed => lang.pick("changed", "修改"),
        Edited::Paused => lang.pick("paused", "暂停"),
        Edited::Resumed => lang.pick("resumed", "恢复"),
        Edited::Parked => lang.pick("parked", "搁置"),
        Edited::Unparked => lang.pick("can be computed again", "解除搁置"),
        Edited::Rewound => lang.pick("taken back to the present", "回退到当前时间"),
        Edited::Removed => lang.pick("removed", "移除"),
    }
}

/// What a schedule fires at, in a line.
pub(crate) fn target(lang: Lang, target: &Target) -> Markup {
    match target {
        Target::Webhook { url, .. } => html! { "POST " code { (url) } },
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
    }
}

/// A warning about an expression.
pub(crate) fn lint(viewer: &Viewer, lint: &Lint) -> Markup {
    let lang = viewer.lang;
    // Instants in a sentence of core are in UTC; here they are the reader's.
    if let Lint::InGap { at, moved } = lint {
        let told = if *moved {
            pick!(lang; "The clocks skip this time once, and it moves to the end of the gap: ",
                "调整时钟时会跳过该时间一次，改在跳变结束时触发：")
        } else {
            pick!(lang; "The clocks skip some of these times; the gap ends ",
                "调整时钟时会跳过其中一些时间；跳变结束于 ")
        };
        return html! { (told) (viewer.at(*at)) };
    }
    match lang {
        Lang::English => html! { (lint) },
        Lang::Chinese => html! { (in_chinese(lint)) },
    }
}

fn in_chinese(lint: &Lint) -> String {
    match lint {
        Lint::EitherDay => {
            "“日”和“星期”都有限制：满足其一即触发（在星期前加 `+` 表示两者都要满足）".to_owned()
        }
        Lint::StepIsRestriction { field } => {
            let field = field_in_chinese(*field);
            format!("{field}：步长在这里算作限制，满足其一即触发；其他 cron 要求两者都满足")
        }
        Lint::UnevenStep { field, step } => {
            let field = field_in_chinese(*field);
            format!("{field}：{step} 不能整除该字段，最后一步较短")
        }
        Lint::LargeStep { field, step } => {
            let field = field_in_chinese(*field);
            format!("{field}：步长 {step} 只剩下第一个值")
        }
        Lint::SkipsMonths { day } => format!("没有 {day} 日的月份会被跳过（`L` 表示当月最后一天）"),
        Lint::InGap { .. } => "调整时钟时会跳过其中一些时间".to_owned(),
        Lint::EveryMinute => "每天每分钟都会触发".to_owned(),
        Lint::Frequent { round_s } => format!("触发间隔短于 {round_s} 秒"),
        Lint::NeverFires => "没有符合的日期：永远不会触发".to_owned(),
    }
}

fn field_in_chinese(field: Field) -> &'static str {
    match field {
        Field::Second => "秒",
        Field::Minute => "分",
        Field::Hour => "时",
        Field::Day => "日",
        Field::Month => "月",
        Field::Weekday => "星期",
        Field::Year => "年",
    }
}

/// What a change of the clocks does to a time.
pub(crate) fn clock_change(lang: Lang, change: &ClockChange) -> String {
    let local = change.local.strftime("%F %H:%M");
    match change.effect {
        Effect::Moved => say!(lang; "The clocks skip {local}; it fires when they have.",
            "时钟跳过 {local}；跳变结束时触发。"),
        Effect::Skipped => say!(lang; "The clocks skip {local}, and nothing fires for it.",
            "时钟跳过 {local}，该时间不触发。"),
        Effect::Once => say!(lang; "The clocks show {local} twice; it fires the first time only.",
            "时钟两次显示 {local}；只在第一次触发。"),
        Effect::Twice => say!(lang; "The clocks show {local} twice; it fires both times.",
            "时钟两次显示 {local}；两次都触发。"),
    }
}
