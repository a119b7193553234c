//! The marks of one lane.
//!
//! Joined marks are drawn by outcome. Dense expected outcomes become a bar; all others keep their
//! position while there is room, at three or four bytes a mark: an SVG marker repeats the shape at
//! every corner of a path. Markers cannot be hovered, so the path itself, wide and invisible,
//! catches the mouse.

use std::fmt::Write;

use super::cluster::{self, Cluster, Point, counts};
use super::{Lane, Mark};
use crate::picture::prelude::*;

/// Joined expected outcomes become a bar if their average distance is below this.
const SPREAD: f64 = 10.0;
/// The same in a dense lane, to keep it small.
const SPREAD_CROWDED: f64 = 24.0;
const CROWD: usize = 120;
/// Smallest distance of other joined marks, and most of them.
const APART: f64 = 8.0;
const SHAPES_MAX: f64 = 10.0;
/// Half the height of a bar.
const HALF: f64 = 4.0;
/// A shorter mark is drawn as a point, not as a bar.
const BAR_MIN: f64 = 3.0;

/// A lane and where it is drawn.
pub(super) struct Place<'a> {
    pub(super) lane: &'a Lane,
    pub(super) frame: &'a Frame<'a>,
    /// The marks of the lane that are shown.
    pub(super) marks: Vec<&'a Mark>,
    pub(super) scale: &'a TimeScale,
    /// The middle of the lane.
    pub(super) y: f64,
}

/// The shapes of outcomes, to be repeated along a path.
pub(super) fn markers(id: &str) -> Markup {
    html! {
        @for outcome in Outcome::ALL {
            marker id={(id) "-" (outcome.class())} markerUnits="userSpaceOnUse" overflow="visible" { (outcome.glyph()) }
        }
    }
}

/// Whether it needs no attention.
fn as_planned(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Done | Outcome::Planned)
}

impl Place<'_> {
    /// Joins the marks until there are at most `most` clusters.
    pub(super) fn join(&self, most: usize) -> Vec<Cluster> {
        let points = self.marks.iter().enumerate().map(|(index, mark)| Point {
            x: self.scale.x(mark.at),
            end: self.scale.x(mark.until.unwrap_or(mark.at).max(mark.at)),
            outcome: mark.outcome,
            index,
        });
        cluster::join(points.collect(), most)
    }

    pub(super) fn draw(&self, clusters: &[Cluster]) -> Markup {
        html! {
            @for cluster in clusters {
                @if let [point] = cluster[..] {
                    @let alone = self.marks[point.index];
                    (mark(alone.href.as_deref(), &alone.label, &self.alike(&[point], point.outcome)))
                } @else {
                    (mark(Some(&self.lane.href), &self.describe(cluster), &self.joined(cluster)))
                }
            }
        }
    }

    /// Each outcome separately; those that need attention on top.
    fn joined(&self, cluster: &[Point]) -> Markup {
        html! {
            @for outcome in counts(cluster).present() { (self.alike(cluster, outcome)) }
        }
    }

    fn alike(&self, points: &[Point], outcome: Outcome) -> Markup {
        let points = points.iter().filter(|point| point.outcome == outcome);
        let (mut starts, mut end, mut long) = (Vec::new(), 0.0_f64, false);
        for point in points {
            starts.push(point.x);
            end = end.max(point.end);
            long |= point.end - point.x >= BAR_MIN;
        }
        let (Some(first), Some(last)) = (starts.first().copied(), starts.last().copied()) else {
            return Markup::default();
        };
        let crowded = self.marks.len() > CROWD;
        let spread = if crowded { SPREAD_CROWDED } else { SPREAD };
        let dense = as_planned(outcome) && last - first < spread * real(starts.len() - 1);
        match (long, dense) {
            (true, _) => html! {
                (self.bar(first, end, outcome))
                @if !as_planned(outcome) { (self.shapes(outcome, &[f64::midpoint(first, end)])) }
            },
            (false, true) => self.bar(first - HALF, end + HALF, outcome),
            (false, false) if as_planned(outcome) => self.shapes(outcome, &starts),
            (false, false) => self.shapes(outcome, &thinned(&starts, first, last)),
        }
    }

    fn bar(&self, from: f64, until: f64, outcome: Outcome) -> Markup {
        let (from, until) = (from.round(), until.round());
        let class = format!("bar {}", outcome.class());
        rounded(
            &class,
            [from, self.y - HALF],
            [until - from, 2.0 * HALF],
            4.0,
        )
    }

    /// A path with the outcome's shape at every corner except the first and the last, which are
    /// therefore doubled.
    fn shapes(&self, outcome: Outcome, starts: &[f64]) -> Markup {
        let mut corners = String::new();
        let mut last: Option<f64> = None;
        for x in starts.iter().map(|x| x.round()) {
            // Writing to a String cannot fail, here and below.
            let _ = match last {
                None => write!(corners, "M{} {}h0", Px(x), Px(self.y)),
                Some(last) => write!(corners, "h{}", Px(x - last)),
            };
            last = Some(x);
        }
        corners.push_str("h0");
        html! { path d=(corners) marker-mid={"url(#" (self.frame.id) "-" (outcome.class()) ")"} {} }
    }

    /// `13:00–13:20: 12 done, 2 failed`; the lane's label says of what.
    fn describe(&self, cluster: &[Point]) -> String {
        let marks = || cluster.iter().map(|point| self.marks[point.index]);
        let first = marks().map(|mark| mark.at).min();
        let first = first.unwrap_or(Timestamp::UNIX_EPOCH);
        let last = marks().map(|mark| mark.until.unwrap_or(mark.at)).max();
        let [first, last] =
            [first, last.unwrap_or(first)].map(|at| clock::time(at, self.frame.zone));
        let words = counts(cluster).words(self.frame.lang);
        say!(self.frame.lang; "{first}–{last}: {words}", "{first}–{last}：{words}")
    }
}

/// Some of many places, the first among them.
fn thinned(starts: &[f64], first: f64, last: f64) -> Vec<f64> {
    let apart = APART.max((last - first) / SHAPES_MAX);
    let mut kept: Vec<f64> = Vec::new();
    for x in starts {
        if kept.last().is_none_or(|last| x - last >= apart) {
            kept.push(*x);
        }
    }
    kept
}
