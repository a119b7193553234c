//! The settings: a table per concern, each with the keys of its sections.

use std::collections::BTreeMap;

use almanack_core::{backoff::Backoff, task::Kind};

use super::{
    key::Key,
    reader::Reader,
    table::{Listed, Section},
};

mod alerts;
mod calls;
mod database;
pub(crate) mod edition;
mod events;
mod log;
mod node;
mod schedules;
mod sources;
mod subscription;

pub(crate) use alerts::{AlertChannel, AlertWay, Alerts, Heartbeat};
pub(crate) use calls::{Callback, KindSettings, Outbound};
pub(crate) use database::{Backup, Database, Durability};
pub(crate) use edition::{Edition, Editions};
pub(crate) use events::Events;
pub(crate) use log::{Log, LogFormat, Telemetry};
pub(crate) use node::{Limits, Node, Retention, Server};
pub(crate) use schedules::{Command, Github, Schedules, Tick};
pub(crate) use sources::{Rate, Sources};
pub(crate) use subscription::{Happenings, Subscriber, Way};

/// Every section, in the order it is shown.
const SECTIONS: &[&[Listed]] = &[
    database::SECTIONS,
    node::SECTIONS,
    calls::SECTIONS,
    sources::SECTIONS,
    schedules::SECTIONS,
    edition::SECTIONS,
    edition::STORIES,
    edition::PAGES,
    edition::MODELS,
    edition::DESTINATIONS,
    subscription::SECTIONS,
    alerts::SECTIONS,
    alerts::CHANNELS,
    alerts::HEARTBEAT,
    events::KAFKA,
    events::NATS,
    log::SECTIONS,
];

/// Every section: its name, what it is about, and the groups of its keys.
pub(super) fn sections() -> impl Iterator<Item = &'static Listed> {
    SECTIONS.iter().copied().flatten()
}

/// All keys, in the order they are shown.
pub(super) fn keys() -> Vec<Key> {
    let groups = sections().flat_map(|(name, _, groups)| groups.iter().map(move |keys| keys(name)));
    groups.flatten().collect()
}

/// Everything that can be set, checked.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) database: Database,
    pub(crate) backup: Backup,
    pub(crate) server: Server,
    pub(crate) node: Node,
    pub(crate) retry: Backoff,
    pub(crate) retention: Retention,
    pub(crate) limits: Limits,
    pub(crate) callback: Callback,
    pub(crate) kinds: BTreeMap<Kind, KindSettings>,
    pub(crate) outbound: Outbound,
    pub(crate) sources: Sources,
    pub(crate) schedules: Schedules,
    pub(crate) github: Github,
    pub(crate) command: Command,
    pub(crate) tick: Tick,
    pub(crate) editions: Editions,
    pub(crate) events: Events,
    pub(crate) happenings: Happenings,
    pub(crate) alerts: Alerts,
    pub(crate) heartbeat: Heartbeat,
    pub(crate) log: Log,
    pub(crate) telemetry: Telemetry,
}

impl Settings {
    /// Reads all sections; complaints stay in the reader.
    pub(crate) fn read(reader: &mut Reader<'_>) -> Self {
        let database = Database::read(reader);
        Self {
            backup: database::backup(reader, &database),
            database,
            server: Server::read(reader, "server"),
            node: Node::read(reader, "node"),
            retry: node::backoff(reader),
            retention: Retention::read(reader, "retention"),
            limits: Limits::read(reader, "limits"),
            callback: Callback::read(reader, "callback"),
            kinds: calls::kinds(reader),
            outbound: Outbound::read(reader, "outbound"),
            sources: sources::read(reader),
            schedules: Schedules::read(reader, "schedules"),
            github: Github::read(reader, "github"),
            command: Command::read(reader, "command"),
            tick: Tick::read(reader, "tick"),
            editions: Editions::read(reader),
            happenings: Happenings::read(reader),
            alerts: Alerts::read(reader),
            heartbeat: Heartbeat::read(reader, "heartbeat"),
            events: Events::read(reader),
            log: Log::read(reader, "log"),
            telemetry: log::telemetry(reader),
        }
    }

    /// These, with everything of `after` that a running node can adopt.
    pub(crate) fn adopted(&self, after: &Self) -> Self {
        Self {
            // Whole sections, of which every key is reloadable.
            retry: after.retry,
            happenings: after.happenings.clone(),
            alerts: after.alerts.clone(),
            kinds: self.adopted_kinds(&after.kinds),
            callback: self.callback.adopted(&after.callback),
            schedules: self.schedules.adopted(&after.schedules),
            command: self.command.adopted(&after.command),
            tick: self.tick.adopted(&after.tick),
            node: self.node.adopted(&after.node),
            outbound: self.outbound.adopted(&after.outbound),
            github: self.github.adopted(&after.github),
            log: self.log.adopted(&after.log),
            ..self.clone()
        }
    }

    /// A limit across nodes is not adopted with a new kind, either: attempts that began without a permit would give back those of others.
    fn adopted_kinds(&self, after: &BTreeMap<Kind, KindSettings>) -> BTreeMap<Kind, KindSettings> {
        let adopt = |(kind, new): (&Kind, &KindSettings)| {
            let unlimited = KindSettings {
                slots_in_all: None,
                ..new.clone()
            };
            let before = self.kinds.get(kind).unwrap_or(&unlimited);
            (kind.clone(), before.adopted(new))
        };
        after.iter().map(adopt).collect()
    }
}
