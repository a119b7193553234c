//! Subscribers, and what requests, links and refused mail do to one.
//!
//! Every decision takes the row as it is and answers the row as it should be, or none where nothing
//! changes; the store writes it if the row is still the version that was seen.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Address, EDITION_MAIL};
use crate::edition::EditionName;
use crate::task::{
    Expiry, Identity, Invalid, MAX_RETRY_MAX, NewTask, Payload, Priority, Revision, Status, Tags,
};

/// A confirmation mail is sent again to the same address after this at the soonest.
pub const ASK_AGAIN_AFTER: SignedDuration = SignedDuration::from_hours(1);
/// Confirmation mails that one address gets until it confirms, or until they are forgotten.
pub const ASKS_MAX: u32 = 5;
/// When they are forgotten, after the last of them.
const ASKS_FORGOTTEN_AFTER: SignedDuration = SignedDuration::from_hours(24 * 30);
/// What the subjects of confirmation tasks begin with.
const SUBJECT_PREFIX: &str = "subscriber:";

/// Number of a subscriber, given by the database and never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct SubscriberId(pub i64);

impl std::fmt::Display for SubscriberId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

names! {
    /// The state of a subscriber.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[cfg_attr(feature = "schema", schema(as = SubscriberState))]
    pub enum State {
        /// Someone entered the address; its holder has not confirmed.
        Pending = "pending",
        /// Gets editions.
        Confirmed = "confirmed",
        /// Wants no more mail.
        Unsubscribed = "unsubscribed",
        /// Mail to this address is refused.
        Bounced = "bounced",
    }
}

/// One address of one edition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Subscriber {
    pub id: SubscriberId,
    /// The edition's name.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub edition: EditionName,
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub address: Address,
    pub state: State,
    /// The language of the words around an edition, as a tag; the edition's own without one.
    pub language: Option<String>,
    /// Refusals since the last mail that was accepted.
    pub bounces: u32,
    /// Confirmation mails since it last confirmed.
    #[serde(skip)]
    pub asks: u32,
    /// When the last of them was requested.
    #[serde(skip)]
    pub asked_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub confirmed_at: Option<Timestamp>,
    /// When it unsubscribed or bounced.
    pub ended_at: Option<Timestamp>,
    /// Counts every write; part of the compare-and-set.
    #[serde(skip)]
    pub version: i64,
}

impl Subscriber {
    fn new(edition: EditionName, address: Address, state: State, now: Timestamp) -> Self {
        Self {
            id: SubscriberId(0),
            edition,
            address,
            state,
            language: None,
            bounces: 0,
            asks: 0,
            asked_at: None,
            created_at: now,
            confirmed_at: (state == State::Confirmed).then_some(now),
            ended_at: None,
            version: 1,
        }
    }

    fn changed(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut after = self.clone();
        after.version += 1;
        change(&mut after);
        after
    }

    /// Its holder confirms; `None` unless it waits for that.
    #[must_use]
    pub fn confirmed(&self, now: Timestamp) -> Option<Self> {
        (self.state == State::Pending).then(|| {
            self.changed(|it| {
                it.state = State::Confirmed;
                it.confirmed_at = Some(now);
                (it.asks, it.asked_at, it.ended_at, it.bounces) = (0, None, None, 0);
            })
        })
    }

    /// Its holder wants no more mail; `None` if it gets none already.
    #[must_use]
    pub fn unsubscribed(&self, now: Timestamp) -> Option<Self> {
        (self.state != State::Unsubscribed).then(|| {
            self.changed(|it| {
                it.state = State::Unsubscribed;
                it.ended_at = Some(now);
            })
        })
    }

    /// Mail to it was refused for good; after `limit` of these in a row it gets none any more.
    #[must_use]
    pub fn bounced(&self, limit: u32, now: Timestamp) -> Option<Self> {
        let open = matches!(self.state, State::Pending | State::Confirmed);
        open.then(|| {
            self.changed(|it| {
                it.bounces = it.bounces.saturating_add(1);
                if it.bounces >= limit.max(1) {
                    it.state = State::Bounced;
                    it.ended_at = Some(now);
                }
            })
        })
    }

    /// Mail to it was accepted; `None` if none was refused before.
    #[must_use]
    pub fn accepted(&self) -> Option<Self> {
        (self.bounces > 0).then(|| self.changed(|it| it.bounces = 0))
    }

