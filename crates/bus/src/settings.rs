//! Settings of both buses: how the connection is encrypted; and why one was not set up.

use std::path::PathBuf;

/// Why something was not set up. Never contains a secret.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The client does not accept its settings.
    #[error("{bus} client: {what}")]
    Settings { bus: &'static str, what: String },
    /// The other side did not answer, or refused.
    #[error("{what}: {why}")]
    Unavailable {
        /// What was being done.
        what: &'static str,
        why: String,
    },
    /// Kafka, in a build without its client.
    #[error("this build of Almanack has no Kafka client")]
    NotBuilt,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tls {
    /// Certificates that are trusted; the machine's own where there is none.
    pub ca: Option<PathBuf>,
    /// Our own certificate and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
}
