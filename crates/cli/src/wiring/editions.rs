//! Editions on a node: their inputs and destinations, by its configuration.

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
    zones::Zones,
};
use async_trait::async_trait;
use jiff::SignedDuration;

use super::{Outbound, own_kind, targets::Own};
use crate::{
    config::{
        Settings,
        settings::{Edition, edition},
    },
    failure::Result,
};

pub(crate) use outside::addresses;

/// When a node without editions checks again whether another one has them.
const ELSEWHERE_AFTER: SignedDuration = SignedDuration::from_secs(30);

/// What a command does with editions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Render documents, with the template of the configuration.
    Make,
    /// Read and change stored editions, or render with a given or stored template.
    Keep,
}

/// What editions are made with.
pub(crate) struct Workshop<'a> {
    /// The settings of everything.
    pub(crate) settings: &'a Settings,
    pub(crate) outbound: &'a Outbound,
    pub(crate) store: &'a Arc<dyn Store>,
    /// The same, read-only.
    pub(crate) pages: &'a Arc<dyn Store>,
    /// The intake of task changes.
    pub(crate) rescheduler: &'a Arc<Rescheduler>,
    /// Event subscriptions.
    pub(crate) subscriptions: &'a Reloadable<Subscriptions>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) sleeper: Arc<dyn Sleeper>,
    /// The node's name.
    pub(crate) node: &'a str,
}

impl Workshop<'_> {
    /// Produces editions, if they are on; in test mode they are printed to `paper`.
    pub(crate) fn editions(
        &self,
        purpose: Purpose,
        paper: Box<dyn Write + Send>,
    ) -> Result<Option<Arc<Editions>>> {
        let Some(edition) = self.settings.editions.on() else {
            return Ok(None);
        };
        let outside = outside::outside(self, edition, (purpose, paper))?;
        Ok(Some(Arc::new(Editions {
            store: self.store.clone(),
            shown: self.pages.clone(),
            clock: self.clock.clone(),
            sleeper: self.sleeper.clone(),
            rescheduler: self.rescheduler.clone(),
            outside,
            settings: engine_settings(edition, self.node),
            subscriptions: self.subscriptions.clone(),
        })))
    }
}

/// The same handlers, plus one for `EDITION_RUN`, which may leave tasks to another node.
pub(super) fn running(handlers: Handlers, own: Own<'_>) -> Result<Handlers> {
    Ok(match handler(EDITION_RUN, own) {
        Some(runs) => handlers.with(own_kind(EDITION_RUN)?, runs),
        None => handlers,
    })
}

/// The handler of editions: this node, or one that leaves the work to another node.
pub(super) fn handler(name: &str, own: Own<'_>) -> Option<Arc<dyn Handler>> {
    let clock: Arc<dyn Clock> = own.lasting.timing.clock.clone();
    let Some(editions) = own.lasting.editions.clone() else {
        // A service configured for the kind takes precedence.
        let mut served = own.settings.kinds.keys();
        let is_served = served.any(|kind| kind.as_str() == name);
        return (!is_served).then(|| Arc::new(Elsewhere(clock)) as _);
    };
    Some(match name {
        EDITION_TICK => Arc::new(TickHandler(editions)),
        _ => Arc::new(RunHandler(editions)),
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
        zone: Zones::default().get(&definition.tz).ok()?,
    })
}

/// Leaves editions to a node that is configured for them: a node without editions must neither fail
/// nor end their tasks. A tick waits no longer than the window of its slot.
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
