//! Warnings that are worth one line each.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// More than there are ways to fail; beyond that, lines are logged again.
const LOGGED_MAX: usize = 50;

/// Warnings since the last success. Each try fails again, in several ways in turn.
#[derive(Debug, Default)]
pub(crate) struct LoggedOnce(Mutex<BTreeSet<String>>);

impl LoggedOnce {
    /// Whether this was not logged yet; now it counts as logged.
    pub(crate) fn is_new(&self, text: &str) -> bool {
        let mut logged = self.lock();
        if logged.len() >= LOGGED_MAX {
            logged.clear();
        }
        logged.insert(text.to_owned())
    }

    #[cfg(feature = "kafka")]
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// All is well. Returns whether there was any warning.
    pub(crate) fn forget(&self) -> bool {
        !std::mem::take(&mut *self.lock()).is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
