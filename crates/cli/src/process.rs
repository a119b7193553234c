//! A node and its HTTP API, started and stopped as one.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc, time::Duration};

use almanack_adapters::clock::pause;
use almanack_core::{
    signature::Verifier,
    store::Store,
    time::{Clock, Sleeper},
};
use almanack_engine::{
    editions::Editions,
    node::{self, AdmittedNode, Ports},
    schedules::Schedules,
    sources::Sources,
    tick::Ticker,
    turns::Turns,
};
use almanack_server::{AppState, Configured, Limits, Tick, access::Access};
use jiff::{SignedDuration, Timestamp};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio::{
    net::TcpListener,
    signal::unix::{Signal, SignalKind, signal},
};
use tokio_util::sync::CancellationToken;

use crate::{
    config::{self, Inputs, Need, Settings, settings::Node},
    failure::{Exit, Failure},
    reload::Files,
    telemetry::Telemetry,
    wiring::{self, Buses, Lookout, Time, Timing, editions::Workshop, opml::Lists},
};

/// Bounds of the histograms, in seconds: from "at once" to "an hour late".
const SECONDS: [f64; 13] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0, 300.0, 3600.0,
];

/// How long requests may still take once the node has drained. Without a bound, a client that opens
/// a request and never finishes it would keep the process from ending.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// A process that is ready to work.
pub(crate) struct Process {
    /// What the node is called.
    pub(crate) node_name: String,
    /// Where the API answers.
    pub(crate) address: SocketAddr,
    /// Whom it answers, in words.
    pub(crate) answers: &'static str,
    /// Where its tasks live.
    pub(crate) store: Arc<dyn Store>,
    /// The way in for what people want of sources.
    pub(crate) sources: Arc<Sources>,
    node: AdmittedNode,
    buses: Buses,
    files: Files,
    reload_every: Option<SignedDuration>,
    clock: Arc<dyn Clock>,
    sleeper: Arc<dyn Sleeper>,
    leaving: CancellationToken,
    listener: TcpListener,
    app: axum::Router,
    telemetry: Telemetry,
    /// How long after it was told to stop there is nothing left to wait for: attempts had their
    /// drain, and what a database that hangs did not take has passed on with its lease.
    leave_within: Duration,
}

/// Opens the database, admits the node, takes the address and reads the schedules.
pub(crate) async fn start(
    settings: &Settings,
    inputs: &Inputs,
    time: &Time,
) -> Result<Process, Failure> {
    let store = open_store(settings).await?;
    let timing = Timing::of(time, store.as_ref()).await?;
    let clock = timing.clock.clone();
    let access = choose_access(store.as_ref(), settings, clock.now()).await?;
    let answers = whom(&access);
    let (listener, address) = listen(settings.server.listen).await?;
    let environment = &inputs.environment;
    let node_name = node_name(&settings.node, environment, wiring::entropy().next_u64());
    // Before the node is admitted, which counts already.
    let metrics = install_metrics(timing.counted)?;
    let outbound = wiring::Outbound::new(settings)?;
    let lookout = Lookout::new(settings, &store, &timing)?;
    let equipment = Equipment {
        settings,
        environment,
        outbound: &outbound,
        store: &store,
        timing: &timing,
        node_name: &node_name,
    };
    let (node, editions, telemetry) = equipment.admit(&lookout).await?;
    // Only now the clock is right.
    let schedules = Arc::new(wiring::schedules(store.clone(), clock.clone()));
    let files = read_files(inputs, schedules.clone(), outbound).await?;
    let passes = wiring::ticker(store.clone(), &timing, node.tally());
    let leaving = CancellationToken::new();
    let rescheduler = Arc::new(wiring::rescheduler(settings, store.clone(), clock.clone()));
    let app = almanack_server::app(Arc::new(AppState {
        rescheduler: rescheduler.clone(),
        schedules,
        sources: lookout.sources.clone(),
        opml: Arc::new(Lists(clock.clone())),
        editions,
        public_editions: public_editions(settings),
        tick: tick(settings, passes),
        store: store.clone(),
        clock: clock.clone(),
        access,
        page_hosts: settings.server.allowed_hosts.clone(),
        passwords: wiring::passwords(),
        leaving: leaving.clone(),
        speed: timing.speed.times(),
        sleeper: timing.sleeper.clone(),
        entropy: wiring::entropy(),
        limits: limits(settings),
        configuration: configuration(inputs),
        metrics,
        version: env!("CARGO_PKG_VERSION"),
    }));
    Ok(Process {
        node_name,
        address,
        answers,
        store,
        sources: lookout.sources.clone(),
        node,
        buses: Buses::of(settings, rescheduler, &timing),
        files,
        reload_every: settings.schedules.reload,
        clock,
        leave_within: leave_within(settings, &timing),
        sleeper: timing.sleeper,
        leaving,
        listener,
        app,
        telemetry,
    })
}

