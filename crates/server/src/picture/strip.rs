//! The last outcomes of something, one bar each, the newest at the right.
//!
//! Bars differ in height and pattern as well as in colour. There are two forms: [`inline`] for a
//! row of a list, an image with a description; [`draw`] for a figure with links and a table.

use super::prelude::*;

/// Most bars of a strip; the newest are shown.
pub(crate) const BEATS_MAX: usize = 60;
const STEP: f64 = 8.0;
const BAR: f64 = 5.0;
const HEIGHT: f64 = 28.0;
/// Fewest steps of a figure.
const STEPS_MIN: usize = 30;

#[derive(Debug, Clone)]
pub(crate) struct Beat {
    pub(crate) at: Timestamp,
    pub(crate) outcome: Outcome,
    /// The reason or the result; may be empty.
    pub(crate) why: String,
    pub(crate) href: Option<String>,
}

/// Draws a strip as a figure; `beats` from the oldest to the newest.
pub(crate) fn draw(beats: &[Beat], frame: &Frame<'_>) -> Markup {
    let beats = newest(beats);
    // A strip with few bars is not stretched over the page; the newest is at its right edge.
    let steps = beats.len().max(STEPS_MIN);
    let shift = steps - beats.len();
    let bars = html! { g aria-hidden="true" { @for (number, beat) in beats.iter().enumerate() {
        (mark(beat.href.as_deref(), &describe(beat, frame), &bar(number + shift, beat.outcome)))
    } } };
    let figure = Figure::new(frame, summary(beats, frame.lang));
    let drawing = figure.svg("strip", size(steps), Marks::Links, &bars);
    let head = [("When", "时间"), ("Outcome", "结果"), ("Why", "原因")];
    figure
        .with(&drawing)
        .legend(legend(counts(beats).present(), frame.lang))
        .table(&head, beats.iter().rev().map(|beat| row(beat, frame)))
        .render()
}

/// Draws an inline strip, without links. All of a list have one scale, however few bars some have.
pub(crate) fn inline(beats: &[Beat], frame: &Frame<'_>) -> Markup {
    let beats = newest(beats);
    let shift = BEATS_MAX - beats.len();
    let bars = html! { @for (number, beat) in beats.iter().enumerate() {
        (titled(describe(beat, frame), bar(number + shift, beat.outcome)))
    } };
    let label = format!("{}: {}", frame.caption, summary(beats, frame.lang));
    figure::inline("picture strip inline", size(BEATS_MAX), &label, &bars)
}

fn newest(beats: &[Beat]) -> &[Beat] {
    &beats[beats.len().saturating_sub(BEATS_MAX)..]
}

fn counts(beats: &[Beat]) -> Counts {
    beats.iter().map(|beat| beat.outcome).collect()
}

fn size(steps: usize) -> [f64; 2] {
    [real(steps) * STEP, HEIGHT]
}

/// `58 of 60 done, 1 failed, 1 skipped`.
pub(crate) fn summary(beats: &[Beat], lang: Lang) -> String {
    let counts = counts(beats);
    let (total, done) = (counts.total(), counts.of(Outcome::Done));
    if total == 0 {
        return lang.pick("no runs yet", "还没有运行").to_owned();
    }
    let others = counts.present().filter(|outcome| *outcome != Outcome::Done);
    let rest: String = others
        .map(|outcome| {
            let (count, name) = (counts.of(outcome), outcome.name(lang));
            say!(lang, ", {count} {name}", "，{count} 次{name}")
        })
        .collect();
    say!(lang; "{done} of {total} done{rest}", "{total} 次中 {done} 次完成{rest}")
}

fn describe(beat: &Beat, frame: &Frame<'_>) -> String {
    let (lang, name) = (frame.lang, beat.outcome.name(frame.lang));
    let at = frame.moment(beat.at);
    match beat.why.as_str() {
        "" => say!(lang, "{at}: {name}", "{at}：{name}"),
        why => say!(lang, "{at}: {name} – {why}", "{at}：{name} – {why}"),
    }
}

/// The bar of an outcome: success is tall and plain, every other outcome has its own pattern.
fn bar(step: usize, outcome: Outcome) -> Markup {
    let left = real(step) * STEP;
    let x = left + (STEP - BAR) / 2.0;
    let top = match outcome {
        Outcome::Done => 4.0,
        Outcome::Failed | Outcome::Unknown => 12.0,
        Outcome::Skipped | Outcome::Planned | Outcome::Running => 9.0,
        Outcome::Cancelled => 19.0,
    };
    let class = format!("bar {}", outcome.class());
    let again = format!("l5-4M{0} 18l5-4M{0} 23l5-4", Px(x));
    html! {
        (rect("hit", [left, 0.0], [STEP, HEIGHT]))
        (rounded(&class, [x, top], [BAR, 24.0 - top], 1.5))
        @match outcome {
            Outcome::Skipped => (path("hatch", [x, 13.0], again)),
            Outcome::Failed => (path("cross", [x, 3.0], "l5 5m0-5l-5 5")),
            Outcome::Unknown => (path("query", [x, 8.0], "l2.5-5.5l2.5 5.5z")),
            _ => {},
        }
    }
}

fn row(beat: &Beat, frame: &Frame<'_>) -> [Cell; 3] {
    [
        Cell::link(frame.moment(beat.at), beat.href.as_deref()),
        beat.outcome.name(frame.lang).into(),
        beat.why.clone().into(),
    ]
}

#[cfg(test)]
mod tests;
