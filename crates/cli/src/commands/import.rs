//! `almanack import FORMAT FILE`: schedules of other programs as Almanack's own.
//!
//! Two independent steps: [`read`] parses the text, and [`show`] or [`json_of`] prints it.

use std::path::Path;

use almanack_core::{
    import::{self, Difference, Import, Imported, Options},
    target::Target,
};
use jiff::tz::TimeZone;

use crate::{
    commands::prelude::*,
    config::{
        report::{Place, Problem, Report},
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
    let text = read_text(&arguments.file, "read", TEXT_BYTES_MAX)?;
    let import = read(arguments, &text);
    output.print(&json_of(arguments, &import), |output| {
        show(arguments, text, &import, output)
    })?;
    Ok(Exit::usage_if(!import.problems.is_empty()))
}

/// Refuses what cannot work before anything is read.
fn check(arguments: &ImportArguments) -> Result<()> {
    let format = arguments.format;
    if arguments.system && format != ImportFormat::Crontab {
        return Err(Failure::usage("--system is only for crontabs"));
    }
    if let Some(tz) = &arguments.tz {
        TimeZone::get(tz).map_err(|_| {
            let what = format!("--tz: there is no time zone `{tz}`");
            Failure::usage(what).hint("zones look like Europe/Berlin")
        })?;
    }
    let named = matches!(
        format,
        ImportFormat::SystemdTimer | ImportFormat::GithubWorkflow
    );
    if named && arguments.file == STANDARD_INPUT && arguments.file_name.is_none() {
        let what = "standard input has no file name";
        return Err(Failure::usage(what).hint("pass it: --as backup.timer, --as daily.yml"));
    }
    if format == ImportFormat::GithubWorkflow {
        check_repository(arguments)?;
    }
    Ok(())
}

/// A workflow does not name its repository.
fn check_repository(arguments: &ImportArguments) -> Result<()> {
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
        ImportFormat::Healthchecks => import::healthchecks::read(text, &options),
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
) -> Result<()> {
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
    output.complain(&[report]);
    output.note(&format!("{}\n", summary(import)));
    Ok(())
}

/// Problems and differences, in the order of the text; what is about all of it comes last.
fn problems_of(import: &Import) -> Vec<Problem> {
    let errors = import.problems.iter().map(|problem| {
        let place = place_of(problem.place);
        Problem {
            hint: problem.reason.hint(),
            ..Problem::error(problem.reason.to_string(), Some(place))
        }
    });
    let warning = |it: &Difference, place: Option<Place>| Problem::warning(it.to_string(), place);
    let of_schedules = import.schedules.iter().flat_map(|imported| {
        let differences = imported.differences.iter();
        differences.map(|it| warning(it, Some(place_of(imported.place))))
    });
    let of_all = import.differences.iter().map(|it| warning(it, None));
    errors.chain(of_schedules).chain(of_all).collect()
}

fn place_of(place: almanack_core::place::Place) -> Place {
    let span = place.span.start..place.span.end;
    Place::File { span }
}

fn summary(import: &Import) -> String {
    let own: usize = import.schedules.iter().map(|it| it.differences.len()).sum();
    let differences = own + import.differences.len();
    let counts = [
        counted(import.schedules.len() as u64, "schedule", "schedules"),
        counted(differences as u64, "difference", "differences"),
        counted(import.problems.len() as u64, "problem", "problems"),
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
        "format": arguments.format,
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
