//! GitHub's routes; the middleware of all of them is in [`admission`](super::admission).
//!
//! A handler opens the repository for its caller, reads the body, lets the state decide and shows
//! the fields that clients read. It returns a [`Refusal`] by value.

use std::{
    collections::BTreeMap,
    future::{Ready, ready},
};

use axum::{
    Json, Router,
    body::Bytes,
    extract::{
        DefaultBodyLimit, FromRequest, FromRequestParts, Path, Query, Request as HttpRequest,
    },
    http::{StatusCode, header},
    middleware,
    response::{IntoResponse, Response},
    routing::{delete, get, post},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

use super::{
    Handle,
    admission::{self, Caller},
    limit::{Resource, Standing},
    page::{Page, Parameters, encode},
    refusal::Refusal,
    setup::Permission,
    state::{
        GitHub, Hosted, Need,
        git::{self, Change},
        run::{DispatchRequest, Run},
    },
};
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
    use Need::{ReadActions, ReadContents, WriteContents};
    let file = get(on(ReadContents, read_file)).put(on(WriteContents, write_file));
    Router::new()
        .route("/", get(on(ReadContents, repository)))
        .route("/git/ref/{*ref}", get(on(ReadContents, show_ref)))
        .route(
            "/git/matching-refs/{*ref}",
            get(on(ReadContents, matching_refs)),
        )
        .route("/git/refs", post(on(WriteContents, create_ref)))
        .route("/git/refs/{*ref}", delete(on(WriteContents, delete_ref)))
        .route("/git/tags", post(on(WriteContents, create_tag)))
        .route("/contents/{*path}", file)
        .route(
            "/actions/workflows/{workflow}/runs",
            get(on(ReadActions, runs)),
        )
        .route("/actions/workflows/{workflow}/dispatches", post(dispatch))
        .route("/actions/runs", get(on(ReadActions, all_runs)))
        .route("/actions/runs/{run_id}", get(on(ReadActions, one_run)))
        .route("/actions/runs/{run_id}/cancel", post(cancel))
}

/// An endpoint of one repository, for callers with this permission.
fn on<A: IntoResponse + 'static>(
    need: Need,
    act: fn(&Call, &mut Hosted) -> A,
) -> impl Fn(Call) -> Ready<Response> + Clone + Send + Sync + 'static {
    move |call| {
        let github = &mut call.stand.lock().state;
        let held = call.open(github, need);
        ready(held.map(|held| act(&call, held)).into_response())
    }
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
    body: Bytes,
}

impl FromRequest<Handle> for Call {
    type Rejection = Response;

    async fn from_request(request: HttpRequest, stand: &Handle) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let path = Path::from_request_parts(&mut parts, stand).await;
        let query = Query::from_request_parts(&mut parts, stand).await;
        let caller = parts.extensions.get().cloned();
        let body = Bytes::from_request(HttpRequest::from_parts(parts, body), stand).await;
        Ok(Self {
            stand: stand.clone(),
            caller: caller.unwrap_or(Caller(None)),
            path: path.map_or_else(|_| BTreeMap::new(), |Path(path)| path),
            query: query.map_or_else(|_| Parameters::new(), |Query(query)| query),
            body: body.map_err(IntoResponse::into_response)?,
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
    fn open<'a>(&self, github: &'a mut GitHub, need: Need) -> Result<&'a mut Hosted, Refusal> {
        github.open(self.caller.0.as_ref(), self.place(), need)
    }

