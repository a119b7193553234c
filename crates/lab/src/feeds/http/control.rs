//! `/_world/…`: what a [`Handle`] does, for tests in another process. Not counted, not disturbed.

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::StatusCode,
    routing::{get, post},
};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Part;
use crate::feeds::{
    fault::Rule,
    handle::{Card, Handle},
};

/// What a person sees who looks with a browser.
pub(super) const WELCOME: &str = "\
Thousands of feeds on as many hosts. Every address under 127.0.0.0/8 is one of them.

GET    /opml[?first=0&count=100]         all feeds, as a list of subscriptions
GET    /hostile                          documents made to hurt, by name
GET    /status/{code}[?retry_after=60&as_date=true][&location=URL]
GET    /feeds/{n}/                       a page to discover a feed from; so is / of its host
GET    /feeds/{n}/rss.xml                also rdf.xml, rss091.xml, atom.xml, feed.json, list.html,
                                         api.json, sitemap.xml; and under /feeds/{n}/moved/

How to disturb it and look inside:

GET    /_world/feeds[?first=0&count=100] what each feed is like, with its address
GET    /_world/feeds/{n}                 one feed: what it is like, who came, what is wrong
GET    /_world/feeds/{n}/entries         what it shows now
POST   /_world/feeds/{n}/entries         {\"title\": \"Now\"} publishes an entry
GET    /_world/feeds/{n}/published?from=TIME&until=TIME
GET    /_world/feeds/{n}/requests        the newest requests for it
POST   /_world/feeds/{n}/faults          {\"fault\": {\"status\": 500}, \"next\": 3}
DELETE /_world/feeds/{n}/faults          lifts them
GET    /_world/hosts/{h}                 who came to a host, and how it treats callers
POST   /_world/hosts/{h}/faults          as for feeds
DELETE /_world/hosts/{h}/faults
GET    /_world/requests                  all counts
DELETE /_world/requests                  forgets them

Faults: {\"status\": 410}, {\"moved\": {\"status\": 301}}, {\"slow\": {\"wait_ms\": 2000}}, {\"drip\": {\"wait_ms\": 1000}},
{\"limited\": {\"status\": 429, \"retry_after_s\": 600, \"as_date\": true}}, \"hang\", \"cut\", \"cut_mid_body\",
{\"serve\": \"login.html\"}; with \"from\", \"until\" (times) and \"next\" (requests) where wanted.
";

pub(super) fn routes(handle: Handle) -> Router {
    let inside = Router::new()
        .route("/feeds", get(cards))
        .route("/feeds/{number}", get(feed))
        .route("/feeds/{number}/entries", get(entries).post(publish))
        .route("/feeds/{number}/published", get(published))
        .route("/feeds/{number}/requests", get(requests))
        .route(
            "/feeds/{number}/faults",
            post(add_fault).delete(clear_faults),
        )
        .route("/hosts/{host}", get(host))
        .route(
            "/hosts/{host}/faults",
            post(add_host_fault).delete(clear_host_faults),
        )
        .route("/requests", get(total).delete(forget))
        .with_state(handle);
    Router::new()
        .route("/_world", get(|| async { WELCOME }))
        .route("/_world/", get(|| async { WELCOME }))
        .route("/healthz", get(|| async { "ok" }))
        .nest("/_world", inside)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryBody {
    title: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Span {
    from: Timestamp,
    until: Timestamp,
}

async fn cards(State(handle): State<Handle>, Query(part): Query<Part>) -> Json<Vec<Card>> {
    let until = part.first.saturating_add(part.count.unwrap_or(100));
    let cards =
        (part.first..until.min(handle.fleet().feeds)).filter_map(|number| handle.card(number));
    Json(cards.collect())
}

async fn feed(
    State(handle): State<Handle>,
    Path(number): Path<u32>,
) -> Result<Json<Value>, StatusCode> {
    let card = handle.card(number).ok_or(StatusCode::NOT_FOUND)?;
    let (count, faults) = (handle.count(number), handle.faults(number));
    Ok(Json(
        json!({ "feed": card, "count": count, "faults": faults }),
    ))
}

async fn entries(State(handle): State<Handle>, Path(number): Path<u32>) -> Json<Value> {
    Json(json!(handle.entries(number)))
}

async fn publish(
    State(handle): State<Handle>,
    Path(number): Path<u32>,
    Json(body): Json<EntryBody>,
) -> StatusCode {
    handle.publish(number, &body.title);
    StatusCode::NO_CONTENT
}

async fn published(
    State(handle): State<Handle>,
    Path(number): Path<u32>,
    Query(span): Query<Span>,
) -> Json<Vec<Timestamp>> {
    Json(handle.published(number, span.from, span.until))
}

async fn requests(State(handle): State<Handle>, Path(number): Path<u32>) -> Json<Value> {
    Json(json!(handle.requests_for(number)))
}

async fn add_fault(
    State(handle): State<Handle>,
    Path(number): Path<u32>,
    Json(rule): Json<Rule>,
) -> StatusCode {
    handle.add_fault(number, rule);
    StatusCode::NO_CONTENT
}

async fn clear_faults(State(handle): State<Handle>, Path(number): Path<u32>) -> StatusCode {
    handle.clear_faults(number);
    StatusCode::NO_CONTENT
}

async fn host(State(handle): State<Handle>, Path(host): Path<u32>) -> Json<Value> {
    let (count, character) = (handle.host_count(host), handle.fleet().character(host));
    Json(json!({ "host": host, "character": character, "count": count }))
}

async fn add_host_fault(
    State(handle): State<Handle>,
    Path(host): Path<u32>,
    Json(rule): Json<Rule>,
) -> StatusCode {
    handle.add_host_fault(host, rule);
    StatusCode::NO_CONTENT
}

async fn clear_host_faults(State(handle): State<Handle>, Path(host): Path<u32>) -> StatusCode {
    handle.clear_host_faults(host);
    StatusCode::NO_CONTENT
}

async fn total(State(handle): State<Handle>) -> Json<Value> {
    Json(json!({
        "total": handle.total(),
        "in_flight_max_per_host": handle.in_flight_max(),
        "newest": handle.requests(),
    }))
}

async fn forget(State(handle): State<Handle>) -> StatusCode {
    handle.forget_requests();
    StatusCode::NO_CONTENT
}
