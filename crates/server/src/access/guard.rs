//! Whether access is guarded: a fact in the store that is never reverted.
//!
//! A node that started open checks again every [`super::REMEMBERED_FOR`], so the first token or user
//! closes it without a restart. Once closed it does not check again.

use std::sync::{Mutex, PoisonError};

use super::is_fresh;
use crate::prelude::*;

/// The last answer of the store.
#[derive(Debug, Clone, Copy, Default)]
enum Said {
    #[default]
    Nothing,
    /// Not guarded at this instant.
    Open(Timestamp),
    Guarded,
}

#[derive(Default)]
pub(super) struct Guard(Mutex<Said>);

impl Guard {
    /// Whether there was ever a token or a user. A store that does not answer opens nothing.
    pub(super) async fn is_on(&self, state: &AppState) -> Result<bool> {
        let now = state.clock.now();
        match *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Said::Guarded => return Ok(true),
            Said::Open(asked_at) if is_fresh(asked_at, now) => return Ok(false),
            Said::Nothing | Said::Open(_) => {}
        }
        let guarded = state.changes.load_guarded_since().await?.is_some();
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A slower, earlier answer must not open what is closed.
        if !matches!(*said, Said::Guarded) {
            *said = if guarded {
                Said::Guarded
            } else {
                Said::Open(now)
            };
        }
        Ok(matches!(*said, Said::Guarded))
    }
}
