//! `almanack schedule show NAME`: everything about one schedule on one screen.

use std::{fmt::Write as _, sync::Arc};

use almanack_core::{
    plan::{Definition, Edit, Pause, Ready, Schedule, Slot, State, Unfit},
    schedule::{Warning, Zone},
    store::LedgerPage,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Desk, firings::Firings, instant, load_any, name, slots, timetable, words};
use crate::{
    commands::next::ROUND_S,
    failure::{Exit, Failure},
    output::{Cell, Ink, Output},
    view,
    when::{self, Relative},
};

const TIMES: usize = 5;
const SLOTS: usize = 10;
const EDITS: usize = 10;

/// What is known about a schedule.
struct About {
    schedule: Schedule,
    /// By what it is planned, and whose clock that reads; or why it cannot be.
    rule: Result<(Ready, Arc<Zone>), Unfit>,
    slots: Vec<Slot>,
    firings: Firings,
    edits: Vec<Edit>,
    /// When it fires next.
    next_at: Option<Timestamp>,
    now: Timestamp,
}

/// Shows a schedule.
pub(super) async fn run(desk: &Desk, given: &str, output: &mut Output) -> Result<Exit, Failure> {
    let schedule = load_any(desk, &name(given)?).await?;
    let now = desk.clock.now();
    let newest = LedgerPage {
        before: Timestamp::MAX,
        limit: SLOTS,
    };
    let slots = desk.store.load_slots(schedule.id, newest).await?;
    let about = About {
        rule: rule(&schedule),
        firings: Firings::of_rows(desk, &schedule, &slots).await?,
        slots,
        next_at: Desk::zones().next_firing(&schedule),
        edits: desk.store.load_edits(schedule.id, EDITS).await?,
        schedule,
        now,
    };
    if output.json {
        output.value(&json_of(&about))?;
    } else {
        show(&about, output)?;
    }
    Ok(Exit::Ok)
}

fn rule(schedule: &Schedule) -> Result<(Ready, Arc<Zone>), Unfit> {
    let zones = Desk::zones();
    let definition = Definition::from_json(&schedule.definition)?;
    let zone = zones.get(&definition.tz)?;
    Ok((zones.ready(&schedule.name, definition)?, zone))
}

impl About {
    /// Its next slots that fire.
    fn next(&self) -> Vec<Timestamp> {
        let Ok((ready, _)) = &self.rule else {
            return Vec::new();
        };
        let slots = std::iter::successors(self.next_at, |slot| ready.next_after(*slot));
        slots.take(TIMES).collect()
    }

    fn warnings(&self) -> Vec<Warning> {
        let Ok((ready, zone)) = &self.rule else {
            return Vec::new();
        };
        let compiled = timetable(&self.schedule.name, &ready.definition);
        compiled.map_or_else(Vec::new, |(expression, timetable)| {
            expression.lints(&timetable, zone, self.now, ROUND_S)
        })
    }

    fn words(&self) -> Option<String> {
        let (ready, _) = self.rule.as_ref().ok()?;
        Some(words(&self.schedule.name, &ready.definition))
    }
}

fn json_of(about: &About) -> Value {
    let name = &about.schedule.name;
    let warnings: Vec<Value> = about
        .warnings()
        .iter()
        .map(|it| json!({ "code": it.lint.code(), "message": it.lint.to_string() }))
        .collect();
    let slots: Vec<Value> = about
        .slots
        .iter()
        .map(|row| slots::json_of(name, row, &about.firings))
        .collect();
    let edits: Vec<Value> = about.edits.iter().map(view::edit).collect();
    let mut schedule = view::schedule(&about.schedule, about.next_at);
    schedule["firing"] = about.firings.newest_json(&about.schedule);
    json!({
        "schedule": schedule,
        "words": about.words(),
        "next": about.next(),
        "warnings": warnings,
        "slots": slots,
        "edits": edits,
    })
}

fn show(about: &About, output: &mut Output) -> Result<(), Failure> {
    let schedule = &about.schedule;
    output.line(schedule.name.as_str())?;
    let mut lines = vec![("state", state(&schedule.state))];
    if let Some(words) = about.words() {
        lines.push(("when", words));
    }
    match &about.rule {
        Ok((ready, _)) => lines.extend(policies(ready, schedule.next_at)),
        Err(unfit) => lines.push(("trouble", unfit.to_string())),
    }
    let waits = schedule.waits_since;
    lines.extend(waits.map(|at| {
        (
            "waits",
            format!("for its predecessor, since {}", instant(at)),
        )
    }));
    lines.push(("origin", schedule.origin.as_str().to_owned()));
    lines.push(("revision", schedule.revision.to_string()));
    let cells = |(name, text): (&str, String)| vec![faint(name), Cell::new(text)];
    let mut rows: Vec<Vec<Cell>> = lines.into_iter().map(cells).collect();
    if let Some(subject) = &schedule.last {
        rows.push(vec![faint("last firing"), Cell::new(subject.as_str())]);
        rows.push(vec![faint(""), about.firings.newest_cell(schedule)]);
    }
    output.rows(&rows)?;
    show_next(about, output)?;
    if !about.slots.is_empty() {
        output.line("")?;
        slots::table(&schedule.name, &about.slots, &about.firings, output)?;
    }
    output.line("")?;
    show_edits(&about.edits, output)?;
    for warning in about.warnings() {
        output.note(&format!("warning: {}\n", warning.lint));
    }
    Ok(())
}

