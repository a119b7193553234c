//! What is done to a source: paused, resumed, removed.

use std::io::{BufRead, IsTerminal};

use almanack_core::source::{Source, State};
use serde_json::json;

use super::{called, load_one};
use crate::{
    args::SourceArguments,
    commands::Desk,
    failure::{Exit, Failure},
    output::Output,
    view,
};

pub(super) async fn pause(
    desk: &Desk,
    given: &SourceArguments,
    note: Option<String>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let before = load_one(desk, given).await?;
    let sources = desk.sources().await?;
    let paused = sources.pause(before.id, note, &desk.origin).await?;
    let told = format!(
        "paused source {}: {}; nothing is checked until it is resumed",
        paused.id,
        called(&paused)
    );
    tell(&paused, &told, output)
}

pub(super) async fn resume(
    desk: &Desk,
    given: &SourceArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let before = load_one(desk, given).await?;
    let sources = desk.sources().await?;
    let resumed = sources.resume(before.id, &desk.origin).await?;
    let (id, name) = (resumed.id, called(&resumed));
    let told = match before.state {
        State::Active => format!("nothing changed: source {id} is active"),
        _ => format!("resumed source {id}: {name}; it is checked as soon as a node has room"),
    };
    tell(&resumed, &told, output)
}

/// Forgets a source. Its entries go with it, so this is asked for twice.
pub(super) async fn remove(
    desk: &Desk,
    given: &SourceArguments,
    yes: bool,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let source = load_one(desk, given).await?;
    if !yes && !confirmed(&source, output)? {
        output.note("nothing was removed\n");
        return Ok(Exit::Failed);
    }
    let sources = desk.sources().await?;
    sources.remove(source.id, &desk.origin).await?;
    if output.json {
        output.value(&json!({ "removed": source.id }))?;
    } else {
        let (id, name) = (source.id, called(&source));
        output.line(&format!("removed source {id} and its entries: {name}"))?;
    }
    Ok(Exit::Ok)
}

fn confirmed(source: &Source, output: &mut Output) -> Result<bool, Failure> {
    let input = std::io::stdin();
    if !input.is_terminal() || !output.watched {
        let what = format!("remove source {} and its entries?", source.id);
        return Err(Failure::new(Exit::Usage, what)
            .hint("--yes says so; `almanack source pause` keeps what was collected"));
    }
    let (id, name) = (source.id, called(source));
    output.note(&format!(
        "remove source {id} ({name}) and its entries? They cannot be brought back. [y/N] "
    ));
    let mut answer = String::new();
    let read = input.lock().read_line(&mut answer);
    read.map_err(|error| Failure::new(Exit::Failed, format!("read the answer: {error}")))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Tells what became of a source.
pub(super) fn tell(source: &Source, what: &str, output: &mut Output) -> Result<Exit, Failure> {
    if output.json {
        output.value(&view::source(source))?;
    } else {
        output.line(what)?;
    }
    Ok(Exit::Ok)
}
