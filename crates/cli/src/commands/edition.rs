//! `almanack edition …`
//!
//! Works on the database itself, beside whatever nodes are running: an edition is changed only by whoever saw it as it is, so a
//! command and a node never undo each other's work. `run` and `publish` go out by themselves; everything else is about
//! what is stored.

use std::{io, sync::Arc};

use almanack_core::edition::State;
use almanack_engine::{editions::Editions, live::Live};
use jiff::{Timestamp, civil::Date};

use super::{Desk, Errand};
use crate::{
    args::{EditionArguments, EditionCommand},
    config::{Inputs, Need},
    failure::{Exit, Failure},
    output::{Cell, Ink, Output},
    wiring::{
        self, Outbound,
        alerts::{EditionTeller, Voice},
        editions::{Purpose, Workshop},
    },
};

mod acts;
mod diff;
mod list;
mod progress;
mod redelivery;
mod run;
mod show;
mod status;

/// Does what was asked with editions.
pub(super) async fn run(
    inputs: &Inputs,
    command: &EditionCommand,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let (errand, need) = match command {
        EditionCommand::Run(_) => (Errand::New, Need::Everything),
        EditionCommand::Publish(_) => (Errand::Existing, Need::Everything),
        _ => (Errand::Existing, Need::Database),
    };
    let desk = Desk::open_for(inputs, errand, need).await?;
    let editions = desk.editions(purpose(command), output.json)?;
    let editions = &*editions;
    match command {
        EditionCommand::Run(given) => run::run(&desk, editions, given, output).await,
        EditionCommand::Status(given) => status::run(&desk, editions, given, output).await,
        EditionCommand::Show(given) => show::run(editions, given, output).await,
        EditionCommand::Publish(given) => acts::publish(&desk, editions, given, output).await,
        EditionCommand::Retry { edition, max } => {
            acts::retry(&desk, editions, (edition, *max), output).await
        }
        EditionCommand::Reset { edition, yes } => {
            acts::reset(&desk, editions, (edition, *yes), output).await
        }
        EditionCommand::Resend(given) => redelivery::resend(&desk, editions, given, output).await,
        EditionCommand::Skip(given) => redelivery::skip(&desk, editions, given, output).await,
        EditionCommand::Preview(given) => show::preview(editions, given, output).await,
        EditionCommand::List { limit } => list::run(&desk, editions, *limit, output).await,
    }
}

fn purpose(command: &EditionCommand) -> Purpose {
    match command {
        EditionCommand::Run(_) | EditionCommand::Publish(_) | EditionCommand::Preview(_) => {
            Purpose::Make
        }
        EditionCommand::Status(_)
        | EditionCommand::Show(_)
        | EditionCommand::Retry { .. }
        | EditionCommand::Reset { .. }
        | EditionCommand::Resend(_)
        | EditionCommand::Skip(_)
        | EditionCommand::List { .. } => Purpose::Keep,
    }
}

impl Desk {
    /// Who makes editions. What is printed instead of published must not stand between the lines of JSON.
    fn editions(&self, purpose: Purpose, json: bool) -> Result<Arc<Editions>, Failure> {
        let outbound = Outbound::new(&self.settings)?;
        let channels =
            wiring::alerts::channels(&self.settings, &self.environment, &outbound, &self.clock)?;
        let voice = Voice::new(&self.settings, channels);
        let rescheduler = Arc::new(self.rescheduler());
        let subscriptions = Live::new(self.settings.happenings.subscriptions());
        let workshop = Workshop {
            settings: &self.settings,
            rescheduler: &rescheduler,
            subscriptions: &subscriptions,
            teller: Arc::new(EditionTeller(Live::new(voice))),
            outbound: &outbound,
            store: &self.store,
            pages: &self.store,
            clock: Arc::clone(&self.clock),
            sleeper: wiring::sleeper(Arc::clone(&self.clock)),
            node: &self.origin,
        };
        let paper: Box<dyn io::Write + Send> = if json {
            Box::new(io::stderr())
        } else {
            Box::new(io::stdout())
        };
        workshop.editions(purpose, paper)?.ok_or_else(|| {
            Failure::new(Exit::Usage, "editions are off")
                .hint("put `enabled = true` under [edition] in the configuration; docs/guide/editions.md says more")
        })
    }
}

/// The day that was named, or today.
fn day(editions: &Editions, given: &EditionArguments) -> Result<Date, Failure> {
    let date = given.date.as_deref().map(parse_date).transpose()?;
    Ok(editions.day(date)?)
}

fn parse_date(text: &str) -> Result<Date, Failure> {
    let shaped = text.len() == "2026-01-31".len();
    text.parse().ok().filter(|_| shaped).ok_or_else(|| {
        Failure::new(Exit::Usage, format!("`{text}` is not a day"))
            .hint("write year, month and day, like 2026-01-31")
    })
}

fn state_cell(state: State) -> Cell {
    let ink = match state {
        State::Published => Ink::Good,
        State::Empty => Ink::Bad,
        State::Archived => Ink::Faint,
        State::Init | State::ListFetched | State::Processing | State::Aggregating => Ink::Notable,
    };
    Cell::new(state.as_str()).ink(ink)
}

/// An instant for people: to the second, in UTC.
fn instant(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%SZ").to_string()
}

/// `1 story`, `2 stories`.
fn counted(count: u32, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    }
}
