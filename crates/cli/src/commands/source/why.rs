//! `almanack source why`: what is believed of a source, and why its next check is when it is.

use std::path::Path;

use almanack_core::source::{Source, State, settle::Believed};
use jiff::Timestamp;
use serde_json::json;

use super::{called, instant, load, week};
use crate::{
    commands::Desk,
    failure::{Exit, Failure},
    output::Output,
    view,
    when::{self, Relative},
};

pub(super) async fn run(
    desk: &Desk,
    given: &str,
    svg: Option<&Path>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let source = load(desk, given).await?;
    let sources = desk.sources().await?;
    let believed = sources.believed(&source);
    let now = desk.clock.now();
    if let Some(file) = svg {
        draw(&source, &believed, file)?;
    }
    if output.json {
        output.value(&json!({
            "source": source.id,
            "answer": answer(&source, &believed, now).join(" "),
            "next_due_at": source.stats.next_due_at,
            "reason": source.reason,
            "believed": view::believed(&believed),
        }))?;
        return Ok(Exit::Ok);
    }
    for sentence in answer(&source, &believed, now) {
        output.line(&sentence)?;
    }
    if believed.week.iter().any(|expected| *expected > 0.0) {
        output.line("")?;
        output.line("entries expected in each hour of the week:")?;
        output.rows(&week::rows(&believed.week))?;
    }
    Ok(Exit::Ok)
}

fn draw(source: &Source, believed: &Believed, file: &Path) -> Result<(), Failure> {
    let picture = almanack_server::picture::week(called(source), &believed.week);
    std::fs::write(file, picture).map_err(|error| {
        let what = format!("--svg: write `{}`: {error}", file.display());
        Failure::new(Exit::Failed, what)
    })
}

/// The answer, a sentence a line.
fn answer(source: &Source, believed: &Believed, now: Timestamp) -> Vec<String> {
    let mut sentences = vec![next(source, now), policy(source, believed)];
    if believed.damaged {
        sentences.push(
            "What was learned of it is damaged; the fixed interval takes over while it learns anew."
                .to_owned(),
        );
    }
    if let Some(quiet) = believed.silent_after {
        let quiet = when::rounded(quiet);
        sentences.push(format!(
            "It counts as silent when nothing came for {quiet}."
        ));
    }
    sentences
}

fn next(source: &Source, now: Timestamp) -> String {
    let name = called(source);
    match (&source.state, source.stats.next_due_at) {
        (State::Active, Some(at)) => {
            let relative = Relative { at, now };
            let why = source
                .reason
                .as_deref()
                .map_or_else(|| "nobody has looked at it yet".to_owned(), str::to_owned);
            format!(
                "{name} is checked next at {} ({relative}): {why}.",
                instant(at)
            )
        }
        (State::Active, None) => format!("{name} is about to get its next check."),
        (State::Paused { since, note }, _) => {
            let note = note.as_ref().map(|note| format!(" ({note})"));
            let note = note.unwrap_or_default();
            format!(
                "{name} is not checked: it is paused since {}{note}.",
                instant(*since)
            )
        }
        (State::Ended { since, reason }, _) => {
            format!(
                "{name} is not checked: it ended at {}: {reason}.",
                instant(*since)
            )
        }
    }
}

fn policy(source: &Source, believed: &Believed) -> String {
    let definition = &source.definition;
    let policy = &believed.policy;
    match (definition.cadence, &definition.policy) {
        (Some(cadence), _) => {
            format!("Its cadence was set to {cadence} by hand, so its policy is {policy}.")
        }
        (None, Some(_)) => format!("Its own policy is {policy}."),
        (None, None) => format!("The policy of all sources without one of their own is {policy}."),
    }
}
