//! What reading a calendar's address needs from outside.

use async_trait::async_trait;

use super::Copy;

/// What an address answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    /// The copy still holds.
    Unchanged,
    Text(Copy),
}

/// Reads addresses of calendars.
#[async_trait]
pub trait Fetcher: Send + Sync {
    /// Asks once; `known` need not be sent again. The error is a sentence without secrets.
    async fn fetch(&self, url: &str, known: Option<&Copy>) -> Result<Fetched, String>;
}