fn faint(text: &str) -> Cell {
    Cell::new(text).ink(Ink::Faint)
}

fn state(state: &State) -> String {
    match state {
        State::Active => "active".to_owned(),
        State::Paused(Pause {
            since,
            until,
            note,
            by,
        }) => {
            let until = until.map_or_else(String::new, |at| format!(" until {}", instant(at)));
            let note = note.as_ref().map(|note| format!(": {note}"));
            let note = note.unwrap_or_default();
            format!("paused by {by} since {}{until}{note}", instant(*since))
        }
        State::Parked { since, reason } => {
            format!("parked since {}: {reason}", instant(*since))
        }
        State::Removed { since } => format!("removed at {}", instant(*since)),
    }
}

/// The policies in force, with what the defaults come to for the next slot.
fn policies(ready: &Ready, next_at: Option<Timestamp>) -> Vec<(&'static str, String)> {
    let it = &ready.definition;
    let word = |value: Value| value.as_str().unwrap_or_default().to_owned();
    let grace = next_at.map(|slot| when::rounded(ready.grace(slot)));
    let retry_for = next_at.map(|slot| when::rounded(ready.retry_for(slot)));
    let mut catch_up = word(json!(it.catch_up));
    if let Some(grace) = grace {
        let _ = write!(catch_up, ", grace {grace}");
    }
    if it.catch_up == almanack_core::plan::CatchUp::All {
        let pace = when::show_duration(it.catch_up_pace);
        let _ = write!(catch_up, ", at most {}, {pace} apart", it.max_catch_up);
    }
    let mut lines = vec![
        ("expression", it.expression.clone()),
        ("zone", it.tz.clone()),
        ("target", json!(it.target).to_string()),
        ("catch up", catch_up),
        ("overlap", word(json!(it.overlap))),
        ("on resume", word(json!(it.on_resume))),
    ];
    lines.extend(retry_for.map(|period| ("retries for", period)));
    if !it.splay.is_zero() {
        let own = next_at.map(|slot| ready.due_at(slot).duration_since(slot));
        let own = own.map(|own| format!(", its own part {}", when::rounded(own)));
        let splay = when::show_duration(it.splay);
        lines.push(("splay", format!("{splay}{}", own.unwrap_or_default())));
    }
    lines.push(("priority", it.priority.to_string()));
    lines
}

fn show_next(about: &About, output: &mut Output) -> Result<(), Failure> {
    let Ok((_, zone)) = &about.rule else {
        return Ok(());
    };
    let row = |at: &Timestamp| {
        let local = at.to_zoned(zone.time_zone().clone());
        let relative = Relative {
            at: *at,
            now: about.now,
        };
        vec![
            Cell::new(local.strftime("%a %F %H:%M:%S %:z").to_string()),
            faint(&instant(*at)),
            Cell::new(relative.to_string()),
        ]
    };
    let rows: Vec<Vec<Cell>> = about.next().iter().map(row).collect();
    output.line("")?;
    if rows.is_empty() {
        let waits = matches!(&about.schedule.state, State::Paused(it) if it.until.is_none());
        return output.line(match about.schedule.next_at {
            Some(_) if waits => "it does not fire until it is resumed",
            _ => "it will not fire again",
        });
    }
    output.table(&["NEXT", "UTC", ""], &rows)
}

fn show_edits(edits: &[Edit], output: &mut Output) -> Result<(), Failure> {
    let row = |edit: &Edit| {
        vec![
            Cell::new(edit.revision.to_string()),
            Cell::new(edit.edited.as_str()),
            Cell::new(instant(edit.at)),
            Cell::new(&*edit.by),
            Cell::new(edit.note.clone().unwrap_or_default()),
        ]
    };
    let rows: Vec<Vec<Cell>> = edits.iter().rev().map(row).collect();
    output.table(&["REVISION", "EDIT", "AT", "BY", "NOTE"], &rows)
}
