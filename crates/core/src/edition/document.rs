//! Documents: a rendered edition, together with everything it was rendered from.
//!
//! A document holds its own inputs: the stories at that time, the words around them and the
//! template. So it can be rendered again long after its stories are gone, byte for byte, and a
//! changed byte of any input changes the digests that are kept with it.

use jiff::{Timestamp, civil::Date};
use serde::{Deserialize, Serialize};

use super::story::{Note, Story, StoryKey};

/// The inputs of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = DocumentInputs))]
pub struct Inputs {
    /// The edition's day.
    pub date: Date,
    /// The revision, from 1.
    pub revision: u32,
    /// The edition's title.
    pub title: String,
    /// The language it is written in, as a tag: `zh-CN`.
    pub language: String,
    /// The stories, by rank.
    pub stories: Vec<Printed>,
    /// How many stories were left out: failed, or not finished when publishing was forced.
    pub left_out: u32,
}

/// A story as rendered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Printed {
    /// Its place in the list, from 1; left-out stories leave gaps.
    pub rank: u32,
    /// Its key.
    pub key: StoryKey,
    /// Its title in the edition's language, or else its own.
    pub title: String,
    /// Its own title.
    pub original_title: String,
    /// Its address.
    pub url: String,
    /// The address of its discussion.
    pub discussion_url: Option<String>,
    /// Its readers' votes.
    pub score: Option<i64>,
    /// When it was published.
    pub published_at: Option<Timestamp>,
    /// A summary of its page.
    pub content_summary: Option<String>,
    /// A summary of its discussion.
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
    /// Its inputs.
    #[serde(flatten)]
    pub inputs: Inputs,
    /// The template, whole.
    pub template: String,
    /// The Markdown.
    pub body: String,
    /// SHA-256 of inputs and template, in hexadecimal.
    pub inputs_digest: String,
    /// SHA-256 of the body, in hexadecimal.
    pub body_digest: String,
    /// When it was rendered.
    pub made_at: Timestamp,
}
