//! `almanack schedule slots NAME`: the ledger, newest first.

use almanack_core::{
    plan::{ScheduleName, Slot, State, Verdict},
    store::LedgerPage,
};
use jiff::Timestamp;
use serde_json::Value;

use super::{Desk, firings::Firings, instant, load_any, name};
use crate::{
    failure::{Exit, Failure},
    output::{Cell, Ink, Output},
    view, when,
};

/// Rows asked for at once.
const PAGE_ROWS: usize = 500;

/// Tells what became of the slots.
pub(super) async fn run(
    desk: &Desk,
    given: &str,
    limit: usize,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let schedule = load_any(desk, &name(given)?).await?;
    let mut rows: Vec<Slot> = Vec::new();
    while rows.len() < limit {
        let page = LedgerPage {
            before: rows.last().map_or(Timestamp::MAX, |row| row.slot_at),
            limit: PAGE_ROWS.min(limit - rows.len()),
        };
        let more = desk.store.load_slots(schedule.id, page).await?;
        let complete = more.len() < page.limit;
        rows.extend(more);
        if complete {
            break;
        }
    }
    if let State::Removed { since } = &schedule.state {
        output.note(&format!(
            "{} was removed at {}\n",
            schedule.name,
            instant(*since)
        ));
    }
    let firings = Firings::of_rows(desk, &schedule, &rows).await?;
    if output.json {
        for row in &rows {
            output.value(&json_of(&schedule.name, row, &firings))?;
        }
    } else if rows.is_empty() {
        output.note("no slot has been decided yet\n");
    } else {
        table(&schedule.name, &rows, &firings, output)?;
    }
    Ok(Exit::Ok)
}

/// Ledger rows for people.
pub(super) fn table(
    name: &ScheduleName,
    rows: &[Slot],
    firings: &Firings,
    output: &mut Output,
) -> Result<(), Failure> {
    let row = |slot| row(slot, firings.cell(name, slot));
    let rows: Vec<Vec<Cell>> = rows.iter().map(row).collect();
    output.table(&["SLOT", "VERDICT", "LATE", "FIRING", "DETAIL"], &rows)
}

/// A ledger row for programs.
pub(super) fn json_of(name: &ScheduleName, row: &Slot, firings: &Firings) -> Value {
    let mut told = view::slot(row);
    told["firing"] = firings.json(name, row);
    told
}

fn row(row: &Slot, firing: Cell) -> Vec<Cell> {
    let ink = match row.verdict {
        Verdict::Fired => Ink::Good,
        Verdict::CaughtUp => Ink::Notable,
        Verdict::Skipped(_) => Ink::Bad,
    };
    let verdict = match row.verdict {
        Verdict::Skipped(reason) => format!("skipped ({})", reason.as_str()),
        other => other.as_str().to_owned(),
    };
    let slot = match row.slots {
        1 => instant(row.slot_at),
        many => format!(
            "{} … {} ({many} slots)",
            instant(row.slot_at),
            instant(row.last_at)
        ),
    };
    let late = row.decided_at.duration_since(row.last_at);
    vec![
        Cell::new(slot),
        Cell::new(verdict).ink(ink),
        Cell::new(when::rounded(late.max(jiff::SignedDuration::ZERO))),
        firing,
        Cell::new(row.detail.clone().unwrap_or_default()),
    ]
}
