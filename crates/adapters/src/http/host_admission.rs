//! Who is asked before a host is.
//!
//! A redirect leads to a host that the caller has not named, so whoever paces hosts has to be asked
//! at every hop, not once before the first.

use async_trait::async_trait;
use jiff::Timestamp;

/// Decides whether a host may be asked now.
#[async_trait]
pub trait HostAdmission: Send + Sync {
    /// Asked before every hop, after its address was judged and before anything is sent. Waits for
    /// no other visitor: `Err` says when to come back.
    async fn pass(&self, host: &str) -> Result<(), Timestamp>;
}
