//! Why a request about an edition was not carried out.

use crate::reschedule;
use almanack_core::{
    edition::{EditionId, port::BadTemplate, turn::NotNow},
    store,
    task::Invalid,
};

/// Why a request was not carried out. Nothing changed, unless it says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such edition.
    #[error("there is no edition of {0}")]
    Unknown(EditionId),
    /// Its day has not come.
    #[error("{id} is in the future; today's edition is {today}")]
    Future {
        /// The edition asked for.
        id: EditionId,
        today: EditionId,
    },
    /// Before there were any.
    #[error("{0} is before 1970: there is no edition of such a day")]
    TooEarly(EditionId),
    /// It cannot be done to the edition as it is.
    #[error(transparent)]
    NotNow(#[from] NotNow),
    /// It has no document yet.
    #[error("the edition of {0} has no document yet")]
    NoDocument(EditionId),
    /// The template cannot be filled.
    #[error("cannot render the template: {0}")]
    Template(#[from] BadTemplate),
    /// It changes faster than we can decide. Part of the request may have taken effect.
    #[error("the edition of {0} kept changing during this request; try again")]
    Contended(EditionId),
    /// The task that builds it was refused.
    #[error("could not queue the edition")]
    NotQueued(#[from] reschedule::Error),
    /// The task that builds it has no name.
    #[error("the edition's task has an invalid name")]
    Unnamed(#[from] Invalid),
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Error {
    /// Whether the same call can succeed later without anyone changing anything.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Store(error) => error.is_transient(),
            Self::Contended(_) => true,
            _ => false,
        }
    }

    /// Whether a row of the edition cannot be read; others are as they were.
    pub fn is_unreadable(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_unreadable())
    }

    /// The error and all its causes in one line, for a log.
    pub fn chain(&self) -> String {
        store::chain(self)
    }
}
