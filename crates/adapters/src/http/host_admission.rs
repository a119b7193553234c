//! Permission to send a request to a host.
//!
//! A redirect leads to a host that the caller has not named, so admission is checked at every hop,
//! not once before the first.

use async_trait::async_trait;
use jiff::Timestamp;
use url::Url;

use super::Error;

/// Why a request is not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denied {
    /// Not now; come back then.
    Busy {
        /// When the host takes a request.
        until: Timestamp,
    },
    /// The site's `robots.txt` does not allow it, or could not be read.
    Robots {
        /// Whether the file says so; else it could not be read.
        is_forbidden: bool,
        /// A sentence for people.
        why: String,
    },
}

impl From<Denied> for Error {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Busy { until } => Self::Busy { until },
            Denied::Robots { is_forbidden, why } => Self::Robots { is_forbidden, why },
        }
    }
}

/// Decides whether a request may be sent to a host now.
#[async_trait]
pub trait HostAdmission: Send + Sync {
    /// Called before every hop, after its address was checked and before anything is sent. Never
    /// waits for a busy host.
    async fn pass(&self, url: &Url) -> Result<(), Denied>;
}
