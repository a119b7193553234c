//! Who a task is: what it is about, and what is tried.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Invalid, KIND_BYTES_MAX, SUBJECT_BYTES_MAX};

/// What a task is about: `article:42`, `source:17`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(value_type = String))]
#[serde(try_from = "String")]
pub struct Subject(Box<str>);

impl TryFrom<String> for Subject {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        let fits = (1..=SUBJECT_BYTES_MAX).contains(&text.len());
        if !fits || text.trim() != text || text.chars().any(char::is_control) {
            return Err(Invalid::Subject { bytes: text.len() });
        }
        Ok(Self(text.into()))
    }
}

impl Subject {
    /// Accepts a subject or says which rule it breaks.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        text.to_owned().try_into()
    }

    /// The subject as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is tried: `ARTICLE_PUBLISH`, `SOURCE_CHECK`, any name the user likes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(value_type = String))]
#[serde(try_from = "String")]
pub struct Kind(Box<str>);

impl TryFrom<String> for Kind {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        let shaped = text.len() <= KIND_BYTES_MAX
            && text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
        if !shaped {
            return Err(Invalid::Kind {
                given: text.chars().take(KIND_BYTES_MAX).collect(),
            });
        }
        Ok(Self(text.into()))
    }
}

impl Kind {
    /// Accepts a kind or says which rule it breaks.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        text.to_owned().try_into()
    }

    /// The kind as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who a task is: at most one live task exists per identity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Identity {
    /// What it is about.
    pub subject: Subject,
    /// What is tried.
    pub kind: Kind,
}

impl Identity {
    /// Reads both parts.
    pub fn parse(subject: &str, kind: &str) -> Result<Self, Invalid> {
        Ok(Self {
            subject: Subject::parse(subject)?,
            kind: Kind::parse(kind)?,
        })
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.subject, self.kind)
    }
}
