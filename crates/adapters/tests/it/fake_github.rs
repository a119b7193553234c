//! A GitHub of a few endpoints, with GitHub's statuses, headers and messages, and faults on demand.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex},
    time::Duration,
};

use almanack_adapters::github::{Github, GithubSettings, Repository, Token};
use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::{Path, Query, Request, State},
    http::{HeaderMap, HeaderName, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{delete, get, post},
};
use serde_json::{Value, json};

use crate::fixture::{self, Fixed, serve};

/// The token that the tests use, which must never be seen.
pub(crate) const TOKEN: &str = "ghp_hush";
const PAGE: usize = 100;

/// What the server answers instead of doing what it is asked.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    /// Applies to the next request whose `METHOD path` contains this.
    pub(crate) on: &'static str,
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Value,
    /// Whether the request is carried out all the same, and only its answer is replaced.
    pub(crate) takes_effect: bool,
    /// Whether no answer comes at all.
    pub(crate) silent: bool,
}

impl Fault {
    pub(crate) fn answer(on: &'static str, status: u16, message: &str) -> Self {
        Self {
            on,
            status,
            headers: Vec::new(),
            body: json!({"message": message, "documentation_url": "https://docs.example"}),
            takes_effect: false,
            silent: false,
        }
    }

    pub(crate) fn header(mut self, name: &'static str, value: &impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    /// The request is carried out, and its answer is lost.
    pub(crate) fn lost_answer(on: &'static str) -> Self {
        Self {
            takes_effect: true,
            silent: true,
            ..Self::answer(on, 0, "")
        }
    }
}

/// What happened, and what there is.
#[derive(Default)]
pub(crate) struct FakeGithub {
    pub(crate) refs: Mutex<BTreeMap<String, String>>,
    pub(crate) requests: Mutex<Vec<(String, HeaderMap, Bytes)>>,
    pub(crate) faults: Mutex<VecDeque<Fault>>,
    pub(crate) runs: Mutex<Vec<Value>>,
    pub(crate) old_run: Mutex<Option<Value>>,
    tags: Mutex<u32>,
}

impl FakeGithub {
    /// Starts the server; a client of it comes along.
    pub(crate) async fn start() -> (Arc<Self>, Arc<Github>) {
        let fake_github = Arc::new(Self::default());
        let url = serve(routes(Arc::clone(&fake_github))).await;
        (fake_github, client(&url))
    }

    pub(crate) fn break_next(&self, fault: Fault) {
        self.faults.lock().unwrap().push_back(fault);
    }

    /// `METHOD path?query` of every request so far.
    pub(crate) fn asked(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|(what, ..)| what.clone()).collect()
    }
}

pub(crate) fn client(url: &str) -> Arc<Github> {
    let settings = GithubSettings {
        base_url: url.to_owned(),
        token: Token::new(TOKEN),
        timeout: Duration::from_millis(500),
    };
    Arc::new(Github::new(fixture::client(), Arc::new(Fixed), &settings).unwrap())
}

pub(crate) fn repository() -> Repository {
    Repository::parse("acme/news").unwrap()
}

type App = State<Arc<FakeGithub>>;

fn routes(fake_github: Arc<FakeGithub>) -> Router {
    let repo = |rest: &str| format!("/repos/acme/news{rest}");
    Router::new()
        .route(
            &repo(""),
            get(|| async { Json(json!({"node_id": "R_1", "name": "news"})) }),
        )
        .route(&repo("/git/refs"), post(create))
        .route(&repo("/git/refs/{*name}"), delete(remove))
        .route(&repo("/git/ref/{*name}"), get(show))
        .route(&repo("/git/tags"), post(tag))
        .route(&repo("/git/matching-refs/{*name}"), get(matching))
        .route(
            &repo("/actions/workflows/{file}/dispatches"),
            post(|| async { StatusCode::NO_CONTENT }),
        )
        .route(&repo("/actions/workflows/{file}/runs"), get(runs))
        .route(&repo("/actions/runs"), get(runs))
        .route(&repo("/actions/runs/{id}"), get(one_run))
        .route(
            &repo("/actions/runs/{id}/cancel"),
            post(|| async { StatusCode::ACCEPTED }),
        )
        .route("/graphql", post(graphql))
        .fallback(|| async { message_answer(404, "Not Found") })
        .layer(middleware::from_fn_with_state(
            Arc::clone(&fake_github),
            gate,
        ))
        .with_state(fake_github)
}

/// Records every request, and injects faults.
async fn gate(State(fake_github): App, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let what = format!("{} {}", parts.method, parts.uri);
    let entry = (what.clone(), parts.headers.clone(), body.clone());
    fake_github.requests.lock().unwrap().push(entry);
    let fault = {
        let mut faults = fake_github.faults.lock().unwrap();
        let hit = faults.iter().position(|fault| what.contains(fault.on));
        hit.and_then(|at| faults.remove(at))
    };
    let request = Request::from_parts(parts, Body::from(body));
    let Some(fault) = fault else {
        return next.run(request).await;
    };
    if fault.takes_effect {
        next.run(request).await;
    }
    if fault.silent {
        std::future::pending::<()>().await;
    }
    let mut response = (
        StatusCode::from_u16(fault.status).unwrap(),
        Json(fault.body),
    )
        .into_response();
    for (name, value) in fault.headers {
        response
            .headers_mut()
            .insert(HeaderName::from_static(name), value.parse().unwrap());
    }
    response
}

