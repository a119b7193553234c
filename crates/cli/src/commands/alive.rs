//! Whether nodes are at work on a database, by their heartbeats.

use almanack_adapters::clock::SystemClock;
use almanack_core::{store::Node, time::Clock as _};
use almanack_store::Location;
use jiff::SignedDuration;

use crate::failure::{Exit, Failure};

/// The nodes that were heard within a lease. One that was killed a moment ago is among them: nobody can tell.
pub(super) async fn alive(
    location: &Location,
    lease: SignedDuration,
) -> Result<Vec<Node>, Failure> {
    let now = SystemClock.now();
    let nodes = almanack_store::registered(location).await?.into_iter();
    let alive = nodes.filter(|node| now.duration_since(node.seen_at) < lease);
    Ok(alive.collect())
}

/// Refuses if there are any.
pub(super) async fn refuse_alive(
    location: &Location,
    lease: SignedDuration,
) -> Result<(), Failure> {
    let alive = alive(location, lease).await?;
    if alive.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = alive
        .iter()
        .map(|node| format!("`{}` (seen at {})", node.name, node.seen_at))
        .collect();
    let what = format!("nodes are at work on this database: {}", names.join(", "));
    let hint = format!("stop them; one that was killed counts as alive for {lease:#}");
    Err(Failure::new(Exit::Failed, what).hint(hint))
}
