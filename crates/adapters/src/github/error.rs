//! What went wrong with a request, by what the caller can do about it.

use almanack_core::budget::Spent;
use jiff::SignedDuration;

use crate::http;

/// Whether a request without an answer may have arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// It did not leave.
    No,
    /// It may have been carried out.
    Perhaps,
}

/// Why GitHub did not do what it was asked. No text names a repository or a workflow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The caller's budget is spent; nothing was asked.
    #[error(transparent)]
    Spent(#[from] Spent),
    #[error("{why}")]
    NoAnswer {
        /// The network's error.
        why: String,
        /// Whether it may have been carried out.
        sent: Sent,
    },
    /// The API's address is one that we do not go to.
    #[error("{why}")]
    Unreachable { why: String },
    /// Too many requests; wait.
    #[error("HTTP {status}: {message} (rate limit)")]
    Limited {
        status: u16,
        message: String,
        retry_after: SignedDuration,
    },
    /// GitHub's own trouble; it may have been carried out.
    #[error("HTTP {status}: {message}")]
    Trouble {
        status: u16,
        message: String,
        /// How long to wait, if it says so.
        retry_after: Option<SignedDuration>,
    },
    /// Refused, and it will be again.
    #[error("HTTP {status}: {message}")]
    Refused { status: u16, message: String },
    /// Carried out, but the answer is not what the API describes.
    #[error("the answer about {what} is not readable")]
    Unreadable {
        /// What was asked for.
        what: &'static str,
    },
}

impl Error {
    pub(super) fn no_answer(error: &http::Error) -> Self {
        if let http::Error::Spent(spent) = error {
            return Self::Spent(*spent);
        }
        let why = error.to_string();
        if !error.is_transient() {
            return Self::Unreachable { why };
        }
        let sent = if error.may_have_arrived() {
            Sent::Perhaps
        } else {
            Sent::No
        };
        Self::NoAnswer { why, sent }
    }

    /// Whether the same call can succeed later without anyone changing anything.
    pub fn is_transient(&self) -> bool {
        !matches!(self, Self::Refused { .. } | Self::Unreachable { .. })
    }

    /// How long to wait at least, if GitHub said so.
    pub fn retry_after(&self) -> Option<SignedDuration> {
        match self {
            Self::Limited { retry_after, .. } => Some(*retry_after),
            Self::Trouble { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Whether the call may have been carried out all the same.
    pub fn may_have_taken_effect(&self) -> bool {
        match self {
            Self::NoAnswer { sent, .. } => *sent == Sent::Perhaps,
            Self::Trouble { .. } | Self::Unreadable { .. } => true,
            Self::Spent(_)
            | Self::Limited { .. }
            | Self::Refused { .. }
            | Self::Unreachable { .. } => false,
        }
    }

    /// Whether this is a refusal, with whatever status, whose message speaks of `word`.
    pub(super) fn is_refusal_about(&self, word: &str) -> bool {
        matches!(self, Self::Refused { message, .. } if message.contains(word))
    }

    /// Whether this is a refusal with this status whose message says `words`.
    pub(crate) fn refused_with(&self, wanted: u16, words: &str) -> bool {
        match self {
            Self::Refused { status, message } => {
                *status == wanted && message.to_ascii_lowercase().contains(words)
            }
            _ => false,
        }
    }
}
