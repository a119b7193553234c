//! The public status page, as people read it. What it shows is counted in [`crate::status`].

use axum::middleware::from_fn_with_state;

use super::authentication::arrive;
use crate::access::Authentication;
use crate::status::{Board, Boards, DAYS, Day, Health, Item, What};
use crate::ui::prelude::*;

/// The page, for everybody; none unless it is configured.
pub(crate) fn routes(authentication: &Arc<Authentication>) -> Router<Arc<AppState>> {
    let Some(page) = authentication.state().status_page.clone() else {
        return Router::new();
    };
    let arrive = from_fn_with_state(Arc::clone(authentication), arrive);
    Router::new()
        .route("/status", get(show))
        .route_layer(arrive)
        .merge(crate::status::routes())
        .layer(Extension(Arc::new(Boards::new(page))))
}

async fn show(
    Extension(boards): Extension<Arc<Boards>>,
    State(state): App,
    viewer: Viewer,
) -> Page {
    let board = boards.newest(&state).await?;
    let title = viewer.lang.pick("Status", "状态");
    let title = board.title.as_deref().unwrap_or(title);
    let body = html! {
        (summary(&viewer, &board))
        @for item in &board.items { (card(viewer.lang, item)) }
        p class="hint" {
            (say!(viewer.lang; "The last {DAYS} days, of UTC. A day counts what was due on it: runs, pings, editions. Grey days have no record.",
                "最近 {DAYS} 天（UTC）。每天统计当天到期的运行、通知和日报。灰色表示没有记录。"))
            " " a href="/status.json" { "JSON" }
        }
    };
    Ok(page(&viewer, Place::Elsewhere, title, &body))
}

fn summary(viewer: &Viewer, board: &Board) -> Markup {
    let lang = viewer.lang;
    let down = board.items.iter().filter(|item| item.state == Health::Down);
    let sentence = match down.count() {
        0 => lang.pick("No failures now.", "目前没有故障。").to_owned(),
        1 => lang.pick("1 failing now.", "目前有 1 项故障。").to_owned(),
        down => say!(lang, "{down} failing now.", "目前有 {down} 项故障。"),
    };
    html! {
        p { strong { (sentence) } " "
            span class="hint" { (lang.pick("Counted ", "统计于 ")) (viewer.at(board.counted_at)) }
        }
    }
}

fn card(lang: Lang, item: &Item) -> Markup {
    html! {
        section class="uptime" aria-label=(item.name) {
            div class="head" {
                h2 { (item.name) }
                span class="hint" { (what(lang, item.what)) }
                (health(lang, item.state))
                span class="percent" {
                    @match item.uptime_percent {
                        Some(percent) => { (percent) " %" }
                        None => { (lang.pick("no data", "无数据")) }
                    }
                }
            }
            (bars(lang, item))
            (failures(lang, item))
        }
    }
}

fn what(lang: Lang, what: What) -> &'static str {
    words! { lang, what;
        What::Schedule => "schedule", "日程";
        What::Monitor => "monitor", "监控";
        What::Edition => "edition", "日报";
    }
}

fn health(lang: Lang, health: Health) -> Markup {
    badges! { lang, health;
        Health::Up => "done", "Up", "正常";
        Health::Down => "failed", "Failing", "故障";
        Health::Paused => "paused", "Paused", "已暂停";
        Health::Unknown => "skipped", "Unknown", "未知";
    }
}

/// A bar for each day with records. Failures are a part of it with a gap below, so that the shape says it, too.
fn bars(lang: Lang, item: &Item) -> Markup {
    let recorded = item
        .days
        .iter()
        .filter(|day| day.succeeded + day.failed > 0);
    let (recorded, failing) = (recorded.count(), failing(item).count());
    let label = say!(lang; "{recorded} days with records, {failing} of them with failures",
        "有记录 {recorded} 天，其中 {failing} 天有失败");
    html! {
        svg class="bars" viewBox="0 0 450 32" preserveAspectRatio="none" role="img" aria-label=(label) {
            rect class="none" y="28" width="449" height="4" {}
            @for (x, day) in (0..).step_by(5).zip(&item.days) {
                @if day.succeeded + day.failed > 0 { (bar(lang, x, day)) }
            }
        }
    }
}

fn bar(lang: Lang, x: u32, day: &Day) -> Markup {
    let all = day.succeeded + day.failed;
    let (on, failed) = (day.on, day.failed);
    // At least a quarter: one failure of a thousand must be seen.
    let bad = (32 * failed).checked_div(all).map(|bad| bad.clamp(8, 32));
    html! {
        @match bad.filter(|_| failed > 0) {
            Some(bad) => {
                g {
                    title { (say!(lang, "{on}: {failed} of {all} failed", "{on}：{all} 次中 {failed} 次失败")) }
                    rect class="failed" x=(x) y="0" width="4" height=(bad) {}
                    @if bad < 30 { rect class="done" x=(x) y=(bad + 2) width="4" height=(30 - bad) {} }
                }
            }
            None => rect class="done" x=(x) y="0" width="4" height="32" {
                title { (say!(lang, "{on}: all {all} succeeded", "{on}：{all} 次全部成功")) }
            },
        }
    }
}

fn failing(item: &Item) -> impl Iterator<Item = &Day> {
    item.days.iter().rev().filter(|day| day.failed > 0)
}

fn failures(lang: Lang, item: &Item) -> Markup {
    if failing(item).next().is_none() {
        return Markup::default();
    }
    html! {
        details {
            summary { (lang.pick("Days with failures", "有失败的日期")) }
            (table! { lang; "Days with failures", "有失败的日期";
                for (day in failing(item)) tr()
                "Day", "日期" { th scope="row" { (day.on) } }
                "Failed", "失败" { td class="number" { (day.failed) } }
                "Succeeded", "成功" { td class="number" { (day.succeeded) } }
            })
        }
    }
}
