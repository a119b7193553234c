//! Monitors: all of them in one list, and what a schedule's page shows only of a monitor.
//!
//! The ping address is shown once, on the page that answers the button: the store has its hash.

use almanack_core::plan::{MonitorStatus, Ping, PingKind, ScheduleId};
use almanack_core::store::MonitorKeys;
use almanack_engine::schedules::{Watched, new_key};

use super::one::{may_act, way_back};
use super::{change, path, words};
use crate::schedules::{Named, find};
use crate::token::hash;
use crate::ui::prelude::*;
use crate::{monitors, paging};

/// Monitors on a page.
const PAGE: usize = 50;
/// Pings shown.
const PINGS: usize = 20;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Query {
    cursor: Option<String>,
}

/// All monitors.
pub(crate) async fn list(Sought(state, viewer, query): Sought<Query>) -> Page {
    let lang = viewer.lang;
    let number = |text: &str| paging::read(text, |id| id.parse().ok());
    let after = query.cursor.as_deref().map(number).transpose()?;
    let page_of = state
        .store
        .list_monitors(ScheduleId(after.unwrap_or(0)), PAGE);
    let found = page_of.await?;
    let mut watched = Vec::new();
    for schedule in found.rows {
        watched.extend(state.schedules.watched(schedule).await?);
    }
    let next = found.next.map(|id| {
        let pair = [("cursor", paging::cursor(id.0))];
        address("/ui/monitors", pair)
    });
    let first = query.cursor.is_some().then_some("/ui/monitors");
    let body = html! {
        @let may = viewer.may(Scope::Operate);
        @if watched.is_empty() && first.is_none() {
            (parts::first(&viewer, pick!(lang;
                "A monitor waits for the pings of a job that runs elsewhere, such as a cron job, and alerts you when one is late. Its page shows the address to call.",
                "监控等待在别处运行的作业（例如 cron 作业）发来的通知，迟到时发出告警。其页面会显示要调用的地址。"),
                &html! { @if may { (change::first(&viewer, "ping")) } }))
        } @else {
            p { (pick!(lang; "Jobs that run elsewhere and call Almanack when they have run.",
                "在别处运行、运行后通知 Almanack 的作业。")) }
            @if may {
                p class="acts lead" { a class="button primary" href="/ui/schedules/new?target=ping" { (lang.pick("New monitor", "新建监控")) } }
            }
        }
        (live("monitors", &rows(&viewer, &watched)))
        (parts::pages(lang, first, next.as_deref()))
        (Equivalent::call("GET", "/api/v1/monitors").cli(["monitor", "list"]).show(&viewer))
    };
    let title = lang.pick("Monitors", "监控");
    Ok(page(&viewer, Place::Schedules, title, &body))
}

fn rows(viewer: &Viewer, watched: &[Watched]) -> Markup {
    let lang = viewer.lang;
    table! { lang; "Monitors", "监控";
        or "No monitors yet.", "还没有监控。";
        for (it in watched) tr(data-row)
        "Name", "名称" {
            th scope="row" { a href=(path(&it.schedule.name)) data-open { (it.schedule.name) } }
        }
        "Status", "状态" { td class="state" { (status_badge(lang, it.status)) } }
        "Last ping", "最近通知" { td { (viewer.at_or_dash(it.monitor.last_ping_at)) } }
        "Took", "耗时" { td { (or_dash(it.monitor.last_took.map(|took| length(lang, took)))) } }
        "Expected", "预期" { td { (viewer.at_or_dash(it.expected_at)) } }
        "Missing from", "视为缺失" { td { (viewer.at_or_dash(it.missing_at)) } }
        "Pings", "通知数" { td { (it.monitor.pings) } }
    }
}

fn status_badge(lang: Lang, status: MonitorStatus) -> Markup {
    badges! { lang, status;
        MonitorStatus::New => "planned", "new", "新建";
        MonitorStatus::Up => "done", "up", "正常";
        MonitorStatus::Started => "running", "started", "运行中";
        MonitorStatus::Late => "retrying", "late", "迟到";
        MonitorStatus::Down => "failed", "down", "故障";
        MonitorStatus::Paused => "paused", "paused", "已暂停";
    }
}

/// What the page of a schedule shows only of a monitor; nothing of another schedule.
pub(crate) async fn show(state: &AppState, viewer: &Viewer, schedule: &Schedule) -> Page {
    let Some(watched) = state.schedules.watched(schedule.clone()).await? else {
        return Ok(html! {});
    };
    let keys = state.changes.load_monitor_keys(schedule.id).await?;
    let pings = state.store.load_pings(schedule.id, u64::MAX, PINGS).await?;
    let lang = viewer.lang;
    Ok(html! {
        (live("monitor", &section! { lang; "monitor-title", "Monitor", "监控";
            (facts(viewer, &watched, &keys))
        }))
        @if may_act(viewer, schedule) { (acts(viewer, schedule, &keys)) }
        (live("pings", &section! { lang; "pings-title", "Last pings", "最近的通知";
            (heard(viewer, &pings))
        }))
    })
}

