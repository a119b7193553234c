//! Warnings that are worth one line each.

use std::{collections::BTreeSet, sync::Mutex};

use almanack_core::locked;

/// More than there are ways to fail; beyond that, lines are logged again.
const LOGGED_MAX: usize = 50;

/// Warnings since the last success. Each try fails again, in several ways in turn.
#[derive(Debug, Default)]
pub(crate) struct LoggedOnce(Mutex<BTreeSet<String>>);

impl LoggedOnce {
    /// Whether this was not logged yet; now it counts as logged.
    pub(crate) fn is_new(&self, text: &str) -> bool {
        let mut logged = locked(&self.0);
        if logged.len() >= LOGGED_MAX {
            logged.clear();
        }
        logged.insert(text.to_owned())
    }

    #[cfg(feature = "kafka")]
    pub(crate) fn is_empty(&self) -> bool {
        locked(&self.0).is_empty()
    }

    /// All is well. Returns whether there was any warning.
    pub(crate) fn forget(&self) -> bool {
        !std::mem::take(&mut *locked(&self.0)).is_empty()
    }
}
