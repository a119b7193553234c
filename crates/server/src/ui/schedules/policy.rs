//! The policies of a schedule in words: what happens when things do not go as planned.

use almanack_core::plan::{CatchUp, Definition, OnResume, Overlap};

use crate::ui::prelude::*;

/// The policies, each with its name and a sentence.
pub(crate) fn policies(lang: Lang, definition: &Definition) -> Vec<(&'static str, String)> {
    let level = definition.priority;
    let priority = say!(lang; "{level} of 0 to 9; 9 goes first.",
        "{level}（0 到 9，9 最先）。");
    vec![
        (
            lang.pick("Missed slots", "错过的时点"),
            catch_up(lang, definition),
        ),
        (lang.pick("Grace", "宽限"), grace(lang, definition)),
        (
            lang.pick("Overlap", "重叠"),
            overlap(lang, definition.overlap).to_owned(),
        ),
        (
            lang.pick("After a pause", "暂停之后"),
            on_resume(lang, definition.on_resume).to_owned(),
        ),
        (lang.pick("Spread", "错峰"), splay(lang, definition.splay)),
        (lang.pick("Retries", "重试"), retry_for(lang, definition)),
        (lang.pick("Priority", "优先级"), priority),
    ]
}

fn catch_up(lang: Lang, definition: &Definition) -> String {
    let (most, pace) = (definition.max_catch_up, compact(definition.catch_up_pace));
    match definition.catch_up {
        CatchUp::None => say!(lang; "Slots that were missed stay skipped.",
            "错过的时点不再触发。"),
        CatchUp::Latest => say!(lang;
            "Of the slots that were missed the last one fires, if it is within its grace.",
            "错过的时点中，最后一个若在宽限时间内则补触发。"),
        CatchUp::All => say!(lang;
            "Slots that were missed fire one after the other, {pace} apart, the newest {most} of those within their grace.",
            "错过的时点按顺序补触发，间隔 {pace}，只取宽限时间内最近的 {most} 个。"),
    }
}

fn grace(lang: Lang, definition: &Definition) -> String {
    match (definition.grace.map(compact), definition.catch_up) {
        (Some(grace), _) => say!(lang; "A slot may fire up to {grace} late.",
            "时点最多可迟到 {grace}。"),
        (None, CatchUp::All) => say!(lang; "A slot may fire up to 12h late.",
            "时点最多可迟到 12h。"),
        (None, CatchUp::None | CatchUp::Latest) => say!(lang;
            "A slot may be late by half the gap to the next one, at most 12h.",
            "时点最多可迟到“到下一时点间隔的一半”，且不超过 12h。"),
    }
}

fn splay(lang: Lang, splay: SignedDuration) -> String {
    if splay.is_zero() {
        return pick!(lang; "Fires at the slot itself.",
            "在时点当时触发。")
        .to_owned();
    }
    let splay = compact(splay);
    let told = say!(lang; "Waits a fixed part of {splay} of its own after every slot.",
        "每个时点之后固定延迟，最长 {splay}。");
    told
}

fn retry_for(lang: Lang, definition: &Definition) -> String {
    match definition.retry_for.map(compact) {
        Some(retry_for) => say!(lang; "A firing that fails is tried again for {retry_for}.",
            "触发失败后在 {retry_for} 内重试。"),
        None => {
            say!(lang; "A firing that fails is tried again until the next slot, for 10s to 1h.",
            "触发失败后重试到下一时点为止（10s 到 1h）。")
        }
    }
}

/// What becomes of a slot whose predecessor has not ended.
pub(crate) fn overlap(lang: Lang, overlap: Overlap) -> &'static str {
    match overlap {
        Overlap::Skip => pick!(lang; "A slot is skipped while the firing before it has not ended.",
            "上一次触发未结束时，跳过该时点。"),
        Overlap::QueueOne => pick!(lang;
            "A slot waits for the firing before it; what comes while it waits is skipped.",
            "时点等待上一次触发结束；等待期间的其他时点跳过。"),
        Overlap::Allow => pick!(lang; "A slot fires even if the firing before it has not ended.",
            "即使上一次触发未结束也照常触发。"),
        Overlap::CancelRunning => pick!(lang; "A slot cancels the firing before it, and fires.",
            "取消上一次触发，然后触发。"),
    }
}

/// What becomes of the slots of a pause.
pub(crate) fn on_resume(lang: Lang, on_resume: OnResume) -> &'static str {
    match on_resume {
        OnResume::Skip => pick!(lang; "The slots of a pause stay skipped.",
            "暂停期间的时点保持跳过。"),
        OnResume::Latest => pick!(lang;
            "The last slot of a pause fires when it ends, if it is within its grace.",
            "恢复时，暂停期间的最后一个时点若在宽限时间内则触发。"),
    }
}

/// A duration as definitions write it: `1h 30m`.
fn compact(duration: SignedDuration) -> String {
    format!("{duration:#}")
}
