//! Liveness and readiness are two questions: an orchestrator that confused them would restart every
//! node because the database is away.
//!
//! A node is ready while its database answers, its heartbeat (a real write) was committed recently,
//! and it is not stopping. Other failures are listed but do not make it unready: other nodes read
//! the message bus, and a backup can run later.

use almanack_core::both;
use almanack_engine::health::Readiness;

use crate::prelude::*;

/// State of the process.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HealthView {
    /// `ok` for liveness; `ready`, or `degraded` if something other than the database fails.
    status: &'static str,
    /// The running version.
    version: &'static str,
    /// Name of the node that answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    node: Option<String>,
    /// What fails: a disconnected message bus (`kafka`, `nats`), `disk` if space is low, `backup`
    /// if the last backup failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    degraded: Vec<String>,
}

/// Check that the process is up. Does not check the database.
#[utoipa::path(
    get, path = "/healthz", tag = "health",
    responses((status = 200, description = "Up", body = HealthView)),
)]
pub(crate) async fn healthz(State(state): App) -> Json<HealthView> {
    Json(HealthView {
        status: "ok",
        version: state.version,
        node: state.node.clone(),
        degraded: Vec::new(),
    })
}

/// Check that the node can work: its database answers and accepts writes, and it is not stopping.
#[utoipa::path(
    get, path = "/readyz", tag = "health",
    responses(
        (status = 200, description = "Ready", body = HealthView),
        (status = 503, description = "The database does not answer or refuses writes, or the node is stopping", body = Problem, content_type = "application/problem+json"),
    ),
)]
pub(crate) async fn readyz(State(state): App) -> Result<Json<HealthView>> {
    let degraded = match state.health.readiness(state.clock.now()) {
        Readiness::Ready { degraded } => degraded,
        Readiness::NotWriting { since } => {
            let detail = both!(
                "no write to the database has succeeded since {since}",
                "自 {since} 起，数据库没有成功写入过"
            );
            return Err(Problem::new(Code::DatabaseUnwritable, detail));
        }
        Readiness::Leaving => {
            let detail = both!(
                "this node is stopping; use another node",
                "本节点正在停止；请使用其他节点"
            );
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
        node: state.node.clone(),
        degraded,
    }))
}
