//! Mailings: one edition on its way to its subscribers, and the ledger row of each of them.
//!
//! ```text
//!              recipient accepted,            server accepted
//!              row written                    the message
//!   intended ─────────────────────► sent ─────────────────────► confirmed
//!      ▲  ▲                          │ ├─ refused ─► failed ──┐ retry_at
//!      │  └──────────────────────────┼─┼──────────────────────┘
//!      │                             │ └─ no answer, or the lease passed
//!      └──────────── "repeat" ◄── unknown ── "skip" ──► skipped
//! ```
//!
//! The states are those of every delivery ([`delivery::State`]), and so is the rule: a message is
//! handed over only out of `sent`, and only by the node that wrote that state. The server has
//! accepted sender and recipient by then, so what is in doubt after a crash is one message per
//! node: the one whose content was on its way. A row that is `failed` without a `retry_at` has
//! ended. So has one that was `confirmed` and came back later, as a report says ([`bounce`]).

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::{
    EDITION_MAIL, SubscriberId,
    bounce::{self, Refusal},
    subscriber::new_task,
};
use crate::{
    edition::{
        EditionId,
        delivery::{self, IN_DOUBT, OnUnknown},
    },
    task::{Identity, Invalid, NewTask},
    text::shorten,
};

/// Wait after the first failure; it doubles.
const WAIT_FIRST: SignedDuration = SignedDuration::from_secs(30);
/// It stops doubling here.
const WAIT_MAX: SignedDuration = SignedDuration::from_mins(30);
/// Tries at one recipient before the row ends as failed: about four hours of them.
pub const TRIES_MAX: u32 = 12;
/// Failures of the server in a row before the mailing needs a person: about a day of them.
pub const FAILURES_MAX: u32 = 50;
/// Longest detail that is kept.
const DETAIL_CHARS_MAX: usize = 500;
/// What the detail of a message begins with that came back.
pub(super) const BOUNCED_LATER: &str = "bounced later: ";
/// What the subjects of mailing tasks begin with.
const SUBJECT_PREFIX: &str = "edition:";

/// The task that sends the mailing of an edition.
pub fn identity(id: EditionId) -> Result<Identity, Invalid> {
    Identity::parse(&format!("{SUBJECT_PREFIX}{id}"), EDITION_MAIL)
}

/// Whose mailing a task sends, if it sends one.
pub fn mailing_of(identity: &Identity) -> Option<EditionId> {
    let named = identity.subject.as_str().strip_prefix(SUBJECT_PREFIX)?;
    named.parse().ok()
}

names! {
    /// How a mailing stands.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[cfg_attr(feature = "schema", schema(as = MailingState))]
    pub enum State {
        /// It is being sent.
        Running = "running",
        /// Nothing is to be done about any of its rows.
        Done = "done",
        /// The mail server refuses it; it goes on when its task is retried.
        Held = "held",
    }
}

/// One edition on its way to its subscribers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Mailing {
    /// Of which edition; there is one at most.
    #[serde(flatten)]
    pub id: EditionId,
    /// The document that is sent. Later revisions are not mailed.
    pub revision: u32,
    pub state: State,
    /// Subscribers up to this one have their rows.
    #[serde(skip)]
    pub filled_through: SubscriberId,
    /// Whether all have.
    #[serde(skip)]
    pub is_filled: bool,
    /// Failures of the mail server in a row.
    pub failures: u32,
    /// The last of them.
    pub error: Option<String>,
    pub created_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

impl Mailing {
    /// A mailing of which nothing was sent.
    pub fn new(id: EditionId, revision: u32, now: Timestamp) -> Self {
        Self {
            id,
            revision,
            state: State::Running,
            filled_through: SubscriberId(0),
            is_filled: false,
            failures: 0,
            error: None,
            created_at: now,
            ended_at: None,
        }
    }

    /// The task that sends it.
    pub fn task(&self) -> Result<NewTask, Invalid> {
        Ok(new_task(identity(self.id)?, self.created_at, "edition"))
    }

    /// After the mail server failed.
    #[must_use]
    pub fn failed(&self, detail: &str) -> Self {
        let failures = self.failures.saturating_add(1);
        Self {
            failures,
            error: Some(shorten(detail, DETAIL_CHARS_MAX).into_owned()),
            state: if failures.is_multiple_of(FAILURES_MAX) {
                State::Held
            } else {
                State::Running
            },
            ..self.clone()
        }
    }

