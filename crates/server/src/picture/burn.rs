//! A budget and its spending by batch: steps that climb towards the limit.

use super::prelude::*;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 48.0;
const END: f64 = WIDTH - 70.0;
const TOP: f64 = 16.0;
const FOOT: f64 = HEIGHT - 28.0;
/// Most batches; an edition has a few.
const BATCHES_MAX: usize = 200;

/// What one batch spent.
#[derive(Debug, Clone)]
pub(crate) struct Batch {
    /// Its label, for example `batch 3`.
    pub(crate) name: String,
    /// How much it spent.
    pub(crate) spent: u64,
    pub(crate) href: Option<String>,
}

/// A batch and the total before and after it.
struct Step<'a> {
    batch: &'a Batch,
    before: u64,
    after: u64,
}

/// Draws a budget's limit, and its spending in order.
pub(crate) fn draw(limit: u64, batches: &[Batch], frame: &Frame<'_>) -> Markup {
    let lang = frame.lang;
    let batches = batches.iter().take(BATCHES_MAX);
    let mut sum = 0_u64;
    let steps: Vec<Step<'_>> = batches
        .map(|batch| {
            let before = sum;
            sum = sum.saturating_add(batch.spent);
            let after = sum;
            Step {
                batch,
                before,
                after,
            }
        })
        .collect();
    let ink = inside(&steps, sum, limit, lang);
    let head = [
        ("Batch", "批次"),
        ("Spent", "花费"),
        ("Total", "累计"),
        ("Left", "剩余"),
    ];
    Figure::new(frame, summary(sum, limit, steps.len(), lang))
        .wide("wide", [WIDTH, HEIGHT], Marks::Links, &ink)
        .table(&head, steps.iter().map(|step| row(step, limit)))
        .render()
}

fn inside(steps: &[Step<'_>], sum: u64, limit: u64, lang: Lang) -> Markup {
    let (scale, rungs) = number_axis(real(limit.max(sum)), [FOOT, TOP], [LEFT, END]);
    let width = (END - LEFT) / real(steps.len().max(1));
    let top = scale.place(real(limit));
    let every = steps.len().div_ceil(10).max(1);
    html! {
        (rungs)
        g aria-hidden="true" { @for (number, step) in steps.iter().enumerate() {
            @let x = LEFT + real(number) * width;
            (column(step, x, width, &scale, limit, lang))
            @if number % every == 0 { (text("hour", [x + width / 2.0, FOOT + 17.0], number + 1)) }
        } }
        (path("step", [LEFT, FOOT], stairs(steps, width, &scale)))
        (across("limit", top, LEFT, END))
        (text("limit", [END + 6.0, top + 4.0], say!(lang, "limit {limit}", "上限 {limit}")))
    }
}

/// The share of a batch, on top of the total before; a cross if it exceeds the limit.
fn column(step: &Step<'_>, x: f64, width: f64, scale: &Scale, limit: u64, lang: Lang) -> Markup {
    let [top, foot] = [step.after, step.before].map(|spent| scale.place(real(spent)));
    let over = step.after > limit;
    let class = if over { "column over" } else { "column" };
    let ink = html! {
        (rect("hit", [x, TOP], [width, FOOT - TOP]))
        (rect("spent", [x, foot], [width, FOOT - foot]))
        (rect(class, [x, top], [width, foot - top]))
        @if over { (at([x + width / 2.0, (top - 9.0).max(6.0)], Outcome::Failed.glyph())) }
    };
    mark(
        step.batch.href.as_deref(),
        &describe(step, limit, lang),
        &ink,
    )
}

fn describe(step: &Step<'_>, limit: u64, lang: Lang) -> String {
    let (name, spent, after) = (&step.batch.name, step.batch.spent, step.after);
    let left = limit.saturating_sub(after);
    say!(lang; "{name}: {spent} spent, total {after}, {left} left",
        "{name}：花费 {spent}，累计 {after}，剩余 {left}")
}

fn stairs(steps: &[Step<'_>], width: f64, scale: &Scale) -> String {
    let steps = steps.iter().map(|step| {
        let top = scale.place(real(step.after));
        format!("V{}h{}", Px(top), Px(width))
    });
    steps.collect()
}

fn summary(sum: u64, limit: u64, count: usize, lang: Lang) -> String {
    let left = limit.saturating_sub(sum);
    match sum.saturating_sub(limit) {
        0 => say!(lang; "Spent {sum} of {limit}, {left} left (batches: {count}).",
            "共花费 {sum}，上限 {limit}，剩余 {left}（{count} 批）。"),
        over => say!(lang; "Spent {sum} of {limit}, {over} over the limit (batches: {count}).",
            "共花费 {sum}，上限 {limit}，超出 {over}（{count} 批）。"),
    }
}

fn row(step: &Step<'_>, limit: u64) -> [Cell; 4] {
    [
        Cell::link(step.batch.name.clone(), step.batch.href.as_deref()),
        step.batch.spent.to_string().into(),
        step.after.to_string().into(),
        limit.saturating_sub(step.after).to_string().into(),
    ]
}

#[cfg(test)]
mod tests;
