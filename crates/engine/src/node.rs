//! One running process: its duties side by side, started and stopped in order.
//!
//! Up: learn the database's time, make sure the name is free, prove the first heartbeat, then start
//! claiming. Down: stop claiming, let running attempts end or hand them back, and only then stop
//! the heartbeat: a lease that ran out during the drain would hand work to others while we still do
//! it.

use std::sync::Arc;

use almanack_core::{
    event::outgoing::Subscriptions,
    lease::LeasePolicy,
    store::{self, Node, Store},
    time::{Clock, CorrectedClock, Entropy, Sleeper},
};
use futures_util::future::OptionFuture;
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::{
    backups::Backups,
    calendars::Calendars,
    claims::ClaimBook,
    counters::Counters,
    handlers::Handlers,
    health::Health,
    heartbeat::{Heartbeat, KeeperRounds},
    inbox::Inbox,
    keeper::Keeper,
    lease_validity::LeaseValidity,
    permits::Permits,
    planner::Planner,
    reloadable::Reloadable,
    retention::{self, Keep, Retention},
    runner::{Runner, RunnerSettings},
    sources::keeper::SourceKeeper,
    wake::later,
    watch::Watch,
    watchdog::Watchdog,
};

/// How often handlers clear up what others left behind.
const CLEAR_UP_EVERY: SignedDuration = SignedDuration::from_secs(2);

/// A node's own settings.
#[derive(Debug, Clone)]
pub struct NodeSettings {
    /// What people call it.
    pub name: String,
    /// Which version it runs.
    pub version: String,
    /// How long its claims hold.
    pub lease: LeasePolicy,
    /// What it may run at once, and how failures wait. Limits in all are taken from it once, when
    /// the node is admitted: an attempt that began without a permit would return another's.
    pub runner: Reloadable<RunnerSettings>,
    /// How long ended tasks are kept.
    pub retention: Retention,
}

/// What a node works with.
#[derive(Clone)]
pub struct Ports {
    pub store: Arc<dyn Store>,
    pub clock: Arc<CorrectedClock>,
    pub sleeper: Arc<dyn Sleeper>,
    /// How it is surprised.
    pub entropy: Arc<dyn Entropy>,
    pub handlers: Reloadable<Handlers>,
    /// Who is notified of what ended.
    pub subscriptions: Reloadable<Subscriptions>,
}

/// Why a node did not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another process with this name is alive.
    #[error(
        "another node named `{name}` is alive (its heartbeat came at {seen_at}); give this node a different name"
    )]
    NameTaken {
        name: String,
        /// The other's last heartbeat.
        seen_at: Timestamp,
    },
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// Who a node is, to itself and to the store.
#[derive(Debug, Clone)]
pub struct NodeIdentity {
    /// What people call it.
    pub name: String,
    /// Which run of it this is.
    pub session: String,
}

/// What the duties of one node share: the claims it holds, and how long they are valid.
#[derive(Debug, Clone, Default)]
pub struct Holdings {
    pub claims: Arc<ClaimBook>,
    pub lease_validity: Arc<LeaseValidity>,
    /// Its permits among all nodes.
    pub permits: Arc<Permits>,
    /// What the node is doing, in numbers.
    pub counters: Arc<Counters>,
    /// The rounds of its keeper that went well.
    pub rounds_noted: KeeperRounds,
    /// All rounds of its keeper.
    pub watchdog: Arc<Watchdog>,
    /// What it knows about itself.
    pub health: Arc<Health>,
}

impl Holdings {
    /// Until when the node may act on everything it holds.
    pub fn valid_until(&self) -> Timestamp {
        self.lease_validity.until().min(self.claims.valid_until())
    }
}

