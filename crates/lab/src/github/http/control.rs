//! `/_world/…`: what a [`Handle`] does, for tests in another process. No token, no limits, no
//! journal: whoever reaches loopback may.

use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, patch, post, put},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::github::{
    fault::Rule,
    handle::Handle,
    limit::Resource,
    refusal::Refusal,
    setup::{Repository, Token},
    state::run::{Conclusion, Status},
};

/// What a person sees who looks with a browser.
const WELCOME: &str = "\
A simulated GitHub. Its API is at the root; this is how to set it up, disturb it and look inside.

POST   /_world/tokens               {\"name\": \"chain\", \"secret\": \"…\", \"repositories\": [\"o/r\"]}
POST   /_world/repositories         {\"owner\": \"o\", \"name\": \"r\", \"workflows\": [{\"file\": \"a.yml\"}]}
PUT    /_world/limits               {\"token\": \"chain\", \"resource\": \"core\", \"remaining\": 0}
GET    /_world/faults               the rules in force
POST   /_world/faults               {\"matching\": {\"path\": \"/git/refs\"}, \"when\": {\"next\": 3},
                                     \"effect\": {\"status\": 502}}
DELETE /_world/faults               lifts all
GET    /_world/requests             counts, and the newest requests
GET    /_world/dispatches           in order of arrival
GET    /_world/repos/{o}/{r}/refs   full name to commit
GET    /_world/repos/{o}/{r}/runs   newest first
POST   /_world/repos/{o}/{r}/runs   {\"workflow\": \"a.yml\"} queues a run, as a push would
PATCH  /_world/runs/{id}            {\"status\": \"completed\", \"conclusion\": \"success\"}

When: \"always\", {\"next\": n}, {\"every\": k}, {\"percent\": {\"percent\": p, \"seed\": s}}.
Effect: {\"status\": 503}, {\"secondary_limit\": {\"retry_after_s\": 60}}, {\"slow\": {\"wait_ms\": 2000}},
\"drop_reply\" (takes effect, then cuts the connection).
";

pub(super) fn routes(handle: Handle) -> Router {
    let faults = get(faults).post(add_fault).delete(clear_faults);
    let inside = Router::new()
        .route("/tokens", post(add_token))
        .route("/repositories", post(add_repository))
        .route("/limits", put(leave_requests))
        .route("/faults", faults)
        .route("/requests", get(requests))
        .route("/dispatches", get(dispatches))
        .route("/repos/{owner}/{repo}/refs", get(refs))
        .route("/repos/{owner}/{repo}/runs", get(runs).post(start_run))
        .route("/runs/{id}", patch(set_run))
        .with_state(handle);
    Router::new()
        .route("/_world", get(|| async { WELCOME }))
        .route("/_world/", get(|| async { WELCOME }))
        .route("/healthz", get(|| async { "ok" }))
        .nest("/_world", inside)
}

/// Plain words: the control API is not GitHub's.
struct Failed(Refusal);

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.status()).unwrap_or(StatusCode::BAD_REQUEST);
        (status, Json(json!({ "message": self.0.message("") }))).into_response()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitBody {
    token: String,
    resource: Resource,
    remaining: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StartBody {
    workflow: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunBody {
    status: Status,
    conclusion: Option<Conclusion>,
}

async fn add_token(State(handle): State<Handle>, Json(token): Json<Token>) -> StatusCode {
    handle.add_token(token);
    StatusCode::NO_CONTENT
}

async fn add_repository(
    State(handle): State<Handle>,
    Json(repository): Json<Repository>,
) -> StatusCode {
    handle.add_repository(repository);
    StatusCode::NO_CONTENT
}

async fn leave_requests(
    State(handle): State<Handle>,
    Json(body): Json<LimitBody>,
) -> Result<StatusCode, Failed> {
    handle
        .leave_requests(&body.token, body.resource, body.remaining)
        .map_err(Failed)?;
    Ok(StatusCode::NO_CONTENT)
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
    Json(json!({ "counts": handle.counts(), "newest": handle.requests() }))
}

async fn dispatches(State(handle): State<Handle>) -> Json<Value> {
    Json(json!(handle.dispatches()))
}

async fn refs(
    State(handle): State<Handle>,
    Path((owner, repo)): Path<(String, String)>,
) -> Json<Value> {
    Json(json!(handle.refs(&owner, &repo)))
}

async fn runs(
    State(handle): State<Handle>,
    Path((owner, repo)): Path<(String, String)>,
) -> Json<Value> {
    Json(json!(handle.runs(&owner, &repo)))
}

async fn start_run(
    State(handle): State<Handle>,
    Path((owner, repo)): Path<(String, String)>,
    Json(body): Json<StartBody>,
) -> Result<Response, Failed> {
    let run = handle.start_run(&owner, &repo, &body.workflow);
    Ok((StatusCode::CREATED, Json(run.map_err(Failed)?)).into_response())
}

async fn set_run(
    State(handle): State<Handle>,
    Path(id): Path<u64>,
    Json(body): Json<RunBody>,
) -> Result<Response, Failed> {
    let run = handle.set_run(id, body.status, body.conclusion);
    Ok(Json(run.map_err(Failed)?).into_response())
}
