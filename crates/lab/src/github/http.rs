//! GitHub's routes; the middleware of all of them is in [`admission`](super::admission).
//!
//! A handler opens the repository for its caller, reads the body, lets the state decide and shows
//! the fields that clients read. It returns a [`Refusal`] by value.

use std::collections::BTreeMap;

use axum::{
    Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, FromRequestParts, Path, Query},
    http::{StatusCode, header, request::Parts},
    middleware,
    response::{IntoResponse, Response},
    routing::{delete, get, post},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    GithubStand, Handle,
    admission::{self, Caller},
    limit::{Resource, Standing},
    page::{Page, Parameters, encode},
    refusal::Refusal,
    state::{
        GitHub, Hosted, Need,
        git::{self, Change},
        run::{DispatchRequest, Run},
    },
};
use crate::stand::Inside;

/// Largest request body: GitHub's largest file, in Base64.
const BODY_BYTES_MAX: usize = 140 * 1024 * 1024;
/// Prefix of the repository's id in the GraphQL API.
const NODE_PREFIX: &str = "R_kgDO";
/// The "no object" id in updates of many refs.
const NOTHING: &str = "0000000000000000000000000000000000000000";

type Answer = Result<Response, Refusal>;

/// All routes of the server.
pub(super) fn routes(stand: Handle) -> Router {
    let admission = middleware::from_fn_with_state(stand.clone(), admission::pass);
    Router::new()
        .route("/rate_limit", get(rate_limit))
        .route("/graphql", post(graphql))
        .nest("/repos/{owner}/{repo}", repository_routes())
        .fallback(not_found)
        .method_not_allowed_fallback(not_found)
        .layer(admission)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(stand)
}

fn repository_routes() -> Router<Handle> {
    Router::new()
        .route("/", get(repository))
        .route("/git/ref/{*ref}", get(show_ref))
        .route("/git/matching-refs/{*ref}", get(matching_refs))
        .route("/git/refs", post(create_ref))
        .route("/git/refs/{*ref}", delete(delete_ref))
        .route("/git/tags", post(create_tag))
        .route("/contents/{*path}", get(read_file).put(write_file))
        .route("/actions/workflows/{workflow}/runs", get(runs))
        .route("/actions/workflows/{workflow}/dispatches", post(dispatch))
        .route("/actions/runs/{run_id}/cancel", post(cancel))
}

/// An endpoint that does not exist, or not with this method: GitHub makes no difference.
async fn not_found() -> Refusal {
    Refusal::NOT_FOUND
}

/// An admitted request.
struct Call {
    stand: Handle,
    caller: Caller,
    path: BTreeMap<String, String>,
    query: Parameters,
}

impl FromRequestParts<Handle> for Call {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, stand: &Handle) -> Result<Self, Refusal> {
        let path = Path::from_request_parts(parts, stand).await;
        let query = Query::from_request_parts(parts, stand).await;
        Ok(Self {
            stand: stand.clone(),
            caller: parts.extensions.get().cloned().unwrap_or(Caller(None)),
            path: path.map_or_else(|_| BTreeMap::new(), |Path(path)| path),
            query: query.map_or_else(|_| Parameters::new(), |Query(query)| query),
        })
    }
}

impl Call {
    fn part(&self, name: &str) -> &str {
        self.path.get(name).map_or("", String::as_str)
    }

    fn place(&self) -> (&str, &str) {
        (self.part("owner"), self.part("repo"))
    }

    /// The repository, if the caller may do this there.
    fn open<'a>(
        &self,
        inside: &'a mut Inside<GithubStand>,
        need: Need,
    ) -> Result<&'a mut Hosted, Refusal> {
        let github = &mut inside.state.github;
        github.open(self.caller.0.as_ref(), self.place(), need)
    }

    fn ref_name(&self) -> String {
        format!("refs/{}", self.part("ref"))
    }

    fn api(&self, below: &str) -> String {
        let (owner, repo) = self.place();
        format!("{}/repos/{owner}/{repo}{below}", self.stand.url())
    }

    fn web(&self, below: &str) -> String {
        let (owner, repo) = self.place();
        format!("{}/{owner}/{repo}{below}", self.stand.url())
    }
}

