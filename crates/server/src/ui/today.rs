//! Today: a day at a glance. What ran, what runs and what will, as a ribbon; what needs a person; what runs now.
//!
//! The day is read by [`day`], turned into marks by [`lanes`] and into wishes by [`wants`]; both are pure. Every read is bounded:
//! on a busy node the ribbon shows the newest of what happened and says so.

mod day;
mod lanes;
mod wants;

use std::sync::Arc;

use almanack_core::{
    source::{Source, SourceId},
    store::{StatusCount, TaskLine},
    task::Status,
};
use axum::extract::State;
use maud::{Markup, html};

use self::day::Day;
use super::{
    lang::Lang,
    links,
    page::{Place, page},
    parts,
    viewer::Viewer,
};
use crate::{
    AppState,
    picture::{figure::Frame, ribbon},
    problem::Problem,
};

/// The first page.
pub(crate) async fn show(
    State(state): State<Arc<AppState>>,
    viewer: Viewer,
) -> Result<Markup, Problem> {
    let day = Day::load(&state, viewer.now).await?;
    let lang = viewer.lang;
    let body = html! {
        (parts::live("numbers", &numbers(lang, &day.statuses)))
        (parts::section("day", lang.pick("The day", "一天"), &parts::live("ribbon", &ribbon(&viewer, &day))))
        (parts::section("wants-title", lang.pick("Needs a person", "需要处理"),
            &parts::live("wants", &wants::show(&viewer, &day))))
        (parts::section("running-title", lang.pick("Runs now", "正在运行"),
            &parts::live("running", &running(&viewer, &day.running, &day.sources))))
        (parts::section("next-title", lang.pick("Comes next", "接下来"),
            &parts::live("next", &upcoming(&viewer, &day.upcoming, &day.sources))))
    };
    Ok(page(&viewer, Place::Today, Place::Today.name(lang), &body))
}

/// How many tasks stand where.
fn numbers(lang: Lang, statuses: &[StatusCount]) -> Markup {
    let count = |status| {
        let found = statuses.iter().find(|count| count.status == status);
        found.map_or(0, |count| count.tasks)
    };
    html! {
        ul class="numbers" {
            @for status in Status::ALL {
                li { a href=(links::tasks_in(status)) {
                    b { (count(status)) }
                    (parts::status(lang, status, false))
                } }
            }
        }
    }
}

fn ribbon(viewer: &Viewer, day: &Day) -> Markup {
    let lang = viewer.lang;
    let lanes = lanes::of(viewer, day);
    let ribbon = ribbon::Ribbon {
        from: day.from,
        until: day.until,
        now: day.now,
        lanes: &lanes,
    };
    let frame = Frame {
        id: "today",
        caption: lang.pick("Twelve hours back, twelve ahead", "过去与未来各十二小时"),
        lang,
        zone: &viewer.zone,
    };
    html! {
        (ribbon::draw(&ribbon, &frame))
        @for told in day.cut(lang) { p class="hint" { (told) } }
    }
}

fn running(viewer: &Viewer, tasks: &[TaskLine], sources: &[Source]) -> Markup {
    let lang = viewer.lang;
    if tasks.is_empty() {
        return parts::empty(lang.pick("Nothing.", "无。"));
    }
    let head = [
        lang.pick("Task", "任务"),
        lang.pick("Attempt", "尝试"),
        lang.pick("Since", "开始于"),
        lang.pick("Node", "节点"),
    ];
    let rows = html! {
        @for task in tasks {
            tr id={ "run-" (task.id) } data-row {
                th scope="row" { (what(task, sources)) }
                td { (parts::attempts(task.attempt, task.max_retry)) }
                td { (viewer.at_or_dash(task.started_at)) }
                td { (task.node.as_deref().unwrap_or("–")) }
            }
        }
    };
    parts::table(lang.pick("Runs now", "正在运行"), &head, &rows)
}

/// A task by what it is about: a look at a source by the source's name, a firing by its schedule's.
fn what(task: &TaskLine, sources: &[Source]) -> Markup {
    let checked = SourceId::of(&task.identity);
    let source = checked.and_then(|id| sources.iter().find(|source| source.id == id));
    let fired = links::fired_schedule(&task.identity);
    html! {
        @if let Some(source) = source {
            a href=(links::source(source.id)) data-open { (source.definition.name) }
            " " small class="hint" { (task.identity.kind) }
        } @else if let Some(name) = fired {
            a href=(links::task_path(&task.identity)) data-open { (name) }
            " " small class="hint" { (task.identity.kind) }
        } @else {
            (links::task(&task.identity))
        }
    }
}

/// Most tasks that come next in the list; the ribbon shows more.
const NEXT_MAX: usize = 10;

fn upcoming(viewer: &Viewer, tasks: &[TaskLine], sources: &[Source]) -> Markup {
    let lang = viewer.lang;
    if tasks.is_empty() {
        return parts::empty(
            lang.pick("Nothing waits for the next hours.", "未来几小时没有任务。"),
        );
    }
    let head = [
        lang.pick("Task", "任务"),
        lang.pick("Due", "到期"),
        lang.pick("Asked for by", "发起者"),
    ];
    let rows = html! {
        @for task in tasks.iter().take(NEXT_MAX) {
            tr id={ "next-" (task.id) } data-row {
                th scope="row" { (what(task, sources)) }
                td { (viewer.at_or_dash(task.due_at)) }
                td { (task.origin) }
            }
        }
    };
    parts::table(lang.pick("Comes next", "接下来"), &head, &rows)
}
