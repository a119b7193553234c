//! Documents: what an edition prints, together with everything it was printed from.
//!
//! A document holds its own inputs: the stories as they stood, the words around them and the
//! template. So it can be made again long after its stories are gone, byte for byte, and a changed
//! byte of any input changes the digests that are kept with it.

use jiff::{Timestamp, civil::Date};
use serde::{Deserialize, Serialize};

use super::story::{Note, Story, StoryKey};

/// What a document is made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = DocumentInputs))]
pub struct Inputs {
    /// The edition's day.
    pub date: Date,
    /// Which making of it, from 1.
    pub revision: u32,
    /// What the edition is called.
    pub title: String,
    /// The language it is written in, as a tag: `zh-CN`.
    pub language: String,
    /// The stories, by rank.
    pub stories: Vec<Printed>,
    /// How many stories were left out: failed, or not finished when it was made by force.
    pub left_out: u32,
}

/// A story as it is printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Printed {
    /// Its place in the list, from 1; left-out stories leave gaps.
    pub rank: u32,
    /// What it is known by.
    pub key: StoryKey,
    /// Its title in the edition's language, or else its own.
    pub title: String,
    /// Its own title.
    pub original_title: String,
    /// Where it can be read.
    pub url: String,
    /// Where it is talked about.
    pub discussion_url: Option<String>,
    /// What its readers gave it.
    pub score: Option<i64>,
    /// When it was published.
    pub published_at: Option<Timestamp>,
    /// What its page says.
    pub content_summary: Option<String>,
    /// What its readers say.
    pub comment_summary: Option<String>,
    /// Why there is no summary of its page.
    pub note: Option<Note>,
}

impl From<&Story> for Printed {
    fn from(story: &Story) -> Self {
        let (listed, written) = (&story.listed, &story.written);
        let title = written.title.as_ref().unwrap_or(&listed.title);
        Self {
            rank: story.rank,
            key: listed.key.clone(),
            title: title.clone(),
            original_title: listed.title.clone(),
            url: listed.url.clone(),
            discussion_url: listed.discussion_url.clone(),
            score: listed.score,
            published_at: listed.published_at,
            content_summary: written.content_summary.clone(),
            comment_summary: written.comment_summary.clone(),
            note: written.note,
        }
    }
}

/// A document, as the store keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Document {
    /// What it was made from.
    #[serde(flatten)]
    pub inputs: Inputs,
    /// The template it was made with, whole.
    pub template: String,
    /// The Markdown.
    pub body: String,
    /// SHA-256 of inputs and template, in hexadecimal.
    pub inputs_digest: String,
    /// SHA-256 of the body, in hexadecimal.
    pub body_digest: String,
    /// When it was made.
    pub made_at: Timestamp,
}
