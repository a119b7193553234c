//! Today: the timeline of the day, what needs attention, what is running, what is next.
//!
//! [`day`] reads the day, [`lanes`] turns it into marks and [`wants`] into items that need
//! attention; both are pure. Every read is bounded: on a busy node the timeline shows the newest
//! events and says so.

mod day;
mod lanes;
mod wants;

use almanack_core::reserved::is_internal;
use almanack_core::store::StatusCount;

use self::day::Day;
use crate::picture::ribbon;
use crate::ui::prelude::*;

#[derive(Debug, Deserialize)]
pub(crate) struct Query {
    /// Whether internal tasks are among those that are next.
    internal: Option<String>,
}

pub(crate) async fn show(Sought(state, viewer, query): Sought<Query>) -> Page {
    let day = Day::load(&state, viewer.now).await?;
    let lang = viewer.lang;
    let running = running(&viewer, &day.running, &day.sources);
    let internal = query.internal.is_some();
    let next = upcoming(&viewer, &day, internal);
    let body = html! {
        @if day.is_empty() { (start(&viewer)) }
        section class="plain" aria-labelledby="tasks" {
            h2 id="tasks" class="unseen" { (lang.pick("Tasks", "任务")) }
            (live("numbers", &numbers(lang, &day.statuses)))
        }
        (section("wants-title", lang.pick("Needs attention", "需要处理"), &live("wants", &wants::show(&viewer, &day))))
        (section("day", lang.pick("Timeline", "时间线"), &live("ribbon", &ribbon(&viewer, &day))))
        div class="columns" {
            (section("next-title", lang.pick("Next", "接下来"), &live("next", &next)))
            (section("running-title", lang.pick("Running", "正在运行"), &live("running", &running)))
        }
    };
    Ok(Place::Today.page(&viewer, &body))
}

/// On a node that knows nothing yet: what to begin with.
fn start(viewer: &Viewer) -> Markup {
    let lang = viewer.lang;
    let ways = [
        (
            "/ui/tasks/new",
            lang.pick("New task", "新建任务"),
            pick!(lang;
            "call a service at a time, and reschedule until the last second", "在指定时间调用服务，直到最后一秒都可以改期"),
        ),
        (
            "/ui/schedules/new",
            lang.pick("New schedule", "新建日程"),
            pick!(lang;
            "fire at every time of a cron expression", "在 cron 表达式的每个时间触发"),
        ),
        (
            "/ui/schedules/new?target=ping",
            lang.pick("New monitor", "新建监控"),
            pick!(lang;
            "be alerted when a job elsewhere does not run", "在别处的作业没有运行时收到告警"),
        ),
        (
            "/ui/sources/add",
            lang.pick("Add a source", "添加信源"),
            pick!(lang;
            "follow a feed or a page", "跟踪订阅源或网页"),
        ),
    ];
    let may = viewer.may(Scope::Operate);
    let begin = html! {
        @if may { ul { @for (href, title, what) in ways { li { a href=(href) { (title) } ": " (what) } } } }
        (Equivalent::command(["demo"]).show(viewer))
    };
    parts::first(
        viewer,
        pick!(lang;
        "This node knows no task, schedule or source yet. Begin with one, or try everything on simulated services with the command below.",
        "该节点还没有任务、日程或信源。可以从其中一项开始，或用下面的命令在模拟服务上体验全部功能。"),
        &begin,
    )
}

/// Task counts by status; what else is counted on this page is said beside them.
fn numbers(lang: Lang, statuses: &[StatusCount]) -> Markup {
    html! {
        ul class="numbers" {
            @for of in Status::ALL {
                @let tasks = parts::count(statuses, of);
                // Colours are for what there is.
                li { a href=(links::tasks_in(of)) class=[(tasks == 0).then_some("zero")] { b { (tasks) } (status(lang, of, false)) } }
            }
        }
        p class="hint" {
            (pick!(lang; "Your tasks, each counted once. The timeline counts every run, check, batch and delivery of its 24 hours.",
                "您的任务，每个只计一次。时间线统计这 24 小时内的每次运行、检查、批次和投递。"))
        }
    }
}

fn ribbon(viewer: &Viewer, day: &Day) -> Markup {
    let ribbon = ribbon::Ribbon {
        from: day.from,
        until: day.until,
        now: day.now,
        lanes: &lanes::of(viewer, day),
    };
    let caption = pick!(viewer.lang; "Last 12 hours and next 12 hours", "过去与未来各 12 小时");
    html! {
        (ribbon::draw(&ribbon, &viewer.frame("today", caption)))
        @for text in day.cut(viewer.lang) { p class="hint" { (text) } }
        p { a href=(super::radar::PATH) { (viewer.lang.pick("Radar: load of the next 24 hours", "负载雷达：未来 24 小时")) } }
    }
}

fn running(viewer: &Viewer, tasks: &[TaskLine], sources: &[Source]) -> Markup {
    table! { viewer.lang; "Running", "正在运行"; or "No running tasks.", "没有正在运行的任务。";
        for (task in tasks) tr(id={ "run-" (task.id) } data-row)
        "Task", "任务" { th scope="row" { (what(task, sources)) } }
        "Attempt", "尝试" { td { (parts::attempts(task.attempt, task.max_retry)) } }
        "Since", "开始于" { td { (viewer.at_or_dash(task.started_at)) } }
        "Node", "节点" { td { (task.node.as_deref().unwrap_or("–")) } }
    }
}

/// A task by its subject: a check by the source's name, a firing by its schedule's.
fn what(task: &TaskLine, sources: &[Source]) -> Markup {
    let checked = SourceId::of(&task.identity);
    let source = checked.and_then(|id| sources.iter().find(|source| source.id == id));
    let (href, name) = match (source, links::fired_schedule(&task.identity)) {
        (Some(source), _) => (links::source(source.id), source.definition.name.as_str()),
        (None, Some(name)) => (task_path(&task.identity), name),
        (None, None) => return links::task(&task.identity),
    };
    html! { a href=(href) data-open { (name) } " " small class="hint" { (task.identity.kind) } }
}

/// Most tasks in the next list; the timeline shows more.
const NEXT_MAX: usize = 10;

fn upcoming(viewer: &Viewer, day: &Day, internal: bool) -> Markup {
    let shown = |task: &&TaskLine| internal || !is_internal(&task.identity.kind);
    let turned = if internal { "/ui" } else { "/ui?internal=1" };
    let table = table! { viewer.lang; "Next", "接下来";
        or "No tasks in the next hours.", "未来几小时没有任务。";
        for (task in day.upcoming.iter().filter(shown).take(NEXT_MAX)) tr(id={ "next-" (task.id) } data-row)
        "Task", "任务" { th scope="row" { (what(task, &day.sources)) } }
        "Due", "到期" { td { (viewer.at_or_dash(task.due_at)) } }
        "Requested by", "请求者" { td { (task.origin) } }
    };
    html! { (table) p { (parts::internal(viewer.lang, internal, turned)) } }
}
