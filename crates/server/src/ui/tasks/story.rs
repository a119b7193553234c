//! A task's history: its timeline, attempts with results, and decisions.
//!
//! A repeating task has a long history; it is shown page by page, newest first.

use almanack_core::history::{Attempt, Decision, HistoryEvent, Page};

use super::{command, life, origin, words};
use crate::ui::prelude::*;
use crate::{paging::cursor, receipts::receipt_id};

/// Attempts and decisions per page, together.
pub(super) const SHOWN: usize = 100;

/// The history, or an earlier page of it.
pub(super) fn show(viewer: &Viewer, task: &Task, page: &Page) -> Markup {
    let (lang, story) = (viewer.lang, &page.events);
    let here = task_path(&task.identity);
    html! {
        (life::picture(viewer, task, story))
        (section("attempts", lang.pick("Attempts", "尝试"), &attempts(viewer, story)))
        (section("decisions", lang.pick("Decisions", "决定"), &html! {
            (decided(viewer, &here, story))
            (command("history", "GET", &task.identity, "/history").show(viewer))
        }))
        @if let Some(before) = page.before {
            p class="hint" { a href=(address(&here, [("before", &*cursor(before))])) {
                (lang.pick("Earlier history", "更早的历史"))
            } }
        }
    }
}

fn attempts(viewer: &Viewer, story: &[HistoryEvent]) -> Markup {
    let lang = viewer.lang;
    let attempts = story.iter().rev().filter_map(|event| match event {
        HistoryEvent::Attempt(attempt) => Some(attempt),
        HistoryEvent::Decision(_) => None,
    });
    // A clock that was set back makes an attempt look early; no attempt starts early.
    let late = |it: &Attempt| {
        it.started_at
            .duration_since(it.due_at)
            .max(SignedDuration::ZERO)
    };
    let took = |it: &Attempt| Some(length(lang, it.finished_at?.duration_since(it.started_at)));
    let node = |name: &str| html! { a href=(Place::Nodes.path()) { (name) } };
    table! { lang; "Attempts, newest first", "尝试，最新的在前"; or "No attempts yet.", "还没有尝试。";
        for (attempt in attempts) tr()
        "Attempt", "尝试" {
            th scope="row" { (attempt.attempt) " " span class="hint" { (attempt.task_id) "." (attempt.term.0) } }
        }
        "Result", "结果" {
            td { (words::outcome(lang, &attempt.outcome))
                @if let Some(late) = &attempt.late_outcome {
                    " " span class="hint" { (lang.pick("later result:", "后来的结果：")) " " (words::outcome(lang, late)) }
                }
            }
        }
        "Due", "应开始" { td { (viewer.instant(attempt.due_at)) } }
        "Started", "开始" { td { (viewer.at(attempt.started_at)) } }
        "Delay", "延迟" { td { (length(lang, late(attempt))) } }
        "Duration", "耗时" { td { (took(attempt).as_deref().unwrap_or("–")) } }
        "Response", "回应" { td { (or_dash(attempt.detail.as_deref())) } }
        "Node", "节点" { td { (or_dash(attempt.node.as_deref().map(node))) } }
    }
}

fn decided(viewer: &Viewer, here: &str, story: &[HistoryEvent]) -> Markup {
    let lang = viewer.lang;
    let decisions = story.iter().rev().filter_map(|event| match event {
        HistoryEvent::Decision(decision) => Some((receipt_id(decision.id), decision)),
        HistoryEvent::Attempt(_) => None,
    });
    table! { lang; "Decisions, newest first", "决定，最新的在前";
        for ((id, decision) in decisions) tr(id={ "d" (id) } data-row)
        "Receipt", "回执" { th scope="row" { a href={ (here) "?receipt=" (id) } data-open { (id) } } }
        "Decided", "决定于" { td { (viewer.at(decision.decided_at)) } }
        "Rule", "规则" {
            td title=(words::rule(lang, decision.rule)) { (words::rule_name(lang, decision.rule))
                @if decision.requested.is_some() { br; span class="hint" { (requested(viewer, decision)) } }
            }
        }
        "Time before", "原时间" { td { (or_dash(decision.old_execute_at.map(|at| viewer.instant(at)))) } }
        "Time after", "新时间" { td { (viewer.instant(decision.execute_at)) } }
        "Requested by", "请求者" { td { (origin(&decision.origin)) } }
    }
}

/// The request of a decision without a change, how often it came, and when last.
pub(super) fn requested(viewer: &Viewer, decision: &Decision) -> Markup {
    let (lang, times) = (viewer.lang, decision.times);
    let Some(requested) = decision.requested else {
        return html! {};
    };
    html! {
        @if let Some(at) = requested.execute_at {
            (lang.pick("requested", "请求时间")) " " (viewer.instant(at))
        } @else {
            (lang.pick("cancellation requested", "请求取消"))
        }
        @if let Some(revision) = requested.revision {
            ", " (lang.pick("revision", "修订")) " " (revision.0)
        }
        @if let Some(last) = decision.last_at {
            "; " (say!(lang, "{times} times, last", "共 {times} 次，最近")) " " (viewer.instant(last))
        }
    }
}
