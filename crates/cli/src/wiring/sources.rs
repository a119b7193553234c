//! Sources on a node: checks, settings and maintenance.

use std::{collections::BTreeMap, sync::Arc};

use almanack_adapters::{
    feed::{
        checker::FeedChecker,
        websub::{Home, WebSub},
    },
    http::{
        Limits,
        host_paces::{HostPaces, Sharing},
    },
};
use almanack_core::{
    event::outgoing::Subscriptions,
    source::{
        SOURCE_CHECK,
        check::Checker,
        filter::Filters,
        hub::{Hubs, Reach},
    },
    store::{PermitStore, Store},
    time::{Clock, CorrectedClock},
};
use almanack_engine::{
    handlers::Handlers,
    reloadable::Reloadable,
    reschedule::Rescheduler,
    sources::{
        Sources,
        check::SourceHandler,
        fleet::{Fleet, FleetSettings},
        keeper::{KeepEntries, SourceKeeper},
        push::Push,
    },
};
use almanack_server::Publishers;

use super::{Timing, entropy, is_shared, outbound, own_kind, secrets::ReleasedSecrets, timeout};
use crate::{config::Settings, failure::Result};

/// Checks sources, with host paces of this process only: for commands and for single-node stores.
pub(crate) fn checker(
    settings: &Settings,
    kept: Kept<'_>,
    clock: Arc<dyn Clock>,
) -> Result<FeedChecker> {
    let host_paces = HostPaces::new(settings.sources.pace(), clock);
    checker_in(settings, kept, host_paces)
}

/// What a checker reads secrets from, and where it counts its requests.
#[derive(Clone, Copy)]
pub(crate) struct Kept<'a> {
    pub(crate) environment: &'a BTreeMap<String, String>,
    pub(crate) fleet: &'a Fleet,
}

fn checker_in(settings: &Settings, kept: Kept<'_>, host_paces: HostPaces) -> Result<FeedChecker> {
    let sources = &settings.sources;
    let client = outbound::fetching(settings)?;
    let limits = Limits {
        total: timeout(sources.timeout),
        body_bytes: sources.body_bytes,
        ..Limits::default()
    };
    let secrets = ReleasedSecrets::for_sources(settings, kept.environment);
    Ok(FeedChecker::with_limits(client, host_paces, limits)
        .with_secrets(Arc::new(secrets))
        .reading_entries(sources.entries_per_document)
        .counted_in(kept.fleet.courtesy()))
}

/// Asks hubs to push, as `checker` asks sources.
pub(crate) fn hubs(settings: &Settings, checker: FeedChecker) -> Arc<dyn Hubs> {
    let home = Home {
        public_url: settings.server.public_url.clone(),
        is_on: settings.sources.push,
        key: settings.sources.push_secret.clone(),
    };
    Arc::new(WebSub::new(checker, home, entropy()))
}

/// Whether hubs can push to the nodes of these settings.
pub(crate) fn reach(settings: &Settings) -> Reach {
    match (settings.sources.push, &settings.server.public_url) {
        (false, _) => Reach::Off,
        (true, None) => Reach::NoAddress,
        (true, Some(_)) => Reach::Open,
    }
}

/// The same for a node: where several nodes share a database, they share their host paces.
pub(super) fn node_checker(
    settings: &Settings,
    kept: Kept<'_>,
    store: &Arc<dyn Store>,
    timing: &Timing,
) -> Result<FeedChecker> {
    let (pace, clock) = (settings.sources.pace(), Arc::clone(&timing.clock));
    if !is_shared(&settings.database) {
        return checker(settings, kept, clock);
    }
    let sharing = Sharing {
        store: Arc::clone(store) as Arc<dyn PermitStore>,
        clock,
        sleeper: Arc::clone(&timing.sleeper),
        lease: settings.node.lease_policy(),
        visitor: format!("{:016x}", entropy().next_u64()),
    };
    checker_in(settings, kept, HostPaces::sharing(pace, sharing))
}

