//! Calendars, below the schedules that use them.

use crate::calendars::{CalendarView, calendars};
use crate::ui::prelude::*;

/// A section with all calendars; nothing where there are none.
pub(super) async fn section(state: &AppState, viewer: &Viewer) -> Result<Markup> {
    let found = calendars(state).list().await?;
    let views = found.iter().map(|it| CalendarView::of(it, viewer.now));
    let views: Vec<CalendarView> = views.collect();
    if views.is_empty() {
        return Ok(html! {});
    }
    let lang = viewer.lang;
    let rows = table! { lang; "Calendars", "日历";
        for (it in &views) tr(data-row)
        "Name", "名称" { th scope="row" { (it.name) } }
        "Single days", "单个日期" { td { (it.days) } }
        "Every week", "每周" { td { (weekdays(it)) } }
        "Next day", "下一个日期" { td { (next(it)) } }
        "State", "状态" { td { (standing(viewer, it)) } }
        "Managed by", "管理方" { td { (super::words::origin(lang, it.origin)) } }
    };
    Ok(section! { lang; "calendars", "Calendars", "日历"; (rows) })
}

fn weekdays(it: &CalendarView) -> Markup {
    let days: Vec<&str> = it.weekdays.iter().map(|day| day.as_str()).collect();
    or_dash((!days.is_empty()).then(|| html! { (days.join(", ")) }))
}

fn next(it: &CalendarView) -> Markup {
    let first = it.next.first().map(|day| {
        let name = day.name.as_deref().unwrap_or_default();
        html! { (day.on) " " (name) }
    });
    or_dash(first)
}

fn standing(viewer: &Viewer, it: &CalendarView) -> Markup {
    let lang = viewer.lang;
    let problem = it.problem.as_ref().or(it.reading.error.as_ref());
    html! {
        @if let Some(problem) = problem {
            div class="wrong" { (english(lang, problem)) }
            @if let Some(read_at) = it.reading.read_at {
                div class="hint" { (lang.pick("last read ", "上次读取 ")) (viewer.at(read_at)) }
            }
        } @else { (lang.pick("known", "已知")) }
    }
}
