//! A timeline with a lane for each source, schedule or edition: the past left of the now line, the
//! future right.
//!
//! Every past or future event is a mark by its outcome. Marks too close to each other are joined
//! (`cluster`) and described together; they are still drawn separately while there is room. What
//! must stay true: the size of a ribbon is bounded by its lanes, never by its marks, because it is
//! on the first page.

mod cluster;
mod lane;

use super::prelude::*;
use cluster::Cluster;

/// Width of the labels and of the lanes; the style sheet depends on their sum.
const NAMES: f64 = 150.0;
const WIDTH: f64 = 850.0;
/// Room for half a mark and half an hour's name at both ends.
const EDGE: f64 = 18.0;
const TOP: f64 = 34.0;
const LANE: f64 = 22.0;
const TICKS_MAX: usize = 13;
const NAME_WIDTH: usize = 22;
/// Most marks of one lane, and of all of them together.
const LANE_MARKS_MAX: usize = 120;
const MARKS_MAX: usize = 90;
/// Marks per lane, reduced until the total is small enough; every lane keeps one for the past and
/// one for the future.
const SHARES: [usize; 10] = [LANE_MARKS_MAX, 60, 30, 16, 12, 8, 6, 4, 3, 2];

#[derive(Debug, Clone, Copy)]
pub(crate) struct Ribbon<'a> {
    pub(crate) from: Timestamp,
    pub(crate) until: Timestamp,
    /// Position of the now line.
    pub(crate) now: Timestamp,
    /// What is shown, from top to bottom.
    pub(crate) lanes: &'a [Lane],
}

/// One row of a ribbon: a source, a schedule, an edition.
#[derive(Debug, Clone)]
pub(crate) struct Lane {
    pub(crate) name: String,
    /// Its page, which shows everything that is joined here.
    pub(crate) href: String,
    /// Past and future events, in any order.
    pub(crate) marks: Vec<Mark>,
}

/// A past or future event.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    /// Its start.
    pub(crate) at: Timestamp,
    /// Its end, if its duration is worth showing.
    pub(crate) until: Option<Timestamp>,
    pub(crate) outcome: Outcome,
    /// What, when and why.
    pub(crate) label: String,
    pub(crate) href: Option<String>,
}

impl Mark {
    /// A mark at an instant, with a link.
    pub(crate) fn new(at: Timestamp, outcome: Outcome, label: String, href: String) -> Self {
        Self {
            at,
            until: None,
            outcome,
            label,
            href: Some(href),
        }
    }

    /// The same with a duration.
    pub(crate) fn until(self, until: Option<Timestamp>) -> Self {
        Self { until, ..self }
    }
}

pub(crate) fn draw(ribbon: &Ribbon<'_>, frame: &Frame<'_>) -> Markup {
    let lang = frame.lang;
    let marks = ribbon.lanes.iter().flat_map(|lane| within(ribbon, lane));
    let all: Counts = marks.map(|mark| mark.outcome).collect();
    let height = TOP + real(ribbon.lanes.len().max(1)) * LANE + 6.0;
    let figure = Figure::new(frame, summary(ribbon, &all, frame));
    let ink = inside(ribbon, frame, height);
    let drawing = html! {
        div.ribbon {
            svg.names viewBox={ "0 0 " (Px(NAMES)) " " (Px(height)) } role="group" aria-label=(frame.caption) {
                (names(ribbon))
            }
            (figure.svg("lanes", [WIDTH, height], Marks::Links, &ink))
        }
    };
    let mut head = vec![lang.pick("Name", "名称").to_owned()];
    head.extend(all.present().map(|outcome| outcome.name(lang).to_owned()));
    head.push(lang.pick("next", "下一次").to_owned());
    let rows = ribbon
        .lanes
        .iter()
        .map(|lane| row(ribbon, lane, &all, frame));
    figure
        .scrolled(&drawing)
        .legend(legend(all.present(), lang))
        .table_under(&head, rows)
        .render()
}

/// The marks of a lane that lie in the window.
fn within<'a>(ribbon: &Ribbon<'_>, lane: &'a Lane) -> impl Iterator<Item = &'a Mark> {
    let (from, until) = (ribbon.from, ribbon.until);
    lane.marks
        .iter()
        .filter(move |mark| mark.at <= until && mark.until.unwrap_or(mark.at) >= from)
}

fn middle(number: usize) -> f64 {
    TOP + (real(number) + 0.5) * LANE
}

