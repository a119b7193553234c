//! All schedules, by name: what each means, when it fires next, and how the last sixty slots went.

use almanack_core::plan::{Definition, Origin, Ready, Schedule};

use super::runs::{self, Run, Spread, interval};
use super::search::{PAGE, SEARCHED_MAX, search};
use super::times::in_both;
use super::{path, pictures, ready, told};
use crate::schedules::ListQuery;
use crate::ui::prelude::*;

/// Which schedules to list.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Query {
    /// A part of the name, the expression, the zone or the target.
    q: Option<String>,
    state: Option<String>,
    origin: Option<String>,
    cursor: Option<String>,
    did: Option<String>,
}

/// One line of the list.
struct Line {
    schedule: Schedule,
    ready: Option<Ready>,
    next_at: Option<Timestamp>,
}

/// The page.
pub(crate) async fn show(
    State(state): App,
    viewer: Viewer,
    Sought(query): Sought<Query>,
) -> Result<Markup> {
    let filter = ListQuery {
        origin: query.origin.clone(),
        state: query.state.clone(),
        removed: false,
        limit: Some(PAGE),
        cursor: query.cursor.clone(),
    }
    .into_filter()?;
    let (found, more) = search(&state, filter, query.q.as_deref()).await?;
    let lines: Vec<Line> = found.into_iter().map(|it| line(&state, it)).collect();
    let asked: Vec<_> = lines
        .iter()
        .map(|it| (&it.schedule, it.ready.as_ref()))
        .collect();
    let histories = runs::load(&state, &asked).await?;
    let lang = viewer.lang;
    let body = html! {
        @if query.did.as_deref() == Some("removed") {
            (notice(&html! { (lang.pick("The schedule was removed. Its history stays.", "日程已移除，历史记录仍保留。")) }))
        }
        (ways(&viewer))
        (filters(&viewer, &query))
        (live("schedules", &html! {
            @if lines.is_empty() { (nothing(lang, &query)) }
            @else { (rows(&viewer, &lines, &histories)) }
        }))
        (pages(lang, &query, more.as_deref()))
        (equivalent(&query).show(&viewer))
    };
    Ok(page(
        &viewer,
        Place::Schedules,
        Place::Schedules.name(lang),
        &body,
    ))
}

fn line(state: &AppState, schedule: Schedule) -> Line {
    Line {
        ready: ready(state, &schedule).ok(),
        next_at: state.schedules.next_firing(&schedule),
        schedule,
    }
}

fn ways(viewer: &Viewer) -> Markup {
    let lang = viewer.lang;
    html! {
        p class="acts" {
            @if viewer.may(Scope::Operate) {
                a class="button" href="/ui/schedules/new" { (lang.pick("New schedule", "新建日程")) }
            }
            a class="button" href="/ui/schedules/try" { (lang.pick("Try an expression", "试写表达式")) }
        }
    }
}

fn filters(viewer: &Viewer, query: &Query) -> Markup {
    let lang = viewer.lang;
    let state = query.state.as_deref().unwrap_or_default();
    let origin = query.origin.as_deref().unwrap_or_default();
    html! {
        form class="fields" method="get" action="/ui/schedules" role="search" {
            label class="wide" { (lang.pick("Search", "搜索"))
                input type="search" name="q" value=[query.q.as_deref()] data-search
                    placeholder=(lang.pick("name, expression, zone, target", "名称、表达式、时区、目标"));
            }
            label { (lang.pick("State", "状态"))
                select name="state" {
                    option value="" { (lang.pick("all but removed", "未移除的")) }
                    @for name in ["active", "paused", "parked", "removed"] {
                        option value=(name) selected[name == state] { (told::state_name(lang, name)) }
                    }
                }
            }
            label { (lang.pick("Belongs to", "来源"))
                select name="origin" {
                    option value="" { (lang.pick("anybody", "全部")) }
                    @for of in Origin::ALL {
                        option value=(of.as_str()) selected[of.as_str() == origin] { (told::origin(lang, of)) }
                    }
                }
            }
            button type="submit" { (lang.pick("Filter", "筛选")) }
        }
    }
}

fn nothing(lang: Lang, query: &Query) -> Markup {
    if query.q.is_some() || query.state.is_some() || query.origin.is_some() {
        return html! {
            (empty(lang.pick("No schedule fits.", "没有符合条件的日程。")))
            p { a href="/ui/schedules" { (lang.pick("Show all schedules", "显示全部日程")) } }
        };
    }
    empty(pick!(lang;
        "There are no schedules yet. Add one here, in the configuration file or by the API.",
        "还没有日程。可以在这里、配置文件或通过 API 添加。"))
}

