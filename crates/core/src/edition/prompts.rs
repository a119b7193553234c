//! Prompts that a model gets, in the words of an edition (ED-36).
//!
//! An operator may word each of them. Two things are not theirs to word, because an edition depends
//! on them: the form of an answer, and that the text it is about is data and no instruction. They
//! are placeholders that every prompt must have. The text itself is never part of a prompt: it is
//! the message after it.
//!
//! Each prompt has a version, a short digest of its text. It is kept with every story that was
//! written by it, and texts are shared only among prompts of one version (ED-37): a changed prompt
//! never passes for what an earlier one wrote.

use std::{collections::BTreeMap, ops::Range};

use serde::Serialize;

/// Longest prompt, in characters.
pub const CHARS_MAX: usize = 8_000;
/// How much of a digest is a version.
const VERSION_CHARS: usize = 8;

names! {
    /// What a prompt asks for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[cfg_attr(feature = "schema", schema(as = PromptKind))]
    pub enum Kind {
        /// Titles in the edition's language.
        Titles = "titles",
        /// A summary of a page.
        Summary = "summary",
        /// A summary of what readers say.
        Comments = "comments",
        /// What opens the edition.
        Overview = "overview",
        /// Which titles may be published.
        Filter = "filter",
    }
}

impl Kind {
    /// The prompt that comes with Almanack.
    pub fn built_in(self) -> &'static str {
        match self {
            Self::Titles => {
                "You translate titles of news into {language}. {format} Translate every title; keep names of people, \
                 companies and products as they are usually written. {data}"
            }
            Self::Summary => {
                "You summarise an article. Say what it is about, what it claims and why that matters. Write in \
                 {language}, in at most {chars} characters, as plain sentences: no heading, no list, no preface, \
                 nothing but the summary. {data}"
            }
            Self::Comments => {
                "You summarise comments of readers about a story, separated by rules. Say what they agree on, where \
                 they differ and what they add. Write in {language}, in at most {chars} characters, as plain \
                 sentences: no heading, no list, no preface, nothing but the summary. {data}"
            }
            Self::Overview => {
                "You write the opening of a newsletter: three to five sentences in {language}, at most {chars} \
                 characters, as one or two paragraphs of plain text, for readers who decide by it what to read. Name \
                 the two or three stories that matter most and why, then what else there is. No greeting, no heading, \
                 no list, no link, no praise of the newsletter, and nothing that the stories do not say. {data}"
            }
            Self::Filter => {
                "You classify titles of news. A title is SENSITIVE if it is about {refused}; otherwise it is SAFE. \
                 {format} {data}"
            }
        }
    }

    /// Placeholders that it must have, and those that it may have.
    pub fn placeholders(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Self::Titles => (&["format", "data"], &["language"]),
            Self::Summary | Self::Comments | Self::Overview => (&["data"], &["language", "chars"]),
            Self::Filter => (&["format", "data"], &["refused"]),
        }
    }

    /// Checks the text of a prompt of this kind.
    pub fn check(self, text: &str) -> Result<(), BadPrompt> {
        if text.chars().count() > CHARS_MAX {
            return Err(BadPrompt::Long);
        }
        let (must, may) = self.placeholders();
        let known = |name: &str| must.contains(&name) || may.contains(&name);
        let found = placeholders(text);
        if let Some((name, _)) = found.clone().find(|(name, _)| !known(name)) {
            return Err(BadPrompt::Unknown(name.to_owned()));
        }
        let is_there = |name: &&&str| found.clone().any(|(found, _)| found == **name);
        match must.iter().find(|name| !is_there(name)) {
            Some(name) => Err(BadPrompt::Missing(name)),
            None => Ok(()),
        }
    }
}

/// Why a text is no prompt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPrompt {
    /// It names a placeholder that this kind does not have.
    #[error("there is no placeholder {{{0}}} in this prompt")]
    Unknown(String),
    #[error("the placeholder {{{0}}} is missing")]
    Missing(&'static str),
    #[error("a prompt has at most {CHARS_MAX} characters")]
    Long,
}

/// What is written as a placeholder, `{name}`, and where. Other braces are text: `{"index": 1}`.
fn placeholders(text: &str) -> impl Iterator<Item = (&str, Range<usize>)> + Clone {
    text.match_indices('{').filter_map(|(start, _)| {
        let rest = text.get(start + 1..)?;
        let (name, _) = rest.split_once('}')?;
        let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        is_name.then(|| (name, start..start + name.len() + 2))
    })
}

/// One prompt in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Prompt {
    /// What it asks for.
    pub kind: Kind,
    /// A short digest of its text.
    #[cfg_attr(feature = "schema", schema(example = "1f0c2a34"))]
    pub version: String,
    /// Whether it comes with Almanack.
    pub is_built_in: bool,
    /// Its text, with placeholders.
    pub text: String,
}

