//! The queries that Almanack sends to the search, matched, and hits as Algolia shows them.
//!
//! ```text
//!   tags=story,(story_1,story_2)                                these stories
//!   tags=story&numericFilters=created_at_i>=1,created_at_i<2    the stories of a time
//!   tags=comment,story_1                                        comments on a story
//! ```
//!
//! The index shows at most 1,000 hits per query: a busy day needs several queries.

use axum::{extract::Query, http::Uri};
use serde::Deserialize;
use serde_json::{Value, json};

use super::archive::Item;

/// Most hits per query.
const REACHABLE: usize = 1000;
/// Hits per page by default.
const HITS: usize = 20;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Parameters {
    tags: String,
    numeric_filters: String,
    hits_per_page: Option<usize>,
}

/// A supported query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Question {
    /// Comments instead of stories.
    pub(super) comments: bool,
    /// Only of these stories.
    pub(super) stories: Option<Vec<i64>>,
    /// The first and last second that a hit can have.
    pub(super) span_s: (i64, i64),
    pub(super) hits_max: usize,
}

impl Question {
    pub(super) fn read(uri: &Uri) -> Option<Self> {
        let Query(parameters) = Query::<Parameters>::try_from_uri(uri).ok()?;
        let mut tags = parameters.tags.split([',', '(', ')']);
        let comments = match tags.next()? {
            "story" => false,
            "comment" => true,
            _ => return None,
        };
        let named = tags.filter(|tag| !tag.is_empty());
        let stories = named.map(|tag| tag.strip_prefix("story_")?.parse().ok());
        let stories: Vec<i64> = stories.collect::<Option<_>>()?;
        let filters = parameters.numeric_filters.split(',');
        let span_s = filters.filter(|filter| !filter.is_empty()).try_fold(
            (i64::MIN, i64::MAX),
            |(from_s, to_s), filter| {
                if let Some(least) = filter.strip_prefix("created_at_i>=") {
                    return Some((from_s.max(least.parse().ok()?), to_s));
                }
                let end: i64 = filter.strip_prefix("created_at_i<")?.parse().ok()?;
                Some((from_s, to_s.min(end - 1)))
            },
        )?;
        let hits_max = parameters.hits_per_page.unwrap_or(HITS);
        Some(Self {
            comments,
            stories: (!stories.is_empty()).then_some(stories),
            span_s,
            hits_max: hits_max.min(REACHABLE),
        })
    }
}

/// One hit as Algolia shows it.
pub(super) fn hit(item: &Item, url: Option<&str>) -> Value {
    let story = item.story();
    let (kind, author, created_at, id) = match item {
        Item::Story(..) => ("story", &story.author, story.created_at, story.id),
        Item::Comment(it, _) => ("comment", &it.author, it.created_at, it.id),
    };
    let mut shown = json!({
        "_tags": [kind, format!("author_{author}"), format!("story_{}", story.id)],
        "author": author,
        "created_at": created_at.to_string(),
        "created_at_i": created_at.as_second(),
        "objectID": id.to_string(),
        "story_id": story.id,
    });
    let mut add = |name: &str, value: Value| shown[name] = value;
    match item {
        Item::Story(_, comments) => {
            add("title", json!(story.title));
            add("points", json!(story.points));
            add("num_comments", json!(comments));
            if let Some(url) = url {
                add("url", json!(url));
            }
            if let Some(text) = story.text() {
                add("story_text", json!(text));
            }
        }
        Item::Comment(comment, _) => {
            add("comment_text", json!(comment.html));
            add("parent_id", json!(comment.parent_id));
            add("points", Value::Null);
            add("story_title", json!(story.title));
            if let Some(url) = url {
                add("story_url", json!(url));
            }
        }
    }
    shown
}
#[cfg(test)]
mod tests {
    use super::*;

    fn question(query: &str) -> Option<Question> {
        let uri = format!("http://localhost/api/v1/search?{query}");
        Question::read(&uri.parse().unwrap())
    }

    #[test]
    fn the_queries_of_an_edition_are_supported() {
        let stories = question("tags=story,(story_1,story_2)&hitsPerPage=5000").unwrap();
        assert_eq!(stories.stories, Some(vec![1, 2]));
        assert_eq!((stories.comments, stories.hits_max), (false, 1000));
        let filter = "created_at_i%3E%3D10,created_at_i%3C20";
        let day = question(&format!("tags=story&numericFilters={filter}")).unwrap();
        assert_eq!((day.span_s, day.stories), ((10, 19), None));
        let comments = question("tags=comment,story_7").unwrap();
        assert_eq!((comments.comments, comments.stories), (true, Some(vec![7])));
    }

    #[test]
    fn other_queries_are_refused() {
        for query in [
            "",
            "tags=poll",
            "tags=story,author_x",
            "tags=story&numericFilters=points%3E5",
            "tags=story&page=2",
        ] {
            assert_eq!(question(query), None, "{query}");
        }
    }
}
