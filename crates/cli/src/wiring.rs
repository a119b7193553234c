//! Concrete types behind the ports, and settings in the shape that each of them wants.

pub(crate) mod alerts;
mod buses;
pub(crate) mod editions;
mod equipment;
mod event_delivery;
pub(crate) mod opml;
mod outbound;
mod secrets;
mod sources;
mod targets;
mod timing;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use almanack_adapters::{
    calendar::HttpCalendars,
    call::Behaviour,
    callback::{CallbackHandler, CallbackSettings},
    clock::{SystemClock, guarded_clock},
    entropy::OsEntropy,
    http::SystemResolver,
    password::Argon2id,
};
use almanack_core::{
    address::Reach,
    event::outgoing::{self, Subscriptions},
    plan::PING_DELIVERY,
    reserved,
    secret::Secrets,
    share::ShareBy,
    sign_in::password::Passwords,
    store::Store,
    task::Kind,
    time::{Clock, CorrectedClock, Entropy},
    work::Deliver,
};
use almanack_engine::{
    backups::Backups,
    calendars::Calendars,
    counters::Counters,
    inbox::Inbox,
    keeper::correct_clock,
    node::NodeSettings,
    pace::Paces,
    reloadable::Reloadable,
    reschedule::{Kinds, Rescheduler},
    retention,
    runner::{RunnerSettings, Shares},
    schedules::Schedules,
    tick::Ticker,
    zones::Zones,
};
use almanack_store::{Handles, Location, backup::Rotation, sqlite};
use jiff::SignedDuration;

use crate::{
    config::{
        Settings,
        secret::without_password,
        settings::{Database, Edition, KindSettings},
    },
    failure::{Failure, Result},
};

pub(crate) use almanack_adapters::clock::node_clock;
pub(crate) use buses::Buses;
pub(crate) use equipment::{Equipment, Ground};
pub(crate) use event_delivery::subscriptions;
pub(crate) use outbound::{Outbound, about, called, client_of, hooks, reach, status_page};
pub(crate) use sources::{Kept, Lookout, checker, fleet, hubs, reach as push_reach};
pub(crate) use timing::{Time, Timing, sleeper};

pub(crate) fn entropy() -> Arc<dyn Entropy> {
    Arc::new(OsEntropy::default())
}

pub(crate) fn passwords() -> Arc<dyn Passwords> {
    Arc::new(Argon2id::default())
}

/// The machine's clock, for a command that asks no database.
pub(crate) fn machine_clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
}

/// The clock of a short command: the machine's, corrected once to the
/// database's, so that "now" means the same to the command and to the nodes.
pub(crate) async fn clock(store: &dyn Store) -> Result<Arc<dyn Clock>> {
    if store.database_time().await?.is_none() {
        return Ok(Arc::new(guarded_clock(store).await?));
    }
    let clock = CorrectedClock::new(Arc::new(SystemClock));
    correct_clock(store, &clock).await?;
    Ok(Arc::new(clock))
}

/// The database's file, if it is one.
pub(crate) fn sqlite_file(database: &Database) -> Option<PathBuf> {
    match Location::parse(database.url.expose()) {
        Ok(Location::Sqlite(path)) => Some(path),
        _ => None,
    }
}

/// The SQLite file that opening would create. A command that only reads must not leave an empty
/// database behind, and should report that there are no tasks.
pub(crate) fn missing_file(database: &Database) -> Option<PathBuf> {
    sqlite_file(database).filter(|path| !path.exists())
}

/// Address under which others reach this node, without a `/` at its end.
pub(crate) fn public_url(settings: &Settings) -> Option<String> {
    let url = settings.server.public_url.as_ref()?;
    Some(url.as_str().trim_end_matches('/').to_owned())
}

/// The folder of the database's file, if it is a file.
pub(crate) fn store_folder(database: &Database) -> Option<PathBuf> {
    let path = sqlite_file(database)?;
    // One without a folder is in the current one.
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    Some(folder.map_or_else(|| PathBuf::from("."), PathBuf::from))
}

