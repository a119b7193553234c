//! The slots a chain is in the midst of, so that one that leaves can name them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use almanack_core::{
    chain::{ChainEvent, Line},
    lock::LockKey,
};

/// Slots whose lock was asked for, and whose end is not known yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Open(Arc<Mutex<BTreeMap<LockKey, ChainEvent>>>);

/// One of them. It is over when this is dropped.
pub(super) struct Held {
    open: Open,
    key: LockKey,
}

impl Open {
    /// From here on the slot may be locked by us.
    pub(super) fn hold(&self, line: &Line, key: LockKey) -> Held {
        let said = ChainEvent::Unfinished {
            line: line.number,
            expression: line.expression().to_owned(),
            slot: key.slot(),
        };
        self.all().insert(key, said);
        Held {
            open: self.clone(),
            key,
        }
    }

    /// Events to report of those that are not over.
    pub(super) fn unfinished(&self) -> Vec<ChainEvent> {
        self.all().values().cloned().collect()
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<LockKey, ChainEvent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.open.all().remove(&self.key);
    }
}
