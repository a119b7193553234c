//! Outgoing events: what happened in Almanack, as CloudEvents.
//!
//! The other direction of [`crate::event`]. An event is delivered by a separate task, written in
//! the same transaction as the change it reports. So the table of tasks is the outbox, and an event
//! is delivered at least once, with the retries, the history and the leases of every other task. A
//! receiver recognises a repetition by its `id`, which depends on what happened and on nothing
//! else.
//!
//! ```text
//!   a task ends ───────┐
//!   a source has news ─┼─► Subscriptions ──► one EVENT_DELIVERY task each ──► EventPublisher
//!   an edition is out ─┤   (pure, before      (in the very same write)        (a webhook, a topic)
//!   a monitor is down ─┘    the write)
//! ```
//!
//! For a subscription with `batch`, the ends of tasks that are written together share deliveries
//! (`batch`).
//!
//! INVARIANT: a task of kind [`KIND`] is no event itself, or deliveries would never end.

mod batch;
mod data;
mod end;
mod judge;
mod subscription;
mod written;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    finish::Outcome,
    task::{Identity, Kind},
};

pub use batch::{BATCH_MAX, Batch, BatchOutcome, Carried, LooseEvent, count_of, gather};
pub use data::{ENTRIES_REPORTED_MAX, RECEIPTS_REPORTED_MAX};
pub use judge::{judge, judge_batch, judge_silence};
pub use subscription::{BadName, NAME_BYTES_MAX, Name, Subscription, Subscriptions, Wants};
pub use written::{Mode, Written};

/// The kind of tasks that deliver events.
pub const KIND: &str = "EVENT_DELIVERY";
/// What the subjects of event deliveries start with.
pub const SUBJECT_PREFIX: &str = "event:";

/// What happened, in the envelope that others read: a CloudEvent 1.0 in structured mode.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CloudEvent<D = Box<RawValue>> {
    /// Always `1.0`.
    pub specversion: String,
    /// The same whenever the same event is delivered again.
    pub id: String,
    /// The name of this Almanack, as a URI reference.
    pub source: String,
    /// What kind of event: `almanack.task.finished.v1`.
    pub r#type: String,
    /// What it is about: `article:42`.
    pub subject: String,
    pub time: Timestamp,
    /// Always `application/json`.
    pub datacontenttype: String,
    /// The rest, by type.
    pub data: D,
}

names! {
    /// What kinds of events there are. The number at the end of a name changes when the data
    /// changes in a way that breaks readers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Type {
        /// A task is over: it succeeded, or it failed for good.
        TaskFinished = "almanack.task.finished.v1",
        /// One destination has an edition, whole.
        EditionPublished = "almanack.edition.published.v1",
        /// A source published something new.
        SourceEntries = "almanack.source.entries.v1",
        /// Entries of a source were edited by their publisher.
        SourceEntryUpdated = "almanack.source.entry_updated.v1",
        /// A ping of a job is missing, or the job failed.
        MonitorDown = "almanack.monitor.down.v1",
        /// A job is well again.
        MonitorUp = "almanack.monitor.up.v1",
    }
}

/// Hands events over to one subscriber: a webhook, a Kafka topic, a NATS subject.
#[async_trait]
pub trait EventPublisher: Send + Sync {
    /// Hands one over. Done means that it was taken for good; whatever else comes back is retried
    /// like any attempt.
    async fn publish(&self, event: &CloudEvent) -> Outcome;

    /// Hands many over in one call. A publisher that cannot has them taken apart: they were
    /// gathered for a subscription that has changed since.
    async fn publish_batch(&self, _: &Batch<'_>) -> BatchOutcome {
        BatchOutcome::one_at_a_time()
    }
}

/// Which subscription an event delivery belongs to; `None` if the task is none.
pub fn subscriber(identity: &Identity) -> Option<&str> {
    let subject = identity.subject.as_str().strip_prefix(SUBJECT_PREFIX)?;
    let (_, name) = subject.rsplit_once('@')?;
    is_reporting(&identity.kind).then_some(name)
}

/// Whether tasks of this kind deliver events.
pub fn is_reporting(kind: &Kind) -> bool {
    kind.as_str() == KIND
}

#[cfg(test)]
mod tests;
