//! One schedule: what it means, what it will do, what it did, and what can be done with it.

use almanack_core::plan::{Definition, Edit, Ready, Schedule, State as Standing, changed_keys};

use super::policy::policies;
use super::runs::{self, Run, interval};
use super::{acts, ledger, path, pictures, ready, task_path, times, told, why};
use crate::schedules::{Named, find};
use crate::ui::prelude::*;

/// How many coming times are told.
const TIMES: usize = 50;
/// How many edits are told.
const EDITS: usize = 50;

/// What a page of a schedule is asked for.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Query {
    /// Where in the ledger.
    before: Option<String>,
    /// What was done just now.
    did: Option<String>,
    #[serde(flatten)]
    why: why::Query,
}

/// The page.
pub(crate) async fn show(
    State(state): App,
    Named(name): Named,
    viewer: Viewer,
    Sought(query): Sought<Query>,
) -> Result<Markup> {
    let schedule = find(&state, &name).await?;
    let ready = ready(&state, &schedule).ok();
    let runs = runs::load(&state, &[(&schedule, ready.as_ref())]).await?;
    let runs = runs.into_iter().next().unwrap_or_default();
    let ledger = ledger::show(&state, &viewer, &schedule, query.before.as_deref()).await?;
    let why = why::show(&state, &viewer, &schedule, &query.why).await?;
    let edits = state.store.load_edits(schedule.id, EDITS).await?;
    let lang = viewer.lang;
    let body = html! {
        @if let Some(told) = query.did.as_deref().and_then(|did| done(lang, did)) { (notice(&html! { (told) })) }
        (live("schedule", &about(&state, &viewer, &schedule, ready.as_ref())))
        (acts::offered(&viewer, &schedule))
        (live("runs", &what_it_did(&viewer, ready.as_ref(), &runs)))
        (live("times", &coming(&state, &viewer, &schedule, ready.as_ref())))
        (why)
        (live("slots", &ledger))
        (rules(lang, &schedule))
        (live("edits", &history(&viewer, &edits)))
        (equivalent(&schedule).show(&viewer))
    };
    Ok(page(
        &viewer,
        Place::Schedules,
        schedule.name.as_str(),
        &body,
    ))
}

/// What was done, by its code in the address.
fn done(lang: Lang, did: &str) -> Option<&'static str> {
    Some(match did {
        "created" => lang.pick("The schedule was created.", "日程已创建。"),
        "changed" => lang.pick("The schedule was changed.", "日程已修改。"),
        "unchanged" => pick!(lang; "It already was so; nothing was changed.",
            "内容相同，未作更改。"),
        "paused" => lang.pick("The schedule is paused.", "日程已暂停。"),
        "resumed" => lang.pick("The schedule was resumed.", "日程已恢复。"),
        "fired" => pick!(lang; "It was fired; its newest firing is told below.",
            "已触发；最近一次触发见下。"),
        "backfilled" => pick!(lang; "The slots that had not fired fire now, one after the other.",
            "未触发过的时点正在依次触发。"),
        _ => return None,
    })
}

fn about(state: &AppState, viewer: &Viewer, schedule: &Schedule, ready: Option<&Ready>) -> Markup {
    let lang = viewer.lang;
    let definition = Definition::from_json(&schedule.definition).ok();
    let next_at = state.schedules.next_firing(schedule);
    let mut told = vec![(
        lang.pick("State", "状态"),
        told::state_in_full(viewer, &schedule.state),
    )];
    if let Some(definition) = &definition {
        told.push((
            lang.pick("When", "时间规则"),
            meaning(lang, definition, ready),
        ));
        let target = told::target(lang, &definition.target);
        told.push((lang.pick("Fires at", "目标"), target));
    }
    let next = html! {
        @match (next_at, ready) {
            (Some(at), Some(ready)) => (times::in_both(viewer, at, ready.zone().time_zone())),
            _ => (lang.pick("It will not fire.", "不会触发。")),
        }
        @if let Some(since) = schedule.waits_since {
            div { (lang.pick("waits for the firing before it since ", "等待上一次触发结束，始于 ")) (viewer.at(since)) }
        }
    };
    told.push((lang.pick("Next", "下次"), next));
    if let Some(interval) = ready.and_then(|ready| interval(ready, viewer.now)) {
        told.push((
            lang.pick("Interval", "间隔"),
            html! { (length(lang, interval)) },
        ));
    }
    if let Some(firing) = schedule.last_firing() {
        let link = html! { a href=(task_path(&firing)) { (firing.subject) } };
        told.push((lang.pick("Newest firing", "最近一次触发"), link));
    }
    told.push((
        lang.pick("Belongs to", "来源"),
        html! { (told::origin(lang, schedule.origin)) },
    ));
    let revision = schedule.revision;
    let changed = html! {
        (viewer.at(schedule.changed_at)) " "
        a href="#history" { (say!(lang, "(revision {revision})", "（修订 {revision}）")) }
    };
    told.push((lang.pick("Last changed", "最近修改"), changed));
    html! { (facts(&told)) @if let Some(ready) = ready { (times::warnings(viewer, ready)) } }
}

