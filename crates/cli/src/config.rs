//! Configuration: flags over environment over file, checked once.
//!
//! ```text
//!   almanack.toml ─► layer ┐
//!   ALMANACK_…    ─► layer ├─► laid over ─► Settings (typed) + where each value comes from
//!   flags         ─► layer ┘            └─► Report (everything that is wrong)
//! ```
//!
//! Nothing here reads the process environment: it comes in as a map, from `main`. INVARIANT:
//! [`Settings`] exist only if no error was found, so code that has them need not check anything.

use std::{
    collections::BTreeMap,
    io::ErrorKind,
    path::{Path, PathBuf},
};

pub(crate) mod calendar;
pub(crate) mod difference;
pub(crate) mod dispatch;
pub(crate) mod environment;
pub(crate) mod file;
pub(crate) mod first;
pub(crate) mod key;
pub(crate) mod layer;
mod list;
pub(crate) mod reader;
pub(crate) mod report;
pub(crate) mod schedule;
pub(crate) mod schema;
pub(crate) mod secret;
pub(crate) mod settings;
pub(crate) mod source;
pub(crate) mod sources;
pub(crate) mod table;
pub(crate) mod value;

use calendar::FileCalendars;
use file::Document;
use jiff::Timestamp;
use reader::{Effective, Origin, Reader};
use report::{Problem, Report, Severity};
pub(crate) use schedule::idle::of_target as idle_target;
use schedule::{FileSchedules, advice, idle};
pub(crate) use settings::Settings;
use settings::edition;
use source::Source;
use sources::FileSources;

/// The file that is read when none is named, if it exists.
pub(crate) const FILE_DEFAULT: &str = "almanack.toml";
/// The variable that names the file.
pub(crate) const FILE_VARIABLE: &str = "ALMANACK_CONFIG";

/// Which secrets must be found for the settings to be of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// All: to serve, or to check.
    Everything,
    /// The database's only: listing tasks does not need the keys that sign callbacks.
    Database,
}

/// Everything the settings are made from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inputs {
    /// The process environment.
    pub(crate) environment: BTreeMap<String, String>,
    /// The file asked for on the command line.
    pub(crate) file: Option<PathBuf>,
    /// Flags that set a key: the flag as written, the key, the value.
    pub(crate) flags: Vec<(String, String, String)>,
}

impl Inputs {
    /// The file to read, and whether it was named explicitly.
    pub(crate) fn file(&self) -> (PathBuf, bool) {
        let variable = self.environment.get(FILE_VARIABLE).map(PathBuf::from);
        let asked = self.file.clone().or(variable);
        let is_asked = asked.is_some();
        (asked.unwrap_or_else(|| FILE_DEFAULT.into()), is_asked)
    }
}

/// The result of loading.
pub(crate) struct Loaded {
    /// The settings, unless there were errors.
    pub(crate) settings: Option<Settings>,
    /// The settings as far as they can be read, for checks of the database although something else
    /// is wrong; none if it is unclear which database is meant.
    pub(crate) readable: Option<Box<Settings>>,
    /// The effective values with their origins; with errors, what they would be.
    pub(crate) effective: Vec<Effective>,
    /// What is wrong with the settings.
    pub(crate) report: Report,
    /// The file's schedules. A bad one prevents no start, so it is not part of the report.
    pub(crate) schedules: FileSchedules,
    /// The file's sources. As of schedules, a bad one prevents no start.
    pub(crate) sources: FileSources,
    /// The file's calendars, likewise.
    pub(crate) calendars: FileCalendars,
}

impl Loaded {
    /// [`Self::whole_report`] with what is worth knowing about the schedules.
    pub(crate) fn advised_report(&self, now: Timestamp) -> Report {
        let mut report = self.whole_report();
        let settings = self.readable.as_deref();
        let source = report.source.as_ref();
        let advice = advice::of_file((&self.schedules, &self.calendars), source, settings, now);
        report.problems.extend(advice);
        report.problems.sort_by_key(Problem::reading_order);
        report
    }

