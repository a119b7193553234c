//! The hand that a test lays on the server: disturb it, look at what happened.

use std::{sync::Arc, time::Duration};

use super::{fault::Rule, journal::Seen, service::Service, task::Kind};

/// Reaches into a running server from the same process.
#[derive(Clone)]
pub struct Handle(pub(super) Arc<Service>);

/// Names the server only; what is inside changes while one looks, and holds keys.
impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}

impl Handle {
    /// Lays down a fault.
    pub fn add_fault(&self, rule: Rule) {
        self.0.lock().faults.add(rule);
    }

    /// The faults still in force.
    pub fn faults(&self) -> Vec<Rule> {
        self.0.lock().faults.rules()
    }

    /// Lifts all faults.
    pub fn clear_faults(&self) {
        self.0.lock().faults.clear();
    }

    /// From now on every answer takes so long, in real time.
    pub fn set_latency(&self, latency: Duration) {
        self.0.lock().latency = latency;
    }

    /// The newest requests, in order of arrival.
    pub fn requests(&self) -> Vec<Seen> {
        self.0.lock().journal.newest()
    }

    /// How many requests there were.
    pub fn total(&self) -> u64 {
        self.0.lock().journal.total()
    }

    /// How many of the newest requests asked for this kind of work.
    pub fn count(&self, kind: Kind) -> usize {
        let requests = self.requests();
        let kinds = requests.iter().filter_map(|seen| seen.asked.as_ref());
        kinds.filter(|asked| asked.kind == kind).count()
    }

    /// Requests under way.
    pub fn in_flight(&self) -> usize {
        self.0.lock().in_flight
    }

    /// The most requests that were under way at once.
    pub fn in_flight_seen(&self) -> usize {
        self.0.lock().in_flight_seen
    }

    /// Waits until something is true of the server; asks again when a request arrives or ends.
    pub async fn until(&self, wanted: impl Fn(&Self) -> bool) {
        let mut changes = self.0.changes.subscribe();
        while !wanted(self) {
            // The sender lives as long as this handle.
            let _ = changes.changed().await;
        }
    }
}