/// Writes scheduled backups, if they are configured.
pub(crate) fn backups(settings: &Settings, clock: &Arc<dyn Clock>) -> Option<Backups> {
    let folder = settings.backup.directory.clone()?;
    let store = sqlite_file(&settings.database)?;
    Some(Backups {
        vault: Arc::new(Rotation { store, folder }),
        every: settings.backup.every,
        keep: settings.backup.keep,
        clock: Arc::clone(clock),
    })
}

/// Whether several nodes may work on this database at once.
pub(crate) fn is_shared(database: &Database) -> bool {
    matches!(
        Location::parse(database.url.expose()),
        Ok(Location::Postgres(_))
    )
}

/// Opens the configured database; creates or migrates it where needed.
pub(crate) async fn open_store(database: &Database) -> Result<Arc<dyn Store>> {
    Ok(open_for_all(database).await?.work)
}

/// A store in memory.
pub(crate) fn scratch_store() -> Result<Arc<dyn Store>> {
    Ok(Arc::new(sqlite::SqliteStore::in_memory()?))
}

/// The same, for a process that serves requests.
pub(crate) async fn open_for_all(database: &Database) -> Result<Handles> {
    let url = database.url.expose();
    let phrase = format!("open database `{}`", without_password(url));
    let location = Location::parse(url).map_err(|error| Failure::usage(error).during(&phrase))?;
    let opened = almanack_store::open_for_all(&location, database.durability).await;
    opened.map_err(|error| Failure::from(error).during(&phrase))
}

/// Makes this process the node on a SQLite file; a second one is refused.
pub(crate) fn lock_node(database: &Database) -> Result<Option<sqlite::NodeLock>> {
    let location = Location::parse(database.url.expose()).map_err(Failure::usage)?;
    almanack_store::lock_node(&location).map_err(|occupied| {
        let failure = Failure::failed(format!("start node: {occupied}"));
        match occupied {
            sqlite::Occupied::ByAnother { .. } => failure.hint(
                "a SQLite file is for one node: stop that process, name another file with --database, \
                 or use PostgreSQL for several nodes",
            ),
            sqlite::Occupied::File { .. } => {
                failure.hint("check that this user may write the folder of the database")
            }
        }
    })
}

/// A kind that Almanack handles itself.
fn own_kind(name: &str) -> Result<Kind> {
    Kind::parse(name).map_err(Failure::failed)
}

/// The kinds that have a handler: those with an address, and those that workers take.
pub(crate) fn kinds(settings: &Settings) -> Kinds {
    let with_address = settings.kinds.iter().filter(|(_, kind)| kind.url.is_some());
    let with_address = with_address.map(|(kind, _)| kind.clone());
    let pulled = pulled(settings);
    Kinds {
        configured: with_address
            .chain(pulled.iter().cloned())
            .chain(
                reserved::KINDS
                    .into_iter()
                    .filter_map(|it| Kind::parse(it).ok()),
            )
            .collect(),
        pulled,
        addresses: by_kind(settings, |of_kind| {
            of_kind.url.as_ref().map(ToString::to_string)
        }),
        max_retry: by_kind(settings, |of_kind| of_kind.max_retry),
        expires_after_s: by_kind(settings, |of_kind| {
            u32::try_from(of_kind.expires_after?.as_secs()).ok()
        }),
        paces: paces(settings),
        share_by: share_by(settings),
        accept_any: false,
        waiting_max: Some(settings.limits.kinds),
    }
}

/// The intake of task changes.
pub(crate) fn rescheduler(
    settings: &Settings,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
) -> Rescheduler {
    Rescheduler::new(store, clock, kinds(settings))
}

/// Takes requests that were written in others' transactions, where the database has an inbox.
pub(crate) fn inbox(
    settings: &Settings,
    changes: &Arc<dyn Store>,
    rescheduler: Arc<Rescheduler>,
    clock: &Arc<impl Clock + 'static>,
) -> Option<Inbox> {
    let clock: Arc<dyn Clock> = clock.clone();
    let payload_bytes = settings.limits.payload_bytes;
    Inbox::new(Arc::clone(changes), rescheduler, clock, payload_bytes)
}

