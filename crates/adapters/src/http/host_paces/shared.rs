//! The lanes that all nodes share, as one node uses them.
//!
//! A node's own lane stays in front: the database is asked only about hosts that the node by itself
//! would ask. Behind it, one desk per process talks with the store. It knows how many places the
//! node has in which lane, and says so whenever that changes, whenever somebody wants in, and every
//! few seconds to keep its leases; whatever gathers while one call is under way goes into the next.
//!
//! ```text
//! enter ──►┐                                   ┌──► In(place), until it is dropped
//! leave ──►├─ desk: one call at a time ─ store ┼──► At(when the pace lets the next one in)
//! hold ───►┘                                   └──► Away: the database does not answer
//! ```
//!
//! What must stay true:
//!
//! - Nobody enters without the database's word. While it is away, whoever wants in is sent away.
//! - Calls follow each other: what a call says about the node's places is true when it is answered.
//! - A place that was granted to somebody who has gone meanwhile is given back.
//! - Leases outlive the trust in which attempts run (`engine::trust`), so a node that is cut off
//!   has stopped its visits before its places pass on.

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

/// What the lanes of a node share with others through.
#[derive(Clone)]
pub struct Sharing {
    /// Where all nodes meet.
    pub store: Arc<dyn PermitStore>,
    pub clock: Arc<dyn Clock>,
    /// How the desk waits.
    pub sleeper: Arc<dyn Sleeper>,
    /// How long places are kept for a node that says nothing.
    pub lease: LeasePolicy,
    /// This run of this process: random, so that no two are the same.
    pub visitor: String,
}

/// Whether one may enter.
pub(super) enum Entered {
    /// Yes, for as long as the place is kept.
    In(SharedPermit),
    At(Timestamp),
    /// Nobody knows: the database does not answer.
    Away,
}

/// A way to the desk. The desk closes when the last one is gone.
#[derive(Clone)]
pub(super) struct SharedHostPaces {
    words: mpsc::UnboundedSender<Word>,
}

enum Word {
    Enter(String, oneshot::Sender<Entered>),
    Leave(String),
    Hold(String, Timestamp),
}

/// A place in a shared lane; left when it is dropped.
pub(super) struct SharedPermit {
    limit: String,
    words: mpsc::WeakUnboundedSender<Word>,
}

impl Drop for SharedPermit {
    fn drop(&mut self) {
        // A desk that has closed has given back everything.
        if let Some(words) = self.words.upgrade() {
            let _ = words.send(Word::Leave(std::mem::take(&mut self.limit)));
        }
    }
}

impl SharedHostPaces {
    /// Opens the desk; it works as a task of the runtime.
    pub(super) fn open(sharing: Sharing, pace: Pace) -> Self {
        let (words, heard) = mpsc::unbounded_channel();
        let desk = PermitKeeper {
            sharing,
            pace,
            words: words.downgrade(),
            limits: BTreeMap::new(),
            said_at: Timestamp::MIN,
        };
        tokio::spawn(desk.run(heard));
        Self { words }
    }

    pub(super) async fn enter(&self, host: &str) -> Entered {
        let (reply, answer) = oneshot::channel();
        let _ = self.words.send(Word::Enter(lane_of(host), reply));
        answer.await.unwrap_or(Entered::Away)
    }

    pub(super) fn hold(&self, host: &str, until: Timestamp) {
        let _ = self.words.send(Word::Hold(lane_of(host), until));
    }
}

fn lane_of(host: &str) -> String {
    format!("host:{host}")
}

/// What the node has in a lane, and what it has to say about it.
#[derive(Default)]
struct Counter {
    permits: usize,
    waiting: Vec<oneshot::Sender<Entered>>,
    hold_until: Option<Timestamp>,
    /// Whether the database believes something else.
    changed: bool,
}

impl Counter {
    fn has_word(&self) -> bool {
        self.changed || !self.waiting.is_empty()
    }
}

struct PermitKeeper {
    sharing: Sharing,
    pace: Pace,
    words: mpsc::WeakUnboundedSender<Word>,
    limits: BTreeMap<String, Counter>,
    said_at: Timestamp,
}

