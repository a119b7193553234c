//! The last outcomes of something, one bar each, the newest at the right.
//!
//! Bars differ in height and make as well as in colour. There are two: [`inline`] stands in a row of a list and is an image
//! with a sentence; [`draw`] is a figure with links and a table.

use std::borrow::Cow;

use jiff::Timestamp;
use maud::{Markup, Render, html};

use crate::{
    picture::{
        axis::{Px, real},
        clock,
        figure::{Cell, Drawing, Figure, Frame, Table, mark},
        outcome::{Counts, Outcome, legend},
    },
    ui::lang::{Lang, say},
};

/// Most bars of a strip; the newest are shown.
pub(crate) const BEATS_MAX: usize = 60;
const STEP: f64 = 8.0;
const BAR: f64 = 5.0;
const HEIGHT: f64 = 28.0;
/// A strip of few beats is not stretched over the page.
const STEPS_MIN: usize = 30;

/// One outcome.
#[derive(Debug, Clone)]
pub(crate) struct Beat {
    /// When.
    pub(crate) at: Timestamp,
    /// How it went.
    pub(crate) outcome: Outcome,
    /// Why, or what was said; may be empty.
    pub(crate) why: String,
    /// Its page.
    pub(crate) href: Option<String>,
}

/// Draws a strip as a figure; `beats` from the oldest to the newest.
pub(crate) fn draw(beats: &[Beat], frame: &Frame<'_>) -> Markup {
    let beats = newest(beats);
    let counts = counts(beats);
    let summary = summary(beats, frame.lang).into_owned();
    let bars = html! { g aria-hidden="true" { @for (number, beat) in beats.iter().enumerate() {
        (mark(beat.href.as_deref(), &told(beat, frame), &bar(number, beats.len(), beat.outcome)))
    } } };
    let figure = Figure {
        frame: *frame,
        drawing: Drawing {
            frame,
            size: size(beats.len()),
            class: "strip",
            links: true,
            summary: &summary,
            inside: bars,
        }
        .render(),
        legend: legend(counts.present(), frame.lang),
        table: Some(table(beats, frame)),
        summary,
    };
    figure.render()
}

/// Draws a strip that stands among words, without links.
pub(crate) fn inline(beats: &[Beat], frame: &Frame<'_>) -> Markup {
    let beats = newest(beats);
    let bars = html! { @for (number, beat) in beats.iter().enumerate() {
        g { (bar(number, beats.len(), beat.outcome)) title { (told(beat, frame)) } }
    } };
    let summary = summary(beats, frame.lang);
    let (width, height) = size(beats.len());
    html! {
        svg class="picture strip inline" viewBox={"0 0 " (Px(width)) " " (Px(height))} role="img" aria-label={(frame.caption) ": " (summary)} { (bars) }
    }
}

fn newest(beats: &[Beat]) -> &[Beat] {
    &beats[beats.len().saturating_sub(BEATS_MAX)..]
}

fn counts(beats: &[Beat]) -> Counts {
    beats.iter().map(|beat| beat.outcome).collect()
}

fn size(beats: usize) -> (f64, f64) {
    (real(beats.max(STEPS_MIN)) * STEP, HEIGHT)
}

/// `58 of 60 done, 1 failed, 1 skipped`.
pub(crate) fn summary(beats: &[Beat], lang: Lang) -> Cow<'static, str> {
    let counts = counts(beats);
    let (total, done) = (counts.total(), counts.of(Outcome::Done));
    if total == 0 {
        return say!(lang, "nothing has happened yet", "尚无记录");
    }
    let rest: Vec<_> = counts
        .present()
        .filter(|outcome| *outcome != Outcome::Done)
        .map(|outcome| {
            let (count, name) = (counts.of(outcome), outcome.name(lang));
            say!(lang, ", {count} {name}", "，{count} 次{name}")
        })
        .collect();
    let rest = rest.concat();
    say!(
        lang,
        "{done} of {total} done{rest}",
        "{total} 次中 {done} 次完成{rest}"
    )
}

fn told(beat: &Beat, frame: &Frame<'_>) -> String {
    let (at, name) = (
        clock::moment(beat.at, frame.zone, frame.lang),
        beat.outcome.name(frame.lang),
    );
    match beat.why.as_str() {
        "" => say!(frame.lang, "{at}: {name}", "{at}：{name}").into_owned(),
        why => say!(frame.lang, "{at}: {name} – {why}", "{at}：{name} – {why}").into_owned(),
    }
}

/// The bar of an outcome: what went well stands tall and plain, everything else in a make of its own.
fn bar(number: usize, beats: usize, outcome: Outcome) -> Markup {
    // The newest stands at the right edge, however few there are.
    let x = (real(beats.max(STEPS_MIN)) - real(beats) + real(number)) * STEP + (STEP - BAR) / 2.0;
    let (top, foot) = match outcome {
        Outcome::Done => (4.0, 24.0),
        Outcome::Failed | Outcome::Unknown => (12.0, 24.0),
        Outcome::Skipped | Outcome::Planned | Outcome::Running => (9.0, 24.0),
        Outcome::Cancelled => (19.0, 24.0),
    };
    html! {
        rect.hit x=(Px(x - (STEP - BAR) / 2.0)) y="0" width=(Px(STEP)) height=(Px(HEIGHT)) {}
        rect class={"bar " (outcome.class())} x=(Px(x)) y=(Px(top)) width=(Px(BAR)) height=(Px(foot - top)) rx="1.5" {}
        @match outcome {
            Outcome::Skipped => path.hatch d={"M" (Px(x)) " 13l5-4M" (Px(x)) " 18l5-4M" (Px(x)) " 23l5-4"} {},
            Outcome::Failed => path.cross d={"M" (Px(x)) " 3l5 5m0-5l-5 5"} {},
            Outcome::Unknown => path.query d={"M" (Px(x)) " 8l2.5-5.5l2.5 5.5z"} {},
            _ => {},
        }
    }
}

fn table(beats: &[Beat], frame: &Frame<'_>) -> Table {
    let lang = frame.lang;
    let rows = beats.iter().rev().map(|beat| {
        vec![
            Cell::link(
                clock::moment(beat.at, frame.zone, lang),
                beat.href.as_deref(),
            ),
            Cell::from(beat.outcome.name(lang)),
            Cell::from(beat.why.clone()),
        ]
    });
    Table {
        head: vec![
            say!(lang, "When", "时间"),
            say!(lang, "Outcome", "结果"),
            say!(lang, "Why", "原因"),
        ],
        rows: rows.collect(),
    }
}

#[cfg(test)]
mod tests;
