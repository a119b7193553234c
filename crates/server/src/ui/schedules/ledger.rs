//! The slot ledger: the result of every slot with its reason, newest first.

use almanack_core::plan::{Slot, Verdict, slot_identity};
use almanack_core::store::LedgerPage;

use super::{path, words};
use crate::schedules::ledger::{cursor, parse_cursor};
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
    let page = LedgerPage {
        before: from.unwrap_or(Timestamp::MAX),
        limit: PAGE + 1,
    };
    let mut slots = state.store.load_slots(schedule.id, page).await?;
    let more = paging::cut(&mut slots, PAGE);
    let identity = |slot: &Slot| slot_identity(&schedule.name, slot.slot_at);
    let identities: Vec<Identity> = slots.iter().map(identity).collect::<Result<_, _>>()?;
    let firings = state.store.load_current(&identities).await?;
    let here = path(&schedule.name);
    let next = slots
        .last()
        .filter(|_| more)
        .map(|last| cursor(last.slot_at));
    let next = next.map(|next| address(&here, [("before", next.as_str())]) + "#ledger");
    let first = before.map(|_| format!("{here}#ledger"));
    Ok(section! { viewer.lang; "ledger", "Slot ledger", "时点台账";
        (rows(viewer, &here, &slots, &firings))
        (pager(viewer.lang, first.as_deref(), next.as_deref()))
        (Equivalent::act("GET", "schedule", &schedule.name, "slots").show(viewer))
    })
}

fn rows(viewer: &Viewer, here: &str, slots: &[Slot], firings: &[Option<Task>]) -> Markup {
    let lang = viewer.lang;
    let why = |slot: &Slot| {
        let at = slot.slot_at.to_string();
        let href = address(here, [("at", at.as_str())]) + "#why";
        let label = say!(lang, "Why {at}?", "为什么 {at}？");
        html! { a href=(href) data-open aria-label=(label) { (lang.pick("why?", "为什么？")) } }
    };
    let outcome = |task: &Task| {
        let status = status(lang, task.status, task.is_live());
        html! { a href=(task_path(&task.identity)) { (status) } }
    };
    let rows = table! { lang; "Slot ledger", "时点台账";
        or "No slots yet.", "还没有时点。";
        for ((slot, firing) in slots.iter().zip(firings)) tr(data-row)
        "Slot", "时点" { td { (times(viewer, slot)) } }
        "Result", "结果" { td { (became(lang, slot)) } }
        "Firing", "触发" { td { (or_dash(firing.as_ref().map(outcome))) } }
        "Decided", "决定于" { td { (viewer.at(slot.decided_at)) } }
        "Revision", "修订" { td { (slot.revision) } }
        "Why?", "为什么？" { td { (why(slot)) } }
    };
    html! { @if slots.is_empty() { (rows) } @else { div class="tall" { (rows) } } }
}

fn times(viewer: &Viewer, slot: &Slot) -> Markup {
    let (lang, count) = (viewer.lang, slot.slots);
    html! {
        (viewer.at(slot.slot_at))
        @if count > 1 {
            div { (lang.pick("to ", "至 ")) (viewer.at(slot.last_at)) }
            div { (say!(lang, "{count} slots", "{count} 个时点")) }
        }
    }
}

fn became(lang: Lang, slot: &Slot) -> Markup {
    html! {
        // A fired slot says nothing about its result: the next cell shows that.
        @match slot.verdict {
            Verdict::Fired | Verdict::CaughtUp | Verdict::Pinged => (words::verdict(lang, slot.verdict)),
            Verdict::Skipped(reason) => {
                (badge("skipped", words::verdict(lang, slot.verdict)))
                div { (words::reason(lang, reason)) }
            },
        }
        @if let Some(detail) = &slot.detail { div class="hint" { (lang.english(detail)) } }
    }
}
