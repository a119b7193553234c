//! The slot ledger: what became of every slot, with the reason, newest first.

use almanack_core::plan::{Schedule, Slot, Verdict, slot_identity};
use almanack_core::store::LedgerPage;
use almanack_core::task::{Identity, Task};

use super::{path, task_path, told};
use crate::schedules::ledger::{cursor, parse_cursor};
use crate::ui::prelude::*;

/// Rows on a page.
const PAGE: usize = 50;

/// A part of the ledger.
pub(crate) async fn show(
    state: &AppState,
    viewer: &Viewer,
    schedule: &Schedule,
    before: Option<&str>,
) -> Result<Markup> {
    let lang = viewer.lang;
    let from = before.map(parse_cursor).transpose()?;
    let page = LedgerPage {
        before: from.unwrap_or(Timestamp::MAX),
        limit: PAGE + 1,
    };
    let mut slots = state.store.load_slots(schedule.id, page).await?;
    let more = slots.len() > PAGE;
    slots.truncate(PAGE);
    let firings = firings(state, schedule, &slots).await?;
    let here = path(&schedule.name);
    let next = slots.last().filter(|_| more).map(|last| {
        let cursor = cursor(last.slot_at);
        address(&here, [("before", cursor.as_str())]) + "#ledger"
    });
    let first = before.map(|_| format!("{here}#ledger"));
    let title = lang.pick("Slot ledger", "时点台账");
    let body = html! {
        @if slots.is_empty() { (empty(lang.pick("No slot has been decided yet.", "尚无已决定的时点。"))) }
        @else { div class="tall" { (rows(viewer, schedule, &slots, &firings)) } }
        (pager(lang, first.as_deref(), next.as_deref()))
        (Equivalent::call("GET", super::api(&schedule.name, "/slots"))
            .cli(&["schedule", "slots", schedule.name.as_str()]).show(viewer))
    };
    Ok(section("ledger", title, &body))
}

/// The firing of each row of one slot, in one read.
async fn firings(
    state: &AppState,
    schedule: &Schedule,
    slots: &[Slot],
) -> Result<Vec<Option<Task>>> {
    let identities = slots
        .iter()
        .map(|slot| slot_identity(&schedule.name, slot.slot_at));
    let identities: Vec<Identity> = identities.collect::<Result<_, _>>()?;
    Ok(state.store.load_current(&identities).await?)
}

fn rows(viewer: &Viewer, schedule: &Schedule, slots: &[Slot], firings: &[Option<Task>]) -> Markup {
    let lang = viewer.lang;
    let head = [
        lang.pick("Slot", "时点"),
        lang.pick("What became of it", "结果"),
        lang.pick("Firing", "触发"),
        lang.pick("Decided", "决定于"),
        lang.pick("Revision", "修订"),
        lang.pick("Why?", "为什么？"),
    ];
    let rows = html! {
        @for (slot, firing) in slots.iter().zip(firings) { (row(viewer, schedule, slot, firing.as_ref())) }
    };
    table(lang.pick("Slot ledger", "时点台账"), &head, &rows)
}

fn row(viewer: &Viewer, schedule: &Schedule, slot: &Slot, firing: Option<&Task>) -> Markup {
    let (lang, count) = (viewer.lang, slot.slots);
    let at = slot.slot_at.to_string();
    let why = address(&path(&schedule.name), [("at", at.as_str())]) + "#why";
    html! {
        tr data-row {
            td {
                (viewer.at(slot.slot_at))
                @if count > 1 {
                    div { (lang.pick("to ", "至 ")) (viewer.at(slot.last_at)) }
                    div { (say!(lang, "{count} slots", "{count} 个时点")) }
                }
            }
            td {
                // That it fired says nothing of how that went: the next cell does, with its shape.
                @match slot.verdict {
                    Verdict::Fired | Verdict::CaughtUp => (told::verdict(lang, slot.verdict)),
                    Verdict::Skipped(reason) => {
                        (badge("skipped", told::verdict(lang, slot.verdict)))
                        div { (told::reason(lang, reason)) }
                    },
                }
                @if let Some(detail) = &slot.detail { div class="hint" { (lang.english(detail)) } }
            }
            td {
                @if let Some(task) = firing {
                    a href=(task_path(&task.identity)) { (status(lang, task.status, task.is_live())) }
                } @else { span class="none" { "–" } }
            }
            td { (viewer.at(slot.decided_at)) }
            td { (slot.revision) }
            td { a href=(why) data-open aria-label=(say!(lang, "Why {at}?", "为什么 {at}？")) { (lang.pick("why?", "为什么？")) } }
        }
    }
}
