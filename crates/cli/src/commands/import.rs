//! `almanack import FORMAT FILE`: schedules of other programs as Almanack's own.
//!
//! Three independent steps: [`load`] reads the text, [`read`] parses it, and [`show`] or
//! [`json_of`] prints it.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use almanack_core::{
    import::{self, Difference, Import, Imported, Options},
    target::Target,
};
use jiff::tz::TimeZone;

use crate::{
    commands::prelude::*,
    config::{
        report::{Place, Problem, Report, Severity},
        source::Source,
    },
};

mod toml;
mod yaml;

/// More than any crontab has; what is larger is something else.
const TEXT_BYTES_MAX: u64 = 1_048_576;
const STANDARD_INPUT: &str = "-";

/// Shows the converted schedules.
pub(super) fn run(arguments: &ImportArguments, output: &mut Output) -> Done {
    check(arguments)?;
    let text = load(&arguments.file)?;
    let import = read(arguments, &text);
    let exit = if import.problems.is_empty() {
        Exit::Ok
    } else {
        Exit::Usage
    };
    if output.json {
        output.value(&json_of(arguments, &import))?;
    } else {
        show(arguments, text, &import, output)?;
    }
    Ok(exit)
}

/// Refuses what cannot work before anything is read.
fn check(arguments: &ImportArguments) -> Result<(), Failure> {
    let usage = |what: String| Failure::usage(what);
    let format = arguments.format;
    if arguments.system && format != ImportFormat::Crontab {
        return Err(usage("--system is only for crontabs".to_owned()));
    }
    if let Some(tz) = &arguments.tz {
        TimeZone::get(tz).map_err(|_| {
            let what = format!("--tz: there is no time zone `{tz}`");
            usage(what).hint("zones look like Europe/Berlin")
        })?;
    }
    let named = matches!(
        format,
        ImportFormat::SystemdTimer | ImportFormat::GithubWorkflow
    );
    if named && arguments.file == STANDARD_INPUT && arguments.file_name.is_none() {
        let what = "standard input has no file name".to_owned();
        return Err(usage(what).hint("pass it: --as backup.timer, --as daily.yml"));
    }
    if format == ImportFormat::GithubWorkflow {
        check_repository(arguments)?;
    }
    Ok(())
}

/// A workflow does not name its repository.
fn check_repository(arguments: &ImportArguments) -> Result<(), Failure> {
    let repository = arguments.repository.clone().unwrap_or_default();
    let target = Target::Workflow {
        repository,
        workflow: file_name(arguments).to_owned(),
        git_ref: "main".to_owned(),
        inputs: std::collections::BTreeMap::new(),
    };
    target.check().map_err(|unusable| {
        let failure = Failure::usage(unusable);
        failure.hint("pass the workflow's repository: --repository owner/repo")
    })
}

fn file_name(arguments: &ImportArguments) -> &str {
    let name = arguments.file_name.as_deref().unwrap_or(&arguments.file);
    let last = Path::new(name).file_name();
    last.and_then(|last| last.to_str()).unwrap_or(name)
}

fn load(file: &str) -> Result<String, Failure> {
    let failed = |why: &dyn std::fmt::Display| {
        let place = if file == STANDARD_INPUT {
            "standard input"
        } else {
            file
        };
        Failure::usage(format!("read {place}: {why}"))
    };
    let mut bytes = Vec::new();
    let read = if file == STANDARD_INPUT {
        io::stdin().take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes)
    } else {
        let opened = File::open(file);
        opened.and_then(|file| file.take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes))
    };
    let read = read.map_err(|error| failed(&error))?;
    if u64::try_from(read).unwrap_or(u64::MAX) > TEXT_BYTES_MAX {
        return Err(failed(&"it has more than 1 MiB, the limit"));
    }
    String::from_utf8(bytes).map_err(|_| failed(&"it is not UTF-8"))
}

