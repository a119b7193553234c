//! The running server's one shared thing: faults, journal and what is under way, behind one lock.
//!
//! The lock is never held across a wait: a request is judged and noted when it arrives, and then
//! only waits.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{Config, fault::Faults, journal::Journal};

/// Everything that requests and tests change.
#[derive(Debug, Default)]
pub(super) struct Inside {
    pub(super) faults: Faults,
    pub(super) journal: Journal,
    pub(super) latency: Duration,
    pub(super) in_flight: usize,
    pub(super) in_flight_seen: usize,
}

/// What all requests share.
pub(super) struct Service {
    pub(super) config: Config,
    inside: Mutex<Inside>,
    /// Ends those who wait for ever.
    pub(super) stop: CancellationToken,
    /// Raised when a request arrives, when one ends, and with every change by a test.
    pub(super) changes: watch::Sender<u64>,
}

impl Service {
    pub(super) fn new(config: Config, stop: CancellationToken) -> Self {
        let inside = Inside {
            latency: config.latency,
            ..Inside::default()
        };
        Self {
            config,
            inside: Mutex::new(inside),
            stop,
            changes: watch::Sender::new(0),
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        (self.config.clock)()
    }

    /// A panic elsewhere leaves whole requests behind, never half of one, so its poison is no harm.
    pub(super) fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }
}

/// A request under way. It ends when this is dropped, also where the caller has left.
pub(super) struct Flight(Arc<Service>);

impl Flight {
    pub(super) fn begin(service: &Arc<Service>) -> Self {
        let mut inside = service.lock();
        inside.in_flight += 1;
        inside.in_flight_seen = inside.in_flight_seen.max(inside.in_flight);
        drop(inside);
        Self(Arc::clone(service))
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.0.lock().in_flight -= 1;
        self.0.changed();
    }
}