/// What a node is made with.
struct Equipment<'a> {
    settings: &'a Settings,
    environment: &'a BTreeMap<String, String>,
    outbound: &'a wiring::Outbound,
    store: &'a Arc<dyn Store>,
    timing: &'a Timing,
    node_name: &'a str,
}

impl Equipment<'_> {
    /// Admits a node with all its duties, and what makes editions and traces beside it.
    async fn admit(
        &self,
        lookout: &Lookout,
    ) -> Result<(AdmittedNode, Option<Arc<Editions>>, Telemetry), Failure> {
        let Self {
            settings,
            outbound,
            store,
            timing,
            ..
        } = *self;
        let clock: Arc<dyn Clock> = timing.clock.clone();
        let channels = wiring::alerts::channels(settings, self.environment, outbound, &clock)?;
        let workshop = Workshop {
            settings,
            outbound,
            store,
            channels: channels.clone(),
            clock: timing.clock.clone(),
            sleeper: timing.sleeper.clone(),
            node: self.node_name,
        };
        let ports = wiring::ports(settings, self.environment, outbound, store.clone(), timing)?;
        let ports = lookout.looking(ports)?;
        let (ports, editions) = workshop.on_node(ports, Box::new(std::io::stdout()))?;
        let traced = (outbound.client(), clock.clone());
        let telemetry = Telemetry::start(&settings.telemetry, self.node_name, traced)?;
        let name = self.node_name.to_owned();
        let node = admit(telemetry.watching(ports), settings, name).await?;
        lookout.hear().await?;
        let node = cared_for(node, lookout, settings);
        let node = wiring::alerts::watched(node, settings, store, &clock, (outbound, channels));
        Ok((node, editions, telemetry))
    }
}

/// The same node, which takes care of sources and of what is kept of editions.
fn cared_for(node: AdmittedNode, lookout: &Lookout, settings: &Settings) -> AdmittedNode {
    let kept = wiring::stories_kept(settings);
    node.caring_for(lookout.keeper()).forgetting_stories(kept)
}

/// Brings the schedules in line with the files, which are looked at from now on.
async fn read_files(
    inputs: &Inputs,
    schedules: Arc<Schedules>,
    outbound: wiring::Outbound,
) -> Result<Files, Failure> {
    let mut files = Files::new(inputs.clone(), schedules, outbound);
    files.sync().await?;
    Ok(files)
}

/// Drain and lease pass by the node's clock, however fast it runs.
fn leave_within(settings: &Settings, timing: &Timing) -> Duration {
    let shown = settings.node.drain + settings.node.lease;
    timing.real(shown).saturating_add(LAST_ANSWERS)
}

/// Where there is no database nobody is known, and a refusal must not leave one behind.
async fn open_store(settings: &Settings) -> Result<Arc<dyn Store>, Failure> {
    let listen = settings.server.listen;
    if !listen.ip().is_loopback() && wiring::missing_file(&settings.database).is_some() {
        return Err(unguarded(listen));
    }
    wiring::open_store(&settings.database).await
}

/// Whether everybody may read published editions.
fn public_editions(settings: &Settings) -> bool {
    settings.editions.on().is_some_and(|edition| edition.public)
}