/// Parses a text.
fn read(arguments: &ImportArguments, text: &str) -> Import {
    let options = Options {
        file: file_name(arguments),
        tz: arguments.tz.as_deref(),
        repository: arguments.repository.as_deref().unwrap_or_default(),
        with_users: arguments.system,
    };
    match arguments.format {
        ImportFormat::Dispatch => import::dispatch::read(text, &options),
        ImportFormat::Crontab => import::crontab::read(text, &options),
        ImportFormat::SystemdTimer => import::systemd::read(text, &options),
        ImportFormat::GithubWorkflow => {
            let (source, problems) = yaml::read(text);
            let mut import = import::workflow::read(&source, &options);
            import.problems.extend(problems);
            import
                .problems
                .sort_by_key(|problem| problem.place.span.start);
            import
        }
    }
}

/// Schedules to standard output, remarks to standard error.
fn show(
    arguments: &ImportArguments,
    text: String,
    import: &Import,
    output: &mut Output,
) -> Result<(), Failure> {
    let name = match arguments.file.as_str() {
        STANDARD_INPUT => arguments.file_name.as_deref().unwrap_or("standard input"),
        file => file,
    };
    for (index, imported) in import.schedules.iter().enumerate() {
        if index > 0 {
            output.line("")?;
        }
        output.line(&format!("# {name}, line {}", imported.place.line))?;
        output.raw(&toml::schedule(imported))?;
    }
    let report = Report {
        source: Some(Source::new(name.to_owned(), text)),
        problems: problems_of(import),
    };
    for severity in [Severity::Error, Severity::Warning] {
        let text = report.render(severity);
        if !text.is_empty() {
            output.note(&format!("{text}\n"));
        }
    }
    output.note(&format!("{}\n", summary(import)));
    Ok(())
}

/// Problems and differences, in the order of the text; what is about all of it comes last.
fn problems_of(import: &Import) -> Vec<Problem> {
    let mut problems = Vec::new();
    for problem in &import.problems {
        let place = place_of(problem.place);
        let error = Problem::error(problem.reason.to_string(), Some(place));
        problems.push(match problem.reason.hint() {
            Some(hint) => error.hint(hint),
            None => error,
        });
    }
    for imported in &import.schedules {
        let place = place_of(imported.place);
        for difference in &imported.differences {
            problems.push(Problem::warning(
                difference.to_string(),
                Some(place.clone()),
            ));
        }
    }
    for difference in &import.differences {
        problems.push(Problem::warning(difference.to_string(), None));
    }
    problems
}

fn place_of(place: almanack_core::place::Place) -> Place {
    let span = place.span.start..place.span.end;
    Place::File { span }
}

fn summary(import: &Import) -> String {
    let count = |number: usize, word: &str| match number {
        1 => format!("1 {word}"),
        many => format!("{many} {word}s"),
    };
    let own: usize = import.schedules.iter().map(|it| it.differences.len()).sum();
    let counts = [
        count(import.schedules.len(), "schedule"),
        count(own + import.differences.len(), "difference"),
        count(import.problems.len(), "problem"),
    ];
    counts.join(", ")
}

fn json_of(arguments: &ImportArguments, import: &Import) -> Value {
    let problems = import.problems.iter().map(|problem| {
        json!({
            "code": problem.reason.code(),
            "message": problem.reason.to_string(),
            "hint": problem.reason.hint(),
            "line": problem.place.line,
            "column": problem.place.column,
            "span": [problem.place.span.start, problem.place.span.end],
        })
    });
    json!({
        "ok": import.problems.is_empty(),
        "format": arguments.format.as_str(),
        "file": arguments.file,
        "dry_run": true,
        "schedules": import.schedules.iter().map(schedule_json).collect::<Vec<_>>(),
        "differences": import.differences.iter().map(difference_json).collect::<Vec<_>>(),
        "problems": problems.collect::<Vec<_>>(),
    })
}

fn schedule_json(imported: &Imported) -> Value {
    json!({
        "name": imported.name,
        "definition": imported.definition,
        "line": imported.place.line,
        "column": imported.place.column,
        "differences": imported.differences.iter().map(difference_json).collect::<Vec<_>>(),
    })
}

fn difference_json(difference: &Difference) -> Value {
    json!({
        "code": difference.code(),
        "message": difference.to_string(),
        "kept": difference.is_kept(),
    })
}
