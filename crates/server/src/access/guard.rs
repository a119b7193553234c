//! Whether access is guarded: a fact of the store, which is never taken back.
//!
//! A node that started open asks again every [`REMEMBERED_FOR`], so the first token or user that anybody makes closes it without a
//! restart. Once closed it asks no more.

use std::sync::{Mutex, PoisonError};

use super::REMEMBERED_FOR;
use crate::prelude::*;

/// What the store said last.
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
        // A slower answer from before must not open what is closed.
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

/// A clock that was set back must not make a memory last longer.
fn is_fresh(asked_at: Timestamp, now: Timestamp) -> bool {
    let age = now.duration_since(asked_at);
    age >= SignedDuration::ZERO && age < REMEMBERED_FOR
}
