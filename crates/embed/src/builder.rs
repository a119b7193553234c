//! What to start: a database, handlers, and how much at once.

use std::{collections::BTreeMap, fmt::Display, sync::Arc};

use almanack_core::{
    event::outgoing::Subscriptions,
    handler::Handler,
    lease::LeasePolicy,
    store::Store,
    task::{Kind, PAYLOAD_BYTES_MAX},
    time::{CorrectedClock, Entropy},
};
use almanack_engine::{
    handlers::Handlers,
    inbox::Inbox,
    node::{self, NodeSettings, Ports},
    reloadable::Reloadable,
    reschedule::{Kinds, Rescheduler},
    retention::Retention,
    runner::RunnerSettings,
};
use almanack_machine::{
    clock::{ClockSleeper, node_clock},
    entropy::OsEntropy,
};
use almanack_store::{Location, sqlite::Durability};
use jiff::SignedDuration;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use crate::{
    Almanack, Attempt, Error, Outcome,
    handler::{Elsewhere, Function},
};

/// What to start. Every process on one database should have the same handlers: a task that is
/// claimed where its kind has none waits for a minute.
#[derive(Default)]
pub struct Builder {
    database: Option<String>,
    name: Option<String>,
    slots: Option<usize>,
    lease: Option<SignedDuration>,
    keep: Option<SignedDuration>,
    handlers: BTreeMap<String, Arc<dyn Handler>>,
}

impl Builder {
    /// Where tasks are kept: `sqlite:PATH`, for one process, or `postgres://…`, for any number. It
    /// is created and migrated as needed.
    #[must_use]
    pub fn database(mut self, url: &str) -> Self {
        self.database = Some(url.to_owned());
        self
    }

    /// What people call this process; a random name otherwise. No two processes have the same.
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// How many tasks are tried at once; 64 otherwise.
    #[must_use]
    pub fn slots(mut self, slots: usize) -> Self {
        self.slots = Some(slots.max(1));
        self
    }

    /// How long after this process died its tasks are tried by another one; 30 seconds otherwise.
    #[must_use]
    pub fn lease(mut self, lease: SignedDuration) -> Self {
        self.lease = Some(lease);
        self
    }

    /// How long ended tasks are kept; for ever otherwise.
    #[must_use]
    pub fn keep(mut self, keep: SignedDuration) -> Self {
        self.keep = Some(keep);
        self
    }

    /// Tasks of `kind` are tried by this function. An error is a failure that may pass: it is tried
    /// again, with growing waits, as often as the task allows. A payload that does not fit `P` is a
    /// failure for good.
    #[must_use]
    pub fn handler<F, P, Trying, E>(mut self, kind: &str, function: F) -> Self
    where
        F: Fn(Attempt<P>) -> Trying + Send + Sync + 'static,
        Trying: Future<Output = Result<Outcome, E>> + Send + 'static,
        P: DeserializeOwned + Send + 'static,
        E: Display + Send + 'static,
    {
        let handler = Arc::new(Function::new(function));
        self.handlers.insert(kind.to_owned(), handler);
        self
    }

    /// Opens the database and works until it is stopped.
    pub async fn start(self) -> Result<Almanack, Error> {
        let url = self.database.as_deref().ok_or(Error::NoDatabase)?;
        let location = Location::parse(url)?;
        let handlers = self.handlers()?;
        let stores = almanack_store::open_for_all(&location, Durability::default()).await?;
        let node_lock = almanack_store::lock_node(&location)?;
        let clock = node_clock(&*stores.work).await?;
        let kinds = Kinds {
            configured: handlers.keys().cloned().collect(),
            ..Kinds::default()
        };
        let rescheduler = Rescheduler::new(stores.changes.clone(), clock.clone(), kinds);
        let rescheduler = Arc::new(rescheduler);
        let ports = ports(stores.work, &clock, handlers);
        let settings = self.node_settings(&*ports.entropy);
        let mut node = node::admit(ports, settings).await?;
        let (changes, taking) = (stores.changes.clone(), rescheduler.clone());
        node.inbox = Inbox::new(changes, taking, clock.clone(), PAYLOAD_BYTES_MAX);
        let stop = CancellationToken::new();
        Ok(Almanack {
            store: stores.changes,
            clock,
            rescheduler,
            working: tokio::spawn(node.run(stop.clone())),
            _stop_when_dropped: stop.clone().drop_guard(),
            stop,
            _node_lock: node_lock,
        })
    }

    fn handlers(&self) -> Result<BTreeMap<Kind, Arc<dyn Handler>>, Error> {
        let named = self.handlers.iter();
        let parsed = named.map(|(kind, handler)| Ok((Kind::parse(kind)?, handler.clone())));
        parsed.collect()
    }

    fn node_settings(&self, entropy: &dyn Entropy) -> NodeSettings {
        let random = || format!("embedded-{:08x}", entropy.next_u64() >> 32);
        NodeSettings {
            name: self.name.clone().unwrap_or_else(random),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            lease: lease(self.lease),
            runner: Reloadable::new(runner(self.slots)),
            retention: self.keep.map_or(Retention::Keep, Retention::After),
        }
    }
}

fn ports(
    store: Arc<dyn Store>,
    clock: &Arc<CorrectedClock>,
    handlers: BTreeMap<Kind, Arc<dyn Handler>>,
) -> Ports {
    let otherwise = Handlers::new(Arc::new(Elsewhere(clock.clone())));
    let with = |all: Handlers, (kind, handler)| all.with(kind, handler);
    Ports {
        store,
        clock: clock.clone(),
        sleeper: Arc::new(ClockSleeper::new(clock.clone())),
        entropy: Arc::new(OsEntropy::default()),
        handlers: Reloadable::new(handlers.into_iter().fold(otherwise, with)),
        subscriptions: Reloadable::new(Subscriptions::default()),
    }
}

fn lease(ttl: Option<SignedDuration>) -> LeasePolicy {
    ttl.map_or_else(LeasePolicy::default, |ttl| LeasePolicy {
        ttl,
        margin: ttl / 6,
        beat: ttl / 6,
    })
}

fn runner(slots: Option<usize>) -> RunnerSettings {
    let usual = RunnerSettings::default();
    RunnerSettings {
        slots: slots.unwrap_or(usual.slots),
        ..usual
    }
}
