//! A run as a chart: lateness and number of calls, memory of the nodes, and injections, over one
//! time axis.
//!
//! Every line has its own dash as well as its own colour. The report has all figures as numbers.

use std::{collections::BTreeMap, time::Duration};

use almanack_lab::{
    chaos::{
        fleet::Sample,
        plan::{Fault, Injection},
    },
    customer::book::Second,
};
use almanack_server::picture::svg::{self, File, Px, across, path, real, rect, text, titled};
use maud::{Markup, html};

const WIDTH: f64 = 960.0;
const LEFT: f64 = 84.0;
const END: f64 = WIDTH - 24.0;
const TOP: f64 = 64.0;
const PANEL: f64 = 130.0;
const GAP: f64 = 44.0;
const LANE: f64 = 20.0;
/// Lateness below this is drawn as this: a logarithm has no zero.
const LATE_MIN_MS: f64 = 1.0;

const STYLE: &str = "\
.rule{stroke:#dfe3ea}\
.a,.b,.c,.d{fill:none;stroke-width:1.5}.a{stroke:#1f6feb}.b{stroke:#9a5b00;stroke-dasharray:6 3}\
.c{stroke:#b3261e;stroke-dasharray:2 3}.d{stroke:#1a7f37;stroke-dasharray:8 3 2 3}\
.kill{fill:#b3261e}.freeze{fill:#1f6feb}.cut{fill:#9a5b00}.clock{fill:#1a7f37}.injection{opacity:.85}\
@media(prefers-color-scheme:dark){.rule{stroke:#2b323d}\
.a{stroke:#6ea8fe}.b{stroke:#e3a948}.c{stroke:#ff8a80}.d{stroke:#7ee2a8}\
.kill{fill:#ff8a80}.freeze{fill:#6ea8fe}.cut{fill:#e3a948}.clock{fill:#7ee2a8}}";

/// The classes of lines, used in rotation.
const LINES: [&str; 4] = ["a", "b", "c", "d"];

pub(crate) struct Scene<'a> {
    pub(crate) title: String,
    /// When it began, as Unix time.
    pub(crate) begun_unix: i64,
    /// How long it lasted.
    pub(crate) period: Duration,
    /// The calls that the customer received.
    pub(crate) seconds: &'a [Second],
    /// Memory of the nodes.
    pub(crate) samples: &'a [Sample],
    pub(crate) injections: &'a [Injection],
    pub(crate) nodes: usize,
}

/// A line: its name, and its points in seconds and its unit.
type Line = (String, Vec<(f64, f64)>);

pub(crate) fn draw(scene: &Scene<'_>) -> String {
    let panels = [late(scene), calls(scene), memory(scene)];
    let lanes_top = TOP + (PANEL + GAP) * real(panels.len());
    let foot = lanes_top + real(scene.nodes) * LANE;
    let file = File {
        title: &scene.title,
        description: "",
        size: [WIDTH, foot + 60.0],
        style: &format!("{}{STYLE}", svg::FILE_STYLE),
    };
    file.write(html! {
        (text("title", [24.0, 30.0], &scene.title))
        @for (number, panel) in panels.iter().enumerate() {
            (panel.draw(TOP + (PANEL + GAP) * real(number), scene.period))
        }
        (injections(scene, lanes_top))
        (axis(scene.period, foot))
    })
}

/// A set of lines over one scale.
struct Panel {
    title: &'static str,
    /// Marks of the scale and their labels.
    marks: Vec<(f64, String)>,
    /// From a value to its place between 0 (below) and 1 (above).
    place: Box<dyn Fn(f64) -> f64>,
    lines: Vec<Line>,
}

impl Panel {
    fn draw(&self, top: f64, period: Duration) -> Markup {
        let y = |value: f64| top + PANEL * (1.0 - (self.place)(value).clamp(0.0, 1.0));
        html! {
            (text("", [LEFT, top - 8.0], self.title))
            @for (value, name) in &self.marks {
                (across("rule", y(*value), LEFT, END))
                (text("faint end", [LEFT - 8.0, y(*value) + 4.0], name))
            }
            @for (number, (name, points)) in self.lines.iter().rev().enumerate() {
                @let class = LINES[(self.lines.len() - 1 - number) % LINES.len()];
                @let legend = END - 110.0 * real(number);
                (way(class, points.iter().map(|(at, value)| [x(*at, period), y(*value)])))
                (text("faint end", [legend, top - 8.0], name))
                (across(class, top - 12.0, legend - 96.0, legend - 70.0))
            }
        }
    }
}

/// A line from point to point.
fn way(class: &str, mut points: impl Iterator<Item = [f64; 2]>) -> Markup {
    let Some(first) = points.next() else {
        return Markup::default();
    };
    let rest = points.map(|[x, y]| format!("L{} {}", Px(x), Px(y)));
    path(class, first, rest.collect::<String>())
}

fn late(scene: &Scene<'_>) -> Panel {
    let line = |name: &str, value: fn(&Second) -> u32| {
        let points = seconds(scene, |second| f64::from(value(second)).max(LATE_MIN_MS));
        (name.to_owned(), points)
    };
    let most = scene.seconds.iter().map(|second| second.late_max_ms).max();
    let decades = f64::from(most.unwrap_or_default()).max(10.0).log10().ceil();
    let marks = ["1 ms", "10 ms", "100 ms", "1 s", "10 s", "100 s", "1000 s"];
    let marks = (0_u32..).map(f64::from).zip(marks);
    Panel {
        title: "Lateness of calls",
        marks: marks
            .take_while(|(decade, _)| *decade <= decades)
            .map(|(decade, name)| (10_f64.powf(decade), name.to_owned()))
            .collect(),
        place: Box::new(move |ms| ms.log10() / decades),
        lines: vec![
            line("half", |second| second.late_p50_ms),
            line("99 %", |second| second.late_p99_ms),
            line("last", |second| second.late_max_ms),
        ],
    }
}

