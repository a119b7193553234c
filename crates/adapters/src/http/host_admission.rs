//! Permission to send a request to a host.
//!
//! A redirect leads to a host that the caller has not named, so admission is checked at every hop,
//! not once before the first.

use async_trait::async_trait;
use jiff::Timestamp;

/// Decides whether a request may be sent to a host now.
#[async_trait]
pub trait HostAdmission: Send + Sync {
    /// Called before every hop, after its address was checked and before anything is sent. Never
    /// waits: `Err` says when to come back.
    async fn pass(&self, host: &str) -> Result<(), Timestamp>;
}
