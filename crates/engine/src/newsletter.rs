//! Newsletters: subscribing, and sending editions by mail (ED-43).
//!
//! ```text
//!   edition's delivery ─► MailPublisher ─► mailing + task ─┐
//!   subscribe form ──────► Subscribers ──► row + task ─────┼─► MailHandler ─► mail server
//!   signed links, API, CLI ► Subscribers ─► row            ┘   a step at a time
//! ```
//!
//! What must stay true: nothing is remembered here between two calls. Whatever grants permission to
//! send is a conditional write of the store; a process that dies leaves rows from which the next
//! step goes on.

mod confirmation;
mod publisher;
mod set;
mod step;
mod subscribers;

use std::sync::Arc;

use almanack_core::{
    edition::{EditionName, delivery::OnUnknown},
    finish::Outcome,
    handler::Handler,
    newsletter::{
        SubscriberId,
        link::{self, LinkSigner, Purpose},
        mailing::mailing_of,
        port::{MailServer, MailWriter},
        subscriber,
    },
    store::Store,
    task::ClaimedTask,
    time::{Clock, Sleeper},
};
use async_trait::async_trait;
use jiff::SignedDuration;

pub use publisher::MailPublisher;
pub use set::{Followed, NewsletterSet};
pub use subscribers::{Error, Imported, Reported, Subscribers};

use crate::wake::later;

/// When a node that does not mail an edition checks again whether another one does.
const ELSEWHERE_AFTER: SignedDuration = SignedDuration::from_secs(30);

/// What an operator decided about the newsletter of an edition.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The edition's name.
    pub edition: EditionName,
    /// What it is called.
    pub title: String,
    /// The language it is written in.
    pub language: String,
    /// Where readers reach this server, without a slash at the end.
    pub public_url: String,
    /// Whether the edition's pages are public, so that mail may link to them.
    pub links_to_page: bool,
    /// Whether anybody may subscribe by the form.
    pub form: bool,
    /// Messages per minute.
    pub pace: u32,
    /// How long the server may take for one message.
    pub timeout: SignedDuration,
    /// What to do with a message that may have arrived.
    pub on_unknown: OnUnknown,
    /// Refusals in a row after which an address gets no more mail.
    pub bounces_max: u32,
    /// Who sends it, for people.
    pub footer: Option<String>,
}

/// Sends newsletters, and knows their links.
pub struct Newsletter {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub sleeper: Arc<dyn Sleeper>,
    pub server: Arc<dyn MailServer>,
    pub writer: Arc<dyn MailWriter>,
    pub signer: Arc<dyn LinkSigner>,
    pub settings: Settings,
}

impl Newsletter {
    /// The address that does something to a subscriber.
    pub fn link(&self, purpose: Purpose, id: SubscriberId) -> String {
        let token = link::write(&*self.signer, purpose, id, self.clock.now());
        format!("{}/editions/{purpose}/{token}", self.settings.public_url)
    }

    /// Whose link it is.
    pub fn read_link(&self, purpose: Purpose, token: &str) -> Option<SubscriberId> {
        link::read(&*self.signer, purpose, token, self.clock.now())
    }

    /// The way in for changes of subscribers.
    pub fn subscribers(&self) -> Subscribers {
        Subscribers {
            store: Arc::clone(&self.store),
            clock: Arc::clone(&self.clock),
        }
    }
}

/// Tries `EDITION_MAIL` tasks, each by the newsletter of its edition.
pub struct MailHandler {
    pub newsletters: NewsletterSet,
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
}

impl MailHandler {
    async fn send(&self, task: &ClaimedTask) -> Result<Outcome, Error> {
        if let Some(id) = mailing_of(&task.identity) {
            return match self.newsletters.get(id.name) {
                Some(newsletter) => newsletter.step(id).await,
                None => Ok(self.elsewhere(id.name)),
            };
        }
        let Some(asked) = subscriber::confirmation_of(&task.identity) else {
            return Ok(Outcome::give_up("not a newsletter's task"));
        };
        let Some(row) = self.store.load_subscriber(asked.0).await? else {
            return Ok(Outcome::done("not wanted any more"));
        };
        match self.newsletters.get(row.edition) {
            Some(newsletter) => newsletter.confirm(asked).await,
            None => Ok(self.elsewhere(row.edition)),
        }
    }

    /// Leaves a task to a node that is configured for its newsletter.
    fn elsewhere(&self, edition: EditionName) -> Outcome {
        tracing::warn!(
            edition.name = %edition,
            "this node does not mail the edition; leaving its task to another node"
        );
        Outcome::NotNow {
            at: later(self.clock.now(), ELSEWHERE_AFTER),
            why: "waits for a node that mails this edition",
        }
    }
}

#[async_trait]
impl Handler for MailHandler {
    async fn attempt(&self, task: &ClaimedTask) -> Outcome {
        self.send(task).await.unwrap_or_else(|error| {
            tracing::error!(
                error = error.chain(),
                "sending a newsletter failed; will retry"
            );
            Outcome::retry(error.to_string())
        })
    }
}
