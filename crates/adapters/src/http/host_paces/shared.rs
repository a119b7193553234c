//! The host paces that all nodes share, as one node uses them.
//!
//! The node's own pace comes first: the database is asked only about hosts that the node alone
//! would visit. Behind it, one permit keeper per process talks to the store. It counts the node's
//! permits for each host. It reports them whenever they change, whenever a visit asks for one, and
//! every few seconds to renew its leases; what gathers while one call is under way goes into the
//! next.
//!
//! ```text
//! enter ──►┐                                     ┌──► In(permit), until it is dropped
//! leave ──►├─ keeper: one call at a time ─ store ┼──► At(when the pace allows the next one)
//! hold ───►┘                                     └──► Away: the database does not answer
//! ```
//!
//! What must stay true:
//!
//! - No visit starts without a permit from the database. While it is away, visits are refused.
//! - Calls are sequential: what a call says about the node's permits is true when it is answered.
//! - A permit granted to a visit that was cancelled meanwhile is given back.
//! - Leases outlive the lease validity in which attempts run, so a node that is cut off has stopped
//!   its visits before its permits pass on.

use std::{collections::BTreeMap, sync::Arc};

use almanack_core::{
    host_pace::Pace,
    lease::LeasePolicy,
    store::{PermitGrant, PermitRequest, PermitStore, Visitor},
    time::{Clock, Sleeper},
};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::{mpsc, oneshot};

/// Limits in one call, at most.
const ASKS_MAX: usize = 1_000;

/// What nodes need to share their host paces.
#[derive(Clone)]
pub struct Sharing {
    /// The store that all nodes share.
    pub store: Arc<dyn PermitStore>,
    pub clock: Arc<dyn Clock>,
    /// How the keeper waits.
    pub sleeper: Arc<dyn Sleeper>,
    /// How long the permits of a silent node stay taken.
    pub lease: LeasePolicy,
    /// This run of this process: random, so that no two are the same.
    pub visitor: String,
}

/// Whether one may enter.
pub(super) enum Entered {
    /// Yes, for as long as the permit is kept.
    In(SharedPermit),
    At(Timestamp),
    /// Unknown: the database does not answer.
    Away,
}

/// A handle to the permit keeper, which ends with the last handle.
#[derive(Clone)]
pub(super) struct SharedHostPaces {
    messages: mpsc::UnboundedSender<Message>,
}

enum Message {
    Enter(String, oneshot::Sender<Entered>),
    Leave(String),
    Hold(String, Timestamp),
}

/// A permit for a host, shared among nodes; released when dropped.
pub(super) struct SharedPermit {
    limit: String,
    messages: mpsc::WeakUnboundedSender<Message>,
}

impl Drop for SharedPermit {
    fn drop(&mut self) {
        // A keeper that has ended has given back everything.
        if let Some(messages) = self.messages.upgrade() {
            let _ = messages.send(Message::Leave(std::mem::take(&mut self.limit)));
        }
    }
}

impl SharedHostPaces {
    /// Starts the keeper as a task of the runtime.
    pub(super) fn open(sharing: Sharing, pace: Pace) -> Self {
        let (sender, messages) = mpsc::unbounded_channel();
        let keeper = PermitKeeper {
            sharing,
            pace,
            messages: sender.downgrade(),
            limits: BTreeMap::new(),
            reported_at: Timestamp::MIN,
        };
        tokio::spawn(keeper.run(messages));
        Self { messages: sender }
    }

    pub(super) async fn enter(&self, host: &str) -> Entered {
        let (reply, answer) = oneshot::channel();
        let _ = self.messages.send(Message::Enter(limit_of(host), reply));
        answer.await.unwrap_or(Entered::Away)
    }

    pub(super) fn hold(&self, host: &str, until: Timestamp) {
        let _ = self.messages.send(Message::Hold(limit_of(host), until));
    }
}

fn limit_of(host: &str) -> String {
    format!("host:{host}")
}

/// The node's permits for a host, and what to report about them.
#[derive(Default)]
struct Counter {
    permits: usize,
    waiting: Vec<oneshot::Sender<Entered>>,
    hold_until: Option<Timestamp>,
    /// Whether the database has another state.
    changed: bool,
}

impl Counter {
    fn has_report(&self) -> bool {
        self.changed || !self.waiting.is_empty()
    }
}

struct PermitKeeper {
    sharing: Sharing,
    pace: Pace,
    messages: mpsc::WeakUnboundedSender<Message>,
    limits: BTreeMap<String, Counter>,
    reported_at: Timestamp,
}

