//! A run as a picture: how late calls were, how many came, how much memory nodes had, and what hit whom, over one time axis.
//!
//! Every line has its own dash as well as its own colour. What a reader cannot see in it stands in the verdict, in numbers.

use std::{collections::BTreeMap, fmt::Write, time::Duration};

use crate::customer::book::Second;

use super::{fleet::Sample, plan::Blow};

const WIDTH: f64 = 960.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 64.0;
const PANEL: f64 = 130.0;
const GAP: f64 = 44.0;
const LANE: f64 = 20.0;
/// Lateness below this is drawn as this: a logarithm has no zero.
const LATE_MIN_MS: f64 = 1.0;

const STYLE: &str = "\
  text{font:13px system-ui,sans-serif;fill:#1c2330}.faint{fill:#5c6675;font-size:12px}\
.title{font-size:16px;font-weight:600}.paper{fill:#fff}.rule{stroke:#dfe3ea}\
.a,.b,.c,.d{fill:none;stroke-width:1.5}.a{stroke:#1f6feb}.b{stroke:#9a5b00;stroke-dasharray:6 3}\
.c{stroke:#b3261e;stroke-dasharray:2 3}.d{stroke:#1a7f37;stroke-dasharray:8 3 2 3}\
.kill{fill:#b3261e}.freeze{fill:#1f6feb}.cut{fill:#9a5b00}.clock{fill:#1a7f37}.blow{opacity:.85}\
@media(prefers-color-scheme:dark){text{fill:#e6e9ef}.faint{fill:#9aa4b2}.paper{fill:#12161d}.rule{stroke:#2b323d}\
.a{stroke:#6ea8fe}.b{stroke:#e3a948}.c{stroke:#ff8a80}.d{stroke:#7ee2a8}\
.kill{fill:#ff8a80}.freeze{fill:#6ea8fe}.cut{fill:#e3a948}.clock{fill:#7ee2a8}}";

/// The classes of lines, by turns.
const LINES: [&str; 4] = ["a", "b", "c", "d"];

/// What is drawn.
pub struct Scene<'a> {
    /// What it is called.
    pub title: String,
    /// When it began, as Unix time.
    pub begun_unix: i64,
    /// How long it lasted.
    pub period: Duration,
    /// What the customer got.
    pub seconds: &'a [Second],
    /// What memory nodes had.
    pub samples: &'a [Sample],
    /// What hit whom.
    pub blows: &'a [Blow],
    /// How many nodes.
    pub nodes: usize,
}

/// A line: what it is called, and its points in seconds and its own unit.
struct Line {
    name: String,
    points: Vec<(f64, f64)>,
}

/// Draws it.
pub fn draw(scene: &Scene<'_>) -> String {
    let panels = [late(scene), calls(scene), memory(scene)];
    let lanes = count(scene.nodes) * LANE;
    let height = TOP + (PANEL + GAP) * count(panels.len()) + lanes + 60.0;
    let mut svg = String::new();
    let title = escape(&scene.title);
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-labelledby=\"title\">\n\
         <title id=\"title\">{title}</title>\n<style>\n{STYLE}\n</style>\n\
         <rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\" rx=\"8\"/>\n\
         <text class=\"title\" x=\"24\" y=\"30\">{title}</text>"
    );
    let mut top = TOP;
    for panel in &panels {
        panel.draw(&mut svg, top, scene.period);
        top += PANEL + GAP;
    }
    draw_blows(&mut svg, scene, top);
    draw_axis(&mut svg, scene.period, top + lanes);
    svg.push_str("</svg>\n");
    svg
}

/// A set of lines over one scale.
struct Panel {
    title: &'static str,
    /// Marks of the scale and what they are called.
    marks: Vec<(f64, String)>,
    /// From a value to its place between 0 (below) and 1 (above).
    place: Box<dyn Fn(f64) -> f64>,
    lines: Vec<Line>,
}

impl Panel {
    fn draw(&self, svg: &mut String, top: f64, period: Duration) {
        let y = |value: f64| top + PANEL * (1.0 - (self.place)(value).clamp(0.0, 1.0));
        let _ = writeln!(
            svg,
            "<text x=\"{LEFT}\" y=\"{}\">{}</text>",
            top - 8.0,
            self.title
        );
        for (value, name) in &self.marks {
            let (y, right) = (y(*value), WIDTH - RIGHT);
            let _ = writeln!(
                svg,
                "<line class=\"rule\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text class=\"faint\" text-anchor=\"end\" x=\"{}\" y=\"{:.1}\">{name}</text>",
                LEFT - 8.0,
                y + 4.0
            );
        }
        let mut legend = WIDTH - RIGHT;
        for (number, line) in self.lines.iter().enumerate().rev() {
            let class = LINES.get(number % LINES.len()).unwrap_or(&"a");
            let points: Vec<String> = line
                .points
                .iter()
                .map(|(at, value)| format!("{:.1},{:.1}", x(*at, period), y(*value)))
                .collect();
            let name = escape(&line.name);
            let _ = writeln!(
                svg,
                "<polyline class=\"{class}\" points=\"{}\"/>",
                points.join(" ")
            );
            let _ = writeln!(
                svg,
                "<text class=\"faint\" text-anchor=\"end\" x=\"{legend}\" y=\"{}\">{name}</text>\
                 <line class=\"{class}\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>",
                top - 8.0,
                legend - 96.0,
                legend - 70.0,
                top - 12.0,
                top - 12.0
            );
            legend -= 110.0;
        }
    }
}

