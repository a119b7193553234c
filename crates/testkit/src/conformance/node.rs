//! The register of nodes.

use std::sync::Arc;

use almanack_core::store::{Node, Store};

use crate::fixture::{at, node};

/// One row per run, as of its last heartbeat.
pub async fn a_heartbeat_registers_and_then_refreshes(store: Arc<dyn Store>) {
    assert_eq!(store.load_nodes().await.unwrap(), []);
    let first = node("node-a", "session-a");
    store.save_node(&first).await.unwrap();
    assert_eq!(
        store.load_nodes().await.unwrap(),
        std::slice::from_ref(&first)
    );
    let later = Node {
        seen_at: at(5),
        skew_us: -1_500_000,
        ..first
    };
    store.save_node(&later).await.unwrap();
    assert_eq!(store.load_nodes().await.unwrap(), [later]);
}

/// A restarted node, or two nodes that were given one name: both are seen. Listed by name.
pub async fn two_runs_of_one_name_are_two_nodes(store: Arc<dyn Store>) {
    for (name, session) in [("node-b", "s-3"), ("node-a", "s-1"), ("node-a", "s-2")] {
        store.save_node(&node(name, session)).await.unwrap();
    }
    let nodes = store.load_nodes().await.unwrap();
    let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["node-a", "node-a", "node-b"]);
}

/// Only that run; forgetting twice is harmless.
pub async fn a_forgotten_run_is_gone(store: Arc<dyn Store>) {
    store.save_node(&node("node-a", "s-1")).await.unwrap();
    store.save_node(&node("node-a", "s-2")).await.unwrap();
    for _ in 0..2 {
        store.forget_node("s-1").await.unwrap();
        assert_eq!(store.load_nodes().await.unwrap(), [node("node-a", "s-2")]);
    }
}