impl PermitKeeper {
    async fn run(mut self, mut messages: mpsc::UnboundedReceiver<Message>) {
        let mut renew_at = self.renewal();
        loop {
            let message = tokio::select! {
                // The renewal first: a constant stream of messages must not let leases run out.
                biased;
                () = self.sharing.sleeper.until(renew_at) => {
                    renew_at = self.renewal();
                    self.report(|counter| counter.permits > 0 || counter.has_report()).await;
                    continue;
                }
                message = messages.recv() => message,
            };
            let Some(message) = message else { break };
            self.note(message);
            while let Ok(message) = messages.try_recv() {
                self.note(message);
            }
            self.report(Counter::has_report).await;
        }
        // Every permit holds a handle, so none is left.
        for counter in self.limits.values_mut() {
            counter.permits = 0;
            counter.changed = true;
        }
        self.report(Counter::has_report).await;
    }

    fn renewal(&self) -> Timestamp {
        let now = self.sharing.clock.now();
        now.saturating_add(self.sharing.lease.beat)
            .unwrap_or(Timestamp::MAX)
    }

    fn note(&mut self, message: Message) {
        match message {
            Message::Enter(limit, reply) => self.counter(limit).waiting.push(reply),
            Message::Leave(limit) => {
                let counter = self.counter(limit);
                counter.permits = counter.permits.saturating_sub(1);
                counter.changed = true;
            }
            Message::Hold(limit, until) => {
                let counter = self.counter(limit);
                counter.hold_until = counter.hold_until.max(Some(until));
                counter.changed = true;
            }
        }
    }

    fn counter(&mut self, limit: String) -> &mut Counter {
        self.limits.entry(limit).or_default()
    }

    /// Reports the chosen hosts to the store, and answers the visits that wait for them.
    async fn report(&mut self, chosen: impl Fn(&Counter) -> bool) {
        let chosen = self.limits.iter().filter(|(_, counter)| chosen(counter));
        let asks: Vec<PermitRequest> = chosen
            .map(|(limit, counter)| self.ask(limit, counter))
            .collect();
        for asks in asks.chunks(ASKS_MAX) {
            let visitor = self.visitor();
            match self.sharing.store.request_permits(&visitor, asks).await {
                Ok(answers) => {
                    for (ask, answer) in asks.iter().zip(answers) {
                        self.answer(ask, answer, visitor.now);
                    }
                }
                Err(error) => {
                    tracing::warn!(
                        error = error.chain(),
                        limits = asks.len(),
                        "host paces need the database, which does not answer; visits are postponed"
                    );
                    for ask in asks {
                        self.send_away(ask);
                    }
                }
            }
        }
        self.limits
            .retain(|_, counter| counter.permits > 0 || counter.has_report());
    }

    fn ask(&self, limit: &str, counter: &Counter) -> PermitRequest {
        PermitRequest {
            limit: limit.to_owned(),
            permits: counter.permits,
            wanted: counter.waiting.len(),
            at_once: self.pace.at_once.max(1),
            gap: self.pace.gap(),
            hold_until: counter.hold_until,
        }
    }

    /// The store ignores older reports as late ones, so this time always advances.
    fn visitor(&mut self) -> Visitor {
        let next = self
            .reported_at
            .saturating_add(SignedDuration::from_micros(1));
        let now = self
            .sharing
            .clock
            .now()
            .max(next.unwrap_or(self.reported_at));
        self.reported_at = now;
        let lease = &self.sharing.lease;
        let lease_until = now.saturating_add(lease.ttl + lease.beat);
        Visitor {
            name: self.sharing.visitor.clone(),
            now,
            lease_until: lease_until.unwrap_or(Timestamp::MAX),
        }
    }

    fn answer(&mut self, ask: &PermitRequest, answer: PermitGrant, now: Timestamp) {
        let messages = self.messages.clone();
        let Some(counter) = self.limits.get_mut(&ask.limit) else {
            return;
        };
        counter.changed = false;
        counter.hold_until = None;
        counter.permits += answer.granted;
        // A full host has no time to name: a visit ends, or a lease passes.
        let full_until = now.saturating_add(ask.gap).unwrap_or(now);
        let at = if answer.free_at > now {
            answer.free_at
        } else {
            full_until
        };
        for (number, reply) in counter.waiting.drain(..).enumerate() {
            let limit = ask.limit.clone();
            let messages = messages.clone();
            // A cancelled visit drops its permit, and so releases it.
            let _ = reply.send(if number < answer.granted {
                Entered::In(SharedPermit { limit, messages })
            } else {
                Entered::At(at)
            });
        }
    }

    fn send_away(&mut self, ask: &PermitRequest) {
        if let Some(counter) = self.limits.get_mut(&ask.limit) {
            // The call may still have arrived.
            counter.changed = true;
            for reply in counter.waiting.drain(..) {
                let _ = reply.send(Entered::Away);
            }
        }
    }
}

#[cfg(test)]
mod tests;
