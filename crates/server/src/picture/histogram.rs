//! A histogram of durations or delays.
//!
//! Bins are round durations about a factor of two apart ([`span::ROUND`]), all equally wide: a
//! millisecond and an hour fit on one page. Lines mark the 50th, 95th and 99th percentile.

use super::prelude::*;
use super::span::ROUND;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 54.0;
const FOOT: f64 = HEIGHT - 30.0;
const PERCENTILES: [usize; 3] = [50, 95, 99];
/// Fewest bins to draw.
const BINS_MIN: usize = 6;

/// Lengths from `from` on and below `until`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bin {
    from: i64,
    until: i64,
    count: usize,
}

/// Draws the histogram of durations, in any order; negative (early) values count as zero.
pub(crate) fn draw(lengths: &[SignedDuration], frame: &Frame<'_>) -> Markup {
    let lengths = lengths
        .iter()
        .map(|length| (*length).max(SignedDuration::ZERO));
    let mut sorted: Vec<_> = lengths.collect();
    sorted.sort_unstable();
    let (bins, lang) = (bins(&sorted), frame.lang);
    let ink = inside(&sorted, &bins, lang);
    let row = |bin: &Bin| {
        [
            Cell::from(describe(bin, lang)),
            bin.count.to_string().into(),
        ]
    };
    Figure::new(frame, summary(&sorted, lang))
        .wide("wide", [WIDTH, HEIGHT], Marks::Plain, &ink)
        .table(
            &[("Duration", "时长"), ("Count", "次数")],
            bins.iter().map(row),
        )
        .render()
}

/// The bin of a duration; the first starts at zero.
fn bin_of(millis: i64) -> usize {
    ROUND
        .partition_point(|edge| *edge <= millis)
        .min(ROUND.len() - 1)
}

/// The bins from the shortest to the longest duration, and a few more if there are few.
fn bins(sorted: &[SignedDuration]) -> Vec<Bin> {
    let place =
        |length: Option<&SignedDuration>| length.map_or(0, |length| bin_of(span::millis(*length)));
    let (mut first, mut last) = (place(sorted.first()), place(sorted.last()));
    while last - first + 1 < BINS_MIN {
        first = first.saturating_sub(1);
        last = (last + 1).min(ROUND.len() - 1);
    }
    let edge = |number: usize| if number == 0 { 0 } else { ROUND[number - 1] };
    let mut bins: Vec<Bin> = (first..=last)
        .map(|number| Bin {
            from: edge(number),
            until: ROUND[number],
            count: 0,
        })
        .collect();
    for length in sorted {
        bins[bin_of(span::millis(*length)) - first].count += 1;
    }
    bins
}

/// The position of a duration: linear within its bin.
fn place(length: SignedDuration, bins: &[Bin], width: f64) -> f64 {
    let millis = span::millis(length);
    let number = bins.iter().rposition(|bin| bin.from <= millis).unwrap_or(0);
    let within = bins.get(number).map_or(0.0, |bin| {
        let whole = SignedDuration::from_millis(bin.until - bin.from);
        let part = SignedDuration::from_millis(millis.saturating_sub(bin.from).max(0));
        (part.as_secs_f64() / whole.as_secs_f64()).clamp(0.0, 1.0)
    });
    LEFT + (real(number) + within) * width
}

fn inside(sorted: &[SignedDuration], bins: &[Bin], lang: Lang) -> Markup {
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(0);
    let (scale, rungs) = number_axis(real(most), [FOOT, TOP], [LEFT, WIDTH - RIGHT]);
    let width = (WIDTH - LEFT - RIGHT) / real(bins.len().max(1));
    // Neighbouring labels would touch if there are many bins.
    let every = bins.len().div_ceil(10).max(1);
    html! {
        (rungs)
        @for (number, bin) in bins.iter().enumerate() {
            @let (x, top) = (LEFT + real(number) * width, scale.place(real(bin.count)));
            (titled(html! { (describe(bin, lang)) ": " (bin.count) }, html! {
                (rect("hit", [x, TOP], [width, FOOT - TOP]))
                @if bin.count > 0 {
                    (rounded("column", [x + 1.0, top.min(FOOT - 1.0)], [width - 2.0, (FOOT - top).max(1.0)], 2.0))
                }
            }))
            @if number % every == 0 {
                (text("hour", [x, FOOT + 18.0], span::words(SignedDuration::from_millis(bin.from), lang)))
            }
        }
        (marks(sorted, bins, width, lang))
    }
}

/// The percentiles, each label on a separate line so that equal ones stay readable.
fn marks(sorted: &[SignedDuration], bins: &[Bin], width: f64, lang: Lang) -> Markup {
    html! {
        @for (row, percent) in PERCENTILES.into_iter().enumerate() {
            @if let Some(length) = span::percentile(sorted, percent) {
                @let (x, y) = (place(length, bins, width), 14.0 + 15.0 * real(row));
                // A label near the right edge goes left of its line.
                @let (class, beside) = if x > WIDTH - 130.0 { ("mean left", -5.0) } else { ("mean", 5.0) };
                (down("mean", x, y - 8.0, FOOT))
                (text(class, [x + beside, y], format!("p{percent} {}", span::words(length, lang))))
            }
        }
    }
}

fn describe(bin: &Bin, lang: Lang) -> String {
    let words = |edge| span::words(SignedDuration::from_millis(edge), lang);
    let (from, until) = (words(bin.from), words(bin.until));
    say!(lang, "{from} to {until}", "{from} 至 {until}")
}

fn summary(sorted: &[SignedDuration], lang: Lang) -> String {
    let count = sorted.len();
    if count == 0 {
        return say!(lang; "No measurements yet.", "尚无测量值。");
    }
    let words = |percent| {
        span::percentile(sorted, percent)
            .map_or_else(String::new, |length| span::words(length, lang))
    };
    let [half, most, nearly] = PERCENTILES.map(words);
    say!(lang; "Count {count}: p50 {half}, p95 {most}, p99 {nearly}.",
        "共 {count} 次：p50 {half}，p95 {most}，p99 {nearly}。")
}

#[cfg(test)]
mod tests;
