//! The slot ledger: the result of every slot with its reason, newest first.

use almanack_core::follow::Course;
use almanack_core::plan::{ByHand, FiredByHand, LedgerRow, Slot, Trigger, Verdict};

use super::{path, words};
use crate::schedules::ledger::{cursor, load_rows, parse_cursor};
use crate::schedules::view::fired;
use crate::ui::prelude::*;

/// Rows on a page.
const PAGE: usize = 50;

pub(crate) async fn show(
    state: &AppState,
    viewer: &Viewer,
    schedule: &Schedule,
    before: Option<&str>,
) -> Page {
    let from = before.map(parse_cursor).transpose()?;
    let before_at = from.unwrap_or(Timestamp::MAX);
    let (slots, more) = load_rows(state, schedule, before_at, PAGE).await?;
    let fired = fired(state, &schedule.name, &slots).await?;
    let here = path(&schedule.name);
    let next = slots.last().filter(|_| more).map(|last| cursor(last.at()));
    let next = next.map(|next| address(&here, [("before", next.as_str())]) + "#ledger");
    let first = before.map(|_| format!("{here}#ledger"));
    Ok(section! { viewer.lang; "ledger", "Slot ledger", "时点台账";
        (rows(viewer, &here, &slots, &fired))
        (pager(viewer.lang, first.as_deref(), next.as_deref()))
        (Equivalent::act("GET", "schedule", &schedule.name, "slots").show(viewer))
    })
}

fn rows(
    viewer: &Viewer,
    here: &str,
    slots: &[LedgerRow],
    fired: &[Option<(Task, Course)>],
) -> Markup {
    let lang = viewer.lang;
    let why = |row: &LedgerRow| {
        let at = row.at().to_string();
        let href = address(here, [("at", at.as_str())]) + "#why";
        let label = say!(lang, "Why {at}?", "为什么 {at}？");
        html! { a href=(href) data-open aria-label=(label) { (lang.pick("why?", "为什么？")) } }
    };
    let outcome = |(task, course): &(Task, Course)| {
        html! {
            a href=(task_path(&task.identity)) { (words::course(lang, course.outcome)) }
            @if let Some(detail) = &course.detail { div class="hint" { (english(lang, detail)) } }
        }
    };
    let started = |(_, course): &(Task, Course)| course.started_at.map(|at| viewer.at(at));
    let lasting =
        |ms: Option<i64>| ms.map(|ms| html! { (length(lang, SignedDuration::from_millis(ms))) });
    let log = |(task, _): &(Task, Course)| {
        let at = task.identity.subject.as_str();
        let label = say!(lang, "Log of {at}", "{at} 的日志");
        html! { a href=(links::run_log(task.id)) data-open aria-label=(label) { (lang.pick("log", "日志")) } }
    };
    let may_read = viewer.may(Scope::Operate);
    let rows = table! { lang; "Slot ledger", "时点台账";
        or "No slots yet.", "还没有时点。";
        for ((row, run) in slots.iter().zip(fired)) tr(data-row)
        "Slot", "时点" { td { (times(viewer, row)) } }
        "Result", "结果" { td { (became(lang, row)) } }
        "Outcome", "最终结果" { td { (or_dash(run.as_ref().map(outcome))) } }
        "Started", "开始于" { td { (or_dash(run.as_ref().and_then(started))) } }
        "Late by", "延迟" { td { (or_dash(run.as_ref().and_then(|(_, it)| lasting(it.late_ms)))) } }
        "Took", "耗时" { td { (or_dash(run.as_ref().and_then(|(_, it)| lasting(it.took_ms)))) } }
        "Log", "日志" { td { (or_dash(run.as_ref().filter(|_| may_read).map(log))) } }
        "Decided", "决定于" { td { (viewer.at(decided_at(row))) } }
        "Revision", "修订" { td { (or_dash(revision(row))) } }
        "Why?", "为什么？" { td { (or_dash(is_slot(row).then(|| why(row)))) } }
    };
    html! { @if slots.is_empty() { (rows) } @else { div class="tall" { (rows) } } }
}

fn decided_at(row: &LedgerRow) -> Timestamp {
    match row {
        LedgerRow::Slot(slot) => slot.decided_at,
        LedgerRow::ByHand(fired) => fired.decided_at,
    }
}

fn revision(row: &LedgerRow) -> Option<Markup> {
    match row {
        LedgerRow::Slot(slot) => Some(html! { (slot.revision) }),
        LedgerRow::ByHand(_) => None,
    }
}

/// A manual firing is at no slot, so there is nothing to ask about.
fn is_slot(row: &LedgerRow) -> bool {
    !matches!(row, LedgerRow::ByHand(fired) if fired.verdict == ByHand::Manual)
}

fn times(viewer: &Viewer, row: &LedgerRow) -> Markup {
    match row {
        LedgerRow::Slot(slot) => span(viewer, slot),
        LedgerRow::ByHand(fired) => viewer.at(fired.slot_at),
    }
}

fn became(lang: Lang, row: &LedgerRow) -> Markup {
    match row {
        LedgerRow::Slot(slot) => verdict(lang, slot),
        LedgerRow::ByHand(fired) => by_hand(lang, fired),
    }
}

fn by_hand(lang: Lang, fired: &FiredByHand) -> Markup {
    let by = &fired.by;
    let trigger = match fired.verdict {
        ByHand::Manual => Trigger::Manual,
        ByHand::Backfilled => Trigger::Backfill,
    };
    html! {
        (words::by_hand(lang, trigger))
        div class="hint" { (say!(lang, "by {by}", "操作人：{by}")) }
    }
}

fn span(viewer: &Viewer, slot: &Slot) -> Markup {
    let (lang, count) = (viewer.lang, slot.slots);
    html! {
        (viewer.at(slot.slot_at))
        @if count > 1 {
            div { (lang.pick("to ", "至 ")) (viewer.at(slot.last_at)) }
            div { (say!(lang, "{count} slots", "{count} 个时点")) }
        }
    }
}

fn verdict(lang: Lang, slot: &Slot) -> Markup {
    html! {
        // A fired slot says nothing about its result: the next cell shows that.
        @match slot.verdict {
            Verdict::Fired | Verdict::CaughtUp | Verdict::Pinged => (words::verdict(lang, slot.verdict)),
            Verdict::Skipped(reason) => {
                (badge("skipped", words::verdict(lang, slot.verdict)))
                div { (words::reason(lang, reason)) }
            },
        }
        @if let Some(detail) = &slot.detail { div class="hint" { (english(lang, detail)) } }
    }
}
