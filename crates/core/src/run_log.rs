//! Run logs: what a firing's attempt printed or reported, kept whole up to a limit (DP-20).
//!
//! A log is a stream of bytes per attempt, and a place in it is a number of bytes from the attempt's
//! first. Secrets that the node knows are cut before anything else happens ([`Redactor`]). Of a log
//! that is longer than it may be, the beginning and the end are kept ([`Buffer`]): the beginning
//! says what was attempted, the end how it went wrong. What is missing is seen by the places alone,
//! so nothing else has to record it.
//!
//! What was printed may be a secret that the node does not know. INVARIANT: it is shown by the log's
//! own endpoint and page, to those who may operate; it is in no event, alert, metric or log line.

mod attempts;
mod buffer;
mod page;
mod redact;
mod show;

use async_trait::async_trait;

use crate::store::RunId;

pub use attempts::{LoggedAttempt, attempts};
pub use buffer::Buffer;
pub use page::{LogText, read_page};
pub use redact::{KnownSecrets, Redactor};
pub use show::harmless;

/// How much of a log is kept, by default.
pub const LOG_BYTES_DEFAULT: u64 = 1024 * 1024;
/// The smallest limit.
pub const LOG_BYTES_MIN: u64 = 64 * 1024;
/// The largest limit.
pub const LOG_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Where launchers leave what runs print. Never fails and never slows a run: a log that cannot be
/// kept costs a warning.
#[async_trait]
pub trait RunLogs: Send + Sync {
    /// Begins to keep an attempt's output.
    fn begin(&self, run: RunId) -> Box<dyn RunLog>;

    /// Keeps a text behind all that an attempt's log has: an answer, an address, progress. Not for
    /// an attempt whose output is kept.
    async fn report(&self, run: RunId, text: &str);
}

/// The output of one attempt. What was written is kept soon, also if this is dropped.
#[async_trait]
pub trait RunLog: Send {
    /// Takes what was printed; returns what may be shown of it, which may lag behind: what could be
    /// the beginning of a secret waits for the rest.
    fn write(&mut self, printed: &[u8]) -> Vec<u8>;

    /// Nothing follows; returns the rest of what may be shown once all is kept, or once that takes
    /// too long.
    async fn end(&mut self) -> Vec<u8>;
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRunLogs;

#[async_trait]
impl RunLogs for NoRunLogs {
    fn begin(&self, _: RunId) -> Box<dyn RunLog> {
        Box::new(*self)
    }

    async fn report(&self, _: RunId, _: &str) {}
}

#[async_trait]
impl RunLog for NoRunLogs {
    fn write(&mut self, printed: &[u8]) -> Vec<u8> {
        printed.to_vec()
    }

    async fn end(&mut self) -> Vec<u8> {
        Vec::new()
    }
}
