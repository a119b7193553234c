//! One task: its status, timeline, actions and receipts.

use almanack_core::history::{self, Decision, Kept};
use almanack_core::{reserved::is_reserved, store::HistoryPage, task::why::Why};
use almanack_engine::kinds;

use super::{about, change, command, filter::Filter, of_kind, origin, payload, story, undo, words};
use crate::call::At;
use crate::receipts::{parse_receipt_id, receipt_id};
use crate::tasks::{find_current, nothing_there, parse_history_cursor};
use crate::ui::kinds::held_up;
use crate::ui::prelude::*;

#[derive(Debug, Deserialize)]
pub(crate) struct Query {
    /// A receipt to show.
    receipt: Option<String>,
    /// Cursor of an earlier page of the history.
    before: Option<String>,
    /// A time to resolve.
    at: Option<String>,
    zone: Option<String>,
}

pub(crate) async fn show(At(identity): At, Sought(state, viewer, query): Sought<Query>) -> Page {
    let before = query.before.as_deref().map(parse_history_cursor);
    let (before, limit) = (before.transpose()?, story::SHOWN);
    let page_of = HistoryPage { before, limit };
    let records = state.store.load_history(&identity, page_of).await?;
    let last = records.tasks.last().map(|task| task.id);
    let task = shown(&state, &identity, last).await?;
    let label = match &query.receipt {
        Some(id) => Some(receipt(&state, &viewer, &identity, id).await?),
        None => None,
    };
    let story = history::page(records, before, story::SHOWN);
    let known = state.rescheduler.kinds();
    let why = kinds::why_of(&*state.store, &known, &task, viewer.now).await?;
    let body = html! {
        @if let Some(label) = label { (label) }
        (parts::live("now", &now(&viewer, &task, &why)))
        (parts::live("acts", &change::acts(&viewer, &task)))
        @if viewer.may(Scope::Operate) && !is_reserved(&identity.kind) { (changing(&viewer, &task, &query)) }
        (parts::live("life", &story::show(&viewer, &task, &story)))
        (parts::section("payload-title", viewer.lang.pick("Payload", "载荷"), &payload::show(viewer.lang, task.payload.as_str())))
        (command("get", "GET", &identity, "").show(&viewer))
    };
    let title = format!("{} · {}", identity.subject, identity.kind);
    Ok(page(&viewer, Place::Tasks, &title, &body))
}

/// The identity's current row, or its latest.
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

fn now(viewer: &Viewer, task: &Task, why: &Why) -> Markup {
    let (when, when_zh) = match (task.due_at, task.is_live()) {
        (Some(_), _) => ("Next attempt", "下次尝试"),
        (None, true) => ("Was due", "应开始于"),
        (None, false) => ("Scheduled for", "原定时间"),
    };
    let lease = task
        .lease_until
        .filter(|_| task.due_at.is_none() && task.is_live());
    let is_firing = links::fired_schedule(&task.identity).is_some();
    facts! { viewer.lang;
        "Status", "状态" { (status(viewer.lang, task.status, task.is_live())) }
        "Held up", "未能开始" if (let Some(reason) = held_up(viewer, why)) { (reason) }
        when, when_zh { (viewer.at(task.due_at.unwrap_or(task.execute_at))) }
        "Attempts", "尝试" { a href="#attempts" { (parts::attempts(task.attempt, task.max_retry)) } }
        "Kind", "类型" { (of_kind(&task.identity.kind, &Filter::default())) }
        "Requested by", "请求者" { (origin(&task.origin)) }
        "Created", "创建于" { (viewer.at(task.created_at)) }
        "Priority", "优先级" { (task.priority.level()) }
        "Last result", "最近结果" if (let Some(detail) = &task.detail) { (detail) }
        "Node", "节点" if (let Some(node) = &task.node) { a href=(Place::Nodes.path()) { (node) } }
        "Lease expires", "租约到期" if (let Some(until) = lease) { (viewer.at(until)) }
        "Last started", "最近开始" if (let Some(at) = task.started_at) { (viewer.at(at)) }
        "Last ended", "最近结束" if (let Some(at) = task.finished_at) { (viewer.at(at)) }
        "Expires", "过期时间" if (let Some(at) = task.expiry.at) { (viewer.at(at)) }
        "Tags", "标签" if (!task.tags.is_empty()) { (task.tags.as_text()) }
        "Callback URL", "回调网址" if (let Some(url) = &task.callback_url) { code { (url) } }
        "Callback", "回调方式" if (let Some(how) = called(viewer.lang, task)) { (how) }
        "Revision", "修订" if (task.revision.0 > 0) { (task.revision.0) }
        "Log", "日志" if (is_firing && viewer.may(Scope::Operate)) {
            a href=(links::run_log(task.id)) { (viewer.lang.pick("What it printed", "输出内容")) }
        }
        "Belongs to", "所属" if (let Some(page) = about(&task.identity)) {
            a href=(page) { (task.identity.subject) }
        }
    }
}