    /// What is wrong with anything in the file, from the top down.
    pub(crate) fn whole_report(&self) -> Report {
        let mut report = self.report.clone();
        report.problems.extend_from_slice(&self.schedules.problems);
        report.problems.extend_from_slice(&self.sources.problems);
        report.problems.extend_from_slice(&self.calendars.problems);
        report.problems.sort_by_key(Problem::reading_order);
        report
    }
}

/// Reads and checks the configuration.
pub(crate) fn load(inputs: &Inputs, need: Need) -> Loaded {
    checked(read_source(inputs), inputs, need)
}

/// Checks a text as if the file held it.
pub(crate) fn of_text(name: &str, text: String, inputs: &Inputs, need: Need) -> Loaded {
    let source = Source::new(name.to_owned(), text);
    checked(Ok(Some(source)), inputs, need)
}

fn checked(found: Result<Option<Source>, Problem>, inputs: &Inputs, need: Need) -> Loaded {
    let (source, document) = lay_over(found, inputs);
    let Document {
        layer,
        problems,
        mut schedules,
        sources,
        calendars,
    } = document;
    let folder = source
        .as_ref()
        .and_then(|source| Path::new(&source.name).parent());
    let base = folder.map(Path::to_path_buf).unwrap_or_default();
    let mut reader = Reader {
        layer,
        source,
        environment: &inputs.environment,
        base: &base,
        need,
        problems,
        effective: Vec::new(),
    };
    let shapeless = has_errors(&reader.problems);
    let settings = Settings::read(&mut reader);
    let Reader {
        source,
        mut problems,
        effective,
        ..
    } = reader;
    for (name, _) in settings.editions.all() {
        schedules.leave_name(&edition::schedule_of(name), true);
    }
    if need == Need::Everything {
        problems.extend(idle::warnings_of_file(&schedules, &settings));
    }
    problems.sort_by_key(Problem::reading_order);
    let readable = is_clear(&problems, &effective, shapeless).then(|| Box::new(settings.clone()));
    let report = Report { source, problems };
    let settings = (!report.has_errors()).then_some(settings);
    Loaded {
        settings,
        readable,
        effective,
        report,
        schedules,
        sources,
        calendars,
    }
}

fn has_errors(problems: &[Problem]) -> bool {
    problems.iter().any(|it| it.severity == Severity::Error)
}

/// Whether it is clear which database is meant: its keys have no errors, and if the file is
/// invalid, the database is named elsewhere.
fn is_clear(problems: &[Problem], effective: &[Effective], shapeless: bool) -> bool {
    let about_it = |it: &&Problem| it.what.starts_with("database.");
    let is_wrong = problems
        .iter()
        .filter(about_it)
        .any(|it| it.severity == Severity::Error);
    let mut url = effective.iter().filter(|it| it.key == "database.url");
    let is_named = url.any(|it| it.origin != Origin::Default);
    !is_wrong && (is_named || !shapeless)
}

/// All layers in one, the file they came from, and what is wrong with their shape.
fn lay_over(found: Result<Option<Source>, Problem>, inputs: &Inputs) -> (Option<Source>, Document) {
    let (mut source, missing) = match found {
        Ok(source) => (source, None),
        Err(problem) => (None, Some(problem)),
    };
    let mut document = source.as_mut().map(file::read).unwrap_or_default();
    document.problems.splice(0..0, missing);
    let (above, found) = environment::read(&inputs.environment, &document.layer);
    document.layer.extend(above);
    document.problems.extend(found);
    let (above, found) = environment::read_flags(&inputs.flags);
    document.layer.extend(above);
    document.problems.extend(found);
    (source, document)
}

/// A file that was asked for must exist; the default one may be missing.
fn read_source(inputs: &Inputs) -> Result<Option<Source>, Problem> {
    let (path, asked) = inputs.file();
    let name = path.display().to_string();
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some(Source::new(name, text))),
        Err(error) if error.kind() == ErrorKind::NotFound && !asked => Ok(None),
        Err(error) => {
            let hint = match inputs.file {
                Some(_) => "check the name; a relative path starts at the current folder",
                None => "correct ALMANACK_CONFIG, or pass --config FILE",
            };
            Err(Problem::error(format!("cannot read `{name}`: {error}"), None).hint(hint))
        }
    }
}

#[cfg(test)]
mod tests;
