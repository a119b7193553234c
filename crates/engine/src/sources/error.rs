//! Why a request about a source was not carried out.

use almanack_core::{
    source::{
        SourceId, check::Failure, filter::BadRule, options::form::Unfit, policy::UnknownPolicy,
    },
    store,
    task::Invalid,
};

use crate::reschedule;

/// Why a request was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such source.
    #[error("there is no source {id}")]
    Unknown {
        /// The number asked for.
        id: SourceId,
    },
    /// A text that would not fit.
    #[error("{what} must have at most {limit} bytes")]
    TooLong {
        what: &'static str,
        /// How long it may be.
        limit: usize,
    },
    /// A text that would not survive a line of a list.
    #[error("{what} must have no control characters")]
    Unprintable { what: &'static str },
    /// Its policy is none.
    #[error(transparent)]
    Policy(#[from] UnknownPolicy),
    /// One of its filters cannot be read.
    #[error("filters: {0}")]
    Filter(#[from] BadRule),
    /// There is no such entry.
    #[error("there is no entry {id}")]
    UnknownEntry { id: i64 },
    /// Its address may not be asked, or its rules cannot be read.
    #[error("{why}")]
    Unreadable { why: String },
    /// Its address leads nowhere now.
    #[error("{}", .0.detail)]
    Unreachable(Failure),
    /// It is paused or has ended, and only resuming it changes that.
    #[error("source {id} is {state}, so it is not checked; resume it first")]
    NotActive {
        id: SourceId,
        /// The name of its state.
        state: &'static str,
    },
    /// The configuration file defines it, and the file would win again.
    #[error("source {id} belongs to [[source]] of the configuration file; change it there")]
    Managed { id: SourceId },
    /// Its options cannot be stored.
    #[error(transparent)]
    Options(#[from] Unfit),
    /// Another source has this address.
    #[error("source {other} already has this address")]
    AddressTaken { other: SourceId },
    /// It changes faster than we can decide.
    #[error("source {id} kept changing during this request; try again")]
    Contended { id: SourceId },
    /// Its task could not be put.
    #[error(transparent)]
    Reschedule(#[from] reschedule::Error),
    /// Its number makes no subject.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] store::Error),
}
