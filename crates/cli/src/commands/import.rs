//! `almanack import FORMAT FILE`: schedules of other programs as Almanack's own.
//!
//! Two independent steps: [`read`] parses the text, and [`show`] or [`json_of`] prints it. With
//! `--apply`, `apply` writes it instead.

use std::path::Path;

use almanack_adapters::clock::SystemClock;
use almanack_core::{
    import::{self, Difference, Import, Imported, Options},
    plan::Advice,
    target::Target,
    time::Clock as _,
};
use almanack_engine::zones::Zones;
use jiff::tz::TimeZone;

use crate::{
    commands::prelude::*,
    config::{
        report::{Place, Problem, Report},
        schedule::advice,
        source::Source,
    },
};

mod apply;
mod toml;
mod yaml;

/// More than any crontab has; what is larger is something else.
const TEXT_BYTES_MAX: u64 = 1_048_576;
const STANDARD_INPUT: &str = "-";

/// Shows or writes the converted schedules.
pub(super) fn run(at: &Connector<'_>, arguments: &ImportArguments, output: &mut Output) -> Done {
    check(arguments)?;
    let text = read_text(&arguments.file, "read", TEXT_BYTES_MAX)?;
    let mut import = read(arguments, &text);
    let advised = advise(&import);
    let applied = if arguments.apply {
        wait_for(apply::run(at, &import))?
    } else {
        Vec::new()
    };
    apply::settle(&applied, &mut import);
    let is_refused = applied.iter().any(apply::Applied::is_refused);
    let json = json_of(arguments, &import, &advised, &applied);
    output.print(&json, |output| {
        if arguments.apply {
            apply::show(&applied, output)?;
        } else {
            show(arguments, &import, output)?;
        }
        remark(arguments, text, (&import, &advised), output);
        Ok(())
    })?;
    if is_refused {
        return Ok(Exit::Failed);
    }
    Ok(Exit::usage_if(!import.problems.is_empty()))
}

/// What is worth knowing about each schedule as it is written here.
fn advise(import: &Import) -> Vec<Vec<Advice>> {
    let (zones, now) = (Zones::default(), SystemClock.now());
    let advice = import.schedules.iter().map(|imported| {
        let ready = zones.ready(&imported.name, imported.definition.clone());
        ready
            .map(|ready| advice::of(&ready, None, now))
            .unwrap_or_default()
    });
    advice.collect()
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

fn source_name(arguments: &ImportArguments) -> &str {
    match arguments.file.as_str() {
        STANDARD_INPUT => arguments.file_name.as_deref().unwrap_or("standard input"),
        file => file,
    }
}

/// The schedules, to standard output.
fn show(arguments: &ImportArguments, import: &Import, output: &mut Output) -> Result<()> {
    let name = source_name(arguments);
    for (index, imported) in import.schedules.iter().enumerate() {
        if index > 0 {
            output.line("")?;
        }
        output.line(&format!("# {name}, line {}", imported.place.line))?;
        output.raw(&toml::schedule(imported))?;
    }
    Ok(())
}

/// What to know about them, to standard error.
fn remark(
    arguments: &ImportArguments,
    text: String,
    (import, advised): (&Import, &[Vec<Advice>]),
    output: &mut Output,
) {
    let mut problems = problems_of(import);
    for (imported, advice) in import.schedules.iter().zip(advised) {
        let place = place_of(imported.place);
        let warning = |it: &Advice| Problem::warning(it.lint.to_string(), Some(place.clone()));
        problems.extend(advice.iter().map(warning));
    }
    let secrets = match arguments.format {
        ImportFormat::Healthchecks => import::healthchecks::secrets_in(&text),
        _ => Vec::new(),
    };
    let mut source = Source::new(source_name(arguments).to_owned(), text);
    for span in secrets {
        source.cover(span.start..span.end);
    }
    let report = Report {
        source: Some(source),
        problems,
    };
    output.complain(&[report]);
    output.note(&format!("{}\n", summary(import)));
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

fn json_of(
    arguments: &ImportArguments,
    import: &Import,
    advised: &[Vec<Advice>],
    applied: &[apply::Applied],
) -> Value {
    let schedules = import.schedules.iter().zip(advised).enumerate();
    let schedules = schedules.map(|(index, (imported, advice))| {
        let mut json = schedule_json(imported);
        json["warnings"] = advice.iter().map(advice_json).collect();
        if let Some(applied) = applied.get(index) {
            json["effect"] = applied.json();
        }
        json
    });
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
        "dry_run": !arguments.apply,
        "schedules": schedules.collect::<Vec<_>>(),
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

fn advice_json(advice: &Advice) -> Value {
    json!({
        "code": advice.lint.code(),
        "message": advice.lint.to_string(),
        "path": advice.path,
    })
}

fn difference_json(difference: &Difference) -> Value {
    json!({
        "code": difference.code(),
        "message": difference.to_string(),
        "kept": difference.is_kept(),
    })
}
