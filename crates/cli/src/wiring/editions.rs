//! Editions on a node: what they are made from and go to, as its configuration says.

mod delivery;
mod outside;

use std::{io::Write, sync::Arc};

use almanack_core::{
    edition::{EDITION_RUN, EDITION_TICK},
    event::outgoing::Subscriptions,
    finish::Outcome,
    handler::Handler,
    schedule::{Expression, Mode},
    store::Store,
    task::ClaimedTask,
    time::{Clock, Sleeper},
};
use almanack_engine::{
    editions::{
        Editions, Settings as EngineSettings, Ticks,
        handler::{RunHandler, TickHandler},
    },
    handlers::Handlers,
    reloadable::Reloadable,
    reschedule::Rescheduler,
};
use async_trait::async_trait;
use jiff::SignedDuration;

use super::{Outbound, own_kind, targets::Own};
use crate::{
    config::{
        Settings,
        settings::{Edition, edition},
    },
    failure::Failure,
};

pub(crate) use outside::addresses;

/// When a node that makes no editions looks again whether another one does.
const ELSEWHERE_AFTER: SignedDuration = SignedDuration::from_secs(30);

/// What somebody wants with editions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Make documents, by the template of the configuration.
    Make,
    /// Read and change what is stored, or print by a template that is given or was kept.
    Keep,
}

/// What editions are made with.
pub(crate) struct Workshop<'a> {
    /// The settings of everything.
    pub(crate) settings: &'a Settings,
    pub(crate) outbound: &'a Outbound,
    pub(crate) store: &'a Arc<dyn Store>,
    /// The same for who only looks.
    pub(crate) pages: &'a Arc<dyn Store>,
    /// The way in for changes of intent.
    pub(crate) rescheduler: &'a Arc<Rescheduler>,
    /// Who is told of what was published.
    pub(crate) subscriptions: &'a Reloadable<Subscriptions>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) sleeper: Arc<dyn Sleeper>,
    /// What this node is called.
    pub(crate) node: &'a str,
}

impl Workshop<'_> {
    /// Who makes editions, if there are any; in test mode they are printed to `paper`.
    pub(crate) fn editions(
        &self,
        purpose: Purpose,
        paper: Box<dyn Write + Send>,
    ) -> Result<Option<Arc<Editions>>, Failure> {
        let Some(edition) = self.settings.editions.on() else {
            return Ok(None);
        };
        let sleeper = Arc::clone(&self.sleeper);
        let outside = outside::outside(self, edition, &sleeper, (purpose, paper))?;
        let (store, clock) = (Arc::clone(self.store), Arc::clone(&self.clock));
        let editions = Editions::new(
            store,
            clock,
            sleeper,
            Arc::clone(self.rescheduler),
            outside,
            engine_settings(edition, self.node),
        );
        let editions = editions.reporting(self.subscriptions.clone());
        Ok(Some(Arc::new(editions.showing(self.pages.clone()))))
    }
}

/// The same handlers, where `EDITION_RUN` tasks are tried too, or left to who makes editions.
pub(super) fn running(
    handlers: Handlers,
    own: Own<'_>,
    clock: &Arc<dyn Clock>,
) -> Result<Handlers, Failure> {
    Ok(match handler(EDITION_RUN, own, clock) {
        Some(runs) => handlers.with(own_kind(EDITION_RUN)?, runs),
        None => handlers,
    })
}

/// Who does the work of editions, by its kind: this node, or another one that makes them.
pub(super) fn handler(
    name: &str,
    own: Own<'_>,
    clock: &Arc<dyn Clock>,
) -> Option<Arc<dyn Handler>> {
    let clock = Arc::clone(clock);
    let Some(editions) = own.editions.cloned() else {
        // Who gave the kind a service of its own before there were editions keeps it.
        let mut served = own.settings.kinds.keys();
        let is_served = served.any(|kind| kind.as_str() == name);
        return (!is_served).then(|| Arc::new(Elsewhere(clock)) as _);
    };
    Some(match name {
        EDITION_TICK => Arc::new(TickHandler(editions)),
        _ => Arc::new(RunHandler::new(editions, clock)),
    })
}

fn engine_settings(edition: &Edition, node: &str) -> EngineSettings {
    EngineSettings {
        rules: edition.rules.clone(),
        zone: edition.ticks.days.clone(),
        title: edition.keys.title.clone(),
        language: edition.keys.language.clone(),
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

/// Leaves editions to a node that is configured for them: one that shares the database and is not must neither fail
/// their tasks nor end them. A tick waits no longer than the window of its slot.
struct Elsewhere(Arc<dyn Clock>);

#[async_trait]
impl Handler for Elsewhere {
    async fn attempt(&self, _: &ClaimedTask) -> Outcome {
        tracing::warn!(
            "editions are off on this node; leaving a task of an edition to another node"
        );
        let now = self.0.now();
        Outcome::NotNow {
            at: now.saturating_add(ELSEWHERE_AFTER).unwrap_or(now),
            why: "waits for a node that produces editions",
        }
    }
}
