//! `almanack source add`: an address becomes a source, or is shown as one.
//!
//! People know sites, not feeds: what is no feed is asked for the feeds it names. One is taken, several are shown,
//! none is a failure; nothing is guessed and nothing is stored that nobody chose.

use std::sync::Arc;

use almanack_adapters::clock::SystemClock;
use almanack_core::{
    source::{
        Definition,
        check::{self, Ask, Candidate, Checker, Document, FailureClass, Look, Validators},
        reading::Reading,
    },
    store::Added,
    time::Clock,
};
use serde_json::json;

use super::{cadence, called, counted, instant, rules};
use crate::{
    args::SourceAddArguments,
    commands::Desk,
    config::Settings,
    failure::{Exit, Failure},
    output::{Cell, Output},
    view, wiring,
};

/// Entries shown of what would be read.
const SHOWN: usize = 20;

/// Stores a source.
pub(super) async fn run(
    desk: &Desk,
    given: &SourceAddArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let sources = desk.sources().await?;
    let mut definition = definition(given)?;
    sources.check(&definition)?;
    let checker = wiring::checker(&desk.settings, Arc::clone(&desk.clock))?;
    match choose(checker.as_ref(), given, &definition, desk.clock.as_ref()).await? {
        Choice::Take(address) => definition.address = address,
        Choice::Several(found) => return several(given, &found, output),
    }
    said_where(given, &definition.address, output);
    let added = sources.add(vec![definition], &desk.origin).await?;
    let (id, is_new) = match added.first() {
        Some(Added::New(id)) => (*id, true),
        Some(Added::Exists(id)) => (*id, false),
        None => return Err(Failure::new(Exit::Failed, "the store gave no answer")),
    };
    let source = sources.load(id).await?;
    if output.json {
        let added = if is_new { "new" } else { "exists" };
        output.value(&json!({ "added": added, "source": view::source(&source) }))?;
    } else if is_new {
        output.line(&format!("added source {id}: {}", called(&source)))?;
        output.note(&format!(
            "a node looks at it next; `almanack source check {id} --wait` waits for that\n"
        ));
    } else {
        output.line(&format!("source {id} is that already: {}", called(&source)))?;
    }
    Ok(Exit::Ok)
}

/// Shows what would be read, and stores nothing.
pub(super) async fn preview(
    settings: &Settings,
    given: &SourceAddArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let checker = wiring::checker(settings, Arc::clone(&clock))?;
    let mut definition = definition(given)?;
    if let Some(why) = checker.problem(&definition.address, &definition.reading) {
        return Err(Failure::new(Exit::Usage, why));
    }
    match choose(checker.as_ref(), given, &definition, clock.as_ref()).await? {
        Choice::Take(address) => definition.address = address,
        Choice::Several(found) => return several(given, &found, output),
    }
    let ask = Ask {
        address: definition.address.clone(),
        reading: definition.reading,
        validators: Validators::default(),
    };
    match checker.look(&ask, clock.now()).await {
        Look::Document(document) => {
            said_where(given, &definition.address, output);
            show(&definition.address, &document, output)?;
            Ok(Exit::Ok)
        }
        Look::Failed(failure) => Err(unreadable(&failure)),
        Look::Unchanged(_) | Look::Wait(_) => {
            Err(Failure::new(Exit::Failed, "the address gave no document"))
        }
    }
}

fn definition(given: &SourceAddArguments) -> Result<Definition, Failure> {
    let by_hand = given.cadence.as_deref().map(cadence).transpose()?;
    Ok(Definition {
        name: given.name.clone().unwrap_or_default(),
        address: with_scheme(&given.address),
        reading: rules::reading(&given.rules)?,
        category: given.category.clone(),
        policy: given.policy.clone(),
        cadence: by_hand,
    })
}

/// What people type without one is an address of the web.
fn with_scheme(address: &str) -> String {
    let address = address.trim();
    if address.contains("://") {
        address.to_owned()
    } else {
        format!("https://{address}")
    }
}

enum Choice {
    Take(String),
    Several(Vec<Candidate>),
}

