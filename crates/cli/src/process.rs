//! A node and its HTTP API, started and stopped as one.

mod metrics;

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc, time::Duration};

use almanack_adapters::clock::pause;
use almanack_core::{store::Store, time::Clock, token::Token};
#[cfg(feature = "lab")]
use almanack_engine::sources::Sources;
use almanack_engine::{
    node::{self, AdmittedNode},
    watchdog::Watchdog,
};
use almanack_server::{
    AppState, Limits,
    access::Access,
    serve::{Connections, serve},
};
use almanack_store::{Handles, sqlite::NodeLock};
use jiff::Timestamp;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::{
    net::TcpListener,
    signal::unix::{Signal, SignalKind, signal},
};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::{
    config::{
        Inputs, Settings,
        settings::{Node, Server},
    },
    failure::{Failure, Result},
    log::LogLevel,
    reload::{Files, InForce, Reload},
    telemetry::Telemetry,
    wiring::{self, Buses, Equipment, Ground, Time, Timing, opml::Lists},
};

/// How long requests may still take once the node has drained. Without a bound, a client that opens
/// a request and never finishes it would keep the process from ending.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// A process that is ready to work.
pub(crate) struct Process {
    /// The node's name.
    pub(crate) node_name: String,
    /// The address of the API.
    pub(crate) address: SocketAddr,
    /// Who may sign in, in words.
    pub(crate) answers: &'static str,
    node: AdmittedNode,
    buses: Buses,
    reload: Reload,
    timing: Timing,
    leaving: CancellationToken,
    listener: TcpListener,
    app: axum::Router,
    metrics: PrometheusHandle,
    telemetry: Telemetry,
    /// Held as long as the node works.
    node_lock: Option<NodeLock>,
}

/// Opens the database, admits the node, takes the address and reads the schedules.
pub(crate) async fn start(
    settings: &Settings,
    inputs: &Inputs,
    time: &Time,
    log: Option<LogLevel>,
) -> Result<Process> {
    Box::pin(start_on(None, settings, inputs, time, log)).await
}

/// The same, with an address that is taken already.
#[expect(
    clippy::too_many_lines,
    reason = "a flat list of what a process consists of"
)]
pub(crate) async fn start_on(
    taken: Option<(TcpListener, SocketAddr)>,
    settings: &Settings,
    inputs: &Inputs,
    time: &Time,
    log: Option<LogLevel>,
) -> Result<Process> {
    let stores = open_store(settings).await?;
    let store = stores.work.as_ref();
    let node_lock = wiring::lock_node(&settings.database)?;
    let timing = Timing::of(time, store).await?;
    let (clock, environment) = (timing.clock.clone(), &inputs.environment);
    let access = choose_access(store, settings).await?;
    let answers = whom(&access, store, clock.now()).await?;
    let (listener, address) = match taken {
        Some(taken) => taken,
        None => listen(settings.server.listen).await?,
    };
    let node_name = node_name(&settings.node, environment, wiring::entropy().next_u64());
    // Before the node is admitted, which counts already.
    let metrics = metrics::install(timing.counted, settings)?;
    let outbound = wiring::Outbound::new(settings)?;
    let around = (&outbound, &timing);
    let (equipment, telemetry) = equip(settings, environment, &stores, around, &node_name)?;
    let mut node = admit_watched(&equipment, settings, &node_name, around).await?;
    // Only now the clock is right.
    let subscriptions = equipment.subscriptions();
    let schedules = wiring::schedules(
        stores.changes.clone(),
        clock.clone(),
        outbound.reach(),
        subscriptions.clone(),
    );
    let in_force = InForce::new(settings, inputs);
    let calendars = wiring::calendars(&stores.changes, &clock, &schedules, &outbound);
    node.calendars = Some(calendars.clone());
    node.inbox = wiring::inbox(settings, &stores.changes, equipment.rescheduler(), &clock);
    let defined = (
        schedules.clone(),
        equipment.sources().sources.clone(),
        calendars,
    );
    let mut files = Files::new(inputs.clone(), defined, outbound);
    Box::pin(files.sync(settings)).await?;
    let passes = wiring::ticker(stores.changes.clone(), &timing, node.counters());
    let passes = passes.reporting_to(subscriptions);
    let leaving = CancellationToken::new();
    let app = almanack_server::app(Arc::new(AppState {
        rescheduler: equipment.rescheduler(),
        schedules,
        sources: equipment.sources().sources.clone(),
        publishers: equipment.publishers(settings),
        opml: Arc::new(Lists(clock.clone())),
        subscriptions: in_force.subscriptions(),
        watching: Some(equipment.watching()),
        editions: equipment.editions(),
        newsletters: wiring::editions::newsletter::newsletters(
            settings,
            &stores.changes,
            (clock.clone(), timing.sleeper.clone()),
        )?,
        public_editions: settings.editions.are_public(),
        status_page: wiring::status_page(settings),
        reader_pages: wiring::editions::reader_pages(settings)?,
        work: Some(equipment.work()),
        tick: equipment.tick(passes),
        reporting: equipment.reporting(),
        store: stores.pages,
        changes: stores.changes,
        clock: clock.clone(),
        health: node.health(),
        access,
        page_hosts: page_hosts(&settings.server),
        public_url: wiring::public_url(settings),
        trusted_proxies: settings.server.trusted_proxies.clone(),
        passwords: wiring::passwords(),
        leaving: leaving.clone(),
        speed: timing.speed.times(),
        sleeper: timing.sleeper.clone(),
        entropy: wiring::entropy(),
        limits: limits(settings),
        configuration: in_force.shown(),
        metrics: metrics.clone(),
        about: wiring::about(settings),
        node: Some(node_name.clone()),
        version: env!("CARGO_PKG_VERSION"),
    }));
    Ok(Process {
        node_name,
        address,
        answers,
        buses: Buses::of(settings, (equipment.rescheduler(), node.health()), &timing),
        node,
        reload: Reload {
            files,
            in_force,
            equipment,
            log,
        },
        timing,
        leaving,
        listener,
        app,
        metrics,
        telemetry,
        node_lock,
    })
}

