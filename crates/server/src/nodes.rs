//! The register of nodes: who shares the work, and how far their clocks are apart.

use std::sync::Arc;

use almanack_core::store::Node;
use axum::{Json, extract::State};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{AppState, problem::Problem};

/// The nodes that were heard of and not forgotten.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NodesView {
    nodes: Vec<NodeView>,
}

/// A running process.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NodeView {
    /// What people call it.
    name: String,
    /// Which run of it.
    session: String,
    /// Which version it runs.
    version: String,
    /// When it started.
    #[schema(value_type = String, format = DateTime)]
    started_at: Timestamp,
    /// When it was last heard of.
    #[schema(value_type = String, format = DateTime)]
    seen_at: Timestamp,
    /// How long ago that was. A node that runs is heard of every few seconds; one that was not for
    /// longer than its lease has lost its tasks to others.
    seen_seconds_ago: i64,
    /// How far its own clock was from the database's, in microseconds.
    skew_us: i64,
}

impl NodeView {
    fn of(node: Node, now: Timestamp) -> Self {
        let ago = now.duration_since(node.seen_at).as_secs();
        Self {
            name: node.name,
            session: node.session,
            version: node.version,
            started_at: node.started_at,
            seen_at: node.seen_at,
            // Its clock may be ahead of ours by a little; nobody was heard of in the future.
            seen_seconds_ago: ago.max(0),
            skew_us: node.skew_us,
        }
    }
}

/// The nodes that share the work.
#[utoipa::path(
    get,
    path = "/api/v1/nodes",
    tag = "nodes",
    responses((status = 200, description = "The nodes, by name", body = NodesView)),
    security(("token" = ["read"])),
)]
pub(crate) async fn list_nodes(
    State(state): State<Arc<AppState>>,
) -> Result<Json<NodesView>, Problem> {
    let nodes = state.store.load_nodes().await?;
    let now = state.clock.now();
    let nodes = nodes.into_iter().map(|node| NodeView::of(node, now));
    Ok(Json(NodesView {
        nodes: nodes.collect(),
    }))
}
