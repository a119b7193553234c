//! What a search asks for, and what it finds, as Algolia does for the real site.
//!
//! Tags are joined by "and" with commas and by "or" in parentheses; numeric filters by commas. The
//! index shows no more than [`REACHABLE`] hits of any query, however its pages are cut: whoever
//! wants a busy day must ask for parts of it.
//!
//! - [`tag`], [`filter`]: the two languages that queries are written in.

pub mod filter;
pub mod tag;

use serde::Deserialize;

use self::{
    filter::{Comparison, Field, Filter},
    tag::Tag,
};

/// Hits of a query that can be reached at all.
pub const REACHABLE: usize = 1000;
/// Hits on a page where nothing is said.
const HITS_PER_PAGE: usize = 20;

/// Why a query is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The tags do not end, or nest.
    #[error("invalid tags: `{0}`")]
    Tags(String),
    /// A filter is not `field`, an operator and a number.
    #[error("invalid numeric filter: `{0}`")]
    Filter(String),
    /// A number is none.
    #[error("invalid value of `{0}`")]
    Number(&'static str),
}

/// The parameters as they come.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Parameters {
    /// Words to find.
    pub query: String,
    /// Tags.
    pub tags: String,
    /// Numeric filters.
    pub numeric_filters: String,
    /// Hits on a page.
    pub hits_per_page: Option<String>,
    /// Which page, from 0.
    pub page: Option<String>,
}

/// A query that makes sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Lower-case words that must all occur.
    pub words: Vec<String>,
    /// One of each group must hold.
    pub tags: Vec<Vec<Tag>>,
    /// All must hold.
    pub filters: Vec<Filter>,
    /// Hits on a page; none for somebody who only counts.
    pub hits_per_page: usize,
    /// Which page, from 0.
    pub page: usize,
}

/// An item as queries see it.
#[derive(Debug, Clone, Copy)]
pub struct Sight<'a> {
    /// Whether it is a comment.
    pub is_comment: bool,
    /// The story that it is or belongs to.
    pub story_id: i64,
    /// Who wrote it.
    pub author: &'a str,
    /// When, in seconds.
    pub created_at_s: i64,
    /// Its points.
    pub points: Option<i64>,
    /// Its comments.
    pub comments: i64,
    /// What words are looked for in.
    pub text: &'a str,
}

/// What a page of hits is cut from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// All hits, also those out of reach.
    pub hits: usize,
    /// Pages within reach.
    pub pages: usize,
    /// The first hit of the page.
    pub from: usize,
    /// The first hit after it.
    pub until: usize,
}

impl Query {
    /// Reads the parameters.
    pub fn parse(parameters: &Parameters) -> Result<Self, Error> {
        let per_page = number("hitsPerPage", parameters.hits_per_page.as_deref())?;
        let page = number("page", parameters.page.as_deref())?;
        let words = parameters.query.split_whitespace();
        Ok(Self {
            words: words.map(str::to_lowercase).collect(),
            tags: tag::parse(&parameters.tags)?,
            filters: filter::parse(&parameters.numeric_filters)?,
            hits_per_page: per_page.unwrap_or(HITS_PER_PAGE).min(REACHABLE),
            page: page.unwrap_or(0),
        })
    }

    /// Whether an item is a hit.
    pub fn finds(&self, sight: Sight<'_>) -> bool {
        let tagged = |group: &Vec<Tag>| group.iter().any(|tag| tag.is_on(sight));
        let spoken = || {
            let text = sight.text.to_lowercase();
            self.words.iter().all(|word| text.contains(word))
        };
        self.tags.iter().all(tagged)
            && self.filters.iter().all(|filter| filter.passes(sight))
            && (self.words.is_empty() || spoken())
    }

    /// Whether it wants items of a kind at all.
    pub fn wants(&self, kind: &Tag) -> bool {
        let other = match kind {
            Tag::Story => Tag::Comment,
            _ => Tag::Story,
        };
        let excludes = |group: &Vec<Tag>| group.iter().all(|tag| *tag == other);
        !self.tags.iter().any(excludes)
    }

    /// The stories it names, if it names any: then no others can be hits.
    pub fn stories(&self) -> Option<Vec<i64>> {
        self.tags.iter().find_map(|group| {
            let ids = group.iter().map(|tag| match tag {
                Tag::StoryId(id) => Some(*id),
                _ => None,
            });
            ids.collect()
        })
    }

    /// The first and last second that a hit can have.
    pub fn span_s(&self) -> (i64, i64) {
        let times = self.filters.iter();
        let times = times.filter(|filter| filter.field == Field::CreatedAt);
        times.fold((i64::MIN, i64::MAX), |(from, to), filter| {
            let value = filter.value;
            match filter.comparison {
                Comparison::Less => (from, to.min(value.saturating_sub(1))),
                Comparison::LessOrEqual => (from, to.min(value)),
                Comparison::Equal => (from.max(value), to.min(value)),
                Comparison::MoreOrEqual => (from.max(value), to),
                Comparison::More => (from.max(value.saturating_add(1)), to),
            }
        })
    }

    /// Cuts its page from so many hits.
    pub fn cut(&self, hits: usize) -> Cut {
        let reach = hits.min(REACHABLE);
        let from = self.page.saturating_mul(self.hits_per_page).min(reach);
        Cut {
            hits,
            pages: match self.hits_per_page {
                0 => 0,
                some => reach.div_ceil(some),
            },
            from,
            until: from.saturating_add(self.hits_per_page).min(reach),
        }
    }
}

fn number(name: &'static str, text: Option<&str>) -> Result<Option<usize>, Error> {
    let parsed = text.map(|text| text.trim().parse().map_err(|_| Error::Number(name)));
    parsed.transpose()
}

#[cfg(test)]
mod tests;
