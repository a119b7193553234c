//! `/_world/…`: what a [`Handle`] does, for tests in another process. No key, no journal: whoever
//! reaches loopback may.

use std::time::Duration;

use axum::{
    Json, Router,
    extract::State,
    http::StatusCode,
    routing::{get, put},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::model::{fault::Rule, handle::Handle};

/// What a person sees who looks with a browser.
const WELCOME: &str = "\
A simulated language model. Ask it at /v1/chat/completions; this is how to disturb it and look inside.

GET    /_world/faults      the rules in force
POST   /_world/faults      {\"matching\": {\"kind\": \"titles\", \"contains\": \"Rust\"}, \"when\": {\"next\": 3},
                            \"effect\": \"one_less\"}
DELETE /_world/faults      lifts all
PUT    /_world/latency     {\"latency_ms\": 200}
GET    /_world/requests    the newest requests, and how many were under way at once

Kind: \"titles\", \"filter\", \"summary\".
When: \"always\", {\"next\": n}, {\"every\": k}, {\"percent\": {\"percent\": p, \"seed\": s}}.
Effect: \"prose\", \"prose_with_brackets\", \"fence\", \"trailing_comma\", \"one_less\", \"one_more\", \"shuffled\",
\"reversed\", \"repeated_index\", \"element_empty\", \"element_null\", \"unchanged\", \"excuse\", \"empty_content\",
\"null_content\", \"cut_off\", \"no_choices\", \"error_inside\", \"not_json\", {\"status\": 503},
{\"limited\": {\"retry_after_s\": 30, \"as_date\": false}}, {\"slow\": {\"wait_ms\": 2000}}, \"hang\",
\"drop_reply\" (takes the request, then cuts the connection).
";

pub(super) fn routes(handle: Handle) -> Router {
    let faults = get(faults).post(add_fault).delete(clear_faults);
    let inside = Router::new()
        .route("/faults", faults)
        .route("/latency", put(set_latency))
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

async fn requests(State(handle): State<Handle>) -> Json<Value> {
    Json(json!({
        "total": handle.total(),
        "in_flight_seen": handle.in_flight_seen(),
        "newest": handle.requests(),
    }))
}
