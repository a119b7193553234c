//! Deliveries: one edition at one destination, recorded before it leaves.
//!
//! ```text
//!              claimed for sending         answered
//!   intended ───────────────────► sent ───────────────► confirmed
//!      ▲  ▲                        │ ├──────────────► failed ──┐ retry_at
//!      │  └────────────────────────┼─┼─────────────────────────┘
//!      │                           │ └─ no answer, or the lease passed
//!      │ looked: it is not there,  ▼ retry_at
//!      └──── or "repeat" ◄────── unknown ── looked: it is there ──► confirmed
//!                                  └── "skip" ──► skipped
//! ```
//!
//! Every try that did not end in `confirmed` is followed by a wait that doubles (`retry_at`),
//! whatever the cause, so nothing can send in a loop (ED-41). After [`TRIES_MAX`] of them, or in
//! doubt that would cost readers the edition, a part is *held*: `failed` or `unknown` without a
//! `retry_at`. Only a person gets it out of there, by sending it again or skipping it.
//!
//! A destination that takes several messages has a part for each. INVARIANT: a part is sent only
//! out of `sent`, and only by the node that wrote that state. A node that finds a `sent` whose
//! lease has passed does not know whether it left, and must settle it by looking, or by what the
//! destination prefers (ED-12).

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// Ceiling of the wait after the first failure; it doubles.
const WAIT_FIRST: SignedDuration = SignedDuration::from_secs(30);
/// It stops doubling here: shorter than the usual ten minutes between ticks, so that every tick
/// tries again.
const WAIT_MAX: SignedDuration = SignedDuration::from_mins(9);
/// Tries at a part before it is held for a person: seven hours of them.
pub const TRIES_MAX: u32 = 50;
/// The detail of a part that was skipped because it may have arrived.
pub const IN_DOUBT: &str = "it may have arrived already, and must not arrive twice";
/// A destination that requests a longer wait than this is asked again after it.
const RETRY_AFTER_MAX: SignedDuration = SignedDuration::from_hours(6);

/// Where editions go in test mode: they are printed. A document that went nowhere else is delivered
/// once the real destinations are there.
pub const TEST_DESTINATION: &str = "terminal";

names! {
    /// The state of a delivery.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[cfg_attr(feature = "schema", schema(as = DeliveryState))]
    pub enum State {
        /// It is to be sent; nothing has left.
        Intended = "intended",
        /// A node is sending it, until the lease passes.
        Sent = "sent",
        /// The destination has it.
        Confirmed = "confirmed",
        /// It was sent, and it is unknown whether it arrived.
        Unknown = "unknown",
        /// It was refused, or never left; it is tried again, or held.
        Failed = "failed",
        /// It is not sent: it may have arrived already and must not arrive twice, or a newer
        /// document has replaced it, or its destination wants no second one.
        Skipped = "skipped",
    }
}

impl State {
    /// Whether nothing is to be done about it any more.
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Confirmed | Self::Skipped)
    }
}

/// What to do when it is unknown whether a message arrived and there is no way to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnUnknown {
    /// Better missing than twice.
    #[default]
    Skip,
    /// Better twice than missing.
    Repeat,
}

/// What to do with a second document of an edition that was delivered already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnRevision {
    /// It takes the place of the first.
    #[default]
    Replace,
    /// Readers got the first and get no second.
    Skip,
}

/// One part of an edition at one destination, as the store keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Delivery {
    /// Of which document.
    pub revision: u32,
    /// Where to, by the name in the configuration.
    pub destination: String,
    /// Which message of several, from 1.
    pub part: u32,
    /// What is sent; none where it is the document itself.
    #[serde(skip)]
    pub body: Option<String>,
    pub state: State,
    /// How often it was tried: sent, or looked for in vain.
    pub attempts: u32,
    /// Until when the sending node may be sending it.
    #[serde(skip)]
    pub lease_until: Option<Timestamp>,
    /// Not to be tried before. One that is `failed` or `unknown` without it is held.
    pub retry_at: Option<Timestamp>,
    /// What last went wrong, or what people should know.
    pub detail: Option<String>,
    /// What the destination knows it by: a commit, a message, a path.
    pub receipt: Option<String>,
    /// Requests that were spent on it.
    pub requests: u32,
    /// When its row last changed.
    pub updated_at: Timestamp,
}

/// What is to be done about a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Send it.
    Send,
    /// Find out whether it arrived.
    Settle,
    /// Nothing before this time: a node sends it, or it waits.
    Wait(Timestamp),
    /// Nothing until a person decides.
    Held,
    /// Nothing any more.
    Settled,
}

impl Delivery {
    /// A part that is to be sent.
    pub fn new(
        revision: u32,
        destination: &str,
        part: u32,
        body: Option<String>,
        now: Timestamp,
    ) -> Self {
        Self {
            revision,
            destination: destination.to_owned(),
            part,
            body,
            state: State::Intended,
            attempts: 0,
            lease_until: None,
            retry_at: None,
            detail: None,
            receipt: None,
            requests: 0,
            updated_at: now,
        }
    }

    /// What is to be done about it now.
    pub fn step(&self, now: Timestamp) -> Step {
        let later = |at: Option<Timestamp>| at.filter(|at| *at > now);
        match self.state {
            State::Confirmed | State::Skipped => Step::Settled,
            State::Failed | State::Unknown if self.retry_at.is_none() => Step::Held,
            State::Sent => later(self.lease_until).map_or(Step::Settle, Step::Wait),
            State::Unknown => later(self.retry_at).map_or(Step::Settle, Step::Wait),
            State::Intended | State::Failed => later(self.retry_at).map_or(Step::Send, Step::Wait),
        }
    }

    /// How long it is being sent at most, while it is.
    pub fn sending_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.lease_until
            .filter(|until| self.state == State::Sent && *until > now)
    }

    /// Whether only a person can get it any further.
    pub fn is_held(&self) -> bool {
        matches!(self.state, State::Failed | State::Unknown) && self.retry_at.is_none()
    }

    /// Whether it was skipped although it may never have arrived.
    pub fn is_doubtful(&self) -> bool {
        self.state == State::Skipped && self.detail.as_deref() == Some(IN_DOUBT)
    }

    /// Skips it because it may have arrived.
    pub(super) fn skip_in_doubt(&mut self) {
        self.state = State::Skipped;
        self.detail = Some(IN_DOUBT.to_owned());
        self.retry_at = None;
    }

    /// Whether the latest try was the last that it has. Counted in rounds, because `attempts`
    /// fences and must only grow: sending it again by hand gives it another round.
    pub fn had_last_try(&self) -> bool {
        self.attempts > 0 && self.attempts.is_multiple_of(TRIES_MAX)
    }

    /// When to continue after the latest try did not succeed.
    pub fn next_try(&self, retry_after: Option<SignedDuration>, now: Timestamp) -> Timestamp {
        let doublings = (self.attempts.saturating_sub(1) % TRIES_MAX).min(10);
        let wait = WAIT_FIRST
            .saturating_mul(1 << doublings)
            .min(WAIT_MAX)
            .max(retry_after.unwrap_or_default().min(RETRY_AFTER_MAX));
        now.saturating_add(wait).unwrap_or(now)
    }
}
