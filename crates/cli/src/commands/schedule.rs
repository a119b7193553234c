//! `almanack schedule …`, and `almanack why`
//!
//! Works on the database itself, like `almanack task`: the same rules apply because the same
//! [`Schedules`] carries the wishes out.

use std::sync::Arc;

use almanack_core::{
    plan::{Definition, Schedule, ScheduleName, State, Unfit},
    schedule::{Expression, Language, Mode, Timetable},
    store::ScheduleFilter,
};
use almanack_engine::{
    schedules::{self, Schedules},
    zones::Zones,
};
use jiff::Timestamp;
use serde_json::json;

use super::{Desk, Errand, next::pointed};
use crate::{
    args::{ScheduleCommand, WhyArguments},
    config::Inputs,
    failure::{Exit, Failure},
    output::{Cell, Ink, Output},
    suggest, view,
    when::{self, Relative},
    wiring,
};

mod acts;
mod backfill;
mod firings;
mod list;
mod plan;
mod put;
mod rewind;
mod show;
mod slots;

/// Only writing one makes sense on a database that is not there yet.
pub(super) fn errand(command: &ScheduleCommand) -> Errand {
    match command {
        ScheduleCommand::Put(_) => Errand::New,
        _ => Errand::Existing,
    }
}

/// Does what was asked with schedules.
pub(super) async fn run(
    desk: &Desk,
    inputs: &Inputs,
    command: &ScheduleCommand,
    output: &mut Output,
) -> Result<Exit, Failure> {
    match command {
        ScheduleCommand::List(given) => list::run(desk, given, output).await,
        ScheduleCommand::Show(given) => show::run(desk, &given.name, output).await,
        ScheduleCommand::Put(given) => put::run(desk, given, output).await,
        ScheduleCommand::Pause {
            schedule,
            until,
            note,
        } => {
            acts::pause(
                desk,
                &schedule.name,
                (until.as_deref(), note.clone()),
                output,
            )
            .await
        }
        ScheduleCommand::Resume(given) => acts::resume(desk, &given.name, output).await,
        ScheduleCommand::Rewind { name } => rewind::run(desk, name.as_deref(), output).await,
        ScheduleCommand::Remove(given) => acts::remove(desk, &given.name, output).await,
        ScheduleCommand::Fire { schedule, force } => {
            acts::fire(desk, &schedule.name, *force, output).await
        }
        ScheduleCommand::Backfill(given) => backfill::run(desk, given, output).await,
        ScheduleCommand::Slots { schedule, limit } => {
            slots::run(desk, &schedule.name, *limit, output).await
        }
        ScheduleCommand::Plan { file, period } => {
            plan::run(desk, inputs, (file, period), output).await
        }
    }
}

/// `almanack why SCHEDULE TIME`
pub(super) async fn why(
    desk: &Desk,
    given: &WhyArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let name = name(&given.name)?;
    let Some(time_given) = &given.time else {
        return Err(Failure::new(
            Exit::Usage,
            format!("at what time should {name} have fired?"),
        )
        .hint(format!(
            "for example almanack why {name} \"2026-01-05 08:00\""
        )));
    };
    let at = time(desk, &name, "TIME", time_given).await?;
    let answer = desk.schedules().why(&name, at).await?;
    if output.json {
        let row = answer.row.as_ref().map(view::slot);
        output.value(&json!({
            "schedule": name,
            "at": at,
            "answer": answer.sentence,
            "is_slot": answer.is_slot,
            "slot": row,
            "firing": answer.firing.as_ref().map(view::TaskView::from),
        }))?;
    } else {
        output.line(&answer.sentence)?;
    }
    Ok(Exit::Ok)
}

/// When it fires next, as the end of a sentence.
fn next_of(schedule: &Schedule, desk: &Desk) -> String {
    match (&schedule.state, schedule.next_at) {
        (State::Active, Some(at)) => {
            let relative = Relative {
                at,
                now: desk.clock.now(),
            };
            format!("; next at {} ({relative})", instant(at))
        }
        (State::Active, None) => "; it will not fire again".to_owned(),
        (state, _) => format!("; it is {}", state.as_str()),
    }
}

