//! A life in proportion to time.

use jiff::Timestamp;
use maud::{Markup, Render, html};

use super::{Event, Kind};
use crate::{
    picture::{
        axis::{Px, TimeScale},
        clock,
        figure::{Drawing, Frame, scroller},
    },
    ui::lang::say,
};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 112.0;
const EDGE: f64 = 28.0;
/// Where the marks stand; arches rise above it.
const RAIL: f64 = 72.0;
const ARCH: f64 = 44.0;
/// What took less time than this has no length to be seen.
const BAR_MIN: f64 = 3.0;
const HALF: f64 = 4.5;

pub(super) fn draw(events: &[&Event], now: Timestamp, summary: &str, frame: &Frame<'_>) -> Markup {
    let scale = scale(events, now);
    let drawing = Drawing {
        frame,
        size: (WIDTH, HEIGHT),
        class: "wide",
        links: false,
        summary,
        inside: html! {
            (backdrop(&scale, now, frame))
            @for event in events { (mark(event, &scale, frame)) }
        },
    };
    scroller(frame, &drawing.render())
}

/// From the first to the last instant that any event names, and now.
fn scale(events: &[&Event], now: Timestamp) -> TimeScale {
    let named = events.iter().flat_map(|event| {
        let due = match event.kind {
            Kind::Created { due_at } => [Some(due_at), None],
            Kind::Moved { from, to } => [Some(from), Some(to)],
            _ => [None, None],
        };
        due.into_iter()
            .chain([Some(event.at), event.until])
            .flatten()
    });
    let (from, until) = named.fold((now, now), |(from, until), at| {
        (from.min(at), until.max(at))
    });
    TimeScale {
        from,
        until,
        left: EDGE,
        right: WIDTH - EDGE,
    }
}

fn backdrop(scale: &TimeScale, now: Timestamp, frame: &Frame<'_>) -> Markup {
    let x = scale.x(now);
    html! {
        path.rail d={"M8 " (Px(RAIL)) "H" (Px(WIDTH - 8.0))} {}
        @for tick in clock::ticks(scale.from, scale.until, frame.zone, frame.lang, 8) {
            @let x = Px(scale.x(tick.at));
            path.tick d={"M" (x) " " (Px(RAIL + 10.0)) "v6"} {}
            text class=(if tick.midnight { "hour day" } else { "hour" }) x=(x) y=(Px(RAIL + 30.0)) { (tick.label) }
        }
        path.now d={"M" (Px(x)) " 18V" (Px(RAIL + 12.0))} {}
        text.now x=(Px(x)) y="12" { (say!(frame.lang, "now", "现在")) }
    }
}

fn mark(event: &Event, scale: &TimeScale, frame: &Frame<'_>) -> Markup {
    let from = scale.x(event.at);
    let until = scale.x(event.until.unwrap_or(event.at)).max(from);
    let outcome = event.kind.outcome();
    let told = format!(
        "{}: {}",
        clock::moment(event.at, frame.zone, frame.lang),
        event.kind.words(frame)
    );
    html! {
        g {
            @match event.kind {
                Kind::Moved { from, to } => { (arch(scale.x(from), scale.x(to))) }
                Kind::Created { due_at } => { (stroke(from)) (due(scale.x(due_at))) }
                _ => {
                    @if until - from >= BAR_MIN {
                        rect class={"bar " (outcome.class())} x=(Px(from)) y=(Px(RAIL - HALF)) width=(Px(until - from)) height=(Px(2.0 * HALF)) rx="3" {}
                    }
                    g transform={"translate(" (Px(f64::midpoint(from, until))) " " (Px(RAIL)) ")"} { (outcome.glyph()) }
                }
            }
            title { (told) }
        }
    }
}

/// Where a life begins.
fn stroke(x: f64) -> Markup {
    html! { path.birth d={"M" (Px(x)) " " (Px(RAIL - 7.0)) "v14"} {} }
}

/// Where something was due.
fn due(x: f64) -> Markup {
    html! { path.due d={"M" (Px(x - 3.5)) " " (Px(RAIL - 15.0)) "h7l-3.5 6z"} {} }
}

/// From an old time to a new one; the farther, the higher.
fn arch(from: f64, to: f64) -> Markup {
    let foot = RAIL - 15.0;
    let height = ((to - from).abs() / 3.0).clamp(10.0, ARCH);
    html! {
        path.arch d={"M" (Px(from)) " " (Px(foot)) "Q" (Px(f64::midpoint(from, to))) " " (Px(foot - height)) " " (Px(to)) " " (Px(foot))} {}
        (due(to))
    }
}
