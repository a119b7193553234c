//! All schedules by name: meaning, next firing, and the last sixty slots.

use almanack_core::plan::Origin;
use almanack_core::store::{EXAMINED_MAX, ScheduleFilter};

use super::runs::{self, Run, interval as interval_of, spread};
use super::{change, path, times::in_both, words};
use crate::ui::prelude::*;
use crate::{paging::cursor, schedules::ListQuery};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Query {
    /// A part of the name, the expression, the zone or the target.
    q: Option<String>,
    state: Option<String>,
    origin: Option<String>,
    tag: Option<String>,
    owner: Option<String>,
    cursor: Option<String>,
    did: Option<String>,
}

struct Line {
    schedule: Schedule,
    ready: Option<Ready>,
    next_at: Option<Timestamp>,
}

pub(crate) async fn show(Sought(state, viewer, query): Sought<Query>) -> Page {
    let lang = viewer.lang;
    let filter = ListQuery {
        origin: query.origin.clone(),
        state: query.state.clone(),
        removed: false,
        tag: filled(query.tag.as_deref()),
        owner: filled(query.owner.as_deref()),
        limit: Some(PAGE),
        cursor: query.cursor.clone(),
    };
    let (found, more) = search(&state, filter.into_filter()?, query.q.as_deref()).await?;
    state.schedules.refresh().await?;
    let calendars = super::calendars::section(&state, &viewer).await?;
    let line = |schedule: Schedule| Line {
        ready: state.schedules.ready(&schedule).ok(),
        next_at: state.schedules.next_firing(&schedule),
        schedule,
    };
    let lines: Vec<Line> = found.into_iter().map(line).collect();
    let asked = lines.iter().map(|it| (&it.schedule, it.ready.as_ref()));
    let histories = runs::load(&state, lang, &asked.collect::<Vec<_>>()).await?;
    let body = html! {
        @if query.did.as_deref() == Some("removed") {
            (notice(&html! { (pick!(lang; "Schedule removed. Its history is kept.", "日程已移除，历史记录会保留。")) }))
        }
        @let is_first = lines.is_empty() && !is_narrow(&query);
        p class="acts lead" {
            @if viewer.may(Scope::Operate) && !is_first {
                a class="button primary" href="/ui/schedules/new" { (lang.pick("New schedule", "新建日程")) }
            }
            a class="button" href="/ui/schedules/try" { (lang.pick("Try an expression", "试写表达式")) }
            a class="button" href="/ui/monitors" { (lang.pick("Monitors", "监控")) }
        }
        @if is_first {
            (parts::first(&viewer, pick!(lang;
                "A schedule fires at every time that its expression names: it calls a webhook, starts a workflow, runs a command or creates a task. It can also be written in the configuration file.",
                "日程在表达式指定的每个时间触发：调用 webhook、启动工作流、运行命令或创建任务。也可以写在配置文件里。"),
                &html! { @if viewer.may(Scope::Operate) { (change::first(&viewer, "webhook")) } }))
        } @else { (filters(lang, &query)) }
        (live("schedules", &html! {
            @if lines.is_empty() { (nothing(lang, &query)) }
            @else { (rows(&viewer, &lines, &histories)) }
        }))
        (pages(lang, &query, more.as_deref()))
        (calendars)
        (equivalent(&query).show(&viewer))
    };
    Ok(Place::Schedules.page(&viewer, &body))
}

fn filters(lang: Lang, query: &Query) -> Markup {
    let states = ["active", "paused", "parked", "done", "removed"];
    let states = states.map(|name| (name, words::state_name(lang, name)));
    let any_state = [("", lang.pick("all except removed", "全部（不含已移除）"))];
    let origins = Origin::ALL.map(|of| (of.as_str(), words::origin(lang, of)));
    let any_origin = [("", lang.pick("all", "全部"))];
    let example = lang.pick("name, expression, zone, target", "名称、表达式、时区、目标");
    html! {
        form class="fields" method="get" action="/ui/schedules" role="search" {
            (Field::search("q", lang.pick("Search", "搜索"), query.q.as_deref()).example(example))
            (choice("state", lang.pick("State", "状态"), query.state.as_deref(), any_state.into_iter().chain(states)))
            (choice("origin", lang.pick("Managed by", "管理方"), query.origin.as_deref(), any_origin.into_iter().chain(origins)))
            (Field::text("tag", lang.pick("Tag", "标签"), query.tag.as_deref()))
            (Field::text("owner", lang.pick("Owner", "负责人"), query.owner.as_deref()))
            button type="submit" { (lang.pick("Filter", "筛选")) }
        }
    }
}

