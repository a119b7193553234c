//! DISPATCH: schedules in the original format, from a file or from the variable of that name.
//!
//! The variable contains the text itself and takes precedence over a file: where there are no
//! files, it is set as a secret. So its lines are never shown; problems report only their position.

use std::collections::{BTreeMap, BTreeSet};

use almanack_core::{dispatch, plan::ScheduleName};
use almanack_engine::schedules::Wanted;

use super::{
    report::{Place, Problem, Report},
    schedule::idle,
    settings::Settings,
    source::Source,
};

/// The variable that holds the text.
pub(crate) const VARIABLE: &str = "DISPATCH";

/// A DISPATCH text, read.
#[derive(Debug)]
pub(crate) struct DispatchText {
    /// The schedules of its good lines.
    pub(crate) wanted: Vec<Wanted>,
    /// The good lines themselves.
    pub(crate) lines: Vec<dispatch::Line>,
    /// The names of its bad lines, as far as they have one.
    pub(crate) keep: BTreeSet<ScheduleName>,
    /// What is wrong with the others.
    pub(crate) report: Report,
}

/// The file does not exist, or is not text.
#[derive(Debug, thiserror::Error)]
#[error("cannot read `{file}`: {source}")]
pub(crate) struct Unreadable {
    file: String,
    source: std::io::Error,
}

/// Reads the text, if there is one. None is different from an empty one, which removes schedules.
pub(crate) fn read(
    settings: &Settings,
    environment: &BTreeMap<String, String>,
) -> Result<Option<DispatchText>, Unreadable> {
    if let Some(text) = environment.get(VARIABLE) {
        let mut source = Source::new(VARIABLE.to_owned(), text.clone());
        source.cover(0..text.len());
        return Ok(Some(read_source(source, settings)));
    }
    let Some(path) = &settings.schedules.dispatch else {
        return Ok(None);
    };
    let file = path.display().to_string();
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(read_source(Source::new(file, text), settings))),
        Err(source) => Err(Unreadable { file, source }),
    }
}

fn read_source(source: Source, settings: &Settings) -> DispatchText {
    let read = dispatch::parse(source.text());
    let wanted = read.lines.iter().map(|line| Wanted {
        name: line.name.clone(),
        definition: line.definition.clone(),
    });
    let problems = read.problems.iter().map(|problem| {
        let span = problem.place.span.start..problem.place.span.end;
        let hint = problem.reason.hint();
        Problem {
            hint,
            ..Problem::error(problem.reason.to_string(), Some(Place::File { span }))
        }
    });
    let wanted: Vec<Wanted> = wanted.collect();
    let idle = idle::warnings(&wanted, settings);
    DispatchText {
        wanted,
        lines: read.lines,
        keep: read.refused,
        report: Report {
            problems: problems.chain(idle).collect(),
            source: Some(source),
        },
    }
}
