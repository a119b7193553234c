//! Counts what is asked of hosts, for the courtesy report (SS-26).

use std::sync::Arc;

use almanack_core::source::courtesy::{Counts, Courtesy};
use jiff::Timestamp;
use url::Url;

use super::Error;

/// Counts the hops of a request that began at an instant.
#[derive(Debug, Clone)]
pub struct Counting {
    courtesy: Arc<Courtesy>,
    now: Timestamp,
}

impl Counting {
    pub fn new(courtesy: Arc<Courtesy>, now: Timestamp) -> Self {
        Self { courtesy, now }
    }

    /// One hop, answered or not.
    pub(super) fn hop(&self, url: &Url, sent: &Result<reqwest::Response, Error>) {
        // A refused address was not even connected to.
        if matches!(sent, Err(Error::Refused { .. })) {
            return;
        }
        let status = sent.as_ref().map(|response| response.status().as_u16());
        let has_failed = status.is_err() || matches!(status, Ok(400..=428 | 430..=502 | 504..));
        let counts = Counts {
            requests: 1,
            unchanged: u64::from(status == Ok(304)),
            limited: u64::from(matches!(status, Ok(429 | 503))),
            failed: u64::from(has_failed),
            ..Counts::default()
        };
        self.count(url, &counts);
    }

    /// So much of a body, which may have broken off.
    pub(super) fn body(&self, url: &Url, bytes: u64, has_failed: bool) {
        let counts = Counts {
            bytes,
            failed: has_failed.into(),
            ..Counts::default()
        };
        self.count(url, &counts);
    }

    fn count(&self, url: &Url, counts: &Counts) {
        if let Some(host) = url.host_str() {
            self.courtesy.count(host, self.now, counts);
        }
    }
}
