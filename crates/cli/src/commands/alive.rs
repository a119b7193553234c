//! Whether nodes are running on a database, by their heartbeats.
//!
//! Heartbeats use the database's clock where it has one, so their age is measured by that clock:
//! this machine's may be hours off. On SQLite a node keeps the time it trusts when the machine's
//! clock is set, so there the time of the node that holds the file counts.

use almanack_adapters::clock::SystemClock;
use almanack_core::{store::Node, time::Clock as _};
use almanack_store::Location;

use crate::commands::prelude::*;

/// What a database knows of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    Alive,
    /// Its last heartbeat is older than a lease.
    Silent,
    No,
}

/// What the database knows of the node with this name.
pub(super) async fn known(location: &Location, lease: SignedDuration, name: &str) -> Result<Known> {
    let is_named = |nodes: &[Node]| nodes.iter().any(|node| node.name == name);
    if is_named(&alive(location, lease).await?) {
        return Ok(Known::Alive);
    }
    let register = almanack_store::registered(location).await?;
    Ok(if is_named(&register.nodes) {
        Known::Silent
    } else {
        Known::No
    })
}

/// The nodes with a heartbeat within a lease. This includes a node that was killed a moment ago.
pub(super) async fn alive(location: &Location, lease: SignedDuration) -> Result<Vec<Node>> {
    let register = almanack_store::registered(location).await?;
    let newest = register.nodes.iter().map(|node| node.seen_at).max();
    // The node that holds the file is alive, and its last heartbeat shows its clock.
    let held = newest.filter(|_| almanack_store::has_node(location));
    let now = register.now.or(held);
    let now = now.unwrap_or_else(|| SystemClock.now());
    Ok(heard(register.nodes, now, lease))
}

/// Those with a heartbeat less than a lease ago. One in the future counts, too: clocks differ.
fn heard(nodes: Vec<Node>, now: Timestamp, lease: SignedDuration) -> Vec<Node> {
    let within = |node: &Node| now.duration_since(node.seen_at) < lease;
    nodes.into_iter().filter(within).collect()
}

/// Refuses if there are any.
pub(super) async fn refuse_alive(location: &Location, lease: SignedDuration) -> Result<()> {
    let alive = alive(location, lease).await?;
    if alive.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = alive
        .iter()
        .map(|node| format!("`{}` (seen at {})", node.name, node.seen_at))
        .collect();
    let what = format!("nodes are running on this database: {}", names.join(", "));
    let hint = format!("stop them; a killed node counts as running for {lease:#}");
    Err(Failure::failed(what).hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_lives_for_a_lease_by_the_clock_that_it_beats_by() {
        let beat: Timestamp = "2026-01-05T12:00:00Z".parse().unwrap();
        let lease = SignedDuration::from_secs(30);
        for (later, lives, why) in [
            (0, true, "just now"),
            (29, true, "within its lease"),
            (30, false, "the lease is over"),
            (
                3_600,
                false,
                "long ago; or a machine's clock that is an hour ahead",
            ),
            (-3_600, true, "in the future, by whichever clock"),
        ] {
            let node = Node {
                name: "a".to_owned(),
                session: "s".to_owned(),
                version: "1".to_owned(),
                started_at: beat,
                seen_at: beat,
                skew_us: 0,
            };
            let now = beat + SignedDuration::from_secs(later);
            assert_eq!(heard(vec![node], now, lease).len() == 1, lives, "{why}");
        }
    }
}
