//! Destinations of the newsroom.

use std::sync::Arc;

use almanack_core::{
    budget::Budget,
    edition::{
        delivery::{OnRevision, OnUnknown},
        document::Document,
        port::{Failure, FailureClass, Letter, Publisher, Seen, Sent},
    },
};
use async_trait::async_trait;
use jiff::SignedDuration;

use super::{Call, Fate, Newsroom, Received};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub name: String,
    /// Into how many messages a document is cut.
    pub parts: u32,
    /// Whether one can look what it has; then the same letter takes the place of itself.
    pub can_look: bool,
    /// What it wants when nobody knows.
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
pub(super) struct Door {
    pub(super) room: Newsroom,
    pub(super) place: Place,
}

impl Door {
    fn receive(&self, letter: &Letter<'_>) {
        let mut inside = self.room.lock();
        let received = inside.received.entry(self.place.name.clone()).or_default();
        received.push(Received {
            key: letter.key.clone(),
            revision: letter.document.inputs.revision,
            body: letter.body.to_owned(),
        });
    }
}

#[async_trait]
impl Publisher for Door {
    fn destination(&self) -> &str {
        &self.place.name
    }

    fn parts(&self, document: &Document) -> Vec<Option<String>> {
        let date = document.inputs.date;
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

    async fn send(&self, letter: &Letter<'_>, budget: &Arc<Budget>) -> Sent {
        let Ok(_ticket) = budget.take() else {
            return Sent::Failed(Failure::spent());
        };
        let call = Call::Send(self.place.name.clone(), letter.part);
        let fate = self.room.called(&call);
        // What reaches it, reaches it before the answer is waited for: whoever is stopped meanwhile knows nothing.
        if !matches!(fate, Fate::Fails(_)) {
            self.receive(letter);
        }
        self.room.answer(fate).await;
        match fate {
            Fate::Fails(class) => Sent::Failed(Failure::new(class, "refused")),
            Fate::Lost | Fate::Hangs => {
                Sent::Unknown(Failure::new(FailureClass::Transient, "no answer"))
            }
            Fate::Well | Fate::Lacks | Fate::Twice | Fate::Late(_) => Sent::Confirmed {
                receipt: Some(letter.key.clone()),
            },
        }
    }

    async fn look(&self, letter: &Letter<'_>, budget: &Arc<Budget>) -> Seen {
        if !self.place.can_look {
            return Seen::CannotTell;
        }
        let call = Call::Look(self.place.name.clone(), letter.part);
        match self.room.call(call, budget).await {
            Err(failure) => Seen::Failed(failure),
            Ok(_) if self.room.has(&self.place.name, &letter.key) => Seen::There {
                receipt: Some(letter.key.clone()),
            },
            Ok(_) => Seen::NotThere,
        }
    }
}