/// A node that has been admitted and may be run.
pub struct AdmittedNode {
    ports: Ports,
    keeper: Keeper,
    runner: Runner,
    name: String,
    holdings: Holdings,
    /// What it does not keep for ever.
    pub keep: Keep,
    /// Takes care of sources as well.
    pub sources: Option<SourceKeeper>,
    /// Looks for what people should hear about as well.
    pub watch: Option<Watch>,
    /// Also reports to a monitor outside that it lives.
    pub heartbeat: Option<Heartbeat>,
    /// Makes backups as well.
    pub backups: Option<Backups>,
    /// Keeps calendars up to date as well.
    pub calendars: Option<Arc<Calendars>>,
    /// Takes from the inbox as well.
    pub inbox: Option<Inbox>,
}

/// Admits a node: after this call it is registered, its clock is corrected and its leases proven.
pub async fn admit(ports: Ports, settings: NodeSettings) -> Result<AdmittedNode, Error> {
    let session = format!("{:016x}", ports.entropy.next_u64());
    let identity = NodeIdentity {
        name: settings.name.clone(),
        session,
    };
    let permits = Permits::new(settings.runner.get().limits_in_all.clone());
    let holdings = Holdings {
        permits: Arc::new(permits),
        health: Arc::new(Health::of_beat(settings.lease.beat)),
        ..Holdings::default()
    };
    let lease = settings.lease;
    let keeper = Keeper::new(
        ports.clone(),
        identity.clone(),
        settings.clone(),
        holdings.clone(),
    );
    keeper.correct_clock().await?;
    keeper.keep_clock().await?;
    let before = wait_for_name(&ports, &identity, &lease).await?;
    keeper.beat().await?;
    insist_on_name(&ports, &identity, &lease, &before).await?;
    let runner = Runner::new(
        ports.clone(),
        identity,
        lease,
        settings.runner,
        holdings.clone(),
    );
    Ok(AdmittedNode {
        ports,
        keeper,
        runner,
        name: settings.name,
        holdings,
        keep: Keep {
            tasks: settings.retention,
            stories: Retention::Keep,
            run_logs: Retention::Keep,
        },
        sources: None,
        watch: None,
        heartbeat: None,
        backups: None,
        calendars: None,
        inbox: None,
    })
}

impl AdmittedNode {
    /// What it is doing, for a caller that waits until it is idle.
    pub fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.holdings.counters)
    }

    /// Its watchdog, for a monitor.
    pub fn watchdog(&self) -> Arc<Watchdog> {
        Arc::clone(&self.holdings.watchdog)
    }

    /// What it knows about itself: read by readiness checks, updated by its parts.
    pub fn health(&self) -> Arc<Health> {
        Arc::clone(&self.holdings.health)
    }

    /// Works until `stop`, then drains.
    pub async fn run(self, stop: CancellationToken) {
        let (store, clock) = (self.ports.store.clone(), self.ports.clock.clone());
        let planner = Planner::new(store, clock, Arc::default())
            .counting(self.counters())
            .reporting_to(self.ports.subscriptions.clone());
        let sleeper = Arc::clone(&self.ports.sleeper);
        let planning = planner.run(sleeper.as_ref(), &stop);
        tokio::join!(planning, self.run_planned(stop.clone()));
    }

    /// The same without planning, for a caller that plans by itself to know the result: a tick.
    pub async fn run_planned(self, stop: CancellationToken) {
        let (stop, drained) = (&stop, CancellationToken::new());
        let (ports, holdings) = (&self.ports, &self.holdings);
        let (sleeper, health) = (ports.sleeper.as_ref(), &holdings.health);
        let running = async {
            self.runner.run(stop.clone()).await;
            drained.cancel();
        };
        let watch = self.watch.map(|it| it.of_node(self.name, health.clone()));
        let beating = |it: Heartbeat| it.run(&holdings.rounds_noted, stop);
        tokio::join!(
            running,
            retention::run(ports, self.keep, stop),
            clear_up(ports, stop),
            OptionFuture::from(self.sources.map(|it| it.run(sleeper, stop))),
            OptionFuture::from(watch.map(|it| it.run(sleeper, stop))),
            OptionFuture::from(self.heartbeat.map(beating)),
            OptionFuture::from(self.backups.map(|it| it.run(health, sleeper, stop))),
            OptionFuture::from(self.calendars.as_ref().map(|it| it.run(sleeper, stop))),
            OptionFuture::from(self.inbox.map(|it| it.run(sleeper, stop))),
            self.keeper.run(drained.clone())
        );
    }
}

