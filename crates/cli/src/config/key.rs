//! All keys, from the table of settings: the file, the environment and `--set` are checked against
//! this list, and the settings page, the reference and the JSON Schema are generated from it.
//!
//! A section may be inside another: its name then has a dot, `[edition.model]` in the file.

use std::{fmt, sync::LazyLock};

use super::{
    settings::{self, KindSettings, SubscriptionKeys},
    table::{Section, Shape, Usual},
};

/// All keys, in the order they are shown.
pub(crate) static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let sections = settings::sections().into_iter();
    sections.flat_map(|section| section.keys).collect()
});

/// One key of the configuration.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    /// Its table; [`KINDS`] for the tables of single kinds, [`SUBSCRIPTIONS`] for subscriptions.
    pub(crate) section: &'static str,
    /// Its name there.
    pub(crate) name: &'static str,
    /// What it means, in English and in Chinese.
    pub(crate) words: [&'static str; 2],
    /// What it looks like in the file.
    pub(crate) shape: Shape,
    /// The default.
    pub(crate) usual: Usual,
    /// Further environment variables that set it, after its own.
    pub(crate) aliases: &'static [&'static str],
    /// Whether a running node adopts a changed value; otherwise it waits for the next start.
    pub(crate) reloadable: bool,
}

/// How much of a value may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// All of it.
    Whole,
    /// It is an address: scheme, host and port are shown. The rest may be a secret, so the address
    /// may be kept where secrets are.
    Host,
    /// It is a secret.
    Never,
}

/// The section that holds one table per kind.
pub(crate) const KINDS: &str = KindSettings::NAME;

/// The list of tables that holds one table per subscription.
pub(crate) const SUBSCRIPTIONS: &str = SubscriptionKeys::NAME;

/// The section of the default edition; the tables of others have the same keys.
pub(crate) const EDITION: &str = "edition";

/// The section that holds one table per named edition.
pub(crate) const EDITIONS: &str = "editions";

/// Stands for the key where a table is there without one.
pub(crate) const WHOLE: &str = "";

/// Whether a section has a table for each of several names.
pub(crate) fn is_named(section: &str) -> bool {
    section == KINDS || section == SUBSCRIPTIONS
}

/// What every environment variable of ours starts with.
pub(crate) const VARIABLE_PREFIX: &str = "ALMANACK_";

impl Key {
    /// How much of its value may be shown or written down.
    pub(crate) fn shown(&self) -> Shown {
        match self.shape {
            Shape::Secret => Shown::Never,
            Shape::Address => Shown::Host,
            _ => Shown::Whole,
        }
    }

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

/// The key that a path is about, written out.
pub(crate) fn described(path: &str) -> Option<&'static Key> {
    let path = KeyPath::parse(path)?;
    find(path.section, path.name)
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
        Self::in_table(key.section, kind, key.name)
    }

    /// A key of a section; `which` says of which of several tables.
    pub(crate) fn in_table(section: &'static str, which: Option<&str>, name: &'static str) -> Self {
        let kind = which.map(str::to_owned);
        Self {
            section,
            kind,
            name,
        }
    }

    /// Whether it is about this one of a section.
    pub(crate) fn is_of(&self, section: &str, which: &str) -> bool {
        self.section == section && self.kind.as_deref() == Some(which)
    }

    /// A key of a section that there is once.
    pub(crate) fn plain(section: &'static str, name: &'static str) -> Self {
        Self::in_table(section, None, name)
    }

    /// Whether it is in this section, or in one inside of it.
    pub(crate) fn is_within(&self, section: &str) -> bool {
        let rest = self.section.strip_prefix(section);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// The same, and of no table that has a name.
    pub(crate) fn is_plainly_within(&self, section: &str) -> bool {
        self.kind.is_none() && self.is_within(section)
    }

    /// How much of its value may be shown.
    pub(crate) fn shown(&self) -> Shown {
        find(self.section, self.name).map_or(Shown::Whole, Key::shown)
    }

    /// The same key of the edition of this name; nothing if it is not about editions.
    pub(crate) fn of_edition(&self, name: Option<&str>) -> Option<Self> {
        let within = self.is_within(EDITION);
        within.then(|| Self::in_table(self.section, name, self.name))
    }

    /// Reads `section.key`, `kinds.NAME.key`, `editions.NAME.key` or `subscription.NAME.key`; a kind's own dots do no
    /// harm.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some(rest) = text
            .strip_prefix(EDITIONS)
            .and_then(|rest| rest.strip_prefix('.'))
        {
            let (edition, key) = rest.split_once('.')?;
            return Self::parse(&format!("{EDITION}.{key}"))?.of_edition(Some(edition));
        }
        let (front, name) = text.rsplit_once('.')?;
        let (section, kind) = match front.split_once('.') {
            Some((section, kind)) if is_named(section) => (section, Some(kind)),
            None if is_named(front) => return None,
            Some(_) | None => (front, None),
        };
        find(section, name).map(|key| Self::of(key, kind))
    }
}

impl From<(&'static str, &'static str)> for KeyPath {
    fn from((section, name): (&'static str, &'static str)) -> Self {
        Self::plain(section, name)
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Some(edition) if self.is_within(EDITION) => {
                let inside = self.section.strip_prefix(EDITION).unwrap_or_default();
                write!(f, "{EDITIONS}.{edition}{inside}.{}", self.name)
            }
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
        for named in ["editions.ai.language", "editions.ai.telegram.chat"] {
            assert_eq!(KeyPath::parse(named).unwrap().to_string(), named);
        }
        for wrong in [
            "lease",
            "node.lisen",
            "kinds.url",
            "subscription.url",
            "node.x.lease",
            "edition.model",
            "editions.ai",
            "editions.language",
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
