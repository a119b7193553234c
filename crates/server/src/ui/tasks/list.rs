//! The list of tasks.
//!
//! One line per identity, newest first. Whatever the table holds, a page costs the same few reads: a page of lines, the counts
//! by status and the count of what matches, each among the newest [`AMONG`] rows, which the page says aloud.

use std::collections::BTreeSet;

use almanack_core::store::{StatusCount, TaskLine};
use almanack_core::task::Status;

use super::filter::Filter;
use super::{AMONG, about, bulk, link, words};
use crate::ui::prelude::*;

/// Tasks on a page.
pub(crate) const PAGE: usize = 50;
/// Characters of an answer that a line shows.
const SAID_CHARS: usize = 80;

/// What the list is asked for.
#[derive(Debug, Deserialize)]
pub(crate) struct Query {
    #[serde(flatten)]
    filter: Filter,
    before: Option<String>,
    #[serde(flatten)]
    done: bulk::Done,
}

/// What was found.
struct Found {
    lines: Vec<TaskLine>,
    next: Option<i64>,
    statuses: Vec<StatusCount>,
    matching: u64,
}

/// The list.
pub(crate) async fn show(
    State(state): App,
    viewer: Viewer,
    Sought(query): Sought<Query>,
) -> Answer {
    let lang = viewer.lang;
    let title = Place::Tasks.name(lang);
    let before = query.before.as_deref().map(str::parse).transpose();
    let before = before.ok().flatten();
    let search = match query.filter.search(before, PAGE + 1) {
        Ok(search) => search,
        Err(problem) => {
            let wrong = html! { p class="wrong" role="alert" { (lang.english(&problem.detail)) } };
            let body = html! { (form(&query.filter, &[], lang)) (parts::live("list", &wrong)) };
            let page = page(&viewer, Place::Tasks, title, &body);
            return Ok(told(&viewer, StatusCode::UNPROCESSABLE_ENTITY, page));
        }
    };
    let mut lines = state.store.search_tasks(&search).await?;
    let more = lines.len() > PAGE;
    lines.truncate(PAGE);
    let found = Found {
        next: lines.last().filter(|_| more).map(|line| line.id.0),
        lines,
        statuses: state.store.count_statuses(AMONG).await?,
        matching: state.store.count_found(&search).await?,
    };
    let body = body(&viewer, &query, before, &found);
    Ok(page(&viewer, Place::Tasks, title, &body).into_response())
}

fn body(viewer: &Viewer, query: &Query, before: Option<i64>, found: &Found) -> Markup {
    let (lang, filter) = (viewer.lang, &query.filter);
    let first = before.map(|_| filter.address(Place::Tasks.path(), &[]));
    let next = found.next.map(|next| next.to_string());
    let next = next.map(|next| filter.address(Place::Tasks.path(), &[("before", &next)]));
    let list = html! {
        (said_aloud(lang, filter, found))
        (table(viewer, filter, found))
        (parts::pager(lang, first.as_deref(), next.as_deref()))
    };
    html! {
        (bulk::notice(viewer, &query.done))
        @if viewer.may(Scope::Operate) {
            p { a class="button" href="/ui/tasks/new" { (lang.pick("New task", "新建任务")) } }
        }
        (form(filter, &found.lines, lang))
        (parts::live("statuses", &statuses(lang, filter, &found.statuses)))
        (parts::live("list", &list))
        (equivalent(filter).show(viewer))
    }
}

fn form(filter: &Filter, lines: &[TaskLine], lang: Lang) -> Markup {
    let kinds: BTreeSet<&str> = lines
        .iter()
        .map(|line| line.identity.kind.as_str())
        .collect();
    html! {
        form method="get" action=(Place::Tasks.path()) class="fields" role="search" data-try {
            label class="wide" { (lang.pick("Subject contains", "主题包含"))
                input type="search" name="q" value=[filter.q.as_deref()] data-search autocomplete="off" spellcheck="false";
            }
            label { (lang.pick("Kind", "类型"))
                input name="kind" list="kinds" value=[filter.kind.as_deref()] autocomplete="off" spellcheck="false";
            }
            datalist id="kinds" { @for kind in kinds { option value=(kind) {} } }
            label { (lang.pick("Status", "状态"))
                select name="status" {
                    option value="" selected[filter.is_for(None)] { (lang.pick("any", "不限")) }
                    @for status in Status::ALL {
                        option value=(status.as_str()) selected[filter.is_for(Some(status))] { (words::status(lang, status)) }
                    }
                }
            }
            label { (lang.pick("Last answer contains", "最近结果包含"))
                input name="said" value=[filter.said.as_deref()] autocomplete="off";
            }
            button type="submit" { (lang.pick("Show", "查看")) }
            @if !filter.is_empty() { a class="button" href=(Place::Tasks.path()) { (lang.pick("Show all", "查看全部")) } }
        }
    }
}

