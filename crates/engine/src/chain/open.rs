//! The slots a chain is in the midst of, so that one that leaves can name them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use almanack_core::{
    chain::{Line, LineRef},
    lock::LockKey,
};

/// Slots whose lock was asked for, and whose end is not known yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Open(Arc<Mutex<BTreeMap<LockKey, LineRef>>>);

/// One of them. It is over when this is dropped.
pub(super) struct Held {
    open: Open,
    key: LockKey,
}

impl Open {
    /// From here on the slot may be locked by us.
    pub(super) fn hold(&self, line: &Line, key: LockKey) -> Held {
        self.all().insert(key, line.reference());
        Held {
            open: self.clone(),
            key,
        }
    }

    /// Those that are not over.
    pub(super) fn unfinished(&self) -> BTreeMap<LockKey, LineRef> {
        self.all().clone()
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<LockKey, LineRef>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.open.all().remove(&self.key);
    }
}