/// The caller's rate limits; this request is not counted.
async fn rate_limit(call: Call) -> Json<Value> {
    let now = call.stand.now();
    let limits = &mut call.stand.lock().state.limits;
    let mut look = |resource| show_standing(limits.look(call.caller.account(resource), now));
    let (core, graphql) = (look(Resource::Core), look(Resource::Graphql));
    Json(json!({ "resources": { "core": core, "graphql": graphql }, "rate": core }))
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

async fn repository(call: Call) -> Answer {
    let inside = &mut *call.stand.lock();
    let writes = call.open(inside, Need::WriteContents).is_ok();
    let held = call.open(inside, Need::ReadContents)?;
    let shown = json!({
        "id": held.id,
        "node_id": format!("{NODE_PREFIX}{:08x}", held.id),
        "name": held.name,
        "full_name": held.full_name(),
        "default_branch": held.default_branch,
        "permissions": { "pull": true, "push": writes },
    });
    Ok(Json(shown).into_response())
}

async fn show_ref(call: Call) -> Answer {
    let inside = &mut *call.stand.lock();
    let held = call.open(inside, Need::ReadContents)?;
    let name = call.ref_name();
    let sha = held.refs.get(&name).ok_or(Refusal::NOT_FOUND)?;
    Ok(Json(git_ref(held, &name, sha)).into_response())
}

fn git_ref(held: &Hosted, name: &str, sha: &str) -> Value {
    let kind = if held.is_tag(sha) { "tag" } else { "commit" };
    json!({ "ref": name, "object": { "type": kind, "sha": sha } })
}

async fn matching_refs(call: Call) -> Answer {
    let inside = &mut *call.stand.lock();
    let held = call.open(inside, Need::ReadContents)?;
    let found: Vec<Value> = held
        .matching_refs(&call.ref_name())
        .map(|(name, sha)| git_ref(held, name, sha))
        .collect();
    let url = call.api(&format!("/git/matching-refs/{}", encode(call.part("ref"))));
    let (page, total) = (Page::of(&call.query), found.len());
    let shown = Json(page.cut(found.into_iter())).into_response();
    Ok(with_links(shown, page.links(&url, &call.query, total)))
}

/// Adds the `Link` header where there is one.
fn with_links(mut response: Response, links: Option<String>) -> Response {
    if let Some(Ok(value)) = links.map(TryInto::try_into) {
        response.headers_mut().insert(header::LINK, value);
    }
    response
}

async fn create_ref(call: Call, body: Bytes) -> Answer {
    let inside = &mut *call.stand.lock();
    let held = call.open(inside, Need::WriteContents)?;
    let fields = Fields::read(&body)?;
    let (name, sha) = (fields.text("ref")?, fields.text("sha")?);
    held.create_ref(name, sha)?;
    let shown = git_ref(held, name, sha);
    Ok((StatusCode::CREATED, Json(shown)).into_response())
}

async fn delete_ref(call: Call) -> Answer {
    let inside = &mut *call.stand.lock();
    let held = call.open(inside, Need::WriteContents)?;
    held.delete_ref(&call.ref_name())?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Makes a tag object, without a reference to it.
async fn create_tag(call: Call, body: Bytes) -> Answer {
    let now = call.stand.now();
    let inside = &mut *call.stand.lock();
    let held = call.open(inside, Need::WriteContents)?;
    let fields = Fields::read(&body)?;
    let (name, message) = (fields.text("tag")?, fields.text("message")?);
    let (object, kind) = (fields.text("object")?, fields.text("type")?);
    let sha = held.create_tag(object, &format!("tag {name}\nat {now}\n\n{message}"))?;
    let object = json!({ "type": kind, "sha": object });
    let shown = json!({ "sha": sha, "tag": name, "message": message, "object": object });
    Ok((StatusCode::CREATED, Json(shown)).into_response())
}

async fn read_file(call: Call) -> Answer {
    let inside = &mut *call.stand.lock();
    let held = call.open(inside, Need::ReadContents)?;
    let branch = call.query.get("ref").unwrap_or(&held.default_branch);
    let path = call.part("path");
    let content = held.read(path, branch).ok_or(Refusal::NOT_FOUND)?;
    let mut shown = show_file(&call, path, &content);
    shown["encoding"] = json!("base64");
    shown["content"] = json!(STANDARD.encode(&content));
    Ok(Json(shown).into_response())
}

fn show_file(call: &Call, path: &str, content: &[u8]) -> Value {
    json!({
        "type": "file",
        "path": path,
        "size": content.len(),
        "sha": git::blob_id(content),
        "html_url": call.web(&format!("/blob/main/{}", encode(path))),
    })
}

async fn write_file(call: Call, body: Bytes) -> Answer {
    let now = call.stand.now();
    let inside = &mut *call.stand.lock();
    let held = call.open(inside, Need::WriteContents)?;
    let fields = Fields::read(&body)?;
    let content: String = fields.text("content")?.split_ascii_whitespace().collect();
    let content = STANDARD.decode(content).map_err(|_| Refusal::NOT_BASE64)?;
    let path = call.part("path");
    let shown = show_file(&call, path, &content);
    let change = Change {
        path,
        branch: fields.optional("branch").map(str::to_owned),
        sha: fields.optional("sha"),
        message: fields.text("message")?,
    };
    let (created, commit) = held.write(change, content, now)?;
    let status = if created {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let shown = json!({ "content": shown, "commit": { "sha": commit } });
    Ok((status, Json(shown)).into_response())
}

async fn runs(call: Call) -> Answer {
    let inside = &mut *call.stand.lock();
    let held = call.open(inside, Need::ReadActions)?;
    let workflow = held.workflow(call.part("workflow"))?.file.clone();
    let wanted = |name: &str, found: &str| call.query.get(name).is_none_or(|it| it == found);
    let kept = held.runs.iter().rev().filter(|run| {
        run.workflow == workflow
            && wanted("branch", &run.head_branch)
            && wanted("event", &run.event)
            && call.query.get("status").is_none_or(|it| run.stands_at(it))
    });
    let found: Vec<Value> = kept.map(|run| show_run(&call, run)).collect();
    let url = call.api(&format!("/actions/workflows/{workflow}/runs"));
    let (page, total) = (Page::of(&call.query), found.len());
    let shown = page.cut(found.into_iter());
    let shown = Json(json!({ "total_count": total, "workflow_runs": shown })).into_response();
    Ok(with_links(shown, page.links(&url, &call.query, total)))
}

fn show_run(call: &Call, run: &Run) -> Value {
    // GitHub's instants have whole seconds.
    let seconds = |at: jiff::Timestamp| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    json!({
        "id": run.id,
        "name": run.workflow.trim_end_matches(".yml"),
        "head_branch": run.head_branch,
        "event": run.event,
        "status": run.status,
        "conclusion": run.conclusion,
        "html_url": call.web(&format!("/actions/runs/{}", run.id)),
        "created_at": seconds(run.created_at),
        "updated_at": seconds(run.updated_at),
        "run_started_at": seconds(run.created_at),
    })
}

async fn cancel(call: Call) -> Answer {
    let now = call.stand.now();
    let inside = &mut *call.stand.lock();
    let held = call.open(inside, Need::WriteActions)?;
    let id = call.part("run_id").parse();
    let event = held.cancel(id.map_err(|_| Refusal::NOT_FOUND)?, now)?;
    inside.state.report_runners(&[event]);
    Ok((StatusCode::ACCEPTED, Json(json!({}))).into_response())
}

async fn dispatch(call: Call, body: Bytes) -> Answer {
    let now = call.stand.now();
    let inside = &mut *call.stand.lock();
    // Without permission to dispatch, the body's mistakes are not reported.
    call.open(inside, Need::WriteActions)?;
    let fields = Fields::read(&body)?;
    let inputs = fields.0.get("inputs").and_then(Value::as_object);
    let asked = DispatchRequest {
        repository: call.place(),
        workflow: call.part("workflow"),
        git_ref: fields.text("ref")?,
        inputs: inputs.cloned().unwrap_or_default(),
    };
    let github: &mut GitHub = &mut inside.state.github;
    let (run, events) = github.dispatch(call.caller.0.as_ref(), asked, now)?;
    inside.state.report_runners(&events);
    if fields.0.get("return_run_details") != Some(&Value::Bool(true)) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let html_url = call.web(&format!("/actions/runs/{}", run.id));
    Ok(Json(json!({ "workflow_run_id": run.id, "html_url": html_url })).into_response())
}

#[derive(Deserialize)]
struct Mutation {
    query: String,
    variables: Variables,
}

#[derive(Deserialize)]
struct Variables {
    input: Input,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Input {
    repository_id: String,
    ref_updates: Vec<Update>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update {
    name: String,
    after_oid: String,
}

/// The one GraphQL mutation Almanack uses, matched and not parsed: refs deleted together or not at
/// all. Every response is 200; failures are under `errors`.
async fn graphql(call: Call, body: Bytes) -> Json<Value> {
    let inside = &mut *call.stand.lock();
    Json(match update_refs(&call, inside, &body) {
        Ok(()) => json!({ "data": { "updateRefs": { "clientMutationId": null } } }),
        Err((kind, message)) => {
            let error = json!({ "type": kind, "path": ["updateRefs"], "message": message });
            json!({ "data": { "updateRefs": null }, "errors": [error] })
        }
    })
}

fn update_refs(
    call: &Call,
    inside: &mut Inside<GithubStand>,
    body: &[u8],
) -> Result<(), (&'static str, String)> {
    let unknown = || {
        (
            "UNPROCESSABLE",
            "mutation not supported by the simulated GitHub".to_owned(),
        )
    };
    let asked: Mutation = serde_json::from_slice(body).map_err(|_| unknown())?;
    let Input {
        repository_id,
        ref_updates,
    } = asked.variables.input;
    let deletes = |update: &Update| update.after_oid == NOTHING;
    if !asked.query.contains("updateRefs(") || !ref_updates.iter().all(deletes) {
        return Err(unknown());
    }
    let digits = repository_id.strip_prefix(NODE_PREFIX).unwrap_or_default();
    let id = u64::from_str_radix(digits, 16).unwrap_or_default();
    let github = &mut inside.state.github;
    let lost = || {
        let message = "Could not resolve to a node with the global id";
        ("NOT_FOUND", format!("{message} of '{repository_id}'."))
    };
    let (owner, name) = github.place_of(id).ok_or_else(lost)?;
    let opened = github.open(call.caller.0.as_ref(), (&owner, &name), Need::WriteContents);
    let held = opened.map_err(|refusal| match refusal.status {
        404 => lost(),
        _ => ("FORBIDDEN", refusal.message.into_owned()),
    })?;
    let names: Vec<String> = ref_updates.into_iter().map(|update| update.name).collect();
    let done = held.delete_refs(&names);
    done.map_err(|refusal| ("UNPROCESSABLE", refusal.message.into_owned()))
}

/// The fields of a JSON object.
struct Fields(Map<String, Value>);

impl Fields {
    fn read(body: &[u8]) -> Result<Self, Refusal> {
        let fields = serde_json::from_slice(body);
        fields.map(Self).map_err(|_| Refusal::BAD_JSON)
    }

    fn optional(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    fn text(&self, name: &str) -> Result<&str, Refusal> {
        self.optional(name).ok_or_else(|| Refusal::missing(name))
    }
}
