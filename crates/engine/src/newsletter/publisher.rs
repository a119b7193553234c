//! An edition's delivery to `mail`: it is confirmed when the mailing and its task are written.
//!
//! From there on the mailing's own ledger says how far it is. Waiting for thousands of messages
//! would keep the edition unpublished for hours.

use std::sync::Arc;

use almanack_core::{
    budget::Budget,
    edition::{
        delivery::{OnRevision, OnUnknown},
        port::{Failure, FailureClass, Message, Presence, Publisher, Sent},
    },
    newsletter::{MAIL, Mailing},
    store::Store,
    time::Clock,
};
use async_trait::async_trait;

/// Begins mailings.
pub struct MailPublisher {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
}

#[async_trait]
impl Publisher for MailPublisher {
    fn destination(&self) -> &str {
        MAIL
    }

    /// Beginning it twice begins it once.
    fn on_unknown(&self) -> OnUnknown {
        OnUnknown::Repeat
    }

    /// Readers have the first document, and get no second one.
    fn on_revision(&self) -> OnRevision {
        OnRevision::Skip
    }

    fn requests_per_part(&self) -> u32 {
        0
    }

    async fn send(&self, message: &Message<'_>, _: &Arc<Budget>) -> Sent {
        let revision = message.document.inputs.revision;
        let mailing = Mailing::new(message.document.inputs.id(), revision, self.clock.now());
        match self.store.create_mailing(&mailing).await {
            Ok(created) => Sent::Confirmed {
                receipt: Some(if created {
                    "mailing begun".to_owned()
                } else {
                    "mailing begun before".to_owned()
                }),
            },
            Err(error) => {
                let failure = Failure::new(FailureClass::Transient, error.to_string());
                Sent::Unknown(failure)
            }
        }
    }

    async fn look(&self, message: &Message<'_>, _: &Arc<Budget>) -> Presence {
        match self.store.load_mailing(message.document.inputs.id()).await {
            Ok(Some(_)) => Presence::There {
                receipt: Some("mailing begun".to_owned()),
            },
            Ok(None) => Presence::NotThere,
            Err(error) => {
                Presence::Failed(Failure::new(FailureClass::Transient, error.to_string()))
            }
        }
    }
}
