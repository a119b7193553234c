//! Deliveries: each destination for itself, each part written down right before it leaves (ED-12).

use std::sync::Arc;

use almanack_core::{
    budget::Budget,
    edition::{
        Account, EditionId,
        delivery::{Delivery, State, Step},
        document::Document,
        plan::Due,
        port::{Failure, FailureClass, Message, Presence, Publisher, Sent},
        turn::{self, DeliveryKey},
    },
};
use futures_util::future::join_all;

use super::{Editions, Error};
use crate::wake::later;

/// Most parts of one destination in one call; more than any edition has.
const PARTS_MAX: usize = 200;

impl Editions {
    /// Delivers to every destination that something is due at, side by side. One that fails stops
    /// no other.
    pub(super) async fn deliver(
        &self,
        account: &Account,
        due: &[Due],
        budget: &Arc<Budget>,
    ) -> Result<(), Error> {
        let revision = account.edition.revision;
        let document = self.document(account.edition.id, Some(revision)).await?;
        let all = due
            .iter()
            .map(|due| self.deliver_to(&due.destination, &document, budget));
        join_all(all).await.into_iter().collect()
    }

    /// Delivers part after part, until one does not arrive.
    async fn deliver_to(
        &self,
        destination: &str,
        document: &Document,
        budget: &Arc<Budget>,
    ) -> Result<(), Error> {
        let id = document.inputs.id();
        let publishers = &self.outside.publishers;
        let publisher = publishers
            .iter()
            .find(|publisher| publisher.destination() == destination);
        for _ in 0..PARTS_MAX {
            let account = self.account(id).await?;
            if account.edition.revision != document.inputs.revision {
                // A newer one was made meanwhile; this is not its document.
                return Ok(());
            }
            let Some(delivery) = first_open(&account, destination) else {
                return Ok(());
            };
            let Some(publisher) = publisher else {
                self.forget(id, delivery).await?;
                continue;
            };
            let arrived = match delivery.step(self.clock.now()) {
                Step::Send => {
                    self.pause(delivery, publisher.as_ref()).await;
                    self.send(id, delivery, document, publisher.as_ref(), budget)
                        .await?
                }
                Step::Settle => {
                    self.settle(id, delivery, document, publisher.as_ref(), budget)
                        .await?
                }
                Step::Wait(_) | Step::Held | Step::Settled => false,
            };
            if !arrived {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Waits between two parts. Nothing is written down yet: a process that dies here leaves a part
    /// that was certainly not sent.
    async fn pause(&self, delivery: &Delivery, publisher: &dyn Publisher) {
        let pause = publisher.pause();
        if delivery.part > 1 && pause.is_positive() {
            self.sleeper.until(later(self.clock.now(), pause)).await;
        }
    }

    /// Sends a part; `true` if it arrived.
    async fn send(
        &self,
        id: EditionId,
        delivery: &Delivery,
        document: &Document,
        publisher: &dyn Publisher,
        budget: &Arc<Budget>,
    ) -> Result<bool, Error> {
        let key = DeliveryKey::of(delivery);
        let rules = &self.settings.rules;
        let started = self
            .turn(id, |account, now| {
                turn::start_delivery(account, &key, rules, now)
            })
            .await?;
        let Some((_, delivery)) = started else {
            return Ok(false);
        };
        let request_budget = Budget::within(budget);
        let sent = self
            .post(&delivery, document, publisher, &request_budget)
            .await;
        self.say_sent(&delivery, id, &sent);
        let ended = |account: &Account, now| {
            let attempt = delivery.attempts;
            let change =
                turn::end_delivery(account, &key, attempt, &sent, request_budget.spent(), now)?;
            Some((change, ()))
        };
        if let Some((account, ())) = self.turn(id, ended).await? {
            say_held(&account, &key);
        }
        Ok(matches!(sent, Sent::Confirmed { .. }))
    }

    /// Sends, for as long as the lease holds: later, another run may have found nothing there and
    /// be sending it.
    async fn post(
        &self,
        delivery: &Delivery,
        document: &Document,
        publisher: &dyn Publisher,
        request_budget: &Arc<Budget>,
    ) -> Sent {
        let (id, key) = (document.inputs.id(), DeliveryKey::of(delivery));
        let (rules, attempt) = (&self.settings.rules, delivery.attempts);
        let late = |what| Failure::new(FailureClass::Transient, what);
        // Counted from when it was decided: a slow answer of the store shortens the time, and never
        // extends it.
        let lease_until = delivery.lease_until.unwrap_or(delivery.updated_at);
        if self.clock.now() >= rules.trusted(lease_until) {
            return Sent::Failed(late("the store answered too late; nothing was sent"));
        }
        let over_at = later(delivery.updated_at, rules.delivery_time);
        let extend =
            |account: &Account, _, now| turn::extend_delivery(account, &key, attempt, rules, now);
        let message = message(delivery, document);
        tokio::select! {
            biased;
            sent = publisher.send(&message, request_budget) => sent,
            () = self.sleeper.until(over_at) => Sent::Unknown(late("sending exceeded its time limit")),
            () = self.hold_strictly(id, lease_until, extend) => {
                Sent::Unknown(late("its lease expired while it was being sent"))
            }
        }
    }

    fn say_sent(&self, delivery: &Delivery, id: EditionId, sent: &Sent) {
        let destination = delivery.destination.as_str();
        let (outcome, error) = match sent {
            Sent::Confirmed { .. } => ("confirmed", None),
            Sent::Failed(failure) if failure.is_spent() => ("spent", None),
            Sent::Failed(failure) => ("failed", Some(failure)),
            Sent::Unknown(failure) => ("unknown", Some(failure)),
        };
        metrics::counter!("almanack_edition_deliveries_total", "outcome" => outcome).increment(1);
        let (node, part) = (self.settings.node.as_str(), delivery.part);
        match error {
            None => {
                tracing::info!(edition.id = %id, destination, part, outcome, node, "delivery attempted");
            }
            Some(failure) => {
                let (error, class) = (failure.detail.as_str(), failure.class.as_str());
                tracing::warn!(edition.id = %id, destination, part, outcome, error, class, node, "delivery failed");
            }
        }
    }

    /// Finds out what became of a part that left and was never answered; `true` if that is known
    /// now.
    async fn settle(
        &self,
        id: EditionId,
        delivery: &Delivery,
        document: &Document,
        publisher: &dyn Publisher,
        budget: &Arc<Budget>,
    ) -> Result<bool, Error> {
        let request_budget = Budget::within(budget);
        let message = message(delivery, document);
        let over_at = later(self.clock.now(), self.settings.rules.delivery_time);
        let seen = tokio::select! {
            biased;
            seen = publisher.look(&message, &request_budget) => seen,
            () = self.sleeper.until(over_at) => Presence::Failed(Failure::new(
                FailureClass::Transient,
                "checking for its arrival exceeded the time limit",
            )),
        };
        if let Presence::Failed(failure) = &seen
            && failure.is_spent()
        {
            return Ok(false);
        }
        let key = DeliveryKey::of(delivery);
        let preferred = publisher.on_unknown();
        let settled = self
            .turn(id, |account, now| {
                let spent = request_budget.spent();
                let change = turn::settle_delivery(
                    account,
                    &key,
                    delivery.attempts,
                    &seen,
                    preferred,
                    spent,
                    now,
                )?;
                let state = change.deliveries.first().map(|delivery| delivery.state);
                Some((change, state))
            })
            .await?;
        if let Some((account, _)) = &settled {
            say_held(account, &key);
        }
        let state = settled.and_then(|(_, state)| state);
        if let Some(state) = state {
            tracing::info!(edition.id = %id, destination = delivery.destination, part = delivery.part, state = state.as_str(), "delivery with unknown outcome settled");
        }
        Ok(state.is_some_and(|state| state != State::Unknown))
    }

    /// Skips what is held for destinations that are no longer configured; `true` if there was
    /// something: taking a destination out is a decision, too.
    pub(super) async fn forget_gone(&self, account: &Account) -> Result<bool, Error> {
        let known = |delivery: &&Delivery| {
            let mut publishers = self.outside.publishers.iter();
            publishers.any(|publisher| publisher.destination() == delivery.destination)
        };
        let held = account.deliveries.iter().filter(|held| held.is_held());
        let gone: Vec<&Delivery> = held.filter(|held| !known(held)).collect();
        for delivery in &gone {
            self.forget(account.edition.id, delivery).await?;
        }
        Ok(!gone.is_empty())
    }

    /// A destination that is no longer configured cannot be delivered to, and must not hold up the
    /// edition.
    async fn forget(&self, id: EditionId, delivery: &Delivery) -> Result<(), Error> {
        let key = DeliveryKey::of(delivery);
        let why = "the destination is no longer configured";
        tracing::warn!(edition.id = %id, destination = delivery.destination, "destination is no longer configured; skipping its delivery");
        let skip = |account: &Account, now| {
            turn::skip_delivery(account, &key, why, now).map(|change| (change, ()))
        };
        self.turn(id, skip).await?;
        Ok(())
    }
}

/// What is not retried automatically needs an operator's attention.
fn say_held(account: &Account, key: &DeliveryKey) {
    let mut deliveries = account.deliveries.iter();
    let own = deliveries.find(|delivery| DeliveryKey::of(delivery) == *key);
    if let Some(held) = own.filter(|delivery| delivery.is_held()) {
        let (attempts, state) = (held.attempts, held.state.as_str());
        tracing::error!(edition.id = %account.edition.id, destination = held.destination, part = held.part, attempts, state, error = held.detail, "delivery needs attention: resend it or skip it");
    }
}

fn first_open<'a>(account: &'a Account, destination: &str) -> Option<&'a Delivery> {
    let mut deliveries = account.deliveries.iter();
    deliveries.find(|delivery| delivery.destination == destination && !delivery.state.is_settled())
}

fn message<'a>(delivery: &'a Delivery, document: &'a Document) -> Message<'a> {
    let Delivery {
        revision,
        destination,
        part,
        ..
    } = delivery;
    Message {
        document,
        part: *part,
        body: delivery.body.as_deref().unwrap_or(&document.body),
        key: format!(
            "edition:{}/{revision}/{destination}/{part}",
            document.inputs.id()
        ),
    }
}
