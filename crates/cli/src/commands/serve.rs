//! `almanack serve`: one node, its API, until it is told to stop.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc};

use almanack_adapters::clock::{ClockSleeper, SteadyClock, SystemClock};
use almanack_core::{
    store::Store,
    time::{Clock, CorrectedClock},
};
use almanack_engine::{
    handlers::Handlers,
    node::{self, Ports},
};
use jiff::Timestamp;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::{
    config::{
        Settings,
        settings::{Log, LogFormat, Node},
    },
    failure::{Exit, Failure},
    output::Output,
    wiring,
};

/// Runs a node until SIGTERM or Ctrl-C.
pub(super) fn run(
    settings: &Settings,
    environment: &BTreeMap<String, String>,
    output: &Output,
) -> Result<Exit, Failure> {
    start_log(&settings.log, output.notes_coloured())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| Failure::new(Exit::Failed, format!("start: {error}")))?;
    runtime.block_on(serve(settings, environment))
}

async fn serve(
    settings: &Settings,
    environment: &BTreeMap<String, String>,
) -> Result<Exit, Failure> {
    let store = wiring::open_store(&settings.database).await?;
    let clock = Arc::new(CorrectedClock::new(local_clock(store.as_ref()).await?));
    let door = check_door(store.as_ref(), settings.server.listen, clock.now()).await?;
    let entropy = wiring::entropy();
    let name = node_name(&settings.node, environment, entropy.next_u64());
    let handler = wiring::callback_handler(settings, clock.clone())?;
    let ports = Ports {
        store,
        sleeper: Arc::new(ClockSleeper::new(clock.clone())),
        clock,
        entropy,
        handlers: Handlers::new(Arc::new(handler)),
    };
    let stop = stop_signal()?;
    let admitted = node::admit(ports, wiring::node_settings(settings, name.clone())).await;
    let node = admitted.map_err(refused)?;
    tracing::info!(node.name = %name, door = ?door, "the node runs");
    node.run(stop).await;
    tracing::info!(node.name = %name, "the node has stopped");
    Ok(Exit::Ok)
}

/// Where the database has a clock of its own, the machine's must not jump underneath the
/// correction; where it has none, the machine's wall clock is the truth, jumps and all.
async fn local_clock(store: &dyn Store) -> Result<Arc<dyn Clock>, Failure> {
    Ok(match store.database_time().await? {
        Some(_) => Arc::new(SteadyClock::start()),
        None => Arc::new(SystemClock),
    })
}

fn refused(error: node::Error) -> Failure {
    match error {
        node::Error::Store(error) => Failure::from(error).during("start node"),
        node::Error::NameTaken { .. } => Failure::new(Exit::Failed, format!("start node: {error}"))
            .hint("set node.name, or leave it out to get one of its own"),
    }
}

/// Told to stop by the process manager or by a person.
fn stop_signal() -> Result<CancellationToken, Failure> {
    let stop = CancellationToken::new();
    for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
        let listened = signal(kind);
        let mut signal = listened
            .map_err(|error| Failure::new(Exit::Failed, format!("listen for signals: {error}")))?;
        let stop = stop.clone();
        tokio::spawn(async move {
            signal.recv().await;
            stop.cancel();
        });
    }
    Ok(stop)
}

/// What the process writes about itself goes to the notes, never between the data.
fn start_log(log: &Log, colour: bool) -> Result<(), Failure> {
    let filter = tracing_subscriber::EnvFilter::try_new(&log.level)
        .map_err(|error| Failure::new(Exit::Usage, format!("log.level: {error}")))?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(colour)
        .with_writer(std::io::stderr);
    let started = match log.format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().try_init(),
    };
    started.map_err(|error| Failure::new(Exit::Failed, format!("start log: {error}")))
}

/// Who may come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    /// Anybody on this machine: nobody has made a token yet.
    Open,
    /// Whoever shows a token.
    Guarded,
}

/// A first try on one's own machine needs no token. Any other address is open to others, and then
/// somebody must have decided who may come in.
async fn check_door(
    store: &dyn Store,
    listen: SocketAddr,
    now: Timestamp,
) -> Result<Door, Failure> {
    let tokens = store.load_tokens().await?;
    if tokens.iter().any(|token| token.is_valid(now)) {
        return Ok(Door::Guarded);
    }
    if listen.ip().is_loopback() {
        return Ok(Door::Open);
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
