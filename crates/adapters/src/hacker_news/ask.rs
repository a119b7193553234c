//! One question, asked again when the failure may pass.
//!
//! Every try counts against the same request budget; a spent budget ends the tries at once.

use std::{sync::Arc, time::Duration};

use almanack_core::{
    budget::Budget,
    edition::port::{Failure, FailureClass},
    time::{Clock, Sleeper},
};
use jiff::SignedDuration;
use reqwest::header::ACCEPT;

use crate::{
    http::{Client, Limits, Request},
    upstream::Upstream,
};

/// Most of an answer that is read: a thousand stories have some 3 MB.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Redirects that are followed; today there are none.
const REDIRECTS_MAX: usize = 3;
/// How long the first wait is; each next one is twice as long.
const WAIT: SignedDuration = SignedDuration::from_secs(1);
/// Longest wait between two tries. A longer wait is left to a later tick.
const WAIT_MAX: SignedDuration = SignedDuration::from_secs(15);

pub(super) struct Requester {
    pub(super) client: Client,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) sleeper: Arc<dyn Sleeper>,
    pub(super) timeout: Duration,
    pub(super) retries_max: u32,
}

impl Requester {
    /// The body of the answer.
    pub(super) async fn ask(
        &self,
        upstream: Upstream,
        address: String,
        budget: &Arc<Budget>,
    ) -> Result<Vec<u8>, Failure> {
        let request = self.request(address, budget);
        let mut retries = 0;
        loop {
            let sent = upstream.send(&self.client, request.clone(), &*self.clock);
            let failure = match sent.await {
                Ok(response) => return Ok(response.body),
                Err(failure) => failure,
            };
            let wait = next_wait(&failure, retries).filter(|_| retries < self.retries_max);
            let Some(wait) = wait else {
                return Err(failure);
            };
            retries += 1;
            let now = self.clock.now();
            self.sleeper
                .until(now.saturating_add(wait).unwrap_or(now))
                .await;
        }
    }

    fn request(&self, address: String, budget: &Arc<Budget>) -> Request {
        Request::get(address)
            .header(ACCEPT, "application/json")
            .limits(Limits::within(self.timeout, ANSWER_BYTES_MAX))
            .following(REDIRECTS_MAX)
            .paid_by(Arc::clone(budget))
    }
}

/// How long to wait before the next try, if another one may help: as long as was asked for, and at
/// least twice as long as before.
fn next_wait(failure: &Failure, retries: u32) -> Option<SignedDuration> {
    let may_pass = matches!(
        failure.class,
        FailureClass::Transient | FailureClass::RateLimited
    );
    let doubled = WAIT.checked_mul(2_i32.checked_pow(retries)?)?.min(WAIT_MAX);
    let wait = failure.retry_after.unwrap_or_default().max(doubled);
    (may_pass && wait <= WAIT_MAX).then_some(wait)
}

#[cfg(test)]
mod tests {
    use super::*;
    use FailureClass as C;

    #[test]
    fn ed_33_only_what_may_pass_is_tried_again() {
        for (class, retry_after, retries, expected) in [
            (C::Transient, None, 0, Some(1)),
            (C::Transient, None, 1, Some(2)),
            (C::Transient, None, 2, Some(4)),
            (C::Transient, None, 9, Some(15)),
            (C::Transient, None, 99, None),
            (C::RateLimited, Some(5), 0, Some(5)),
            (C::RateLimited, Some(0), 1, Some(2)),
            (C::RateLimited, Some(60), 0, None),
            (C::Spent, None, 0, None),
            (C::Refused, None, 0, None),
            (C::Credentials, None, 0, None),
            (C::Unusable, None, 0, None),
        ] {
            let failure = Failure {
                retry_after: retry_after.map(SignedDuration::from_secs),
                ..Failure::new(class, "x")
            };
            let wait = next_wait(&failure, retries).map(|wait| wait.as_secs());
            assert_eq!(wait, expected, "{class:?} {retry_after:?} {retries}");
        }
    }
}
