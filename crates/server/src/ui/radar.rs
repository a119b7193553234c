//! The radar: what the coming hours will start, and the herds to spread.
//!
//! The page is rendered on request and is not kept live: it counts up to fifty thousand tasks.

use almanack_core::plan::Origin;
use almanack_core::radar::{AppliedSpread, Herd, Load, Member, Radar};
use almanack_engine::radar::{Mode, Requested};

use crate::picture::spark;
use crate::radar::{RadarQuery, read, spread};
use crate::ui::prelude::*;

/// The page of the radar.
pub(crate) const PATH: &str = "/ui/radar";
const SPREAD_PATH: &str = "/ui/radar/spread";
/// Most bars of a picture.
const BARS: u32 = 48;

/// The radar and the form that spreads a herd.
pub(crate) fn routes() -> Router<Arc<AppState>> {
    Router::new()
        .route(PATH, get(show))
        .route(SPREAD_PATH, get(ask_to_spread).post(carry_out))
}

/// What to show, and what was just done.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Query {
    hours: Option<u32>,
    herd: Option<u64>,
    /// Schedules and tasks that were just spread, and how many are left.
    schedules: Option<usize>,
    tasks: Option<u64>,
    left: Option<u64>,
    /// Tasks and schedules that cannot be changed.
    refused: Option<u64>,
}

async fn show(Sought(state, viewer, query): Sought<Query>) -> Answer {
    let lang = viewer.lang;
    let title = lang.pick("Radar", "负载雷达");
    let asked = RadarQuery {
        hours: query.hours,
        herd: query.herd,
    };
    let found = read(&state, &asked).await;
    let radar = match found {
        Ok(radar) => radar,
        Err(problem) if problem.code == Code::InvalidQuery => {
            let body = html! { (fields(lang, &query)) (refused(lang, &problem)) };
            return Ok(again(page(&viewer, Place::Today, title, &body)));
        }
        Err(problem) => return Err(problem),
    };
    let body = html! {
        (done(lang, &query))
        (fields(lang, &query))
        (section! { lang; "herds", "Herds", "集中启动"; (herds(&viewer, &radar)) })
        (section! { lang; "kinds", "Load per kind", "各类型的负载"; (loads(&viewer, &radar, &radar.kinds, "kind")) })
        (section! { lang; "hosts", "Load per host", "各主机的负载"; (loads(&viewer, &radar, &radar.hosts, "host")) })
        @for text in missing(&viewer, &radar) { p class="hint" { (text) } }
        (Equivalent::call("GET", "/api/v1/radar").cli(["radar"]).show(&viewer))
    };
    Ok(page(&viewer, Place::Today, title, &body).into_response())
}

fn fields(lang: Lang, query: &Query) -> Markup {
    let hours = query.hours.map(|hours| hours.to_string());
    let herd = query.herd.map(|herd| herd.to_string());
    html! {
        form method="get" action=(PATH) class="fields" {
            (Field::text("hours", lang.pick("Hours (default: 24)", "小时数（默认 24）"), hours.as_deref()))
            (Field::text("herd", lang.pick("Starts in one second that are a herd (default: 20)", "同一秒启动多少个算集中（默认 20）"), herd.as_deref()))
            button type="submit" { (lang.pick("Show", "查看")) }
        }
    }
}

fn done(lang: Lang, query: &Query) -> Markup {
    let (Some(schedules), Some(tasks)) = (query.schedules, query.tasks) else {
        return html! {};
    };
    let (left, refused) = (query.left.unwrap_or(0), query.refused.unwrap_or(0));
    notice(&html! {
        (say!(lang, "Spread: {schedules} schedules changed, {tasks} tasks moved.", "已分散：修改了 {schedules} 个日程，移动了 {tasks} 个任务。"))
        @if left > 0 { " " (say!(lang, "Left: {left}. Spread again.", "剩余 {left} 个，请再次分散。")) }
        @if refused > 0 { " " (say!(lang, "Cannot be changed: {refused}.", "无法修改：{refused} 个。")) }
    })
}

