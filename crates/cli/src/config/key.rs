//! Every key there is, once: the file, the environment and `--set` are all checked against this
//! list, and the reference page is made from it.
//!
//! To add a setting, add its line to the list and read it in its section's struct in `config`. A variable
//! name that a deployment already uses for the same thing goes into `aliases`.
//!
//! A section may stand inside another: its name then has a dot, `[edition.model]` in the file.

mod list;

use std::fmt;

pub(crate) use list::KEYS;

/// One key of the configuration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    /// The table it stands in; [`KINDS`] for the tables of single kinds, [`SUBSCRIPTIONS`] for those of subscriptions.
    pub(crate) section: &'static str,
    /// Its name there.
    pub(crate) name: &'static str,
    /// How much of its value may be shown or written down.
    pub(crate) shown: Shown,
    /// Further environment variables that set it, after its own.
    pub(crate) aliases: &'static [&'static str],
}

/// How much of a value may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// All of it.
    Whole,
    /// It is an address: scheme, host and port. The rest may be a secret, so it may be kept where secrets are.
    Host,
    /// It is a secret.
    Never,
}

/// The section that holds one table per kind.
pub(crate) const KINDS: &str = "kinds";

/// The list of tables that holds one table per subscription.
pub(crate) const SUBSCRIPTIONS: &str = "subscription";

/// Whether a section has a table for each of several names.
pub(crate) fn is_named(section: &str) -> bool {
    section == KINDS || section == SUBSCRIPTIONS
}

/// What every environment variable of ours starts with.
pub(crate) const VARIABLE_PREFIX: &str = "ALMANACK_";

impl Key {
    /// Its own environment variable; `kind` fills the place of the kind's name.
    pub(crate) fn variable(&self, kind: Option<&str>) -> String {
        let mut parts = vec![self.section];
        parts.extend(kind);
        parts.push(self.name);
        format!("{VARIABLE_PREFIX}{}", variable_form(&parts.join("_")))
    }
}

/// A name as an environment variable can hold it.
pub(crate) fn variable_form(name: &str) -> String {
    name.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_uppercase()
            } else {
                '_'
            }
        })
        .collect()
}

/// The keys of one section.
pub(crate) fn keys_of(section: &str) -> impl Iterator<Item = &'static Key> + use<'_> {
    KEYS.iter().filter(move |key| key.section == section)
}

/// The key `name` of `section`, if there is one.
pub(crate) fn find(section: &str, name: &str) -> Option<&'static Key> {
    keys_of(section).find(|key| key.name == name)
}

/// The names of all sections, each once; those of sections inside others with their dots.
pub(crate) fn sections() -> Vec<&'static str> {
    let mut names: Vec<&'static str> = KEYS.iter().map(|key| key.section).collect();
    names.dedup();
    names
}

/// The section of this name, if it has keys of its own.
pub(crate) fn section(name: &str) -> Option<&'static str> {
    sections().into_iter().find(|section| *section == name)
}

/// What the sections right inside of `outer` are called there.
pub(crate) fn inside(outer: &str) -> Vec<&'static str> {
    let within = |section: &'static str| section.strip_prefix(outer)?.strip_prefix('.');
    let names = sections().into_iter().filter_map(within);
    let mut names: Vec<&str> = names.filter_map(|name| name.split('.').next()).collect();
    names.dedup();
    names
}

/// Where a value belongs: a key, and for the keys of [`KINDS`] and [`SUBSCRIPTIONS`] of which.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KeyPath {
    /// The section.
    pub(crate) section: &'static str,
    /// The kind, in the section of kinds; the subscription, in theirs.
    pub(crate) kind: Option<String>,
    /// The key's name.
    pub(crate) name: &'static str,
}

impl KeyPath {
    /// Where `key` of `kind` belongs.
    pub(crate) fn of(key: &'static Key, kind: Option<&str>) -> Self {
        Self {
            section: key.section,
            kind: kind.map(str::to_owned),
            name: key.name,
        }
    }

    /// A key of one of several of a section.
    pub(crate) fn named(section: &'static str, which: &str, name: &'static str) -> Self {
        Self {
            section,
            kind: Some(which.to_owned()),
            name,
        }
    }

    /// Whether it is about this one of a section.
    pub(crate) fn is_of(&self, section: &str, which: &str) -> bool {
        self.section == section && self.kind.as_deref() == Some(which)
    }

    /// A key outside the section of kinds.
    pub(crate) fn plain(section: &'static str, name: &'static str) -> Self {
        Self {
            section,
            kind: None,
            name,
        }
    }

    /// A key of one kind.
    pub(crate) fn kind(kind: &str, name: &'static str) -> Self {
        Self::named(KINDS, kind, name)
    }

    /// How much of its value may be shown.
    pub(crate) fn shown(&self) -> Shown {
        find(self.section, self.name).map_or(Shown::Whole, |key| key.shown)
    }

    /// Reads `section.key`, `kinds.NAME.key` or `subscription.NAME.key`; a kind's own dots do no harm.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (front, name) = text.rsplit_once('.')?;
        let (section, kind) = match front.split_once('.') {
            Some((section, kind)) if is_named(section) => (section, Some(kind)),
            None if is_named(front) => return None,
            Some(_) | None => (front, None),
        };
        find(section, name).map(|key| Self::of(key, kind))
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Some(kind) if kind.contains('.') => {
                write!(f, "{}.\"{kind}\".{}", self.section, self.name)
            }
            Some(kind) => write!(f, "{}.{kind}.{}", self.section, self.name),
            None => write!(f, "{}.{}", self.section, self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_as_it_is_written() {
        let plain = KeyPath::parse("node.lease").unwrap();
        assert_eq!(plain.to_string(), "node.lease");
        let dotted = KeyPath::parse("kinds.news.daily.url").unwrap();
        assert_eq!(dotted.kind.as_deref(), Some("news.daily"));
        assert_eq!(dotted.to_string(), "kinds.\"news.daily\".url");
        let subscription = KeyPath::parse("subscription.audit.url").unwrap();
        assert_eq!(subscription.to_string(), "subscription.audit.url");
        let nested = KeyPath::parse("edition.model.provider").unwrap();
        assert_eq!(nested.to_string(), "edition.model.provider");
        for wrong in [
            "lease",
            "node.lisen",
            "kinds.url",
            "subscription.url",
            "node.x.lease",
            "edition.model",
            "",
        ] {
            assert_eq!(KeyPath::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn no_two_keys_share_a_variable() {
        let mut names: Vec<String> = KEYS.iter().map(|key| key.variable(None)).collect();
        names.extend(
            KEYS.iter()
                .flat_map(|key| key.aliases)
                .map(|alias| (*alias).to_owned()),
        );
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
