//! A task's timeline: creation, due time, every reschedule, every attempt, and the end.
//!
//! Two views of the same events: a track in proportion to time, with reschedules as arches from the
//! old time to the new one, and below it a list with the wait before each event. The list replaces
//! the table.
//!
//! Clocks differ between nodes, so an event may precede the one it follows, and an attempt may end
//! before it started. Such a wait is shown unchanged, with its sign; on the track the attempt has
//! no length.

use super::prelude::*;

/// Most events shown; the first and the newest are kept.
const EVENTS_MAX: usize = 100;

/// An event of a task's timeline.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) at: Timestamp,
    /// Its end, if it took time.
    pub(crate) until: Option<Timestamp>,
    pub(crate) kind: Kind,
    /// Details such as who, why, and the result; may be empty.
    pub(crate) label: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The task was created with a due time.
    Created {
        due_at: Timestamp,
    },
    /// The task was rescheduled.
    Moved {
        from: Timestamp,
        to: Timestamp,
    },
    Attempt {
        /// Number of the attempt, from 1.
        number: u32,
        outcome: Outcome,
    },
    /// The task was cancelled.
    Cancelled,
    /// Another task replaced it.
    Replaced,
    Finished {
        outcome: Outcome,
    },
    /// The next attempt.
    Planned,
}

impl Kind {
    /// The shape by which it is shown.
    fn outcome(self) -> Outcome {
        match self {
            Self::Created { .. } | Self::Moved { .. } | Self::Planned => Outcome::Planned,
            Self::Attempt { outcome, .. } | Self::Finished { outcome } => outcome,
            Self::Cancelled | Self::Replaced => Outcome::Cancelled,
        }
    }

    fn words(self, frame: &Frame<'_>) -> String {
        let lang = frame.lang;
        match self {
            Self::Created { due_at } => {
                say!(
                    lang,
                    "created, due {}",
                    "创建，定于 {}",
                    frame.moment(due_at)
                )
            }
            Self::Moved { from, to } => {
                let [from, to] = [from, to].map(|at| frame.moment(at));
                say!(
                    lang,
                    "rescheduled from {from} to {to}",
                    "由 {from} 改至 {to}"
                )
            }
            Self::Attempt { number, outcome } => {
                let name = outcome.name(lang);
                say!(lang; "attempt {number}: {name}", "第 {number} 次尝试：{name}")
            }
            Self::Cancelled => lang.pick("cancelled", "已取消").to_owned(),
            Self::Replaced => lang.pick("replaced", "已被取代").to_owned(),
            Self::Finished { outcome } => {
                say!(lang, "finished: {}", "结束：{}", outcome.name(lang))
            }
            Self::Planned => lang.pick("planned", "计划中").to_owned(),
        }
    }
}

/// Draws a timeline; `events` in display order.
pub(crate) fn draw(events: &[Event], now: Timestamp, frame: &Frame<'_>) -> Markup {
    let kept = newest(events);
    let list = html! {
        ol.life {
            @for (number, event) in kept.iter().enumerate() {
                @let before = number.checked_sub(1).and_then(|number| kept.get(number));
                (line(event, before.copied(), frame))
            }
        }
    };
    Figure::new(frame, summary(events, frame.lang))
        .wide(
            "wide",
            [WIDTH, HEIGHT],
            Marks::Plain,
            &track(&kept, now, frame),
        )
        .with(&list)
        .render()
}

fn newest(events: &[Event]) -> Vec<&Event> {
    let gone = events.len().saturating_sub(EVENTS_MAX);
    let first = events.first().filter(|_| gone > 0);
    first.into_iter().chain(&events[gone..]).collect()
}

fn line(event: &Event, before: Option<&Event>, frame: &Frame<'_>) -> Markup {
    let lang = frame.lang;
    let wait = before.map(|before| event.at.duration_since(before.until.unwrap_or(before.at)));
    let took = event.until.map(|until| until.duration_since(event.at));
    html! {
        @if let Some(wait) = wait.filter(|wait| !wait.is_zero()) {
            li.wait { (say!(lang, "{} later", "{} 后", span::words(wait, lang))) }
        }
        li {
            (event.kind.outcome().icon())
            time datetime=(event.at) { (frame.moment(event.at)) }
            " " span.name { (event.kind.words(frame)) }
            @if let Some(took) = took { " " span.detail { (length(took, event.kind, lang)) } }
            @if !event.label.is_empty() { " " span.detail { (event.label) } }
        }
    }
}

