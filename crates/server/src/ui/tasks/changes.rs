//! Bulk changes that were requested by command or API: what they do, and how far they got.

use almanack_core::bulk::{Action, Bulk, Skip, State as BulkState};

use crate::ui::prelude::*;

pub(crate) const PATH: &str = "/ui/tasks/changes";
/// The newest so many are shown; the API has all.
const SHOWN: usize = 100;

pub(crate) async fn show(State(state): App, viewer: Viewer) -> Page {
    let lang = viewer.lang;
    let found = state.store.list_bulks(None, SHOWN).await?;
    let body = html! {
        (live("changes", &table(&viewer, &found.rows)))
        (Equivalent::call("GET", "/api/v1/bulk").cli(["task", "bulk", "list"]).show(&viewer))
    };
    let title = lang.pick("Bulk changes", "批量更改");
    Ok(page(&viewer, Place::Tasks, title, &body))
}

fn table(viewer: &Viewer, bulks: &[Bulk]) -> Markup {
    let lang = viewer.lang;
    table! { lang; "Bulk changes", "批量更改";
        or "No bulk changes.", "没有批量更改。";
        for (bulk in bulks) tr(data-row)
        "Number", "编号" { th scope="row" { (bulk.id) } }
        "State", "状态" { td { (state_of(lang, bulk.state)) } }
        "Action", "操作" { td { (action(viewer, bulk)) } }
        "Changed", "已更改" { td { (bulk.changed) } }
        "Matched", "符合条件" { td { (bulk.matched) } }
        "Skipped", "已跳过" { td { (skipped(lang, bulk)) } }
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
fn skipped(lang: Lang, bulk: &Bulk) -> String {
    let parts = bulk.skipped.iter();
    let parts = parts.map(|(skip, count)| format!("{count} {}", reason(lang, *skip)));
    let parts: Vec<String> = parts.collect();
    parts.join(lang.pick(", ", "，"))
}

fn reason(lang: Lang, skip: Skip) -> &'static str {
    words! { lang, skip;
        Skip::Replaced => "replaced", "已被取代";
        Skip::Reserved => "of Almanack itself", "属于 Almanack 自身";
        Skip::Ended => "ended", "已结束";
        Skip::Running => "running", "运行中";
        Skip::Waiting => "waiting", "等待";
        Skip::Expired => "would expire", "届时将过期";
        Skip::Unchanged => "unchanged", "未变化";
        Skip::Changed => "changed meanwhile", "其间已变化";
    }
}
