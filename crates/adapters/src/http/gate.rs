//! Who is asked before a host is.
//!
//! A redirect leads to a host that the caller has not named, so whoever paces hosts has to be asked at every
//! hop, not once before the first.

use jiff::Timestamp;

/// Decides whether a host may be asked now.
pub trait Gate: Send + Sync {
    /// Asked before every hop, after its address was judged and before anything is sent. Never waits: `Err` says when to come back.
    fn pass(&self, host: &str) -> Result<(), Timestamp>;
}
