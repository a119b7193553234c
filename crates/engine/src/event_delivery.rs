//! The handler of `EVENT_DELIVERY` tasks: hands an event to the publisher of its subscription.
//!
//! An event's content was written into the task when it happened
//! ([`almanack_core::event::outgoing`]); nothing is looked up here, so what arrives is what was
//! true then. A subscription that this node does not know is no reason to give up: another node may
//! know it, or this one after its configuration has been mended.

use std::{collections::BTreeMap, sync::Arc};

use almanack_core::{
    event::outgoing::{CloudEvent, EventPublisher, Type, subscriber},
    finish::Outcome,
    handler::Handler,
    task::ClaimedTask,
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use crate::wake::later;

/// Before an event of an unknown subscription is tried again.
const UNKNOWN_WAIT: SignedDuration = SignedDuration::from_mins(1);

/// The handler that delivers events.
#[derive(Default)]
pub struct EventDeliveryHandler {
    publishers: BTreeMap<String, Arc<dyn EventPublisher>>,
}

impl EventDeliveryHandler {
    /// What the subscription of this name wants is handed to `publisher`.
    #[must_use]
    pub fn with(mut self, subscription: &str, publisher: Arc<dyn EventPublisher>) -> Self {
        self.publishers.insert(subscription.to_owned(), publisher);
        self
    }
}

#[async_trait]
impl Handler for EventDeliveryHandler {
    async fn attempt(&self, task: &ClaimedTask) -> Outcome {
        let Some(name) = subscriber(&task.identity) else {
            return Outcome::give_up("the subject names no subscription");
        };
        let Ok(event) = serde_json::from_str::<CloudEvent>(task.payload.as_str()) else {
            return Outcome::give_up("the payload is not a CloudEvent");
        };
        let Some(publisher) = self.publishers.get(name) else {
            return unknown(name, task.started_at);
        };
        let outcome = publisher.publish(&event).await;
        if let (Outcome::Done { .. }, Some(what)) = (&outcome, Type::parse(&event.r#type)) {
            metrics::counter!("almanack_events_delivered_total", "type" => what.as_str())
                .increment(1);
        }
        outcome
    }
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