    fn ask_again(&self, language: Option<&str>, now: Timestamp) -> Option<Self> {
        let since = |at: Timestamp| now.duration_since(at);
        let forgotten = self
            .asked_at
            .is_none_or(|at| since(at) >= ASKS_FORGOTTEN_AFTER);
        let asks = if forgotten { 0 } else { self.asks };
        let soon = self.asked_at.is_some_and(|at| since(at) < ASK_AGAIN_AFTER);
        if self.state == State::Confirmed || soon || asks >= ASKS_MAX {
            return None;
        }
        Some(self.changed(|it| {
            it.state = State::Pending;
            it.asks = asks + 1;
            it.asked_at = Some(now);
            it.language = language.map(str::to_owned).or_else(|| it.language.take());
        }))
    }

    /// The task that sends its confirmation mail. Each request has a task of its own: one that
    /// succeeded is never put again.
    pub fn confirmation_task(&self, id: SubscriberId) -> Result<NewTask, Invalid> {
        let asked = self.asked_at.map_or(0, Timestamp::as_second);
        let subject = format!("{SUBJECT_PREFIX}{id}/{asked}");
        let identity = Identity::parse(&subject, EDITION_MAIL)?;
        let due_at = self.asked_at.unwrap_or(self.created_at);
        Ok(new_task(identity, due_at, "subscription form"))
    }
}

/// Whose confirmation mail a task sends, and as of when it was requested.
pub fn confirmation_of(identity: &Identity) -> Option<(SubscriberId, Timestamp)> {
    let named = identity.subject.as_str().strip_prefix(SUBJECT_PREFIX)?;
    let (id, asked) = named.split_once('/')?;
    let asked = Timestamp::from_second(asked.parse().ok()?).ok()?;
    Some((SubscriberId(id.parse().ok()?), asked))
}

/// A task of the engine's own.
pub(super) fn new_task(identity: Identity, execute_at: Timestamp, origin: &str) -> NewTask {
    NewTask {
        identity,
        status: Status::Init,
        execute_at,
        payload: Payload::default(),
        callback_url: None,
        call_options: None,
        share_key: None,
        expiry: Expiry::NEVER,
        priority: Priority::DEFAULT,
        max_retry: MAX_RETRY_MAX,
        revision: Revision::NONE,
        tags: Tags::NONE,
        origin: origin.to_owned(),
        replaces: None,
    }
}

/// Someone entered an address: the row to write, which also needs a confirmation mail; `None` if
/// nothing happens, because the address is confirmed or was asked often enough.
pub fn ask(
    found: Option<&Subscriber>,
    (edition, address): (EditionName, &Address),
    language: Option<&str>,
    now: Timestamp,
) -> Option<Subscriber> {
    if let Some(found) = found {
        return found.ask_again(language, now);
    }
    let mut new = Subscriber::new(edition, address.clone(), State::Pending, now);
    new.language = language.map(str::to_owned);
    (new.asks, new.asked_at) = (1, Some(now));
    Some(new)
}

names! {
    /// What adding an address did.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[cfg_attr(feature = "schema", schema(as = SubscriberAdded))]
    pub enum Added {
        /// It is subscribed now.
        New = "new",
        /// It was already; nothing changed.
        Existing = "existing",
        /// It was waiting for its confirmation, which the operator vouches for.
        Confirmed = "confirmed",
        /// It unsubscribed or bounced, and stays so: only its holder can subscribe again.
        Ended = "ended",
        /// A confirmation mail is on its way to it.
        Asked = "asked",
        /// It got a confirmation mail within the hour, or often enough; no further one is sent.
        Waiting = "waiting",
    }
}