    /// The fields of its body, which must be an object.
    fn fields(&self) -> Result<Fields, Refusal> {
        let fields = serde_json::from_slice(&self.body);
        fields.map(Fields).map_err(|_| Refusal::BAD_JSON)
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

fn repository(call: &Call, held: &mut Hosted) -> Json<Value> {
    let writes = call.caller.0.as_ref();
    let writes = writes.is_some_and(|token| token.contents == Permission::Write);
    Json(json!({
        "id": held.id,
        "node_id": format!("{NODE_PREFIX}{:08x}", held.id),
        "name": held.name,
        "full_name": held.full_name(),
        "default_branch": held.default_branch,
        "permissions": { "pull": true, "push": writes },
    }))
}

fn show_ref(call: &Call, held: &mut Hosted) -> Answer {
    let name = call.ref_name();
    let sha = held.refs.get(&name).ok_or(Refusal::NOT_FOUND)?;
    Ok(Json(git_ref(held, &name, sha)).into_response())
}

fn git_ref(held: &Hosted, name: &str, sha: &str) -> Value {
    let kind = if held.is_tag(sha) { "tag" } else { "commit" };
    json!({ "ref": name, "object": { "type": kind, "sha": sha } })
}

fn matching_refs(call: &Call, held: &mut Hosted) -> Response {
    let found: Vec<Value> = held
        .matching_refs(&call.ref_name())
        .map(|(name, sha)| git_ref(held, name, sha))
        .collect();
    let url = call.api(&format!("/git/matching-refs/{}", encode(call.part("ref"))));
    let (page, total) = (Page::of(&call.query), found.len());
    let links = page.links(&url, &call.query, total);
    let links = links.map(|links| [(header::LINK, links)]);
    (links, Json(page.cut(found.into_iter()))).into_response()
}

fn create_ref(call: &Call, held: &mut Hosted) -> Answer {
    let fields = call.fields()?;
    let (name, sha) = (fields.text("ref")?, fields.text("sha")?);
    held.create_ref(name, sha)?;
    let shown = git_ref(held, name, sha);
    Ok((StatusCode::CREATED, Json(shown)).into_response())
}

fn delete_ref(call: &Call, held: &mut Hosted) -> Answer {
    held.delete_ref(&call.ref_name())?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Makes a tag object, without a reference to it.
fn create_tag(call: &Call, held: &mut Hosted) -> Answer {
    let (now, fields) = (call.stand.now(), call.fields()?);
    let (name, message) = (fields.text("tag")?, fields.text("message")?);
    let (object, kind) = (fields.text("object")?, fields.text("type")?);
    let sha = held.create_tag(object, &format!("tag {name}\nat {now}\n\n{message}"))?;
    let object = json!({ "type": kind, "sha": object });
    let shown = json!({ "sha": sha, "tag": name, "message": message, "object": object });
    Ok((StatusCode::CREATED, Json(shown)).into_response())
}

fn read_file(call: &Call, held: &mut Hosted) -> Answer {
    let branch = call.query.get("ref").unwrap_or(&held.default_branch);
    let path = call.part("path");
    let content = held.read(path, branch).ok_or(Refusal::NOT_FOUND)?;
    let mut shown = show_file(call, path, &content);
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

fn write_file(call: &Call, held: &mut Hosted) -> Answer {
    let fields = call.fields()?;
    let content: String = fields.text("content")?.split_ascii_whitespace().collect();
    let content = STANDARD.decode(content).map_err(|_| Refusal::NOT_BASE64)?;
    let path = call.part("path");
    let shown = show_file(call, path, &content);
    let change = Change {
        path,
        branch: fields.optional("branch").map(str::to_owned),
        sha: fields.optional("sha"),
        message: fields.text("message")?,
    };
    let (created, commit) = held.write(change, content, call.stand.now())?;
    let status = if created {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let shown = json!({ "content": shown, "commit": { "sha": commit } });
    Ok((status, Json(shown)).into_response())
}

fn runs(call: &Call, held: &mut Hosted) -> Answer {
    let workflow = held.workflow(call.part("workflow"))?.file.clone();
    let below = format!("/actions/workflows/{workflow}/runs");
    Ok(list_runs(call, held, &below, Some(&workflow)))
}

fn all_runs(call: &Call, held: &mut Hosted) -> Response {
    list_runs(call, held, "/actions/runs", None)
}

fn list_runs(call: &Call, held: &mut Hosted, below: &str, workflow: Option<&str>) -> Response {
    held.pass_time(call.stand.now());
    let wanted = |name: &str, found: &str| call.query.get(name).is_none_or(|it| it == found);
    let kept = held.runs.iter().rev().filter(|run| {
        workflow.is_none_or(|workflow| run.workflow == workflow)
            && wanted("branch", &run.head_branch)
            && wanted("event", &run.event)
            && call.query.get("status").is_none_or(|it| run.stands_at(it))
    });
    let found: Vec<Value> = kept.map(|run| show_run(call, run)).collect();
    let (page, total) = (Page::of(&call.query), found.len());
    let links = page.links(&call.api(below), &call.query, total);
    let links = links.map(|links| [(header::LINK, links)]);
    let shown = page.cut(found.into_iter());
    let shown = json!({ "total_count": total, "workflow_runs": shown });
    (links, Json(shown)).into_response()
}

fn one_run(call: &Call, held: &mut Hosted) -> Answer {
    held.pass_time(call.stand.now());
    let id = call.part("run_id").parse::<u64>().ok();
    let run = held.runs.iter().find(|run| Some(run.id) == id);
    let run = run.ok_or(Refusal::NOT_FOUND)?;
    Ok(Json(show_run(call, run)).into_response())
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
    let github = &mut call.stand.lock().state;
    let held = call.open(github, Need::WriteActions)?;
    let id = call.part("run_id").parse();
    let event = held.cancel(id.map_err(|_| Refusal::NOT_FOUND)?, call.stand.now())?;
    github.notify_runners(&[event]);
    Ok((StatusCode::ACCEPTED, Json(json!({}))).into_response())
}

async fn dispatch(call: Call) -> Answer {
    let github = &mut call.stand.lock().state;
    // Without permission to dispatch, the body's mistakes are not reported.
    call.open(github, Need::WriteActions)?;
    let fields = call.fields()?;
    let inputs = fields.0.get("inputs").and_then(Value::as_object);
    let asked = DispatchRequest {
        repository: call.place(),
        workflow: call.part("workflow"),
        git_ref: fields.text("ref")?,
        inputs: inputs.cloned().unwrap_or_default(),
    };
    let run = github.dispatch(call.caller.0.as_ref(), asked, call.stand.now())?;
    if fields.0.get("return_run_details") != Some(&Value::Bool(true)) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let html_url = call.web(&format!("/actions/runs/{}", run.id));
    Ok(Json(json!({ "workflow_run_id": run.id, "html_url": html_url })).into_response())
}

/// The one GraphQL mutation Almanack uses, matched and not parsed: refs deleted together or not at
/// all. Every response is 200; failures are under `errors`.
async fn graphql(call: Call) -> Json<Value> {
    Json(match update_refs(&call, &mut call.stand.lock().state) {
        Ok(()) => json!({ "data": { "updateRefs": { "clientMutationId": null } } }),
        Err((kind, message)) => {
            let error = json!({ "type": kind, "path": ["updateRefs"], "message": message });
            json!({ "data": { "updateRefs": null }, "errors": [error] })
        }
    })
}

fn update_refs(call: &Call, github: &mut GitHub) -> Result<(), (&'static str, String)> {
    let asked: Value = serde_json::from_slice(&call.body).unwrap_or_default();
    let query = asked["query"].as_str().unwrap_or_default();
    let input = &asked["variables"]["input"];
    let deleted = |update: &Value| match &update["afterOid"] {
        oid if oid == NOTHING => update["name"].as_str().map(str::to_owned),
        _ => None,
    };
    let updates = input["refUpdates"].as_array();
    let names: Option<Vec<String>> =
        updates.and_then(|updates| updates.iter().map(deleted).collect());
    let (true, Some(names), Some(node)) = (
        query.contains("updateRefs("),
        names,
        input["repositoryId"].as_str(),
    ) else {
        let message = "mutation not supported by the simulated GitHub";
        return Err(("UNPROCESSABLE", message.to_owned()));
    };
    let digits = node.strip_prefix(NODE_PREFIX).unwrap_or_default();
    let id = u64::from_str_radix(digits, 16).unwrap_or_default();
    let lost = || {
        let message = format!("Could not resolve to a node with the global id of '{node}'.");
        ("NOT_FOUND", message)
    };
    let (owner, name) = github.place_of(id).ok_or_else(lost)?;
    let opened = github.open(call.caller.0.as_ref(), (&owner, &name), Need::WriteContents);
    let held = opened.map_err(|refusal| match refusal.status {
        404 => lost(),
        _ => ("FORBIDDEN", refusal.message.into_owned()),
    })?;
    let done = held.delete_refs(&names);
    done.map_err(|refusal| ("UNPROCESSABLE", refusal.message.into_owned()))
}

/// The fields of a JSON object.
struct Fields(Map<String, Value>);

impl Fields {
    fn optional(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    fn text(&self, name: &str) -> Result<&str, Refusal> {
        self.optional(name).ok_or_else(|| Refusal::missing(name))
    }
}
