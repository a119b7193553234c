//! How long the last runs of a schedule took and how late they began, against its interval.
//!
//! Lengths grow upwards, each ten times the one below it: a run of 80 ms and an interval of an hour are both to be seen. A run
//! that comes near the line of the interval is about to meet the next one.

use jiff::{SignedDuration, Timestamp};
use maud::{Markup, Render, html};

use crate::{
    picture::{
        axis::{Px, Scale, TimeScale},
        clock,
        figure::{Cell, Drawing, Figure, Frame, Table, mark, scroller},
        outcome::{Counts, Outcome, legend},
        span,
    },
    ui::lang::{Lang, say},
};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 76.0;
const TOP: f64 = 14.0;
const FOOT: f64 = HEIGHT - 30.0;
/// Most runs; the newest are shown.
const RUNS_MAX: usize = 200;

/// Runs and their interval.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Against<'a> {
    /// How far apart runs are planned; none if that is not known.
    pub(crate) interval: Option<SignedDuration>,
    /// The last runs, the oldest first.
    pub(crate) runs: &'a [Run],
}

/// One run.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    /// When it was planned.
    pub(crate) at: Timestamp,
    /// How much later it began.
    pub(crate) late: SignedDuration,
    /// How long it took; none while it runs, and for what never ran.
    pub(crate) took: Option<SignedDuration>,
    /// How it went.
    pub(crate) outcome: Outcome,
    /// Its page.
    pub(crate) href: Option<String>,
}

struct Axes {
    x: TimeScale,
    y: Scale,
    highest: SignedDuration,
}

impl Axes {
    fn y(&self, length: SignedDuration) -> f64 {
        self.y.place(span::log_place(length))
    }
}

/// Draws runs against their interval.
pub(crate) fn draw(against: &Against<'_>, frame: &Frame<'_>) -> Markup {
    let runs = &against.runs[against.runs.len().saturating_sub(RUNS_MAX)..];
    let lengths = Lengths::of(runs);
    let summary = lengths.summary(against.interval, frame.lang);
    let axes = axes(against.interval, runs);
    let drawing = Drawing {
        frame,
        size: (WIDTH, HEIGHT),
        class: "wide",
        links: true,
        summary: &summary,
        inside: html! {
            (backdrop(&axes, frame))
            (lines(against.interval, &lengths, &axes, frame.lang))
            g aria-hidden="true" { @for run in runs { (dots(run, &axes, frame)) } }
        },
    };
    let counts: Counts = runs.iter().map(|run| run.outcome).collect();
    let figure = Figure {
        frame: *frame,
        drawing: scroller(frame, &drawing.render()),
        legend: html! { (legend(counts.present(), frame.lang)) (series(frame.lang)) },
        table: Some(table(runs, frame)),
        summary,
    };
    figure.render()
}

/// What was measured, sorted.
struct Lengths {
    took: Vec<SignedDuration>,
    late: Vec<SignedDuration>,
}

impl Lengths {
    fn of(runs: &[Run]) -> Self {
        let mut took: Vec<_> = runs.iter().filter_map(|run| run.took).collect();
        let mut late: Vec<_> = runs.iter().map(|run| run.late).collect();
        took.sort_unstable();
        late.sort_unstable();
        Self { took, late }
    }

    fn summary(&self, interval: Option<SignedDuration>, lang: Lang) -> String {
        let count = self.late.len();
        if count == 0 {
            return say!(lang, "No run yet.", "尚无运行。").into_owned();
        }
        let told = |sorted: &[SignedDuration], percent| {
            span::percentile(sorted, percent)
                .map_or("–".into(), |length| span::words(length, lang))
        };
        let (took, took_most) = (told(&self.took, 50), told(&self.took, 95));
        let (late, late_most) = (told(&self.late, 50), told(&self.late, 95));
        let interval = interval.map(|interval| span::words(interval, lang));
        let interval = interval.map_or_else(String::new, |interval| {
            say!(lang, " The interval is {interval}.", "间隔为 {interval}。").into_owned()
        });
        say!(
            lang,
            "{count} runs: half took at most {took}, 95 % at most {took_most}; half were late by at most {late}, 95 % by at most {late_most}.{interval}",
            "{count} 次运行：耗时 50% 不超过 {took}，95% 不超过 {took_most}；延迟 50% 不超过 {late}，95% 不超过 {late_most}。{interval}"
        )
        .into_owned()
    }
}

fn axes(interval: Option<SignedDuration>, runs: &[Run]) -> Axes {
    let lengths = runs
        .iter()
        .flat_map(|run| [Some(run.late), run.took])
        .chain([interval]);
    let highest = lengths.flatten().max().unwrap_or(SignedDuration::ZERO);
    let highest = highest.max(SignedDuration::from_secs(10));
    let times = || runs.iter().map(|run| run.at);
    let from = times().min().unwrap_or(Timestamp::UNIX_EPOCH);
    Axes {
        x: TimeScale {
            from,
            until: times().max().unwrap_or(from),
            left: LEFT + 8.0,
            right: WIDTH - RIGHT - 8.0,
        },
        y: Scale {
            from: 0.0,
            until: span::log_place(highest) + 0.15,
            low: FOOT,
            high: TOP,
        },
        highest,
    }
}