fn herds(viewer: &Viewer, radar: &Radar) -> Markup {
    let (lang, min) = (viewer.lang, radar.herd_min);
    let may = viewer.may(Scope::Operate);
    if radar.herds.is_empty() {
        return empty(
            &say!(lang; "No second has {min} or more starts.", "没有任何一秒内启动 {min} 个或更多。"),
        );
    }
    table! { lang; "Seconds in which many things start", "同时启动很多任务的时刻";
        for (herd in &radar.herds) tr(data-row)
        "When", "时间" { th scope="row" { (viewer.at(herd.at)) @if herd.times > 1 { " × " (herd.times) } } }
        "Starts", "启动数" { td { (herd.count) } }
        "What", "内容" { td { (members(lang, herd)) } }
        "Proposed spread", "建议分散" { td { (proposed(lang, herd)) } }
        "Action", "操作" if (may) {
            td { @if let Some(proposed) = herd.spread {
                @let asked = [("at", herd.at.to_string()), ("splay_s", proposed.splay_s.to_string())];
                a class="button" href=(address(SPREAD_PATH, asked)) { (lang.pick("Spread…", "分散…")) }
            } }
        }
    }
}

fn members(lang: Lang, herd: &Herd) -> Markup {
    html! {
        ul class="plain" { @for member in &herd.members { li { (member_of(lang, member)) } } }
    }
}

fn member_of(lang: Lang, member: &Member) -> Markup {
    let (tasks, schedules) = (member.tasks, member.schedules);
    let comma = lang.pick(", ", "，");
    let more = schedules.saturating_sub(u64::try_from(member.names.len()).unwrap_or(u64::MAX));
    html! {
        (member.kind)
        @if let Some(host) = &member.host { " → " (host) }
        @if tasks > 0 { (comma) (say!(lang, "waiting tasks: {tasks}", "等待中的任务：{tasks}")) }
        @if schedules > 0 {
            (comma) (say!(lang, "schedules: {schedules}", "日程：{schedules}")) " ("
            @for (place, name) in member.names.iter().enumerate() {
                @if place > 0 { ", " }
                a href=(links::schedule(name)) { (name) }
            }
            @if more > 0 { " + " (more) }
            ")"
        }
    }
}

fn proposed(lang: Lang, herd: &Herd) -> Markup {
    let Some(spread) = herd.spread else {
        return html! { (lang.pick("none: nothing in it can be moved", "无：其中没有可移动的内容")) };
    };
    let (splay, peak) = (splay(lang, spread.splay_s), spread.peak);
    html! { (say!(lang, "over {splay}: at most {peak} per second", "分散到 {splay}：每秒最多 {peak} 个")) }
}

fn splay(lang: Lang, seconds: u32) -> String {
    length(lang, SignedDuration::from_secs(seconds.into()))
}

/// A table with a picture in each row.
fn loads(viewer: &Viewer, radar: &Radar, loads: &[Load], id: &str) -> Markup {
    let lang = viewer.lang;
    table! { lang; "Load", "负载"; or "Nothing starts in these hours.", "这段时间没有要启动的内容。";
        for (load in loads) tr(data-row)
        "Name", "名称" {
            th scope="row" { (load.name) @if load.internal { " " small class="hint" { (lang.pick("internal", "内部")) } } }
        }
        "Starts", "启动数" { td { (load.total) } }
        "Busiest minute", "最忙的一分钟" { td { (load.peak.count) " · " (viewer.at(load.peak.at)) } }
        "Over time", "随时间" { td { (picture(viewer, radar, load, id)) } }
    }
}

fn picture(viewer: &Viewer, radar: &Radar, load: &Load, id: &str) -> Markup {
    let minutes = radar.until.duration_since(radar.from).as_mins();
    let minutes = u32::try_from(minutes).unwrap_or(0).max(1);
    let step = minutes.div_ceil(BARS).max(1);
    let bars = usize::try_from(minutes.div_ceil(step)).unwrap_or(0);
    let mut counts = vec![0_u64; bars];
    for (minute, count) in &load.minutes {
        // The last minute is not whole; it belongs to the last bar.
        let bar = usize::try_from(minute / step).unwrap_or(usize::MAX);
        if let Some(bar) = counts.get_mut(bar.min(bars.saturating_sub(1))) {
            *bar += count;
        }
    }
    let spark = spark::Spark {
        from: radar.from,
        step: SignedDuration::from_mins(step.into()),
        counts: &counts,
    };
    let id = format!("load-{id}-{}", load.name);
    spark::draw(&spark, &viewer.frame(&id, &load.name))
}

