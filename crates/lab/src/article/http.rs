//! The service's HTTP API for authors and readers.
//!
//! Errors are `{"code": …, "message": …}`; the code is stable, the message is for people.

use std::sync::Arc;

use axum::{
    Json, Router,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::json;

use super::{
    Service,
    callback::{self, What},
    refusal::Refusal,
    state::ChangeRequest,
    store::{self, Answer, NewArticle},
};
use crate::clock::to_micros;

/// Longest title, in characters.
const TITLE_CHARS_MAX: usize = 200;
/// Longest text, in bytes.
const BODY_BYTES_MAX: usize = 100_000;

/// Shown in a browser.
const WELCOME: &str = include_str!("welcome.txt");

pub(super) type App = State<Arc<Service>>;

pub(super) fn routes(service: Arc<Service>) -> Router {
    let requests = |request: ChangeRequest| {
        post(async move |State(app): App, Path(id): Path<i64>| carry_out(&app, id, request).await)
    };
    let called = |what: What| {
        post(
            async move |State(app): App, headers: HeaderMap, body: Bytes| {
                callback::call(&app, what, &headers, &body).await
            },
        )
    };
    Router::new()
        .route("/", get(|| async { WELCOME }))
        .route("/articles", post(create).get(list))
        .route("/articles/{id}", get(show).patch(reschedule))
        .route("/articles/{id}/submit", requests(ChangeRequest::Submit))
        .route("/articles/{id}/withdraw", requests(ChangeRequest::Withdraw))
        .route("/articles/{id}/review", post(review))
        .route("/outbox", get(outbox))
        .route("/outbox/retry", post(retry_rejected))
        .route("/callbacks/audit", called(What::Audit))
        .route("/callbacks/publish", called(What::Publish))
        .route("/healthz", get(|| async { "ok" }))
        .with_state(service)
}

/// Why a request was refused or failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The article's state does not allow it.
    #[error("{}", .0.message())]
    Refused(Refusal),
    /// The request is invalid.
    #[error("{0}")]
    BadRequest(String),
    /// The signature is not valid.
    #[error(transparent)]
    Untrusted(#[from] crate::webhook::Error),
    /// The database failed; a retry may help.
    #[error("the article service cannot reach its database")]
    Unavailable(#[from] store::Error),
    #[error("injected fault of the article service")]
    Faulted(StatusCode),
}

impl Failure {
    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Refused(refusal) => {
                let status = StatusCode::from_u16(refusal.status());
                (status.unwrap_or(StatusCode::CONFLICT), refusal.code())
            }
            Self::BadRequest(_) => (StatusCode::BAD_REQUEST, "bad_request"),
            Self::Untrusted(_) => (StatusCode::UNAUTHORIZED, "untrusted"),
            Self::Unavailable(_) => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
            Self::Faulted(status) => (*status, "intended_fault"),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        if let Self::Unavailable(error) = &self {
            let cause: &dyn std::error::Error = error;
            tracing::error!(cause, "database failed");
        }
        let (status, code) = self.status_and_code();
        let body = json!({ "code": code, "message": self.to_string() });
        (status, Json(body)).into_response()
    }
}

/// Parses JSON here, so that a mistake gets the usual error response and names its field.
pub(super) fn read<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Failure> {
    let bad = |error: &dyn std::fmt::Display| Failure::BadRequest(error.to_string());
    let mut json = serde_json::Deserializer::from_slice(body);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| bad(&error))?;
    json.end().map_err(|error| bad(&error))?;
    Ok(value)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MoveBody {
    publish_at: Timestamp,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReviewBody {
    passed: bool,
}

async fn create(State(app): App, body: Bytes) -> Result<Response, Failure> {
    let asked: NewArticle = read(&body)?;
    let title_fits = (1..=TITLE_CHARS_MAX).contains(&asked.title.trim().chars().count());
    if !title_fits || asked.body.len() > BODY_BYTES_MAX {
        return Err(Failure::BadRequest(format!(
            "title must have 1 to {TITLE_CHARS_MAX} characters and body at most {BODY_BYTES_MAX} bytes"
        )));
    }
    let publish_at = to_micros(asked.publish_at);
    let new = NewArticle {
        publish_at,
        ..asked
    };
    let article = app.store.create(new, (app.clock)()).await?;
    Ok((StatusCode::CREATED, Json(article)).into_response())
}

async fn reschedule(
    State(app): App,
    Path(id): Path<i64>,
    body: Bytes,
) -> Result<Response, Failure> {
    let MoveBody { publish_at } = read(&body)?;
    let publish_at = to_micros(publish_at);
    carry_out(&app, id, ChangeRequest::Move { publish_at }).await
}

async fn review(State(app): App, Path(id): Path<i64>, body: Bytes) -> Result<Response, Failure> {
    let ReviewBody { passed } = read(&body)?;
    carry_out(&app, id, ChangeRequest::Review { passed }).await
}

async fn carry_out(app: &Service, id: i64, request: ChangeRequest) -> Result<Response, Failure> {
    let (article, _) = settle(app.store.carry_out(id, request, (app.clock)()).await)?;
    Ok(Json(article).into_response())
}

async fn show(State(app): App, Path(id): Path<i64>) -> Result<Response, Failure> {
    let article = app.store.load(id).await?;
    let article = article.ok_or(Failure::Refused(Refusal::Unknown))?;
    Ok(Json(article).into_response())
}

async fn list(State(app): App) -> Result<Response, Failure> {
    Ok(Json(json!({ "articles": app.store.list(store::LIST_MAX).await? })).into_response())
}

async fn outbox(State(app): App) -> Result<Response, Failure> {
    Ok(Json(app.store.outbox().await?).into_response())
}

async fn retry_rejected(State(app): App) -> Result<Response, Failure> {
    let retried = app.store.retry_rejected().await?;
    Ok(Json(json!({ "retried": retried })).into_response())
}

/// Turns the store's answer into a response.
pub(super) fn settle<T>(answer: Answer<T>) -> Result<T, Failure> {
    answer?.map_err(Failure::Refused)
}
