//! The newsletter of editions, by the configuration.

use std::sync::Arc;

use almanack_adapters::newsletter::{smtp::SmtpServer, writer::BuiltIn};
use almanack_core::{
    edition::EditionName,
    finish::Outcome,
    handler::Handler,
    newsletter::EDITION_MAIL,
    store::Store,
    task::ClaimedTask,
    time::{Clock, Sleeper},
};
use almanack_engine::{
    editions::handler::elsewhere,
    handlers::Handlers,
    newsletter::{MailHandler, MailPublisher, Newsletter, Settings as EngineSettings},
};
use async_trait::async_trait;

use super::Workshop;
use crate::{
    config::Settings,
    failure::{Failure, Result},
    wiring::{own_kind, targets::Own},
};

/// Begins mailings.
pub(super) fn publisher(workshop: &Workshop<'_>) -> MailPublisher {
    MailPublisher {
        store: Arc::clone(workshop.store),
        clock: Arc::clone(&workshop.clock),
    }
}

/// What sends mail and knows its links, if that is configured.
pub(crate) fn newsletter(
    settings: &Settings,
    store: &Arc<dyn Store>,
    (clock, sleeper): (Arc<dyn Clock>, Arc<dyn Sleeper>),
) -> Result<Option<Arc<Newsletter>>> {
    let Some(edition) = settings.editions.on() else {
        return Ok(None);
    };
    let (Some(mail), Some(url)) = (&edition.newsletter, &settings.server.public_url) else {
        return Ok(None);
    };
    let server = SmtpServer::new(mail.smtp.clone(), Arc::clone(&clock));
    let server = server.map_err(|error| Failure::usage(error).during("prepare edition.mail"))?;
    let engine = EngineSettings {
        edition: EditionName::default(),
        title: edition.keys.title.clone(),
        language: edition.keys.language.clone(),
        public_url: url.as_str().trim_end_matches('/').to_owned(),
        links_to_page: edition.keys.public,
        form: mail.subscribe,
        pace: mail.pace,
        timeout: mail.timeout,
        on_unknown: mail.on_unknown,
        bounces_max: mail.bounces,
        footer: mail.footer.clone(),
    };
    Ok(Some(Arc::new(Newsletter {
        store: Arc::clone(store),
        clock,
        sleeper,
        server: Arc::new(server),
        writer: Arc::new(BuiltIn),
        signer: Arc::new(mail.key.clone()),
        settings: engine,
    })))
}

/// Leaves mailings to a node that is configured for them.
struct Elsewhere(Arc<dyn Clock>);

#[async_trait]
impl Handler for Elsewhere {
    async fn attempt(&self, _: &ClaimedTask) -> Outcome {
        elsewhere(self.0.now())
    }
}

/// The same handlers, plus one for `EDITION_MAIL`, which leaves tasks to a node that sends mail.
pub(super) fn mailing(handlers: Handlers, own: Own<'_>) -> Result<Handlers> {
    let timing = &own.lasting.timing;
    let clock: Arc<dyn Clock> = timing.clock.clone();
    let around = (Arc::clone(&clock), timing.sleeper.clone());
    let made = newsletter(own.settings, &own.lasting.changes, around)?;
    let kind = own_kind(EDITION_MAIL)?;
    Ok(match made {
        Some(newsletter) => handlers.with(kind, Arc::new(MailHandler(newsletter))),
        None => handlers.with(kind, Arc::new(Elsewhere(clock))),
    })
}
