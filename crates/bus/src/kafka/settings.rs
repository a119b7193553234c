//! Settings of a cluster and of what is read there.

use std::time::Duration;

use almanack_core::{event::incoming::envelope::Reading, secret::Secret};

use crate::Tls;

/// How a cluster is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// Brokers to begin with, `host:port`.
    pub brokers: Vec<String>,
    pub tls: Option<Tls>,
    pub sasl: Option<Sasl>,
    /// How long a message that is written may take to be confirmed; see [`CONFIRM_WITHIN`].
    pub confirm_within: Duration,
}

/// Long enough for a cluster to choose another leader.
pub const CONFIRM_WITHIN: Duration = Duration::from_secs(20);

/// A name and a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sasl {
    /// How they are sent.
    pub mechanism: Mechanism,
    pub username: String,
    pub password: Secret,
}

/// How a password is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mechanism {
    /// In plain text: only over TLS.
    Plain,
    /// SCRAM with SHA-256.
    ScramSha256,
    /// SCRAM with SHA-512.
    ScramSha512,
}

/// The settings of a consumer.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How the cluster is reached.
    pub connection: Connection,
    pub topic: String,
    /// The group that shares the work: its members get different partitions.
    pub group: String,
    /// Where invalid messages go.
    pub dead_letter: String,
    /// How long a member may be silent before its partitions pass on to others; see [`SILENCE`].
    pub silence: Duration,
    /// How messages are read.
    pub reading: Reading,
}

/// Shorter than the client's own 45 seconds: what a dead node had is to be read soon. A member
/// speaks three times within it.
pub const SILENCE: Duration = Duration::from_secs(12);
