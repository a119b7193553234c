//! One task: where it stands, its life, what may be done to it, and what every receipt says.

use almanack_core::history::{self, Attempt, Decision, Happening, Kept};
use almanack_core::reserved::is_reserved;
use almanack_core::store::HistoryPage;
use almanack_core::task::{Identity, Task, TaskId};

use super::filter::Filter;
use super::{about, api_path, change, payload, story, words};
use crate::call::At;
use crate::receipts::{parse_receipt_id, receipt_id};
use crate::tasks::{find_current, nothing_there, parse_history_cursor};
use crate::ui::moment;
use crate::ui::prelude::*;

/// What the page is asked for.
#[derive(Debug, Deserialize)]
pub(crate) struct Query {
    /// A receipt to tell.
    receipt: Option<String>,
    /// Where an earlier page of the history begins.
    before: Option<String>,
    /// A time to work out.
    at: Option<String>,
    /// Its zone.
    zone: Option<String>,
}

/// The page of a task.
pub(crate) async fn show(
    State(state): App,
    At(identity): At,
    viewer: Viewer,
    Sought(query): Sought<Query>,
) -> Result<Markup> {
    let before = query.before.as_deref().map(parse_history_cursor);
    let before = before.transpose()?;
    let page_of = HistoryPage {
        before,
        limit: story::SHOWN,
    };
    let records = state.store.load_history(&identity, page_of).await?;
    let last = records.tasks.last().map(|task| task.id);
    let task = shown(&state, &identity, last).await?;
    let told = match &query.receipt {
        Some(id) => Some(receipt(&state, &viewer, &identity, id).await?),
        None => None,
    };
    let story = history::page(records, before, story::SHOWN);
    let body = html! {
        @if let Some(told) = told { (told) }
        (parts::live("now", &now(&viewer, &task)))
        (change::acts(&viewer, &task))
        @if viewer.may(Scope::Operate) && !is_reserved(&identity.kind) { (changing(&viewer, &task, &query)) }
        (parts::live("life", &story::show(&viewer, &task, &story)))
        (parts::section("payload-title", viewer.lang.pick("Payload", "内容"), &payload::show(viewer.lang, task.payload.as_str())))
        (equivalent(&identity).show(&viewer))
    };
    let title = format!("{} · {}", identity.subject, identity.kind);
    Ok(page(&viewer, Place::Tasks, &title, &body))
}

/// The identity's current row, or else the last there is of it.
async fn shown(state: &AppState, identity: &Identity, last: Option<TaskId>) -> Result<Task> {
    let found = find_current(&*state.store, identity).await;
    match (found, last) {
        (Err(_), Some(last)) => {
            let row = state.store.load_task(last).await?;
            row.ok_or_else(|| nothing_there(identity))
        }
        (found, _) => found,
    }
}

/// Where it stands.
fn now(viewer: &Viewer, task: &Task) -> Markup {
    let lang = viewer.lang;
    let of_kind = Filter {
        kind: Some(task.identity.kind.to_string()),
        ..Filter::default()
    };
    let when = match (task.due_at, task.is_live()) {
        (Some(_), _) => lang.pick("Next attempt", "下次尝试"),
        (None, true) => lang.pick("Was due", "应开始于"),
        (None, false) => lang.pick("Was meant for", "原定时间"),
    };
    let mut facts = vec![
        (
            lang.pick("Status", "状态"),
            parts::status(lang, task.status, task.is_live()),
        ),
        (when, viewer.at(task.due_at.unwrap_or(task.execute_at))),
        (lang.pick("Attempts", "尝试"), attempts(task)),
        (
            lang.pick("Kind", "类型"),
            html! { a href=(of_kind.address(Place::Tasks.path(), &[])) { (task.identity.kind) } },
        ),
        (
            lang.pick("Asked by", "请求者"),
            html! { a href=(address(Place::Activity.path(), [("by", &*task.origin)])) { (task.origin) } },
        ),
        (lang.pick("Created", "创建于"), viewer.at(task.created_at)),
        (
            lang.pick("Priority", "优先级"),
            html! { (task.priority.level()) },
        ),
    ];
    facts.extend(further(viewer, task));
    parts::facts(&facts)
}

fn attempts(task: &Task) -> Markup {
    html! { a href="#attempts" { (parts::attempts(task.attempt, task.max_retry)) } }
}