/// A field of the form, unless it was left empty.
fn filled(text: Option<&str>) -> Option<String> {
    let text = text.map(str::trim);
    text.filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Whether anything narrows the list.
fn is_narrow(query: &Query) -> bool {
    let Query {
        q,
        state,
        origin,
        tag,
        owner,
        cursor,
        ..
    } = query;
    [q, state, origin, tag, owner, cursor]
        .iter()
        .any(|it| it.is_some())
}

fn nothing(lang: Lang, query: &Query) -> Markup {
    if is_narrow(query) {
        return html! {
            (empty(lang.pick("No schedule matches.", "没有符合条件的日程。")))
            p { a href="/ui/schedules" { (lang.pick("Show all schedules", "显示全部日程")) } }
        };
    }
    empty(lang.pick("No schedules yet.", "还没有日程。"))
}

fn rows(viewer: &Viewer, lines: &[Line], histories: &[Vec<Run>]) -> Markup {
    let lang = viewer.lang;
    let next = |line: &Line| {
        let zone = line.ready.as_ref()?.zone().time_zone();
        Some(in_both(viewer, line.next_at?, zone))
    };
    table! { lang; "Schedules", "日程";
        for ((line, runs) in lines.iter().zip(histories)) tr(data-row)
        "Name", "名称" {
            th scope="row" { a href=(path(&line.schedule.name)) data-open { (line.schedule.name) } }
        }
        "State", "状态" { td class="state" { (words::state_in_brief(viewer, &line.schedule.state)) } }
        "When", "时间规则" { td class="words" { (meaning(lang, line)) } }
        "Next", "下次" { td { (or_dash(next(line))) } }
        "Last 60 slots", "最近 60 个时点" [mid] {
            td {
                @if runs.is_empty() { span class="none" { (lang.pick("none yet", "尚无")) } }
                @else { a href={ (path(&line.schedule.name)) "#runs" } { (runs::strip(viewer, &line.schedule.name, runs)) } }
            }
        }
        "p50 / p95", "p50 / p95" [wide] { td class="narrow" { (lengths(viewer, line, runs)) } }
        "Managed by", "管理方" [wide] { td { (words::origin(lang, line.schedule.origin)) } }
    }
}

fn meaning(lang: Lang, line: &Line) -> Markup {
    let definition = line.schedule.definition.read().ok();
    html! {
        @if let Some(ready) = &line.ready { div { (ready.describe(lang)) } }
        @if let Some(definition) = definition {
            div class="hint" { code { (definition.expression) } " " (definition.tz) " · " (words::target(lang, &definition.target)) }
            @if !definition.tags.is_empty() { div { (words::tags(&definition.tags)) } }
        }
    }
}

/// Delay and duration compared with the interval; each links to its firings.
fn lengths(viewer: &Viewer, line: &Line, runs: &[Run]) -> Markup {
    let lang = viewer.lang;
    let href = format!("{}#runs", path(&line.schedule.name));
    let late = spread(runs.iter().filter_map(|run| run.late));
    let took = spread(runs.iter().filter_map(|run| run.took));
    let label = [
        (lang.pick("late", "延迟"), late),
        (lang.pick("took", "耗时"), took),
    ];
    let interval = line.ready.as_ref();
    let interval = interval.and_then(|ready| interval_of(ready, viewer.now));
    html! {
        @for (word, spread) in label {
            @if let Some([half, most]) = spread {
                div { (word) " " a href=(href) { (length(lang, half)) " / " (length(lang, most)) } }
            }
        }
        @if let Some(interval) = interval.map(|interval| length(lang, interval)) {
            div class="hint" { (say!(lang, "every {interval}", "间隔 {interval}")) }
        }
    }
}

/// The same list from another cursor.
fn pages(lang: Lang, query: &Query, more: Option<&str>) -> Markup {
    let link = |cursor: Option<&str>| {
        let mut query = query.clone();
        (query.cursor, query.did) = (cursor.map(str::to_owned), None);
        address("/ui/schedules", query)
    };
    let first = query.cursor.as_ref().map(|_| link(None));
    let next = more.map(|more| link(Some(more)));
    html! {
        (parts::pages(lang, first.as_deref(), next.as_deref()))
        @if query.q.is_some() && more.is_some() {
            p class="hint" { (say!(lang;
                "A search examines up to {SEARCHED_MAX} schedules per page; the next page continues from there.",
                "每页最多搜索 {SEARCHED_MAX} 个日程；下一页从那里继续。")) }
        }
    }
}

fn equivalent(query: &Query) -> Equivalent {
    let own = [
        ("state", &query.state),
        ("origin", &query.origin),
        ("tag", &query.tag),
        ("owner", &query.owner),
    ];
    let call = Equivalent::call("GET", address("/api/v1/schedules", own));
    call.listing("schedule", pairs(own))
}

/// Schedules on a page.
pub(crate) const PAGE: usize = 25;
/// Rows read at once during a search.
const BATCH: usize = 500;
/// Rows examined for one page; the next page continues from there.
pub(crate) const SEARCHED_MAX: usize = 10_000;

/// A page of schedules, and the cursor of the next one. Texts are searched here, because there is
/// no index for them: in `among` schedules, by default in [`SEARCHED_MAX`].
pub(crate) async fn search(
    state: &AppState,
    mut filter: ScheduleFilter,
    text: Option<&str>,
) -> Result<(Vec<Schedule>, Option<String>)> {
    let text = text.map(|text| text.trim().to_lowercase());
    if text.is_some() {
        filter.limit = BATCH;
    }
    let fits = |it: &Schedule| {
        let has = |part: &str| text.as_deref().is_none_or(|text| part.contains(text));
        has(&it.name.as_str().to_lowercase()) || has(&it.definition.to_lowercase())
    };
    let mut found: Vec<Schedule> = Vec::new();
    let (mut searched, among) = (0, filter.among.take().unwrap_or(SEARCHED_MAX));
    while searched < among {
        let batch = state.store.list_schedules(&filter).await?;
        // A batch that is not full reached the limit of examined rows.
        let full = batch.rows.len() == filter.limit;
        searched += if full { filter.limit } else { EXAMINED_MAX };
        filter.after = batch.next;
        found.extend(batch.rows.into_iter().filter(|it| fits(it)));
        if found.len() > PAGE {
            found.truncate(PAGE);
            let more = found.last().map(|it| cursor(&it.name));
            return Ok((found, more));
        }
        if filter.after.is_none() || found.len() == PAGE {
            break;
        }
    }
    Ok((found, filter.after.as_ref().map(cursor)))
}
