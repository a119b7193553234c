//! `almanack schedule backfill NAME --from T --to T`

use almanack_engine::schedules::{Backfill, Backfilled, SlotOfBackfill};
use serde_json::{Value, json};

use super::{Desk, duration, instant, name, time};
use crate::{
    args::BackfillArguments,
    failure::{Exit, Failure},
    output::{Cell, Ink, Output},
};

/// Slots shown one by one; all are counted.
const SHOWN_MAX: usize = 50;

/// Fires slots of the past, or tells which it would fire.
pub(super) async fn run(
    desk: &Desk,
    given: &BackfillArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let name = name(&given.schedule.name)?;
    let wish = Backfill {
        from: time(desk, &name, "--from", &given.from).await?,
        to: time(desk, &name, "--to", &given.to).await?,
        pace: duration("--pace", &given.pace)?,
    };
    let schedules = desk.schedules();
    let done = if given.dry_run {
        schedules.plan_backfill(&name, wish).await?
    } else {
        schedules.backfill(&name, wish, &desk.origin).await?
    };
    if output.json {
        let slots: Vec<Value> = done.slots.iter().map(json_of).collect();
        output.value(&json!({
            "schedule": name,
            "dry_run": given.dry_run,
            "fires": done.fires(),
            "slots": slots,
        }))?;
    } else {
        show(&done, given.dry_run, output)?;
    }
    Ok(Exit::Ok)
}

fn json_of(slot: &SlotOfBackfill) -> Value {
    json!({
        "slot_at": slot.slot,
        "firing": slot.identity.subject.as_str(),
        "execute_at": slot.execute_at,
        "found": slot.found.map(almanack_core::task::Status::as_str),
    })
}

fn show(done: &Backfilled, dry_run: bool, output: &mut Output) -> Result<(), Failure> {
    let row = |slot: &SlotOfBackfill| {
        let what = match (slot.execute_at, slot.found) {
            (Some(at), _) => Cell::new(format!("fires at {}", instant(at))).ink(Ink::Notable),
            (None, Some(status)) => {
                Cell::new(format!("left alone: fired, {}", status.as_str())).ink(Ink::Faint)
            }
            (None, None) => Cell::new("left alone").ink(Ink::Faint),
        };
        vec![Cell::new(instant(slot.slot)), what]
    };
    let rows: Vec<Vec<Cell>> = done.slots.iter().take(SHOWN_MAX).map(row).collect();
    if !rows.is_empty() {
        output.table(&["SLOT", ""], &rows)?;
    }
    if let Some(more) = done
        .slots
        .len()
        .checked_sub(SHOWN_MAX)
        .filter(|more| *more > 0)
    {
        output.note(&format!("and {more} more; --json shows all\n"));
    }
    let (fires, all) = (done.fires(), done.slots.len());
    output.line(&match (dry_run, all) {
        (_, 0) => "no slots in this range".to_owned(),
        (true, _) => format!("{fires} of {all} slots would fire"),
        (false, _) => format!("{fires} of {all} slots fire"),
    })
}