/// The hosts that pages answer to: if they are limited, the public address is one of them.
fn page_hosts(server: &Server) -> Vec<String> {
    let mut hosts = server.allowed_hosts.clone();
    let public = server.public_url.as_ref().and_then(Url::host_str);
    if !hosts.is_empty() {
        hosts.extend(public.map(str::to_owned));
    }
    hosts
}

/// What the node is made with.
fn equip(
    settings: &Settings,
    environment: &BTreeMap<String, String>,
    stores: &Handles,
    (outbound, timing): (&wiring::Outbound, &Timing),
    node: &str,
) -> Result<(Equipment, Telemetry)> {
    Equipment::new(Ground {
        settings,
        environment,
        outbound,
        store: &stores.work,
        changes: &stores.changes,
        pages: &stores.pages,
        timing,
        node,
        paper: Box::new(std::io::stdout()),
    })
}

/// Admits a node with all its duties.
async fn admit_watched(
    equipment: &Equipment,
    settings: &Settings,
    name: &str,
    (outbound, timing): (&wiring::Outbound, &Timing),
) -> Result<AdmittedNode> {
    let mut node = admit(equipment, settings, name.to_owned()).await?;
    let sources = equipment.sources();
    sources.hear().await?;
    let clock: Arc<dyn Clock> = timing.clock.clone();
    node.sources = Some(sources.keeper());
    node.keep.stories = wiring::stories_kept(settings);
    node.keep.run_logs = wiring::run_logs_kept(settings);
    node.backups = wiring::backups(settings, &clock);
    node.watch = Some(equipment.watch());
    node.heartbeat = wiring::alerts::heartbeat(settings, outbound, &clock);
    Ok(node)
}

/// How long after a stop request there is nothing left to wait for: attempts had their drain, and
/// results that a hanging database did not take have passed on with their leases. Both pass by the
/// node's clock, however fast it runs.
fn leave_within(settings: &Settings, timing: &Timing) -> Duration {
    let shown = settings.node.drain + settings.node.lease + settings.server.shutdown_delay;
    timing.real(shown).saturating_add(LAST_ANSWERS)
}

/// Without a database there are no users, and a refusal must not leave a database behind.
async fn open_store(settings: &Settings) -> Result<Handles> {
    let listen = settings.server.listen;
    if !listen.ip().is_loopback() && wiring::missing_file(&settings.database).is_some() {
        return Err(unguarded(listen));
    }
    wiring::open_for_all(&settings.database).await
}

