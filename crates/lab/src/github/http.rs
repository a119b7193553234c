//! GitHub's HTTP face: routes here, the gate all of them pass in [`gate`], one file per area.
//!
//! A handler opens the repository for its caller, reads the body, lets the state decide and shows
//! the result. It answers a [`Refusal`] by value; the gate turns that into GitHub's error body,
//! because only the gate knows the request's id and the endpoint's documentation.

mod actions;
mod body;
mod contents;
mod control;
mod docs;
mod gate;
mod graphql;
mod page;
mod refs;
mod tags;
mod view;

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{DefaultBodyLimit, Extension, State},
    http::StatusCode,
    middleware,
    response::{IntoResponse, Response},
    routing::{get, patch, post},
};
use serde_json::{Value, json};

use super::{
    handle::Handle,
    limit::{Account, Resource, Standing},
    refusal::Refusal,
    service::Service,
    setup::Token,
};

/// Largest request body: GitHub's largest file, in Base64.
const BODY_BYTES_MAX: usize = 140 * 1024 * 1024;
/// Requests an hour for those who show no token.
const STRANGER_REQUESTS_PER_HOUR: u32 = 60;

type App = State<Arc<Service>>;
type Answer = Result<Response, Refusal>;

/// Who calls, as the gate found out.
#[derive(Debug, Clone)]
struct Caller {
    token: Option<Token>,
    version: Version,
}

impl Caller {
    fn token(&self) -> Option<&Token> {
        self.token.as_ref()
    }

    /// The token's name; a stranger has none.
    fn name(&self) -> &str {
        self.token.as_ref().map_or("", |token| &token.name)
    }

    fn account(&self, resource: Resource) -> Account<'_> {
        match &self.token {
            Some(token) => Account {
                name: token.window(),
                limit: token.requests_per_hour,
                resource,
            },
            None => Account {
                name: "",
                limit: STRANGER_REQUESTS_PER_HOUR,
                resource,
            },
        }
    }
}

/// The versions of the REST API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Version {
    /// What those get who name none.
    #[default]
    Of2022,
    /// Dispatches answer with their run, and `/rate_limit` without `rate`.
    Of2026,
}

impl Version {
    fn parse(text: &str) -> Option<Self> {
        let mut all = [Self::Of2022, Self::Of2026].into_iter();
        all.find(|version| version.as_str() == text)
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Of2022 => "2022-11-28",
            Self::Of2026 => "2026-03-10",
        }
    }
}

/// Everything the server answers.
pub(super) fn routes(handle: Handle) -> Router {
    let service = handle.0.clone();
    let gate = middleware::from_fn_with_state(service.clone(), gate::pass);
    let api = Router::new()
        .route("/rate_limit", get(rate_limit))
        .route("/graphql", post(graphql::answer))
        .merge(git_routes())
        .merge(actions_routes())
        .fallback(not_found)
        .method_not_allowed_fallback(not_found)
        .layer(gate)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(service);
    control::routes(handle).merge(api)
}

fn git_routes() -> Router<Arc<Service>> {
    let contents = || {
        get(contents::read)
            .put(contents::write)
            .delete(contents::remove)
    };
    Router::new()
        .route("/repos/{owner}/{repo}", get(refs::repository))
        .route("/repos/{owner}/{repo}/git/ref/{*ref}", get(refs::show))
        .route(
            "/repos/{owner}/{repo}/git/matching-refs/{*ref}",
            get(refs::matching),
        )
        .route("/repos/{owner}/{repo}/git/refs", post(refs::create))
        .route("/repos/{owner}/{repo}/git/tags", post(tags::create))
        .route(
            "/repos/{owner}/{repo}/git/refs/{*ref}",
            patch(refs::update).delete(refs::delete),
        )
        .route("/repos/{owner}/{repo}/contents", get(contents::read_root))
        .route("/repos/{owner}/{repo}/contents/", get(contents::read_root))
        .route("/repos/{owner}/{repo}/contents/{*path}", contents())
}

fn actions_routes() -> Router<Arc<Service>> {
    Router::new()
        .route("/repos/{owner}/{repo}/actions/runs", get(actions::runs))
        .route(
            "/repos/{owner}/{repo}/actions/runs/{run_id}",
            get(actions::run),
        )
        .route(
            "/repos/{owner}/{repo}/actions/runs/{run_id}/cancel",
            post(actions::cancel),
        )
        .route(
            "/repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs",
            get(actions::workflow_runs),
        )
        .route(
            "/repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches",
            post(actions::dispatch),
        )
}

/// An endpoint that does not exist, or not with this method: GitHub makes no difference.
async fn not_found() -> Refusal {
    Refusal::NotFound
}

/// How the caller stands; asking costs nothing.
async fn rate_limit(State(app): App, Extension(caller): Extension<Caller>) -> Json<Value> {
    let now = app.now();
    let mut inside = app.lock();
    let mut look = |resource| show_standing(inside.limits.look(caller.account(resource), now));
    let (core, graphql) = (look(Resource::Core), look(Resource::Graphql));
    let mut shown = json!({ "resources": { "core": core, "graphql": graphql } });
    if caller.version == Version::Of2022 {
        shown["rate"] = core;
    }
    Json(shown)
}

fn show_standing(standing: Standing) -> Value {
    json!({
        "limit": standing.limit,
        "used": standing.used,
        "remaining": standing.remaining(),
        "reset": standing.reset_at.as_second(),
        "resource": standing.resource.as_str(),
    })
}

/// Carries the refusal to the gate, which writes the body.
impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status());
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Extension(self)).into_response()
    }
}
