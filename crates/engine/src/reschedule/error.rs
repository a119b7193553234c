//! Why a request was not carried out.

use almanack_core::{
    address::Refusal,
    reschedule::{NothingThere, Refused},
    store,
    task::{Identity, Kind},
};

use super::ROUNDS_MAX;

/// Why a request was not carried out. Nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is nothing to withdraw or to retry.
    #[error(transparent)]
    NothingThere(#[from] NothingThere),
    /// It would have expired when its time comes.
    #[error("{0}")]
    Expired(Refused),
    /// No URL to call is known.
    #[error("kind `{kind}` is not configured and the task has no callback.url")]
    UnknownKind {
        /// The kind asked for.
        kind: Kind,
        /// The kinds that are configured.
        known: Vec<Kind>,
    },
    /// Of a kind that belongs to the engine ([`almanack_core::reserved`]).
    #[error(
        "only Almanack creates and changes tasks of kind `{kind}`; you can cancel an existing \
         DISPATCH, EVENT_DELIVERY, EDITION_RUN or EDITION_MAIL task (without a revision), or retry a failed one"
    )]
    Reserved {
        /// The kind asked for.
        kind: Kind,
    },
    /// A claim looks at every kind that waits, so their number is bounded.
    #[error(
        "tasks of {limit} unconfigured kinds already wait, the most allowed, and `{kind}` would be \
         one more; put what makes tasks differ into the subject, configure the kind, or raise \
         limits.kinds"
    )]
    TooManyKinds {
        /// The kind asked for.
        kind: Kind,
        /// How many may wait.
        limit: usize,
    },
    /// The call would be refused whenever it is made.
    #[error("callback.url would never be called: {0}")]
    Callback(Refusal),
    /// Workers take tasks of this kind.
    #[error(
        "callback.url would never be called: workers take tasks of kind `{kind}` \
         (kinds.{kind}.deliver = \"pull\"); leave it out"
    )]
    Pulled {
        /// The kind asked for.
        kind: Kind,
    },
    /// The identity changes faster than we can decide.
    #[error("{identity} was changed {ROUNDS_MAX} times by others during this request; try again")]
    Contended {
        /// The identity asked about.
        identity: Identity,
    },
    /// The same `Idempotency-Key` came with a different request.
    #[error("this Idempotency-Key was used for a different request")]
    KeyReused,
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::NothingThere(nothing) => Self::NothingThere(nothing),
            expired @ Refused::Expired { .. } => Self::Expired(expired),
        }
    }
}
