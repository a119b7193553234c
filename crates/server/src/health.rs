//! Is the process up, and can it work? Two questions with two answers: an orchestrator that took
//! the second for the first would restart every node because the database is away.
//!
//! A node is ready while its database answers and its heartbeat, a real write, was committed a moment ago; and until it is
//! told to stop. What does not work beside that is named, and no reason to send nobody: a message bus is read by the other
//! nodes, a backup is made later.

use almanack_engine::health::Readiness;

use crate::prelude::*;

/// How the process is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HealthView {
    /// `ok`; or `ready`, or `degraded` where something beside the database does not work.
    status: &'static str,
    /// The version that runs.
    version: &'static str,
    /// What does not work: a message bus (`kafka`, `nats`) that is not connected, `disk` if little space is left, `backup` if the last one failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    degraded: Vec<String>,
}

/// The process is up. Says nothing about the database.
#[utoipa::path(
    get, path = "/healthz", tag = "health",
    responses((status = 200, description = "Up", body = HealthView)),
)]
pub(crate) async fn healthz(State(state): App) -> Json<HealthView> {
    Json(HealthView {
        status: "ok",
        version: state.version,
        degraded: Vec::new(),
    })
}

/// The node can work: its database answers, its writes are committed, and it is not about to stop.
#[utoipa::path(
    get, path = "/readyz", tag = "health",
    responses(
        (status = 200, description = "Ready", body = HealthView),
        (status = 503, description = "The database does not answer or does not take writes, or the node was told to stop", body = Problem, content_type = "application/problem+json"),
    ),
)]
pub(crate) async fn readyz(State(state): App) -> Result<Json<HealthView>> {
    let degraded = match state.health.readiness(state.clock.now()) {
        Readiness::Ready { degraded } => degraded,
        Readiness::NotWriting { since } => {
            let detail = format!("nothing was written to the database since {since}");
            return Err(Problem::new(Code::DatabaseUnwritable, detail));
        }
        Readiness::Leaving => {
            let detail = "this node was told to stop; ask another one";
            return Err(Problem::new(Code::ShuttingDown, detail));
        }
    };
    state.changes.ping().await?;
    Ok(Json(HealthView {
        status: if degraded.is_empty() {
            "ready"
        } else {
            "degraded"
        },
        version: state.version,
        degraded,
    }))
}
