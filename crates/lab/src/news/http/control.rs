//! `/_world/…`: what a [`Handle`] does, for tests in another process. Not counted, not disturbed.

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::StatusCode,
    routing::{get, put},
};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::news::{
    fault::Rule,
    handle::Handle,
    page::Page,
    story::{Link, NewStory},
};

/// What a person sees who looks with a browser.
const WELCOME: &str = "\
A simulated news site, with the interfaces of Hacker News and its search.

GET    /v0/beststories.json              also topstories.json, item/{id}.json
GET    /api/v1/search                    ?tags=…&numericFilters=…&hitsPerPage=…&page=…
GET    /api/v1/search_by_date            the same, newest first; 1,000 hits of a query at most
GET    /item?id={id}                     a story's page on the site
GET    /pages/{id}                       the page that a story leads to
POST   /crawler                          {\"url\": \"…\"}, with Authorization: Bearer
GET    /reader/{address}                 a page as text

How to disturb it and look inside:

GET    /_world/stories?from_s=…&to_s=…   all stories of a time
POST   /_world/stories                   {\"created_at\": TIME, \"title\": \"…\", \"points\": 7}, also with
                                         \"url\", \"text\" and \"comments\": [\"HTML\"]
GET    /_world/stories/{id}              what a story is, what its page says, its comments
PUT    /_world/pages/{id}                \"blocked\" or any other kind of page
GET    /_world/faults                    the rules in force
POST   /_world/faults                    {\"matching\": {\"endpoint\": \"search\"}, \"when\": {\"next\": 3},
                                          \"effect\": {\"status\": 503}}
DELETE /_world/faults                    lifts all
GET    /_world/requests                  counts, and the newest requests
DELETE /_world/requests                  forgets them

Pages: \"article\", \"about_blocking\", \"gb18030\", \"shift_jis\", {\"redirected\": {\"hops\": 3}},
\"redirect_loop\", {\"slow\": {\"wait_ms\": 60000}}, \"blocked\", \"forbidden\", \"empty\", \"shell\",
\"oversized\", \"pdf\", \"missing\", \"broken\".
Endpoints: best_stories, top_stories, item, search, search_by_date, page, discussion, crawler, reader.
When: \"always\", {\"next\": n}, {\"every\": k}, {\"percent\": {\"percent\": p, \"seed\": s}}.
Effect: {\"status\": 503}, {\"limited\": {\"retry_after_s\": 60}}, {\"slow\": {\"wait_ms\": 2000}}, \"hang\",
\"drop_request\", \"drop_reply\", \"truncated\", \"malformed_json\", \"null_hits\".
";

pub(super) fn routes(handle: Handle) -> Router {
    let faults = get(faults).post(add_fault).delete(clear_faults);
    let inside = Router::new()
        .route("/stories", get(stories).post(add_story))
        .route("/stories/{id}", get(story))
        .route("/pages/{id}", put(set_page))
        .route("/faults", faults)
        .route("/requests", get(requests).delete(forget))
        .with_state(handle);
    Router::new()
        .route("/_world", get(|| async { WELCOME }))
        .route("/_world/", get(|| async { WELCOME }))
        .route("/healthz", get(|| async { "ok" }))
        .nest("/_world", inside)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Span {
    from_s: i64,
    to_s: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoryBody {
    created_at: Timestamp,
    title: String,
    points: Option<i64>,
    url: Option<String>,
    text: Option<String>,
    #[serde(default)]
    comments: Vec<String>,
}

async fn stories(State(handle): State<Handle>, Query(span): Query<Span>) -> Json<Value> {
    Json(json!(handle.stories_between(span.from_s, span.to_s)))
}

async fn add_story(State(handle): State<Handle>, Json(body): Json<StoryBody>) -> Json<Value> {
    let link = match (body.text, body.url) {
        (Some(text), _) => Link::Text(text),
        (None, Some(url)) => Link::Elsewhere(url),
        (None, None) => Link::Page,
    };
    let id = handle.add_story(NewStory {
        created_at: body.created_at,
        title: body.title,
        points: body.points,
        link,
        page: Page::Article,
        comments: body.comments,
    });
    Json(json!({ "id": id }))
}

async fn story(
    State(handle): State<Handle>,
    Path(id): Path<i64>,
) -> Result<Json<Value>, StatusCode> {
    let facts = handle.story(id).ok_or(StatusCode::NOT_FOUND)?;
    let comments = handle.comments(id);
    Ok(Json(json!({ "facts": facts, "comments": comments })))
}

async fn set_page(
    State(handle): State<Handle>,
    Path(id): Path<i64>,
    Json(page): Json<Page>,
) -> StatusCode {
    handle.set_page(id, page);
    StatusCode::NO_CONTENT
}

async fn faults(State(handle): State<Handle>) -> Json<Value> {
    Json(json!(handle.faults()))
}

async fn add_fault(State(handle): State<Handle>, Json(rule): Json<Rule>) -> StatusCode {
    handle.add_fault(rule);
    StatusCode::NO_CONTENT
}

async fn clear_faults(State(handle): State<Handle>) -> StatusCode {
    handle.clear_faults();
    StatusCode::NO_CONTENT
}

async fn requests(State(handle): State<Handle>) -> Json<Value> {
    Json(json!({
        "total": handle.total(),
        "under_way_max": handle.under_way_max(),
        "counts": handle.counts(),
        "newest": handle.requests(),
    }))
}

async fn forget(State(handle): State<Handle>) -> StatusCode {
    handle.forget_requests();
    StatusCode::NO_CONTENT
}
