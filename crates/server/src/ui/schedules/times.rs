//! Next times, in the schedule's zone and the reader's, with clock changes.

use almanack_core::plan::{Comparison, Firings, Stretch, compare};
use almanack_core::schedule::ClockChange;

use super::words;
use crate::schedules::explain::ROUND_S;
use crate::ui::prelude::*;
use crate::ui::rows::Column;

/// The first times from an instant on, of a schedule that has had so many runs.
pub(crate) fn coming(
    ready: &Ready,
    (first, runs_done): (Option<Timestamp>, u64),
    count: usize,
) -> Vec<Timestamp> {
    let times = ready.firings_from(first, runs_done);
    times.take(count).collect()
}

/// An instant in its own zone, and in the reader's if that differs.
pub(crate) fn in_both(viewer: &Viewer, at: Timestamp, zone: &TimeZone) -> Markup {
    html! {
        div { (viewer.instant_in(at, zone)) " " (viewer.distance(at)) }
        @if *zone != viewer.zone { div class="hint" { (viewer.instant(at)) } }
    }
}

/// A table of times.
pub(crate) fn times(viewer: &Viewer, ready: &Ready, times: &[Timestamp], caption: &str) -> Markup {
    let lang = viewer.lang;
    let Some(last) = times.last() else {
        return empty(lang.pick("No further firings.", "不会再触发。"));
    };
    let zone = ready.zone().time_zone();
    let changes = ready.clock_changes(viewer.now, *last);
    let mut changes = changes.into_iter().peekable();
    let (own, mine) = (zone.iana_name().unwrap_or("UTC"), viewer.zone_name());
    let both = *zone != viewer.zone;
    let own = say!(lang, "In {own}", "{own} 时间");
    let mine = say!(lang, "In {mine} (your zone)", "{mine} 时间（您的时区）");
    let mine = both.then_some(mine.as_str());
    let far = lang.pick("Relative", "距今");
    let head = [Some(&*own), mine, Some(far)].into_iter().flatten();
    let head: Vec<Column<'_>> = head.map(Column::from).collect();
    let rows = html! {
        @for at in times {
            @while let Some(change) = changes.next_if(|change| change.at <= *at) {
                (noted(viewer, &change, head.len()))
            }
            tr {
                td { (viewer.instant_in(*at, zone)) }
                @if both { td { (viewer.instant(*at)) } }
                td { (viewer.distance(*at)) }
            }
        }
    };
    html! { div class="tall" { (crate::ui::rows::table(caption, &head, &rows)) } }
}

fn noted(viewer: &Viewer, change: &ClockChange, columns: usize) -> Markup {
    html! {
        tr class="clock" {
            td colspan=(columns) {
                (badge("unknown", viewer.lang.pick("clocks change", "时钟调整"))) " "
                (words::clock_change(viewer.lang, change)) " " (viewer.instant(change.at))
            }
        }
    }
}

/// Warnings about a schedule, if any.
pub(crate) fn warnings(viewer: &Viewer, ready: &Ready) -> Markup {
    let warnings = ready.advice(viewer.now, ROUND_S);
    let expression = ready.definition.expression.as_str();
    html! {
        @if !warnings.is_empty() {
            ul class="wants warnings" {
                @for warning in &warnings {
                    li {
                        @if let Some(part) = warning.span.and_then(|span| expression.get(span.start..span.end)) {
                            code { (part) } " "
                        }
                        (words::advice(viewer, &warning.lint))
                    }
                }
            }
        }
    }
}

/// The window in which firings are compared, as in the command line.
const AHEAD: SignedDuration = SignedDuration::from_hours(24);
/// Firings listed; all are counted.
const LISTED: usize = 10;

/// Added, removed and unchanged firings.
pub(crate) fn compared(viewer: &Viewer, (old, runs_done): (&Ready, u64), new: &Ready) -> Markup {
    let lang = viewer.lang;
    let until = viewer.now.saturating_add(AHEAD).unwrap_or(viewer.now);
    let stretch = Stretch {
        from: viewer.now,
        until,
        listed_max: LISTED,
        runs_done,
    };
    let Comparison { come, go, stay, .. } = compare(Some(old), Some(new), stretch);
    let (coming, going) = (come.count, go.count);
    html! {
        p { (say!(lang; "Firings in the next 24 hours: {coming} added, {going} removed, {stay} unchanged.",
            "未来 24 小时内的触发：新增 {coming} 次，移除 {going} 次，不变 {stay} 次。")) }
        @for (word, firings) in [(lang.pick("Added", "新增"), &come), (lang.pick("Removed", "移除"), &go)] {
            (listed(viewer, word, firings))
        }
    }
}

fn listed(viewer: &Viewer, word: &str, firings: &Firings) -> Markup {
    let shown = u64::try_from(firings.listed.len()).unwrap_or(u64::MAX);
    html! {
        @if shown > 0 {
            p { (word) ": "
                @for (number, at) in firings.listed.iter().enumerate() {
                    @if number > 0 { ", " }
                    (viewer.instant(*at))
                }
                @if shown < firings.count { " …" }
            }
        }
    }
}
