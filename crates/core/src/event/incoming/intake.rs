//! The port between a queue and the engine: requests in, in batches, an answer for each.
//!
//! A queue may forget a message only when its request has taken effect or was refused for good, so
//! there are exactly three answers and a queue does one thing for each of them. Batches, because
//! one commit of the store then carries many messages.

use async_trait::async_trait;
use jiff::Timestamp;

use super::envelope::Bus;
use crate::reschedule::{Receipt, Request};

/// What a message requests, and who requests it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeRequest {
    /// The message's own name, unique within its source.
    pub id: String,
    /// What the history says about who requested it.
    pub origin: String,
    /// What it requests.
    pub request: Request,
}

/// The result of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The store has the effect, or had it already: the message may be forgotten.
    Taken(Receipt),
    /// It can never be carried out as it is: a dead letter.
    Refused {
        /// The reason, for the operator who reads the dead letter.
        reason: String,
    },
    /// Not known yet: the message stays, and is tried again.
    NotNow { reason: String },
}

/// Takes requests from a queue.
#[async_trait]
pub trait Intake: Send + Sync {
    /// Carries requests out; one answer for each, in the order asked. Idempotent by revision:
    /// asking again, after a crash or after [`Answer::NotNow`], is harmless, and so is asking in
    /// another order. Requests about one identity are carried out in the order given.
    async fn take(&self, requests: Vec<ChangeRequest>) -> Vec<Answer>;
}

/// Is notified whether message buses are connected: while one is not, nothing comes from it, and
/// that looks like silence.
pub trait Links: Send + Sync {
    /// A bus is connected and serves us, or why not.
    fn note(&self, bus: Bus, now: Timestamp, state: Result<(), String>);
}