/// What is only shown where there is any.
fn further(viewer: &Viewer, task: &Task) -> Vec<(&'static str, Markup)> {
    let lang = viewer.lang;
    let mut facts = Vec::new();
    if let Some(detail) = &task.detail {
        facts.push((lang.pick("Last answer", "最近结果"), html! { (detail) }));
    }
    if let Some(node) = &task.node {
        facts.push((
            lang.pick("Node", "节点"),
            html! { a href=(Place::Nodes.path()) { (node) } },
        ));
    }
    if let Some(until) = task
        .lease_until
        .filter(|_| task.due_at.is_none() && task.is_live())
    {
        facts.push((lang.pick("Lease until", "租约至"), viewer.at(until)));
    }
    if let Some(at) = task.started_at {
        facts.push((lang.pick("Last started", "最近开始"), viewer.at(at)));
    }
    if let Some(at) = task.finished_at {
        facts.push((lang.pick("Last ended", "最近结束"), viewer.at(at)));
    }
    if let Some(url) = &task.callback_url {
        facts.push((lang.pick("Calls", "回调地址"), html! { code { (url) } }));
    }
    if task.revision.0 > 0 {
        facts.push((lang.pick("Revision", "修订"), html! { (task.revision.0) }));
    }
    if let Some(page) = about(&task.identity) {
        facts.push((
            lang.pick("Works for", "所属"),
            html! { a href=(page) { (task.identity.subject) } },
        ));
    }
    facts
}

fn changing(viewer: &Viewer, task: &Task, query: &Query) -> Markup {
    let shown = task.due_at.unwrap_or(viewer.now).max(viewer.now);
    let clock = query
        .at
        .clone()
        .unwrap_or_else(|| moment::write(shown, &viewer.zone));
    let typed = change::Typed {
        clock: &clock,
        zone: query.zone.as_deref().unwrap_or(viewer.zone_name()),
        old: task.due_at,
    };
    change::section(viewer, &task.identity, &typed, query.at.is_some())
}

/// What a receipt of this task says, and whether it was kept.
async fn receipt(
    state: &AppState,
    viewer: &Viewer,
    identity: &Identity,
    text: &str,
) -> Result<Markup> {
    let lang = viewer.lang;
    let found = match parse_receipt_id(text) {
        Some(id) => state.rescheduler.verify(id).await?,
        None => None,
    };
    let found = found.filter(|(row, ..)| row.identity == *identity);
    let Some((_, decision, kept)) = found else {
        return Ok(
            html! { p class="wrong" role="alert" { (lang.pick("This task has no such receipt.", "该任务没有这张回执。")) } },
        );
    };
    Ok(parts::notice(&html! {
        p { strong { (words::rule(lang, decision.rule)) } }
        (parts::facts(&kept_facts(viewer, &decision, kept)))
        (Equivalent::call("GET", format!("/api/v1/receipts/{}", receipt_id(decision.id))).show(viewer))
    }))
}

fn kept_facts(viewer: &Viewer, decision: &Decision, kept: Kept) -> Vec<(&'static str, Markup)> {
    let lang = viewer.lang;
    let id = receipt_id(decision.id);
    let mut facts = vec![
        (
            lang.pick("Receipt", "回执"),
            html! { a href={ "#d" (id) } { (id) } },
        ),
        (
            lang.pick("Rule", "规则"),
            html! { code { (decision.rule.as_str()) } },
        ),
        (lang.pick("Kept", "是否遵守"), words::kept(lang, kept)),
        (lang.pick("Time", "时间"), viewer.at(decision.execute_at)),
    ];
    if let Some(old) = decision
        .old_execute_at
        .filter(|old| *old != decision.execute_at)
    {
        facts.push((lang.pick("Time before", "原时间"), viewer.at(old)));
    }
    facts.push((
        lang.pick("Decided", "决定于"),
        viewer.at(decision.decided_at),
    ));
    facts.push((lang.pick("Asked by", "请求者"), html! { (decision.origin) }));
    if decision.requested.is_some() {
        facts.push((
            lang.pick("Asked for", "请求内容"),
            story::requested(viewer, decision),
        ));
    }
    facts
}

fn equivalent(identity: &Identity) -> Equivalent {
    let words = [
        "task",
        "get",
        identity.kind.as_str(),
        identity.subject.as_str(),
    ];
    Equivalent::call("GET", api_path(identity)).cli(&words)
}

/// The happenings of one sort.
pub(super) fn decisions(story: &[Happening]) -> impl DoubleEndedIterator<Item = &Decision> {
    story.iter().filter_map(|happening| match happening {
        Happening::Decision(decision) => Some(decision),
        Happening::Attempt(_) => None,
    })
}

/// The happenings of the other.
pub(super) fn attempts_of(story: &[Happening]) -> impl DoubleEndedIterator<Item = &Attempt> {
    story.iter().filter_map(|happening| match happening {
        Happening::Attempt(attempt) => Some(attempt),
        Happening::Decision(_) => None,
    })
}
