//! Permits: how many attempts of a kind run at once in all nodes together.
//!
//! `slots_in_all` of a kind is a lane that all nodes share (`kind:NAME`,
//! [`almanack_core::host_pace::shared`]). A runner takes permits in it before it claims, claims no
//! more than it has permits for, and gives back what it did not use and what has ended. The
//! keeper's heartbeat keeps them, and a node whose heartbeat fails stops its attempts before its
//! permits pass on.
//!
//! What must stay true:
//!
//! - An attempt of a limited kind runs only while its node counts a permit for it here.
//! - Calls to the store follow each other (`turnstile`), so the number a call states is true when
//!   it is answered: a heartbeat never takes back what was granted while it was on its way.
//! - What the database believes is never less than what is counted here. A lost reply leaves it
//!   more, until the next word.

use std::{collections::BTreeMap, sync::Mutex};

use almanack_core::{
    lease::LeasePolicy,
    locked,
    store::{self, PermitGrant, PermitRequest, PermitStore, Visitor},
    task::Kind,
};
use jiff::{SignedDuration, Timestamp};

/// The permits of one node.
#[derive(Debug)]
pub struct Permits {
    limits: BTreeMap<Kind, usize>,
    counts: Mutex<BTreeMap<Kind, Count>>,
    /// Held while a call is under way; holds when the last one was made.
    turnstile: tokio::sync::Mutex<Timestamp>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Count {
    /// Permits in use, or about to be.
    held: usize,
    /// Whether the database may believe in more.
    overstated: bool,
}

/// Who asks for permits.
#[derive(Debug, Clone, Copy)]
pub struct Requester<'a> {
    /// Which run of the node.
    pub session: &'a str,
    /// How long permits hold.
    pub lease: &'a LeasePolicy,
}

impl Default for Permits {
    fn default() -> Self {
        Self::new(BTreeMap::new())
    }
}

impl Permits {
    /// No permits yet, of kinds with a limit across nodes.
    pub fn new(limits: BTreeMap<Kind, usize>) -> Self {
        Self {
            limits,
            counts: Mutex::default(),
            turnstile: tokio::sync::Mutex::new(Timestamp::MIN),
        }
    }

    /// The kinds that are limited in all.
    pub fn kinds(&self) -> impl Iterator<Item = &Kind> {
        self.limits.keys()
    }

    /// Takes up to so many permits of each kind, as far as there is room in total; returns how
    /// many.
    pub async fn take(
        &self,
        store: &(impl PermitStore + ?Sized),
        requester: Requester<'_>,
        wanted: &BTreeMap<Kind, usize>,
        now: Timestamp,
    ) -> store::Result<BTreeMap<Kind, usize>> {
        let mut said_at = self.turnstile.lock().await;
        let kinds: Vec<&Kind> = self.limits.keys().collect();
        let asks = kinds.iter().map(|kind| {
            let wanted = wanted.get(*kind).copied().unwrap_or(0);
            self.ask(kind, wanted)
        });
        let asks: Vec<PermitRequest> = asks.collect();
        let visitor = visitor(&mut said_at, requester, now);
        let answers = match store.request_permits(&visitor, &asks).await {
            Ok(answers) => answers,
            Err(error) => {
                // It may have been granted all the same.
                self.overstate();
                return Err(error);
            }
        };
        Ok(self.note(&kinds, &asks, &answers))
    }

    /// Reports how many permits the node has, which keeps them until the lease from `now` on has
    /// passed.
    pub async fn keep(
        &self,
        store: &(impl PermitStore + ?Sized),
        requester: Requester<'_>,
        now: Timestamp,
    ) -> store::Result<()> {
        if self.is_silent() {
            return Ok(());
        }
        self.take(store, requester, &BTreeMap::new(), now)
            .await
            .map(|_| ())
    }

    /// So many permits of a kind are not needed any more; the next message reports it to the
    /// database.
    pub fn give_back(&self, kind: &Kind, permits: usize) {
        if permits > 0 && self.limits.contains_key(kind) {
            let mut counts = locked(&self.counts);
            let count = counts.entry(kind.clone()).or_default();
            count.held = count.held.saturating_sub(permits);
            count.overstated = true;
        }
    }

    /// Whether the database may count permits that the node does not have.
    pub fn is_overstated(&self) -> bool {
        locked(&self.counts).values().any(|count| count.overstated)
    }

    /// Whether there is nothing to say.
    fn is_silent(&self) -> bool {
        let counts = locked(&self.counts);
        counts
            .values()
            .all(|count| count.held == 0 && !count.overstated)
    }

    fn ask(&self, kind: &Kind, wanted: usize) -> PermitRequest {
        let held = locked(&self.counts).get(kind).map_or(0, |count| count.held);
        PermitRequest {
            limit: format!("kind:{kind}"),
            permits: held,
            wanted,
            at_once: self.limits.get(kind).copied().unwrap_or(0),
            gap: SignedDuration::ZERO,
            hold_until: None,
        }
    }

    /// Counts what was granted. What was given back while the call was under way stays to be said.
    fn note(
        &self,
        kinds: &[&Kind],
        asks: &[PermitRequest],
        answers: &[PermitGrant],
    ) -> BTreeMap<Kind, usize> {
        let mut counts = locked(&self.counts);
        let mut granted = BTreeMap::new();
        for ((kind, ask), answer) in kinds.iter().zip(asks).zip(answers) {
            let count = counts.entry((*kind).clone()).or_default();
            count.overstated = count.held < ask.permits;
            count.held += answer.granted;
            granted.insert((*kind).clone(), answer.granted);
        }
        granted
    }

    fn overstate(&self) {
        let mut counts = locked(&self.counts);
        for kind in self.limits.keys() {
            counts.entry(kind.clone()).or_default().overstated = true;
        }
    }
}

/// A message older than the one before would be taken for a delayed one, so time always advances
/// here.
fn visitor(said_at: &mut Timestamp, requester: Requester<'_>, now: Timestamp) -> Visitor {
    let next = said_at.saturating_add(SignedDuration::from_micros(1));
    let now = now.max(next.unwrap_or(*said_at));
    *said_at = now;
    Visitor {
        name: requester.session.to_owned(),
        now,
        lease_until: requester.lease.lease_until(now),
    }
}

#[cfg(test)]
mod tests;
