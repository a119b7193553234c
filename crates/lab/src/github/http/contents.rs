//! `/contents`: files, read and written one by one.

use axum::{
    Json,
    body::Bytes,
    extract::{Extension, Path, Query, State},
    http::{HeaderMap, StatusCode, header},
    response::IntoResponse,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{Answer, App, Caller, body::Fields, page::Parameters, view::View};
use crate::github::{
    refusal::Refusal,
    service::Service,
    state::{
        Need,
        contents::{Change, Entry, Found},
    },
};

/// The media types that ask for a file as it is.
const RAW: [&str; 2] = [
    "application/vnd.github.raw+json",
    "application/vnd.github.raw",
];

pub(super) async fn read_root(
    State(app): App,
    Extension(caller): Extension<Caller>,
    Path((owner, repo)): Path<(String, String)>,
    Query(parameters): Query<Parameters>,
    headers: HeaderMap,
) -> Answer {
    let asked = (owner.as_str(), repo.as_str(), "");
    look(&app, &caller, asked, &parameters, &headers)
}

pub(super) async fn read(
    State(app): App,
    Extension(caller): Extension<Caller>,
    Path((owner, repo, path)): Path<(String, String, String)>,
    Query(parameters): Query<Parameters>,
    headers: HeaderMap,
) -> Answer {
    let asked = (owner.as_str(), repo.as_str(), path.trim_end_matches('/'));
    look(&app, &caller, asked, &parameters, &headers)
}

fn look(
    app: &Service,
    caller: &Caller,
    (owner, repo, path): (&str, &str, &str),
    parameters: &Parameters,
    headers: &HeaderMap,
) -> Answer {
    let mut inside = app.lock();
    let repository = inside
        .github
        .open(caller.token(), (owner, repo), Need::ReadContents)?;
    let found = repository.read(path, parameters.get("ref").map(String::as_str))?;
    let view = View::of(app, repository);
    Ok(match found {
        Found::File { content, .. } if wants_raw(headers) => {
            let kind = [(
                header::CONTENT_TYPE,
                "application/vnd.github.raw+json; charset=utf-8",
            )];
            (kind, content.to_vec()).into_response()
        }
        Found::File { sha, content } => Json(view.file(path, &sha, &content)).into_response(),
        Found::Folder(entries) => {
            let shown: Vec<Value> = entries.iter().map(|entry| view.entry(entry)).collect();
            Json(Value::Array(shown)).into_response()
        }
    })
}

fn wants_raw(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT);
    let accept = accept.and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.split(',').any(|kind| RAW.contains(&kind.trim())))
}

pub(super) async fn write(
    State(app): App,
    Extension(caller): Extension<Caller>,
    Path((owner, repo, path)): Path<(String, String, String)>,
    body: Bytes,
) -> Answer {
    let now = app.now();
    let mut inside = app.lock();
    let repository = inside
        .github
        .open(caller.token(), (&owner, &repo), Need::WriteContents)?;
    let fields = Fields::read(&body, &["content", "message"])?;
    let content = decode(fields.text("content")?)?;
    let size = content.len();
    let written = repository.write(change(&path, &fields)?, content, now)?;
    let view = View::of(&app, repository);
    let entry = Entry {
        path,
        sha: written.file,
        size: Some(size),
    };
    let commit = repository.find_commit(&written.commit);
    let commit = commit.map(|commit| view.commit(&written.commit, commit));
    let shown = json!({ "content": view.entry(&entry), "commit": commit });
    let status = if written.created {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok((status, Json(shown)).into_response())
}

pub(super) async fn remove(
    State(app): App,
    Extension(caller): Extension<Caller>,
    Path((owner, repo, path)): Path<(String, String, String)>,
    body: Bytes,
) -> Answer {
    let now = app.now();
    let mut inside = app.lock();
    let repository = inside
        .github
        .open(caller.token(), (&owner, &repo), Need::WriteContents)?;
    let fields = Fields::read(&body, &["message", "sha"])?;
    let sha = repository.remove(change(&path, &fields)?, now)?;
    let view = View::of(&app, repository);
    let commit = repository.find_commit(&sha);
    let commit = commit.map(|commit| view.commit(&sha, commit));
    Ok(Json(json!({ "content": null, "commit": commit })).into_response())
}

fn change<'a>(path: &'a str, fields: &'a Fields) -> Result<Change<'a>, Refusal> {
    Ok(Change {
        path,
        branch: fields.optional_text("branch")?,
        sha: fields.optional_text("sha")?,
        message: fields.text("message")?,
    })
}

/// Line breaks are allowed, as in what GitHub sends.
fn decode(text: &str) -> Result<Vec<u8>, Refusal> {
    let joined: String = text.split_ascii_whitespace().collect();
    STANDARD.decode(joined).map_err(|_| Refusal::NotBase64)
}