/// How the callback is made, where the task says so: method, timeout, and names of headers. A value
/// may say where a secret is kept.
fn called(lang: Lang, task: &Task) -> Option<String> {
    let options = task.call_options.as_deref()?;
    let method = options.method.map(|method| method.as_str().to_owned());
    let timeout = options.timeout_s;
    let timeout = timeout.map(|s| say!(lang, "timeout {s} s", "超时 {s} 秒"));
    let headers = options.headers.as_ref().filter(|it| !it.is_empty());
    let headers = headers.map(|headers| {
        let names: Vec<&str> = headers.keys().map(String::as_str).collect();
        let names = names.join(", ");
        say!(lang, "headers {names}", "请求头 {names}")
    });
    let parts: Vec<String> = [method, timeout, headers].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(lang.pick(", ", "，")))
}

fn changing(viewer: &Viewer, task: &Task, query: &Query) -> Markup {
    let shown = task.due_at.unwrap_or(viewer.now).max(viewer.now);
    let own = moment::write(shown, &viewer.zone);
    let typed = change::Typed {
        clock: query.at.as_deref().unwrap_or(&own),
        zone: query.zone.as_deref().unwrap_or(viewer.zone_name()),
        old: task.due_at,
    };
    change::section(viewer, &task.identity, &typed, query.at.is_some())
}

/// A receipt of this task, and what came of it.
async fn receipt(state: &AppState, viewer: &Viewer, identity: &Identity, text: &str) -> Page {
    let found = match parse_receipt_id(text) {
        Some(id) => state.rescheduler.verify(id).await?,
        None => None,
    };
    let found = found.filter(|(row, ..)| row.identity == *identity);
    let Some((row, decision, kept)) = found else {
        let none = pick!(viewer.lang; "No such receipt for this task.", "该任务没有这张回执。");
        return Ok(wrong(none));
    };
    Ok(notice(&html! {
        p { strong { (words::rule(viewer.lang, decision.rule)) } }
        @if let Some(undo) = undo::offer(viewer, (&row, &decision, kept)) { (undo) }
        (kept_facts(viewer, &decision, kept))
        (Equivalent::call("GET", format!("/api/v1/receipts/{}", receipt_id(decision.id))).show(viewer))
    }))
}

fn kept_facts(viewer: &Viewer, decision: &Decision, kept: Kept) -> Markup {
    let (lang, id) = (viewer.lang, receipt_id(decision.id));
    let before = decision
        .old_execute_at
        .filter(|old| *old != decision.execute_at);
    facts! { lang;
        "Receipt", "回执" { a href={ "#d" (id) } { (id) } }
        "Rule", "规则" { code { (decision.rule.as_str()) } }
        "Outcome", "结果" { (words::kept(lang, kept)) }
        "Time", "时间" { (viewer.at(decision.execute_at)) }
        "Time before", "原时间" if (let Some(old) = before) { (viewer.at(old)) }
        "Decided", "决定于" { (viewer.at(decision.decided_at)) }
        "Requested by", "请求者" { (decision.origin) }
        "Request", "请求内容" if (decision.requested.is_some()) { (story::requested(viewer, decision)) }
    }
}