/// What all sources together may cost.
pub(crate) fn fleet(settings: &Settings) -> Arc<Fleet> {
    let sources = &settings.sources;
    Arc::new(Fleet::new(FleetSettings {
        policy: sources.policy.clone(),
        fallback: sources.interval,
        floor: sources.floor,
        ceiling: sources.ceiling,
        checks_per_day: f64::from(sources.checks_per_day),
        slow_share: f64::from(sources.slow_percent) / 100.0,
        // Each was read when the settings were.
        filters: Filters::parse(&sources.filters).unwrap_or_default(),
    }))
}

/// What a node needs to check and maintain sources.
#[derive(Clone)]
pub(crate) struct Lookout {
    checker: Arc<dyn Checker>,
    hubs: Arc<dyn Hubs>,
    fleet: Arc<Fleet>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    keep: KeepEntries,
    /// Requests of people about sources.
    pub(crate) sources: Arc<Sources>,
}

impl Lookout {
    /// Ready to check. The price is not known before [`Lookout::hear`].
    pub(crate) fn new(
        settings: &Settings,
        (work, changes): (&Arc<dyn Store>, &Arc<dyn Store>),
        (clock, rescheduler): (&Arc<CorrectedClock>, Arc<Rescheduler>),
        (checker, hubs, fleet): (Arc<dyn Checker>, Arc<dyn Hubs>, Arc<Fleet>),
    ) -> Self {
        let clock: Arc<dyn Clock> = Arc::clone(clock) as Arc<dyn Clock>;
        let sources = Sources {
            store: Arc::clone(changes),
            clock: Arc::clone(&clock),
            rescheduler,
            checker: Arc::clone(&checker),
            fleet: Arc::clone(&fleet),
        };
        Self {
            checker,
            hubs,
            fleet,
            store: Arc::clone(work),
            clock,
            keep: KeepEntries {
                for_long: settings.sources.keep_for(),
                per_source: settings.sources.keep_per_source,
            },
            sources: Arc::new(sources),
        }
    }

    /// Reads the price that all nodes share.
    pub(crate) async fn hear(&self) -> Result<()> {
        Ok(self.fleet.hear(self.store.as_ref()).await?)
    }

    /// Adds the checks of this node to the shared count.
    pub(crate) async fn report(&self) -> Result<()> {
        Ok(self.fleet.report(self.store.as_ref()).await?)
    }

    /// The same handlers, plus the one for `SOURCE_CHECK`.
    pub(crate) fn looking(
        &self,
        handlers: Handlers,
        subscriptions: &Reloadable<Subscriptions>,
    ) -> Result<Handlers> {
        let handler = self.handler(subscriptions);
        Ok(handlers.with(own_kind(SOURCE_CHECK)?, Arc::new(handler)))
    }

    fn handler(&self, subscriptions: &Reloadable<Subscriptions>) -> SourceHandler {
        SourceHandler {
            store: Arc::clone(&self.store),
            clock: Arc::clone(&self.clock),
            checker: Arc::clone(&self.checker),
            fleet: Arc::clone(&self.fleet),
            subscriptions: subscriptions.clone(),
            hubs: Arc::clone(&self.hubs),
        }
    }

    /// What publishers and their hubs may do at this node.
    pub(crate) fn publishers(
        &self,
        settings: &Settings,
        subscriptions: &Reloadable<Subscriptions>,
    ) -> Publishers {
        let push = Push {
            sources: Arc::clone(&self.sources),
            handler: self.handler(subscriptions),
            body_bytes: settings.sources.body_bytes,
        };
        Publishers {
            push: Some(Arc::new(push)),
            reach: self.hubs.reach(),
            ping: settings.sources.ping,
        }
    }

    /// Maintains the price, the tasks of sources and their entries.
    pub(crate) fn keeper(&self) -> SourceKeeper {
        SourceKeeper {
            store: Arc::clone(&self.store),
            clock: Arc::clone(&self.clock),
            sources: Arc::clone(&self.sources),
            fleet: Arc::clone(&self.fleet),
            keep: self.keep,
        }
    }
}
