//! Happenings out: what others may want to know of Almanack, as CloudEvents.
//!
//! The other direction of [`crate::event`]. A happening is told by a task of its own, written in the same transaction as what it tells of: the
//! table of tasks is the outbox, so a happening is told at least once, with the retries, the history and the leases of
//! every other task. Whoever hears it twice knows it by its `id`, which depends on what happened and on nothing else.

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::finish::Outcome;

/// The kind of tasks that tell.
pub const KIND: &str = "HAPPENING";

/// What happened, in the envelope that others read: a CloudEvent 1.0 in structured mode.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CloudEvent {
    /// Always `1.0`.
    pub specversion: String,
    /// The same whenever the same happening is told again.
    pub id: String,
    /// Whose happening: this Almanack's own name as a URI reference.
    pub source: String,
    /// What kind of happening: `almanack.task.finished.v1`.
    pub r#type: String,
    /// What it is about: `article:42`.
    pub subject: String,
    /// When it happened.
    pub time: Timestamp,
    /// Always `application/json`.
    pub datacontenttype: String,
    /// The rest, by type.
    pub data: Box<RawValue>,
}

/// Hands happenings over to one subscriber: a webhook, a Kafka topic, a NATS subject.
#[async_trait]
pub trait Herald: Send + Sync {
    /// Hands one over. Done means that it was taken for good; whatever else comes back is retried like any attempt.
    async fn tell(&self, event: &CloudEvent) -> Outcome;
}
