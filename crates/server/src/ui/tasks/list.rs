//! The list of tasks.
//!
//! One line per identity, newest first. Whatever the table contains, a page costs the same few
//! reads: a page of lines, the counts by status and the count of matches, each among the newest
//! [`AMONG`] rows, which the page states.

use std::collections::BTreeSet;

use almanack_core::store::{StatusCount, TaskFilter};
use almanack_core::text::shorten;

use super::{
    AMONG, about, bulk, create, filter::Filter, filter::words_of, link, of_kind, origin, words,
};
use crate::ui::prelude::*;

/// Tasks on a page.
pub(crate) const PAGE: usize = 50;
/// Characters of a result shown in a line.
const SAID_CHARS: usize = 80;

#[derive(Debug, Deserialize)]
pub(crate) struct Query {
    #[serde(flatten)]
    filter: Filter,
    before: Option<String>,
}

struct Found {
    lines: Vec<TaskLine>,
    next: Option<i64>,
    statuses: Vec<StatusCount>,
    matching: u64,
    search: TaskFilter,
}

pub(crate) async fn show(Sought(state, viewer, query): Sought<Query>) -> Answer {
    let before: Option<i64> = query.before.as_deref().and_then(|it| it.parse().ok());
    let search = match query.filter.wanted(viewer.zone_name()) {
        Ok(wanted) => TaskFilter {
            before: before.map(TaskId),
            among: Some(AMONG),
            limit: PAGE + 1,
            ..wanted
        },
        Err(problem) => {
            let list = live("list", &refused(viewer.lang, &problem));
            let body = html! { (form(&query.filter, &[], viewer.lang)) (list) };
            return Ok(again(Place::Tasks.page(&viewer, &body)));
        }
    };
    let kinds = query.filter.widest().kinds();
    let store = &state.store;
    let (mut lines, statuses) = tokio::try_join!(
        store.search_tasks(&search),
        store.count_statuses(AMONG, kinds)
    )?;
    let more = paging::cut(&mut lines, PAGE);
    let next = lines.last().filter(|_| more).map(|line| line.id.0);
    let matching = match counted(&query.filter, &statuses, &lines, before.or(next)) {
        Some(matching) => matching,
        None => state.store.count_found(&search).await?,
    };
    let found = Found {
        lines,
        next,
        statuses,
        matching,
        search,
    };
    let body = body(&viewer, &query, before, &found);
    Ok(Place::Tasks.page(&viewer, &body).into_response())
}

/// How many match, where that is known without another walk: of statuses, which were counted, and
/// of what fits on one page.
fn counted(
    filter: &Filter,
    statuses: &[StatusCount],
    lines: &[TaskLine],
    beyond: Option<i64>,
) -> Option<u64> {
    if filter.with_status(None).is_empty() {
        let asked = statuses
            .iter()
            .filter(|it| filter.is_for(None) || filter.is_for(Some(it.status)));
        return Some(asked.map(|it| it.tasks).sum());
    }
    beyond.is_none().then_some(lines.len() as u64)
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
    let may = viewer.may(Scope::Operate);
    html! {
        @if found.statuses.is_empty() && filter.is_empty() {
            (parts::first(viewer, pick!(lang;
                "A task calls your service at a time, tries again if that fails, and can be rescheduled until the last second.",
                "任务在指定时间调用您的服务，失败后自动重试，直到最后一秒都可以改期。"),
                &html! { @if may { (create::first(viewer)) } }))
        } @else {
            @if may { p class="acts lead" { a class="button primary" href="/ui/tasks/new" { (lang.pick("New task", "新建任务")) } } }
            (form(filter, &found.lines, lang))
        }
        (parts::live("statuses", &statuses(lang, filter, &found.statuses)))
        (parts::live("list", &list))
        (equivalent(&found.search).show(viewer))
    }
}

fn form(filter: &Filter, lines: &[TaskLine], lang: Lang) -> Markup {
    let kinds = lines.iter().map(|line| line.identity.kind.as_str());
    let kinds: BTreeSet<&str> = kinds.collect();
    let here = Place::Tasks.path();
    let statuses = Status::ALL.map(|status| (status.as_str(), words::status(lang, status)));
    let any = [("", lang.pick("any", "不限"))];
    let mut all = Status::ALL.into_iter();
    let chosen = all.find(|status| filter.is_for(Some(*status)));
    html! {
        form method="get" action=(here) class="fields" role="search" data-try {
            (Field::search("q", lang.pick("Subject contains", "主题包含"), filter.q.as_deref()))
            (Field::text("kind", lang.pick("Kind", "类型"), filter.kind.as_deref()).list("kinds"))
            datalist id="kinds" { @for kind in kinds { option value=(kind) {} } }
            (choice("status", lang.pick("Status", "状态"), chosen.map(Status::as_str), any.into_iter().chain(statuses)))
            details class="more" open[filter.asks_more()] {
                summary { (lang.pick("More filters", "更多筛选")) }
                div class="fields" {
                    (Field::text("said", lang.pick("Last result contains", "最近结果包含"), filter.said.as_deref()))
                    (Field::text("tag", lang.pick("Tag", "标签"), filter.tag.as_deref()))
                    (Field::clock("from", lang.pick("Time from", "时间从"), filter.from.as_deref()))
                    (Field::clock("until", lang.pick("Time before", "时间早于"), filter.until.as_deref()))
                }
            }
            @if let Some(on) = &filter.internal { input type="hidden" name="internal" value=(on); }
            button type="submit" { (lang.pick("Show", "查看")) }
            @if !filter.is_empty() { a class="button" href=(here) { (lang.pick("Show all", "查看全部")) } }
        }
    }
}

