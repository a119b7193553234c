//! Reads settings from the merged layers and collects all problems.
//!
//! A refused value is replaced by its default for the moment, so that one pass finds all errors;
//! settings with errors are never used.

use std::{collections::BTreeMap, fmt, net::SocketAddr, path::Path};

use almanack_core::{
    address::IpNet,
    edition::EditionName,
    event::incoming::mapping::{Path as MappingPath, Template},
    plan::ScheduleName,
    secret::{COVER, Secret},
    source::policy::Policy,
    task::Kind,
};
use jiff::SignedDuration;
use serde::Serialize;
use url::Url;

use super::{
    Need,
    key::{KeyPath, Shown},
    layer::{Given, Layer, Raw},
    report::{Place, Problem, Severity},
    secret::{self, Reference},
    source::Source,
    table::Form,
};
use crate::when;

/// Where a setting comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub(crate) enum Origin {
    /// The default.
    Default,
    /// The file.
    File {
        /// Its name.
        file: String,
        /// Where in it.
        line: usize,
    },
    /// The environment.
    Environment {
        /// The variable.
        variable: String,
    },
    /// The command line.
    Flag {
        /// The flag.
        flag: String,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { file, line } => write!(f, "{file}:{line}"),
            Self::Environment { variable: name } | Self::Flag { flag: name } => f.write_str(name),
        }
    }
}

/// One setting in force, as it may be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Effective {
    /// Which.
    pub(crate) key: String,
    /// Its value; a secret's is covered.
    pub(crate) value: String,
    /// Where it comes from.
    pub(crate) origin: Origin,
    /// What is behind a covered value, to detect a change; never shown.
    #[serde(skip)]
    pub(crate) hidden: Option<Secret>,
}

/// How a value is shown.
pub(crate) trait Show {
    /// As it would be written in the file.
    fn show(&self) -> String;
}

macro_rules! show_as_written {
    ($($number:ty),*) => { $(impl Show for $number { fn show(&self) -> String { self.to_string() } })* };
}
macro_rules! show_in_quotes {
    ($($text:ty),*) => { $(impl Show for $text { fn show(&self) -> String { format!("\"{self}\"") } })* };
}
show_as_written!(bool, u8, u16, u32, u64, usize);
show_in_quotes!(
    String,
    SocketAddr,
    Url,
    IpNet,
    Kind,
    MappingPath,
    Template,
    Policy,
    ScheduleName,
    EditionName
);

impl Show for SignedDuration {
    fn show(&self) -> String {
        format!("\"{}\"", when::show_duration(*self))
    }
}

impl<T: Show> Show for Vec<T> {
    fn show(&self) -> String {
        let items: Vec<String> = self.iter().map(Show::show).collect();
        format!("[{}]", items.join(", "))
    }
}

/// Reads settings.
pub(crate) struct Reader<'a> {
    /// All layers in one.
    pub(crate) layer: Layer,
    /// The file, if there is one.
    pub(crate) source: Option<Source>,
    /// Where secrets may be kept.
    pub(crate) environment: &'a BTreeMap<String, String>,
    /// Where relative paths to secrets start.
    pub(crate) base: &'a Path,
    /// Which secrets have to be there.
    pub(crate) need: Need,
    /// What is wrong so far.
    pub(crate) problems: Vec<Problem>,
    /// What is in force so far.
    pub(crate) effective: Vec<Effective>,
}

