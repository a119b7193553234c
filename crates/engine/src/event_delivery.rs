//! The handler of `EVENT_DELIVERY` tasks: hands events to the publisher of their subscription.
//!
//! An event's content was written into the task when it happened
//! ([`almanack_core::event::outgoing`]); nothing is looked up here, so what arrives is what was
//! true then. A subscription that this node does not know is no reason to give up: another node may
//! know it, or this one after its configuration has been mended.
//!
//! A batch that the subscriber refuses for what is in it is taken apart: its halves are written
//! first, then the batch is done. A node that dies in between leaves both, and some events arrive
//! twice; none is lost.

use std::{collections::BTreeMap, sync::Arc};

use almanack_core::{
    event::outgoing::{Batch, BatchOutcome, Carried, CloudEvent, EventPublisher, Type, subscriber},
    finish::Outcome,
    handler::Handler,
    reschedule::{Change, Rule},
    store::Store,
    task::{ClaimedTask, NewTask},
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use crate::wake::later;

/// Before an event of an unknown subscription is tried again.
const UNKNOWN_WAIT: SignedDuration = SignedDuration::from_mins(1);

/// The handler that delivers events.
pub struct EventDeliveryHandler {
    store: Arc<dyn Store>,
    publishers: BTreeMap<String, Arc<dyn EventPublisher>>,
}

impl EventDeliveryHandler {
    /// Knows no subscription yet; `store` gets the parts of batches.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            publishers: BTreeMap::new(),
        }
    }

    /// What the subscription of this name wants is handed to `publisher`.
    #[must_use]
    pub fn with(mut self, subscription: &str, publisher: Arc<dyn EventPublisher>) -> Self {
        self.publishers.insert(subscription.to_owned(), publisher);
        self
    }

    async fn publish_batch(
        &self,
        publisher: &dyn EventPublisher,
        batch: &Batch<'_>,
        task: &ClaimedTask,
    ) -> Outcome {
        match publisher.publish_batch(batch).await {
            BatchOutcome::Whole(outcome) => {
                if matches!(outcome, Outcome::Done { .. }) {
                    delivered(Type::TaskFinished, batch.count());
                }
                outcome
            }
            BatchOutcome::TakeApart { why } => {
                let halves = batch.halves(&task.identity, task.started_at);
                self.take_apart(halves, &why, task.started_at).await
            }
        }
    }

    /// Writes the parts of a batch. Those that are there already were written by an attempt whose
    /// end was lost.
    async fn take_apart(&self, parts: Vec<NewTask>, why: &str, now: Timestamp) -> Outcome {
        let changes = parts.into_iter().map(|part| Change {
            rule: Rule::Created,
            origin: part.origin.clone(),
            decided_at: now,
            requested: None,
            amend: None,
            insert: Some(part),
        });
        match self.store.apply(changes.collect()).await {
            Ok(_) => Outcome::done(format!("{why}; delivered in two parts instead")),
            Err(error) => Outcome::retry(format!("{why}; could not split it: {error}")),
        }
    }
}

#[async_trait]
impl Handler for EventDeliveryHandler {
    async fn attempt(&self, task: &ClaimedTask) -> Outcome {
        let Some(name) = subscriber(&task.identity) else {
            return Outcome::give_up("the subject names no subscription");
        };
        let Some(carried) = Carried::read(task) else {
            return Outcome::give_up("the payload is not a CloudEvent");
        };
        let Some(publisher) = self.publishers.get(name) else {
            return unknown(name, task.started_at);
        };
        match carried {
            Carried::One(event) => publish(&**publisher, &event).await,
            Carried::Many(batch) => self.publish_batch(&**publisher, &batch, task).await,
        }
    }
}

async fn publish(publisher: &dyn EventPublisher, event: &CloudEvent) -> Outcome {
    let outcome = publisher.publish(event).await;
    if let (Outcome::Done { .. }, Some(what)) = (&outcome, Type::parse(&event.r#type)) {
        delivered(what, 1);
    }
    outcome
}

fn delivered(what: Type, events: usize) {
    let events = u64::try_from(events).unwrap_or(u64::MAX);
    metrics::counter!("almanack_events_delivered_total", "type" => what.as_str()).increment(events);
}

/// Not a failure, or its retries would run out without a request; and off the record, for it may
/// take long.
fn unknown(name: &str, now: Timestamp) -> Outcome {
    tracing::warn!(
        subscription = name,
        "an event waits for a subscription that this node does not know; configure the subscription again, or cancel the task"
    );
    Outcome::again(later(now, UNKNOWN_WAIT))
}
