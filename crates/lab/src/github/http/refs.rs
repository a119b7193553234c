//! `/git/ref`, `/git/matching-refs`, `/git/refs`, and the repository itself.

use axum::{
    Json,
    body::Bytes,
    extract::{Extension, Path, Query, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

use super::{
    Answer, App, Caller,
    body::Fields,
    page::{Page, Parameters},
    view::View,
};
use crate::github::{
    refusal::Refusal,
    state::{Need, refs::Push},
};

pub(super) async fn repository(
    State(app): App,
    Extension(caller): Extension<Caller>,
    Path((owner, repo)): Path<(String, String)>,
) -> Answer {
    let mut inside = app.lock();
    let place = (owner.as_str(), repo.as_str());
    let writes = inside
        .github
        .open(caller.token(), place, Need::WriteContents)
        .is_ok();
    let repository = inside
        .github
        .open(caller.token(), place, Need::ReadContents)?;
    let mut shown = View::of(&app, repository).repository();
    shown["permissions"] = json!({ "pull": true, "push": writes });
    Ok(Json(shown).into_response())
}

pub(super) async fn show(
    State(app): App,
    Extension(caller): Extension<Caller>,
    Path((owner, repo, below)): Path<(String, String, String)>,
) -> Answer {
    let mut inside = app.lock();
    let repository = inside
        .github
        .open(caller.token(), (&owner, &repo), Need::ReadContents)?;
    let name = format!("refs/{below}");
    let sha = repository.find_ref(&name).ok_or(Refusal::NotFound)?;
    let view = View::of(&app, repository);
    Ok(Json(view.git_ref(&name, sha)).into_response())
}

pub(super) async fn matching(
    State(app): App,
    Extension(caller): Extension<Caller>,
    Path((owner, repo, below)): Path<(String, String, String)>,
    Query(parameters): Query<Parameters>,
) -> Answer {
    let mut inside = app.lock();
    let repository = inside
        .github
        .open(caller.token(), (&owner, &repo), Need::ReadContents)?;
    let prefix = format!("refs/{below}");
    let view = View::of(&app, repository);
    let page = Page::of(&parameters);
    let refs = repository.matching_refs(&prefix);
    let shown: Vec<Value> = page
        .cut(refs)
        .into_iter()
        .map(|(name, sha)| view.git_ref(name, sha))
        .collect();
    let total = repository.matching_refs(&prefix).count();
    let url = view.api(&format!(
        "/git/matching-refs/{}",
        super::view::encode(&below)
    ));
    Ok(with_links(
        Json(Value::Array(shown)).into_response(),
        page.links(&url, &parameters, total),
    ))
}

pub(super) async fn create(
    State(app): App,
    Extension(caller): Extension<Caller>,
    Path((owner, repo)): Path<(String, String)>,
    body: Bytes,
) -> Answer {
    let mut inside = app.lock();
    let repository = inside
        .github
        .open(caller.token(), (&owner, &repo), Need::WriteContents)?;
    let fields = Fields::read(&body, &["ref", "sha"])?;
    let name = fields.text("ref")?;
    let sha = repository.create_ref(name, fields.text("sha")?)?;
    let view = View::of(&app, repository);
    let shown = view.git_ref(name, &sha);
    let location = [(
        header::LOCATION,
        shown["url"].as_str().unwrap_or_default().to_owned(),
    )];
    Ok((StatusCode::CREATED, location, Json(shown)).into_response())
}

pub(super) async fn update(
    State(app): App,
    Extension(caller): Extension<Caller>,
    Path((owner, repo, below)): Path<(String, String, String)>,
    body: Bytes,
) -> Answer {
    let mut inside = app.lock();
    let repository = inside
        .github
        .open(caller.token(), (&owner, &repo), Need::WriteContents)?;
    let fields = Fields::read(&body, &["sha"])?;
    let name = format!("refs/{below}");
    let push = if fields.flag("force")? == Some(true) {
        Push::Force
    } else {
        Push::FastForward
    };
    let sha = repository.update_ref(&name, fields.text("sha")?, push)?;
    let view = View::of(&app, repository);
    Ok(Json(view.git_ref(&name, &sha)).into_response())
}

pub(super) async fn delete(
    State(app): App,
    Extension(caller): Extension<Caller>,
    Path((owner, repo, below)): Path<(String, String, String)>,
) -> Answer {
    let mut inside = app.lock();
    let repository = inside
        .github
        .open(caller.token(), (&owner, &repo), Need::WriteContents)?;
    repository.delete_ref(&format!("refs/{below}"))?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Adds the `Link` header where there is one.
pub(super) fn with_links(mut response: Response, links: Option<String>) -> Response {
    if let Some(Ok(value)) = links.map(TryInto::try_into) {
        response.headers_mut().insert(header::LINK, value);
    }
    response
}