fn meaning(lang: Lang, definition: &Definition, ready: Option<&Ready>) -> Markup {
    let (expression, tz) = (definition.expression.as_str(), definition.tz.as_str());
    let pairs = [("expression", expression), ("tz", tz)];
    html! {
        @if let Some(ready) = ready { div { strong { (ready.describe(told::language(lang))) } } }
        div { code { (expression) } " " (tz) " "
            a href=(crate::ui::query::address("/ui/schedules/try", pairs)) { (lang.pick("Try it", "试写")) }
        }
    }
}

fn coming(state: &AppState, viewer: &Viewer, schedule: &Schedule, ready: Option<&Ready>) -> Markup {
    let lang = viewer.lang;
    let title = say!(lang, "Next {TIMES} times", "接下来 {TIMES} 次");
    let Some(ready) = ready else {
        return html! {};
    };
    let next = times::coming(ready, state.schedules.next_firing(schedule), TIMES);
    let table = times::times(viewer, ready, &next, &title);
    section("next", &title, &html! { div class="tall" { (table) } })
}

fn what_it_did(viewer: &Viewer, ready: Option<&Ready>, runs: &[Run]) -> Markup {
    let lang = viewer.lang;
    let interval = ready.and_then(|ready| interval(ready, viewer.now));
    let body = html! {
        (pictures::strip_in_full(viewer, runs))
        (pictures::against(viewer, runs, interval))
    };
    section("last-runs", lang.pick("Last runs", "最近运行"), &body)
}

fn rules(lang: Lang, schedule: &Schedule) -> Markup {
    let Ok(definition) = Definition::from_json(&schedule.definition) else {
        return html! {};
    };
    let told = policies(lang, &definition);
    let told: Vec<(&str, Markup)> = told
        .into_iter()
        .map(|(name, sentence)| (name, html! { (sentence) }))
        .collect();
    section(
        "policies",
        lang.pick("When things do not go as planned", "未按计划进行时"),
        &facts(&told),
    )
}

/// What people did to it, newest first, with what each changed.
fn history(viewer: &Viewer, edits: &[Edit]) -> Markup {
    let lang = viewer.lang;
    let head = [
        lang.pick("When", "时间"),
        lang.pick("What", "操作"),
        lang.pick("Who", "操作人"),
        lang.pick("Revision", "修订"),
    ];
    let earlier = std::iter::once(None).chain(edits.iter().map(Some));
    let mut pairs: Vec<_> = edits.iter().zip(earlier).collect();
    pairs.reverse();
    let rows = html! {
        @for (edit, before) in pairs {
            tr {
                td { (viewer.at(edit.at)) }
                td {
                    (told::edited(lang, edit.edited))
                    @if let Some(keys) = before.and_then(|before| differing(before, edit)) { ": " code { (keys) } }
                    @if let Some(note) = &edit.note { div class="hint" { "“" (note) "”" } }
                }
                td { (edit.by) }
                td { (edit.revision) }
            }
        }
    };
    let title = lang.pick("What people did to it", "操作历史");
    section("history", title, &table(title, &head, &rows))
}

fn differing(before: &Edit, after: &Edit) -> Option<String> {
    let old = Definition::from_json(&before.definition).ok()?;
    let new = Definition::from_json(&after.definition).ok()?;
    let keys = changed_keys(&old, &new);
    (!keys.is_empty()).then(|| keys.join(", "))
}

fn equivalent(schedule: &Schedule) -> Equivalent {
    let call = super::api(&schedule.name, &format!("?next={TIMES}"));
    Equivalent::call("GET", call).cli(&["schedule", "show", schedule.name.as_str()])
}

/// Whether something can still be done with it.
pub(crate) fn is_there(schedule: &Schedule) -> bool {
    !matches!(schedule.state, Standing::Removed { .. })
}

/// Whether this reader may do something with it.
pub(crate) fn may_act(viewer: &Viewer, schedule: &Schedule) -> bool {
    viewer.may(Scope::Operate) && is_there(schedule)
}

/// The way back to a schedule from a page about it.
pub(crate) fn way_back(lang: Lang, schedule: &Schedule) -> Markup {
    let name = &schedule.name;
    html! { p { a href=(path(name)) { (say!(lang, "Back to {name}", "返回 {name}")) } } }
}
