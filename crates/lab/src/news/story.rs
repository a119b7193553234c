//! Stories and comments of the site.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::page::Page;

/// The link of a story.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// To a page of this server.
    Page,
    /// No link: the story is its own text, as HTML.
    Text(String),
    /// To an external address.
    Elsewhere(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Story {
    /// Its number among all items.
    pub id: i64,
    /// When it was submitted, to the second.
    pub created_at: Timestamp,
    pub title: String,
    pub author: String,
    /// Its points; the search sometimes does not know them.
    pub points: Option<i64>,
    pub link: Link,
    /// Its final number of comments.
    pub comments: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Comment {
    /// Its number among all items.
    pub id: i64,
    /// The story it belongs to.
    pub story_id: i64,
    /// Its parent: the story or an earlier comment.
    pub parent_id: i64,
    pub author: String,
    /// When, to the second.
    pub created_at: Timestamp,
    /// Its text, as the site's HTML; sometimes empty.
    pub html: String,
    /// Its text, as plain text with a blank line between paragraphs.
    pub text: String,
}

/// The facts about a story.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Facts {
    pub story: Story,
    /// Its link; none for a story that is its own text.
    pub url: Option<String>,
    /// The kind of its page.
    pub page: Page,
    /// The paragraphs of its article, or its own text; none if the page has no article or is
    /// external.
    pub article: Option<Vec<String>>,
}

impl Facts {
    /// The text that an extractor should find, a blank line between paragraphs.
    pub fn main_text(&self) -> Option<String> {
        let paragraphs = self.article.as_ref()?;
        Some(paragraphs.join("\n\n"))
    }
}

/// A story to add manually.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewStory {
    /// When it was submitted.
    pub created_at: Timestamp,
    pub title: String,
    pub points: Option<i64>,
    /// Its link, if not an article of this server.
    pub url: Option<String>,
    /// Its text without a link, as HTML.
    pub text: Option<String>,
    /// The kind of its page.
    #[serde(default)]
    pub page: Page,
    /// Its comments, as HTML; all written at the moment of the story.
    #[serde(default)]
    pub comments: Vec<String>,
}

impl NewStory {
    /// A story with an article of this server and no comments.
    pub fn new(created_at: Timestamp, title: &str, points: i64) -> Self {
        Self {
            created_at,
            title: title.to_owned(),
            points: Some(points),
            url: None,
            text: None,
            page: Page::Article,
            comments: Vec::new(),
        }
    }

    pub(super) fn link(&self) -> Link {
        match (&self.text, &self.url) {
            (Some(text), _) => Link::Text(text.clone()),
            (None, Some(url)) => Link::Elsewhere(url.clone()),
            (None, None) => Link::Page,
        }
    }

    /// The same story with these comments.
    #[must_use]
    pub fn with_comments(mut self, html: &[&str]) -> Self {
        self.comments = html.iter().map(|&it| it.to_owned()).collect();
        self
    }
}
