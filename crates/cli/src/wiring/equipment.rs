//! What a node is built from, at the start and at a reload.
//!
//! Some of it lasts as long as the process: the store, the time, the sources' host paces, editions.
//! The rest is built from the settings and can be replaced under a running node
//! ([`Equipment::tools`], [`Equipment::exchange`]): a start and a reload use the same code. Running
//! work keeps what it started with, the HTTP client and its trusted origins included.
//!
//! What must stay true: a set of tools is complete before any of it is used.

use std::{collections::BTreeMap, io::Write, path::PathBuf, sync::Arc};

use almanack_adapters::disk;
use almanack_core::{
    event::outgoing::Subscriptions, signature::Verifier, store::Store, time::Clock,
};
use almanack_engine::{
    editions::EditionSet,
    handlers::Handlers,
    node::{NodeSettings, Ports},
    reloadable::Reloadable,
    reschedule::{Kinds, Rescheduler},
    runner::RunnerSettings,
    tick::Ticker,
    watch::{self, Watching},
    work::Work,
};
use almanack_server::{Publishers, Reporting, Tick};

use super::{
    Lookout, Outbound, Timing, alerts,
    editions::{self, Purpose, Workshop},
    entropy, event_delivery, kinds, node_settings, rescheduler, runner_settings,
    sources::{Kept, fleet, hubs, node_checker},
    store_folder,
    targets::{self, Own},
};
use crate::{
    config::Settings,
    failure::Result,
    telemetry::{Telemetry, Tracer},
};

/// What a process has before it is a node.
pub(crate) struct Ground<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) environment: &'a BTreeMap<String, String>,
    pub(crate) outbound: &'a Outbound,
    /// For the duties of the node.
    pub(crate) store: &'a Arc<dyn Store>,
    /// For requests: changes from outside delay no duty.
    pub(crate) changes: &'a Arc<dyn Store>,
    pub(crate) pages: &'a Arc<dyn Store>,
    pub(crate) timing: &'a Timing,
    /// The node's name.
    pub(crate) node: &'a str,
    /// Where editions are printed in test mode.
    pub(crate) paper: Box<dyn Write + Send>,
}

/// What lasts, and the active tools.
pub(crate) struct Equipment {
    lasting: Lasting,
    handlers: Reloadable<Handlers>,
    runner: Reloadable<RunnerSettings>,
    watching: Reloadable<Watching>,
    verifier: Reloadable<Option<Arc<dyn Verifier>>>,
    reporting: Reloadable<Option<Reporting>>,
    /// The folder of the store, where it is one of this machine.
    folder: Option<PathBuf>,
}

/// What lasts as long as the process.
pub(super) struct Lasting {
    pub(super) environment: BTreeMap<String, String>,
    pub(super) store: Arc<dyn Store>,
    /// Other connections than those that claim.
    pub(super) changes: Arc<dyn Store>,
    pub(super) timing: Timing,
    pub(super) rescheduler: Arc<Rescheduler>,
    sources: Lookout,
    /// Produces editions, if this process does.
    pub(super) editions: EditionSet,
    subscriptions: Reloadable<Subscriptions>,
    tracer: Tracer,
}

/// What can be replaced, built from one set of settings.
pub(crate) struct Tools {
    handlers: Handlers,
    subscriptions: Subscriptions,
    runner: RunnerSettings,
    kinds: Kinds,
    watching: Watching,
    verifier: Option<Arc<dyn Verifier>>,
    reporting: Option<Reporting>,
}

impl Equipment {
    /// Everything, ready for a node to be admitted with. Traces are exported until the other half
    /// is finished.
    pub(crate) fn new(ground: Ground<'_>) -> Result<(Self, Telemetry)> {
        let Ground {
            settings,
            outbound,
            store,
            changes,
            pages,
            timing,
            ..
        } = ground;
        let clock: Arc<dyn Clock> = timing.clock.clone();
        let telemetry = Telemetry::start(
            &settings.telemetry,
            ground.node,
            (outbound.client(), Arc::clone(&clock)),
        )?;
        let rescheduler = rescheduler(settings, Arc::clone(changes), Arc::clone(&clock));
        let rescheduler = Arc::new(rescheduler.reaching(outbound.reach()));
        let subscriptions = Reloadable::new(settings.event_delivery.subscriptions());
        let workshop = Workshop {
            settings,
            outbound,
            store: changes,
            pages,
            rescheduler: &rescheduler,
            subscriptions: &subscriptions,
            clock,
            sleeper: timing.sleeper.clone(),
            node: ground.node,
        };
        let editions = workshop.editions(Purpose::Make, ground.paper)?;
        let fleet = fleet(settings);
        let kept = Kept {
            environment: ground.environment,
            fleet: &fleet,
        };
        let checker = node_checker(settings, kept, store, timing)?;
        let hubs = hubs(settings, checker.clone());
        let lasting = Lasting {
            environment: ground.environment.clone(),
            store: Arc::clone(store),
            changes: Arc::clone(changes),
            timing: timing.clone(),
            sources: Lookout::new(
                settings,
                (store, changes),
                (&timing.clock, Arc::clone(&rescheduler)),
                (Arc::new(checker), hubs, fleet),
            ),
            rescheduler,
            editions,
            subscriptions,
            tracer: telemetry.tracer(),
        };
        let tools = lasting.tools(settings, outbound)?;
        let equipment = Self {
            lasting,
            handlers: Reloadable::new(tools.handlers),
            runner: Reloadable::new(tools.runner),
            watching: Reloadable::new(tools.watching),
            verifier: Reloadable::new(tools.verifier),
            reporting: Reloadable::new(tools.reporting),
            folder: store_folder(&settings.database),
        };
        Ok((equipment, telemetry))
    }

