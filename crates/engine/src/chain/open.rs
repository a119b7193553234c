//! The slots a chain is in the midst of, so that one that leaves can name them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use almanack_core::{
    chain::{Line, LineRef},
    lock::LockKey,
    locked,
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
        locked(&self.0).insert(key, line.reference());
        Held {
            open: self.clone(),
            key,
        }
    }

    /// Those that are not over.
    pub(super) fn unfinished(&self) -> BTreeMap<LockKey, LineRef> {
        locked(&self.0).clone()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        locked(&self.open.0).remove(&self.key);
    }
}