impl PermitKeeper {
    async fn run(mut self, mut heard: mpsc::UnboundedReceiver<Word>) {
        let mut renew_at = self.renewal();
        loop {
            let word = tokio::select! {
                // The renewal first: where there is always a word, places would run out otherwise.
                biased;
                () = self.sharing.sleeper.until(renew_at) => {
                    renew_at = self.renewal();
                    self.say(|counter| counter.permits > 0 || counter.has_word()).await;
                    continue;
                }
                word = heard.recv() => word,
            };
            let Some(word) = word else { break };
            self.note(word);
            while let Ok(word) = heard.try_recv() {
                self.note(word);
            }
            self.say(Counter::has_word).await;
        }
        // Whoever is inside knows the way to the desk, so nobody is.
        for counter in self.limits.values_mut() {
            counter.permits = 0;
            counter.changed = true;
        }
        self.say(Counter::has_word).await;
    }

    fn renewal(&self) -> Timestamp {
        let now = self.sharing.clock.now();
        now.saturating_add(self.sharing.lease.beat)
            .unwrap_or(Timestamp::MAX)
    }

    fn note(&mut self, word: Word) {
        match word {
            Word::Enter(limit, reply) => self.counter(limit).waiting.push(reply),
            Word::Leave(limit) => {
                let counter = self.counter(limit);
                counter.permits = counter.permits.saturating_sub(1);
                counter.changed = true;
            }
            Word::Hold(limit, until) => {
                let counter = self.counter(limit);
                counter.hold_until = counter.hold_until.max(Some(until));
                counter.changed = true;
            }
        }
    }

    fn counter(&mut self, limit: String) -> &mut Counter {
        self.limits.entry(limit).or_default()
    }

    /// Says what is to be said about the chosen lanes, and answers those who wait there.
    async fn say(&mut self, chosen: impl Fn(&Counter) -> bool) {
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
                        "lanes wait for the database; who wants in is sent away"
                    );
                    for ask in asks {
                        self.send_away(ask);
                    }
                }
            }
        }
        self.limits
            .retain(|_, counter| counter.permits > 0 || counter.has_word());
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

    /// An older word would be taken for one that got stuck, so time never stands still here.
    fn visitor(&mut self) -> Visitor {
        let next = self.said_at.saturating_add(SignedDuration::from_micros(1));
        let now = self.sharing.clock.now().max(next.unwrap_or(self.said_at));
        self.said_at = now;
        let lease = &self.sharing.lease;
        let lease_until = now.saturating_add(lease.ttl + lease.beat);
        Visitor {
            name: self.sharing.visitor.clone(),
            now,
            lease_until: lease_until.unwrap_or(Timestamp::MAX),
        }
    }

    fn answer(&mut self, ask: &PermitRequest, answer: PermitGrant, now: Timestamp) {
        let words = self.words.clone();
        let Some(counter) = self.limits.get_mut(&ask.limit) else {
            return;
        };
        counter.changed = false;
        counter.hold_until = None;
        counter.permits += answer.granted;
        // A lane that is full has no time to tell; somebody leaves, or a lease passes.
        let full_until = now.saturating_add(ask.gap).unwrap_or(now);
        let at = if answer.free_at > now {
            answer.free_at
        } else {
            full_until
        };
        for (number, reply) in counter.waiting.drain(..).enumerate() {
            let limit = ask.limit.clone();
            let words = words.clone();
            // Whoever has gone drops its place, and so leaves.
            let _ = reply.send(if number < answer.granted {
                Entered::In(SharedPermit { limit, words })
            } else {
                Entered::At(at)
            });
        }
    }

    fn send_away(&mut self, ask: &PermitRequest) {
        if let Some(counter) = self.limits.get_mut(&ask.limit) {
            // The call may have arrived all the same.
            counter.changed = true;
            for reply in counter.waiting.drain(..) {
                let _ = reply.send(Entered::Away);
            }
        }
    }
}

#[cfg(test)]
mod tests;