/// Notes about what is not counted.
fn missing(viewer: &Viewer, radar: &Radar) -> Vec<String> {
    let (lang, missing) = (viewer.lang, &radar.missing);
    let cut = missing.tasks.iter().map(|cut| {
        let kind = &cut.kind;
        let from = crate::picture::clock::moment(cut.from, &viewer.zone, lang);
        say!(lang; "Too many tasks of kind {kind}: counted only until {from}.",
            "{kind} 类任务过多：仅统计到 {from}。")
    });
    let mut notes: Vec<String> = cut.collect();
    let schedules = missing.schedules;
    if schedules > 0 {
        notes.push(say!(lang; "Not all slots are counted; schedules left out in part: at least {schedules}.",
            "未统计全部时点；至少有 {schedules} 个日程不完整。"));
    }
    let (kinds, hosts, herds) = (missing.kinds, missing.hosts, missing.herds);
    if kinds + hosts + herds > 0 {
        notes.push(say!(lang; "Not shown: {kinds} further kinds, {hosts} further hosts, {herds} further herds.",
            "未显示：另有 {kinds} 种类型、{hosts} 个主机、{herds} 个集中时刻。"));
    }
    notes
}

/// Which herd to spread, and over what time.
#[derive(Debug, Deserialize)]
struct Wanted {
    at: String,
    splay_s: Option<u32>,
}

impl Wanted {
    async fn carry_out(
        &self,
        state: &AppState,
        viewer: &Viewer,
        mode: Mode,
    ) -> Result<AppliedSpread> {
        let requested = Requested {
            at: parse_instant(&self.at, "at")?,
            splay_s: self.splay_s,
            mode,
            by: viewer.name(),
            origin: &viewer.origin(),
        };
        spread(state, requested).await
    }
}

async fn ask_to_spread(Sought(state, viewer, wanted): Sought<Wanted>) -> Page {
    viewer.must(Scope::Operate, "spreading a herd")?;
    let would = wanted.carry_out(&state, &viewer, Mode::DryRun).await?;
    let (lang, at, splay_s) = (viewer.lang, would.at.to_string(), would.splay_s.to_string());
    let (schedules, tasks) = (would.schedules.len(), would.tasks);
    let over = splay(lang, would.splay_s);
    let question = Question {
        title: lang.pick("Spread this herd?", "分散这次集中启动？"),
        sentence: html! {
            (viewer.at(would.at)) ": "
            (say!(lang, "{schedules} schedules get a splay of {over}, {tasks} waiting tasks are moved by up to {over}.",
                "{schedules} 个日程将设置 {over} 的 splay，{tasks} 个等待中的任务将最多推迟 {over}。"))
            (managed(lang, &would))
        },
        fields: hidden([("at", &at), ("splay_s", &splay_s)]),
        button: lang.pick("Spread", "分散"),
        back: PATH,
        equivalent: Equivalent::call("POST", "/api/v1/radar/spread")
            .body(&json!({ "at": at, "splay_s": would.splay_s }))
            .cli([
                "radar",
                "spread",
                &at,
                "--splay",
                &format!("{splay_s}s"),
                "--yes",
            ]),
    };
    Ok(ask(&viewer, Place::Today, &question))
}

/// What must be written elsewhere.
fn managed(lang: Lang, would: &AppliedSpread) -> Markup {
    html! {
        @if !would.managed.is_empty() {
            br; (lang.pick("These belong to a file; write it there:", "以下日程由文件管理，请在文件中写入："))
            ul { @for it in &would.managed {
                li { (it.schedule) ": " code { (it.write) }
                    @if it.origin == Origin::Dispatch { " " small class="hint" { "DISPATCH" } } }
            } }
        }
    }
}

async fn carry_out(Filled(state, viewer, wanted): Filled<Wanted>) -> Answer {
    let done = wanted.carry_out(&state, &viewer, Mode::Apply).await?;
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let left = count(done.schedules_left);
    let refused = count(done.refused.len()).saturating_add(done.tasks_refused);
    let said = Query {
        schedules: Some(done.schedules.len()),
        tasks: Some(done.tasks),
        left: Some(left.saturating_add(done.tasks_left)),
        refused: Some(refused),
        ..Query::default()
    };
    Ok(see(&address(PATH, said)))
}
