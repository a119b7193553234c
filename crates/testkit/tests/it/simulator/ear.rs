//! A subscriber: it is notified of every task that ends. It remembers what it heard and often has
//! no time.
//!
//! Only some seeds have one, chosen by the seed itself and not by chance: the stories of all others
//! stay as they were. Half of these take events in batches, and refuse a batch with an event in it
//! that they do not like in company.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use almanack_core::{
    event::outgoing::{
        Batch, BatchOutcome, CloudEvent, EventPublisher, Name, Subscription, Subscriptions, Wants,
    },
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

/// Most events at once, where it takes several.
const BATCH: usize = 5;

/// Shared by all nodes.
pub(super) struct Ear {
    record: Arc<Record>,
    dice: Dice,
    /// Most events at once, if it takes several.
    batch: Option<usize>,
    heard: Mutex<BTreeSet<String>>,
}

impl Ear {
    /// Of every eighth seed.
    pub(super) fn of(seed: u64, record: &Arc<Record>, dice: &Dice) -> Option<Arc<Self>> {
        (seed % 8 == 1).then(|| {
            Arc::new(Self {
                record: Arc::clone(record),
                dice: dice.fork(),
                batch: (seed % 16 == 9).then_some(BATCH),
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
    let all = ear.map(|ear| Subscription {
        name: Name::parse(NAME).expect("a name"),
        wants: Wants::default(),
        batch: ear.batch,
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

impl Shout {
    /// Whether the subscriber has time.
    async fn is_heard(&self) -> bool {
        pass(self.ear.dice.millis(1, 300)).await;
        !self.ear.dice.hits(200)
    }
}

#[async_trait]
impl EventPublisher for Shout {
    async fn publish(&self, event: &CloudEvent) -> Outcome {
        if !self.is_heard().await {
            return Outcome::retry("no time");
        }
        self.ear.hear(&event.id);
        self.barrier.passed().await;
        Outcome::Done { detail: None }
    }

    async fn publish_batch(&self, batch: &Batch<'_>) -> BatchOutcome {
        if !self.is_heard().await {
            return BatchOutcome::Whole(Outcome::retry("no time"));
        }
        // Always the same ones: trying again does not help.
        if batch.ids().any(|id| id.contains('3')) {
            let why = "not in company".to_owned();
            return BatchOutcome::TakeApart { why };
        }
        batch.ids().for_each(|id| self.ear.hear(&id));
        self.barrier.passed().await;
        BatchOutcome::Whole(Outcome::Done { detail: None })
    }
}
