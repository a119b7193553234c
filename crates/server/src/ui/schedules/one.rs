//! One schedule: its meaning, next times, history and actions.

use almanack_core::plan::{Definition, Edit, State as Standing, changed_keys};

use super::runs::{self, Run, interval};
use super::{acts, api, ledger, monitor, path, times, why, words};
use crate::schedules::{Named, find};
use crate::ui::prelude::*;

/// Next times shown.
const TIMES: usize = 50;
/// Changes shown.
const EDITS: usize = 50;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Query {
    /// Cursor of the ledger.
    before: Option<String>,
    /// Code of the last action.
    did: Option<String>,
    #[serde(flatten)]
    undo: crate::ui::undo::Given,
    #[serde(flatten)]
    why: why::Query,
}

pub(crate) async fn show(Named(name): Named, Sought(state, viewer, query): Sought<Query>) -> Page {
    let schedule = find(&state, &name).await?;
    let ready = state.schedules.ready(&schedule).ok();
    let runs = runs::load(&state, viewer.lang, &[(&schedule, ready.as_ref())]).await?;
    let runs = runs.into_iter().next().unwrap_or_default();
    let ledger = ledger::show(&state, &viewer, &schedule, query.before.as_deref()).await?;
    let why = why::show(&state, &viewer, &schedule, &query.why).await?;
    let monitor = monitor::show(&state, &viewer, &schedule).await?;
    let edits = state.store.load_edits(schedule.id, EDITS).await?;
    let title = schedule.name.as_str();
    let body = html! {
        @if let Some(text) = query.did.as_deref().and_then(|did| done(viewer.lang, did)) {
            (notice(&html! { (text) (crate::ui::undo::offer(&viewer, &query.undo, &path(&name))) }))
        }
        (live("schedule", &about(&state, &viewer, &schedule, ready.as_ref())))
        (monitor)
        (acts::offered(&viewer, &schedule))
        (live("runs", &what_it_did(&viewer, ready.as_ref(), &runs)))
        (live("times", &coming(&state, &viewer, &schedule, ready.as_ref())))
        (why)
        (live("slots", &ledger))
        @if let Ok(definition) = schedule.definition.read() {
            (section! { viewer.lang; "policies", "Policies", "策略"; (words::policies(viewer.lang, definition)) })
        }
        (live("edits", &history(&viewer, &edits)))
        (Equivalent::call("GET", api(&name, &format!("?next={TIMES}"))).cli(["schedule", "show", title]).show(&viewer))
    };
    Ok(page(&viewer, Place::Schedules, title, &body))
}

/// The result of an action, by its code in the address.
fn done(lang: Lang, did: &str) -> Option<&'static str> {
    words! { lang, did?;
        "created" => "Schedule created.", "日程已创建。";
        "changed" => "Schedule changed.", "日程已修改。";
        "unchanged" => "No change: already in that state.", "未作更改：已处于该状态。";
        "paused" => "Schedule paused.", "日程已暂停。";
        "resumed" => "Schedule resumed.", "日程已恢复。";
        "undone" => "Undone.", "已撤销。";
        "fired" => "Fired; see the latest firing below.", "已触发；最近一次触发见下。";
        "backfilled" => "Firing the missing slots one after the other.",
            "未触发过的时点正在依次触发。";
    }
}

