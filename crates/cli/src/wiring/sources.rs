//! Sources on a node: checks, settings and maintenance.

use std::sync::Arc;

use almanack_adapters::{
    feed::checker::FeedChecker,
    http::{
        Limits,
        host_paces::{HostPaces, Sharing},
    },
};
use almanack_core::{
    event::outgoing::Subscriptions,
    source::{SOURCE_CHECK, check::Checker, filter::Filters},
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
    },
};

use super::{Timing, entropy, is_shared, outbound, own_kind, timeout};
use crate::{config::Settings, failure::Result};

/// Checks sources, with host paces of this process only: for commands and for single-node stores.
pub(crate) fn checker(settings: &Settings, clock: Arc<dyn Clock>) -> Result<Arc<dyn Checker>> {
    checker_in(settings, HostPaces::new(settings.sources.pace(), clock))
}

fn checker_in(settings: &Settings, host_paces: HostPaces) -> Result<Arc<dyn Checker>> {
    let sources = &settings.sources;
    let client = outbound::fetching(settings)?;
    let limits = Limits {
        total: timeout(sources.timeout),
        body_bytes: sources.body_bytes,
        ..Limits::default()
    };
    Ok(Arc::new(FeedChecker::with_limits(
        client, host_paces, limits,
    )))
}

/// The same for a node: where several nodes share a database, they share their host paces.
pub(super) fn node_checker(
    settings: &Settings,
    store: &Arc<dyn Store>,
    timing: &Timing,
) -> Result<Arc<dyn Checker>> {
    let (pace, clock) = (settings.sources.pace(), Arc::clone(&timing.clock));
    if !is_shared(&settings.database) {
        return checker(settings, clock);
    }
    let sharing = Sharing {
        store: Arc::clone(store) as Arc<dyn PermitStore>,
        clock,
        sleeper: Arc::clone(&timing.sleeper),
        lease: settings.node.lease_policy(),
        visitor: format!("{:016x}", entropy().next_u64()),
    };
    checker_in(settings, HostPaces::sharing(pace, sharing))
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
        // Each was read when the settings were.
        filters: Filters::parse(&sources.filters).unwrap_or_default(),
    }))
}

/// What a node needs to check and maintain sources.
#[derive(Clone)]
pub(crate) struct Lookout {
    checker: Arc<dyn Checker>,
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
        checker: Arc<dyn Checker>,
    ) -> Self {
        let clock: Arc<dyn Clock> = Arc::clone(clock) as Arc<dyn Clock>;
        let fleet = fleet(settings);
        let sources = Sources {
            store: Arc::clone(changes),
            clock: Arc::clone(&clock),
            rescheduler,
            checker: Arc::clone(&checker),
            fleet: Arc::clone(&fleet),
        };
        Self {
            checker,
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
        let handler = SourceHandler {
            store: Arc::clone(&self.store),
            clock: Arc::clone(&self.clock),
            checker: Arc::clone(&self.checker),
            fleet: Arc::clone(&self.fleet),
            subscriptions: subscriptions.clone(),
        };
        Ok(handlers.with(own_kind(SOURCE_CHECK)?, Arc::new(handler)))
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