fn length(took: SignedDuration, kind: Kind, lang: Lang) -> String {
    let words = span::words(took, lang);
    match kind.outcome() {
        Outcome::Running => say!(lang, "running for {words}", "已运行 {words}"),
        _ => say!(lang, "took {words}", "耗时 {words}"),
    }
}

fn summary(events: &[Event], lang: Lang) -> String {
    let count =
        |wanted: fn(&Kind) -> bool| events.iter().filter(|event| wanted(&event.kind)).count();
    let attempts = count(|kind| matches!(kind, Kind::Attempt { .. }));
    let moves = count(|kind| matches!(kind, Kind::Moved { .. }));
    let Some(last) = events.last() else {
        return say!(lang, "No events.", "尚无记录。");
    };
    let last = last.kind.outcome().name(lang);
    say!(lang; "Attempts: {attempts}; rescheduled: {moves}; now {last}.",
        "尝试 {attempts} 次，改期 {moves} 次；当前：{last}。")
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 112.0;
const EDGE: f64 = 28.0;
/// The line of the marks; arches rise above it.
const RAIL: f64 = 72.0;
const ARCH: f64 = 44.0;
/// Shorter attempts have no visible length.
const BAR_MIN: f64 = 3.0;
const HALF: f64 = 4.5;

/// The events in proportion to time.
fn track(events: &[&Event], now: Timestamp, frame: &Frame<'_>) -> Markup {
    let scale = scale(events, now);
    html! {
        (backdrop(&scale, now, frame))
        @for event in events { (mark(event, &scale, frame)) }
    }
}

/// From the first to the last instant of any event, including now.
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
        (across("rail", RAIL, 8.0, WIDTH - 8.0))
        @for tick in clock::ticks(scale.from, scale.until, frame.zone, frame.lang, 8) {
            (path("tick", [scale.x(tick.at), RAIL + 10.0], "v6"))
            (text(tick.class(), [scale.x(tick.at), RAIL + 30.0], &tick.label))
        }
        (down("now", x, 18.0, RAIL + 12.0))
        (text("now", [x, 12.0], frame.lang.pick("now", "现在")))
    }
}

fn mark(event: &Event, scale: &TimeScale, frame: &Frame<'_>) -> Markup {
    let from = scale.x(event.at);
    let until = scale.x(event.until.unwrap_or(event.at)).max(from);
    let outcome = event.kind.outcome();
    let class = format!("bar {}", outcome.class());
    let at = frame.moment(event.at);
    let ink = html! {
        @match event.kind {
            Kind::Moved { from, to } => (arch(scale.x(from), scale.x(to))),
            Kind::Created { due_at } => {
                (path("birth", [from, RAIL - 7.0], "v14"))
                (due(scale.x(due_at)))
            }
            _ => {
                @if until - from >= BAR_MIN {
                    (rounded(&class, [from, RAIL - HALF], [until - from, 2.0 * HALF], 3.0))
                }
                (svg::at([f64::midpoint(from, until), RAIL], outcome.glyph()))
            }
        }
    };
    titled(format!("{at}: {}", event.kind.words(frame)), ink)
}

/// Where something was due.
fn due(x: f64) -> Markup {
    path("due", [x - 3.5, RAIL - 15.0], "h7l-3.5 6z")
}

/// From the old time to the new one; the farther, the higher.
fn arch(from: f64, to: f64) -> Markup {
    let foot = RAIL - 15.0;
    let height = ((to - from).abs() / 3.0).clamp(10.0, ARCH);
    let [middle, top, to_x, foot_y] = [f64::midpoint(from, to), foot - height, to, foot].map(Px);
    html! {
        (path("arch", [from, foot], format_args!("Q{middle} {top} {to_x} {foot_y}")))
        (due(to))
    }
}

#[cfg(test)]
mod tests;