fn name(given: &str) -> Result<ScheduleName, Failure> {
    ScheduleName::parse(given).map_err(|unfit| Failure::new(Exit::Usage, unfit.to_string()))
}

/// A schedule, or what is left of one that was removed: people look at those too.
async fn load_any(desk: &Desk, name: &ScheduleName) -> Result<Schedule, Failure> {
    let found = desk
        .store
        .load_schedules(std::slice::from_ref(name))
        .await?;
    let found = found.into_iter().flatten().next();
    found.ok_or_else(|| schedules::Error::Unknown { name: name.clone() }.into())
}

/// A time as people type it; one without a zone is by the schedule's clock.
async fn time(
    desk: &Desk,
    name: &ScheduleName,
    what: &str,
    text: &str,
) -> Result<Timestamp, Failure> {
    let schedule = load_any(desk, name).await?;
    let definition = Definition::from_json(&schedule.definition);
    let tz = definition.map_or_else(|_| "UTC".to_owned(), |definition| definition.tz);
    when::parse_at_in(text, desk.clock.now(), &tz).map_err(|unclear| {
        Failure::new(Exit::Usage, format!("{what}: {}", unclear.what)).hint(unclear.hint)
    })
}

fn duration(what: &str, text: &str) -> Result<jiff::SignedDuration, Failure> {
    when::parse_duration(text).map_err(|unclear| {
        Failure::new(Exit::Usage, format!("{what}: {}", unclear.what)).hint(unclear.hint)
    })
}

/// An instant for people: to the second, in UTC.
fn instant(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%SZ").to_string()
}

/// A refusal with its place in the expression.
fn unfit(unfit: &Unfit) -> Failure {
    match unfit {
        Unfit::Expression { expression, error } => {
            let what = format!("{error}\n{}", pointed(expression, error.span));
            let failure = Failure::new(Exit::Usage, what);
            match error.hint() {
                Some(hint) => failure.hint(hint),
                None => failure,
            }
        }
        Unfit::Zone { tz } => {
            let what = format!("there is no time zone `{tz}`");
            Failure::new(Exit::Usage, what).hint(suggest::zone(tz))
        }
        _ => Failure::new(Exit::Usage, unfit.to_string()),
    }
}

/// When it fires, compiled for looking at it.
fn timetable(name: &ScheduleName, definition: &Definition) -> Option<(Expression, Timetable)> {
    let expression = Expression::parse(&definition.expression, Mode::Strict).ok()?;
    let timetable = expression.compile(name.as_str());
    Some((expression, timetable))
}

/// When it fires, in words.
fn words(name: &ScheduleName, definition: &Definition) -> String {
    timetable(name, definition).map_or_else(
        || definition.expression.clone(),
        |(_, timetable)| timetable.describe(Language::English),
    )
}

fn state_cell(state: &State) -> Cell {
    let ink = match state {
        State::Active => Ink::Good,
        State::Paused(_) => Ink::Notable,
        State::Parked { .. } => Ink::Bad,
        State::Removed { .. } => Ink::Faint,
    };
    Cell::new(state.as_str()).ink(ink)
}

/// All schedules of a filter, page by page.
async fn all(desk: &Desk, mut filter: ScheduleFilter) -> Result<Vec<Schedule>, Failure> {
    const PAGE: usize = 500;
    filter.limit = PAGE;
    let mut found = Vec::new();
    loop {
        let page = desk.store.list_schedules(&filter).await?;
        found.extend(page.rows);
        filter.after = page.next;
        if filter.after.is_none() {
            return Ok(found);
        }
    }
}

impl Desk {
    fn schedules(&self) -> Arc<Schedules> {
        wiring::schedules(self.store.clone(), self.clock.clone(), self.reach.clone())
    }

    fn zones() -> Zones {
        Zones::default()
    }
}