impl Prompt {
    /// Its text with these values in it; a value is never searched for placeholders.
    pub fn fill(&self, values: &[(&str, &str)]) -> String {
        let mut filled = String::with_capacity(self.text.len());
        let mut from = 0;
        for (name, range) in placeholders(&self.text) {
            let Some((_, value)) = values.iter().find(|(known, _)| *known == name) else {
                continue;
            };
            filled += self.text.get(from..range.start).unwrap_or_default();
            filled += value;
            from = range.end;
        }
        filled + self.text.get(from..).unwrap_or_default()
    }
}

/// Versions of prompts that wrote something, by what they asked for.
pub type Versions = BTreeMap<Kind, String>;

/// All prompts of an edition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompts([Prompt; Kind::ALL.len()]);

impl Prompts {
    /// Those of an operator, which were checked, and for the others the built-in ones; `digest`
    /// makes digests in hexadecimal.
    pub fn new(own: &BTreeMap<Kind, String>, digest: impl Fn(&[u8]) -> String) -> Self {
        Self(Kind::ALL.map(|kind| {
            let text = own.get(&kind).map_or(kind.built_in(), String::as_str);
            Prompt {
                kind,
                version: digest(text.as_bytes())
                    .chars()
                    .take(VERSION_CHARS)
                    .collect(),
                is_built_in: text == kind.built_in(),
                text: text.to_owned(),
            }
        }))
    }

    /// The prompt of a kind.
    pub fn of(&self, kind: Kind) -> &Prompt {
        &self.0[kind as usize]
    }

    /// All of them, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &Prompt> {
        self.0.iter()
    }

    /// The versions of those that wrote something.
    pub fn versions(&self, wrote: impl IntoIterator<Item = Kind>) -> Versions {
        let version = |kind| (kind, self.of(kind).version.clone());
        wrote.into_iter().map(version).collect()
    }

    /// What of a story other prompts wrote than those in force.
    pub fn others<'a>(&'a self, of: &'a Versions) -> impl Iterator<Item = (Kind, &'a str)> {
        let of = of.iter().map(|(kind, version)| (*kind, version.as_str()));
        of.filter(|(kind, version)| self.of(*kind).version != *version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ed_36_a_prompt_has_what_its_answer_depends_on() {
        let missing = |name| Err(BadPrompt::Missing(name));
        for (kind, text, expected) in [
            (Kind::Titles, "Translate. {format} {data}", Ok(())),
            (Kind::Titles, "Translate. {data}", missing("format")),
            (Kind::Titles, "Translate. {format}", missing("data")),
            (Kind::Summary, "", missing("data")),
            // Braces that are no placeholder are text.
            (Kind::Summary, "{\"a\": 1} {Data} {} { data} {data}", Ok(())),
            (
                Kind::Summary,
                "In {lang}. {data}",
                Err(BadPrompt::Unknown("lang".to_owned())),
            ),
            (
                Kind::Filter,
                "{chars} {format} {data}",
                Err(BadPrompt::Unknown("chars".to_owned())),
            ),
        ] {
            assert_eq!(kind.check(text), expected, "{kind}: {text}");
        }
        let long = format!("{{data}}{}", "a".repeat(CHARS_MAX));
        assert_eq!(Kind::Comments.check(&long), Err(BadPrompt::Long));
        for kind in Kind::ALL {
            assert_eq!(kind.check(kind.built_in()), Ok(()), "{kind}");
        }
    }

    #[test]
    fn ed_36_a_prompt_is_filled_once_and_its_version_is_that_of_its_text() {
        let own = [(Kind::Summary, "In {language}: {data} {language}".to_owned())];
        let prompts = Prompts::new(&own.into(), |bytes| format!("{:016x}", bytes.len()));
        let summary = prompts.of(Kind::Summary);
        let filled = summary.fill(&[("language", "{data}"), ("data", "It is data.")]);
        assert_eq!(filled, "In {data}: It is data. {data}");
        assert_eq!(summary.version.len(), VERSION_CHARS);
        assert!(!summary.is_built_in && prompts.of(Kind::Titles).is_built_in);
        let mut versions = prompts.versions([Kind::Summary, Kind::Titles]);
        assert_eq!(prompts.others(&versions).count(), 0);
        versions.insert(Kind::Summary, "other".to_owned());
        let others: Vec<_> = prompts.others(&versions).collect();
        assert_eq!(others, [(Kind::Summary, "other")]);
        for (place, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!((kind as usize, prompts.of(kind).kind), (place, kind));
        }
    }
}
