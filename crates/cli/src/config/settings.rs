//! The settings: a struct per concern, each reading its own keys.

use std::{collections::BTreeMap, net::SocketAddr, ops::RangeInclusive};

use almanack_adapters::signature::SigningKey;
use almanack_core::{
    address::IpNet,
    backoff::Backoff,
    lease::LeasePolicy,
    task::{Kind, PAYLOAD_BYTES_MAX},
};
use jiff::SignedDuration;

use super::{
    key::KeyPath,
    layer::Raw,
    reader::Reader,
    report::Problem,
    value::{self, Complaint, Read},
};

mod alerts;
mod backup;
mod database;
pub(crate) mod edition;
mod events;
mod kind;
mod log;
mod outbound;
mod sources;
mod subscription;
mod target;
mod telemetry;

pub(crate) use alerts::{AlertChannel, AlertWay, Alerts, Heartbeat};
pub(crate) use backup::Backup;
pub(crate) use database::{Database, Durability};
pub(crate) use edition::{Edition, Editions};
pub(crate) use events::Events;
pub(crate) use kind::KindSettings;
pub(crate) use log::{Log, LogFormat};
pub(crate) use outbound::Outbound;
pub(crate) use sources::Sources;
pub(crate) use subscription::{Happenings, Subscriber, Way};
pub(crate) use target::{Command, Github, Schedules, Tick};
pub(crate) use telemetry::Telemetry;

/// Everything that can be set, checked.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Where tasks are kept.
    pub(crate) database: Database,
    /// Scheduled copies of the store.
    pub(crate) backup: Backup,
    /// The HTTP API.
    pub(crate) server: Server,
    /// This process among others.
    pub(crate) node: Node,
    /// How waits between attempts grow.
    pub(crate) retry: Backoff,
    /// How long ended tasks are kept.
    pub(crate) retention: Retention,
    /// What is too large.
    pub(crate) limits: Limits,
    /// Calls to business services.
    pub(crate) callback: Callback,
    /// What differs per kind.
    pub(crate) kinds: BTreeMap<Kind, KindSettings>,
    /// Everything that is called.
    pub(crate) outbound: Outbound,
    /// How sources are checked, and where they may be.
    pub(crate) sources: Sources,
    /// Schedules, besides those in the file itself.
    pub(crate) schedules: Schedules,
    /// How workflows are reached.
    pub(crate) github: Github,
    /// Which commands may run here.
    pub(crate) command: Command,
    /// Who may say that it is time.
    pub(crate) tick: Tick,
    /// Whether there are editions, and how they are made.
    pub(crate) editions: Editions,
    /// Message buses.
    pub(crate) events: Events,
    /// Who is told of what happens.
    pub(crate) happenings: Happenings,
    /// Who is told when something is wrong.
    pub(crate) alerts: Alerts,
    /// Who hears that this node lives.
    pub(crate) heartbeat: Heartbeat,
    /// What the process writes about itself.
    pub(crate) log: Log,
    /// Where traces go.
    pub(crate) telemetry: Telemetry,
}

impl Settings {
    /// Reads all sections; complaints stay in the reader.
    pub(crate) fn read(reader: &mut Reader<'_>) -> Self {
        let database = Database::read(reader);
        Self {
            backup: Backup::read(reader, &database),
            database,
            server: Server::read(reader),
            node: Node::read(reader),
            retry: read_retry(reader),
            retention: Retention::read(reader),
            limits: Limits::read(reader),
            callback: Callback::read(reader),
            kinds: kind::read_all(reader),
            outbound: Outbound::read(reader),
            sources: Sources::read(reader),
            schedules: Schedules::read(reader),
            github: Github::read(reader),
            command: Command::read(reader),
            tick: Tick::read(reader),
            editions: Editions::read(reader),
            happenings: Happenings::read(reader),
            alerts: Alerts::read(reader),
            heartbeat: Heartbeat::read(reader),
            events: Events::read(reader),
            log: Log::read(reader),
            telemetry: Telemetry::read(reader),
        }
    }
}

fn seconds(range: RangeInclusive<i64>) -> RangeInclusive<SignedDuration> {
    SignedDuration::from_secs(*range.start())..=SignedDuration::from_secs(*range.end())
}

const DAY_S: i64 = 86_400;

/// `[server]`
#[derive(Debug, Clone)]
pub(crate) struct Server {
    /// Where it listens.
    pub(crate) listen: SocketAddr,
    /// `Host` headers it answers to besides the address it listens at; guards a browser against
    /// pages that point their own name at us.
    pub(crate) allowed_hosts: Vec<String>,
    /// Proxies before it, whose `X-Forwarded-For` is believed.
    pub(crate) trusted_proxies: Vec<IpNet>,
    /// How long it still answers after it was told to stop and says that it is not ready.
    pub(crate) shutdown_delay: SignedDuration,
    /// How many may be connected at once.
    pub(crate) connections: usize,
    /// How long a connection may be without a whole request.
    pub(crate) header_timeout: SignedDuration,
}

impl Server {
    fn read(reader: &mut Reader<'_>) -> Self {
        let key = |name| KeyPath::plain("server", name);
        let local = SocketAddr::from(([127, 0, 0, 1], 8080));
        Self {
            listen: reader.value(&key("listen"), local, value::socket),
            allowed_hosts: reader.value(
                &key("allowed_hosts"),
                Vec::new(),
                value::texts(value::host),
            ),
            trusted_proxies: reader.value(
                &key("trusted_proxies"),
                Vec::new(),
                value::texts(outbound::net),
            ),
            shutdown_delay: reader.value(
                &key("shutdown_delay"),
                SignedDuration::from_secs(3),
                value::duration(seconds(0..=300)),
            ),
            connections: reader.value(&key("connections"), 512, value::count(1..=100_000)),
            header_timeout: reader.value(
                &key("header_timeout"),
                SignedDuration::from_secs(30),
                value::duration(seconds(1..=3_600)),
            ),
        }
    }
}