fn rows(viewer: &Viewer, lines: &[Line], histories: &[Vec<Run>]) -> Markup {
    let lang = viewer.lang;
    let head = [
        lang.pick("Name", "名称"),
        lang.pick("State", "状态"),
        lang.pick("When", "时间规则"),
        lang.pick("Next", "下次"),
        lang.pick("Last 60 slots", "最近 60 个时点"),
        lang.pick("p50 / p95", "p50 / p95"),
        lang.pick("Belongs to", "来源"),
    ];
    let rows = html! {
        @for (line, runs) in lines.iter().zip(histories) { (row(viewer, line, runs)) }
    };
    table(lang.pick("Schedules", "日程"), &head, &rows)
}

fn row(viewer: &Viewer, line: &Line, runs: &[Run]) -> Markup {
    let (lang, schedule) = (viewer.lang, &line.schedule);
    let href = path(&schedule.name);
    html! {
        tr data-row {
            th scope="row" { a href=(href) data-open { (schedule.name) } }
            td class="state" { (told::state_in_brief(viewer, &schedule.state)) }
            td class="words" { (meaning(viewer, line)) }
            td {
                @match (line.next_at, &line.ready) {
                    (Some(at), Some(ready)) => (in_both(viewer, at, ready.zone().time_zone())),
                    _ => span class="none" { "–" },
                }
            }
            td {
                @if runs.is_empty() { span class="none" { (lang.pick("none yet", "尚无")) } }
                @else { a href={ (href) "#runs" } { (pictures::strip(viewer, &schedule.name, runs)) } }
            }
            td class="narrow" { (lengths(viewer, line, runs)) }
            td { (told::origin(lang, schedule.origin)) }
        }
    }
}

fn meaning(viewer: &Viewer, line: &Line) -> Markup {
    let lang = viewer.lang;
    let definition = Definition::from_json(&line.schedule.definition).ok();
    html! {
        @if let Some(ready) = &line.ready { div { (ready.describe(told::language(lang))) } }
        @if let Some(definition) = definition {
            div { code { (definition.expression) } " " span class="hint" { (definition.tz) } }
            div class="hint" { (told::target(lang, &definition.target)) }
        }
    }
}

/// How late and how long, against the interval; each leads to the firings behind it.
fn lengths(viewer: &Viewer, line: &Line, runs: &[Run]) -> Markup {
    let lang = viewer.lang;
    let href = format!("{}#runs", path(&line.schedule.name));
    let late = Spread::of(runs.iter().filter_map(|run| run.late));
    let took = Spread::of(runs.iter().filter_map(|run| run.took));
    let interval = line
        .ready
        .as_ref()
        .and_then(|ready| interval(ready, viewer.now));
    let told = [
        (lang.pick("late", "延迟"), late),
        (lang.pick("took", "耗时"), took),
    ];
    html! {
        @for (word, spread) in told {
            @if let Some(Spread { half, most }) = spread {
                div { (word) " " a href=(href) { (length(lang, half)) " / " (length(lang, most)) } }
            }
        }
        @if let Some(interval) = interval.map(|interval| length(lang, interval)) {
            div class="hint" { (say!(lang, "every {interval}", "间隔 {interval}")) }
        }
    }
}

/// The same list from another place.
fn pages(lang: Lang, query: &Query, more: Option<&str>) -> Markup {
    let link = |cursor: Option<&str>| {
        let pairs = [
            ("q", query.q.as_deref()),
            ("state", query.state.as_deref()),
            ("origin", query.origin.as_deref()),
            ("cursor", cursor),
        ];
        let given = pairs
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        address("/ui/schedules", given)
    };
    html! {
        @if query.cursor.is_some() || more.is_some() {
            nav class="pager" aria-label=(lang.pick("Pages of schedules", "日程分页")) {
                @if query.cursor.is_some() { a href=(link(None)) { (lang.pick("First page", "第一页")) } }
                @if let Some(more) = more { a href=(link(Some(more))) rel="next" { (lang.pick("Next page", "下一页")) } }
            }
        }
        @if query.q.is_some() && more.is_some() {
            p class="hint" { (say!(lang;
                "A search looks at up to {SEARCHED_MAX} schedules for a page; the next page goes on from there.",
                "每页最多搜索 {SEARCHED_MAX} 个日程；下一页从那里继续。")) }
        }
    }
}

fn equivalent(query: &Query) -> Equivalent {
    let narrowed = [
        ("--state", "state", query.state.as_deref()),
        ("--origin", "origin", query.origin.as_deref()),
    ];
    let given = || {
        narrowed
            .into_iter()
            .filter_map(|(flag, name, value)| Some((flag, name, value?)))
    };
    let flags = given().flat_map(|(flag, _, value)| [flag, value]);
    let words: Vec<&str> = ["schedule", "list"].into_iter().chain(flags).collect();
    let pairs = given().map(|(_, name, value)| (name, value));
    Equivalent::call("GET", address("/api/v1/schedules", pairs)).cli(&words)
}
