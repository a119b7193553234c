//! Reads settings from the merged layers and collects all problems.
//!
//! A refused value is replaced by its default for the moment, so that one pass finds all errors;
//! settings with errors are never used.

use std::{collections::BTreeMap, fmt, net::SocketAddr, path::Path};

use almanack_core::{
    address::IpNet,
    event::incoming::mapping::{Path as MappingPath, Template},
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
    value::{Complaint, Read},
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
    Policy
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
    /// The value at `path`, or `default`.
    pub(crate) fn value<T: Show>(
        &mut self,
        path: &KeyPath,
        default: T,
        parse: impl FnOnce(&Given) -> Read<T>,
    ) -> T {
        let value = self.parse(path, parse).unwrap_or(default);
        self.note_value(path, &value);
        value
    }

    /// The value at `path`, if there is one; `unset` describes what happens otherwise.
    pub(crate) fn optional<T: Show>(
        &mut self,
        path: &KeyPath,
        unset: &str,
        parse: impl FnOnce(&Given) -> Read<T>,
    ) -> Option<T> {
        let value = self.parse(path, parse);
        match &value {
            Some(value) => self.note_value(path, value),
            None => self.note(path, unset.to_owned()),
        }
        value
    }

    /// The secret at `path`, fetched from where it is kept.
    pub(crate) fn secret(&mut self, path: &KeyPath, unset: &str) -> Option<Secret> {
        let given = self.layer.get(path).cloned();
        let Some(given) = given else {
            self.note(path, unset.to_owned());
            return None;
        };
        self.note(path, shown_secret(&given));
        let found = find_secret(&given, self.environment, self.base);
        let needed = self.need == Need::Everything || path.section == "database";
        match found {
            Ok(secret) => {
                if let Some(noted) = self.effective.last_mut() {
                    noted.hidden = Some(secret.clone());
                }
                Some(secret)
            }
            Err(Missing::Kept(complaint)) if needed => self.complain(path, complaint),
            Err(Missing::Kept(_)) => None,
            Err(Missing::Literal(complaint)) => self.complain(path, complaint),
        }
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

    /// Whether any key of a section, or of one inside it, is set.
    pub(crate) fn is_mentioned(&self, section: &str) -> bool {
        self.layer.keys().any(|path| path.is_within(section))
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
        let place = self.first_place(|path| path.is_within(section));
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

    fn parse<T>(&mut self, path: &KeyPath, parse: impl FnOnce(&Given) -> Read<T>) -> Option<T> {
        let mut given = self.layer.get(path)?.clone();
        if path.shown() == Shown::Host {
            given.raw = self.fetched(path, given.raw)?;
        }
        let complaint = match parse(&given) {
            Ok(value) => return Some(value),
            Err(complaint) => without(complaint, &given.raw, path.shown()),
        };
        self.complain(path, complaint)
    }

    /// An address that may be kept where secrets are.
    fn fetched(&mut self, path: &KeyPath, raw: Raw) -> Option<Raw> {
        let Some(kept) = raw.as_text().and_then(Reference::parse) else {
            return Some(raw);
        };
        match kept.resolve(self.environment, self.base) {
            Ok(address) => Some(Raw::Text(address.expose().trim().to_owned())),
            Err(_) if self.need != Need::Everything => None,
            Err(error) => {
                let hint =
                    "set it, or write where the address is kept: \"env:NAME\" or \"file:/path\"";
                self.complain(path, Complaint::new(error.to_string(), hint))
            }
        }
    }

    /// Refuses the value at `path`.
    pub(crate) fn complain<T>(&mut self, path: &KeyPath, complaint: Complaint) -> Option<T> {
        let mut place = self.place(path);
        if let (Some(Place::File { span }), Some(part)) = (&mut place, complaint.span) {
            *span = part;
        }
        let what = format!("{path}: {}", complaint.what);
        self.problems.push(Problem {
            hint: complaint.hint,
            ..Problem::error(what, place)
        });
        None
    }

    /// Notes a value as far as it may be shown.
    fn note_value(&mut self, path: &KeyPath, value: &impl Show) {
        let whole = value.show();
        let given = self.layer.get(path);
        if path.shown() != Shown::Host || given.is_none() {
            return self.note(path, whole);
        }
        let kept = given.and_then(|given| given.raw.as_text());
        let kept = kept.filter(|text| secret::is_reference(text));
        let kept = kept.map(|text| format!(" ({text})")).unwrap_or_default();
        let shown = secret::only_host(whole.trim_matches('"'));
        self.note(path, format!("\"{shown}\"{kept}"));
        if let Some(noted) = self.effective.last_mut() {
            noted.hidden = Some(Secret::new(&whole));
        }
    }

    fn note(&mut self, path: &KeyPath, value: String) {
        let origin = self.origin(path);
        self.effective.push(Effective {
            key: path.to_string(),
            value,
            origin,
            hidden: None,
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

/// What is wrong with an address, without what may be secret in it.
fn without(complaint: Complaint, raw: &Raw, shown: Shown) -> Complaint {
    match raw.as_text().filter(|_| shown == Shown::Host) {
        Some(text) => Complaint {
            what: complaint.what.replace(text, &secret::only_host(text)),
            ..complaint
        },
        None => complaint,
    }
}

/// Why there is no secret.
enum Missing {
    /// It is not at the named place.
    Kept(Complaint),
    /// It is written where it must not be.
    Literal(Complaint),
}

fn find_secret(
    given: &Given,
    environment: &BTreeMap<String, String>,
    base: &Path,
) -> Result<Secret, Missing> {
    let reference = given.raw.as_text().and_then(Reference::parse);
    match (reference, &given.raw, &given.place) {
        (Some(reference), _, _) => reference.resolve(environment, base).map_err(|error| {
            let hint = "set it, or write where the secret is kept: \"env:NAME\" or \"file:/path\"";
            Missing::Kept(Complaint::new(error.to_string(), hint))
        }),
        (None, Raw::Bare(text), Place::Environment { .. }) if !text.is_empty() => {
            Ok(Secret::new(text))
        }
        _ => {
            let what = "do not write the secret itself, only where it is kept";
            let hint =
                "write \"env:NAME\" and set NAME, or write \"file:/path\" and put it in that file";
            Err(Missing::Literal(Complaint::new(what, hint)))
        }
    }
}

/// Where a secret is kept may be shown; the secret may not.
fn shown_secret(given: &Given) -> String {
    match given
        .raw
        .as_text()
        .filter(|text| Reference::parse(text).is_some())
    {
        Some(reference) => format!("{COVER} ({reference})"),
        None => COVER.to_owned(),
    }
}