/// A run that lists no longer show.
async fn one_run(State(fake_github): App, Path(id): Path<u64>) -> Response {
    let old = fake_github.old_run.lock().unwrap().clone();
    match old.filter(|run| run["id"] == id) {
        Some(run) => Json(run).into_response(),
        None => message_answer(404, "Not Found"),
    }
}

fn message_answer(status: u16, message: &str) -> Response {
    (
        StatusCode::from_u16(status).unwrap(),
        Json(json!({"message": message})),
    )
        .into_response()
}

fn shown(name: &str, sha: &str) -> Value {
    json!({"ref": name, "object": {"sha": sha, "type": "tag"}})
}

async fn create(State(fake_github): App, Json(body): Json<Value>) -> Response {
    let (name, sha) = (body["ref"].as_str().unwrap(), body["sha"].as_str().unwrap());
    let mut refs = fake_github.refs.lock().unwrap();
    if refs.contains_key(name) {
        return message_answer(422, "Reference already exists");
    }
    refs.insert(name.to_owned(), sha.to_owned());
    (StatusCode::CREATED, Json(shown(name, sha))).into_response()
}

async fn show(State(fake_github): App, Path(name): Path<String>) -> Response {
    let name = format!("refs/{name}");
    match fake_github.refs.lock().unwrap().get(&name) {
        Some(sha) => Json(shown(&name, sha)).into_response(),
        None => message_answer(404, "Not Found"),
    }
}

async fn remove(State(fake_github): App, Path(name): Path<String>) -> Response {
    match fake_github
        .refs
        .lock()
        .unwrap()
        .remove(&format!("refs/{name}"))
    {
        Some(_) => StatusCode::NO_CONTENT.into_response(),
        None => message_answer(422, "Reference does not exist"),
    }
}

async fn tag(State(fake_github): App) -> Response {
    let mut tags = fake_github.tags.lock().unwrap();
    *tags += 1;
    let made = json!({"sha": format!("{:040x}", *tags), "tag": "x"});
    (StatusCode::CREATED, Json(made)).into_response()
}

async fn matching(
    State(fake_github): App,
    Path(name): Path<String>,
    Query(query): Query<BTreeMap<String, String>>,
    headers: HeaderMap,
) -> Response {
    let page: usize = query.get("page").map_or(1, |page| page.parse().unwrap());
    let prefix = format!("refs/{name}");
    let refs = fake_github.refs.lock().unwrap().clone();
    let found: Vec<_> = refs
        .iter()
        .filter(|(name, _)| name.starts_with(&prefix))
        .collect();
    let part: Vec<Value> = found
        .iter()
        .skip((page - 1) * PAGE)
        .take(PAGE)
        .map(|(name, sha)| shown(name, sha))
        .collect();
    let host = headers["host"].to_str().unwrap();
    let more = found.len() > page * PAGE;
    let next = more.then(|| {
        format!(
            "<http://{host}/repos/acme/news/git/matching-refs/{name}?per_page=100&page={}>; rel=\"next\"",
            page + 1
        )
    });
    tagged(&headers, json!(part), next)
}

async fn runs(State(fake_github): App, headers: HeaderMap) -> Response {
    let runs = fake_github.runs.lock().unwrap().clone();
    tagged(
        &headers,
        json!({"total_count": runs.len(), "workflow_runs": runs}),
        None,
    )
}

/// With an `ETag`, or 304 to a client that has it.
fn tagged(headers: &HeaderMap, body: Value, next: Option<String>) -> Response {
    let etag = format!(
        "W/\"{:x}\"",
        body.to_string().bytes().fold(7_u64, |hash, byte| {
            hash.wrapping_mul(31).wrapping_add(byte.into())
        })
    );
    if headers
        .get(header::IF_NONE_MATCH)
        .is_some_and(|known| known == etag.as_str())
    {
        return StatusCode::NOT_MODIFIED.into_response();
    }
    let mut response = ([(header::ETAG, etag)], Json(body)).into_response();
    if let Some(next) = next {
        response
            .headers_mut()
            .insert(header::LINK, next.parse().unwrap());
    }
    response
}

async fn graphql(State(fake_github): App, Json(body): Json<Value>) -> Response {
    let input = &body["variables"]["input"];
    let mut refs = fake_github.refs.lock().unwrap();
    let names: Vec<&str> = input["refUpdates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|update| update["name"].as_str().unwrap())
        .collect();
    if input["repositoryId"] != "R_1" || names.iter().any(|name| !refs.contains_key(*name)) {
        let errors = json!([{"type": "UNPROCESSABLE", "message": "acme/news: no such ref"}]);
        return Json(json!({"data": null, "errors": errors})).into_response();
    }
    for name in names {
        refs.remove(name);
    }
    Json(json!({"data": {"updateRefs": {"clientMutationId": null}}})).into_response()
}
