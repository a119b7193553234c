//! The confirmation texts of bulk actions.

use std::collections::BTreeMap;

use almanack_core::task::Status;

use super::chosen::{Chosen, Pick};
use super::{Act, Asked};
use crate::ui::prelude::*;
use crate::ui::tasks::{link, words};

/// How many are listed by name.
const NAMED: usize = 10;

/// The action as a heading.
pub(super) fn title(lang: Lang, act: Act, n: usize) -> String {
    match (act, n) {
        (Act::Cancel, 1) => say!(lang, "Cancel 1 task", "取消 1 个任务"),
        (Act::Cancel, n) => say!(lang, "Cancel {n} tasks", "取消 {n} 个任务"),
        (Act::Retry, 1) => say!(lang, "Retry 1 task now", "立即重试 1 个任务"),
        (Act::Retry, n) => say!(lang, "Retry {n} tasks now", "立即重试 {n} 个任务"),
        (Act::Move, 1) => say!(lang, "Reschedule 1 task", "为 1 个任务改期"),
        (Act::Move, n) => say!(lang, "Reschedule {n} tasks", "为 {n} 个任务改期"),
    }
}

/// What would happen, by the current status of the tasks.
pub(super) fn sentence(lang: Lang, asked: &Asked, chosen: &Chosen) -> Markup {
    let what = words! { lang, asked.act;
        Act::Cancel =>
            "Cancels these tasks. Done tasks are unchanged; calls already sent are not recalled.",
            "将取消这些任务。已成功的不受影响；已经发出的调用不会撤回。";
        Act::Retry =>
            "Runs these tasks now with their current payload. Done tasks are unchanged; running tasks are cancelled and started again.",
            "将立即用现有载荷重试这些任务。已成功的不受影响；正在运行的会被取消并重新开始。";
        Act::Move =>
            "Changes the time of these tasks. Done tasks are unchanged; running tasks are cancelled and replaced; cancelled tasks are created again.",
            "将更改这些任务的时间。已成功的不受影响；正在运行的会被取消并由新任务接替；已取消的会重新创建。";
    };
    let rest = chosen.matching.saturating_sub(chosen.picks.len());
    html! {
        (what) " " (standing(lang, &chosen.picks))
        @if rest > 0 {
            " " (say!(lang; "Matching tasks left for the next time: {rest}.",
                "另有 {rest} 个符合条件，留待下次处理。"))
        }
    }
}

/// Counts by status: `12 waiting, 1 running`.
fn standing(lang: Lang, picks: &[Pick]) -> String {
    let mut counts: BTreeMap<Status, usize> = BTreeMap::new();
    for pick in picks {
        *counts.entry(pick.status).or_default() += 1;
    }
    let parts_shown: Vec<String> = counts
        .into_iter()
        .map(|(status, n)| format!("{n} {}", words::status(lang, status).to_lowercase()))
        .collect();
    let (parts_shown, end) = (
        parts_shown.join(lang.pick(", ", "，")),
        lang.pick(".", "。"),
    );
    say!(lang, "Now: {parts_shown}{end}", "目前：{parts_shown}{end}")
}

/// The first of them by name, and how many more.
pub(super) fn first_few(viewer: &Viewer, chosen: &Chosen) -> Markup {
    let lang = viewer.lang;
    let more = chosen.picks.len().saturating_sub(NAMED);
    html! {
        ul {
            @for pick in chosen.picks.iter().take(NAMED) {
                li { (link(&pick.identity)) " (" (pick.identity.kind) "), "
                    (parts::status(lang, pick.status, pick.live)) ", " (viewer.at(pick.execute_at)) }
            }
            @if more > 0 { li { (say!(lang, "and {more} more", "以及另外 {more} 个")) } }
        }
    }
}
