//! Schedules, their ledgers and their histories as `--json` shows them: the names are the API's.

use almanack_core::plan::{Edit, Schedule, Slot, State, Verdict};
use jiff::Timestamp;
use serde_json::{Value, json};

/// One schedule, and when it fires next.
pub(crate) fn schedule(schedule: &Schedule, next_at: Option<Timestamp>) -> Value {
    let mut view = json!({
        "name": schedule.name,
        "origin": schedule.origin.as_str(),
        "state": schedule.state.as_str(),
        "revision": schedule.revision,
        "definition": definition(&schedule.definition),
        "next_at": next_at,
        "created_at": schedule.created_at,
        "changed_at": schedule.changed_at,
    });
    if let Some(since) = schedule.waits_since {
        view["waits_since"] = json!(since);
    }
    if let Some(subject) = &schedule.last {
        view["last_firing"] = json!(subject.as_str());
    }
    match &schedule.state {
        State::Active => {}
        State::Paused(pause) => {
            view["paused"] = json!({
                "since": pause.since,
                "until": pause.until,
                "note": pause.note,
                "by": pause.by,
            });
        }
        State::Parked { since, reason } => {
            view["parked"] = json!({ "since": since, "reason": reason });
        }
        State::Removed { since } => view["removed_at"] = json!(since),
    }
    view
}

/// One row of a ledger; what became of its firing stands beside it.
pub(crate) fn slot(slot: &Slot) -> Value {
    let (verdict, reason) = match slot.verdict {
        Verdict::Skipped(reason) => ("skipped", Some(reason.as_str())),
        fired => (fired.as_str(), None),
    };
    json!({
        "slot_at": slot.slot_at,
        "last_at": slot.last_at,
        "slots": slot.slots,
        "verdict": verdict,
        "reason": reason,
        "detail": slot.detail,
        "revision": slot.revision,
        "decided_at": slot.decided_at,
    })
}

/// One line of a schedule's history.
pub(crate) fn edit(edit: &Edit) -> Value {
    json!({
        "revision": edit.revision,
        "edited": edit.edited.as_str(),
        "by": edit.by,
        "note": edit.note,
        "definition": definition(&edit.definition),
        "at": edit.at,
    })
}

fn definition(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or(Value::Null)
}