/// What is in force, as `almanack check` shows it: secrets are covered where they are read.
fn configuration(inputs: &Inputs) -> Vec<Configured> {
    let effective = config::load(inputs, Need::Everything).effective;
    let shown = effective.into_iter().map(|setting| Configured {
        key: setting.key,
        value: setting.value,
        origin: setting.origin.to_string(),
    });
    shown.collect()
}

fn limits(settings: &Settings) -> Limits {
    Limits {
        payload_bytes: settings.limits.payload_bytes,
        batch_items_max: settings.limits.batch_items,
        ..Limits::default()
    }
}

/// Passes on request, of whoever knows the secret.
fn tick(settings: &Settings, passes: Ticker) -> Tick {
    Tick {
        ticker: Some(Arc::new(passes)),
        verifier: verifier(settings),
    }
}

/// Knows the secret by which ticks are signed.
fn verifier(settings: &Settings) -> Option<Arc<dyn Verifier>> {
    let key = settings.tick.key.clone()?;
    Some(Arc::new(key))
}

/// Registers a node and proves that it may work.
pub(crate) async fn admit(
    ports: Ports,
    settings: &Settings,
    name: String,
) -> Result<AdmittedNode, Failure> {
    let admitted = node::admit(ports, wiring::node_settings(settings, name)).await;
    admitted.map_err(refused)
}

impl Process {
    /// That the node still turns.
    pub(crate) fn turns(&self) -> Arc<Turns> {
        self.node.turns()
    }

    /// Works until `stop`; requests and attempts under way end first, within their bounds.
    pub(crate) async fn run(self, stop: CancellationToken) -> Result<(), Failure> {
        let (leave_within, told) = (self.leave_within, stop.clone());
        tokio::select! {
            ended = Box::pin(self.work(stop)) => ended,
            () = overdue(&told, leave_within) => {
                tracing::error!("stopped without an answer from the database; the leases have passed");
                Ok(())
            }
        }
    }

    async fn work(self, stop: CancellationToken) -> Result<(), Failure> {
        let drained = CancellationToken::new();
        let (leaving, told) = (self.leaving, stop.clone());
        let hurrying = async {
            told.cancelled().await;
            leaving.cancel();
        };
        let serving = axum::serve(self.listener, self.app)
            .with_graceful_shutdown(stop.clone().cancelled_owned());
        let answering = async {
            tokio::select! {
                served = serving.into_future() => served,
                () = too_late(&drained) => {
                    tracing::warn!("left requests unanswered that their clients did not finish");
                    Ok(())
                }
            }
        };
        let reading = self.files.run(
            self.reload_every,
            (self.clock, self.sleeper),
            hear(SignalKind::hangup())?,
            stop.clone(),
        );
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
        let (served, (), (), ()) = tokio::join!(answering, working, reading, hurrying);
        self.telemetry.finish().await;
        served.map_err(|error| Failure::new(Exit::Failed, format!("serve: {error}")))
    }
}

async fn overdue(told: &CancellationToken, leave_within: Duration) {
    told.cancelled().await;
    pause(leave_within).await;
}

async fn too_late(drained: &CancellationToken) {
    drained.cancelled().await;
    pause(LAST_ANSWERS).await;
}

