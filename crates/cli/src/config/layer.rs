//! A layer: the values of one place (file, environment, command line), before they are checked.
//!
//! Layers are merged key by key; the uppermost layer with a value wins. A value keeps the place it
//! came from, so that a problem can point there.

use std::{collections::BTreeMap, ops::Range};

use almanack_core::secret::COVER;

use super::{
    key::{KeyPath, Shown},
    report::Place,
    secret,
};

/// A value as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Raw {
    /// A quoted string of the file.
    Text(String),
    /// A whole number of the file.
    Number(i64),
    /// `true` or `false`, in the file.
    Truth(bool),
    /// A list of the file; each item with its bytes.
    List(Vec<(Raw, Range<usize>)>),
    /// Text without quotes, from the environment or the command line: its type depends on the key.
    Bare(String),
    /// Anything else of the file, by what it is called.
    Other(&'static str),
}

impl Raw {
    /// The name of its type, for error messages.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Text(_) | Self::Bare(_) => "text",
            Self::Number(_) => "a number",
            Self::Truth(_) => "true or false",
            Self::List(_) => "a list",
            Self::Other(name) => name,
        }
    }

    /// The text, if it is one.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Bare(text) => Some(text),
            Self::Number(_) | Self::Truth(_) | Self::List(_) | Self::Other(_) => None,
        }
    }

    /// The text, or all texts of a list.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let items = match self {
            Self::List(items) => items.as_slice(),
            _ => &[],
        };
        let listed = items.iter().filter_map(|(raw, _)| raw.as_text());
        self.as_text().into_iter().chain(listed)
    }
}

/// A value and where it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    /// What was written.
    pub(crate) raw: Raw,
    /// Where.
    pub(crate) place: Place,
}

/// The values of one place.
pub(crate) type Layer = BTreeMap<KeyPath, Given>;

/// A value of the environment or the command line as an error may show it.
pub(crate) fn shown(path: &KeyPath, value: &str) -> String {
    if secret::has_password(value) {
        return COVER.to_owned();
    }
    match path.shown() {
        Shown::Never | Shown::Host if secret::is_reference(value) => value.to_owned(),
        Shown::Never => COVER.to_owned(),
        Shown::Host => secret::only_host(value),
        Shown::Whole => value.to_owned(),
    }
}