fn backdrop(axes: &Axes, frame: &Frame<'_>) -> Markup {
    html! {
        @for tick in span::ticks(SignedDuration::from_millis(1), axes.highest) {
            @let y = axes.y(tick);
            path.tick d={"M" (Px(LEFT)) " " (Px(y)) "H" (Px(WIDTH - RIGHT))} {}
            text.value x=(Px(LEFT - 8.0)) y=(Px(y + 4.0)) { (span::words(tick, frame.lang)) }
        }
        @for tick in clock::ticks(axes.x.from, axes.x.until, frame.zone, frame.lang, 7) {
            @let x = axes.x.x(tick.at);
            path.tick d={"M" (Px(x)) " " (Px(FOOT)) "v5"} {}
            text class=(if tick.midnight { "hour day" } else { "hour" }) x=(Px(x)) y=(Px(FOOT + 19.0)) { (tick.label) }
        }
    }
}

/// The interval, and what 95 of a hundred did not exceed; names stand right of the lines, moved apart where they would touch.
fn lines(interval: Option<SignedDuration>, lengths: &Lengths, axes: &Axes, lang: Lang) -> Markup {
    let mut lines = Vec::new();
    if let Some(interval) = interval {
        lines.push((axes.y(interval), "limit", lang.pick("interval", "间隔")));
    }
    let named = [
        (&lengths.took, "mean", lang.pick("took p95", "耗时 p95")),
        (
            &lengths.late,
            "mean late",
            lang.pick("late p95", "延迟 p95"),
        ),
    ];
    for (sorted, class, name) in named {
        if let Some(length) = span::percentile(sorted, 95) {
            lines.push((axes.y(length), class, name));
        }
    }
    html! {
        @for Line { y, written, class, name } in apart(lines) {
            path class=(class) d={"M" (Px(LEFT)) " " (Px(y)) "H" (Px(WIDTH - RIGHT))} {}
            text class=(class) x=(Px(WIDTH - RIGHT + 6.0)) y=(Px(written)) { (name) }
        }
    }
}

/// A named line.
struct Line {
    y: f64,
    /// Where its name stands.
    written: f64,
    class: &'static str,
    name: &'static str,
}

/// Lines from top to bottom, their names at least a text apart.
fn apart(mut lines: Vec<(f64, &'static str, &'static str)>) -> Vec<Line> {
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut free = 0.0_f64;
    let placed = lines.into_iter().map(|(y, class, name)| {
        let written = free.max(y + 4.0);
        free = written + 14.0;
        Line {
            y,
            written,
            class,
            name,
        }
    });
    placed.collect()
}

fn dots(run: &Run, axes: &Axes, frame: &Frame<'_>) -> Markup {
    let x = axes.x.x(run.at);
    let ink = html! {
        path.late d={"M" (Px(x - 3.0)) " " (Px(axes.y(run.late))) "h6m-3-3v6"} {}
        @if let Some(took) = run.took {
            g transform={"translate(" (Px(x)) " " (Px(axes.y(took))) ")"} { (run.outcome.glyph()) }
        }
    };
    mark(run.href.as_deref(), &told(run, frame), &ink)
}

fn told(run: &Run, frame: &Frame<'_>) -> String {
    let lang = frame.lang;
    let (at, name) = (
        clock::moment(run.at, frame.zone, lang),
        run.outcome.name(lang),
    );
    let (late, took) = (span::words(run.late, lang), took(run, lang));
    say!(
        lang,
        "{at}: {name}, took {took}, late by {late}",
        "{at}：{name}，耗时 {took}，延迟 {late}"
    )
    .into_owned()
}

fn took(run: &Run, lang: Lang) -> String {
    run.took.map_or("–".to_owned(), |took| {
        span::words(took, lang).into_owned()
    })
}

fn series(lang: Lang) -> Markup {
    html! {
        ul.legend {
            li { (Outcome::Done.icon()) (say!(lang, "the shape: how long it took", "图形：耗时")) }
            li { svg.icon viewBox="-7 -7 14 14" aria-hidden="true" { path.late d="M-3 0h6m-3-3v6" {} } (say!(lang, "a plus: how late it began", "加号：延迟")) }
        }
    }
}

fn table(runs: &[Run], frame: &Frame<'_>) -> Table {
    let lang = frame.lang;
    let rows = runs.iter().rev().map(|run| {
        vec![
            Cell::link(clock::moment(run.at, frame.zone, lang), run.href.as_deref()),
            Cell::from(run.outcome.name(lang)),
            Cell::from(took(run, lang)),
            Cell::from(span::words(run.late, lang)),
        ]
    });
    Table {
        head: vec![
            say!(lang, "Planned", "计划时间"),
            say!(lang, "Outcome", "结果"),
            say!(lang, "Took", "耗时"),
            say!(lang, "Late by", "延迟"),
        ],
        rows: rows.collect(),
    }
}

#[cfg(test)]
mod tests;