fn facts(viewer: &Viewer, watched: &Watched, keys: &MonitorKeys) -> Markup {
    let (lang, monitor) = (viewer.lang, &watched.monitor);
    facts! { lang;
        "Status", "状态" {
            (status_badge(lang, watched.status))
            @if let Some(down) = &monitor.down {
                div class="hint" { (english(lang, &down.detail)) }
            }
        }
        "Last ping", "最近通知" { (viewer.at_or_dash(monitor.last_ping_at)) }
        "Last run took", "上次耗时" if (let Some(took) = monitor.last_took) { (length(lang, took)) }
        "Running since", "运行开始于" if (let Some(started) = &monitor.started) { (viewer.at(started.at)) }
        "Next ping expected", "下次预期通知" { (viewer.at_or_dash(watched.expected_at)) }
        "Missing from", "视为缺失" { (viewer.at_or_dash(watched.missing_at)) }
        "Ping address", "通知地址" {
            @if keys.ping_hash.is_some() {
                (pick!(lang; "exists; it was shown once and can only be replaced", "已创建；仅显示过一次，只能更换"))
            } @else { (lang.pick("none yet", "尚无")) }
        }
        "Badge", "徽章" if (let Some(badge) = &keys.badge) {
            a href={ "/badge/" (badge) ".svg" } { code { "/badge/" (badge) ".svg" } }
        }
    }
}

fn acts(viewer: &Viewer, schedule: &Schedule, keys: &MonitorKeys) -> Markup {
    let (lang, here) = (viewer.lang, path(&schedule.name));
    let replace = words! { lang, keys.ping_hash.is_some();
        true => "Replace the ping address", "更换通知地址";
        false => "Create the ping address", "创建通知地址";
    };
    let badge = words! { lang, keys.badge.is_some();
        true => "Hide the badge", "隐藏徽章";
        false => "Show a badge", "显示徽章";
    };
    html! {
        div class="acts" {
            (button(viewer, &format!("{here}/ping-key"), replace))
            (button(viewer, &format!("{here}/badge"), badge))
        }
    }
}

fn heard(viewer: &Viewer, pings: &[Ping]) -> Markup {
    let lang = viewer.lang;
    table! { lang; "Pings, newest first", "通知，最新的在前";
        or "No ping has come yet.", "还没有收到通知。";
        for (ping in pings) tr(data-row)
        "Number", "编号" { th scope="row" { (ping.number) } }
        "At", "时间" { td { (viewer.at(ping.at)) } }
        "Reported", "内容" { td { (reported(lang, ping)) } }
        "Took", "耗时" { td { (or_dash(ping.took.map(|took| length(lang, took)))) } }
        "Body", "正文" {
            td {
                @if let Some(body) = &ping.body {
                    details { summary { (excerpt(body)) } pre tabindex="0" { (body) } }
                } @else { (dash()) }
            }
        }
    }
}

fn reported(lang: Lang, ping: &Ping) -> Markup {
    let said = badges! { lang, ping.kind;
        PingKind::Success => "done", "success", "成功";
        PingKind::Start => "running", "start", "开始";
        PingKind::Fail => "failed", "failure", "失败";
        PingKind::Log => "planned", "log", "日志";
    };
    html! {
        (said)
        @if let Some(status) = ping.exit_status {
            " " (say!(lang, "exit status {status}", "退出码 {status}"))
        }
    }
}

/// The first words of a body.
fn excerpt(body: &str) -> String {
    let line = body.lines().next().unwrap_or_default();
    line.chars().take(60).collect()
}

/// Makes a ping address and shows it, this once.
pub(crate) async fn new_address(Named(name): Named, Filled(state, viewer, _): Filled) -> Answer {
    viewer.must(Scope::Operate, "making a ping address")?;
    let watched = monitors::watched(&state, find(&state, &name).await?).await?;
    let key = new_key(state.entropy.as_ref());
    let keys = MonitorKeys {
        ping_hash: Some(hash(&key)),
        ..state.changes.load_monitor_keys(watched.schedule.id).await?
    };
    state.schedules.save_keys(&watched.schedule, &keys).await?;
    let lang = viewer.lang;
    let base = state.public_url.as_deref().unwrap_or_default();
    let at = format!("{base}/ping/{key}");
    let body = html! {
        (notice(&html! { (pick!(lang; "Copy the address now: it is not shown again. The one before it no longer works.",
            "请现在复制该地址：以后不再显示。之前的地址已失效。")) }))
        (facts! { lang;
            "Done", "成功" { code { (at) } }
            "Started", "开始" { code { (at) "/start" } }
            "Failed", "失败" { code { (at) "/fail" } }
            "Exit status", "退出码" { code { (at) "/$?" } }
        })
        (way_back(lang, &watched.schedule))
    };
    let title = say!(lang, "Ping address of {name}", "{name} 的通知地址");
    Ok(page(&viewer, Place::Schedules, &title, &body).into_response())
}

/// Shows the badge, or hides it.
pub(crate) async fn turn_badge(Named(name): Named, Filled(state, viewer, _): Filled) -> Answer {
    viewer.must(Scope::Operate, "changing a badge")?;
    let watched = monitors::watched(&state, find(&state, &name).await?).await?;
    let mut keys = state.changes.load_monitor_keys(watched.schedule.id).await?;
    keys.badge = match keys.badge {
        Some(_) => None,
        None => Some(new_key(state.entropy.as_ref())),
    };
    state.schedules.save_keys(&watched.schedule, &keys).await?;
    Ok(see(&format!("{}?did=changed", path(&name))))
}

/// The note on a job.
pub(crate) fn note(lang: Lang, note: Option<&str>) -> Markup {
    html! { (lang.pick("ping from a job", "来自作业的通知")) (words::note(note)) }
}