/// Requests of people about schedules.
pub(crate) fn schedules(
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    reach: Reloadable<Reach>,
    subscriptions: Reloadable<Subscriptions>,
) -> Arc<Schedules> {
    let schedules = Schedules::new(store, clock, Arc::new(Zones::default()));
    let schedules = schedules.reaching(reach).reporting_to(subscriptions);
    Arc::new(schedules.resolving(Arc::new(SystemResolver)))
}

/// Requests of people about calendars, and their upkeep.
pub(crate) fn calendars(
    store: &Arc<dyn Store>,
    clock: &Arc<impl Clock + 'static>,
    schedules: &Arc<Schedules>,
    outbound: &Outbound,
) -> Arc<Calendars> {
    let clock: Arc<dyn Clock> = clock.clone();
    let calendars = Calendars::new(store.clone(), clock, schedules.clone());
    Arc::new(calendars.reading_by(Arc::new(HttpCalendars::new(outbound.client()))))
}

/// Runs everything due on the node with these counters.
pub(crate) fn ticker(store: Arc<dyn Store>, timing: &Timing, counters: Arc<Counters>) -> Ticker {
    let (clock, sleeper) = (timing.clock.clone(), timing.sleeper.clone());
    Ticker::new(store, counters, clock, sleeper)
}

/// The description of a node.
pub(crate) fn node_settings(settings: &Settings, name: String) -> NodeSettings {
    NodeSettings {
        name,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        lease: settings.node.lease_policy(),
        runner: runner_settings(settings).into(),
        retention: kept_for(settings.retention.keep_for()),
    }
}

/// What a node may run at once, and how failures wait.
fn runner_settings(settings: &Settings) -> RunnerSettings {
    RunnerSettings {
        slots: settings.node.slots,
        limits: by_kind(settings, |of_kind| of_kind.slots),
        limits_in_all: by_kind(settings, |of_kind| of_kind.slots_in_all),
        pulled: pulled(settings),
        paces: paces(settings),
        share_by: share_by(settings),
        shares: shares(settings.node.slots),
        backoff: settings.retry,
        drain: settings.node.drain,
        ..RunnerSettings::default()
    }
}

/// How long the stories of archived editions are kept.
pub(crate) fn stories_kept(settings: &Settings) -> retention::Retention {
    kept_for(settings.editions.any().and_then(Edition::keep_for))
}

pub(crate) fn run_logs_kept(settings: &Settings) -> retention::Retention {
    kept_for(settings.retention.keep_run_logs_for())
}

fn kept_for(period: Option<SignedDuration>) -> retention::Retention {
    match period {
        Some(period) => retention::Retention::After(period),
        None => retention::Retention::Keep,
    }
}

/// The kinds whose tasks workers take.
fn pulled(settings: &Settings) -> BTreeSet<Kind> {
    let kinds = settings.kinds.iter();
    let pulled = kinds.filter(|(_, of_kind)| of_kind.deliver == Deliver::Pull);
    pulled.map(|(kind, _)| kind.clone()).collect()
}

/// How fast kinds may start.
fn paces(settings: &Settings) -> Paces {
    Paces(by_kind(settings, KindSettings::pace))
}

/// The kinds whose tasks take turns.
fn share_by(settings: &Settings) -> ShareBy {
    ShareBy(by_kind(settings, |of_kind| of_kind.share_by.clone()))
}

/// What is configured of each kind.
fn by_kind<T>(settings: &Settings, of: impl Fn(&KindSettings) -> Option<T>) -> BTreeMap<Kind, T> {
    let kinds = settings.kinds.iter();
    let set = kinds.filter_map(|(kind, of_kind)| Some((kind.clone(), of(of_kind)?)));
    set.collect()
}

/// The most that one of many may have of a node's slots: targets, sources, kinds and hosts that
/// hang must not take what everything else needs (SF-06, DP-18, SS-08).
fn share(slots: usize) -> usize {
    (slots * 3 / 4).max(1)
}

/// Attempts running for over a second, per slot of a node: they wait for answers.
const LONG_PER_SLOT: usize = 4;

