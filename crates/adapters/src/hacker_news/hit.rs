//! What Algolia finds, read leniently.
//!
//! Fields are missing, null, or numbers written as text; an item may be anything. What cannot be
//! read costs its item and never the list. INVARIANT: a story has an id, a title and a time, or it
//! is left out.

use almanack_core::{
    edition::{
        plain::{plain_line, plain_text},
        quote::Comment,
        story::{Listed, StoryKey},
    },
    source::entry::LINK_BYTES_MAX,
};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use url::Url;

/// Longest title, in characters. The site itself allows 80.
const TITLE_CHARS_MAX: usize = 300;
/// Longest text of a text post, in characters.
const TEXT_CHARS_MAX: usize = 20_000;
/// Longest comment, in characters.
const COMMENT_CHARS_MAX: usize = 4000;
/// Longest name of a person, in characters. The site itself allows 15.
const AUTHOR_CHARS_MAX: usize = 60;
/// What readers know the site as.
pub(super) const SOURCE_NAME: &str = "Hacker News";
/// What the keys of these stories begin with.
const KEY_PREFIX: &str = "hn:";

/// One answer, its items unread.
#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow, default)]
    hits: Option<Vec<&'a RawValue>>,
    #[serde(rename = "nbHits", default)]
    total: Value,
}

/// One item; of whatever kind its fields are.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Hit {
    #[serde(rename = "objectID")]
    object_id: Value,
    story_id: Value,
    title: Value,
    url: Value,
    points: Value,
    num_comments: Value,
    author: Value,
    created_at_i: Value,
    created_at: Value,
    story_text: Value,
    comment_text: Value,
}

/// Stories as one answer lists them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page {
    /// Those that can be read.
    pub(super) stories: Vec<Story>,
    /// The earliest second that any item of the answer is from.
    pub(super) earliest: Option<i64>,
    /// Whether the question has more items than an answer holds.
    pub(super) is_cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Story {
    pub(super) id: u64,
    pub(super) points: i64,
    comment_count: Option<u32>,
    pub(super) created_at: Timestamp,
    title: String,
    url: Option<String>,
    text: Option<String>,
}

/// The stories of an answer; `None` for any other answer.
pub(super) fn stories(body: &[u8], hits_max: usize) -> Option<Page> {
    let answer = answer(body)?;
    let total = integer(&answer.total).and_then(|total| usize::try_from(total).ok());
    // No hits are a list; a missing list would look like a day without stories.
    let raw = answer.hits?;
    let hits = read(&raw);
    Some(Page {
        earliest: hits.iter().filter_map(Hit::seconds).min(),
        stories: hits.iter().filter_map(Story::of).collect(),
        is_cut: total.map_or(raw.len() >= hits_max, |total| total > raw.len()),
    })
}

/// The comments of an answer, as plain texts without empty ones; `None` for any other answer.
pub(super) fn comments(body: &[u8]) -> Option<Vec<Comment>> {
    let answer = answer(body)?;
    let hits = read(&answer.hits.unwrap_or_default());
    let comments = hits.iter().filter_map(Hit::comment);
    Some(comments.collect())
}

fn answer(body: &[u8]) -> Option<Answer<'_>> {
    // A list would pass for an object whose fields are not named.
    let is_object = body.trim_ascii_start().starts_with(b"{");
    let read = || serde_json::from_slice(body).ok();
    is_object.then(read)?
}

fn read(hits: &[&RawValue]) -> Vec<Hit> {
    let read = |hit: &&RawValue| serde_json::from_str(hit.get()).ok();
    hits.iter().filter_map(read).collect()
}

impl Hit {
    fn id(&self) -> Option<u64> {
        let id = integer(&self.object_id).or_else(|| integer(&self.story_id))?;
        u64::try_from(id).ok().filter(|id| *id > 0)
    }

    fn comment(&self) -> Option<Comment> {
        let text = plain_text(self.comment_text.as_str()?, COMMENT_CHARS_MAX);
        let author = self
            .author
            .as_str()
            .map(|name| plain_line(name, AUTHOR_CHARS_MAX));
        (!text.is_empty()).then(|| Comment {
            author: author.filter(|name| !name.is_empty()),
            text,
        })
    }

    fn seconds(&self) -> Option<i64> {
        let written = || self.created_at.as_str()?.parse::<Timestamp>().ok();
        integer(&self.created_at_i).or_else(|| written().map(Timestamp::as_second))
    }
}

impl Story {
    fn of(hit: &Hit) -> Option<Self> {
        let title = plain_line(hit.title.as_str()?, TITLE_CHARS_MAX);
        let text = |text: &str| plain_text(text, TEXT_CHARS_MAX);
        let text = hit.story_text.as_str().map(text);
        Some(Self {
            id: hit.id()?,
            points: integer(&hit.points).unwrap_or(0),
            comment_count: integer(&hit.num_comments).and_then(|count| u32::try_from(count).ok()),
            created_at: Timestamp::from_second(hit.seconds()?).ok()?,
            title: Some(title).filter(|title| !title.is_empty())?,
            url: hit.url.as_str().and_then(web_address),
            text: text.filter(|text| !text.is_empty()),
        })
    }

    /// For the list; `item_url` is what the address of its discussion begins with.
    pub(super) fn listed(self, item_url: &str) -> Listed {
        let discussion_url = format!("{item_url}{}", self.id);
        Listed {
            key: StoryKey(format!("{KEY_PREFIX}{}", self.id)),
            // A story with a page is read there, even if it has a text as well.
            text: self.text.filter(|_| self.url.is_none()),
            url: self.url.unwrap_or_else(|| discussion_url.clone()),
            discussion_url: Some(discussion_url),
            title: self.title,
            score: Some(self.points),
            comment_count: self.comment_count,
            source_name: Some(SOURCE_NAME.to_owned()),
            topic: None,
            published_at: Some(self.created_at),
        }
    }
}

/// The number in a key, if it is one of ours.
pub(super) fn id_of(key: &StoryKey) -> Option<u64> {
    key.0.strip_prefix(KEY_PREFIX)?.parse().ok()
}

/// A whole number, however it is written.
fn integer(value: &Value) -> Option<i64> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    text.split('.').next()?.parse().ok()
}

/// An address as written, if it is a web address of reasonable length. URL parsers ignore control
/// characters; databases may not accept them.
fn web_address(text: &str) -> Option<String> {
    let text = text.trim();
    let url = Url::parse(text).ok()?;
    let is_sane = text.len() <= LINK_BYTES_MAX && !text.contains(char::is_control);
    let is_web = matches!(url.scheme(), "http" | "https") && is_sane;
    is_web.then(|| text.to_owned())
}

#[cfg(test)]
mod tests;
