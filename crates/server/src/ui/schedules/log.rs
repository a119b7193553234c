//! The log of a run: what a firing's attempts printed, live while they run.
//!
//! What a program printed is foreign text twice: maud escapes its markup, and what a terminal would
//! obey is taken out ([`harmless`]).

use almanack_core::run_log::{LoggedAttempt, harmless};
use almanack_core::task::Term;

use crate::run_logs::{FiringId, RunLogView, latest, load};
use crate::schedules::Named;
use crate::ui::prelude::*;

/// Bytes on a page: the end of the log, unless another part is asked for.
const SHOWN: u64 = 64 * 1024;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Query {
    /// The attempt; the latest if none is given.
    term: Option<i64>,
    /// Where to begin; the end is shown if nothing is given.
    offset: Option<u64>,
}

pub(crate) async fn show(
    FiringId(id): FiringId,
    Sought(state, viewer, query): Sought<Query>,
) -> Page {
    render(&state, &viewer, id, &query).await
}

/// The latest firing's.
pub(crate) async fn show_latest(
    Named(name): Named,
    Sought(state, viewer, query): Sought<Query>,
) -> Page {
    let id = latest(&state, &name).await?;
    render(&state, &viewer, id, &query).await
}

async fn render(state: &AppState, viewer: &Viewer, id: TaskId, query: &Query) -> Page {
    viewer.must(Scope::Operate, "the log of a run, which may hold secrets,")?;
    let (term, bytes) = (query.term.map(Term), usize::try_from(SHOWN).unwrap_or(0));
    let from = query.offset.unwrap_or(0);
    let mut log = load(&*state.store, id, term, (from, bytes)).await?;
    let end = attempt(&log).map_or(0, |it| it.printed_bytes);
    if query.offset.is_none() && end > SHOWN {
        log = load(&*state.store, id, log.term, (end - SHOWN, bytes)).await?;
    }
    let (name, slot) = (log.schedule.as_str(), log.slot_at.to_string());
    let title = say!(viewer.lang, "Log of {name}, {slot}", "{name} {slot} 的日志");
    let call = Equivalent::call("GET", format!("/api/v1/firings/{id}/log"));
    let body = html! {
        (live("run", &about(viewer, &log)))
        (live("log", &text(viewer, &log, query.offset)))
        (call.cli(["schedule", "log", name, &slot]).show(viewer))
    };
    Ok(page(viewer, Place::Schedules, &title, &body))
}

/// The attempt that is shown.
fn attempt(log: &RunLogView) -> Option<&LoggedAttempt> {
    log.attempts.iter().find(|it| Some(it.term) == log.term)
}

fn about(viewer: &Viewer, log: &RunLogView) -> Markup {
    let lang = viewer.lang;
    let schedule = ScheduleName::parse(&log.schedule).ok();
    let task = Identity::parse(&log.subject, almanack_core::plan::DISPATCH).ok();
    let known = facts! { lang;
        "Schedule", "日程" if (let Some(name) = &schedule) { a href=(super::path(name)) { (name) } }
        "Slot", "时点" { (viewer.at(log.slot_at)) " " (super::words::by_hand(lang, log.trigger)) }
        "Status", "状态" { (status(lang, log.status, log.live)) }
        "Firing", "触发" if (let Some(task) = &task) { a href=(task_path(task)) { (task.subject) } }
        "Its task", "所建任务" if (let Some(work) = &log.work) { (links::task(work)) }
    };
    html! { (known) (attempts(viewer, log)) }
}

fn attempts(viewer: &Viewer, log: &RunLogView) -> Markup {
    let lang = viewer.lang;
    let here = links::run_log(log.task_id);
    let rows = table! { lang; "Attempts", "各次尝试";
        or "No attempt yet.", "尚未尝试。";
        for (it in &log.attempts) tr()
        "Attempt", "尝试" {
            td {
                @let number = it.attempt.map_or_else(|| "?".to_owned(), |number| number.to_string());
                @if Some(it.term) == log.term { strong { (number) } }
                @else { a href=(address(&here, [("term", it.term.0.to_string())])) { (number) } }
            }
        }
        "Started", "开始" { td { (or_dash(it.started_at.map(|at| viewer.at(at)))) } }
        "Ended", "结束" { td { (or_dash(it.finished_at.map(|at| viewer.at(at)))) } }
        "Node", "节点" { td { (or_dash(it.node.as_ref().map(|node| html! { (node) }))) } }
        "Result", "结果" {
            td { (or_dash(it.ending.as_ref().map(|ending| english(lang, ending)))) }
        }
        "Printed", "输出" { td { (bytes(lang, it.printed_bytes)) } }
    };
    section! { lang; "attempts", "Attempts", "各次尝试"; (rows) }
}

fn bytes(lang: Lang, bytes: u64) -> String {
    say!(lang, "{bytes} bytes", "{bytes} 字节")
}

fn text(viewer: &Viewer, log: &RunLogView, asked: Option<u64>) -> Markup {
    let lang = viewer.lang;
    let part = &log.part;
    let shown = harmless(&part.text);
    // A part that begins somewhere in the middle begins with a part of a line.
    let from_middle = part.offset > 0 && part.left_out == 0 && asked.is_none();
    let shown = match shown.split_once('\n') {
        Some((_, rest)) if from_middle => rest,
        _ => shown.as_str(),
    };
    let ending = attempt(log).and_then(|it| it.ending.as_deref());
    section! { lang; "output", "Output", "输出";
        (pages(lang, log))
        @if part.left_out > 0 {
            @let missing = bytes(lang, part.left_out);
            (notice(&html! { (say!(lang, "{missing} are left out here: the log is longer than its limit, or older than is kept.", "此处省略 {missing}：日志超过上限，或已过保留期。")) }))
        }
        @if shown.is_empty() {
            p class="hint" { (nothing(lang, log)) }
        } @else {
            pre class="log" { (shown) }
        }
        @if let (true, Some(ending)) = (log.ended, ending) { p { (english(lang, ending)) } }
    }
}

fn nothing(lang: Lang, log: &RunLogView) -> &'static str {
    match (&log.work, log.live) {
        (Some(_), _) => {
            pick!(lang; "This firing created a task; see its history.", "此次触发创建了一个任务；详见其历史。")
        }
        (None, true) => pick!(lang; "Nothing printed yet.", "尚无输出。"),
        (None, false) => {
            pick!(lang; "Nothing was printed, or it is no longer kept.", "没有输出，或已不再保留。")
        }
    }
}

/// Links to the other parts of a long log.
fn pages(lang: Lang, log: &RunLogView) -> Markup {
    let (part, here) = (&log.part, links::run_log(log.task_id));
    let end = attempt(log).map_or(0, |it| it.printed_bytes);
    let Some(term) = log
        .term
        .filter(|_| part.offset > 0 || part.next_offset < end)
    else {
        return html! {};
    };
    let at = |offset: u64| {
        let pairs = [("term", term.0.to_string()), ("offset", offset.to_string())];
        address(&here, pairs)
    };
    html! { nav class="pager" aria-label=(lang.pick("Parts of the log", "日志各部分")) {
        @if part.offset > 0 {
            a href=(at(0)) { (lang.pick("Beginning", "开头")) } " "
            a href=(at(part.offset.saturating_sub(SHOWN))) { (lang.pick("Earlier", "更早")) } " "
        }
        @if part.next_offset < end {
            a href=(at(part.next_offset)) { (lang.pick("Later", "更晚")) } " "
            a href=(address(&here, [("term", term.0.to_string())])) { (lang.pick("End", "末尾")) }
        }
    } }
}