fn late(scene: &Scene<'_>) -> Panel {
    let line = |name: &str, value: fn(&Second) -> u32| Line {
        name: name.to_owned(),
        points: seconds(scene, |second| f64::from(value(second)).max(LATE_MIN_MS)),
    };
    let most = scene.seconds.iter().map(|second| second.late_max_ms).max();
    let decades = f64::from(most.unwrap_or_default()).max(10.0).log10().ceil();
    let marks = ["1 ms", "10 ms", "100 ms", "1 s", "10 s", "100 s", "1000 s"];
    let marks = (0_u32..).map(f64::from).zip(marks);
    Panel {
        title: "How late calls came",
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

/// A second without a call has no entry, and is a zero all the same.
fn calls(scene: &Scene<'_>) -> Panel {
    let mut by_second: BTreeMap<u64, f64> =
        (0..scene.period.as_secs()).map(|at| (at, 0.0)).collect();
    for second in scene.seconds {
        let at = (second.unix - scene.begun_unix).unsigned_abs();
        if let Some(calls) = by_second.get_mut(&at) {
            *calls = count(second.called);
        }
    }
    let points = by_second
        .into_iter()
        .map(|(at, calls)| (whole(at), calls))
        .collect();
    linear("Calls a second", "", vec![("calls".to_owned(), points)])
}

fn memory(scene: &Scene<'_>) -> Panel {
    let mut by_node: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for sample in scene.samples {
        let megabytes = whole(sample.memory_kb) / 1024.0;
        by_node
            .entry(sample.node.clone())
            .or_default()
            .push((whole(sample.at_s), megabytes));
    }
    linear("Memory", " MB", by_node.into_iter().collect())
}

fn linear(title: &'static str, unit: &str, lines: Vec<(String, Vec<(f64, f64)>)>) -> Panel {
    let values = lines
        .iter()
        .flat_map(|(_, points)| points.iter().map(|(_, value)| *value));
    let top = round_up(values.fold(1.0, f64::max));
    Panel {
        title,
        marks: [0.0, 0.5, 1.0]
            .map(|share| (share * top, format!("{}{unit}", share * top)))
            .into(),
        place: Box::new(move |value| value / top),
        lines: lines
            .into_iter()
            .map(|(name, points)| Line { name, points })
            .collect(),
    }
}

/// The next number above that is easy to read: 1, 2 or 5, and zeros.
fn round_up(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps
        .into_iter()
        .find(|step| *step >= value)
        .unwrap_or(value)
}

fn draw_blows(svg: &mut String, scene: &Scene<'_>, top: f64) {
    let _ = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"{}\">What hit whom</text>",
        top - 8.0
    );
    for node in 0..scene.nodes {
        let middle = top + count(node) * LANE + LANE / 2.0;
        let _ = writeln!(
            svg,
            "<text class=\"faint\" text-anchor=\"end\" x=\"{}\" y=\"{:.1}\">chaos-{}</text>",
            LEFT - 8.0,
            middle + 4.0,
            node + 1
        );
    }
    for blow in scene.blows {
        let (from, until) = (blow.at.as_secs_f64(), blow.until().as_secs_f64());
        let (from, until) = (x(from, scene.period), x(until, scene.period));
        let (y, name) = (top + count(blow.node) * LANE + 3.0, blow.fault.name());
        let _ = writeln!(
            svg,
            "<rect class=\"blow {name}\" x=\"{from:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{}\"><title>{name}, {:.1} s</title></rect>",
            (until - from).max(2.0),
            LANE - 6.0,
            blow.lasts.as_secs_f64()
        );
    }
    let mut at = WIDTH - RIGHT;
    for fault in super::plan::Fault::ALL.into_iter().rev() {
        let name = fault.name();
        let _ = writeln!(
            svg,
            "<text class=\"faint\" text-anchor=\"end\" x=\"{at}\" y=\"{}\">{name}</text>\
             <rect class=\"{name}\" x=\"{}\" y=\"{}\" width=\"10\" height=\"10\"/>",
            top - 8.0,
            at - 54.0,
            top - 17.0
        );
        at -= 72.0;
    }
}

fn draw_axis(svg: &mut String, period: Duration, top: f64) {
    let minutes = period.as_secs_f64() / 60.0;
    let step = round_up((minutes / 10.0).max(0.5));
    let mut at = 0.0;
    while at <= minutes {
        let _ = writeln!(
            svg,
            "<text class=\"faint\" text-anchor=\"middle\" x=\"{:.1}\" y=\"{}\">{at} min</text>",
            x(at * 60.0, period),
            top + 22.0
        );
        at += step;
    }
}

fn seconds(scene: &Scene<'_>, value: impl Fn(&Second) -> f64) -> Vec<(f64, f64)> {
    let at = |second: &Second| whole((second.unix - scene.begun_unix).unsigned_abs());
    let end = scene.period.as_secs_f64();
    let within = scene.seconds.iter().filter(|second| at(second) <= end);
    within.map(|second| (at(second), value(second))).collect()
}

/// Where a second is.
fn x(at_s: f64, period: Duration) -> f64 {
    let share = at_s / period.as_secs_f64().max(1.0);
    LEFT + (WIDTH - LEFT - RIGHT) * share.clamp(0.0, 1.0)
}

/// A number to draw with; what does not fit is far off the picture anyway.
fn whole(number: u64) -> f64 {
    u32::try_from(number).map_or(f64::from(u32::MAX), f64::from)
}

fn count(number: usize) -> f64 {
    whole(number as u64)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chaos::plan::Fault;

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
        let blow = Blow {
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
            blows: &[blow],
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
