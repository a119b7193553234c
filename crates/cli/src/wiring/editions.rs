//! Editions on a node: their inputs and destinations, by its configuration.

mod delivery;
pub(crate) mod newsletter;
mod outside;

use std::{
    io::Write,
    sync::{Arc, Mutex},
};

use almanack_adapters::renderer::Template;
use almanack_core::{
    edition::{EDITION_RUN, EDITION_TICK, EditionName},
    event::outgoing::Subscriptions,
    handler::Handler,
    locked,
    schedule::{Expression, Mode},
    store::Store,
    time::{Clock, Sleeper},
};
use almanack_engine::{
    editions::{
        EditionSet, Editions, Settings as EngineSettings, Ticks,
        handler::{RunHandler, TickHandler},
        shared::SharedTexts,
    },
    handlers::Handlers,
    reloadable::Reloadable,
    reschedule::Rescheduler,
    zones::Zones,
};

use super::{Outbound, own_kind, targets::Own};
use crate::{
    config::{
        Settings,
        settings::{Edition, edition},
    },
    failure::Result,
};

pub(crate) use outside::{addresses, reader_pages};

/// What a command does with editions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Render documents, with the template of the configuration.
    Make,
    /// Read and change stored editions, or render with a given or stored template.
    Keep,
}

/// Where editions are printed in test mode; several print to one.
type Paper = Arc<Mutex<Box<dyn Write + Send>>>;

struct SharedPaper(Paper);

impl Write for SharedPaper {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        locked(&self.0).write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        locked(&self.0).flush()
    }
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
    ) -> Result<EditionSet> {
        let paper = Arc::new(Mutex::new(paper));
        let editions = &self.settings.editions;
        // One alone shares nothing.
        let texts = (editions.all().count() > 1).then(|| self.shared_texts());
        let all = editions.all().map(|(name, edition)| {
            let with = (purpose, &paper, texts.as_ref());
            self.edition(name, edition, with)
        });
        Ok(EditionSet::of(all.collect::<Result<Vec<_>>>()?))
    }

    fn shared_texts(&self) -> Arc<SharedTexts> {
        let (store, clock) = (Arc::clone(self.store), Arc::clone(&self.clock));
        SharedTexts::new(store, clock, Arc::new(Template::built_in()))
    }

    fn edition(
        &self,
        name: EditionName,
        edition: &Edition,
        (purpose, paper, texts): (Purpose, &Paper, Option<&Arc<SharedTexts>>),
    ) -> Result<Arc<Editions>> {
        let paper = Box::new(SharedPaper(Arc::clone(paper)));
        let mut outside = outside::outside(self, (name, edition), (purpose, paper))?;
        if let Some(texts) = texts {
            outside = outside::sharing(outside, texts, edition);
        }
        Ok(Arc::new(Editions {
            store: self.store.clone(),
            shown: self.pages.clone(),
            clock: self.clock.clone(),
            sleeper: self.sleeper.clone(),
            rescheduler: self.rescheduler.clone(),
            outside,
            settings: engine_settings(name, edition, self.node),
            subscriptions: self.subscriptions.clone(),
        }))
    }
}

/// The same handlers, plus one for `EDITION_RUN`, which may leave tasks to another node.
pub(super) fn running(handlers: Handlers, own: Own<'_>) -> Result<Handlers> {
    let handlers = newsletter::mailing(handlers, own)?;
    Ok(match handler(EDITION_RUN, own) {
        Some(runs) => handlers.with(own_kind(EDITION_RUN)?, runs),
        None => handlers,
    })
}

/// The handler of editions: this node, or one that leaves the work to another node.
pub(super) fn handler(name: &str, own: Own<'_>) -> Option<Arc<dyn Handler>> {
    let clock: Arc<dyn Clock> = own.lasting.timing.clock.clone();
    let editions = own.lasting.editions.clone();
    if editions.is_empty() {
        // A service configured for the kind takes precedence.
        let mut served = own.settings.kinds.keys();
        if served.any(|kind| kind.as_str() == name) {
            return None;
        }
    }
    Some(match name {
        EDITION_TICK => Arc::new(TickHandler { editions, clock }),
        _ => Arc::new(RunHandler { editions, clock }),
    })
}

fn engine_settings(name: EditionName, edition: &Edition, node: &str) -> EngineSettings {
    EngineSettings {
        name,
        rules: edition.rules.clone(),
        zone: edition.ticks.days.clone(),
        title: edition.keys.title.clone(),
        language: edition.keys.language.clone(),
        caps: edition.caps,
        filter: edition.filter,
        ready_by: edition.keys.ready_by,
        ticks: ticks(name, &edition.ticks),
        node: node.to_owned(),
    }
}

fn ticks(name: EditionName, ticks: &edition::Ticks) -> Option<Ticks> {
    let definition = &ticks.wanted.as_ref()?.definition;
    let expression = Expression::parse(&definition.expression, Mode::Strict).ok()?;
    Some(Ticks {
        timetable: expression.compile(&edition::schedule_of(name)),
        zone: Zones::default().get(&definition.tz).ok()?,
    })
}