impl Reader<'_> {
    /// The value at `path`, if there is a valid one; `usual` describes what is in force otherwise.
    pub(crate) fn value<T>(&mut self, path: &KeyPath, form: Form<T>, usual: String) -> Option<T> {
        let fetched = self.fetched(path);
        let value = match fetched.as_ref().map(form.read) {
            Some(Err(problem)) => self.complain(path, without(problem, path, fetched.as_ref())),
            read => read.and_then(Result::ok),
        };
        let whole = value.as_ref().map(form.show);
        self.note(path, fetched.as_ref(), whole, usual);
        value
    }

    /// Where the value at `path` was given, to point there.
    pub(crate) fn place(&self, path: &KeyPath) -> Option<Place> {
        self.layer.get(path).map(|given| given.place.clone())
    }

    /// Whether one of these keys of `section` is set.
    pub(crate) fn is_given(&self, section: &'static str, names: &[&'static str]) -> bool {
        let mut names = names.iter();
        names.any(|name| self.layer.contains_key(&KeyPath::plain(section, name)))
    }

    /// Whether any key of a section, or of one inside it, is set. The tables of names are sections
    /// of their own: those of `[editions.NAME]` say nothing about `[edition]`.
    pub(crate) fn is_mentioned(&self, section: &str) -> bool {
        let mut given = self.layer.keys();
        given.any(|path| path.is_plainly_within(section))
    }

    /// The names that have a table in `section`, as they are spelt.
    pub(crate) fn named(&self, section: &str) -> Vec<String> {
        let paths = self.layer.keys().filter(|path| path.section == section);
        let mut names: Vec<String> = paths.filter_map(|path| path.kind.clone()).collect();
        names.dedup();
        names
    }

    /// The first place of which this is true, to point there.
    pub(crate) fn first_place(&self, is_meant: impl Fn(&KeyPath) -> bool) -> Option<Place> {
        let mut given = self.layer.iter();
        let found = given.find(|(path, _)| is_meant(path));
        found.map(|(_, given)| given.place.clone())
    }

    /// Notes a problem.
    pub(crate) fn push(
        &mut self,
        severity: Severity,
        (what, place): (impl Into<String>, Option<Place>),
        hint: impl Into<String>,
    ) {
        let problem = Problem {
            severity,
            ..Problem::error(what, place)
        };
        self.problems.push(problem.hint(hint));
    }

    /// Reports that a key is missing, if one that needs it is set.
    pub(crate) fn needs(
        &mut self,
        section: &'static str,
        given: &[&'static str],
        (name, what, hint): (&'static str, &str, &str),
    ) {
        if self.is_given(section, given) && !self.is_given(section, &[name]) {
            self.half(section, what, hint);
        }
    }

    /// Refuses the value at `path`, with this message.
    pub(crate) fn refuse(
        &mut self,
        what: impl Into<String>,
        path: impl Into<KeyPath>,
        hint: impl Into<String>,
    ) {
        let place = self.place(&path.into());
        self.push(Severity::Error, (what, place), hint);
    }

    /// Warns of what was given at `path`.
    pub(crate) fn warn(
        &mut self,
        what: impl Into<String>,
        path: impl Into<KeyPath>,
        hint: impl Into<String>,
    ) {
        let place = self.place(&path.into());
        self.push(Severity::Warning, (what, place), hint);
    }

    /// Reports what is missing in a section that is partly configured.
    pub(crate) fn half(&mut self, section: &str, missing: &str, hint: &str) {
        let place = self.first_place(|path| path.is_plainly_within(section));
        let what = format!("[{section}] is incomplete: {missing} is missing");
        self.push(Severity::Error, (what, place), hint);
    }

    /// Reports that the given keys have no effect without another one.
    pub(crate) fn without_effect(
        &mut self,
        severity: Severity,
        section: &'static str,
        (names, needed): (&[&'static str], &str),
        hint: &str,
    ) {
        for name in names {
            let path = KeyPath::plain(section, name);
            if let Some(place) = self.place(&path) {
                let what = format!("{path} has no effect without {section}.{needed}");
                self.push(severity, (what, Some(place)), hint);
            }
        }
    }

    /// What is given at `path`: itself, even where only the place is written that keeps it.
    fn fetched(&mut self, path: &KeyPath) -> Option<Given> {
        let given = self.layer.get(path)?.clone();
        let what = match path.shown() {
            Shown::Whole => return Some(given),
            Shown::Host => "address",
            Shown::Never => "secret",
        };
        let problem = match given.raw.as_text().and_then(Reference::parse) {
            Some(reference) => match reference.resolve(self.environment, self.base) {
                Ok(found) => {
                    let raw = Raw::Text(found.expose().to_owned());
                    return Some(Given { raw, ..given });
                }
                Err(_) if self.need != Need::Everything && path.section != "database" => {
                    return None;
                }
                Err(error) => Problem::new(
                    error.to_string(),
                    format!(
                        "set it, or write where the {what} is kept: \"env:NAME\" or \"file:/path\""
                    ),
                ),
            },
            None if path.shown() == Shown::Host || is_in_environment(&given) => return Some(given),
            None => Problem::new(
                "do not write the secret itself, only where it is kept",
                "write \"env:NAME\" and set NAME, or write \"file:/path\" and put it in that file",
            ),
        };
        self.complain(path, problem)
    }

    /// Refuses the value at `path`.
    pub(crate) fn complain<T>(&mut self, path: &KeyPath, problem: Problem) -> Option<T> {
        self.problems.push(Problem {
            what: format!("{path}: {}", problem.what),
            place: problem.place.or_else(|| self.place(path)),
            ..problem
        });
        None
    }

    /// Notes a value as far as it may be shown, or what is in force without one.
    fn note(
        &mut self,
        path: &KeyPath,
        fetched: Option<&Given>,
        whole: Option<String>,
        usual: String,
    ) {
        let given = self.layer.get(path);
        let kept = given.and_then(|given| given.raw.as_text());
        let kept = kept.filter(|text| secret::is_reference(text));
        let kept = kept.map(|text| format!(" ({text})")).unwrap_or_default();
        let (value, hidden) = match (path.shown(), whole) {
            (Shown::Never, _) if given.is_some() => {
                let text = fetched.and_then(|given| given.raw.as_text());
                (format!("{COVER}{kept}"), text.map(Secret::new))
            }
            (Shown::Host, Some(whole)) => {
                let host = secret::only_host(whole.trim_matches('"'));
                (format!("\"{host}\"{kept}"), Some(Secret::new(&whole)))
            }
            (_, whole) => (whole.unwrap_or(usual), None),
        };
        self.effective.push(Effective {
            key: path.to_string(),
            value,
            origin: self.origin(path),
            hidden,
        });
    }

    fn origin(&self, path: &KeyPath) -> Origin {
        match (self.layer.get(path).map(|given| &given.place), &self.source) {
            (Some(Place::File { span }), Some(source)) => Origin::File {
                file: source.name.clone(),
                line: source.position(span.start).line,
            },
            (Some(Place::Environment { variable, .. }), _) => Origin::Environment {
                variable: variable.clone(),
            },
            (Some(Place::Flag { flag, .. }), _) => Origin::Flag { flag: flag.clone() },
            (Some(Place::File { .. }) | None, _) => Origin::Default,
        }
    }
}

/// Whether it is a value of the environment, where secrets may be.
fn is_in_environment(given: &Given) -> bool {
    let is_set = given.raw.as_text().is_some_and(|text| !text.is_empty());
    is_set && matches!(given.place, Place::Environment { .. })
}

/// What is wrong with an address, without what may be secret in it.
fn without(problem: Problem, path: &KeyPath, fetched: Option<&Given>) -> Problem {
    let text = fetched.and_then(|given| given.raw.as_text());
    match text.filter(|_| path.shown() == Shown::Host) {
        Some(text) => Problem {
            what: problem.what.replace(text, &secret::only_host(text)),
            ..problem
        },
        None => problem,
    }
}