/// The statuses with their counts; each leads to its tasks.
fn statuses(lang: Lang, filter: &Filter, counts: &[StatusCount]) -> Markup {
    let count = |status| {
        let found = counts.iter().find(|count| count.status == status);
        found.map_or(0, |count| count.tasks)
    };
    let all: u64 = counts.iter().map(|count| count.tasks).sum();
    let number = |status: Option<Status>, n: u64, name: &str| {
        let shown = Filter::default().with_status(status);
        let path = shown.address(Place::Tasks.path(), &[]);
        html! {
            li { a href=(path) aria-current=[(*filter == shown).then_some("true")] { b { (n) } (name) } }
        }
    };
    html! {
        ul class="numbers" {
            (number(None, all, lang.pick("all", "全部")))
            @for status in Status::ALL { (number(Some(status), count(status), words::status(lang, status))) }
        }
    }
}

/// How many match, and among how many was looked.
fn said_aloud(lang: Lang, filter: &Filter, found: &Found) -> Markup {
    let n = found.matching;
    let told = match (filter.is_empty(), n) {
        (true, _) => say!(lang; "{n} tasks, newest first.",
            "共 {n} 个任务，最新的在前。"),
        (false, 1) => say!(lang, "1 task matches.", "1 个任务符合条件。"),
        (false, n) => say!(lang; "{n} tasks match, newest first.",
            "{n} 个任务符合条件，最新的在前。"),
    };
    html! {
        p { (told) " "
            span class="hint" { (lang.pick("The newest 50,000 are searched and counted.", "只在最新的 50,000 个任务中查找和计数。")) }
        }
    }
}

fn table(viewer: &Viewer, filter: &Filter, found: &Found) -> Markup {
    let lang = viewer.lang;
    if found.lines.is_empty() {
        return parts::empty(lang.pick("No task matches.", "没有符合条件的任务。"));
    }
    let may = viewer.may(Scope::Operate);
    let mut head = vec![
        lang.pick("Subject", "主题"),
        lang.pick("Kind", "类型"),
        lang.pick("Status", "状态"),
        lang.pick("Time", "时间"),
        lang.pick("Attempts", "尝试"),
        lang.pick("Last answer", "最近结果"),
        lang.pick("Asked by", "请求者"),
    ];
    if may {
        head.insert(0, lang.pick("Choose", "选择"));
    }
    let rows = html! { @for line in &found.lines { (row(viewer, filter, line, may)) } };
    let table = parts::table(lang.pick("Tasks", "任务"), &head, &rows);
    html! {
        @if may { (bulk::offer(viewer, filter, found.matching, &table)) } @else { (table) }
    }
}

fn row(viewer: &Viewer, filter: &Filter, line: &TaskLine, may: bool) -> Markup {
    let (lang, identity) = (viewer.lang, &line.identity);
    let of_kind = Filter {
        kind: Some(identity.kind.to_string()),
        ..filter.clone()
    };
    let at = match line.status {
        Status::Init | Status::Fail if line.due_at.is_some() => line.due_at,
        Status::Running => line.started_at,
        _ => line.finished_at,
    };
    let subject = &identity.subject;
    html! {
        tr id={ "t" (line.id) } data-row {
            @if may {
                td class="narrow" {
                    input type="checkbox" name="id" value=(line.id) aria-label=(say!(lang, "Choose {subject}", "选择 {subject}"));
                }
            }
            th scope="row" class="subject" { (link(identity))
                @if let Some(page) = about(identity) { " " a class="hint" href=(page) { (lang.pick("what for", "所属")) } }
            }
            td class="narrow" { a href=(of_kind.address(Place::Tasks.path(), &[])) { (identity.kind) } }
            td { (parts::status(lang, line.status, line.is_live())) }
            td { (viewer.at(at.unwrap_or(line.execute_at))) }
            td class="narrow" { (parts::attempts(line.attempt, line.max_retry)) }
            td class="said" { (said(line.detail.as_deref())) }
            td { a href=(address(Place::Activity.path(), [("by", &*line.origin)])) { (line.origin) } }
        }
    }
}

/// What an attempt said, cut short; the whole stands on the task's page.
fn said(detail: Option<&str>) -> Markup {
    let Some(detail) = detail else {
        return html! { span class="none" { "–" } };
    };
    let mut chars = detail.chars();
    let short: String = chars.by_ref().take(SAID_CHARS).collect();
    let rest = chars.next().is_some();
    html! { span title=[rest.then_some(detail)] { (short) @if rest { "…" } } }
}

/// The API looks for subjects by how they begin, so what is searched inside of them is left out.
fn equivalent(filter: &Filter) -> Equivalent {
    let known = Filter {
        q: None,
        said: None,
        ..filter.clone()
    };
    let mut words = vec!["task", "list"];
    let pairs = known.pairs();
    let flags = [("kind", "--kind"), ("status", "--status")];
    for (name, value) in &pairs {
        let flag = flags.iter().find(|(known, _)| known == name);
        words.extend(flag.map(|(_, flag)| *flag));
        words.push(value);
    }
    Equivalent::call("GET", known.address("/api/v1/tasks", &[])).cli(&words)
}
