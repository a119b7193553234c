//! Documents: a rendered edition, together with everything it was rendered from.
//!
//! A document holds its own inputs: the stories at that time, the words around them and the
//! template. So it can be rendered again long after its stories are gone, byte for byte, and a
//! changed byte of any input changes the digests that are kept with it.

use jiff::{Timestamp, civil::Date};
use serde::{Deserialize, Serialize};

use super::{
    EditionId, EditionName,
    ladder::Cause,
    revision::{Revised, Revision},
    story::{CommentNote, Note, Story, StoryKey},
};

/// The inputs of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = DocumentInputs))]
pub struct Inputs {
    /// The edition's name. The default one is not written: digests of documents that were rendered
    /// before editions had names must stay what they are.
    #[serde(default, skip_serializing_if = "EditionName::is_default")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>, example = "weekly"))]
    pub name: EditionName,
    /// The edition's day.
    pub date: Date,
    /// The revision, from 1.
    pub revision: u32,
    /// The edition's title.
    pub title: String,
    /// The language it is written in, as a tag: `zh-CN`.
    pub language: String,
    /// What opens it: a few sentences about the whole. Documents from before there were overviews
    /// have none, and their digests must stay as they are: hence it is left out where it is
    /// missing, as everything else is that was added later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overview: Option<String>,
    /// The stories, by rank.
    pub stories: Vec<Printed>,
    /// How many stories were left out: failed, or not finished when publishing was forced.
    pub left_out: u32,
}

impl Inputs {
    /// The edition that the document is of.
    pub fn id(&self) -> EditionId {
        EditionId::new(self.name, self.date)
    }
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
    /// How many comments it had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment_count: Option<u32>,
    /// The name of the source that lists it, or the names of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_name: Option<String>,
    /// Its topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// When it was published.
    pub published_at: Option<Timestamp>,
    /// A summary of its page.
    pub content_summary: Option<String>,
    /// A summary of its discussion.
    pub comment_summary: Option<String>,
    /// Why there is no full summary of its page.
    pub note: Option<Note>,
    /// Why it has less than it could, if a later revision may improve it. Absent where it has all,
    /// so that the digests of documents that know nothing of it stay what they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degraded_by: Option<Cause>,
    /// Why there is no summary of its discussion, if there may be one to sum up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment_note: Option<CommentNote>,
    /// The address of its picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_url: Option<String>,
    /// How long its page takes to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading_minutes: Option<u32>,
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
            comment_count: listed.comment_count,
            source_name: listed.source_name.clone(),
            topic: listed.topic.clone(),
            published_at: listed.published_at,
            content_summary: written.content_summary.clone(),
            comment_summary: written.comment_summary.clone(),
            note: written.note,
            degraded_by: written.degraded_by,
            comment_note: written.comment_note,
            image_url: written.image_url.clone(),
            reading_minutes: written.reading_minutes,
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
    /// Who made it of an earlier one, and what they changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revised: Option<Revised>,
}

impl Document {
    /// The note to readers, if the document says that its edition is retracted.
    pub fn retracted(&self) -> Option<Option<&str>> {
        match &self.revised.as_ref()?.change {
            Revision::Retracted { note, .. } => Some(note.as_deref()),
            _ => None,
        }
    }
}

/// What stands in the place of a retracted edition. No template is asked: every destination says
/// it, whatever its editions look like.
pub fn retraction(inputs: &Inputs, note: Option<&str>) -> String {
    let (title, date) = (plain(&inputs.title), inputs.date);
    let said = if inputs.language.starts_with("zh") {
        "本期日报已撤回。"
    } else {
        "This edition was retracted."
    };
    let note = note.map_or_else(String::new, |note| format!("\n\n{}", plain(note)));
    format!("# {title} · {date}\n\n**{said}**{note}\n")
}

/// A line without markup, and without what site generators take for a template.
fn plain(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    for c in line.chars() {
        if "\\`*_[]<>{}#|!&".contains(c) {
            plain.push('\\');
        }
        plain.push(if c.is_control() { ' ' } else { c });
    }
    plain
}
