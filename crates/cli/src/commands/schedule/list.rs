//! `almanack schedule list`

use almanack_core::{
    plan::{Definition, Origin, Schedule, State},
    store::ScheduleFilter,
};
use jiff::Timestamp;

use super::{Desk, all, firings::Firings, instant, state_cell};
use crate::{
    args::ScheduleListArguments,
    failure::{Exit, Failure},
    output::{Cell, Output},
    view,
    when::Relative,
};

/// Lists schedules by name.
pub(super) async fn run(
    desk: &Desk,
    given: &ScheduleListArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let filter = ScheduleFilter {
        origin: given.origin.as_deref().and_then(Origin::parse),
        state: given.state.clone(),
        removed: given.state.as_deref() == Some("removed"),
        ..ScheduleFilter::default()
    };
    let found = all(desk, filter).await?;
    let zones = Desk::zones();
    let firings = Firings::newest(desk, &found).await?;
    if output.json {
        for schedule in &found {
            let mut told = view::schedule(schedule, zones.next_firing(schedule));
            told["firing"] = firings.newest_json(schedule);
            output.value(&told)?;
        }
        return Ok(Exit::Ok);
    }
    if found.is_empty() {
        output.note("no schedules\n");
        return Ok(Exit::Ok);
    }
    let now = desk.clock.now();
    let row = |schedule| {
        let next = zones.next_firing(schedule);
        row(schedule, next, firings.newest_cell(schedule), now)
    };
    let rows: Vec<Vec<Cell>> = found.iter().map(row).collect();
    let head = [
        "NAME", "STATE", "WHEN", "ZONE", "TARGET", "NEXT", "", "ORIGIN", "FIRING",
    ];
    output.table(&head, &rows)?;
    Ok(Exit::Ok)
}

fn row(schedule: &Schedule, next: Option<Timestamp>, firing: Cell, now: Timestamp) -> Vec<Cell> {
    let definition = Definition::from_json(&schedule.definition).ok();
    let of = |text: fn(&Definition) -> String| definition.as_ref().map(text).unwrap_or_default();
    let relative = next.map(|at| Relative { at, now }.to_string());
    vec![
        Cell::new(schedule.name.as_str()),
        state_cell(&schedule.state),
        Cell::new(of(|it| it.expression.clone())),
        Cell::new(of(|it| it.tz.clone())),
        Cell::new(of(|it| it.target.type_name().to_owned())),
        Cell::new(next.map_or_else(|| none(schedule).to_owned(), instant)),
        Cell::new(relative.unwrap_or_default()),
        Cell::new(schedule.origin.as_str()),
        firing,
    ]
}

/// Why no time stands where the next one would.
fn none(schedule: &Schedule) -> &'static str {
    match schedule.state {
        // Nobody knows when it is resumed.
        State::Paused(_) if schedule.next_at.is_some() => "paused",
        State::Active | State::Paused(_) => "never",
        State::Parked { .. } | State::Removed { .. } => "",
    }
}
