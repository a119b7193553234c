//! `almanack source why`: what is believed of a source, and why its next check is when it is.

use std::path::Path;

use almanack_core::{
    source::{Source, settle::Believed, why},
    store::EntryFilter,
};
use almanack_server::picture::week::{self as picture, Week};
use jiff::Timestamp;

use super::{called, load, week};
use crate::{
    commands::Desk,
    failure::{Exit, Failure},
    output::Output,
    view, when,
};

/// Entries that are drawn into the picture.
const ENTRIES_DRAWN: usize = 200;

pub(super) async fn run(
    desk: &Desk,
    given: &str,
    svg: Option<&Path>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let source = load(desk, given).await?;
    let sources = desk.sources().await?;
    let task = sources.tasks(&[source.id]).await?.pop().flatten();
    let believed = sources.believed(&source);
    let now = desk.clock.now();
    if let Some(file) = svg {
        draw(desk, &source, &believed, file).await?;
    }
    if output.json {
        output.value(&view::why_source(&source, task.as_ref(), &believed, now))?;
        return Ok(Exit::Ok);
    }
    output.line(called(&source))?;
    output.line(&why::next_look(&source, task.as_ref(), now))?;
    for sentence in further(&source, &believed) {
        output.line(&sentence)?;
    }
    if believed.week.iter().any(|expected| *expected > 0.0) {
        output.line("")?;
        output.line("Entries expected in each hour of the week:")?;
        output.rows(&week::rows(&believed.week))?;
    }
    Ok(Exit::Ok)
}

/// The rest of the answer, a sentence a line.
fn further(source: &Source, believed: &Believed) -> Vec<String> {
    let mut sentences = vec![policy(source, believed)];
    sentences.extend(why::wishes(&source.memory.hints));
    if let (Some(detail), Some(class)) = (&source.stats.last_error, source.stats.last_error_class) {
        let meaning = why::meaning(class);
        sentences.push(format!("Its last check failed: {detail}; {meaning}."));
    }
    if believed.damaged {
        let damaged = "What was learned of it is damaged; it learns anew, and the fixed interval holds until then.";
        sentences.push(damaged.to_owned());
    }
    if let Some(quiet) = believed.silent_after {
        let quiet = when::rounded(quiet);
        sentences.push(format!(
            "It counts as silent when nothing new came for {quiet}."
        ));
    }
    sentences
}

fn policy(source: &Source, believed: &Believed) -> String {
    let definition = &source.definition;
    let policy = &believed.policy;
    match (definition.cadence, &definition.policy) {
        (Some(cadence), _) => {
            format!("Its cadence is set to {cadence} by hand, which makes its policy {policy}.")
        }
        (None, Some(_)) => format!("Its own policy is {policy}."),
        (None, None) => format!("Its policy is that of all sources: {policy}."),
    }
}

async fn draw(
    desk: &Desk,
    source: &Source,
    believed: &Believed,
    file: &Path,
) -> Result<(), Failure> {
    let newest = EntryFilter {
        source: Some(source.id),
        limit: ENTRIES_DRAWN,
        ..EntryFilter::default()
    };
    let entries = desk.store.list_entries(&newest).await?.rows.into_iter();
    let entries: Vec<Timestamp> = entries
        .filter_map(|entry| entry.found.published_at)
        .collect();
    let looks = source.recent.looks().iter();
    let checks: Vec<Timestamp> = looks.map(|look| look.at).collect();
    let svg = picture::draw(&Week {
        name: called(source),
        expected: &believed.week,
        checks: &checks,
        entries: &entries,
    });
    std::fs::write(file, svg).map_err(|error| {
        let what = format!("--svg: write `{}`: {error}", file.display());
        Failure::new(Exit::Failed, what)
    })
}
