//! Locks: which of several racing nodes fires a slot, where there is no shared database (DP-05).
//!
//! A lock is an atomic create: the node that creates it fires, every other node leaves the slot
//! alone. It is never released; it is the memory that the slot has been taken, and it is cleaned up
//! when no node can try its slot any more. One port, three adapters:
//!
//! | adapter | what is created | who decides |
//! | --- | --- | --- |
//! | `engine::lock::StoreLock` | a row, unique per identity | the database |
//! | `adapters::lock::git::GitLock` | a ref, by a push that may only create | any Git server |
//! | `adapters::lock::github::GithubLock` | a ref, over REST | GitHub |
//!
//! The planner itself needs no lock: the DISPATCH task it inserts *is* the unique slot. The store's
//! adapter is for hosts that plan without the planner, such as the chains, beside a database.
//!
//! What must stay true:
//!
//! - A key depends on what is fired and when, and on nothing else: not on the order of lines, not
//!   on the process, not on how a JSON object was written (DP-06). Two lines that say the same are
//!   one.
//! - An error is not "lost". There may be no holder, so the caller asks again inside the slot
//!   (DP-06).
//! - In doubt a slot is missed, never fired twice: an adapter answers [`Acquired::Won`] only when
//!   it can distinguish its own creation from any other.
//! - A lock outlives the time in which its slot may still be tried, and the newest one of each
//!   content stays for good: it shows the next start how far its schedule had come (DP-07, DP-08).

mod doubts;
mod expiry;
mod key;

use async_trait::async_trait;
use jiff::SignedDuration;

pub use doubts::Doubts;
pub use expiry::{FORGOTTEN_LATENESS_MAX, SKEW_MARGIN, expired, lateness_max};
pub use key::{Content, LockKey, REF_PREFIX};

use crate::{store, task::Invalid};

/// Who got a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acquired {
    /// This caller, just now: it fires the slot.
    Won,
    /// Another node's, or that is unknown: leave the slot alone.
    Lost,
}

/// Why there is no answer. Texts never name a repository, an address or a credential (DP-15).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No answer, or not a usable one; nothing is known about the effect. Ask again inside the
    /// slot.
    #[error("locks are not available: {why}")]
    Unavailable {
        why: String,
        /// How long the other side asked to be left alone.
        retry_after: Option<SignedDuration>,
    },
    /// Refused, and it will be again until an operator changes something.
    #[error("locks are refused: {why}")]
    Refused { why: String },
}

impl Error {
    /// Something that may pass.
    pub fn unavailable(why: impl Into<String>) -> Self {
        Self::Unavailable {
            why: why.into(),
            retry_after: None,
        }
    }

    /// Whether the same call can succeed later without anyone changing anything.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable { .. })
    }

    /// How long to wait at least before asking again, if the other side said so.
    pub fn retry_after(&self) -> Option<SignedDuration> {
        match self {
            Self::Unavailable { retry_after, .. } => *retry_after,
            Self::Refused { .. } => None,
        }
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        if error.is_transient() {
            Self::unavailable(error.to_string())
        } else {
            Self::Refused {
                why: error.to_string(),
            }
        }
    }
}

impl From<Invalid> for Error {
    fn from(invalid: Invalid) -> Self {
        Self::Refused {
            why: invalid.to_string(),
        }
    }
}

/// Locks on slots.
#[async_trait]
pub trait SlotLock: Send + Sync {
    /// Tries to be the one. Of any number of callers, in any number of processes, at most one is
    /// answered [`Acquired::Won`], ever, until the lock is cleaned. After an error the same caller
    /// may ask again: it recognises its own creation whose answer it never saw, where it can.
    async fn acquire(&self, key: &LockKey) -> Result<Acquired, Error>;

    /// The locks there are, in no order. What cannot be read as a lock is left out.
    async fn list(&self) -> Result<Vec<LockKey>, Error>;

    /// Removes locks. One that is already gone counts as removed. Of very many it may leave some
    /// for the next time, to spare the other side; after an error some may be gone.
    async fn clean(&self, expired: &[LockKey]) -> Result<(), Error>;
}
