//! A subscriber: it is notified of every task that ends. It remembers what it heard and often has
//! no time.
//!
//! Only some seeds have one, chosen by the seed itself and not by chance: the stories of all others
//! stay as they were.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use almanack_core::{
    event::outgoing::{CloudEvent, EventPublisher, Name, Subscription, Subscriptions, Wants},
    finish::Outcome,
};
use almanack_engine::reloadable::Reloadable;
use async_trait::async_trait;

use super::{
    dice::Dice,
    record::Record,
    time::{Barrier, pass},
};

/// What the subscription is called.
pub(super) const NAME: &str = "ear";

/// Shared by all nodes.
pub(super) struct Ear {
    record: Arc<Record>,
    dice: Dice,
    heard: Mutex<BTreeSet<String>>,
}

impl Ear {
    /// Of every eighth seed.
    pub(super) fn of(seed: u64, record: &Arc<Record>, dice: &Dice) -> Option<Arc<Self>> {
        (seed % 8 == 1).then(|| {
            Arc::new(Self {
                record: Arc::clone(record),
                dice: dice.fork(),
                heard: Mutex::default(),
            })
        })
    }

    fn hear(&self, id: &str) {
        self.record.note(NAME, format_args!("hears {id}"));
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.insert(id.to_owned());
    }

    /// The ids of what it heard.
    pub(super) fn heard(&self) -> BTreeSet<String> {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.clone()
    }
}

pub(super) fn subscriptions(ear: Option<&Arc<Ear>>) -> Reloadable<Subscriptions> {
    let all = ear.map(|_| Subscription {
        name: Name::parse(NAME).expect("a name"),
        wants: Wants::default(),
    });
    Reloadable::new(Subscriptions {
        source: "/simulated".to_owned(),
        all: all.into_iter().collect(),
    })
}

/// One node's way to the subscriber.
pub(super) struct Shout {
    pub(super) ear: Arc<Ear>,
    pub(super) barrier: Arc<Barrier>,
}

#[async_trait]
impl EventPublisher for Shout {
    async fn publish(&self, event: &CloudEvent) -> Outcome {
        let ear = &self.ear;
        pass(ear.dice.millis(1, 300)).await;
        if ear.dice.hits(200) {
            return Outcome::Retry {
                error: "no time".to_owned(),
                retry_after: None,
            };
        }
        ear.hear(&event.id);
        self.barrier.passed().await;
        Outcome::Done { detail: None }
    }
}
