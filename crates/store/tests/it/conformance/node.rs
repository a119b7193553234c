//! The register of nodes.

use std::sync::Arc;

use almanack_core::{
    alert::{
        Rule,
        trouble::{NodeTroubles, Trouble},
    },
    clock::Mark,
    store::{Node, Store},
};
use almanack_testkit::fixture::{at, node};
use jiff::SignedDuration;

/// One row per run, as of its last heartbeat.
pub(crate) async fn a_heartbeat_registers_and_then_refreshes(store: Arc<dyn Store>) {
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
pub(crate) async fn two_runs_of_one_name_are_two_nodes(store: Arc<dyn Store>) {
    for (name, session) in [("node-b", "s-3"), ("node-a", "s-1"), ("node-a", "s-2")] {
        store.save_node(&node(name, session)).await.unwrap();
    }
    let nodes = store.load_nodes().await.unwrap();
    let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["node-a", "node-a", "node-b"]);
}

/// Only that run; forgetting twice is harmless.
pub(crate) async fn a_forgotten_run_is_gone(store: Arc<dyn Store>) {
    store.save_node(&node("node-a", "s-1")).await.unwrap();
    store.save_node(&node("node-a", "s-2")).await.unwrap();
    for _ in 0..2 {
        store.forget_node("s-1").await.unwrap();
        assert_eq!(store.load_nodes().await.unwrap(), [node("node-a", "s-2")]);
    }
}

/// The newest word counts, and is gone with the run that said it.
pub(crate) async fn a_node_s_troubles_are_those_it_said_last(store: Arc<dyn Store>) {
    let (one, other) = (node("node-a", "s-1"), node("node-b", "s-2"));
    let trouble = |rule| Trouble {
        rule,
        since: at(1),
        detail: "no answer".to_owned(),
    };
    for run in [&other, &one] {
        store.save_node(run).await.unwrap();
        let troubles = [trouble(Rule::Disk), trouble(Rule::Disconnected)];
        store.save_troubles(&run.session, &troubles).await.unwrap();
    }
    let backup = [trouble(Rule::Backup)];
    store.save_troubles("s-1", &backup).await.unwrap();
    let said = |run: &Node, troubles: &[Trouble]| NodeTroubles {
        node: run.name.clone(),
        seen_at: run.seen_at,
        troubles: troubles.to_vec(),
    };
    let both = [
        said(&one, &backup),
        said(&other, &[trouble(Rule::Disk), trouble(Rule::Disconnected)]),
    ];
    assert_eq!(store.load_troubles().await.unwrap(), both);
    store.forget_node("s-2").await.unwrap();
    assert_eq!(store.load_troubles().await.unwrap(), both[..1]);
    store.save_troubles("s-1", &[]).await.unwrap();
    assert_eq!(store.load_troubles().await.unwrap(), []);
}

/// To watch how it grows.
pub(crate) async fn a_store_knows_how_large_it_is(store: Arc<dyn Store>) {
    assert!(store.size_bytes().await.unwrap().is_some_and(|it| it > 0));
}

/// A node that has not heard of it yet does not undo what a person accepted.
pub(crate) async fn dp_24_the_time_is_remembered_and_an_accepted_one_is_not_undone(
    store: Arc<dyn Store>,
) {
    assert_eq!(store.load_clock().await.unwrap(), None);
    let mark = |second: i64, revision| Mark {
        at: at(second),
        uptime: SignedDuration::from_micros(second * 1_000_000 + 1),
        boot: "e77b262a".to_owned(),
        revision,
    };
    let accepted = mark(5, 1);
    for (next, saved) in [
        (mark(0, 0), true),
        (mark(10, 0), true),
        (accepted.clone(), true),
        (mark(20, 0), false),
    ] {
        assert_eq!(store.save_clock(&next).await.unwrap(), saved, "{next:?}");
    }
    assert_eq!(store.load_clock().await.unwrap(), Some(accepted));
    assert!(
        store.save_clock(&mark(30, 1)).await.unwrap(),
        "it has heard"
    );
}