/// The statuses with their counts, linked to their tasks.
fn statuses(lang: Lang, filter: &Filter, counts: &[StatusCount]) -> Markup {
    let all: u64 = counts.iter().map(|count| count.tasks).sum();
    let number = |status: Option<Status>, n: u64, name: &str| {
        let shown = filter.widest().with_status(status);
        let path = shown.address(Place::Tasks.path(), &[]);
        html! {
            li { a href=(path) aria-current=[(*filter == shown).then_some("true")] { b { (n) } (name) } }
        }
    };
    html! {
        ul class="numbers" {
            (number(None, all, lang.pick("all", "全部")))
            @for status in Status::ALL {
                (number(Some(status), parts::count(counts, status), words::status(lang, status)))
            }
        }
    }
}

/// The number of matches, and how many rows were searched.
fn said_aloud(lang: Lang, filter: &Filter, found: &Found) -> Markup {
    let n = found.matching;
    let sentence = match (filter.is_empty(), n) {
        (true, _) => say!(lang; "{n} tasks, newest first.", "共 {n} 个任务，最新的在前。"),
        (false, 1) => say!(lang; "1 task matches.", "1 个任务符合条件。"),
        (false, n) => say!(lang; "{n} tasks match, newest first.",
            "{n} 个任务符合条件，最新的在前。"),
    };
    html! {
        p { (sentence) " "
            span class="hint" { (pick!(lang; "Searches and counts the newest 50,000, internal tasks included.",
                "只在最新的 50,000 个任务（含内部任务）中查找和计数。")) }
            @if filter.kind.is_none() {
                " " (parts::internal(lang, filter.internal.is_some(), &filter.turned().address(Place::Tasks.path(), &[])))
            }
        }
    }
}

fn table(viewer: &Viewer, filter: &Filter, found: &Found) -> Markup {
    let rows = rows(viewer, filter, &found.lines);
    if found.lines.is_empty() || !viewer.may(Scope::Operate) {
        return rows;
    }
    bulk::offer(viewer, filter, &rows)
}

/// The lines; the first column is for users who may select some.
fn rows(viewer: &Viewer, filter: &Filter, lines: &[TaskLine]) -> Markup {
    let lang = viewer.lang;
    let may = viewer.may(Scope::Operate);
    let at = |line: &TaskLine| match line.status {
        Status::Init | Status::Fail if line.due_at.is_some() => line.due_at,
        Status::Running => line.started_at,
        _ => line.finished_at,
    };
    table! { lang; "Tasks", "任务"; or "No task matches.", "没有符合条件的任务。";
        for (line in lines) tr(id={ "t" (line.id) } data-row)
        "Select", "选择" if (may) { td class="narrow" { (choose(lang, line)) } }
        "Subject", "主题" {
            th scope="row" class="subject" { (link(&line.identity))
                @if let Some(page) = about(&line.identity) {
                    " " a class="hint" href=(page) { (lang.pick("for", "所属")) }
                }
            }
        }
        "Kind", "类型" { td class="narrow" { (of_kind(&line.identity.kind, filter)) } }
        "Status", "状态" { td { (status(lang, line.status, line.is_live())) } }
        "Time", "时间" { td class="when" { (viewer.at(at(line).unwrap_or(line.execute_at))) } }
        "Attempts", "尝试" [mid] { td class="narrow" { (parts::attempts(line.attempt, line.max_retry)) } }
        "Last result", "最近结果" [mid] { td class="said" { (or_dash(line.detail.as_deref().map(said))) } }
        "Requested by", "请求者" [wide] { td { (origin(&line.origin)) } }
    }
}

fn choose(lang: Lang, line: &TaskLine) -> Markup {
    let subject = &line.identity.subject;
    let label = say!(lang, "Select {subject}", "选择 {subject}");
    html! { input type="checkbox" name="id" value=(line.id) aria-label=(label); }
}

/// A shortened result; the task's page shows all of it.
fn said(detail: &str) -> Markup {
    let short = shorten(detail, SAID_CHARS);
    html! { span title=[(short != detail).then_some(detail)] { (short) } }
}

fn equivalent(search: &TaskFilter) -> Equivalent {
    let (flags, query) = words_of(search);
    let words = ["task", "list"].map(str::to_owned).into_iter().chain(flags);
    Equivalent::call("GET", address("/api/v1/tasks", query)).cli(words)
}
