//! Revisions that people make of a finished edition (ED-42): what they ask for, and what is kept of
//! it.
//!
//! A correction changes the inputs of the newest document, never a story's own row: it works as
//! well when the stories are long gone. It is also kept with the edition, by the story's key, so
//! that a document that is later made from the stories again has it, too.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::story::StoryKey;

/// Most corrections of one edition.
pub const CORRECTIONS_MAX: usize = 100;
/// Longest title that a person may write, in characters.
pub const TITLE_CHARS_MAX: usize = 500;
/// Longest summary that a person may write, in characters.
pub const TEXT_CHARS_MAX: usize = 10_000;
/// Longest note about a retraction, in characters.
pub const NOTE_CHARS_MAX: usize = 500;

/// A change of an edition's document. A story is named by its key or its rank in the newest
/// document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Correction {
    /// Leave a story out.
    Drop {
        #[cfg_attr(feature = "schema", schema(example = "hn:42"))]
        story: String,
    },
    /// Put a story at another place, from 1.
    Move {
        #[cfg_attr(feature = "schema", schema(example = "3"))]
        story: String,
        #[cfg_attr(feature = "schema", schema(minimum = 1))]
        to: u32,
    },
    /// Write another title, summary or summary of the discussion; an empty summary removes it.
    Edit {
        #[cfg_attr(feature = "schema", schema(example = "hn:42"))]
        story: String,
        title: Option<String>,
        summary: Option<String>,
        comments: Option<String>,
    },
}

impl Correction {
    /// The story, as it was named.
    pub fn story(&self) -> &str {
        match self {
            Self::Drop { story } | Self::Move { story, .. } | Self::Edit { story, .. } => story,
        }
    }

    /// The same about a story that is named by its key.
    pub(super) fn by_key(mut self, key: &StoryKey) -> Self {
        let (Self::Drop { story } | Self::Move { story, .. } | Self::Edit { story, .. }) =
            &mut self;
        story.clone_from(&key.0);
        self
    }
}

/// Who made a revision, and what it changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RevisedBy))]
pub struct Revised {
    /// The author.
    pub by: String,
    pub change: Revision,
}

/// What a revision changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RevisionChange))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Revision {
    Dropped {
        story: StoryKey,
        title: String,
    },
    Moved {
        story: StoryKey,
        title: String,
        from: u32,
        to: u32,
    },
    Edited {
        story: StoryKey,
        title: String,
        /// Which of `title`, `summary` and `comments`.
        fields: Vec<String>,
    },
    Retracted {
        /// The note to readers.
        note: Option<String>,
        /// The revision that was retracted.
        revision: u32,
    },
    Restored {
        /// The revision that is back.
        revision: u32,
    },
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dropped { title, .. } => write!(f, "dropped “{title}”"),
            Self::Moved {
                title, from, to, ..
            } => write!(f, "moved “{title}” from place {from} to {to}"),
            Self::Edited { title, fields, .. } => {
                write!(f, "edited {} of “{title}”", fields.join(", "))
            }
            Self::Retracted {
                note: Some(note), ..
            } => write!(f, "retracted: {note}"),
            Self::Retracted { note: None, .. } => f.write_str("retracted"),
            Self::Restored { revision } => write!(f, "restored revision {revision}"),
        }
    }
}

/// An edition that was taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Retraction {
    pub by: String,
    pub at: Timestamp,
    /// The note to readers.
    pub note: Option<String>,
    /// The revision that was retracted; restoring brings it back.
    pub revision: u32,
}

/// A revision in the history of an edition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EditionRevision))]
pub struct RevisionLine {
    pub revision: u32,
    /// When it was made.
    pub made_at: Timestamp,
    /// Who made it; null where it was built from its stories.
    pub by: Option<String>,
    /// What it changed; null where it was built from its stories.
    pub change: Option<Revision>,
    /// That in a sentence.
    pub summary: String,
}

impl RevisionLine {
    /// The line of a document; `revised` where a person made it.
    pub fn new(revision: u32, made_at: Timestamp, revised: Option<Revised>) -> Self {
        let summary = match &revised {
            Some(revised) => revised.change.to_string(),
            None => "built from its stories".to_owned(),
        };
        let (by, change) = revised.map(|it| (it.by, it.change)).unzip();
        Self {
            revision,
            made_at,
            by,
            change,
            summary,
        }
    }
}
