//! Why a call came to nothing.

use almanack_core::{store, task::Invalid};
use almanack_engine::{node, reschedule};
use almanack_store::{UnknownLocation, sqlite::Occupied};

/// Why a node did not start, or a request was not carried out. Nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No database was named.
    #[error("no database; call `.database(\"sqlite:app.db\")` or `.database(\"postgres://…\")`")]
    NoDatabase,
    /// It was named in a way that says nothing.
    #[error(transparent)]
    Database(#[from] UnknownLocation),
    /// A SQLite file is for one process.
    #[error(transparent)]
    Occupied(#[from] Occupied),
    /// The node could not be admitted.
    #[error("start node: {0}")]
    Node(#[from] node::Error),
    /// A kind, a subject or a payload breaks its rule.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The payload cannot be written as JSON.
    #[error("write payload: {0}")]
    Payload(#[source] serde_json::Error),
    /// The request was refused.
    #[error(transparent)]
    Refused(#[from] reschedule::Error),
    /// The database did not answer.
    #[error(transparent)]
    Store(#[from] store::Error),
}
