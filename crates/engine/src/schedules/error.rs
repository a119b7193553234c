//! Why a request about a schedule was not carried out.

use almanack_core::{
    address::Refusal,
    plan::{Origin, ScheduleName, Unfit},
    store,
    task::{Identity, Invalid},
};

use super::{Expected, NOTE_BYTES_MAX, ROUNDS_MAX};

/// Why a request about a schedule was not carried out. Nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is none of this name.
    #[error("no schedule `{name}`")]
    Unknown {
        /// The name asked for.
        name: ScheduleName,
    },
    /// It cannot be kept as written.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// A call would be refused at every slot.
    #[error("{path} would never be called: {refusal}")]
    Unreachable {
        /// Where the address is: `target.url`.
        path: String,
        refusal: Refusal,
    },
    /// It belongs to a file, and the file would win again.
    #[error("schedule `{name}` belongs to {}; change it there", owner(*.origin))]
    Managed { name: ScheduleName, origin: Origin },
    /// It changed since the caller last read it.
    #[error("schedule `{name}` is {found}; it was expected to be {expected}")]
    Moved {
        name: ScheduleName,
        expected: Expected,
        found: Expected,
    },
    /// Its newest firing has not ended, and its policy is not to overlap.
    #[error("schedule `{name}` still runs {running}")]
    Overlaps {
        name: ScheduleName,
        /// The firing that has not ended.
        running: Identity,
    },
    /// It is not in a state for this.
    #[error("schedule `{name}` is {state}, so it cannot be {request}")]
    NotNow {
        name: ScheduleName,
        state: &'static str,
        request: &'static str,
    },
    /// The asked range is empty, too long, or not in the past.
    #[error("{why}")]
    Range {
        /// What is wrong with it.
        why: String,
    },
    /// Too long, or more than a line.
    #[error("a note is one line of at most {NOTE_BYTES_MAX} bytes; this one has {bytes} bytes")]
    Note { bytes: usize },
    /// A firing could not be written down.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// It changes faster than we can decide.
    #[error(
        "schedule `{name}` was changed {ROUNDS_MAX} times by others during this request; try again"
    )]
    Contended { name: ScheduleName },
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] store::Error),
}

pub(crate) fn owner(origin: Origin) -> &'static str {
    match origin {
        Origin::File => "the configuration file",
        Origin::Dispatch => "DISPATCH",
        Origin::Api => "the API",
    }
}
