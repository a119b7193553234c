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
    /// How far its own clock was from the database's, in microseconds.
    skew_us: i64,
}

impl From<Node> for NodeView {
    fn from(node: Node) -> Self {
        Self {
            name: node.name,
            session: node.session,
            version: node.version,
            started_at: node.started_at,
            seen_at: node.seen_at,
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
    Ok(Json(NodesView {
        nodes: nodes.into_iter().map(NodeView::from).collect(),
    }))
}
