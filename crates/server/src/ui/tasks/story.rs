//! A task's life: its picture, its attempts with what was answered, and the decisions about it.
//!
//! A task that comes again for ever has a long life; it is shown a page at a time, the newest first.

use almanack_core::history::{Attempt, Decision, Happening, Page};
use almanack_core::task::{Identity, Task};

use super::one::{attempts_of, decisions};
use super::{api_path, life, words};
use crate::receipts::receipt_id;
use crate::tasks::history_cursor;
use crate::ui::prelude::*;

/// Attempts and decisions on a page, together.
pub(super) const SHOWN: usize = 100;

/// The life, or an earlier page of it.
pub(super) fn show(viewer: &Viewer, task: &Task, page: &Page) -> Markup {
    let (lang, story) = (viewer.lang, &page.happenings);
    html! {
        (life::picture(viewer, task, story))
        (parts::section("attempts", lang.pick("Attempts", "尝试"), &attempts(viewer, story)))
        (parts::section("decisions", lang.pick("Decisions", "决定"), &decided(viewer, task, story)))
        @if let Some(before) = page.before {
            p class="hint" { a href=(address(&task_path(&task.identity), [("before", &*history_cursor(before))])) {
                (lang.pick("What happened before that", "更早的历史"))
            } }
        }
    }
}

fn attempts(viewer: &Viewer, story: &[Happening]) -> Markup {
    let lang = viewer.lang;
    let head = [
        lang.pick("Attempt", "尝试"),
        lang.pick("Ended as", "结果"),
        lang.pick("Due", "应开始"),
        lang.pick("Started", "开始"),
        lang.pick("Late by", "延迟"),
        lang.pick("Took", "用时"),
        lang.pick("Answer", "回应"),
        lang.pick("Node", "节点"),
    ];
    if attempts_of(story).next().is_none() {
        return parts::empty(lang.pick("It was not tried yet.", "尚未尝试。"));
    }
    let rows = html! { @for attempt in attempts_of(story).rev() { (tried(viewer, attempt)) } };
    parts::table(
        lang.pick("Attempts, newest first", "尝试，最新的在前"),
        &head,
        &rows,
    )
}

fn tried(viewer: &Viewer, attempt: &Attempt) -> Markup {
    let lang = viewer.lang;
    let late = attempt.started_at.duration_since(attempt.due_at);
    let took = attempt
        .finished_at
        .map(|end| length(lang, end.duration_since(attempt.started_at)));
    html! {
        tr {
            th scope="row" { (attempt.attempt) " " span class="hint" { (attempt.task_id) "." (attempt.term.0) } }
            td { (words::outcome(lang, &attempt.outcome))
                @if let Some(late) = &attempt.late_outcome {
                    " " span class="hint" { (lang.pick("came back later:", "后来返回：")) " " (words::outcome(lang, late)) }
                }
            }
            td { (viewer.instant(attempt.due_at)) }
            td { (viewer.at(attempt.started_at)) }
            // A clock that was set back makes an attempt look early; nothing starts early.
            td { (length(lang, late.max(jiff::SignedDuration::ZERO))) }
            td { @if let Some(took) = took { (took) } @else { "–" } }
            td { @if let Some(detail) = &attempt.detail { (detail) } @else { span class="none" { "–" } } }
            td { @if let Some(node) = &attempt.node { a href=(Place::Nodes.path()) { (node) } } @else { span class="none" { "–" } } }
        }
    }
}

fn decided(viewer: &Viewer, task: &Task, story: &[Happening]) -> Markup {
    let lang = viewer.lang;
    let head = [
        lang.pick("Receipt", "回执"),
        lang.pick("Decided", "决定于"),
        lang.pick("Rule", "规则"),
        lang.pick("Time before", "原时间"),
        lang.pick("Time after", "新时间"),
        lang.pick("Asked by", "请求者"),
    ];
    let here = task_path(&task.identity);
    let rows = html! { @for decision in decisions(story).rev() { (decision_row(viewer, &here, decision)) } };
    html! {
        (parts::table(lang.pick("Decisions, newest first", "决定，最新的在前"), &head, &rows))
        (equivalent(&task.identity).show(viewer))
    }
}

fn equivalent(identity: &Identity) -> Equivalent {
    let words = [
        "task",
        "history",
        identity.kind.as_str(),
        identity.subject.as_str(),
    ];
    Equivalent::call("GET", format!("{}/history", api_path(identity))).cli(&words)
}

fn decision_row(viewer: &Viewer, here: &str, decision: &Decision) -> Markup {
    let lang = viewer.lang;
    let id = receipt_id(decision.id);
    html! {
        tr id={ "d" (id) } data-row {
            th scope="row" { a href={ (here) "?receipt=" (id) } data-open { (id) } }
            td { (viewer.at(decision.decided_at)) }
            td title=(words::rule(lang, decision.rule)) { (words::rule_name(lang, decision.rule))
                @if decision.requested.is_some() { br; span class="hint" { (requested(viewer, decision)) } }
            }
            td { @if let Some(old) = decision.old_execute_at { (viewer.instant(old)) } @else { span class="none" { "–" } } }
            td { (viewer.instant(decision.execute_at)) }
            td { a href=(address(Place::Activity.path(), [("by", &*decision.origin)])) { (decision.origin) } }
        }
    }
}

/// What was asked for where nothing changed, how often, and until when.
pub(super) fn requested(viewer: &Viewer, decision: &Decision) -> Markup {
    let (lang, times) = (viewer.lang, decision.times);
    let Some(requested) = decision.requested else {
        return html! {};
    };
    html! {
        @if let Some(at) = requested.execute_at {
            (lang.pick("asked for", "请求时间")) " " (viewer.instant(at))
        } @else {
            (lang.pick("asked to cancel it", "请求取消"))
        }
        @if let Some(revision) = requested.revision {
            ", " (lang.pick("revision", "修订")) " " (revision.0)
        }
        @if let Some(last) = decision.last_at {
            "; " (say!(lang, "{times} times, last", "共 {times} 次，最近")) " " (viewer.instant(last))
        }
    }
}
