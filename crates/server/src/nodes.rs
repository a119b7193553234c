//! The register of nodes: who shares the work, and how far their clocks are apart.

use almanack_core::store::Node;

use crate::prelude::*;

/// The nodes that were heard of and not forgotten.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NodesView {
    nodes: Vec<NodeView>,
}

/// A running process.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NodeView {
    #[serde(flatten)]
    node: Node,
    /// How long ago it was last heard of. A node that runs is heard of every few seconds; one that was not for
    /// longer than its lease has lost its tasks to others.
    seen_seconds_ago: i64,
}

impl NodeView {
    fn of(node: Node, now: Timestamp) -> Self {
        let ago = now.duration_since(node.seen_at).as_secs();
        Self {
            // Its clock may be ahead of ours by a little; nobody was heard of in the future.
            seen_seconds_ago: ago.max(0),
            node,
        }
    }
}

/// The nodes that share the work.
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
