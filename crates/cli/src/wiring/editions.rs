//! Editions on a node: what they are made from and go to, as its configuration says.

mod outside;

use std::{io::Write, sync::Arc};

use almanack_adapters::clock::ClockSleeper;
use almanack_core::{
    edition::{EDITION_RUN, EDITION_TICK},
    finish::Outcome,
    handler::Handler,
    schedule::{Expression, Mode},
    store::Store,
    task::{ClaimedTask, Kind},
    time::{Clock, CorrectedClock, Sleeper},
};
use almanack_engine::{
    editions::{
        Editions, Settings as EngineSettings, Ticks,
        handler::{RunHandler, TickHandler},
    },
    node::Ports,
};
use async_trait::async_trait;
use jiff::SignedDuration;

use super::{Outbound, rescheduler};
use crate::{
    config::{
        Settings,
        settings::{Edition, edition},
    },
    failure::{Exit, Failure},
};

pub(super) use outside::addresses;

/// When a node that makes no editions looks again whether another one does.
const ELSEWHERE_AFTER: SignedDuration = SignedDuration::from_secs(30);

/// What editions are made with.
pub(crate) struct Workshop<'a> {
    /// The settings of everything.
    pub(crate) settings: &'a Settings,
    /// The way out.
    pub(crate) outbound: &'a Outbound,
    /// Where editions live.
    pub(crate) store: &'a Arc<dyn Store>,
    /// The shared time.
    pub(crate) clock: &'a Arc<dyn Clock>,
    /// What this node is called.
    pub(crate) node: &'a str,
}

impl Workshop<'_> {
    /// Who makes editions, if there are any; in test mode they are printed to `paper`.
    pub(crate) fn editions(
        &self,
        paper: Box<dyn Write + Send>,
    ) -> Result<Option<Arc<Editions>>, Failure> {
        let Some(edition) = self.settings.editions.on() else {
            return Ok(None);
        };
        let sleeper: Arc<dyn Sleeper> = Arc::new(ClockSleeper::new(Arc::clone(self.clock)));
        let outside = outside::outside(self, edition, &sleeper, paper)?;
        let (store, clock) = (Arc::clone(self.store), Arc::clone(self.clock));
        let rescheduler = rescheduler(self.settings, Arc::clone(self.store), Arc::clone(&clock));
        Ok(Some(Arc::new(Editions::new(
            store,
            clock,
            sleeper,
            Arc::new(rescheduler),
            outside,
            engine_settings(edition, self.node),
        ))))
    }
}

fn engine_settings(edition: &Edition, node: &str) -> EngineSettings {
    EngineSettings {
        rules: edition.rules.clone(),
        zone: edition.ticks.days.clone(),
        title: edition.title.clone(),
        language: edition.language.clone(),
        filter: edition.filter,
        ticks: ticks(&edition.ticks),
        node: node.to_owned(),
    }
}

fn ticks(ticks: &edition::Ticks) -> Option<Ticks> {
    let definition = &ticks.wanted.as_ref()?.definition;
    let expression = Expression::parse(&definition.expression, Mode::Strict).ok()?;
    Some(Ticks {
        timetable: expression.compile(edition::SCHEDULE),
        zone: Arc::clone(&ticks.zone),
    })
}

/// The kinds that only a node with editions knows how to try.
pub(super) fn kinds(settings: &Settings) -> impl Iterator<Item = Kind> {
    let named = settings.editions.on().map(|_| [EDITION_TICK, EDITION_RUN]);
    let named = named.into_iter().flatten();
    named.filter_map(|name| Kind::parse(name).ok())
}

/// The same ports, where tasks of editions are tried too.
pub(crate) fn making(
    ports: Ports,
    editions: Option<&Arc<Editions>>,
    clock: &Arc<CorrectedClock>,
) -> Result<Ports, Failure> {
    let clock: Arc<dyn Clock> = Arc::clone(clock) as Arc<dyn Clock>;
    let (tick, run): (Arc<dyn Handler>, Arc<dyn Handler>) = match editions {
        Some(editions) => (
            Arc::new(TickHandler(Arc::clone(editions))),
            Arc::new(RunHandler::new(Arc::clone(editions), clock)),
        ),
        None => {
            let elsewhere = Arc::new(Elsewhere(clock));
            (elsewhere.clone(), elsewhere)
        }
    };
    let handlers = ports.handlers.with(kind(EDITION_TICK)?, tick);
    let handlers = handlers.with(kind(EDITION_RUN)?, run);
    Ok(Ports { handlers, ..ports })
}

fn kind(name: &str) -> Result<Kind, Failure> {
    Kind::parse(name).map_err(|error| Failure::new(Exit::Failed, error.to_string()))
}

/// Leaves editions to a node that is configured for them: one that shares the database and is not must neither fail
/// their tasks nor end them.
struct Elsewhere(Arc<dyn Clock>);

#[async_trait]
impl Handler for Elsewhere {
    async fn attempt(&self, _: &ClaimedTask) -> Outcome {
        tracing::warn!("a task of editions came to a node without editions; it is left to another");
        let now = self.0.now();
        Outcome::Again {
            at: now.saturating_add(ELSEWHERE_AFTER).unwrap_or(now),
            on_record: false,
        }
    }
}
