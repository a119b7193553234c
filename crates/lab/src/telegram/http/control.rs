//! `/_world/…`: what a [`Handle`] does, for tests in another process. No token, no journal: whoever
//! reaches loopback may.

use std::time::Duration;

use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    routing::{get, post, put},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::telegram::{fault::Rule, handle::Handle, state::Chat};

/// What a person sees who looks with a browser.
const WELCOME: &str = "\
A simulated Telegram. Its Bot API is at /bot{token}/{method}; this is how to set it up, disturb it and
look inside.

POST   /_world/chats              {\"id\": -1001, \"username\": \"news\", \"title\": \"News\",
                                   \"kind\": \"channel\", \"standing\": \"writer\"}
GET    /_world/messages/{chat}    what readers see; {chat} is an id or @name
GET    /_world/faults             the rules in force
POST   /_world/faults             {\"matching\": {\"method\": \"sendMessage\"}, \"when\": {\"next\": 1},
                                   \"effect\": \"hang_after\"}
DELETE /_world/faults             lifts all
PUT    /_world/latency            {\"latency_ms\": 200}
PUT    /_world/limit              {\"messages_per_minute\": 20}
GET    /_world/requests           the newest requests

Kind: \"channel\", \"supergroup\", \"private\". Standing: \"writer\", \"no_rights\", \"not_member\", \"kicked\".
Matching: method, chat, contains.
When: \"always\", {\"next\": n}, {\"every\": k}, {\"percent\": {\"percent\": p, \"seed\": s}}.
Effect: {\"fail_before\": 500}, {\"fail_after\": 500}, \"hang_before\", \"hang_after\", \"cut_before\", \"cut_after\",
{\"limited\": {\"retry_after_s\": 30}}, {\"slow\": {\"wait_ms\": 2000}}. Before and after the effect, that is.
";

pub(super) fn routes(handle: Handle) -> Router {
    let faults = get(faults).post(add_fault).delete(clear_faults);
    let inside = Router::new()
        .route("/chats", post(add_chat))
        .route("/messages/{chat}", get(messages))
        .route("/faults", faults)
        .route("/latency", put(set_latency))
        .route("/limit", put(set_limit))
        .route("/requests", get(requests))
        .with_state(handle);
    Router::new()
        .route("/_world", get(|| async { WELCOME }))
        .route("/_world/", get(|| async { WELCOME }))
        .route("/healthz", get(|| async { "ok" }))
        .nest("/_world", inside)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LatencyBody {
    latency_ms: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitBody {
    messages_per_minute: Option<u32>,
}

async fn add_chat(State(handle): State<Handle>, Json(chat): Json<Chat>) -> StatusCode {
    handle.add_chat(chat);
    StatusCode::NO_CONTENT
}

async fn messages(State(handle): State<Handle>, Path(chat): Path<String>) -> Json<Value> {
    Json(json!(handle.messages(&chat)))
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

async fn set_latency(State(handle): State<Handle>, Json(body): Json<LatencyBody>) -> StatusCode {
    handle.set_latency(Duration::from_millis(body.latency_ms));
    StatusCode::NO_CONTENT
}

async fn set_limit(State(handle): State<Handle>, Json(body): Json<LimitBody>) -> StatusCode {
    handle.set_messages_per_minute(body.messages_per_minute);
    StatusCode::NO_CONTENT
}

async fn requests(State(handle): State<Handle>) -> Json<Value> {
    Json(json!({ "total": handle.total(), "newest": handle.requests() }))
}
