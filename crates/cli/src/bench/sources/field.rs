//! A store full of sources, and the nodes that check them.

use std::{collections::BTreeMap, sync::Arc};

use almanack_adapters::{clock::SystemClock, feed::checker::FeedChecker};
use almanack_core::{
    source::{Definition, SourceId, check::Checker, policy::Policy},
    store::{Added, Store},
    time::{Clock, CorrectedClock},
};
use almanack_engine::{
    handlers::Handlers,
    node::{self, Ports},
    reloadable::Reloadable,
    sources::{Sources, fleet::Fleet},
};
use almanack_store::{Location, scratch, sqlite::Durability};
use jiff::{SignedDuration, Timestamp};

use super::{
    Error, Result,
    meter::{Counting, Meter},
};
use crate::{
    bench::{RunningNode, wrong},
    config::Settings,
    failure::Failure,
    wiring::{self, Kept, Lookout},
};

const BATCH: usize = 1_000;
/// The first checks of sources added together are a tenth of a second apart. Added this long ago,
/// the whole batch is due.
const ADDED_AGO: SignedDuration = SignedDuration::from_mins(2);
const BY: &str = "bench";

/// A store and, while started, its nodes.
pub(super) struct Field {
    location: Location,
    settings: Settings,
    /// A separate one for every node, as if each were a process.
    stores: Vec<Arc<dyn Store>>,
    meter: Meter,
    running: Vec<RunningNode>,
    started: usize,
    ids: Vec<SourceId>,
}

/// A clock that is behind by as much as sources are to be overdue.
struct Late;

impl Clock for Late {
    fn now(&self) -> Timestamp {
        let now = SystemClock.now();
        now.saturating_sub(ADDED_AGO).unwrap_or(now)
    }
}

impl Field {
    pub(super) async fn open(
        location: Location,
        durability: Durability,
        settings: &Settings,
        nodes: usize,
    ) -> Result<Self> {
        let mut stores = Vec::new();
        for _ in 0..nodes.max(1) {
            stores.push(almanack_store::open(&location, durability).await?);
        }
        Ok(Self {
            location,
            settings: settings.clone(),
            stores,
            meter: Meter::start(),
            running: Vec::new(),
            started: 0,
            ids: Vec::new(),
        })
    }

    /// Bytes in the database.
    pub(super) async fn bytes(&self) -> Result<u64> {
        Ok(scratch::bytes(&self.location).await?)
    }

    /// Adds sources, all of them due.
    pub(super) async fn add(
        &mut self,
        definitions: impl Iterator<Item = Definition>,
    ) -> Result<()> {
        let sources = self.sources(&(Arc::new(Late) as Arc<dyn Clock>))?;
        let mut definitions = definitions.peekable();
        while definitions.peek().is_some() {
            let batch = definitions.by_ref().take(BATCH).collect();
            let added = sources.add(batch, BY).await;
            let added = added.map_err(wrong)?.into_iter();
            self.ids.extend(added.map(|added| match added {
                Added::New(id) | Added::Exists(id) => id,
            }));
        }
        Ok(())
    }

    /// How many sources there are.
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Nodes started from now on check a source again after `interval`.
    pub(super) fn come_again_after(&mut self, interval: SignedDuration) {
        self.settings.sources.policy = Policy::Fixed(interval);
    }

    /// Makes the next `count` sources due at `due_at`, least recently used first.
    pub(super) async fn put(&mut self, count: usize, due_at: Timestamp) -> Result<()> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let sources = self.sources(&clock)?;
        let count = count.min(self.ids.len());
        self.ids.rotate_left(count);
        for batch in self.ids[self.ids.len() - count..].chunks(BATCH) {
            let dues = batch.iter().map(|id| (*id, due_at)).collect();
            sources.put(dues, BY).await.map_err(wrong)?;
        }
        Ok(())
    }

    fn store(&self) -> Result<Arc<dyn Store>> {
        let first = self.stores.first().cloned();
        first.ok_or_else(|| wrong("there is no store"))
    }

    fn sources(&self, clock: &Arc<dyn Clock>) -> Result<Sources> {
        let rescheduler = wiring::rescheduler(&self.settings, self.store()?, clock.clone());
        let fleet = wiring::fleet(&self.settings);
        Ok(Sources {
            store: self.store()?,
            clock: clock.clone(),
            rescheduler: Arc::new(rescheduler),
            checker: self.checker(clock, &fleet)?,
            fleet,
        })
    }

    fn checker(&self, clock: &Arc<dyn Clock>, fleet: &Fleet) -> Result<Arc<dyn Checker>> {
        Ok(self.counted(self.feed_checker(clock, fleet)?))
    }

    fn feed_checker(&self, clock: &Arc<dyn Clock>, fleet: &Fleet) -> Result<FeedChecker> {
        let environment = &BTreeMap::new();
        let kept = Kept { environment, fleet };
        wiring::checker(&self.settings, kept, clock.clone()).map_err(|it| failed(&it))
    }

    fn counted(&self, checker: FeedChecker) -> Arc<dyn Checker> {
        Arc::new(Counting {
            checker: Arc::new(checker),
            meter: self.meter(),
        })
    }

    /// The meter of all nodes.
    pub(super) fn meter(&self) -> Meter {
        self.meter.clone()
    }

    pub(super) async fn start(&mut self) -> Result<()> {
        for store in self.stores.clone() {
            self.started += 1;
            let clock = wiring::node_clock(store.as_ref()).await?;
            let running = self.start_node(store, clock).await?;
            self.running.push(running);
        }
        Ok(())
    }

    async fn start_node(
        &self,
        store: Arc<dyn Store>,
        clock: Arc<CorrectedClock>,
    ) -> Result<RunningNode> {
        let fleet = wiring::fleet(&self.settings);
        let checker = self.feed_checker(&(clock.clone() as Arc<dyn Clock>), &fleet)?;
        let hubs = wiring::hubs(&self.settings, checker.clone());
        let checker = self.counted(checker);
        let way_in = wiring::rescheduler(&self.settings, store.clone(), clock.clone());
        let times = (&clock, Arc::new(way_in));
        let outside = (checker, hubs, fleet);
        let lookout = Lookout::new(&self.settings, (&store, &store), times, outside);
        let subscriptions = Reloadable::default();
        let handlers = Handlers::new(Arc::new(super::super::Counting::default()));
        let handlers = lookout.looking(handlers, &subscriptions);
        let ports = Ports {
            handlers: handlers.map_err(|it| failed(&it))?.into(),
            store,
            sleeper: wiring::sleeper(clock.clone()),
            clock,
            entropy: wiring::entropy(),
            subscriptions,
        };
        let settings = wiring::node_settings(&self.settings, format!("bench-{}", self.started));
        let mut node = node::admit(ports, settings).await?;
        lookout.hear().await.map_err(|it| failed(&it))?;
        node.sources = Some(lookout.keeper());
        Ok(RunningNode::start(node))
    }

    /// Stops all nodes after their running work.
    pub(super) async fn stop(&mut self) -> Result<()> {
        for running in &self.running {
            running.stop.cancel();
        }
        for running in self.running.drain(..) {
            running.stop().await?;
        }
        Ok(())
    }
}

fn failed(failure: &Failure) -> Error {
    wrong(failure.text())
}
