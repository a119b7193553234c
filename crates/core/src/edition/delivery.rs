//! Deliveries: one edition at one destination, written down before it leaves.
//!
//! ```text
//!              claimed for sending         answered
//!   intended ───────────────────► sent ───────────────► confirmed
//!      ▲  ▲                        │ ├──────────────► failed ──┐ retry_at
//!      │  └────────────────────────┼─┼─────────────────────────┘
//!      │                           │ └─ no answer, or the lease passed
//!      │ looked: it is not there,  ▼
//!      └──── or "repeat" ◄────── unknown ── looked: it is there ──► confirmed
//!                                  └── "skip" ──► skipped
//! ```
//!
//! A destination that takes several messages has a part for each. INVARIANT: a part is sent only out of
//! `sent`, and only by whoever wrote that state; whoever finds a `sent` whose lease has passed does not know
//! whether it left, and must settle it by looking, or by what the destination prefers (ED-12).

use jiff::{SignedDuration, Timestamp};

/// Ceiling of the wait after the first failure; it doubles.
const WAIT_FIRST: SignedDuration = SignedDuration::from_secs(30);
/// It stops doubling here: no longer than the usual tick, so that every tick tries again.
const WAIT_MAX: SignedDuration = SignedDuration::from_mins(10);
/// A destination that asks for a longer wait than this is asked again after it.
const RETRY_AFTER_MAX: SignedDuration = SignedDuration::from_hours(6);

/// Where a delivery stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// It is to be sent; nothing has left.
    Intended,
    /// Somebody is sending it, until the lease passes.
    Sent,
    /// The destination has it.
    Confirmed,
    /// It left, and nobody knows whether it arrived.
    Unknown,
    /// It was refused, or never left; it is tried again.
    Failed,
    /// It is not sent: nobody knows whether it arrived and it must not arrive twice, or a newer document has
    /// taken its place, or its destination wants no second one.
    Skipped,
}

impl State {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Intended,
        Self::Sent,
        Self::Confirmed,
        Self::Unknown,
        Self::Failed,
        Self::Skipped,
    ];

    /// The name used in the store and the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Intended => "intended",
            Self::Sent => "sent",
            Self::Confirmed => "confirmed",
            Self::Unknown => "unknown",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }

    /// Reads a name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|named| named.as_str() == text)
    }

    /// Whether nothing is to be done about it any more.
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Confirmed | Self::Skipped)
    }
}

/// What to do when nobody knows whether a message arrived and nobody can look.
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Of which document.
    pub revision: u32,
    /// Where to, by the name in the configuration.
    pub destination: String,
    /// Which message of several, from 1.
    pub part: u32,
    /// What is sent; none where it is the document itself.
    pub body: Option<String>,
    /// Where it stands.
    pub state: State,
    /// How often it was sent.
    pub attempts: u32,
    /// Until when whoever is sending it may be.
    pub lease_until: Option<Timestamp>,
    /// Not to be tried before.
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
    /// Nothing before this time: somebody sends it, or it waits.
    Wait(Timestamp),
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
            State::Sent => later(self.lease_until).map_or(Step::Settle, Step::Wait),
            State::Unknown => later(self.retry_at).map_or(Step::Settle, Step::Wait),
            State::Intended | State::Failed => later(self.retry_at).map_or(Step::Send, Step::Wait),
        }
    }

    /// When to try again after it failed for the `attempts`-th time.
    pub fn next_try(&self, retry_after: Option<SignedDuration>, now: Timestamp) -> Timestamp {
        let doublings = self.attempts.saturating_sub(1).min(10);
        let wait = WAIT_FIRST
            .saturating_mul(1 << doublings)
            .min(WAIT_MAX)
            .max(retry_after.unwrap_or_default().min(RETRY_AFTER_MAX));
        now.saturating_add(wait).unwrap_or(now)
    }
}
