//! The batches of an edition, and what they spent of the budget.

use almanack_core::edition::Account;
use almanack_core::edition::batch::Batch;
use almanack_core::edition::forecast::Forecast;

use super::{frame, words};
use crate::picture::burn::{self, Burn};
use crate::ui::prelude::*;

/// What each batch did and spent; `budget` is what one tick may spend.
pub(super) fn show(viewer: &Viewer, account: &Account, forecast: &Forecast, budget: u32) -> Markup {
    let lang = viewer.lang;
    if account.batches.is_empty() {
        return empty(lang.pick("No batch has begun yet.", "尚无批次开始。"));
    }
    let head = [
        lang.pick("Batch", "批次"),
        lang.pick("Status", "状态"),
        lang.pick("Node", "节点"),
        lang.pick("Stories", "文章"),
        lang.pick("Requests", "请求"),
        lang.pick("Of a model", "模型请求"),
        lang.pick("Tokens in and out", "输入与输出词元"),
        lang.pick("Began", "开始"),
        lang.pick("Took", "耗时"),
        lang.pick("Error", "错误"),
    ];
    let rows = html! { @for batch in &account.batches { (row(viewer, batch)) } };
    html! {
        (spending(viewer, account, forecast, budget))
        (table(lang.pick("Batches by number", "按编号的批次"), &head, &rows))
    }
}

fn row(viewer: &Viewer, batch: &Batch) -> Markup {
    let (lang, index, spend) = (viewer.lang, batch.index, &batch.spend);
    let took = batch
        .duration_ms()
        .map(|ms| length(lang, SignedDuration::from_millis(ms)));
    html! {
        tr data-row id={ "batch-" (index) } {
            th scope="row" class="narrow" { (say!(lang, "batch {index}", "批次 {index}")) }
            td { (words::batch(lang, batch.status)) }
            td class="narrow" { a href="/ui/nodes" { (batch.node) } }
            td class="number" { (batch.story_count) }
            td class="number" { (spend.requests) }
            td class="number" { (spend.model_requests) }
            td class="number" { (spend.tokens_in) " / " (spend.tokens_out) }
            td { (viewer.at(batch.started_at)) }
            td class="narrow" { (or_dash(took.as_deref())) }
            td { @if let Some(error) = &batch.error_message { (lang.english(error)) } @else { (or_dash(None)) } }
        }
    }
}

/// The budget is a tick's; the plan has so many ticks as batches, and may spend so many budgets.
fn spending(viewer: &Viewer, account: &Account, forecast: &Forecast, budget: u32) -> Markup {
    let lang = viewer.lang;
    let batches: Vec<burn::Batch> = account
        .batches
        .iter()
        .map(|batch| spent(viewer, batch))
        .collect();
    let begun = u32::try_from(batches.len()).unwrap_or(u32::MAX);
    let planned = forecast.batches_planned.max(begun);
    let burn = Burn {
        limit: u64::from(budget) * u64::from(planned),
        batches: &batches,
    };
    let (list, all) = (account.edition.list_requests, account.requests());
    html! {
        (burn::draw(&burn, &frame(viewer, "burn", lang.pick("Budget spent, batch by batch", "各批次花费的预算"))))
        p class="hint" { (say!(lang;
            "A tick may spend {budget} requests; {planned} batches are planned. With the list ({list}) and the deliveries, {all} were spent so far.",
            "每个节拍最多 {budget} 次请求，计划 {planned} 批。连同列表（{list} 次）与投递，至今共 {all} 次。")) }
    }
}

fn spent(viewer: &Viewer, batch: &Batch) -> burn::Batch {
    let index = batch.index;
    burn::Batch {
        name: say!(viewer.lang, "batch {index}", "批次 {index}"),
        spent: u64::from(batch.spend.requests),
        href: Some(format!("#batch-{index}")),
    }
}