/// Withdraws the work of cancelled firings, now and then; beside the heartbeat, which must not wait
/// for anything outside.
async fn clear_up(ports: &Ports, stop: &CancellationToken) {
    while !stop.is_cancelled() {
        let next = later(ports.clock.now(), CLEAR_UP_EVERY);
        let waiting = ports.sleeper.until(next);
        if stop.run_until_cancelled(waiting).await.is_some() {
            let handlers = ports.handlers.get();
            stop.run_until_cancelled(handlers.clear_up()).await;
        }
    }
}

/// A node that died moments ago leaves its name behind with a fresh heartbeat; a node that is alive
/// will beat again. Waiting for one beat distinguishes them. Answers which runs of this name are
/// over.
async fn wait_for_name(
    ports: &Ports,
    identity: &NodeIdentity,
    lease: &LeasePolicy,
) -> Result<Vec<Node>, Error> {
    let before = namesakes(ports, identity, lease).await?;
    if before.is_empty() {
        return Ok(before);
    }
    tracing::warn!(node.name = %identity.name, "a node of this name was seen a moment ago; waiting to see if it is alive");
    wait_a_beat(ports, lease).await;
    let after = namesakes(ports, identity, lease).await?;
    refuse_any_other(&after, &before)?;
    Ok(after)
}

/// Two that start at the same moment find the name free, both. Each looks again once it is
/// registered, so at least one of them sees the other, and of two that see each other the one with
/// the larger session leaves. The one that stays waits for one beat: the other may have looked
/// before this one was there.
async fn insist_on_name(
    ports: &Ports,
    identity: &NodeIdentity,
    lease: &LeasePolicy,
    over: &[Node],
) -> Result<(), Error> {
    let mut others = namesakes(ports, identity, lease).await?;
    others.retain(|node| !over.contains(node));
    if others.is_empty() {
        return Ok(());
    }
    let insisted = if others.iter().all(|node| node.session > identity.session) {
        wait_a_beat(ports, lease).await;
        let after = namesakes(ports, identity, lease).await?;
        others.extend_from_slice(over);
        refuse_any_other(&after, &others)
    } else {
        refuse_any_other(&others, &[])
    };
    if insisted.is_err() {
        ports.store.forget_node(&identity.session).await?;
    }
    insisted
}

/// Refuses if one of them is alive: any that changed since `before`.
fn refuse_any_other(nodes: &[Node], before: &[Node]) -> Result<(), Error> {
    let alive = nodes.iter().filter(|node| !before.contains(node));
    match alive.max_by_key(|node| node.seen_at) {
        None => Ok(()),
        Some(node) => Err(Error::NameTaken {
            name: node.name.clone(),
            seen_at: node.seen_at,
        }),
    }
}

async fn wait_a_beat(ports: &Ports, lease: &LeasePolicy) {
    let wait_max = lease.beat + SignedDuration::from_secs(1);
    let until = ports.clock.now().saturating_add(wait_max);
    ports.sleeper.until(until.unwrap_or(Timestamp::MAX)).await;
}

/// Other runs with our name that may still be alive.
async fn namesakes(
    ports: &Ports,
    identity: &NodeIdentity,
    lease: &LeasePolicy,
) -> Result<Vec<Node>, store::Error> {
    let now = ports.clock.now();
    let mut nodes = ports.store.load_nodes().await?;
    nodes.retain(|node| {
        node.name == identity.name
            && node.session != identity.session
            && now.duration_since(node.seen_at) < lease.ttl
    });
    Ok(nodes)
}