fn about(state: &AppState, viewer: &Viewer, schedule: &Schedule, ready: Option<&Ready>) -> Markup {
    let (lang, revision) = (viewer.lang, schedule.revision);
    let definition = schedule.definition.read().ok();
    let next_at = state.schedules.next_firing(schedule);
    let interval = ready.and_then(|ready| interval(ready, viewer.now));
    let known = facts! { lang;
        "State", "状态" { (words::state_in_full(viewer, &schedule.state)) }
        "When", "时间规则" if (let Some(it) = definition) { (meaning(lang, it, ready)) }
        "Target", "目标" if (let Some(it) = definition) { (words::target(lang, &it.target)) }
        "Next", "下次" {
            @match (next_at, ready) {
                (Some(at), Some(ready)) => (times::in_both(viewer, at, ready.zone().time_zone())),
                _ => (lang.pick("No further firings.", "不会再触发。")),
            }
            @if let Some(since) = schedule.waits_since {
                div { (pick!(lang; "waiting for the previous firing since ", "正在等待上一次触发结束，始于 ")) (viewer.at(since)) }
            }
        }
        "Interval", "间隔" if (let Some(interval) = interval) { (length(lang, interval)) }
        "Latest firing", "最近一次触发" if (let Some(firing) = schedule.last_firing()) {
            a href=(task_path(&firing)) { (firing.subject) }
        }
        "Owner", "负责人" if (let Some(owner) = definition.and_then(|it| it.owner.as_deref())) {
            a href=(crate::ui::query::address("/ui/schedules", [("owner", owner)])) { (owner) }
        }
        "Tags", "标签" if (let Some(tags) = definition.map(|it| &it.tags).filter(|it| !it.is_empty())) {
            (words::tags(tags))
        }
        "Managed by", "管理方" { (words::origin(lang, schedule.origin)) }
        "Last changed", "最近修改" {
            (viewer.at(schedule.changed_at)) " "
            a href="#history" { (say!(lang, "(revision {revision})", "（修订 {revision}）")) }
        }
    };
    html! { (known) @if let Some(ready) = ready { (times::warnings(viewer, ready)) } }
}

fn meaning(lang: Lang, definition: &Definition, ready: Option<&Ready>) -> Markup {
    let (expression, tz) = (definition.expression.as_str(), definition.tz.as_str());
    let pairs = [("expression", expression), ("tz", tz)];
    html! {
        @if let Some(ready) = ready { div { strong { (ready.describe(lang)) } } }
        div { code { (expression) } " " (tz) " "
            a href=(crate::ui::query::address("/ui/schedules/try", pairs)) { (lang.pick("Try it", "试写")) }
        }
    }
}

fn coming(state: &AppState, viewer: &Viewer, schedule: &Schedule, ready: Option<&Ready>) -> Markup {
    let title = say!(viewer.lang, "Next {TIMES} times", "接下来 {TIMES} 次");
    let Some(ready) = ready else {
        return html! {};
    };
    let first = (state.schedules.next_firing(schedule), schedule.runs);
    let next = times::coming(ready, first, TIMES);
    let table = times::times(viewer, ready, &next, &title);
    section("next", &title, &html! { div class="tall" { (table) } })
}

fn what_it_did(viewer: &Viewer, ready: Option<&Ready>, runs: &[Run]) -> Markup {
    let interval = ready.and_then(|ready| interval(ready, viewer.now));
    section! { viewer.lang; "last-runs", "Last runs", "最近运行";
        (runs::strip_in_full(viewer, runs))
        (runs::against(viewer, runs, interval))
    }
}

/// The change history, newest first, with the differences.
fn history(viewer: &Viewer, edits: &[Edit]) -> Markup {
    let lang = viewer.lang;
    let earlier = std::iter::once(None).chain(edits.iter().map(Some));
    let mut pairs: Vec<_> = edits.iter().zip(earlier).collect();
    pairs.reverse();
    let rows = table! { lang; "Change history", "变更历史";
        for ((edit, before) in pairs) tr()
        "When", "时间" { td { (viewer.at(edit.at)) } }
        "What", "操作" {
            td {
                (words::edited(lang, edit.edited))
                @if let Some(keys) = before.and_then(|before| differing(before, edit)) { ": " code { (keys) } }
                (words::note(edit.note.as_deref()))
            }
        }
        "By", "操作人" { td { (edit.by) } }
        "Revision", "修订" { td { (edit.revision) } }
    };
    section! { lang; "history", "Change history", "变更历史"; (rows) }
}

fn differing(before: &Edit, after: &Edit) -> Option<String> {
    let keys = changed_keys(
        before.definition.read().ok()?,
        after.definition.read().ok()?,
    );
    (!keys.is_empty()).then(|| keys.join(", "))
}

/// Whether it can still be changed.
pub(crate) fn is_there(schedule: &Schedule) -> bool {
    !matches!(schedule.state, Standing::Removed { .. })
}

/// Whether this reader may change it.
pub(crate) fn may_act(viewer: &Viewer, schedule: &Schedule) -> bool {
    viewer.may(Scope::Operate) && is_there(schedule)
}

/// A link back to the schedule.
pub(crate) fn way_back(lang: Lang, schedule: &Schedule) -> Markup {
    let name = &schedule.name;
    html! { p { a href=(path(name)) { (say!(lang, "Back to {name}", "返回 {name}")) } } }
}
