//! Destinations of the harness.

use std::sync::Arc;

use almanack_core::{
    budget::Budget,
    edition::{
        delivery::{OnRevision, OnUnknown},
        document::Document,
        port::{Failure, FailureClass, Message, Presence, Publisher, Sent},
    },
};
use async_trait::async_trait;
use jiff::SignedDuration;

use super::{Call, EditionHarness, InjectedFault, Received};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub name: String,
    /// Into how many messages a document is cut.
    pub parts: u32,
    /// Whether one can look what it has; then the same message replaces itself.
    pub can_look: bool,
    /// What it wants when the outcome is unknown.
    pub on_unknown: OnUnknown,
    /// What it wants of a second document.
    pub on_revision: OnRevision,
    /// How long to wait between two messages.
    pub pause: SignedDuration,
}

impl Place {
    /// A destination of one message that can be looked at.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            parts: 1,
            can_look: true,
            on_unknown: OnUnknown::Skip,
            on_revision: OnRevision::Replace,
            pause: SignedDuration::ZERO,
        }
    }
}

/// The way to a destination.
pub(super) struct Destination {
    pub(super) room: EditionHarness,
    pub(super) place: Place,
}

impl Destination {
    fn receive(&self, message: &Message<'_>) {
        let mut inside = self.room.lock();
        let received = inside.received.entry(self.place.name.clone()).or_default();
        received.push(Received {
            key: message.key.clone(),
            revision: message.document.inputs.revision,
            body: message.body.to_owned(),
        });
    }
}

#[async_trait]
impl Publisher for Destination {
    fn destination(&self) -> &str {
        &self.place.name
    }

    fn parts(&self, document: &Document) -> Vec<Option<String>> {
        let date = document.inputs.id();
        match self.place.parts {
            1 => vec![None],
            parts => (1..=parts)
                .map(|part| Some(format!("{date} {part}")))
                .collect(),
        }
    }

    fn on_unknown(&self) -> OnUnknown {
        self.place.on_unknown
    }

    fn on_revision(&self) -> OnRevision {
        self.place.on_revision
    }

    fn requests_per_part(&self) -> u32 {
        1
    }

    fn pause(&self) -> SignedDuration {
        self.place.pause
    }

    async fn send(&self, message: &Message<'_>, budget: &Arc<Budget>) -> Sent {
        let Ok(_ticket) = budget.take() else {
            return Sent::Failed(Failure::spent());
        };
        let call = Call::Send(self.place.name.clone(), message.part);
        let injected_fault = self.room.called(&call);
        // What reaches it, reaches it before the answer is waited for: a sender that is stopped
        // meanwhile knows nothing.
        let refused = matches!(
            injected_fault,
            InjectedFault::Fails(_) | InjectedFault::Asks(_)
        );
        if !refused {
            self.receive(message);
        }
        self.room.answer(injected_fault).await;
        match injected_fault {
            InjectedFault::Fails(class) => Sent::Failed(Failure::new(class, "refused")),
            InjectedFault::Asks(wait) => Sent::Failed(Failure {
                retry_after: Some(wait),
                ..Failure::new(FailureClass::RateLimited, "too often")
            }),
            InjectedFault::Lost | InjectedFault::Hangs => {
                Sent::Unknown(Failure::new(FailureClass::Transient, "no answer"))
            }
            InjectedFault::Well
            | InjectedFault::Lacks
            | InjectedFault::Twice
            | InjectedFault::Late(_) => Sent::Confirmed {
                receipt: Some(message.key.clone()),
            },
        }
    }

    async fn ready(&self, budget: &Arc<Budget>) -> Result<(), Failure> {
        let call = Call::Ready(self.place.name.clone());
        self.room.call(call, budget).await.map(drop)
    }

    async fn look(&self, message: &Message<'_>, budget: &Arc<Budget>) -> Presence {
        if !self.place.can_look {
            return Presence::CannotVerify;
        }
        let call = Call::Look(self.place.name.clone(), message.part);
        match self.room.call(call, budget).await {
            Err(failure) => Presence::Failed(failure),
            Ok(_) if self.room.has(&self.place.name, &message.key) => Presence::There {
                receipt: Some(message.key.clone()),
            },
            Ok(_) => Presence::NotThere,
        }
    }
}
