//! `almanack serve`: one node, its API, until it is told to stop.

use std::{collections::BTreeMap, net::SocketAddr};

use almanack_core::store::Store;
use jiff::Timestamp;

use crate::{
    config::{
        Settings,
        settings::{Log, LogFormat, Node},
    },
    failure::{Exit, Failure},
    output::Output,
    wiring,
};

/// Runs a node.
pub(super) fn run(
    settings: &Settings,
    environment: &BTreeMap<String, String>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    start_log(&settings.log)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| Failure::new(Exit::Failed, format!("start: {error}")))?;
    runtime.block_on(serve(settings, environment, output))
}

async fn serve(
    settings: &Settings,
    environment: &BTreeMap<String, String>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let clock = wiring::clock();
    let store = wiring::open_store(&settings.database).await?;
    check_door(store.as_ref(), settings.server.listen, clock.now()).await?;
    let name = node_name(&settings.node, environment, wiring::entropy().next_u64());
    output.note(&format!(
        "{name} would listen at {}\n",
        settings.server.listen
    ));
    Err(Failure::new(Exit::Failed, "serve is not wired yet"))
}

/// What the process writes about itself goes to the notes, never between the data.
fn start_log(log: &Log) -> Result<(), Failure> {
    let filter = tracing_subscriber::EnvFilter::try_new(&log.level)
        .map_err(|error| Failure::new(Exit::Usage, format!("log.level: {error}")))?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    let started = match log.format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().try_init(),
    };
    started.map_err(|error| Failure::new(Exit::Failed, format!("start log: {error}")))
}

/// A first try on one's own machine needs no token. Any other address is open to others, and then
/// somebody must have decided who may come in.
async fn check_door(store: &dyn Store, listen: SocketAddr, now: Timestamp) -> Result<(), Failure> {
    if listen.ip().is_loopback() {
        return Ok(());
    }
    let tokens = store.load_tokens().await?;
    if tokens.iter().any(|token| token.is_valid(now)) {
        return Ok(());
    }
    let what = format!("{listen} can be reached from elsewhere, and no token guards it");
    Err(Failure::new(Exit::Usage, what)
        .hint("`almanack token create NAME --scope admin` makes one, or listen at 127.0.0.1"))
}

/// What this node is called: as configured, or after the machine, with an ending that tells two
/// nodes on one machine apart.
fn node_name(node: &Node, environment: &BTreeMap<String, String>, chance: u64) -> String {
    if let Some(name) = &node.name {
        return name.clone();
    }
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let told = ["HOSTNAME", "COMPUTERNAME"]
        .into_iter()
        .find_map(|name| environment.get(name));
    let host = machine
        .as_deref()
        .or(told.map(String::as_str))
        .unwrap_or("")
        .trim();
    let host = if host.is_empty() { "node" } else { host };
    format!("{host}-{:04x}", chance & 0xffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configured_name_is_taken_as_it_is_and_a_made_up_one_ends_in_chance() {
        let mut node = Node {
            name: Some("news-1".to_owned()),
            slots: 1,
            lease: jiff::SignedDuration::from_secs(30),
            drain: jiff::SignedDuration::ZERO,
        };
        let environment = BTreeMap::new();
        assert_eq!(node_name(&node, &environment, 7), "news-1");
        node.name = None;
        assert!(node_name(&node, &environment, 0xa_beef).ends_with("-beef"));
    }
}