/// An operator adds an address and vouches that its holder agreed; the row to write, if any.
pub fn add(
    found: Option<&Subscriber>,
    (edition, address): (EditionName, &Address),
    language: Option<&str>,
    now: Timestamp,
) -> (Added, Option<Subscriber>) {
    match found {
        None => {
            let mut new = Subscriber::new(edition, address.clone(), State::Confirmed, now);
            new.language = language.map(str::to_owned);
            (Added::New, Some(new))
        }
        // One that ended and was asked again waits for its holder: anybody can have it asked.
        Some(found) if found.state == State::Pending && found.ended_at.is_none() => {
            (Added::Confirmed, found.confirmed(now))
        }
        Some(found) if found.state == State::Confirmed => (Added::Existing, None),
        Some(_) => (Added::Ended, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::at;

    fn address() -> Address {
        Address::parse("ada@site.example").unwrap()
    }

    fn asked() -> Subscriber {
        ask(
            None,
            (EditionName::default(), &address()),
            Some("en"),
            at(0),
        )
        .unwrap()
    }

    #[test]
    fn ed_43_only_its_holder_confirms_and_only_once() {
        let pending = asked();
        assert_eq!((pending.state, pending.asks), (State::Pending, 1));
        let confirmed = pending.confirmed(at(60)).unwrap();
        assert_eq!(confirmed.confirmed_at, Some(at(60)));
        assert_eq!(confirmed.confirmed(at(61)), None, "nothing to confirm");
        let ended = confirmed.unsubscribed(at(70)).unwrap();
        assert_eq!(
            ended.confirmed(at(71)),
            None,
            "an old link subscribes nobody again"
        );
        assert_eq!(ended.unsubscribed(at(72)), None);
    }

    #[test]
    fn ed_43_an_address_gets_few_confirmation_mails() {
        let mut row = asked();
        let again =
            |row: &Subscriber, now| ask(Some(row), (EditionName::default(), &address()), None, now);
        assert_eq!(again(&row, at(3_599)), None, "within the hour");
        for hour in 1..5 {
            row = again(&row, at(hour * 3_600)).unwrap();
        }
        assert_eq!(row.asks, ASKS_MAX);
        assert_eq!(again(&row, at(100_000)), None, "often enough");
        let month = 31 * 86_400;
        assert_eq!(again(&row, at(month)).unwrap().asks, 1, "forgotten");
        let confirmed = row.confirmed(at(20_000)).unwrap();
        assert_eq!(again(&confirmed, at(month)), None, "already subscribed");
        let ended = confirmed.unsubscribed(at(30_000)).unwrap();
        assert_eq!(again(&ended, at(month)).unwrap().state, State::Pending);
    }

    #[test]
    fn ed_43_nobody_but_its_holder_subscribes_an_address_again() {
        let key = (EditionName::default(), &address());
        let (added, new) = add(None, key, None, at(0));
        let new = new.unwrap();
        assert_eq!((added, new.state), (Added::New, State::Confirmed));
        assert_eq!(add(Some(&new), key, None, at(1)), (Added::Existing, None));
        let ended = new.unsubscribed(at(2)).unwrap();
        assert_eq!(add(Some(&ended), key, None, at(3)), (Added::Ended, None));
        let bounced = new.bounced(1, at(2)).unwrap();
        assert_eq!(add(Some(&bounced), key, None, at(3)), (Added::Ended, None));
        for ended in [ended, bounced] {
            let entered = ask(Some(&ended), key, None, at(4_000)).unwrap();
            assert_eq!(
                add(Some(&entered), key, None, at(4_001)),
                (Added::Ended, None)
            );
            let back = entered.confirmed(at(4_002)).unwrap();
            assert_eq!(
                add(Some(&back), key, None, at(4_003)),
                (Added::Existing, None)
            );
        }
        let waiting = asked();
        assert_eq!(add(Some(&waiting), key, None, at(1)).0, Added::Confirmed);
    }

    #[test]
    fn ed_43_refusals_in_a_row_end_a_subscription() {
        let row = add(None, (EditionName::default(), &address()), None, at(0))
            .1
            .unwrap();
        let once = row.bounced(3, at(1)).unwrap();
        let reset = once.accepted().unwrap();
        assert_eq!((once.bounces, reset.bounces), (1, 0));
        let twice = once.bounced(3, at(2)).unwrap();
        assert_eq!(twice.state, State::Confirmed);
        let third = twice.bounced(3, at(3)).unwrap();
        assert_eq!((third.state, third.ended_at), (State::Bounced, Some(at(3))));
        assert_eq!(third.bounced(3, at(4)), None);
    }

    #[test]
    fn a_confirmation_task_names_whom_and_when() {
        let row = asked();
        let task = row.confirmation_task(SubscriberId(7)).unwrap();
        assert_eq!(
            confirmation_of(&task.identity),
            Some((SubscriberId(7), at(0)))
        );
    }
}
