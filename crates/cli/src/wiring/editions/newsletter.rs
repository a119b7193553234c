//! The newsletters of editions, by the configuration.

use std::sync::Arc;

use almanack_adapters::newsletter::{smtp::SmtpServer, writer::BuiltIn};
use almanack_core::{
    edition::EditionName,
    newsletter::EDITION_MAIL,
    store::Store,
    time::{Clock, Sleeper},
};
use almanack_engine::{
    handlers::Handlers,
    newsletter::{
        MailHandler, MailPublisher, Newsletter, NewsletterSet, Settings as EngineSettings,
    },
};
use url::Url;

use super::Workshop;
use crate::{
    config::{
        Settings,
        settings::{Edition, edition::Newsletter as MailSettings},
    },
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

/// What sends mail and knows its links, for each edition that is configured for it.
pub(crate) fn newsletters(
    settings: &Settings,
    store: &Arc<dyn Store>,
    (clock, sleeper): (Arc<dyn Clock>, Arc<dyn Sleeper>),
) -> Result<NewsletterSet> {
    let mut all = Vec::new();
    for (name, edition) in settings.editions.all() {
        let (Some(mail), Some(url)) = (&edition.newsletter, &settings.server.public_url) else {
            continue;
        };
        let server = SmtpServer::new(mail.smtp.clone(), Arc::clone(&clock));
        let server = server.map_err(|error| {
            Failure::usage(error).during(&format!("prepare the mail of the edition {name}"))
        })?;
        all.push(Arc::new(Newsletter {
            store: Arc::clone(store),
            clock: Arc::clone(&clock),
            sleeper: Arc::clone(&sleeper),
            server: Arc::new(server),
            writer: Arc::new(BuiltIn),
            signer: Arc::new(mail.key.clone()),
            settings: engine_settings(name, edition, (mail, url)),
        }));
    }
    Ok(NewsletterSet::of(all))
}

fn engine_settings(
    name: EditionName,
    edition: &Edition,
    (mail, url): (&MailSettings, &Url),
) -> EngineSettings {
    EngineSettings {
        edition: name,
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
    }
}

/// The same handlers, plus one for `EDITION_MAIL`, which leaves the tasks of editions that this
/// node does not mail to a node that does.
pub(super) fn mailing(handlers: Handlers, own: Own<'_>) -> Result<Handlers> {
    let timing = &own.lasting.timing;
    let clock: Arc<dyn Clock> = timing.clock.clone();
    let store = &own.lasting.changes;
    let around = (Arc::clone(&clock), timing.sleeper.clone());
    let handler = MailHandler {
        newsletters: newsletters(own.settings, store, around)?,
        store: Arc::clone(store),
        clock,
    };
    Ok(handlers.with(own_kind(EDITION_MAIL)?, Arc::new(handler)))
}