fn limits(settings: &Settings) -> Limits {
    Limits {
        payload_bytes: settings.limits.payload_bytes,
        batch_items_max: settings.limits.batch_items,
        ..Limits::default()
    }
}

fn connections(settings: &Settings) -> Connections {
    Connections {
        max: settings.server.connections,
        head_within: settings.server.header_timeout.unsigned_abs(),
        ..Connections::default()
    }
}

/// Registers a node and proves that it may work.
pub(crate) async fn admit(
    equipment: &Equipment,
    settings: &Settings,
    name: String,
) -> Result<AdmittedNode> {
    let node_settings = equipment.node_settings(settings, name);
    node::admit(equipment.ports(), node_settings)
        .await
        .map_err(refused)
}

impl Process {
    /// The watchdog of the node.
    pub(crate) fn watchdog(&self) -> Arc<Watchdog> {
        self.node.watchdog()
    }

    /// Where its tasks live.
    #[cfg(feature = "lab")]
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        self.reload.equipment.ports().store
    }

    /// Requests of people about sources.
    #[cfg(feature = "lab")]
    pub(crate) fn sources(&self) -> Arc<Sources> {
        self.reload.equipment.sources().sources.clone()
    }

    /// Works until `stop`; requests and attempts under way end first, within their bounds.
    pub(crate) async fn run(self, stop: CancellationToken) -> Result<()> {
        let leave_within = leave_within(self.reload.in_force.settings(), &self.timing);
        let stopping = stop.clone();
        tokio::select! {
            ended = Box::pin(self.work(stop)) => ended,
            () = overdue(&stopping, leave_within) => {
                tracing::error!("stopped without an answer from the database; the leases have expired");
                Ok(())
            }
        }
    }

    async fn work(self, stop: CancellationToken) -> Result<()> {
        let drained = CancellationToken::new();
        let settings = self.reload.in_force.settings();
        let connections = connections(settings);
        // How long requests are still served after the node reports not ready.
        let shutdown_delay = self.timing.real(settings.server.shutdown_delay);
        let (leaving, stopping, health) = (self.leaving, stop.clone(), self.node.health());
        // Readiness fails first: load balancers stop sending requests before the address closes.
        let closing = async {
            stopping.cancelled().await;
            health.note_leaving();
            pause(shutdown_delay).await;
            leaving.cancel();
        };
        let serving = serve(self.listener, self.app, connections, leaving.clone());
        let answering = async {
            tokio::select! {
                () = serving => {}
                () = too_late(&drained, &leaving) => {
                    tracing::warn!("closed requests that their clients did not complete");
                }
            }
        };
        let reading = self
            .reload
            .run(self.timing, hear(SignalKind::hangup())?, stop.clone());
        // Buses first: what they have taken is committed while the node is still there.
        let heard = CancellationToken::new();
        let hearing = async {
            Box::pin(self.buses.run(stop.clone())).await;
            stop.cancelled().await;
            heard.cancel();
        };
        let working = async {
            tokio::join!(hearing, Box::pin(self.node.run(heard.clone())));
            drained.cancel();
        };
        let folding = metrics::fold(&self.metrics, &drained);
        tokio::join!(answering, working, reading, closing, folding);
        self.telemetry.finish().await;
        drop(self.node_lock);
        Ok(())
    }
}

async fn overdue(stopping: &CancellationToken, leave_within: Duration) {
    stopping.cancelled().await;
    pause(leave_within).await;
}

async fn too_late(drained: &CancellationToken, leaving: &CancellationToken) {
    drained.cancelled().await;
    leaving.cancelled().await;
    pause(LAST_ANSWERS).await;
}

/// Cancelled on SIGTERM or Ctrl-C.
pub(crate) fn stop_signal() -> Result<CancellationToken> {
    let stop = CancellationToken::new();
    for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
        let mut signal = hear(kind)?;
        let stop = stop.clone();
        tokio::spawn(async move {
            signal.recv().await;
            stop.cancel();
        });
    }
    Ok(stop)
}

fn hear(kind: SignalKind) -> Result<Signal> {
    signal(kind).map_err(|error| Failure::failed(format!("listen for signals: {error}")))
}