    /// After the mail server accepted a message; `None` if that is nothing new.
    #[must_use]
    pub fn succeeded(&self) -> Option<Self> {
        let new = self.failures > 0 || self.state == State::Held;
        new.then(|| Self {
            failures: 0,
            error: None,
            state: State::Running,
            ..self.clone()
        })
    }

    /// Nothing is left to do.
    #[must_use]
    pub fn done(&self, now: Timestamp) -> Self {
        Self {
            state: State::Done,
            ended_at: Some(now),
            ..self.clone()
        }
    }

    /// When to try the mail server again.
    pub fn next_try(&self, retry_after: Option<SignedDuration>, now: Timestamp) -> Timestamp {
        next_try(self.failures, retry_after, now)
    }
}

fn next_try(tries: u32, retry_after: Option<SignedDuration>, now: Timestamp) -> Timestamp {
    let doublings = tries.saturating_sub(1).min(10);
    let wait = WAIT_FIRST.saturating_mul(1 << doublings).min(WAIT_MAX);
    let asked = retry_after
        .unwrap_or_default()
        .min(SignedDuration::from_hours(6));
    now.saturating_add(wait.max(asked)).unwrap_or(now)
}

/// The ledger row of one subscriber.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Mail {
    #[serde(flatten)]
    pub id: EditionId,
    pub subscriber_id: SubscriberId,
    pub state: delivery::State,
    /// How often it was handed over or refused; only grows, and so fences.
    pub attempts: u32,
    /// Until when the sending node may be sending it.
    #[serde(skip)]
    pub lease_until: Option<Timestamp>,
    /// Not to be tried before.
    pub retry_at: Option<Timestamp>,
    /// What last went wrong, or what the server answered.
    pub detail: Option<String>,
    pub updated_at: Timestamp,
}

impl Mail {
    fn turned(&self, state: delivery::State, detail: Option<&str>, now: Timestamp) -> Self {
        Self {
            state,
            lease_until: None,
            retry_at: None,
            detail: detail.map(|text| shorten(text, DETAIL_CHARS_MAX).into_owned()),
            updated_at: now,
            ..self.clone()
        }
    }

    /// Its content is about to be handed over, until `lease_until` at most.
    #[must_use]
    pub fn started(&self, lease_until: Timestamp, now: Timestamp) -> Self {
        Self {
            attempts: self.attempts.saturating_add(1),
            lease_until: Some(lease_until),
            ..self.turned(delivery::State::Sent, None, now)
        }
    }

    /// The server accepted it.
    #[must_use]
    pub fn confirmed(&self, receipt: Option<&str>, now: Timestamp) -> Self {
        self.turned(delivery::State::Confirmed, receipt, now)
    }

    /// It left and was not answered.
    #[must_use]
    pub fn unknown(&self, detail: &str, now: Timestamp) -> Self {
        let retry_at = Some(next_try(1, None, now));
        let unknown = self.turned(delivery::State::Unknown, Some(detail), now);
        Self {
            retry_at,
            ..unknown
        }
    }

    /// The server certainly does not have it, but may take it later; after [`TRIES_MAX`] tries it
    /// ends.
    #[must_use]
    pub fn deferred(&self, detail: &str, now: Timestamp) -> Self {
        let mut failed = self.refused(detail, now);
        if failed.attempts < TRIES_MAX {
            failed.retry_at = Some(next_try(failed.attempts, None, now));
        }
        failed
    }

    /// The recipient is refused for good.
    #[must_use]
    pub fn refused(&self, detail: &str, now: Timestamp) -> Self {
        // A try that was written down when it started is not counted again.
        let is_new = self.state != delivery::State::Sent;
        Self {
            attempts: self.attempts.saturating_add(u32::from(is_new)),
            ..self.turned(delivery::State::Failed, Some(detail), now)
        }
    }

    /// A report says that it came back; `None` unless it was sent, as far as anybody knew.
    #[must_use]
    pub fn came_back(&self, refusal: &Refusal, now: Timestamp) -> Option<Self> {
        use delivery::State::{Confirmed, Failed, Unknown};
        let detail = bounce::detail(refusal);
        let was_sent = matches!(self.state, Confirmed | Unknown);
        was_sent.then(|| self.turned(Failed, Some(&detail), now))
    }

    /// It is not sent, for this reason.
    #[must_use]
    pub fn skipped(&self, why: &str, now: Timestamp) -> Self {
        self.turned(delivery::State::Skipped, Some(why), now)
    }