/// A second without a call has no entry and counts as zero.
fn calls(scene: &Scene<'_>) -> Panel {
    let mut by_second: BTreeMap<u64, f64> =
        (0..scene.period.as_secs()).map(|at| (at, 0.0)).collect();
    for second in scene.seconds {
        let at = (second.unix - scene.begun_unix).unsigned_abs();
        if let Some(calls) = by_second.get_mut(&at) {
            *calls = real(second.called);
        }
    }
    let points = by_second.into_iter().map(|(at, calls)| (real(at), calls));
    let line = ("calls".to_owned(), points.collect());
    linear("Calls per second", "", vec![line])
}

fn memory(scene: &Scene<'_>) -> Panel {
    let mut by_node: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for sample in scene.samples {
        let megabytes = real(sample.memory_kb) / 1024.0;
        let points = by_node.entry(sample.node.clone()).or_default();
        points.push((real(sample.at_s), megabytes));
    }
    linear("Memory", " MB", by_node.into_iter().collect())
}

fn linear(title: &'static str, unit: &str, lines: Vec<Line>) -> Panel {
    let points = lines.iter().flat_map(|(_, points)| points);
    let top = round_up(points.map(|(_, value)| *value).fold(1.0, f64::max));
    Panel {
        title,
        marks: [0.0, 0.5, 1.0]
            .map(|share| (share * top, format!("{}{unit}", share * top)))
            .into(),
        place: Box::new(move |value| value / top),
        lines,
    }
}

/// The next number above that is easy to read: 1, 2 or 5, and zeros.
fn round_up(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    let mut steps = steps.into_iter();
    steps.find(|step| *step >= value).unwrap_or(value)
}

fn injections(scene: &Scene<'_>, top: f64) -> Markup {
    html! {
        (text("", [LEFT, top - 8.0], "Injected faults"))
        @for node in 0..scene.nodes {
            @let middle = top + (real(node) + 0.5) * LANE;
            (text("faint end", [LEFT - 8.0, middle + 4.0], format!("chaos-{}", node + 1)))
        }
        @for injection in scene.injections { (injected(injection, scene.period, top)) }
        @for (number, fault) in Fault::ALL.into_iter().rev().enumerate() {
            @let at = END - 72.0 * real(number);
            (text("faint end", [at, top - 8.0], fault.name()))
            (rect(fault.name(), [at - 54.0, top - 17.0], [10.0, 10.0]))
        }
    }
}

fn injected(injection: &Injection, period: Duration, top: f64) -> Markup {
    let [from, until] = [injection.at, injection.until()].map(|at| x(at.as_secs_f64(), period));
    let y = top + real(injection.node) * LANE + 3.0;
    let name = injection.fault.name();
    let size = [(until - from).max(2.0), LANE - 6.0];
    let title = format!("{name}, {:.1} s", injection.lasts.as_secs_f64());
    titled(title, rect(&format!("injection {name}"), [from, y], size))
}

fn axis(period: Duration, top: f64) -> Markup {
    let minutes = period.as_secs_f64() / 60.0;
    let step = round_up((minutes / 10.0).max(0.5));
    let marks = (0_u32..).map(|number| f64::from(number) * step);
    html! {
        @for at in marks.take_while(|at| *at <= minutes) {
            (text("faint middle", [x(at * 60.0, period), top + 22.0], format!("{at} min")))
        }
    }
}

fn seconds(scene: &Scene<'_>, value: impl Fn(&Second) -> f64) -> Vec<(f64, f64)> {
    let at = |second: &Second| real((second.unix - scene.begun_unix).unsigned_abs());
    let end = scene.period.as_secs_f64();
    let within = scene.seconds.iter().filter(|second| at(second) <= end);
    within.map(|second| (at(second), value(second))).collect()
}

/// The x position of a second.
fn x(at_s: f64, period: Duration) -> f64 {
    let share = at_s / period.as_secs_f64().max(1.0);
    LEFT + (END - LEFT) * share.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_end_at_a_round_number_above_everything() {
        for (value, top) in [
            (1.0, 1.0),
            (3.0, 5.0),
            (51.0, 100.0),
            (800.0, 1_000.0),
            (0.3, 0.5),
        ] {
            assert!((round_up(value) - top).abs() < 1e-9, "{value}");
        }
    }

    #[test]
    fn everything_that_happened_is_in_the_picture() {
        let second = Second {
            unix: 1_005,
            called: 20,
            late_p50_ms: 3,
            late_p99_ms: 40,
            late_max_ms: 5_000,
        };
        let sample = Sample {
            at_s: 5,
            node: "chaos-1".to_owned(),
            memory_kb: 20_480,
        };
        let injection = Injection {
            at: Duration::from_secs(10),
            lasts: Duration::from_secs(7),
            node: 0,
            fault: Fault::Freeze,
            forward: false,
        };
        let drawn = draw(&Scene {
            title: "A run < another".to_owned(),
            begun_unix: 1_000,
            period: Duration::from_mins(1),
            seconds: &[second],
            samples: &[sample],
            injections: &[injection],
            nodes: 1,
        });
        for part in [
            "A run &lt; another",
            "10 s",
            "freeze, 7.0 s",
            "chaos-1",
            "20 MB",
            "1 min",
        ] {
            assert!(drawn.contains(part), "{part}\n{drawn}");
        }
    }
}
