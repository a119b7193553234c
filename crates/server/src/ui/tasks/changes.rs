//! Bulk changes, however they were requested: what they do, how far they got, and an end to them.

use std::collections::BTreeMap;

use almanack_core::bulk::{Action, Bulk, BulkId, Skip, State as BulkState};

use super::filter::words_of;
use crate::bulk::{Numbered, bulks};
use crate::ui::prelude::*;

pub(crate) const PATH: &str = "/ui/tasks/changes";
/// The newest so many are shown; the API has all.
const SHOWN: usize = 100;

/// The page of one.
pub(crate) fn path(id: BulkId) -> String {
    format!("{PATH}/{id}")
}

pub(crate) async fn list(State(state): App, viewer: Viewer) -> Page {
    let lang = viewer.lang;
    let found = state.store.list_bulks(None, SHOWN).await?;
    let cancel = "task bulk cancel --kind MAIL_SEND --status FAIL --dry-run";
    let body = html! {
        @if found.rows.is_empty() {
            (parts::first(&viewer, pick!(lang;
                "A bulk change cancels, retries or reschedules every task that a filter finds, in the background. Its progress is shown here.",
                "批量更改在后台取消、重试或改期所有符合筛选条件的任务，进度显示在这里。"),
                &Equivalent::command(cancel.split(' ')).show(&viewer)))
        }
        (live("changes", &table(&viewer, &found.rows)))
        (Equivalent::call("GET", "/api/v1/bulk").cli(["task", "bulk", "list"]).show(&viewer))
    };
    let title = lang.pick("Bulk changes", "批量更改");
    Ok(page(&viewer, Place::Tasks, title, &body))
}

pub(crate) async fn show(State(state): App, viewer: Viewer, Numbered(id): Numbered) -> Page {
    let lang = viewer.lang;
    let bulk = state.store.load_bulk(id).await?;
    let bulk = bulk.ok_or(almanack_engine::bulk::Error::Unknown(id))?;
    let number = id.to_string();
    let body = html! {
        (live("change", &facts(&viewer, &bulk)))
        p { a class="button" href=(Place::Tasks.path()) { (lang.pick("Tasks", "任务")) }
            " " a class="button" href=(PATH) { (lang.pick("All bulk changes", "全部批量更改")) } }
        (Equivalent::call("GET", format!("/api/v1/bulk/{id}"))
            .cli(["task", "bulk", "show", &number]).show(&viewer))
    };
    let title = say!(lang, "Bulk change {id}", "批量更改 {id}");
    Ok(page(&viewer, Place::Tasks, &title, &body))
}

fn facts(viewer: &Viewer, bulk: &Bulk) -> Markup {
    let lang = viewer.lang;
    let runs = bulk.state == BulkState::Running;
    let stops = runs && viewer.may(Scope::Operate);
    html! {
        (facts! { lang;
            "State", "状态" { (state_of(lang, bulk.state))
                @if runs { " " (progress(lang, bulk)) } }
            "Action", "操作" { (action(viewer, bulk)) }
            "Tasks", "任务" { code { (words_of(&bulk.request.filter).0.join(" ")) } }
            "Changed", "已更改" { (bulk.changed) }
            "Matched", "符合条件" { (bulk.matched) }
            "Skipped", "已跳过" if (!bulk.skipped.is_empty()) { (skipped(lang, &bulk.skipped)) }
            "Requested by", "请求者" { (bulk.requested_by) ", " (viewer.at(bulk.created_at)) }
            "Ended", "结束于" if (bulk.ended_at.is_some()) { (viewer.at_or_dash(bulk.ended_at))
                @if let Some(by) = &bulk.cancelled_by { ", " (say!(lang, "stopped by {by}", "由 {by} 停止")) } }
        })
        @if stops {
            (button(viewer, &format!("{}/stop", path(bulk.id)), lang.pick("Stop: what is changed stays so", "停止：已更改的保持不变")))
        }
    }
}

/// How far the walk down the rows has come.
fn progress(lang: Lang, bulk: &Bulk) -> Markup {
    let all = bulk.through_task_id.0;
    let done = all.saturating_sub(bulk.before.0).max(0);
    html! { progress max=(all.max(1)) value=(done) aria-label=(lang.pick("Progress", "进度")) {} }
}

pub(crate) async fn stop(Numbered(id): Numbered, Filled(state, viewer, _): Filled) -> Answer {
    bulks(&state).cancel(id, &viewer.origin()).await?;
    Ok(see(&path(id)))
}

fn table(viewer: &Viewer, bulks: &[Bulk]) -> Markup {
    let lang = viewer.lang;
    table! { lang; "Bulk changes", "批量更改";
        or "No bulk changes.", "没有批量更改。";
        for (bulk in bulks) tr(data-row)
        "Number", "编号" { th scope="row" { a href=(path(bulk.id)) data-open { (bulk.id) } } }
        "State", "状态" { td { (state_of(lang, bulk.state)) } }
        "Action", "操作" { td { (action(viewer, bulk)) } }
        "Changed", "已更改" { td { (bulk.changed) } }
        "Matched", "符合条件" { td { (bulk.matched) } }
        "Skipped", "已跳过" { td { (skipped(lang, &bulk.skipped)) } }
        "Requested by", "请求者" { td { (bulk.requested_by) } }
        "Created", "创建于" { td { (viewer.at(bulk.created_at)) } }
        "Ended", "结束于" { td { (viewer.at_or_dash(bulk.ended_at)) } }
    }
}

fn state_of(lang: Lang, state: BulkState) -> Markup {
    match state {
        BulkState::Running => badge("running", lang.pick("Running", "运行中")),
        BulkState::Done => badge("done", lang.pick("Done", "成功")),
        BulkState::Cancelled => badge("cancelled", lang.pick("Cancelled", "已取消")),
    }
}

fn action(viewer: &Viewer, bulk: &Bulk) -> Markup {
    let (lang, request) = (viewer.lang, &bulk.request);
    html! {
        @match request.action {
            Action::Cancel => { (lang.pick("Cancel", "取消")) }
            Action::Retry => { (lang.pick("Retry now", "立即重试")) }
            Action::Move => { (lang.pick("Reschedule", "改期")) }
        }
        @if let Some(by) = request.by_s { " " (say!(lang, "by {by} s", "平移 {by} 秒")) }
        @if let Some(to) = request.to { " " (lang.pick("to ", "到 ")) (viewer.instant(to)) }
    }
}

/// How many were left as they are, by reason.
pub(super) fn skipped(lang: Lang, skipped: &BTreeMap<Skip, u64>) -> String {
    let parts = skipped.iter();
    let parts = parts.map(|(skip, count)| format!("{count} {}", reason(lang, *skip)));
    let parts: Vec<String> = parts.collect();
    parts.join(lang.pick(", ", "，"))
}

fn reason(lang: Lang, skip: Skip) -> &'static str {
    words! { lang, skip;
        Skip::Replaced => "replaced by newer ones", "已被更新的取代";
        Skip::Reserved => "of Almanack's own kinds", "属于 Almanack 自身的类型";
        Skip::Ended => "ended", "已结束";
        Skip::Running => "running", "运行中";
        Skip::Waiting => "waiting", "等待";
        Skip::Expired => "would expire by then", "届时将过期";
        Skip::Unchanged => "unchanged", "未变化";
        Skip::Changed => "changed meanwhile", "其间已变化";
    }
}