/// How the kinds without a limit share a node's slots.
fn shares(slots: usize) -> Shares {
    // Subscribers are not under our control, and deliveries are never urgent.
    let few = (slots / 4).max(1);
    let kinds = [outgoing::KIND, PING_DELIVERY].into_iter();
    let of_kind = kinds.filter_map(|kind| Some((Kind::parse(kind).ok()?, few)));
    Shares {
        leaves_room: true,
        of_kind: of_kind.collect(),
        long_max: slots * LONG_PER_SLOT,
    }
}

/// Makes the calls to business services.
pub(crate) fn callback_handler(
    settings: &Settings,
    outbound: &Outbound,
    clock: Arc<dyn Clock>,
    secrets: Arc<dyn Secrets>,
) -> CallbackHandler {
    let otherwise = CallbackSettings {
        url: None,
        behaviour: behaviour(settings),
    };
    let usual = &otherwise.behaviour;
    let by_kind: BTreeMap<Kind, CallbackSettings> = settings
        .kinds
        .iter()
        .map(|(kind, of_kind)| {
            let call = CallbackSettings {
                url: of_kind.url.as_ref().map(ToString::to_string),
                behaviour: Behaviour {
                    timeout: of_kind.timeout.map_or(usual.timeout, timeout),
                    key: of_kind.secret.clone().or_else(|| usual.key.clone()),
                    already_done: of_kind.already_done.clone(),
                },
            };
            (kind.clone(), call)
        })
        .collect();
    CallbackHandler {
        caller: outbound.caller(clock),
        by_kind,
        otherwise,
        secrets,
    }
}

/// How services and hooks are called, unless their kind says otherwise.
fn behaviour(settings: &Settings) -> Behaviour {
    Behaviour {
        timeout: timeout(settings.callback.timeout),
        key: settings.callback.secret.clone(),
        already_done: Vec::new(),
    }
}

/// Settings bound timeouts from below, so none is negative.
fn timeout(setting: SignedDuration) -> Duration {
    setting.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Inputs, Need};

    #[test]
    fn sf_06_dp_18_ss_08_every_kind_and_host_leaves_a_quarter_of_a_node_to_everything_else() {
        for (slots, most) in [(64, 48), (4, 3), (1, 1)] {
            assert_eq!(share(slots), most, "{slots}");
            assert!(shares(slots).leaves_room, "{slots}");
        }
        let kind = Kind::parse(outgoing::KIND).unwrap();
        assert_eq!(shares(64).of_kind[&kind], 16);
        assert_eq!(
            shares(64).long_max,
            256,
            "kinds that wait for answers give way"
        );
    }

    #[test]
    fn what_is_set_about_kinds_and_backups_is_put_in_force() {
        let flags = [
            ("limits.kinds", "3"),
            ("kinds.MAIL.expires_after", "10m"),
            ("kinds.MAIL.retry_base", "2h"),
            ("kinds.PRICE.retry_cap", "2s"),
            ("backup.directory", "kept"),
            ("backup.every", "5m"),
            ("backup.keep", "2"),
        ];
        let flags =
            flags.map(|(key, value)| ("--set".to_owned(), key.to_owned(), value.to_owned()));
        let inputs = Inputs {
            flags: flags.to_vec(),
            ..Inputs::default()
        };
        let settings = config::load(&inputs, Need::Everything).settings.unwrap();
        assert_eq!(kinds(&settings).waiting_max, Some(3));
        let mail = Kind::parse("MAIL").unwrap();
        assert_eq!(kinds(&settings).expires_after_s, [(mail, 600)].into());
        let backoff = |kind: &KindSettings| kind.backoff(settings.retry).unwrap();
        let waits: Vec<_> = settings.kinds.values().map(backoff).collect();
        let waits: Vec<_> = waits.iter().map(|it| (it.base, it.cap)).collect();
        let (long, short) = (SignedDuration::from_hours(2), SignedDuration::from_secs(2));
        assert_eq!(waits, [(long, long), (short, short)], "never above the cap");
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let backups = backups(&settings, &clock).unwrap();
        assert_eq!(backups.every, SignedDuration::from_mins(5));
        assert_eq!(backups.keep, 2);
    }
}
