//! The words in which many tasks are asked about.

use std::collections::BTreeMap;

use almanack_core::task::Status;

use super::chosen::{Chosen, Pick};
use super::{Act, Asked};
use crate::ui::prelude::*;
use crate::ui::tasks::{link, words};

/// How many are named before they are only counted.
const NAMED: usize = 10;

/// What would be done, as a heading.
pub(super) fn title(lang: Lang, act: Act, n: usize) -> String {
    match (act, n) {
        (Act::Cancel, 1) => say!(lang, "Cancel 1 task", "取消 1 个任务"),
        (Act::Cancel, n) => say!(lang, "Cancel {n} tasks", "取消 {n} 个任务"),
        (Act::Retry, 1) => say!(lang, "Try 1 task now", "立即重试 1 个任务"),
        (Act::Retry, n) => say!(lang, "Try {n} tasks now", "立即重试 {n} 个任务"),
        (Act::Move, 1) => say!(lang, "Move 1 task", "为 1 个任务改期"),
        (Act::Move, n) => say!(lang, "Move {n} tasks", "为 {n} 个任务改期"),
    }
}

/// What would happen, by how the tasks stand now.
pub(super) fn sentence(lang: Lang, asked: &Asked, chosen: &Chosen) -> Markup {
    let what = words! { lang, asked.act;
        Act::Cancel =>
            "They would be cancelled. What is done stays done; a call already on its way is not recalled.",
            "这些任务将被取消。已成功的不受影响；已经发出的调用不会撤回。";
        Act::Retry =>
            "They would be tried now, with the payload they have. What is done stays done; what runs is cancelled and tried anew.",
            "这些任务将立即以原有内容重试。已成功的不受影响；正在运行的会被取消并重新尝试。";
        Act::Move =>
            "Their time would change. What is done stays done; what runs is cancelled and put anew; what was cancelled is put again.",
            "这些任务将改期。已成功的不受影响；正在运行的会被取消并重新插入；已取消的会重新插入。";
    };
    let rest = chosen.matching.saturating_sub(chosen.picks.len());
    html! {
        (what) " " (standing(lang, &chosen.picks))
        @if rest > 0 {
            " " (say!(lang; "{rest} more match; they are left for the next time.",
                "另有 {rest} 个符合条件，留待下次处理。"))
        }
    }
}

/// How they stand: `12 waiting, 1 running`.
fn standing(lang: Lang, picks: &[Pick]) -> String {
    let mut counts: BTreeMap<Status, usize> = BTreeMap::new();
    for pick in picks {
        *counts.entry(pick.status).or_default() += 1;
    }
    let reported: Vec<String> = counts
        .into_iter()
        .map(|(status, n)| format!("{n} {}", words::status(lang, status)))
        .collect();
    let (reported, end) = (reported.join(lang.pick(", ", "，")), lang.pick(".", "。"));
    say!(lang, "Now: {reported}{end}", "目前：{reported}{end}")
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
