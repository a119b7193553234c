//! The settings: a table per concern, each with the keys of its sections.

use std::collections::BTreeMap;

use almanack_core::{backoff::Backoff, task::Kind};

use super::{
    reader::Reader,
    table::{Group, Listed, Section},
};

mod alerts;
mod calls;
mod database;
pub(crate) mod edition;
mod events;
mod hidden;
mod log;
mod node;
mod prelude;
mod released;
mod schedules;
mod sources;
mod status;
mod subscription;

pub(crate) use alerts::{Alerts, CHANNEL_TIMEOUT, Heartbeat};
pub(crate) use calls::{Callback, KindSettings, Outbound};
pub(crate) use database::{Backup, Database};
pub(crate) use edition::{DefaultEdition, Edition, Editions};
pub(crate) use events::Events;
pub(crate) use hidden::Hidden;
pub(crate) use log::{Log, LogFormat, Telemetry};
pub(crate) use node::{Limits, Node, Retention, Server};
pub(crate) use released::Released;
pub(crate) use schedules::{Command, Github, Schedules, Tick};
pub(crate) use sources::{Rate, Sources};
pub(crate) use status::StatusPage;
pub(crate) use subscription::{EventDelivery, Subscriber, SubscriptionKeys, Way};

/// All sections, in the order they are shown.
pub(super) fn sections() -> Vec<Listed> {
    let modules = [
        database::sections(),
        node::sections(),
        calls::sections(),
        sources::sections(),
        schedules::sections(),
        edition::sections(),
        subscription::sections(),
        alerts::sections(),
        status::sections(),
        events::sections(),
        log::sections(),
    ];
    modules.into_iter().flatten().collect()
}

/// All settings: `name: type = how it is read, what a running node adopts of it;`.
macro_rules! all {
    ($($name:ident: $type:ty = $read:path, $adopt:path;)+) => {
        /// Everything that can be set, checked.
        #[derive(Debug, Clone)]
        pub(crate) struct Settings {
            $(pub(crate) $name: $type,)+
        }

        impl Settings {
            /// Reads all sections; complaints stay in the reader.
            pub(crate) fn read(reader: &mut Reader<'_>) -> Self {
                let read = Self { $($name: $read(reader)),+ };
                database::check_backup(reader, &read);
                read
            }

            /// These, with everything of `after` that a running node can adopt.
            pub(crate) fn adopted(&self, after: &Self) -> Self {
                Self { $($name: $adopt(&self.$name, &after.$name)),+ }
            }
        }
    };
}

all! {
    database: Database = Database::read, nothing;
    backup: Backup = database::backup, Group::adopted;
    server: Server = Server::read, Group::adopted;
    node: Node = Node::read, Group::adopted;
    retry: Backoff = node::backoff, everything;
    retention: Retention = Retention::read, Group::adopted;
    limits: Limits = Limits::read, Group::adopted;
    callback: Callback = Callback::read, Group::adopted;
    kinds: BTreeMap<Kind, KindSettings> = calls::kinds, calls::adopted_kinds;
    outbound: Outbound = Outbound::read, Group::adopted;
    sources: Sources = sources::read, Group::adopted;
    schedules: Schedules = Schedules::read, Group::adopted;
    github: Github = Github::read, Group::adopted;
    command: Command = Command::read, Group::adopted;
    tick: Tick = Tick::read, Group::adopted;
    editions: Editions = Editions::read, nothing;
    event_delivery: EventDelivery = EventDelivery::read, everything;
    alerts: Alerts = Alerts::read, everything;
    status_page: StatusPage = status::status_page, Group::adopted;
    heartbeat: Heartbeat = Heartbeat::read, Group::adopted;
    events: Events = Events::read, nothing;
    log: Log = Log::read, Group::adopted;
    telemetry: Telemetry = log::telemetry, Group::adopted;
    hidden: Hidden = Hidden::read, everything;
}

/// A section whose keys all wait for the next start.
fn nothing<T: Clone>(before: &T, _: &T) -> T {
    before.clone()
}

/// A section whose keys are all reloadable.
fn everything<T: Clone>(_: &T, after: &T) -> T {
    after.clone()
}
