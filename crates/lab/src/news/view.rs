//! The JSON of both interfaces: items as Firebase shows them, hits as Algolia does.

use serde_json::{Value, json};

use super::{
    archive::Item,
    search::{Cut, Query, REACHABLE},
    story::{Comment, Story},
};

/// A story as `/v0/item/{id}.json` shows it. Fields without a value are left out there.
pub(super) fn story(story: &Story, url: Option<&str>, comments: &[Comment]) -> Value {
    let mut shown = json!({
        "by": story.author,
        "descendants": comments.len(),
        "id": story.id,
        "score": story.points.unwrap_or(1),
        "time": story.created_at.as_second(),
        "title": story.title,
        "type": "story",
    });
    let kids = kids(story.id, comments);
    if !kids.is_empty() {
        shown["kids"] = json!(kids);
    }
    if let Some(url) = url {
        shown["url"] = json!(url);
    }
    if let Some(text) = story.text() {
        shown["text"] = json!(text);
    }
    shown
}

/// A comment as `/v0/item/{id}.json` shows it.
pub(super) fn comment(comment: &Comment, all: &[Comment]) -> Value {
    let mut shown = json!({
        "by": comment.author,
        "id": comment.id,
        "parent": comment.parent_id,
        "text": comment.html,
        "time": comment.created_at.as_second(),
        "type": "comment",
    });
    let kids = kids(comment.id, all);
    if !kids.is_empty() {
        shown["kids"] = json!(kids);
    }
    shown
}

fn kids(id: i64, comments: &[Comment]) -> Vec<i64> {
    let own = comments.iter().filter(|it| it.parent_id == id);
    own.map(|it| it.id).collect()
}

/// One page of hits as Algolia shows it.
pub(super) fn hits(query: &Query, cut: Cut, hits: &[Value], parameters: &str) -> Value {
    let mut shown = json!({
        "exhaustive": { "nbHits": true, "typo": true },
        "exhaustiveNbHits": true,
        "exhaustiveTypo": true,
        "hits": hits,
        "hitsPerPage": query.hits_per_page,
        "nbHits": cut.hits,
        "nbPages": cut.pages,
        "page": query.page,
        "params": parameters,
        "processingTimeMS": 1,
        "query": query.words.join(" "),
    });
    if cut.from >= REACHABLE {
        shown["message"] = json!(format!("only {REACHABLE} hits of a query can be fetched"));
    }
    shown
}

/// One hit as Algolia shows it.
pub(super) fn hit(item: &Item, url: Option<&str>) -> Value {
    match item {
        Item::Story(story, comments) => hit_story(story, *comments, url),
        Item::Comment(comment, story) => hit_comment(comment, story, url),
    }
}

fn hit_story(story: &Story, comments: u32, url: Option<&str>) -> Value {
    let mut tags = vec![
        "story".to_owned(),
        format!("author_{}", story.author),
        format!("story_{}", story.id),
    ];
    for (prefix, tag) in [("Ask HN:", "ask_hn"), ("Show HN:", "show_hn")] {
        if story.title.starts_with(prefix) {
            tags.push(tag.to_owned());
        }
    }
    let mut shown = json!({
        "_highlightResult": { "title": {
            "matchLevel": "none", "matchedWords": [], "value": story.title,
        } },
        "_tags": tags,
        "author": story.author,
        "created_at": story.created_at.to_string(),
        "created_at_i": story.created_at.as_second(),
        "num_comments": comments,
        "objectID": story.id.to_string(),
        "points": story.points,
        "story_id": story.id,
        "title": story.title,
        "updated_at": story.created_at.to_string(),
    });
    if let Some(url) = url {
        shown["url"] = json!(url);
    }
    if let Some(text) = story.text() {
        shown["story_text"] = json!(text);
    }
    shown
}

fn hit_comment(comment: &Comment, story: &Story, url: Option<&str>) -> Value {
    let mut shown = json!({
        "_tags": [
            "comment", format!("author_{}", comment.author), format!("story_{}", story.id),
        ],
        "author": comment.author,
        "comment_text": comment.html,
        "created_at": comment.created_at.to_string(),
        "created_at_i": comment.created_at.as_second(),
        "objectID": comment.id.to_string(),
        "parent_id": comment.parent_id,
        "points": null,
        "story_id": story.id,
        "story_title": story.title,
        "updated_at": comment.created_at.to_string(),
    });
    if let Some(url) = url {
        shown["story_url"] = json!(url);
    }
    shown
}
