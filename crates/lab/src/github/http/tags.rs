//! `/git/tags`: annotated tag objects.

use axum::{
    Json,
    body::Bytes,
    extract::{Extension, Path, State},
    http::StatusCode,
    response::IntoResponse,
};
use serde_json::json;

use super::{Answer, App, Caller, body::Fields, view::View};
use crate::github::{
    refusal::Refusal,
    state::{Need, object::Oid, tag::Tag},
};

/// Makes a tag object, without a reference to it.
pub(super) async fn create(
    State(app): App,
    Extension(caller): Extension<Caller>,
    Path((owner, repo)): Path<(String, String)>,
    body: Bytes,
) -> Answer {
    let now = app.now();
    let mut inside = app.lock();
    let repository = inside
        .github
        .open(caller.token(), (&owner, &repo), Need::WriteContents)?;
    let fields = Fields::read(&body, &["tag", "message", "object", "type"])?;
    let object = Oid::parse(fields.text("object")?).ok_or(Refusal::BadSha)?;
    let (name, message) = (fields.text("tag")?, fields.text("message")?);
    let sha = repository.create_tag(Tag {
        name: name.to_owned(),
        message: message.to_owned(),
        object: object.clone(),
        at: now,
    })?;
    let view = View::of(&app, repository);
    let shown = json!({
        "sha": sha,
        "tag": name,
        "message": message,
        "url": view.api(&format!("/git/tags/{sha}")),
        "object": {
            "type": fields.text("type")?,
            "sha": object,
            "url": view.api(&format!("/git/commits/{object}")),
        },
    });
    Ok((StatusCode::CREATED, Json(shown)).into_response())
}