/// Binds an address; returns the chosen port if any port was requested.
pub(crate) async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address).await.map_err(|error| {
        Failure::failed(format!("listen on {address}: {error}"))
            .hint("another process may use it; choose another with --listen ADDRESS:PORT")
    })?;
    let taken = listener.local_addr();
    let taken = taken.map_err(|error| Failure::failed(format!("listen: {error}")))?;
    Ok((listener, taken))
}

fn refused(error: node::Error) -> Failure {
    match error {
        node::Error::Store(error) => Failure::from(error).during("start node"),
        node::Error::NameTaken { .. } => Failure::failed(format!("start node: {error}"))
            .hint("set node.name to another name, or leave it out for a generated one"),
    }
}

/// How a node with these settings would authenticate, or why it would not start; for checks before
/// the start. The store must be up to date, or this would migrate it.
pub(crate) async fn would_answer(settings: &Settings, now: Timestamp) -> Result<&'static str> {
    let store = open_store(settings).await?;
    let access = choose_access(store.work.as_ref(), settings).await?;
    whom(&access, store.work.as_ref(), now).await
}

/// The same without a store: there are no tokens and no users yet.
pub(crate) fn refuse_unguarded(listen: SocketAddr) -> Result<&'static str> {
    if listen.ip().is_loopback() {
        return Ok("only from this machine; no sign-in yet: `almanack user create NAME`");
    }
    Err(unguarded(listen))
}

/// A first try on one's own machine needs no token. Any other address is reachable by others and
/// needs a token or a user first. Once there was one, no node is open again.
async fn choose_access(store: &dyn Store, settings: &Settings) -> Result<Access> {
    let listen = settings.server.listen;
    if is_guarded(store).await? {
        return Ok(Access::Tokens);
    }
    if listen.ip().is_loopback() {
        return Ok(Access::Open);
    }
    Err(unguarded(listen))
}

/// Whether there was ever a token or a user: from then on, every caller must authenticate.
pub(crate) async fn is_guarded(store: &dyn Store) -> Result<bool> {
    Ok(store.load_guarded_since().await?.is_some())
}

fn unguarded(listen: SocketAddr) -> Failure {
    let what =
        format!("{listen} is reachable from other machines, and no token or user protects it");
    Failure::usage(what).hint(
        "run `almanack token create NAME --scope admin` or `almanack user create NAME`, or listen \
         on 127.0.0.1",
    )
}

async fn whom(access: &Access, store: &dyn Store, now: Timestamp) -> Result<&'static str> {
    let lets_in = |tokens: &[Token]| tokens.iter().any(|token| token.is_valid(now));
    Ok(match access {
        Access::Open => "no sign-in yet: `almanack user create NAME`",
        Access::Tokens
            if store.load_users().await?.is_empty() && !lets_in(&store.load_tokens().await?) =>
        {
            "no valid token and no user, so every request is refused: \
             `almanack token create NAME --scope admin`"
        }
        Access::Tokens | Access::Local(_) => "token or sign-in required",
    })
}

/// The node's name: as configured, or the host name with a suffix that distinguishes two nodes on
/// one machine.
pub(crate) fn node_name(
    node: &Node,
    environment: &BTreeMap<String, String>,
    chance: u64,
) -> String {
    if let Some(name) = &node.name {
        return name.clone();
    }
    host_name(environment, chance)
}

/// The machine's name and a random suffix.
pub(crate) fn host_name(environment: &BTreeMap<String, String>, chance: u64) -> String {
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let host = ["HOSTNAME", "COMPUTERNAME"]
        .into_iter()
        .find_map(|name| environment.get(name));
    let host = machine
        .as_deref()
        .or(host.map(String::as_str))
        .unwrap_or("")
        .trim();
    let host = if host.is_empty() { "node" } else { host };
    format!("{host}-{:04x}", chance & 0xffff)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Need};

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

    #[test]
    fn sf_01_what_is_set_about_connections_is_put_in_force() {
        let flags = [("server.connections", "9"), ("server.header_timeout", "7s")];
        let flags =
            flags.map(|(key, value)| ("--set".to_owned(), key.to_owned(), value.to_owned()));
        let inputs = Inputs {
            flags: flags.to_vec(),
            ..Inputs::default()
        };
        let settings = config::load(&inputs, Need::Everything).settings.unwrap();
        let connections = connections(&settings);
        assert_eq!(connections.max, 9);
        assert_eq!(connections.head_within, Duration::from_secs(7));
    }
}