/// Which address to take: the one given, or the feed that it leads to.
async fn choose(
    checker: &dyn Checker,
    given: &SourceAddArguments,
    definition: &Definition,
    clock: &dyn Clock,
) -> Result<Choice, Failure> {
    let address = &definition.address;
    if given.no_discover || definition.reading != Reading::Feed {
        return Ok(Choice::Take(address.clone()));
    }
    let found = checker.discover(address, clock.now()).await;
    let mut found = found.map_err(|failure| no_feed(address, &failure))?;
    match (found.len(), found.pop()) {
        (_, None) => Err(Failure::new(Exit::NotFound, "no feed was found")),
        (1, Some(only)) => Ok(Choice::Take(only.address)),
        (_, Some(last)) => {
            found.push(last);
            Ok(Choice::Several(found))
        }
    }
}

/// Why an address led to no feed, and what to do about it.
fn no_feed(address: &str, failure: &check::Failure) -> Failure {
    let (exit, hint) = match failure.class {
        FailureClass::NotAFeed => (
            Exit::NotFound,
            "give the feed's own address, or read the page by rules: --as html --item … --title …",
        ),
        FailureClass::Refused => (
            Exit::Usage,
            "sources.allow lists the networks that sources may be in besides public ones",
        ),
        _ => (
            Exit::Failed,
            "--no-discover adds the address as it is; it is then tried until it answers",
        ),
    };
    Failure::new(exit, failure.detail.as_str())
        .during(&format!("look for a feed at {address}"))
        .hint(hint)
}

/// Why an address shows no document, and what could be done about it.
fn unreadable(failure: &check::Failure) -> Failure {
    let told = Failure::new(Exit::Failed, failure.detail.as_str());
    match failure.class {
        FailureClass::TooLarge => told.hint("sources.body_bytes is how much of a document is read"),
        FailureClass::Timeout => told.hint("sources.timeout is how long a look may take"),
        FailureClass::NotAFeed => {
            told.hint("a page is read by rules: --as html --item … --title …")
        }
        FailureClass::Rules => told.hint("see what the page really shows, and correct the rules"),
        _ => told,
    }
}

/// That another address than the one given was taken.
fn said_where(given: &SourceAddArguments, taken: &str, output: &mut Output) {
    if taken != with_scheme(&given.address) {
        output.note(&format!("found its feed: {taken}\n"));
    }
}

fn several(
    given: &SourceAddArguments,
    found: &[Candidate],
    output: &mut Output,
) -> Result<Exit, Failure> {
    if output.json {
        let candidates: Vec<_> = found.iter().map(view::candidate).collect();
        output.value(&json!({ "candidates": candidates }))?;
        return Ok(Exit::Usage);
    }
    let row = |candidate: &Candidate| {
        vec![
            Cell::new(&*candidate.address),
            Cell::new(candidate.format.clone().unwrap_or_default()),
            Cell::new(candidate.title.clone().unwrap_or_default()),
        ]
    };
    let rows: Vec<Vec<Cell>> = found.iter().map(row).collect();
    output.table(&["FEED", "FORMAT", "TITLE"], &rows)?;
    let first = found.first().map_or("", |first| first.address.as_str());
    let what = format!(
        "{} names several feeds; say which",
        with_scheme(&given.address)
    );
    Err(Failure::new(Exit::Usage, what).hint(format!("almanack source add {first}")))
}

fn show(address: &str, document: &Document, output: &mut Output) -> Result<(), Failure> {
    if output.json {
        let entries: Vec<_> = document.entries.iter().map(view::found).collect();
        return output.value(&json!({
            "address": address,
            "title": document.title,
            "entries": entries,
            "left_out": document.left_out,
        }));
    }
    let count = document.entries.len() as u64;
    let title = document.title.as_deref().unwrap_or(address);
    let told = counted(count, "entry", "entries");
    output.line(&format!("{title}: {told}"))?;
    let row = |found: &almanack_core::source::entry::Found| {
        vec![
            Cell::new(
                found
                    .published_at
                    .map_or_else(|| "no time".to_owned(), instant),
            ),
            Cell::new(&*found.title),
            Cell::new(found.link.clone().unwrap_or_default()),
        ]
    };
    let rows: Vec<Vec<Cell>> = document.entries.iter().take(SHOWN).map(row).collect();
    output.table(&["PUBLISHED", "TITLE", "LINK"], &rows)?;
    let more = document.entries.len().saturating_sub(SHOWN) + document.left_out;
    if more > 0 {
        output.note(&format!("and {more} more\n"));
    }
    output.note("nothing was stored\n");
    Ok(())
}
