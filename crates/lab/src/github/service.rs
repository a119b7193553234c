//! The running server's one shared thing: state, limits, faults and journal behind one lock.
//!
//! One lock, because a request must be charged, carried out and noted without another in between;
//! it is never held across a wait.

use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use tokio::sync::{mpsc, watch};

use super::{
    fault::Faults,
    journal::Journal,
    limit::Limits,
    state::{GitHub, run::RunEvent},
};
use crate::clock::Clock;

/// Everything that requests change.
#[derive(Debug, Default)]
pub(super) struct Inside {
    pub(super) github: GitHub,
    pub(super) limits: Limits,
    pub(super) faults: Faults,
    pub(super) journal: Journal,
    /// Requests that arrived, for their ids.
    pub(super) arrived: u64,
    runners: Vec<mpsc::UnboundedSender<RunEvent>>,
}

impl Inside {
    /// Tells every runner, and forgets those that have left.
    pub(super) fn tell_runners(&mut self, events: &[RunEvent]) {
        self.runners.retain(|runner| {
            let mut events = events.iter().cloned();
            events.all(|event| runner.send(event).is_ok())
        });
    }

    pub(super) fn add_runner(&mut self) -> mpsc::UnboundedReceiver<RunEvent> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.runners.push(sender);
        receiver
    }
}

/// What all requests share.
pub(super) struct Service {
    inside: Mutex<Inside>,
    clock: Clock,
    /// Where the server answers, for the addresses in its answers.
    pub(super) base_url: String,
    /// Raised with every answer and every change by a test.
    pub(super) changes: watch::Sender<u64>,
}

impl Service {
    pub(super) fn new(github: GitHub, clock: Clock, base_url: String) -> Self {
        Self {
            inside: Mutex::new(Inside {
                github,
                ..Inside::default()
            }),
            clock,
            base_url,
            changes: watch::Sender::new(0),
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// A panic elsewhere leaves whole requests behind, never half of one, so its poison is no harm.
    pub(super) fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }
}
