//! `/actions`: runs, cancelling, dispatching.

use axum::{
    Json,
    body::Bytes,
    extract::{Extension, Path, Query, State},
    http::StatusCode,
    response::IntoResponse,
};
use serde_json::{Value, json};

use super::{
    Answer, App, Caller, Version,
    body::Fields,
    page::{Page, Parameters},
    refs::with_links,
    view::View,
};
use crate::github::{
    refusal::Refusal,
    service::Service,
    state::{Need, actions::Asked, run::RunFilter},
};

/// Filters that GitHub knows and this world does not: better refused than ignored.
const NOT_MODELLED: [&str; 3] = ["actor", "created", "check_suite_id"];

pub(super) async fn runs(
    State(app): App,
    Extension(caller): Extension<Caller>,
    Path((owner, repo)): Path<(String, String)>,
    Query(parameters): Query<Parameters>,
) -> Answer {
    list(&app, &caller, (&owner, &repo), None, &parameters)
}

pub(super) async fn workflow_runs(
    State(app): App,
    Extension(caller): Extension<Caller>,
    Path((owner, repo, workflow)): Path<(String, String, String)>,
    Query(parameters): Query<Parameters>,
) -> Answer {
    list(&app, &caller, (&owner, &repo), Some(workflow), &parameters)
}

fn list(
    app: &Service,
    caller: &Caller,
    place: (&str, &str),
    workflow: Option<String>,
    parameters: &Parameters,
) -> Answer {
    let mut inside = app.lock();
    let repository = inside
        .github
        .open(caller.token(), place, Need::ReadActions)?;
    let below = match &workflow {
        Some(workflow) => format!("/actions/workflows/{workflow}/runs"),
        None => "/actions/runs".to_owned(),
    };
    let filter = filter(workflow, parameters)?;
    let found = repository.runs(&filter)?;
    let view = View::of(app, repository);
    let (page, total) = (Page::of(parameters), found.len());
    let shown = page.cut(found.into_iter());
    let shown: Vec<Value> = shown.into_iter().map(|run| view.run(run)).collect();
    Ok(with_links(
        Json(json!({ "total_count": total, "workflow_runs": shown })).into_response(),
        page.links(&view.api(&below), parameters, total),
    ))
}

fn filter(workflow: Option<String>, parameters: &Parameters) -> Result<RunFilter, Refusal> {
    if NOT_MODELLED
        .iter()
        .any(|name| parameters.contains_key(*name))
    {
        return Err(Refusal::NotModelled(
            "the simulated GitHub does not filter runs by actor, created or check_suite_id",
        ));
    }
    let named = |name: &str| parameters.get(name).cloned();
    Ok(RunFilter {
        workflow,
        status: named("status"),
        branch: named("branch"),
        event: named("event"),
        head_sha: named("head_sha"),
    })
}

pub(super) async fn run(
    State(app): App,
    Extension(caller): Extension<Caller>,
    Path((owner, repo, id)): Path<(String, String, String)>,
) -> Answer {
    let mut inside = app.lock();
    let repository = inside
        .github
        .open(caller.token(), (&owner, &repo), Need::ReadActions)?;
    let view = View::of(&app, repository);
    Ok(Json(view.run(repository.run(number(&id)?)?)).into_response())
}

pub(super) async fn cancel(
    State(app): App,
    Extension(caller): Extension<Caller>,
    Path((owner, repo, id)): Path<(String, String, String)>,
) -> Answer {
    let now = app.now();
    let mut inside = app.lock();
    let repository = inside
        .github
        .open(caller.token(), (&owner, &repo), Need::WriteActions)?;
    let event = repository.cancel(number(&id)?, now)?;
    inside.tell_runners(&[event]);
    Ok((StatusCode::ACCEPTED, Json(json!({}))).into_response())
}

pub(super) async fn dispatch(
    State(app): App,
    Extension(caller): Extension<Caller>,
    Path((owner, repo, workflow)): Path<(String, String, String)>,
    body: Bytes,
) -> Answer {
    let now = app.now();
    let mut inside = app.lock();
    // Who may not dispatch here learns nothing from the body's mistakes.
    inside
        .github
        .open(caller.token(), (&owner, &repo), Need::WriteActions)?;
    let fields = Fields::read(&body, &["ref"])?;
    fields.permit(&["ref", "inputs", "return_run_details"])?;
    let asked = Asked {
        repository: (&owner, &repo),
        workflow: &workflow,
        git_ref: fields.text("ref")?,
        inputs: &fields.object("inputs")?,
    };
    let wants_run = fields.flag("return_run_details")?;
    let (run, events) = inside.github.dispatch(caller.token(), asked, now)?;
    inside.tell_runners(&events);
    if !wants_run.unwrap_or(caller.version == Version::Of2026) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let repository = inside.github.repository(&owner, &repo);
    let view = View::of(&app, repository.ok_or(Refusal::NotFound)?);
    let shown = view.run(&run);
    let details = json!({
        "workflow_run_id": run.id,
        "run_url": shown["url"],
        "html_url": shown["html_url"],
    });
    Ok(Json(details).into_response())
}

fn number(text: &str) -> Result<u64, Refusal> {
    text.parse().map_err(|_| Refusal::NotFound)
}
