//! Duration and delay of a schedule's last runs, compared with its interval.
//!
//! The axis is logarithmic: a run of 80 ms and an interval of an hour are both visible. A run near
//! the line of the interval is about to overlap the next one.

use super::prelude::*;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 76.0;
const TOP: f64 = 14.0;
const FOOT: f64 = HEIGHT - 30.0;
/// Most runs; the newest are shown.
const RUNS_MAX: usize = 200;
/// A plus, from its left end.
const LATE: &str = "h6m-3-3v6";

#[derive(Debug, Clone)]
pub(crate) struct Run {
    /// When it was planned.
    pub(crate) at: Timestamp,
    /// How late it started.
    pub(crate) late: SignedDuration,
    /// Its duration; none while it runs, and if it never ran.
    pub(crate) took: Option<SignedDuration>,
    pub(crate) outcome: Outcome,
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

/// Draws the last runs, the oldest first, against the planned distance between them, if known.
pub(crate) fn draw(interval: Option<SignedDuration>, runs: &[Run], frame: &Frame<'_>) -> Markup {
    let runs = &runs[runs.len().saturating_sub(RUNS_MAX)..];
    let (lengths, axes) = (Lengths::of(runs), axes(interval, runs));
    let ink = html! {
        (backdrop(&axes, frame))
        (lines(interval, &lengths, &axes, frame.lang))
        g aria-hidden="true" { @for run in runs { (dots(run, &axes, frame)) } }
    };
    let counts: Counts = runs.iter().map(|run| run.outcome).collect();
    let head = [
        ("Planned", "计划时间"),
        ("Outcome", "结果"),
        ("Duration", "耗时"),
        ("Delay", "延迟"),
    ];
    Figure::new(frame, lengths.summary(interval, frame.lang))
        .wide("wide", [WIDTH, HEIGHT], Marks::Links, &ink)
        .legend(html! { (legend(counts.present(), frame.lang)) (series(frame.lang)) })
        .table(&head, runs.iter().rev().map(|run| row(run, frame)))
        .render()
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
            return say!(lang, "No runs yet.", "还没有运行。");
        }
        let describe = |sorted: &[SignedDuration], percent| {
            words_or_dash(span::percentile(sorted, percent), lang)
        };
        let (took, took_most) = (describe(&self.took, 50), describe(&self.took, 95));
        let (late, late_most) = (describe(&self.late, 50), describe(&self.late, 95));
        let interval = interval.map_or_else(String::new, |interval| {
            let interval = span::words(interval, lang);
            say!(lang, " Interval: {interval}.", "间隔：{interval}。")
        });
        say!(lang;
            "Runs: {count}. Duration: p50 {took}, p95 {took_most}. Delay: p50 {late}, p95 {late_most}.{interval}",
            "运行次数：{count}。耗时：p50 {took}，p95 {took_most}。延迟：p50 {late}，p95 {late_most}。{interval}")
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
        y: Scale::new(span::log_place(highest) + 0.15, FOOT, TOP),
        highest,
    }
}

fn backdrop(axes: &Axes, frame: &Frame<'_>) -> Markup {
    let lengths = span::ticks(SignedDuration::from_millis(1), axes.highest);
    let lengths = lengths.map(|tick| (axes.y(tick), span::words(tick, frame.lang)));
    html! {
        (rungs(lengths, LEFT, WIDTH - RIGHT))
        @for tick in clock::ticks(axes.x.from, axes.x.until, frame.zone, frame.lang, 7) {
            (path("tick", [axes.x.x(tick.at), FOOT], "v5"))
            (text(tick.class(), [axes.x.x(tick.at), FOOT + 19.0], &tick.label))
        }
    }
}

/// The interval and the 95th percentiles; labels right of the lines, moved apart if they would
/// touch.
fn lines(interval: Option<SignedDuration>, lengths: &Lengths, axes: &Axes, lang: Lang) -> Markup {
    let most = |sorted: &[SignedDuration]| span::percentile(sorted, 95);
    let named = [
        (interval, "limit", lang.pick("interval", "间隔")),
        (
            most(&lengths.took),
            "mean",
            lang.pick("duration p95", "耗时 p95"),
        ),
        (
            most(&lengths.late),
            "mean late",
            lang.pick("delay p95", "延迟 p95"),
        ),
    ];
    let known = named
        .into_iter()
        .filter_map(|(length, class, name)| Some((axes.y(length?), class, name)));
    html! {
        @for ((y, class, name), written) in apart(known.collect()) {
            (across(class, y, LEFT, WIDTH - RIGHT))
            (text(class, [WIDTH - RIGHT + 6.0, written], name))
        }
    }
}

/// A line: its height, its class and its name.
type Line = (f64, &'static str, &'static str);

/// Lines from top to bottom, each with the height of its name; names are at least a text apart.
fn apart(mut lines: Vec<Line>) -> Vec<(Line, f64)> {
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut free = 0.0_f64;
    let placed = lines.into_iter().map(|line| {
        let written = free.max(line.0 + 4.0);
        free = written + 14.0;
        (line, written)
    });
    placed.collect()
}

fn dots(run: &Run, axes: &Axes, frame: &Frame<'_>) -> Markup {
    let x = axes.x.x(run.at);
    let ink = html! {
        (path("late", [x - 3.0, axes.y(run.late)], LATE))
        @if let Some(took) = run.took { (at([x, axes.y(took)], run.outcome.glyph())) }
    };
    mark(run.href.as_deref(), &describe(run, frame), &ink)
}

fn describe(run: &Run, frame: &Frame<'_>) -> String {
    let (lang, name) = (frame.lang, run.outcome.name(frame.lang));
    let at = frame.moment(run.at);
    let (late, took) = (span::words(run.late, lang), words_or_dash(run.took, lang));
    say!(lang; "{at}: {name}, duration {took}, delay {late}",
        "{at}：{name}，耗时 {took}，延迟 {late}")
}

fn words_or_dash(length: Option<SignedDuration>, lang: Lang) -> String {
    length.map_or_else(|| "–".to_owned(), |length| span::words(length, lang))
}

fn series(lang: Lang) -> Markup {
    html! {
        ul.legend {
            li { (Outcome::Done.icon()) (lang.pick("shape: duration", "图形：耗时")) }
            li { (icon(&path("late", [-3.0, 0.0], LATE))) (lang.pick("plus: delay", "加号：延迟")) }
        }
    }
}

fn row(run: &Run, frame: &Frame<'_>) -> [Cell; 4] {
    [
        Cell::link(frame.moment(run.at), run.href.as_deref()),
        run.outcome.name(frame.lang).into(),
        words_or_dash(run.took, frame.lang).into(),
        span::words(run.late, frame.lang).into(),
    ]
}

#[cfg(test)]
mod tests;
