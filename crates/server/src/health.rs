//! Is the process up, and can it work? Two questions with two answers: an orchestrator that took
//! the second for the first would restart every node because the database is away.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{AppState, problem::Problem};

/// How the process is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HealthView {
    /// `ok` or `ready`.
    status: &'static str,
    /// The version that runs.
    version: &'static str,
}

/// The process is up. Says nothing about the database.
#[utoipa::path(
    get,
    path = "/healthz",
    tag = "health",
    responses((status = 200, description = "Up", body = HealthView)),
)]
pub(crate) async fn healthz(State(state): State<Arc<AppState>>) -> Json<HealthView> {
    Json(HealthView {
        status: "ok",
        version: state.version,
    })
}

/// The node can work: its database answers.
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "health",
    responses(
        (status = 200, description = "Ready", body = HealthView),
        (status = 503, description = "The database does not answer", body = Problem, content_type = "application/problem+json"),
    ),
)]
pub(crate) async fn readyz(
    State(state): State<Arc<AppState>>,
) -> Result<Json<HealthView>, Problem> {
    state.store.ping().await?;
    Ok(Json(HealthView {
        status: "ready",
        version: state.version,
    }))
}
