//! The register of nodes: their heartbeats and clock skew.

use almanack_core::store::Node;

use crate::prelude::*;

/// Known nodes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NodesView {
    nodes: Vec<NodeView>,
}

/// A running process.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NodeView {
    #[serde(flatten)]
    node: Node,
    /// Time since its last heartbeat. A running node sends one every few seconds; without one for
    /// longer than its lease, its tasks go to other nodes.
    seen_seconds_ago: i64,
}

impl NodeView {
    fn of(node: Node, now: Timestamp) -> Self {
        let ago = now.duration_since(node.seen_at).as_secs();
        Self {
            // Its clock may be slightly ahead of ours; an age is never negative.
            seen_seconds_ago: ago.max(0),
            node,
        }
    }
}

/// List the nodes of the cluster.
#[utoipa::path(
    get, path = "/api/v1/nodes", tag = "nodes",
    responses((status = 200, description = "The nodes, by name", body = NodesView)),
)]
pub(crate) async fn list_nodes(State(state): App) -> Result<Json<NodesView>> {
    let nodes = state.store.load_nodes().await?;
    let now = state.clock.now();
    let nodes = nodes.into_iter().map(|node| NodeView::of(node, now));
    Ok(Json(NodesView {
        nodes: nodes.collect(),
    }))
}
