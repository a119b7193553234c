//! The ledger of deliveries: what is written before something leaves, and after (ED-12).

use jiff::Timestamp;

use super::{cut, leased};
use crate::edition::{
    self, Account,
    account::Change,
    delivery::{Delivery, OnRevision, OnUnknown, State},
    document::Document,
    port::{Failure, Presence, Publisher, Sent},
    rules::Rules,
};

/// The detail of a part that is held because another of its destination was skipped in doubt, or
/// none arrived.
const HELD_IN_DOUBT: &str = "it may have arrived already; send it again or skip it";

/// Which part at which destination.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeliveryKey {
    pub revision: u32,
    pub destination: String,
    pub part: u32,
}

impl DeliveryKey {
    /// Which one this is.
    pub fn of(delivery: &Delivery) -> Self {
        Self {
            revision: delivery.revision,
            destination: delivery.destination.clone(),
            part: delivery.part,
        }
    }
}

/// The deliveries of a new document. A destination that got an earlier one and wants no second is
/// skipped; one that has to be waited for is waited for with the new one, too.
pub fn intend(
    account: &Account,
    document: &Document,
    publisher: &dyn Publisher,
    now: Timestamp,
) -> Vec<Delivery> {
    let name = publisher.destination();
    let left_before = |delivery: &Delivery| {
        delivery.destination == name && delivery.attempts > 0 && delivery.state != State::Failed
    };
    let skip =
        publisher.on_revision() == OnRevision::Skip && account.deliveries.iter().any(left_before);
    let own = account
        .deliveries
        .iter()
        .filter(|earlier| earlier.destination == name);
    let retry_at = own.filter_map(|earlier| earlier.retry_at).max();
    let parts = publisher.parts(document).into_iter();
    parts
        .zip(1..)
        .map(|(body, part)| {
            let mut delivery = Delivery::new(document.inputs.revision, name, part, body, now);
            delivery.retry_at = retry_at.filter(|at| *at > now);
            if skip {
                delivery.state = State::Skipped;
                delivery.detail = Some("an earlier revision was sent here".to_owned());
                // So that a third revision knows of the first.
                delivery.attempts = 1;
                delivery.retry_at = None;
            }
            delivery
        })
        .collect()
}

/// A node is about to send a part. Nothing if another node is, or it is settled, or the edition is
/// not being published any more, or waits for a person: what was reset, archived or corrected
/// meanwhile must not leave.
pub fn start_delivery(
    account: &Account,
    key: &DeliveryKey,
    rules: &Rules,
    now: Timestamp,
) -> Option<(Change, Delivery)> {
    let waits = |delivery: &&Delivery| {
        matches!(delivery.state, State::Intended | State::Failed)
            && delivery.retry_at.is_none_or(|at| at <= now)
    };
    let mut delivery = find(account, key).filter(waits)?.clone();
    let held = account.edition.hold.as_ref();
    let held = held.is_some_and(|hold| !hold.lets_out());
    if account.edition.state != edition::State::Aggregating || held {
        return None;
    }
    delivery.state = State::Sent;
    delivery.attempts = delivery.attempts.saturating_add(1);
    delivery.lease_until = Some(leased(rules, now));
    delivery.retry_at = None;
    delivery.updated_at = now;
    Some((written(account, delivery.clone(), now), delivery))
}

/// A node still sends a part, whatever happened to its edition meanwhile: a newer document has to
/// wait for that. Nothing if the lease has passed: others may be looking for it.
pub fn extend_delivery(
    account: &Account,
    key: &DeliveryKey,
    attempt: u32,
    rules: &Rules,
    now: Timestamp,
) -> Option<(Change, Timestamp)> {
    let own = |delivery: &&Delivery| {
        let sends = delivery.state == State::Sent && delivery.attempts == attempt;
        sends && delivery.lease_until.is_some_and(|until| until > now)
    };
    let mut delivery = find(account, key).filter(own)?.clone();
    let until = leased(rules, now);
    delivery.lease_until = Some(until);
    let mut change = Change::of(account.edition.clone());
    change.deliveries.push(delivery);
    Some((change, until))
}

