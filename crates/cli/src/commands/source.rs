//! `almanack source …`, and `almanack why source:17`
//!
//! Works on the database itself, like `almanack task`: the same [`Sources`] carries the wishes out. Only `add`
//! asks the network, to find a site's feed or to show what would be read; all other looks are a node's.

use std::sync::Arc;

use almanack_core::source::{
    Attention, Source, SourceId, State, entry::canonical_address, policy::cadence::Cadence,
};
use almanack_engine::sources::Sources;
use jiff::{SignedDuration, Timestamp};

use super::{Desk, Errand, checked};
use crate::{
    args::{SourceArguments, SourceCommand, WhyArguments},
    config::{self, Inputs, Need},
    failure::{Exit, Failure},
    output::{Cell, Ink, Output},
    when, wiring,
};

mod acts;
mod add;
mod check;
mod entries;
mod list;
mod opml;
mod replay;
mod rules;
mod set;
mod show;
mod stats;
mod week;
mod why;

/// Does what was asked with sources.
pub(super) async fn run(
    inputs: &Inputs,
    command: &SourceCommand,
    output: &mut Output,
) -> Result<Exit, Failure> {
    match command {
        // What only looks at an address must not leave a database behind.
        SourceCommand::Add(given) if given.dry_run => {
            let settings = checked(config::load(inputs, Need::Database))?;
            add::preview(&settings, given, output).await
        }
        // Recorded times need no database at all.
        SourceCommand::Replay(given) => replay::run(given, output),
        SourceCommand::Add(_) | SourceCommand::Import { .. } => {
            let desk = Desk::open(inputs, Errand::New).await?;
            on(&desk, command, output).await
        }
        _ => {
            let desk = Desk::open(inputs, Errand::Existing).await?;
            on(&desk, command, output).await
        }
    }
}

async fn on(desk: &Desk, command: &SourceCommand, output: &mut Output) -> Result<Exit, Failure> {
    match command {
        SourceCommand::Add(given) => add::run(desk, given, output).await,
        SourceCommand::List(given) => list::run(desk, given, output).await,
        SourceCommand::Show(given) => show::run(desk, given, output).await,
        SourceCommand::Check {
            source,
            wait: false,
            ..
        } => check::ask(desk, source, output).await,
        SourceCommand::Check {
            source, timeout, ..
        } => check::wait(desk, source, timeout, output).await,
        SourceCommand::Pause { source, note } => {
            acts::pause(desk, source, note.clone(), output).await
        }
        SourceCommand::Resume(given) => acts::resume(desk, given, output).await,
        SourceCommand::Set(given) => set::run(desk, given, output).await,
        SourceCommand::Remove { source, yes } => acts::remove(desk, source, *yes, output).await,
        SourceCommand::Entries(given) => entries::run(desk, given, output).await,
        SourceCommand::Stats { source_type } => {
            stats::run(desk, source_type.as_deref(), output).await
        }
        SourceCommand::Replay(given) => replay::run(given, output),
        SourceCommand::Import { file } => opml::import(desk, file, output).await,
        SourceCommand::Export { file } => opml::export(desk, file.as_deref(), output).await,
        SourceCommand::Why { source, svg } => {
            why::run(desk, &source.id, svg.as_deref(), output).await
        }
    }
}

/// `almanack why source:17`
pub(super) async fn why(
    desk: &Desk,
    given: &WhyArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    if given.time.is_some() {
        let what = "a source is asked about without a time: its answer is about its next check";
        let hint = format!("almanack why {}", given.name);
        return Err(Failure::new(Exit::Usage, what).hint(hint));
    }
    why::run(desk, &given.name, None, output).await
}

/// What the subjects of sources begin with, on the command line as in tasks.
pub(super) const PREFIX: &str = "source:";

impl Desk {
    /// The way in for what people want of sources, by the price that all nodes share.
    async fn sources(&self) -> Result<Sources, Failure> {
        let fleet = wiring::fleet(&self.settings);
        fleet.hear(self.store.as_ref()).await?;
        let checker = wiring::checker(&self.settings, Arc::clone(&self.clock))?;
        let rescheduler = Arc::new(self.rescheduler());
        let (store, clock) = (Arc::clone(&self.store), Arc::clone(&self.clock));
        Ok(Sources::new(store, clock, rescheduler, checker, fleet))
    }
}

/// The source that somebody named: by number, as a task's subject, or by address.
async fn load(desk: &Desk, given: &str) -> Result<Source, Failure> {
    let number = given.strip_prefix(PREFIX).unwrap_or(given);
    if let Ok(number) = number.parse() {
        let mut found = desk.store.load_sources(&[SourceId(number)]).await?;
        return found.pop().flatten().ok_or_else(|| unknown(given));
    }
    if !given.contains("://") {
        let what = format!("`{given}` names no source");
        return Err(Failure::new(Exit::Usage, what).hint(
            "write its number or its address; `almanack source list --containing TEXT` finds it",
        ));
    }
    let found = desk.store.load_source_at(&canonical_address(given)).await?;
    found.ok_or_else(|| unknown(given))
}

async fn load_one(desk: &Desk, given: &SourceArguments) -> Result<Source, Failure> {
    load(desk, &given.id).await
}

fn unknown(given: &str) -> Failure {
    let what = if given.contains("://") {
        format!("there is no source at {given}")
    } else {
        let number = given.strip_prefix(PREFIX).unwrap_or(given);
        format!("there is no source {number}")
    };
    Failure::new(Exit::NotFound, what)
        .hint("`almanack source list --containing TEXT` finds sources by name or address")
}

/// What people recognise a source by.
fn called(source: &Source) -> &str {
    let definition = &source.definition;
    match definition.name.as_str() {
        "" => &definition.address,
        name => name,
    }
}

fn state_cell(source: &Source) -> Cell {
    let ink = match source.state {
        State::Active => Ink::Good,
        State::Paused { .. } => Ink::Notable,
        State::Ended { .. } => Ink::Faint,
    };
    Cell::new(source.state.as_str()).ink(ink)
}

fn attention_cell(attention: Option<Attention>) -> Cell {
    Cell::new(attention.map_or("", Attention::as_str)).ink(Ink::Bad)
}

fn faint(text: &str) -> Cell {
    Cell::new(text).ink(Ink::Faint)
}

/// An instant for people: to the second, in UTC.
fn instant(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%SZ").to_string()
}

fn cadence(text: &str) -> Result<Cadence, Failure> {
    text.parse().map_err(
        |unknown: almanack_core::source::policy::cadence::UnknownCadence| {
            Failure::new(Exit::Usage, format!("--cadence: {unknown}"))
        },
    )
}

fn duration(what: &str, text: &str) -> Result<SignedDuration, Failure> {
    when::parse_duration(text).map_err(|unclear| {
        Failure::new(Exit::Usage, format!("{what}: {}", unclear.what)).hint(unclear.hint)
    })
}

/// `1 entry`, `2 entries`.
fn counted(count: u64, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    }
}