/// Cancelled when the process manager or a person says so.
pub(crate) fn stop_signal() -> Result<CancellationToken, Failure> {
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

fn hear(kind: SignalKind) -> Result<Signal, Failure> {
    signal(kind).map_err(|error| Failure::new(Exit::Failed, format!("listen for signals: {error}")))
}

/// Takes an address, and tells which one it became where any port was asked for.
pub(crate) async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Failure> {
    let listener = TcpListener::bind(address).await.map_err(|error| {
        Failure::new(Exit::Failed, format!("listen at {address}: {error}"))
            .hint("another process may be using it; choose one with --listen ADDRESS:PORT")
    })?;
    let taken = listener.local_addr();
    let taken = taken.map_err(|error| Failure::new(Exit::Failed, format!("listen: {error}")))?;
    Ok((listener, taken))
}

/// Metrics are the process's, not the app's: one start in a process counts.
fn install_metrics(counted: bool) -> Result<PrometheusHandle, Failure> {
    let failed = |error| Failure::new(Exit::Failed, format!("start metrics: {error}"));
    let recorder = PrometheusBuilder::new()
        .set_buckets(&SECONDS)
        .map_err(failed)?
        .build_recorder();
    let handle = recorder.handle();
    if !counted {
        return Ok(handle);
    }
    metrics::set_global_recorder(recorder)
        .map_err(|error| Failure::new(Exit::Failed, format!("start metrics: {error}")))?;
    let version = env!("CARGO_PKG_VERSION");
    metrics::gauge!("almanack_build_info", "version" => version).set(1.0);
    Ok(handle)
}

fn refused(error: node::Error) -> Failure {
    match error {
        node::Error::Store(error) => Failure::from(error).during("start node"),
        node::Error::NameTaken { .. } => Failure::new(Exit::Failed, format!("start node: {error}"))
            .hint("set node.name, or leave it out to get one of its own"),
    }
}

/// A first try on one's own machine needs no token. Any other address is open to others, and then
/// somebody must have decided who may come in.
async fn choose_access(
    store: &dyn Store,
    settings: &Settings,
    now: Timestamp,
) -> Result<Access, Failure> {
    let listen = settings.server.listen;
    if is_guarded(store, now).await? {
        return Ok(Access::Tokens);
    }
    if listen.ip().is_loopback() {
        return Ok(Access::Open {
            hosts: settings.server.allowed_hosts.clone(),
        });
    }
    Err(unguarded(listen))
}

/// Whether there is anything by which to know who asks: a token that works, or somebody with a password.
pub(crate) async fn is_guarded(store: &dyn Store, now: Timestamp) -> Result<bool, Failure> {
    let tokens = store.load_tokens().await?;
    Ok(tokens.iter().any(|token| token.is_valid(now)) || !store.load_users().await?.is_empty())
}

fn unguarded(listen: SocketAddr) -> Failure {
    let what =
        format!("{listen} can be reached from elsewhere, and no token or password guards it");
    Failure::new(Exit::Usage, what).hint(
        "`almanack token create NAME --scope admin` makes a token, `almanack user create NAME` somebody with a \
         password; or listen at 127.0.0.1",
    )
}

fn whom(access: &Access) -> &'static str {
    match access {
        Access::Open { .. } => {
            "anybody on this machine may ask it: there are no tokens and no users yet"
        }
        Access::Tokens => "whoever asks it must show a token, or sign in",
    }
}

/// What this node is called: as configured, or after the machine, with an ending that tells two
/// nodes on one machine apart.
pub(crate) fn node_name(
    node: &Node,
    environment: &BTreeMap<String, String>,
    chance: u64,
) -> String {
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
    use crate::config::key;

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

    /// Every key that holds a secret, by every variable that sets it, and the two places of a database's password.
    #[test]
    fn what_pages_may_show_holds_no_secret() {
        const SECRET: &str = "hunter2hunter2";
        let secrets = key::KEYS.iter().filter(|key| key.secret);
        let variables = secrets.flat_map(|key| {
            let aliases = key.aliases.iter().map(|alias| (*alias).to_owned());
            let kind = (key.section == key::KINDS).then_some("ARTICLE_PUBLISH");
            aliases.chain([key.variable(kind)])
        });
        let mut environment: BTreeMap<String, String> =
            variables.map(|name| (name, SECRET.to_owned())).collect();
        let url = format!("postgres://bob:{SECRET}@db/almanack?sslpassword={SECRET}");
        environment.insert("ALMANACK_DATABASE_URL".to_owned(), url);
        let shown = configuration(&Inputs {
            environment,
            ..Inputs::default()
        });
        let value = |key: &str| {
            let found = shown.iter().find(|setting| setting.key == key);
            found.map(|setting| setting.value.as_str())
        };
        assert_eq!(value("tick.secret"), Some("***"));
        assert_eq!(
            value("database.url"),
            Some("\"postgres://bob:***@db/almanack?sslpassword=***\"")
        );
        for setting in &shown {
            assert!(
                !format!("{setting:?}").contains("hunter2"),
                "{}",
                setting.key
            );
        }
    }
}