/// Records the result of sending; nothing if another attempt has begun since.
pub fn end_delivery(
    account: &Account,
    key: &DeliveryKey,
    attempt: u32,
    sent: &Sent,
    requests: u32,
    now: Timestamp,
) -> Option<Change> {
    let own = |delivery: &&Delivery| delivery.state == State::Sent && delivery.attempts == attempt;
    let mut delivery = find(account, key).filter(own)?.clone();
    delivery.requests = delivery.requests.saturating_add(requests);
    delivery.lease_until = None;
    delivery.updated_at = now;
    match sent {
        Sent::Confirmed { receipt } => confirm(&mut delivery, receipt.as_ref()),
        // Nothing was requested: it is as if no attempt had begun. An attempt that did send, and
        // did not end within the budget, waits as after any other failure, or a budget that is
        // always too small would be spent over and over.
        Sent::Failed(failure) if failure.is_spent() && requests == 0 => {
            delivery.state = State::Intended;
            delivery.attempts = delivery.attempts.saturating_sub(1);
        }
        Sent::Failed(failure) => {
            delivery.state = State::Failed;
            delivery.detail = Some(cut(&failure.detail));
            delivery.retry_at = again(&delivery, failure, now);
        }
        // Settled by one more look, which is what holds it after the last try.
        Sent::Unknown(failure) => {
            delivery.state = State::Unknown;
            delivery.detail = Some(cut(&failure.detail));
            delivery.retry_at = Some(delivery.next_try(failure.retry_after, now));
        }
    }
    Some(written(account, delivery, now))
}

/// Settles a part that may have arrived, by what was seen or by what its destination prefers.
/// Nothing if it was sent again since: what was seen says nothing about that attempt.
pub fn settle_delivery(
    account: &Account,
    key: &DeliveryKey,
    attempt: u32,
    seen: &Presence,
    preferred: OnUnknown,
    requests: u32,
    now: Timestamp,
) -> Option<Change> {
    let open = |delivery: &&Delivery| match delivery.state {
        _ if delivery.attempts != attempt => false,
        State::Unknown => true,
        State::Sent => delivery.lease_until.is_none_or(|until| until <= now),
        _ => false,
    };
    let mut delivery = find(account, key).filter(open)?.clone();
    delivery.requests = delivery.requests.saturating_add(requests);
    delivery.lease_until = None;
    delivery.updated_at = now;
    match (seen, preferred) {
        (Presence::There { receipt }, _) => confirm(&mut delivery, receipt.as_ref()),
        // It has waited before it was looked for.
        (Presence::NotThere, _) | (Presence::CannotVerify, OnUnknown::Repeat) => {
            let held = delivery.had_last_try();
            delivery.state = if held { State::Failed } else { State::Intended };
            delivery.retry_at = None;
        }
        (Presence::CannotVerify, OnUnknown::Skip) if may_skip(account, key) => {
            delivery.skip_in_doubt();
        }
        (Presence::CannotVerify, OnUnknown::Skip) => {
            delivery.state = State::Unknown;
            delivery.detail = Some(HELD_IN_DOUBT.to_owned());
            delivery.retry_at = None;
        }
        (Presence::Failed(failure), _) => {
            delivery.state = State::Unknown;
            delivery.detail = Some(cut(&failure.detail));
            delivery.attempts = delivery.attempts.saturating_add(1);
            delivery.retry_at = again(&delivery, failure, now);
        }
    }
    Some(written(account, delivery, now))
}

/// When a part that failed is tried again; never by itself after its last try.
fn again(delivery: &Delivery, failure: &Failure, now: Timestamp) -> Option<Timestamp> {
    let next = delivery.next_try(failure.retry_after, now);
    (!delivery.had_last_try()).then_some(next)
}

/// Whether a part in doubt may be left out for the sake of the others: once per destination, and
/// only where others arrive. A destination that answers nothing at all would lose its edition
/// message by message (ED-41).
fn may_skip(account: &Account, key: &DeliveryKey) -> bool {
    let others = || {
        let own = account.deliveries.iter();
        own.filter(|other| other.destination == key.destination && other.part != key.part)
    };
    let arrives = |other: &Delivery| other.state != State::Skipped;
    others().any(arrives) && !others().any(Delivery::is_doubtful)
}

/// Gives up a part for good, for a reason.
pub fn skip_delivery(
    account: &Account,
    key: &DeliveryKey,
    why: &str,
    now: Timestamp,
) -> Option<Change> {
    let open = |delivery: &&Delivery| !delivery.state.is_settled();
    let mut delivery = find(account, key).filter(open)?.clone();
    delivery.state = State::Skipped;
    delivery.detail = Some(cut(why));
    delivery.retry_at = None;
    delivery.updated_at = now;
    Some(written(account, delivery, now))
}

fn confirm(delivery: &mut Delivery, receipt: Option<&String>) {
    delivery.state = State::Confirmed;
    delivery.receipt = receipt.cloned();
    delivery.detail = None;
    delivery.retry_at = None;
}

fn find<'a>(account: &'a Account, key: &DeliveryKey) -> Option<&'a Delivery> {
    let mut deliveries = account.deliveries.iter();
    deliveries.find(|delivery| DeliveryKey::of(delivery) == *key)
}

fn written(account: &Account, delivery: Delivery, now: Timestamp) -> Change {
    let mut change = Change::of(account.touched(now));
    change.deliveries.push(delivery);
    change
}
