//! Many events in one delivery, for subscribers that take them so (CloudEvents' batched mode).
//!
//! A task costs the same whatever it carries, so the events of endings that are written together
//! travel together. Which endings take effect is known only in their write: that is where
//! [`gather`] is called, by the store.
//!
//! ```text
//!   endings of one write ──► LooseEvent each ──► gather ──► one EVENT_DELIVERY task per `batch`
//!                                                             │ refused for what is in it
//!                                                             ▼
//!                                                halves, until what is refused is alone
//! ```
//!
//! INVARIANT: an event is gathered once, because its ending takes effect once. A batch is known by
//! its first event and how many follow (`task-1-1+99`), so a half has an id of its own, and the
//! same one whenever the same batch is taken apart again.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    CloudEvent, Name, SUBJECT_PREFIX,
    end::TaskEnd,
    subscriber,
    subscription::{delivery, written},
};
use crate::{
    finish::Outcome,
    task::{ClaimedTask, Identity, NewTask, Payload},
};

/// Most events that a subscription can ask for at once.
pub const BATCH_MAX: usize = 1_000;
/// About how long a batch may be, in bytes: what most receivers accept as they are.
const BATCH_BYTES_MAX: usize = 512 * 1024;
/// Between a batch's first event and the number of the others.
const AND_MORE: char = '+';

/// The event of an ending, for a subscriber that takes many at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LooseEvent {
    pub(super) subscription: Name,
    /// Most events of one delivery.
    pub(super) batch: usize,
    /// What the event names as its source.
    pub(super) source: String,
    pub(super) end: TaskEnd,
}

/// What the payload of a batch is.
#[derive(Serialize)]
struct Packed<'a> {
    source: &'a str,
    ended: &'a [&'a TaskEnd],
}

/// The same, read.
#[derive(Debug, Deserialize)]
struct Unpacked {
    source: String,
    ended: Vec<TaskEnd>,
}

/// The deliveries of events that are written together, in the order given.
pub fn gather<'a>(events: impl IntoIterator<Item = &'a LooseEvent>) -> Vec<NewTask> {
    let mut of_each: BTreeMap<&str, Vec<&LooseEvent>> = BTreeMap::new();
    for event in events {
        let of_one = of_each.entry(event.subscription.as_str()).or_default();
        of_one.push(event);
    }
    let batches = of_each.values().flat_map(|events| in_batches(events));
    batches.filter_map(gathered).collect()
}

fn in_batches<'e, 'a>(events: &'e [&'a LooseEvent]) -> Vec<&'e [&'a LooseEvent]> {
    let (mut batches, mut first, mut bytes) = (Vec::new(), 0, 0);
    for (index, event) in events.iter().enumerate() {
        let more = event.end.event_bytes();
        let is_full = index - first >= event.batch || bytes + more > BATCH_BYTES_MAX;
        if index > first && is_full {
            batches.push(&events[first..index]);
            (first, bytes) = (index, 0);
        }
        bytes += more;
    }
    batches.push(&events[first..]);
    batches
}

fn gathered(events: &[&LooseEvent]) -> Option<NewTask> {
    let first = events.first()?;
    let ends: Vec<&TaskEnd> = events.iter().map(|event| &event.end).collect();
    let name = first.subscription.as_str();
    carrying(&first.source, &ends, name, first.end.finished_at)
}

/// The task that delivers these; one alone is written as if it had never been with others.
fn carrying(source: &str, ended: &[&TaskEnd], name: &str, at: Timestamp) -> Option<NewTask> {
    let id = ended.first()?.event_id();
    Some(match ended {
        [alone] => {
            let payload = Payload::from_store(written(source, &alone.event()));
            delivery(&id, name, at, payload)
        }
        many => {
            let id = format!("{id}{AND_MORE}{}", many.len() - 1);
            let packed = Packed { source, ended };
            let payload = Payload::from_store(serde_json::to_string(&packed).ok()?);
            delivery(&id, name, at, payload)
        }
    })
}

/// How many events a delivery carries.
pub fn count_of(identity: &Identity) -> u64 {
    let id = identity.subject.as_str().rsplit_once('@');
    let more = id.and_then(|(id, _)| id.rsplit_once(AND_MORE));
    more.and_then(|(_, more)| more.parse::<u64>().ok())
        .map_or(1, |more| more.saturating_add(1))
}

/// What a delivery carries.
#[derive(Debug)]
pub enum Carried<'a> {
    One(CloudEvent),
    Many(Batch<'a>),
}

/// Events that are delivered in one call.
#[derive(Debug)]
pub struct Batch<'a> {
    /// The same whenever the same batch is delivered again.
    pub id: &'a str,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    events: Unpacked,
}

impl<'a> Carried<'a> {
    /// Reads a delivery; `None` if it is no event.
    pub fn read(task: &'a ClaimedTask) -> Option<Self> {
        let payload = task.payload.as_str();
        if count_of(&task.identity) == 1 {
            return serde_json::from_str(payload).ok().map(Self::One);
        }
        let subject = task.identity.subject.as_str();
        let (id, _) = subject.strip_prefix(SUBJECT_PREFIX)?.rsplit_once('@')?;
        Some(Self::Many(Batch {
            id,
            attempt: task.attempt,
            events: serde_json::from_str(payload).ok()?,
        }))
    }
}

impl Batch<'_> {
    /// The ids of its events.
    pub fn ids(&self) -> impl Iterator<Item = String> {
        self.events.ended.iter().map(TaskEnd::event_id)
    }

    /// How many events there are.
    pub fn count(&self) -> usize {
        self.events.ended.len()
    }

    /// All its events, as a JSON list.
    pub fn body(&self) -> String {
        let Unpacked { source, ended } = &self.events;
        let events: Vec<String> = ended
            .iter()
            .map(|end| written(source, &end.event()))
            .collect();
        format!("[{}]", events.join(","))
    }

    /// Its events in two deliveries, due at `now`.
    pub fn halves(&self, identity: &Identity, now: Timestamp) -> Vec<NewTask> {
        let Unpacked { source, ended } = &self.events;
        let ended: Vec<&TaskEnd> = ended.iter().collect();
        let (first, second) = ended.split_at(ended.len() / 2);
        let name = subscriber(identity).unwrap_or_default();
        let part = |part| carrying(source, part, name, now);
        [first, second].into_iter().filter_map(part).collect()
    }
}

/// How handing over a batch ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchOutcome {
    /// As a whole.
    Whole(Outcome),
    /// Something in it is not taken, or there is too much of it: its halves are tried.
    TakeApart { why: String },
}

impl BatchOutcome {
    /// The subscriber takes no batches.
    pub fn one_at_a_time() -> Self {
        let why = "the subscription takes one event at a time".to_owned();
        Self::TakeApart { why }
    }
}

#[cfg(test)]
mod tests;
