//! Tags: what an item is, whose it is, which story it belongs to.

use super::{Error, Sight};

/// What an item must be tagged with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tag {
    /// Is a story.
    Story,
    /// Is a comment.
    Comment,
    /// Is this story or belongs to it.
    StoryId(i64),
    /// Was written by somebody.
    Author(String),
    /// Asks the readers.
    AskHn,
    /// Shows something.
    ShowHn,
    /// Something that no item here is: a poll, a job.
    Other(String),
}

impl Tag {
    fn parse(text: &str) -> Self {
        let story = text.strip_prefix("story_").and_then(|id| id.parse().ok());
        match (text, story) {
            ("story", _) => Self::Story,
            ("comment", _) => Self::Comment,
            ("ask_hn", _) => Self::AskHn,
            ("show_hn", _) => Self::ShowHn,
            (_, Some(id)) => Self::StoryId(id),
            _ => match text.strip_prefix("author_") {
                Some(name) => Self::Author(name.to_owned()),
                None => Self::Other(text.to_owned()),
            },
        }
    }

    pub(super) fn is_on(&self, sight: Sight<'_>) -> bool {
        let titled = |prefix| !sight.is_comment && sight.text.starts_with(prefix);
        match self {
            Self::Story => !sight.is_comment,
            Self::Comment => sight.is_comment,
            Self::StoryId(id) => sight.story_id == *id,
            Self::Author(name) => sight.author == name,
            Self::AskHn => titled("Ask HN:"),
            Self::ShowHn => titled("Show HN:"),
            Self::Other(_) => false,
        }
    }
}

/// `story,(story_1,story_2)`: both groups must hold.
pub(super) fn parse(text: &str) -> Result<Vec<Vec<Tag>>, Error> {
    let wrong = || Error::Tags(text.to_owned());
    let mut groups = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (group, after) = match rest.strip_prefix('(') {
            Some(inner) => inner.split_once(')').ok_or_else(wrong)?,
            None => rest.split_at(rest.find(',').unwrap_or(rest.len())),
        };
        if group.contains(['(', ')']) {
            return Err(wrong());
        }
        let tags = group.split(',').map(str::trim);
        let tags: Vec<Tag> = tags.filter(|it| !it.is_empty()).map(Tag::parse).collect();
        if !tags.is_empty() {
            groups.push(tags);
        }
        rest = match after.trim_start().strip_prefix(',') {
            Some(more) => more.trim_start(),
            None if after.trim().is_empty() => "",
            None => return Err(wrong()),
        };
    }
    Ok(groups)
}