fn summary(ribbon: &Ribbon<'_>, all: &Counts, frame: &Frame<'_>) -> String {
    let [from, until] = [ribbon.from, ribbon.until].map(|at| frame.moment(at));
    let (shown, zone) = (all.words(frame.lang), clock::zone_name(frame.zone));
    say!(frame.lang; "{from} to {until} ({zone}): {shown}.",
        "{from} 至 {until}（{zone}）：{shown}。")
}

fn names(ribbon: &Ribbon<'_>) -> Markup {
    html! {
        @for (number, lane) in ribbon.lanes.iter().enumerate() {
            @let name = fit(&lane.name, NAME_WIDTH);
            a href=(lane.href) {
                text x="2" y=(Px(middle(number) + 4.0)) { (name) }
                @if name != lane.name { title { (lane.name) } }
            }
        }
    }
}

fn inside(ribbon: &Ribbon<'_>, frame: &Frame<'_>, height: f64) -> Markup {
    let scale = TimeScale {
        from: ribbon.from,
        until: ribbon.until,
        left: EDGE,
        right: WIDTH - EDGE,
    };
    let place = |(number, lane)| lane::Place {
        lane,
        frame,
        marks: within(ribbon, lane).collect(),
        scale: &scale,
        y: middle(number),
    };
    let places: Vec<lane::Place<'_>> = ribbon.lanes.iter().enumerate().map(place).collect();
    html! {
        defs { (lane::markers(frame.id)) }
        (backdrop(ribbon, &scale, frame, height))
        g aria-hidden="true" {
            @for (place, clusters) in places.iter().zip(joined(&places)) { (place.draw(&clusters)) }
        }
    }
}

/// The marks of all lanes, joined: sparse lanes keep theirs while dense lanes give up some.
fn joined(places: &[lane::Place<'_>]) -> Vec<Vec<Cluster>> {
    let mut all = Vec::new();
    for most in SHARES {
        all = places.iter().map(|place| place.join(most)).collect();
        if all.iter().map(Vec::len).sum::<usize>() <= MARKS_MAX {
            break;
        }
    }
    all
}

/// The hours, the rails on which the marks stand, and the line of now.
fn backdrop(ribbon: &Ribbon<'_>, scale: &TimeScale, frame: &Frame<'_>, height: f64) -> Markup {
    let ticks = clock::ticks(ribbon.from, ribbon.until, frame.zone, frame.lang, TICKS_MAX);
    let foot = height - 6.0;
    let rails =
        (0..ribbon.lanes.len()).map(|lane| format!("M0 {}h{}", Px(middle(lane)), Px(WIDTH)));
    let lines = |midnight| {
        let ticks = ticks.iter().filter(|tick| tick.midnight == midnight);
        let lines = ticks.map(|tick| format!("M{} {}V{}", Px(scale.x(tick.at)), Px(TOP), Px(foot)));
        lines.collect::<String>()
    };
    let (now, time) = (scale.x(ribbon.now), clock::time(ribbon.now, frame.zone));
    html! {
        @if scale.holds(ribbon.now) { (rect("future", [now, TOP], [WIDTH - now, foot - TOP])) }
        path.rail d=(rails.collect::<String>()) {}
        path.tick d=(lines(false)) {}
        path class="tick midnight" d=(lines(true)) {}
        @for tick in &ticks { (text(tick.class(), [scale.x(tick.at), TOP - 6.0], &tick.label)) }
        @if scale.holds(ribbon.now) {
            (down("now", now, 16.0, foot))
            (text("now", [now, 11.0], say!(frame.lang, "now {time}", "现在 {time}")))
        }
    }
}

fn row(ribbon: &Ribbon<'_>, lane: &Lane, all: &Counts, frame: &Frame<'_>) -> Vec<Cell> {
    let counts: Counts = within(ribbon, lane).map(|mark| mark.outcome).collect();
    let mut row = vec![Cell::link(lane.name.clone(), Some(&lane.href))];
    row.extend(all.present().map(|outcome| match counts.of(outcome) {
        0 => Cell::default(),
        count => Cell::from(count.to_string()),
    }));
    row.push(next_planned(ribbon, lane, frame));
    row
}

fn next_planned(ribbon: &Ribbon<'_>, lane: &Lane, frame: &Frame<'_>) -> Cell {
    let planned = |mark: &&Mark| mark.outcome == Outcome::Planned && mark.at >= ribbon.now;
    let next = lane.marks.iter().filter(planned).map(|mark| mark.at).min();
    next.map_or_else(Cell::default, |at| frame.moment(at).into())
}

#[cfg(test)]
mod tests;