/// `[node]`
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// What people call it; `None` lets the start make one up from the machine's name.
    pub(crate) name: Option<String>,
    /// How many tasks it tries at once.
    pub(crate) slots: usize,
    /// How long a claim holds without a heartbeat.
    pub(crate) lease: SignedDuration,
    /// How long running work may go on after it was told to stop.
    pub(crate) drain: SignedDuration,
}

impl Node {
    fn read(reader: &mut Reader<'_>) -> Self {
        let key = |name| KeyPath::plain("node", name);
        Self {
            name: reader.optional(&key("name"), "(host name and a random ending)", node_name),
            slots: reader.value(&key("slots"), 64, value::count(1..=10_000)),
            lease: reader.value(
                &key("lease"),
                SignedDuration::from_secs(30),
                value::duration(seconds(3..=3_600)),
            ),
            drain: reader.value(
                &key("drain"),
                SignedDuration::from_secs(20),
                value::duration(seconds(0..=3_600)),
            ),
        }
    }

    /// How carefully a node trusts a lease of this length: it beats six times within it and stops
    /// trusting it a sixth early, so two lost heartbeats and a slow disk do no harm.
    pub(crate) fn lease_policy(&self) -> LeasePolicy {
        LeasePolicy {
            ttl: self.lease,
            margin: self.lease / 6,
            beat: self.lease / 6,
        }
    }
}

fn node_name(raw: &Raw) -> Read<String> {
    let name = value::text(raw)?;
    let fits = name.len() <= 100 && !name.chars().any(|c| c.is_control() || c.is_whitespace());
    if fits {
        return Ok(name);
    }
    Err(Complaint::new(
        "a node's name has at most 100 bytes and no blanks",
        "for example \"news-1\"",
    ))
}

fn read_retry(reader: &mut Reader<'_>) -> Backoff {
    let key = |name| KeyPath::plain("retry", name);
    let longest = SignedDuration::from_secs(30 * DAY_S);
    let bounds = || value::duration(SignedDuration::from_millis(1)..=longest);
    let default = Backoff::default();
    let retry = Backoff {
        base: reader.value(&key("base"), default.base, bounds()),
        cap: reader.value(&key("cap"), default.cap, bounds()),
        retry_after_cap: reader.value(&key("retry_after_cap"), default.retry_after_cap, bounds()),
    };
    if retry.cap < retry.base {
        let place = reader
            .place(&key("cap"))
            .or_else(|| reader.place(&key("base")));
        let what = "retry.cap is shorter than retry.base, so waits could not grow";
        reader
            .problems
            .push(Problem::error(what, place).hint("make cap the longer one"));
    }
    retry
}

/// `[retention]`
#[derive(Debug, Clone)]
pub(crate) struct Retention {
    /// For how many days ended tasks are kept; 0 keeps them for ever.
    pub(crate) days: u32,
}

impl Retention {
    fn read(reader: &mut Reader<'_>) -> Self {
        let days = KeyPath::plain("retention", "days");
        Self {
            days: reader.value(&days, 30, value::count(0..=36_500)),
        }
    }

    /// How long ended tasks are kept; `None` keeps them.
    pub(crate) fn keep_for(&self) -> Option<SignedDuration> {
        (self.days > 0).then(|| SignedDuration::from_secs(i64::from(self.days) * DAY_S))
    }
}

/// `[limits]`
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    /// Largest payload of a task, in bytes.
    pub(crate) payload_bytes: usize,
    /// Most tasks in one batch call.
    pub(crate) batch_items: usize,
    /// Of how many kinds that are not configured tasks may wait.
    pub(crate) kinds: usize,
}

impl Limits {
    fn read(reader: &mut Reader<'_>) -> Self {
        let key = |name| KeyPath::plain("limits", name);
        let payload = value::count(2..=PAYLOAD_BYTES_MAX);
        Self {
            payload_bytes: reader.value(&key("payload_bytes"), 65_536, payload),
            batch_items: reader.value(&key("batch_items"), 10_000, value::count(1..=100_000)),
            kinds: reader.value(&key("kinds"), 250, value::count(1..=10_000)),
        }
    }
}

/// `[callback]`
#[derive(Debug, Clone)]
pub(crate) struct Callback {
    /// How long a call may take.
    pub(crate) timeout: SignedDuration,
    /// Signs the calls.
    pub(crate) key: Option<SigningKey>,
}

/// The key made of the secret at `path`.
fn signing_key(reader: &mut Reader<'_>, path: &KeyPath, unset: &str) -> Option<SigningKey> {
    let secret = reader.secret(path, unset)?;
    match SigningKey::parse(secret.expose()) {
        Ok(key) => Some(key),
        Err(error) => {
            let hint = "this makes one: echo whsec_$(openssl rand -base64 32)";
            reader.complain(path, Complaint::new(error.to_string(), hint))
        }
    }
}

fn timeout_bounds() -> RangeInclusive<SignedDuration> {
    SignedDuration::from_millis(100)..=SignedDuration::from_mins(30)
}

impl Callback {
    fn read(reader: &mut Reader<'_>) -> Self {
        let key = |name| KeyPath::plain("callback", name);
        let usual = SignedDuration::from_secs(10);
        Self {
            timeout: reader.value(&key("timeout"), usual, value::duration(timeout_bounds())),
            key: signing_key(reader, &key("secret"), "(calls are not signed)"),
        }
    }
}