    /// Decides about a message in doubt: there is no way to look.
    #[must_use]
    pub fn settled(&self, preferred: OnUnknown, now: Timestamp) -> Self {
        match preferred {
            OnUnknown::Skip => self.skipped(IN_DOUBT, now),
            OnUnknown::Repeat => self.turned(delivery::State::Intended, None, now),
        }
    }
}

/// The rows of a mailing, counted by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct MailCounts {
    /// Wait to be sent.
    pub waiting: u64,
    /// Accepted by the mail server.
    pub confirmed: u64,
    /// Handed over, and the answer is not known yet.
    pub unknown: u64,
    /// Refused; some are tried again.
    pub failed: u64,
    /// Not sent: unsubscribed meanwhile, or in doubt.
    pub skipped: u64,
}

impl MailCounts {
    /// Counts so many more rows in this state.
    pub fn add(&mut self, state: delivery::State, count: u64) {
        use delivery::State::{Confirmed, Failed, Intended, Sent, Skipped, Unknown};
        let counted = match state {
            Intended => &mut self.waiting,
            Sent | Unknown => &mut self.unknown,
            Confirmed => &mut self.confirmed,
            Failed => &mut self.failed,
            Skipped => &mut self.skipped,
        };
        *counted += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::at;
    use delivery::State as Row;

    fn id() -> EditionId {
        jiff::civil::date(2026, 1, 10).into()
    }

    fn intended() -> Mail {
        Mail {
            id: id(),
            subscriber_id: SubscriberId(1),
            state: Row::Intended,
            attempts: 0,
            lease_until: None,
            retry_at: None,
            detail: None,
            updated_at: at(0),
        }
    }

    #[test]
    fn ed_43_what_may_have_arrived_is_sent_again_only_by_preference() {
        let sent = intended().started(at(60), at(0));
        assert_eq!((sent.state, sent.attempts), (Row::Sent, 1));
        let unknown = sent.unknown("cut off", at(1));
        assert_eq!(unknown.retry_at, Some(at(31)));
        for doubtful in [&sent, &unknown] {
            let skipped = doubtful.settled(OnUnknown::Skip, at(61));
            assert_eq!(skipped.state, Row::Skipped);
            assert_eq!(skipped.detail.as_deref(), Some(IN_DOUBT));
            let again = doubtful.settled(OnUnknown::Repeat, at(61));
            assert_eq!(
                (again.state, again.attempts),
                (Row::Intended, 1),
                "the fence stays"
            );
        }
    }

    #[test]
    fn ed_43_a_recipient_is_tried_a_bounded_number_of_times() {
        let mut row = intended();
        let mut tries = 0;
        loop {
            row = row.deferred("450 later", at(0));
            tries += 1;
            let Some(again) = row.retry_at else { break };
            assert!(again > at(0) && again <= at(1_800), "{again}");
        }
        assert_eq!((tries, row.state), (TRIES_MAX, Row::Failed));
        let refused = intended().refused("550 no such user", at(0));
        assert_eq!((refused.state, refused.retry_at), (Row::Failed, None));
    }

    #[test]
    fn ed_43_what_was_sent_comes_back_once() {
        let refusal = Refusal {
            detail: "5.1.1 no such user".to_owned(),
            is_bounce: true,
        };
        assert_eq!(intended().came_back(&refusal, at(1)), None, "never sent");
        let sent = intended().started(at(60), at(0)).confirmed(None, at(1));
        let back = sent.came_back(&refusal, at(2)).unwrap();
        assert_eq!((back.state, back.retry_at), (Row::Failed, None));
        let detail = back.detail.as_deref();
        assert_eq!(detail, Some("bounced later: 5.1.1 no such user"));
        assert_eq!(back.came_back(&refusal, at(3)), None, "the same report");
    }

    #[test]
    fn ed_43_a_server_that_refuses_everything_holds_the_mailing() {
        let mut mailing = Mailing::new(id(), 1, at(0));
        for _ in 0..FAILURES_MAX {
            assert_eq!(mailing.state, State::Running);
            mailing = mailing.failed("535 bad password");
        }
        assert_eq!(mailing.state, State::Held);
        let again = mailing.succeeded().unwrap();
        assert_eq!((again.state, again.failures), (State::Running, 0));
        assert_eq!(again.succeeded(), None);
    }

    #[test]
    fn a_mailing_is_known_by_its_task() {
        let task = Mailing::new(id(), 1, at(0)).task().unwrap();
        assert_eq!(task.identity.subject.as_str(), "edition:2026-01-10");
        assert_eq!(mailing_of(&task.identity), Some(id()));
    }
}
