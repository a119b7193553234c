//! Why a call of the store failed, and what the caller can do about it.

/// Why a call of the store failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database did not answer, or not in time. Nothing is known about the effect.
    #[error("database is not available: {statement}")]
    Unavailable {
        /// Name of the statement, never its text or parameters.
        statement: &'static str,
        /// The driver's error.
        #[source]
        source: Cause,
    },
    /// The database refuses to write: a read-only file, a full disk, a value it does not take.
    #[error("database cannot be written: {statement}")]
    Unwritable {
        /// Name of the statement.
        statement: &'static str,
        /// The driver's error.
        #[source]
        source: Cause,
    },
    /// The database refuses the values themselves: asked again, it would refuse again. The sender
    /// of a batch finds its one bad item by sending each alone.
    #[error("database refuses a value: {statement}")]
    Refused {
        /// Name of the statement.
        statement: &'static str,
        /// The driver's error.
        #[source]
        source: Cause,
    },
    /// The stored data or schema is not what this version understands.
    #[error("database contains a value that this version does not support: {what}")]
    Incompatible { what: String },
    /// One row is not what this version understands: a newer one wrote it, or a hand. Others are.
    #[error("a row in the database cannot be read: {what}")]
    Unreadable { what: String },
    /// More ask at once than may wait for a reader. Nothing was done; ask again in a moment.
    #[error("too many readers are waiting for the database")]
    Busy,
    /// A name that must be unique is taken.
    #[error("{what} `{name}` already exists")]
    Taken {
        /// What kind of name.
        what: &'static str,
        name: String,
    },
}

/// A driver's error, behind the port.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

impl Error {
    /// The error and all its causes in one line, for a log.
    pub fn chain(&self) -> String {
        chain(self)
    }

    /// Whether one row cannot be read; a caller that reads many continues with the next.
    pub fn is_unreadable(&self) -> bool {
        matches!(self, Self::Unreadable { .. })
    }

    /// Whether the same call can succeed later without anyone changing anything.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Busy)
    }
}

/// The port's result.
pub type Result<T> = std::result::Result<T, Error>;

/// An error and its causes, each said once.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        // Drivers like to repeat their cause in their own words.
        if !text.ends_with(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}
