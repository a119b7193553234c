//! A budget and what was spent of it, batch by batch: steps that climb towards the line of the limit.

use maud::{Markup, Render, html};

use crate::{
    picture::{
        axis::{Px, Scale, number_ticks, real},
        figure::{Cell, Drawing, Figure, Frame, Table, mark, scroller},
        outcome::Outcome,
    },
    ui::lang::{Lang, say},
};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = 70.0;
const TOP: f64 = 16.0;
const FOOT: f64 = HEIGHT - 28.0;
/// Most batches; an edition has a few.
const BATCHES_MAX: usize = 200;

/// A budget and what was spent of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Burn<'a> {
    /// How much may be spent in all.
    pub(crate) limit: u64,
    /// What was spent, in order.
    pub(crate) batches: &'a [Batch],
}

/// What one batch spent.
#[derive(Debug, Clone)]
pub(crate) struct Batch {
    /// What people call it: `batch 3`, or when it was.
    pub(crate) name: String,
    /// How much it spent.
    pub(crate) spent: u64,
    /// Its page.
    pub(crate) href: Option<String>,
}

/// A batch and what had been spent before and after it.
struct Step<'a> {
    batch: &'a Batch,
    before: u64,
    after: u64,
}

/// Draws a budget.
pub(crate) fn draw(burn: &Burn<'_>, frame: &Frame<'_>) -> Markup {
    let batches = &burn.batches[..burn.batches.len().min(BATCHES_MAX)];
    let mut sum = 0_u64;
    let steps: Vec<Step<'_>> = batches
        .iter()
        .map(|batch| {
            let before = sum;
            sum = sum.saturating_add(batch.spent);
            Step {
                batch,
                before,
                after: sum,
            }
        })
        .collect();
    let summary = summary(sum, burn.limit, steps.len(), frame.lang);
    let drawing = Drawing {
        frame,
        size: (WIDTH, HEIGHT),
        class: "wide",
        links: true,
        summary: &summary,
        inside: inside(&steps, sum, burn.limit, frame.lang),
    };
    let figure = Figure {
        frame: *frame,
        drawing: scroller(frame, &drawing.render()),
        legend: Markup::default(),
        table: Some(table(&steps, burn.limit, frame.lang)),
        summary,
    };
    figure.render()
}

fn amount(n: u64) -> f64 {
    real(usize::try_from(n).unwrap_or(usize::MAX))
}

fn inside(steps: &[Step<'_>], sum: u64, limit: u64, lang: Lang) -> Markup {
    let ticks = number_ticks(amount(limit.max(sum)), 5);
    let scale = Scale {
        from: 0.0,
        until: ticks.last().copied().unwrap_or(1.0),
        low: FOOT,
        high: TOP,
    };
    let width = (WIDTH - LEFT - RIGHT) / real(steps.len().max(1));
    let top = scale.place(amount(limit));
    let every = steps.len().div_ceil(10).max(1);
    html! {
        @for tick in ticks {
            @let y = scale.place(tick);
            path.tick d={"M" (Px(LEFT)) " " (Px(y)) "H" (Px(WIDTH - RIGHT))} {}
            text.value x=(Px(LEFT - 8.0)) y=(Px(y + 4.0)) { (Px(tick)) }
        }
        g aria-hidden="true" { @for (number, step) in steps.iter().enumerate() {
            (column(step, LEFT + real(number) * width, width, &scale, limit, lang))
            @if number % every == 0 { text.hour x=(Px(LEFT + (real(number) + 0.5) * width)) y=(Px(FOOT + 17.0)) { (number + 1) } }
        } }
        path.step d=(stairs(steps, width, &scale)) {}
        path.limit d={"M" (Px(LEFT)) " " (Px(top)) "H" (Px(WIDTH - RIGHT))} {}
        text.limit x=(Px(WIDTH - RIGHT + 6.0)) y=(Px(top + 4.0)) { (say!(lang, "limit {limit}", "上限 {limit}")) }
    }
}

/// What a batch added, on top of what was spent before; a cross where it went beyond the limit.
fn column(step: &Step<'_>, x: f64, width: f64, scale: &Scale, limit: u64, lang: Lang) -> Markup {
    let (top, foot) = (
        scale.place(amount(step.after)),
        scale.place(amount(step.before)),
    );
    let over = step.after > limit;
    let ink = html! {
        rect.hit x=(Px(x)) y=(Px(TOP)) width=(Px(width)) height=(Px(FOOT - TOP)) {}
        rect.spent x=(Px(x)) y=(Px(foot)) width=(Px(width)) height=(Px(FOOT - foot)) {}
        rect class=(if over { "column over" } else { "column" }) x=(Px(x)) y=(Px(top)) width=(Px(width)) height=(Px(foot - top)) {}
        @if over {
            g transform={"translate(" (Px(x + width / 2.0)) " " (Px((top - 9.0).max(6.0))) ")"} { (Outcome::Failed.glyph()) }
        }
    };
    mark(step.batch.href.as_deref(), &told(step, limit, lang), &ink)
}

fn told(step: &Step<'_>, limit: u64, lang: Lang) -> String {
    let (name, spent, after) = (&step.batch.name, step.batch.spent, step.after);
    let left = limit.saturating_sub(after);
    say!(
        lang,
        "{name}: {spent} spent, {after} in all, {left} left",
        "{name}：花费 {spent}，累计 {after}，剩余 {left}"
    )
    .into_owned()
}

fn stairs(steps: &[Step<'_>], width: f64, scale: &Scale) -> String {
    let steps = steps.iter().map(|step| {
        let top = scale.place(amount(step.after));
        format!("V{}h{}", Px(top), Px(width))
    });
    let steps: Vec<String> = steps.collect();
    format!("M{} {}{}", Px(LEFT), Px(FOOT), steps.concat())
}

fn summary(sum: u64, limit: u64, count: usize, lang: Lang) -> String {
    match sum.checked_sub(limit) {
        None | Some(0) => {
            let left = limit.saturating_sub(sum);
            say!(
                lang,
                "{sum} of {limit} spent in {count} batches, {left} left.",
                "{count} 批共花费 {sum}，上限 {limit}，剩余 {left}。"
            )
        }
        Some(over) => say!(
            lang,
            "{sum} of {limit} spent in {count} batches, {over} too much.",
            "{count} 批共花费 {sum}，上限 {limit}，超出 {over}。"
        ),
    }
    .into_owned()
}

fn table(steps: &[Step<'_>], limit: u64, lang: Lang) -> Table {
    let rows = steps.iter().map(|step| {
        vec![
            Cell::link(step.batch.name.clone(), step.batch.href.as_deref()),
            Cell::from(step.batch.spent.to_string()),
            Cell::from(step.after.to_string()),
            Cell::from(limit.saturating_sub(step.after).to_string()),
        ]
    });
    Table {
        head: vec![
            say!(lang, "Batch", "批次"),
            say!(lang, "Spent", "花费"),
            say!(lang, "In all", "累计"),
            say!(lang, "Left", "剩余"),
        ],
        rows: rows.collect(),
    }
}

#[cfg(test)]
mod tests;
