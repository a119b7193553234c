//! The running server's one shared thing: chats, faults and journal behind one lock, which is never
//! held across a wait.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{Config, fault::Faults, journal::Journal, state::Chats};

/// Everything that requests and tests change.
#[derive(Debug, Default)]
pub(super) struct Inside {
    pub(super) chats: Chats,
    pub(super) faults: Faults,
    pub(super) journal: Journal,
    pub(super) latency: Duration,
    pub(super) messages_per_minute: Option<u32>,
}

/// What all requests share.
pub(super) struct Service {
    pub(super) config: Config,
    inside: Mutex<Inside>,
    /// Ends those who wait for ever.
    pub(super) stop: CancellationToken,
    /// Raised with every request and with every change by a test.
    pub(super) changes: watch::Sender<u64>,
}

impl Service {
    pub(super) fn new(config: Config, stop: CancellationToken) -> Self {
        let mut inside = Inside {
            latency: config.latency,
            messages_per_minute: config.messages_per_minute,
            ..Inside::default()
        };
        for chat in &config.chats {
            inside.chats.add(chat.clone());
        }
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