    /// What can be replaced, built from these settings and this outbound client.
    pub(crate) fn tools(&self, settings: &Settings, outbound: &Outbound) -> Result<Tools> {
        self.lasting.tools(settings, outbound)
    }

    /// Activates tools.
    pub(crate) fn exchange(&self, tools: Tools) {
        // Handlers first, then the intake: an accepted task finds its handler.
        self.handlers.put(tools.handlers);
        self.runner.put(tools.runner);
        self.lasting.subscriptions.put(tools.subscriptions);
        self.lasting.rescheduler.accept(tools.kinds);
        self.watching.put(tools.watching);
        self.verifier.put(tools.verifier);
        self.reporting.put(tools.reporting);
    }

    /// What a node works with.
    pub(crate) fn ports(&self) -> Ports {
        let Lasting { store, timing, .. } = &self.lasting;
        Ports {
            handlers: self.handlers.clone(),
            subscriptions: self.lasting.subscriptions.clone(),
            store: Arc::clone(store),
            sleeper: timing.sleeper.clone(),
            clock: timing.clock.clone(),
            entropy: entropy(),
        }
    }

    /// Hands tasks of pulled kinds to workers, by other connections than those that keep leases.
    pub(crate) fn work(&self) -> Arc<Work> {
        let ports = Ports {
            store: Arc::clone(&self.lasting.changes),
            ..self.ports()
        };
        Work::new(ports, self.runner.clone())
    }

    /// Who gets events.
    pub(crate) fn subscriptions(&self) -> Reloadable<Subscriptions> {
        self.lasting.subscriptions.clone()
    }

    /// What a node may run at once.
    pub(crate) fn runner(&self) -> Reloadable<RunnerSettings> {
        self.runner.clone()
    }

    /// The description of the node.
    pub(crate) fn node_settings(&self, settings: &Settings, name: String) -> NodeSettings {
        NodeSettings {
            runner: self.runner.clone(),
            ..node_settings(settings, name)
        }
    }

    /// Evaluates the alert rules.
    pub(crate) fn watch(&self) -> watch::Watch {
        let Lasting { store, timing, .. } = &self.lasting;
        let (store, clock) = (Arc::clone(store), timing.clock.clone());
        let watch = watch::Watch::new(store, clock, self.watching.clone());
        match self.folder.clone() {
            Some(folder) => watch.measuring(Arc::new(move || disk::free_bytes(&folder).ok())),
            None => watch,
        }
    }

    /// The intake of task changes.
    pub(crate) fn rescheduler(&self) -> Arc<Rescheduler> {
        Arc::clone(&self.lasting.rescheduler)
    }

    /// Sources and their maintenance.
    pub(crate) fn sources(&self) -> &Lookout {
        &self.lasting.sources
    }

    /// What publishers and their hubs may do at this node.
    pub(crate) fn publishers(&self, settings: &Settings) -> Publishers {
        let Lasting {
            sources,
            subscriptions,
            ..
        } = &self.lasting;
        sources.publishers(settings, subscriptions)
    }

    /// Alert rules and channels.
    pub(crate) fn watching(&self) -> Reloadable<Watching> {
        self.watching.clone()
    }

    /// Produces editions, if they are on.
    pub(crate) fn editions(&self) -> EditionSet {
        self.lasting.editions.clone()
    }

    /// Takes reports about firings.
    pub(crate) fn reporting(&self) -> Reloadable<Option<Reporting>> {
        self.reporting.clone()
    }

    /// Ticks on request, for callers with the secret.
    pub(crate) fn tick(&self, passes: Ticker) -> Tick {
        Tick {
            ticker: Some(Arc::new(passes.running(self.runner()))),
            verifier: self.verifier.clone(),
        }
    }
}

impl Lasting {
    fn tools(&self, settings: &Settings, outbound: &Outbound) -> Result<Tools> {
        let clock: Arc<dyn Clock> = self.timing.clock.clone();
        let key = settings.tick.secret.clone();
        let own = Own {
            settings,
            outbound,
            lasting: self,
        };
        let report_key = settings.callback.secret.clone();
        Ok(Tools {
            handlers: self.handlers(own)?,
            subscriptions: settings.event_delivery.subscriptions(),
            runner: runner_settings(settings),
            kinds: kinds(settings),
            watching: alerts::watching(settings, &self.environment, outbound, &clock)?,
            verifier: key.map(|key| Arc::new(key) as Arc<dyn Verifier>),
            reporting: report_key.map(|key| Reporting {
                verifier: Arc::new(key),
                logs: Arc::new(targets::run_logs(own)),
            }),
        })
    }

    fn handlers(&self, own: Own<'_>) -> Result<Handlers> {
        let handlers = targets::handlers(own)?;
        let handlers = event_delivery::reporting(handlers, own)?;
        let handlers = self.sources.looking(handlers, &self.subscriptions)?;
        let handlers = editions::running(handlers, own)?;
        Ok(self.tracer.watching(handlers))
    }
}
